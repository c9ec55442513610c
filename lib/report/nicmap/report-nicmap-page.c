/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/nicmap/report-nicmap-page.h"

#include "base/buf.h"
#include "base/text.h"

/* "1 critical, 2 warnings", or `none`. */
static void add_faults(const struct rd_findings *findings, const char *none, struct rd_buf *out)
{
	size_t critical = rd_findings_count(findings, RD_SEV_CRITICAL);
	size_t warnings = rd_findings_count(findings, RD_SEV_WARNING);

	if (critical || warnings)
		rd_buf_printf(out, "%zu critical, %zu warning%s", critical, warnings, warnings == 1 ? "" : "s");
	else
		rd_buf_str(out, none);
}

static void add_unknown(size_t unknown, struct rd_buf *out)
{
	if (unknown)
		rd_buf_printf(out, ", %zu unknown", unknown);
}

void rd_report_compare_headline(struct rd_report *report, size_t hosts)
{
	struct rd_buf line = { 0 };

	rd_buf_printf(&line, "nic-map of %zu hosts: ", hosts);
	add_faults(&report->findings, "no problems found", &line);
	add_unknown(rd_findings_count(&report->findings, RD_SEV_UNKNOWN), &line);
	report->headline = line.data;
}

void rd_report_against_headline(struct rd_report *report, const struct rd_against_what *what,
				const struct rd_against *against, bool rccl)
{
	size_t differ = against->n_of[RD_VERDICT_DIFFERS];
	struct rd_buf line = { 0 };

	rd_buf_printf(&line, "nic-map against %s", what->file);
	if (what->run_host || what->version)
		rd_buf_printf(&line, " (%s%s%s%s)", what->run_host ? what->run_host : "",
			      what->run_host && what->version ? ", " : "",
			      !what->version ? "" :
			      rccl	     ? "RCCL " :
					       "NCCL ",
			      what->version ? what->version : "");
	rd_buf_printf(&line, ": %zu of %zu agree", against->n_of[RD_VERDICT_SAME], against->n);
	if (differ)
		rd_buf_printf(&line, ", %zu differ%s", differ, differ == 1 ? "s" : "");
	add_unknown(against->n_of[RD_VERDICT_UNKNOWN], &line);
	report->headline = line.data;
}

static void add_variables(const struct rd_effects *effects, const struct rd_findings *findings, struct rd_buf *out)
{
	size_t judged = 0, unknown = 0;

	for (size_t i = 0; i < effects->n; i++) {
		judged += effects->v[i].judged == RD_JUDGED_YES;
		unknown += effects->v[i].judged == RD_JUDGED_UNKNOWN;
	}
	rd_buf_printf(out, "nic-map: %zu variable%s (%zu judged, %zu only listed, %zu unknown name%s): ", effects->n,
		      effects->n == 1 ? "" : "s", judged, effects->n - judged - unknown, unknown,
		      unknown == 1 ? "" : "s");
	add_faults(findings, judged ? "no problems found" : "no known problem", out);
}

void rd_report_env_headline(struct rd_report *report, const struct rd_effects *effects, const char *where)
{
	struct rd_buf line = { 0 };

	if (effects->n)
		add_variables(effects, &report->findings, &line);
	else
		rd_buf_printf(&line,
			      "nic-map: no variable of " RD_ENV_LIBRARIES
			      " is set in %s (names that begin with " RD_ENV_PREFIXES "; %zu other variable%s)",
			      where, effects->foreign, effects->foreign == 1 ? "" : "s");
	report->headline = line.data;
}

void rd_report_path_headline(struct rd_report *report, const struct rd_host *host, int from, int to, const char *path,
			     const char *why)
{
	report->headline = rd_text("%s to %s: %s%s%s%s", host->pcis[from].addr, host->pcis[to].addr,
				   path ? path : "unknown", why ? " (" : "", why ? why : "", why ? ")" : "");
}

void rd_report_given_note(struct rd_report *report, const struct rd_system *system)
{
	size_t given;
	_cleanup_free_ char *names = rd_system_given(system, &given);

	if (names)
		rd_report_note(report,
			       "seen from inside a container, as it seems: device files of %zu of %zu RDMA devices: %s",
			       given, system->n_uverbs, names);
}

void rd_report_assignment_notes(struct rd_report *report, const struct rd_nicmap *map)
{
	if (map->nccl.note)
		rd_report_note(report, "nccl: %s", map->nccl.note);
	if (map->nvshmem.note)
		rd_report_note(report, "nvshmem: %s", map->nvshmem.note);
}
