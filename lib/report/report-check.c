/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report-check.h"

#include <errno.h>
#include <string.h>

#include "model/remark.h"
#include "report/finding.h"

enum rule_column { RULE_ID, RULE_QUICK, RULE_TITLE, RULE_WHY, RULE_FIX, RULE_NEEDS, RULE_COLUMNS };
static const struct rd_column rule_columns[RULE_COLUMNS];
static const struct rd_column page_columns[2];

static const char *fix_of(const struct rd_verdict *verdict)
{
	return verdict->fix ? verdict->fix : verdict->check->fix;
}

static void add_row(struct rd_section *section, const struct rd_verdict *verdict)
{
	static const enum rd_severity severities[] = {
		[RD_FAIL] = RD_SEV_CRITICAL,
		[RD_WARN] = RD_SEV_WARNING,
		[RD_UNKNOWN] = RD_SEV_UNKNOWN,
		[RD_SKIP] = RD_SEV_OK,
	};
	struct rd_row *row = rd_section_add(section);

	rd_row_severity(row, severities[verdict->result]);
	rd_row_str(row, RD_CHECK_RESULT, rd_result_name(verdict->result));
	rd_row_str(row, RD_CHECK_ID, verdict->check->id);
	rd_row_str(row, RD_CHECK_SUBJECT, verdict->subject);
	rd_row_str(row, RD_CHECK_OBSERVED, verdict->observed);
	rd_row_str(row, RD_CHECK_EXPECTED, verdict->expected);
	rd_row_str(row, RD_CHECK_TITLE, verdict->check->title);
	rd_row_str(row, RD_CHECK_WHY, verdict->check->why);
	rd_row_str(row, RD_CHECK_FIX, fix_of(verdict));
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int add_remark(struct rd_remarks *remarks, const struct rd_verdict *verdict)
{
	const struct rd_remark remark = {
		.id = verdict->check->id,
		.gravity = verdict->result == RD_FAIL ? RD_REMARK_CRITICAL :
			   verdict->result == RD_WARN ? RD_REMARK_WARNING :
							RD_REMARK_UNKNOWN,
		.title = verdict->check->title,
		.why = verdict->check->why,
		.subject = copy(verdict->subject),
		.observed = copy(verdict->observed),
		.expected = copy(verdict->expected),
		.fix = copy(fix_of(verdict)),
	};

	return rd_remark_add(remarks, &remark);
}

int rd_report_checks(struct rd_report *report, const struct rd_verdicts *verdicts, enum rd_result least)
{
	struct rd_section *section = rd_section_create("checks", rd_check_columns, RD_CHECK_COLUMNS);
	struct rd_remarks remarks = { 0 };
	int r = section ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < verdicts->n; i++) {
		const struct rd_verdict *verdict = &verdicts->v[i];

		if (verdict->result < least)
			continue;
		add_row(section, verdict);
		if (verdict->result > RD_PASS)
			r = add_remark(&remarks, verdict);
	}
	if (r)
		rd_section_destroy(section);
	else
		r = rd_report_add(report, section);
	if (!r)
		r = rd_report_add_remarks(report, &remarks);
	rd_remarks_deinit(&remarks);
	return r;
}

struct rd_section *rd_report_check_detail(const struct rd_section *checks, size_t row)
{
	struct rd_section *page = rd_section_create("check", page_columns, RD_ARRAY_SIZE(page_columns));

	for (size_t c = 0; page && c < RD_CHECK_COLUMNS; c++) {
		struct rd_row *line = rd_section_add(page);
		const struct rd_cell *cell = &checks->rows[row].cells[c];

		rd_row_str(line, 0, checks->columns[c].key);
		rd_row_str(line, 1, cell->known == RD_OK ? cell->s : NULL);
	}
	return page;
}

int rd_report_rules(struct rd_report *report, const struct rd_check *const *checks, size_t n)
{
	struct rd_section *section = rd_section_create("rules", rule_columns, RULE_COLUMNS);

	for (size_t i = 0; section && i < n; i++) {
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, RULE_ID, checks[i]->id);
		rd_row_bool(row, RULE_QUICK, checks[i]->quick);
		rd_row_str(row, RULE_TITLE, checks[i]->title);
		rd_row_str(row, RULE_WHY, checks[i]->why);
		rd_row_str(row, RULE_FIX, checks[i]->fix);
		rd_row_str(row, RULE_NEEDS, checks[i]->needs);
	}
	return rd_report_add(report, section);
}

/* clang-format off */
const struct rd_column rd_check_columns[RD_CHECK_COLUMNS] = {
	[RD_CHECK_RESULT] = { "result", "RESULT", RD_T_STR, "pass, warn, fail, unknown (could not be told), skip (not about this host)", 0, false },
	[RD_CHECK_ID] = { "id", "RULE", RD_T_STR, "the rule", 0, false },
	[RD_CHECK_SUBJECT] = { "subject", "SUBJECT", RD_T_STR, "what it is about: device, port, interface, bridge", 0, false },
	[RD_CHECK_OBSERVED] = { "observed", "OBSERVED", RD_T_STR, "what was seen; of unknown and skip: the reason", 0, false },
	[RD_CHECK_EXPECTED] = { "expected", "EXPECTED", RD_T_STR, "what should be", 0, false },
	[RD_CHECK_TITLE] = { "title", "TITLE", RD_T_STR, "what is wrong when it does not pass", 0, true },
	[RD_CHECK_WHY] = { "why", "WHY", RD_T_STR, "why it matters", 0, true },
	[RD_CHECK_FIX] = { "fix", "FIX", RD_T_STR, "what to do", 0, true },
};

static const struct rd_column page_columns[2] = {
	{ "name", "NAME", RD_T_STR, "what of it", 0, false },
	{ "value", "VALUE", RD_T_STR, "as it is", 0, false },
};

static const struct rd_column rule_columns[RULE_COLUMNS] = {
	[RULE_ID] = { "id", "RULE", RD_T_STR, "the rule", 0, false },
	[RULE_QUICK] = { "quick", "QUICK", RD_T_BOOL, "also run by rdmadiag check", 0, false },
	[RULE_TITLE] = { "title", "TITLE", RD_T_STR, "what is wrong when it does not pass", 0, false },
	[RULE_WHY] = { "why", "WHY", RD_T_STR, "why it matters", 0, true },
	[RULE_FIX] = { "fix", "FIX", RD_T_STR, "what to do", 0, true },
	[RULE_NEEDS] = { "needs", "NEEDS", RD_T_STR, "what it reads", 0, true },
};
/* clang-format on */
