/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/host/report-diff.h"

static const struct rd_column base_columns[2];

struct rd_section *rd_report_diff(void)
{
	return rd_section_create("changes", rd_diff_columns, RD_DIFF_COLUMNS);
}

void rd_report_diff_add(struct rd_section *section, const char *area, const char *subject, const char *field,
			const char *before, const char *after, unsigned weight)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, RD_DIFF_AREA, area);
	rd_row_str(row, RD_DIFF_SUBJECT, subject);
	rd_row_str(row, RD_DIFF_FIELD, field);
	rd_row_str(row, RD_DIFF_BEFORE, before);
	rd_row_str(row, RD_DIFF_AFTER, after);
	rd_row_uint(row, RD_DIFF_WEIGHT, weight);
}

void rd_report_diff_base(struct rd_report *report, const char *host, uint64_t time)
{
	struct rd_section *section = rd_section_create("base", base_columns, RD_ARRAY_SIZE(base_columns));
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, 0, host);
	if (time)
		rd_row_uint(row, 1, time);
	report->scalars = section;
}

const struct rd_column rd_diff_columns[RD_DIFF_COLUMNS] = {
	[RD_DIFF_AREA] = { .key = "area",
			   .title = "AREA",
			   .type = RD_T_STR,
			   .help = "device, link, firmware, module, gid, address, route, setting, counter, host" },
	[RD_DIFF_SUBJECT] = { .key = "subject",
			      .title = "SUBJECT",
			      .type = RD_T_STR,
			      .help = "changed object: device, port, interface, module" },
	[RD_DIFF_FIELD] = { .key = "field", .title = "FIELD", .type = RD_T_STR, .help = "changed property" },
	[RD_DIFF_BEFORE] = { .key = "before",
			     .title = "BEFORE",
			     .type = RD_T_STR,
			     .help = "value in the first capture; none: missing there" },
	[RD_DIFF_AFTER] = { .key = "after",
			    .title = "AFTER",
			    .type = RD_T_STR,
			    .help = "value in the second capture; none: missing there" },
	[RD_DIFF_WEIGHT] = { .key = "weight",
			     .title = "WEIGHT",
			     .type = RD_T_UINT,
			     .help = "significance, 1 to 100",
			     .hidden = true },
};

static const struct rd_column base_columns[2] = {
	[0] = { .key = "before_host", .type = RD_T_STR, .help = "host of the first capture" },
	[1] = { .key = "before_time", .type = RD_T_TIME, .help = "time of the first capture" },
};
