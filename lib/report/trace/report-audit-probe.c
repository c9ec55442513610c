// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/memory.h"
#include "report/trace/report-audit.h"

enum column { PR_CALL, PR_ERRNO, PR_RESULT, PR_ORIGIN, PR_MODULE, PR_EXACT, PR_EXPECTED, PR_VERB, PR_COLUMNS };

static const struct rd_column columns[PR_COLUMNS];

static const char *expected_origin(const struct rd_audit_set *baseline, const char *name)
{
	for (size_t i = 0; baseline && i < baseline->n_probes; i++)
		if (!strcmp(baseline->probes[i].name, name))
			return baseline->probes[i].origin;
	return NULL;
}

static const char *result_of(const struct rd_audit_probe *probe, const char *expected)
{
	if (probe->err < 0)
		return "not-tried";
	if (!probe->err)
		return "did-not-fail";
	if (!probe->seen)
		return "not-seen";
	return expected && rd_fn_compare_bare(expected, probe->origin) ? "other-origin" : "seen";
}

static void add_finding(struct rd_report *report, const struct rd_audit_probe *probe, const char *expected)
{
	bool lost = !probe->seen;
	struct rd_finding finding = {
		.id = lost ? "probe-not-seen" : "probe-other-origin",
		.title = lost ? "A call that failed was not seen by the trace" :
				"A call that failed has another origin than in the baseline",
		.why = lost ? "Errors of this kind do not appear in trace-errno." :
			      "What is written about the old origin does not apply any more.",
		.severity = lost ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		.subject = rd_dup(probe->name),
		.observed = lost ? rd_text("no event with %s", rd_errno_name(probe->err)) : rd_dup(probe->origin),
		.expected = rd_dup_if(expected),
		.fix = lost ? rd_dup("rdmadiag trace-errno --list\nuname -r\n# please report this, with the output of both") :
			      rd_text("rdmadiag trace-errno --audit --explain %s", probe->origin),
	};

	rd_finding_add(&report->findings, &finding);
	if (report->status == 3 || report->status < (lost ? 2 : 1))
		report->status = lost ? 2 : 1;
}

void rd_report_audit_probes(struct rd_report *report, const struct rd_audit_probe *probes, size_t n,
			    const struct rd_audit_set *baseline)
{
	struct rd_section *section = rd_section_create("probes", columns, PR_COLUMNS);
	size_t failed = 0, seen = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rd_audit_probe *probe = &probes[i];
		const char *expected = expected_origin(baseline, probe->name);
		struct rd_row *row = rd_section_add(section);

		failed += probe->err > 0;
		seen += probe->seen;
		rd_row_str(row, PR_CALL, probe->name);
		if (probe->err > 0)
			rd_row_str(row, PR_ERRNO, rd_errno_name(probe->err));
		rd_row_str(row, PR_RESULT, result_of(probe, expected));
		rd_row_str(row, PR_ORIGIN, probe->origin);
		rd_row_str(row, PR_MODULE, probe->module);
		if (probe->seen)
			rd_row_bool(row, PR_EXACT, probe->exact);
		rd_row_str(row, PR_EXPECTED, expected);
		rd_row_str(row, PR_VERB, probe->verb);
		if (probe->err > 0 && (!probe->seen || (expected && rd_fn_compare_bare(expected, probe->origin))))
			add_finding(report, probe, expected);
	}
	rd_report_note(report, "%zu of %zu calls that failed were seen by the trace", seen, failed);
	if (!failed)
		report->status = 3;
	rd_report_add(report, section);
}

/* clang-format off */
static const struct rd_column columns[PR_COLUMNS] = {
	[PR_CALL] = { "call", "CALL", RD_T_STR, "what was called to fail", 0, false },
	[PR_ERRNO] = { "errno", "ERRNO", RD_T_STR, "the error of the call", 0, false },
	[PR_RESULT] = { "result", "RESULT", RD_T_STR, "seen, other-origin, not-seen, did-not-fail, not-tried", 0, false },
	[PR_ORIGIN] = { "origin", "ORIGIN", RD_T_STR, "kernel function that the trace shows as origin", 0, false },
	[PR_MODULE] = { "module", "MODULE", RD_T_STR, "its module", 0, false },
	[PR_EXACT] = { "origin_exact", "EXACT", RD_T_BOOL, "false: at or below this function", 0, false },
	[PR_EXPECTED] = { "expected", "EXPECTED", RD_T_STR, "origin in the baseline", 0, false },
	[PR_VERB] = { "verb", "VERB", RD_T_STR, "the verb", 0, true },
};
/* clang-format on */
