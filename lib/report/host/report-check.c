/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/host/report-check.h"

#include "base/text.h"

enum rule_column { RULE_ID, RULE_QUICK, RULE_TITLE, RULE_WHY, RULE_FIX, RULE_ADVICE, RULE_NEEDS, RULE_COLUMNS };
static const struct rd_column rule_columns[RULE_COLUMNS];
static const struct rd_column page_columns[2];

static void add_row(struct rd_section *section, const struct rd_finding *finding)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_severity(row, finding->severity);
	rd_row_str(row, RD_CHECK_RESULT, rd_severity_result(finding->severity));
	rd_row_str(row, RD_CHECK_ID, finding->id);
	rd_row_str(row, RD_CHECK_SUBJECT, finding->subject);
	rd_row_str(row, RD_CHECK_OBSERVED, finding->observed);
	rd_row_str(row, RD_CHECK_EXPECTED, finding->expected);
	rd_row_str(row, RD_CHECK_TITLE, finding->title);
	rd_row_str(row, RD_CHECK_WHY, finding->why);
	rd_row_fix(row, RD_CHECK_FIX, finding->fix);
}

void rd_report_checks(struct rd_report *report, const struct rd_findings *findings, enum rd_severity least)
{
	struct rd_section *section = rd_section_create("checks", rd_check_columns, RD_CHECK_COLUMNS);

	report->results = findings;
	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];

		if (finding->severity < least)
			continue;
		add_row(section, finding);
		if (finding->severity > RD_SEV_OK)
			rd_finding_copy(&report->findings, finding);
	}
	rd_report_add(report, section);
}

void rd_report_topo_headline(struct rd_report *report, const size_t *hidden)
{
	_cleanup_free_ char *others = hidden ? rd_text("; %zu about other devices hidden", *hidden) : NULL;
	const struct rd_findings *f = report->results;
	size_t criticals = rd_findings_count(f, RD_SEV_CRITICAL), warnings = rd_findings_count(f, RD_SEV_WARNING);

	report->headline =
		rd_text("topo-check%s%s: %zu critical, %zu warning%s, %zu unknown; %zu passed, %zu not applicable%s",
			report->host ? " of " : "", report->host ? report->host : "", criticals, warnings,
			warnings == 1 ? "" : "s", rd_findings_count(f, RD_SEV_UNKNOWN),
			rd_findings_count(f, RD_SEV_OK) + rd_findings_count(f, RD_SEV_NOTE),
			rd_findings_count(f, RD_SEV_SKIP), others ? others : "");
}

struct rd_section *rd_report_check_detail(const struct rd_section *checks, size_t row)
{
	struct rd_section *page = rd_section_create("check", page_columns, RD_ARRAY_SIZE(page_columns));

	for (size_t c = 0; c < RD_CHECK_COLUMNS; c++) {
		struct rd_row *line = rd_section_add(page);
		const struct rd_cell *cell = &checks->rows[row].cells[c];

		rd_row_str(line, 0, checks->columns[c].key);
		rd_row_str(line, 1, cell->known == RD_OK ? cell->s : NULL);
	}
	return page;
}

void rd_report_rules(struct rd_report *report, const struct rd_check *const *checks, size_t n)
{
	struct rd_section *section = rd_section_create("rules", rule_columns, RULE_COLUMNS);

	for (size_t i = 0; i < n; i++) {
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, RULE_ID, checks[i]->id);
		rd_row_bool(row, RULE_QUICK, !checks[i]->thorough);
		rd_row_str(row, RULE_TITLE, checks[i]->title);
		rd_row_str(row, RULE_WHY, checks[i]->why);
		rd_row_fix(row, RULE_FIX, checks[i]->fix);
		rd_row_str(row, RULE_NEEDS, checks[i]->needs);
	}
	rd_report_add(report, section);
}

/* clang-format off */
const struct rd_column rd_check_columns[RD_CHECK_COLUMNS] = {
	[RD_CHECK_RESULT] = { "result", "RESULT", RD_T_STR, "pass, warn, fail, unknown (cannot be determined), skip (does not apply to this host)", 0, false },
	[RD_CHECK_ID] = { "id", "RULE", RD_T_STR, "rule ID", 0, false },
	[RD_CHECK_SUBJECT] = { "subject", "SUBJECT", RD_T_STR, "checked object: device, port, interface, bridge", 0, false },
	[RD_CHECK_OBSERVED] = { "observed", "OBSERVED", RD_T_STR, "observed value; for unknown and skip: the reason", 0, false },
	[RD_CHECK_EXPECTED] = { "expected", "EXPECTED", RD_T_STR, "expected value", 0, false },
	[RD_CHECK_TITLE] = { "title", "TITLE", RD_T_STR, "fault that the rule detects", 0, true },
	[RD_CHECK_WHY] = { "why", "WHY", RD_T_STR, "consequence of the fault", 0, true },
	[RD_CHECK_FIX] = { "fix", "FIX", RD_T_STR, "commands that fix it", 0, true },
	[RD_CHECK_ADVICE] = { "advice", "ADVICE", RD_T_STR, "what else to do", 0, true },
};

static const struct rd_column page_columns[2] = {
	{ "name", "NAME", RD_T_STR, "name of the value", 0, false },
	{ "value", "VALUE", RD_T_STR, "value", 0, false },
};

static const struct rd_column rule_columns[RULE_COLUMNS] = {
	[RULE_ID] = { "id", "RULE", RD_T_STR, "rule ID", 0, false },
	[RULE_QUICK] = { "quick", "QUICK", RD_T_BOOL, "also run by rdmadiag check", 0, false },
	[RULE_TITLE] = { "title", "TITLE", RD_T_STR, "fault that the rule detects", 0, false },
	[RULE_WHY] = { "why", "WHY", RD_T_STR, "consequence of the fault", 0, true },
	[RULE_FIX] = { "fix", "FIX", RD_T_STR, "commands that fix it", 0, true },
	[RULE_ADVICE] = { "advice", "ADVICE", RD_T_STR, "what else to do", 0, true },
	[RULE_NEEDS] = { "needs", "NEEDS", RD_T_STR, "facts that the rule needs", 0, true },
};
/* clang-format on */
