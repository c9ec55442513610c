/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nic-map compares: hosts with each other, variables with a host, a run with the prediction. Headlines and notes of its pages. */

#include "base/buf.h"
#include "report/nicmap/report-nicmap.h"

#define QUOTED 400 /* bytes of a value that are shown: enough for a list of 50 ports */

/* clang-format off */
static const struct rd_column rail_columns[] = {
	{ "gpu", "GPU", RD_T_UINT, "index of the accelerator", 0, false },
	{ "host", "HOST", RD_T_STR, "host", 0, false },
	{ "nic", "NIC", RD_T_STR, "port that NCCL selects for it", 0, false },
	{ "subnet", "SUBNET", RD_T_STR, "IPv4 subnet of its interface", 0, false },
	{ "rate_gbps", "GBPS", RD_T_STR, "rate of the port, Gb/s", 0, false },
	{ "firmware", "FIRMWARE", RD_T_STR, "firmware version", 0, false },
	{ "link_layer", "LAYER", RD_T_STR, "link layer", 0, false },
	{ "state", "STATE", RD_T_STR, "state of the port", 0, false },
	{ "differs", NULL, RD_T_BOOL, "a finding concerns this accelerator or its port", 0, false },
};

static const struct rd_column var_columns[] = {
	{ "name", "VARIABLE", RD_T_STR, "variable", 0, false },
	{ "value", "VALUE", RD_T_STR, "value, at most 400 bytes of it", 0, false },
	{ "judged", "JUDGED", RD_T_STR, "yes: checked; no: only listed; unknown: no library reads it", 0, false },
	{ "selects", "SELECTS", RD_T_STR, "ports or interfaces that it selects on this host", 0, false },
	{ "effect", "EFFECT", RD_T_STR, "effect on this host", 0, false },
	{ "library", "LIBRARY", RD_T_STR, "library that reads it", 0, true },
	{ "value_bytes", "BYTES", RD_T_UINT, "length of the value", 0, true },
};

static const struct rd_column against_columns[] = {
	{ "topic", "ABOUT", RD_T_STR, "what is compared", 0, false },
	{ "subject", "OF", RD_T_STR, "device, GPU or pair", 0, false },
	{ "predicted", "PREDICTED", RD_T_STR, "value predicted from this host and the variables of the run", 0, false },
	{ "observed", "OBSERVED", RD_T_STR, "value in the run", 0, false },
	{ "verdict", "VERDICT", RD_T_STR, "same, differs, unknown", 0, false },
	{ "reason", "REASON", RD_T_STR, "why they differ, or why the verdict is unknown", 0, false },
};

static const struct rd_column top_columns[] = {
	{ "file", NULL, RD_T_STR, "name of the file", 0, false },
	{ "kind", NULL, RD_T_STR, "log or topology", 0, false },
	{ "run_host", NULL, RD_T_STR, "host name in the log", 0, false },
	{ "nccl_version", NULL, RD_T_STR, "NCCL version of the run", 0, false },
	{ "same", NULL, RD_T_UINT, "rows that agree", 0, false },
	{ "differs", NULL, RD_T_UINT, "rows that differ", 0, false },
	{ "unknown", NULL, RD_T_UINT, "rows with verdict unknown", 0, false },
};
/* clang-format on */

void rd_report_rails(struct rd_report *report, const struct rd_compared *hosts, size_t n, bool *const *differs,
		     bool all, size_t most, size_t *left_out)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("rails", rail_columns));
	int last = -1;

	*left_out = 0;
	for (size_t h = 0; h < n; h++)
		for (size_t i = 0; i < hosts[h].n_rails; i++)
			last = hosts[h].rails[i].gpu > last ? hosts[h].rails[i].gpu : last;
	/* Rail by rail, so that the same rail of all hosts is adjacent. */
	for (int gpu = 0; gpu <= last; gpu++)
		for (size_t h = 0; h < n; h++)
			for (size_t i = 0; i < hosts[h].n_rails; i++) {
				const struct rd_rail *rail = &hosts[h].rails[i];
				const struct rd_compared_port *port = &hosts[h].ports[rail->port];

				if (rail->gpu != gpu || (!all && !differs[h][i]))
					continue;
				if (section->n >= most)
					++*left_out;
				else
					RD_ROW(section, RD_UINT((uint64_t)gpu), RD_STR(hosts[h].name),
					       RD_STR(rail->nic), RD_STR(port->subnet), RD_STR(port->rate),
					       RD_STR(port->firmware), RD_STR(port->link_layer), RD_STR(port->state),
					       RD_BOOL(differs[h][i]));
			}
}

/* "no", "yes", "unknown" */
static const char *judged_name(enum rd_judged judged)
{
	static const char *const names[] = {
		[RD_JUDGED_NO] = "no", [RD_JUDGED_YES] = "yes", [RD_JUDGED_UNKNOWN] = "unknown"
	};

	return (size_t)judged < RD_ARRAY_SIZE(names) ? names[judged] : NULL;
}

void rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects)
{
	/* Values of variables with such names are not printed. */
	static const char *const secrets[] = { "PASSWORD", "PASSWD", "SECRET", "TOKEN", "CREDENTIAL" };
	struct rd_section *section = rd_report_add(report, RD_SECTION("variables", var_columns));

	for (size_t i = 0; i < effects->n; i++) {
		const struct rd_effect *effect = &effects->v[i];
		size_t size = strlen(effect->value);
		_cleanup_free_ char *cut = size > QUOTED ? rd_text("%.*s...", QUOTED, effect->value) : NULL;
		const char *value = cut ?: effect->value;

		for (size_t s = 0; s < RD_ARRAY_SIZE(secrets); s++)
			if (strstr(effect->name, secrets[s]))
				value = "(not shown)";
		RD_ROW(section, RD_STR(effect->name), RD_STR(value), RD_STR(judged_name(effect->judged)),
		       RD_STR(effect->selects), RD_STR(effect->effect), RD_STR(effect->library), RD_UINT(size));
	}
}

static void add_against_row(struct rd_section *section, const struct rd_against_row *of)
{
	struct rd_row *row = RD_ROW(section, RD_STR(of->topic), RD_STR(of->subject), RD_STR(of->predicted),
				    RD_STR(of->observed), RD_STR(rd_verdict_name(of->verdict)), RD_STR(of->reason));

	if (of->verdict != RD_VERDICT_SAME)
		row->severity = of->verdict == RD_VERDICT_DIFFERS ? RD_SEV_WARNING : RD_SEV_UNKNOWN;
}

struct rd_section *rd_report_against_table(const struct rd_against *against, size_t most, size_t *left_out)
{
	static const enum rd_verdict order[] = { RD_VERDICT_DIFFERS, RD_VERDICT_UNKNOWN, RD_VERDICT_SAME };
	struct rd_section *section = RD_SECTION("against", against_columns);

	for (size_t i = 0; against->n <= most && i < against->n; i++)
		add_against_row(section, &against->v[i]);
	for (size_t o = 0; against->n > most && o < RD_ARRAY_SIZE(order); o++)
		for (size_t i = 0; i < against->n && section->n < most; i++)
			if (against->v[i].verdict == order[o])
				add_against_row(section, &against->v[i]);
	*left_out = against->n - section->n;
	return section;
}

void rd_report_against(struct rd_report *report, const struct rd_against_what *what, const struct rd_against *against)
{
	size_t left_out;

	rd_report_add(report, rd_report_against_table(against, SIZE_MAX, &left_out));
	report->scalars = RD_OBJECT("scalars", top_columns, RD_STR(what->file), RD_STR(what->kind),
				    RD_STR(what->run_host), RD_STR(what->version),
				    RD_UINT(against->n_of[RD_VERDICT_SAME]), RD_UINT(against->n_of[RD_VERDICT_DIFFERS]),
				    RD_UINT(against->n_of[RD_VERDICT_UNKNOWN]));
}

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
		rd_buf_printf(&line, " (%s%s%s%s)", what->run_host ?: "", what->run_host && what->version ? ", " : "",
			      !what->version ? "" :
			      rccl	     ? "RCCL " :
					       "NCCL ",
			      what->version ?: "");
	rd_buf_printf(&line, ": %zu of %zu agree", against->n_of[RD_VERDICT_SAME], against->n);
	if (differ)
		rd_buf_printf(&line, ", %zu differ%s", differ, differ == 1 ? "s" : "");
	add_unknown(against->n_of[RD_VERDICT_UNKNOWN], &line);
	report->headline = line.data;
}

void rd_report_env_headline(struct rd_report *report, const struct rd_effects *effects, const char *where)
{
	struct rd_buf line = { 0 };
	size_t judged = 0, unknown = 0;

	for (size_t i = 0; i < effects->n; i++) {
		judged += effects->v[i].judged == RD_JUDGED_YES;
		unknown += effects->v[i].judged == RD_JUDGED_UNKNOWN;
	}
	if (effects->n) {
		rd_buf_printf(&line,
			      "nic-map: %zu variable%s (%zu judged, %zu only listed, %zu unknown name%s): ", effects->n,
			      effects->n == 1 ? "" : "s", judged, effects->n - judged - unknown, unknown,
			      unknown == 1 ? "" : "s");
		add_faults(&report->findings, judged ? "no problems found" : "no known problem", &line);
	} else {
		rd_buf_printf(&line,
			      "nic-map: no variable of " RD_ENV_LIBRARIES
			      " is set in %s (names that begin with " RD_ENV_PREFIXES "; %zu other variable%s)",
			      where, effects->foreign, effects->foreign == 1 ? "" : "s");
	}
	report->headline = line.data;
}

void rd_report_path_headline(struct rd_report *report, const struct rd_host *host, int from, int to, const char *path,
			     const char *why)
{
	report->headline = rd_text("%s to %s: %s%s%s%s", host->pcis[from].addr, host->pcis[to].addr, path ?: "unknown",
				   why ? " (" : "", why ?: "", why ? ")" : "");
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
