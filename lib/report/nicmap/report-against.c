/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/nicmap/report-against.h"

enum row_column { ROW_TOPIC, ROW_SUBJECT, ROW_PREDICTED, ROW_OBSERVED, ROW_VERDICT, ROW_REASON, ROW_COLUMNS };
enum top_column { TOP_FILE, TOP_KIND, TOP_HOST, TOP_VERSION, TOP_SAME, TOP_DIFFERS, TOP_UNKNOWN, TOP_COLUMNS };

static const struct rd_column row_columns[ROW_COLUMNS];
static const struct rd_column top_columns[TOP_COLUMNS];

static void add_row(struct rd_section *section, const struct rd_against_row *of)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, ROW_TOPIC, of->topic);
	rd_row_str(row, ROW_SUBJECT, of->subject);
	rd_row_str(row, ROW_PREDICTED, of->predicted);
	rd_row_str(row, ROW_OBSERVED, of->observed);
	rd_row_str(row, ROW_VERDICT, rd_verdict_name(of->verdict));
	rd_row_str(row, ROW_REASON, of->reason);
	if (of->verdict != RD_VERDICT_SAME)
		rd_row_severity(row, of->verdict == RD_VERDICT_DIFFERS ? RD_SEV_WARNING : RD_SEV_UNKNOWN);
}

struct rd_section *rd_report_against_table(const struct rd_against *against, size_t most, size_t *left_out)
{
	static const enum rd_verdict order[] = { RD_VERDICT_DIFFERS, RD_VERDICT_UNKNOWN, RD_VERDICT_SAME };
	struct rd_section *section = rd_section_create("against", row_columns, ROW_COLUMNS);

	for (size_t i = 0; against->n <= most && i < against->n; i++)
		add_row(section, &against->v[i]);
	for (size_t o = 0; against->n > most && o < RD_ARRAY_SIZE(order); o++)
		for (size_t i = 0; i < against->n && section->n < most; i++)
			if (against->v[i].verdict == order[o])
				add_row(section, &against->v[i]);
	*left_out = against->n - section->n;
	return section;
}

static void add_top(struct rd_report *report, const struct rd_against_what *what, const struct rd_against *against)
{
	struct rd_section *top = rd_section_create("scalars", top_columns, TOP_COLUMNS);
	struct rd_row *row = rd_section_add(top);

	rd_row_str(row, TOP_FILE, what->file);
	rd_row_str(row, TOP_KIND, what->kind);
	rd_row_str(row, TOP_HOST, what->run_host);
	rd_row_str(row, TOP_VERSION, what->version);
	rd_row_uint(row, TOP_SAME, against->n_of[RD_VERDICT_SAME]);
	rd_row_uint(row, TOP_DIFFERS, against->n_of[RD_VERDICT_DIFFERS]);
	rd_row_uint(row, TOP_UNKNOWN, against->n_of[RD_VERDICT_UNKNOWN]);
	report->scalars = top;
}

void rd_report_against(struct rd_report *report, const struct rd_against_what *what, const struct rd_against *against)
{
	struct rd_section *section = rd_section_create("against", row_columns, ROW_COLUMNS);

	for (size_t i = 0; i < against->n; i++)
		add_row(section, &against->v[i]);
	rd_report_add(report, section);
	add_top(report, what, against);
}

/* clang-format off */
static const struct rd_column row_columns[ROW_COLUMNS] = {
	[ROW_TOPIC] = { "topic", "ABOUT", RD_T_STR, "what is compared", 0, false },
	[ROW_SUBJECT] = { "subject", "OF", RD_T_STR, "device, GPU or pair", 0, false },
	[ROW_PREDICTED] = { "predicted", "PREDICTED", RD_T_STR, "value predicted from this host and the variables of the run", 0, false },
	[ROW_OBSERVED] = { "observed", "OBSERVED", RD_T_STR, "value in the run", 0, false },
	[ROW_VERDICT] = { "verdict", "VERDICT", RD_T_STR, "same, differs, unknown", 0, false },
	[ROW_REASON] = { "reason", "REASON", RD_T_STR, "why they differ, or why the verdict is unknown", 0, false },
};

static const struct rd_column top_columns[TOP_COLUMNS] = {
	[TOP_FILE] = { "file", NULL, RD_T_STR, "name of the file", 0, false },
	[TOP_KIND] = { "kind", NULL, RD_T_STR, "log or topology", 0, false },
	[TOP_HOST] = { "run_host", NULL, RD_T_STR, "host name in the log", 0, false },
	[TOP_VERSION] = { "nccl_version", NULL, RD_T_STR, "NCCL version of the run", 0, false },
	[TOP_SAME] = { "same", NULL, RD_T_UINT, "rows that agree", 0, false },
	[TOP_DIFFERS] = { "differs", NULL, RD_T_UINT, "rows that differ", 0, false },
	[TOP_UNKNOWN] = { "unknown", NULL, RD_T_UINT, "rows with verdict unknown", 0, false },
};
/* clang-format on */
