/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures: what one contains, and changes between two. */
#include "report/host/report-capture.h"

/* clang-format off */
const struct rd_column rd_capture_columns[RD_CAPTURE_COLUMNS] = {
	{ "file", "FILE", RD_T_STR, "file name of the bundle", 0, false },
	{ "size_bytes", "BYTES", RD_T_UINT, "size of the bundle in bytes", 0, false },
	{ "samples", "SAMPLES", RD_T_UINT, "number of samples of the host", 0, false },
	{ "requests", "FACTS", RD_T_UINT, "recorded reads in all samples", 0, false },
	{ "denied", "DENIED", RD_T_UINT, "reads refused for lack of privilege", 0, false },
	{ "log_lines_dropped", "LOG DROPPED", RD_T_UINT, "lines of the kernel log removed by --redact", 0, false },
	{ "seconds", "SECONDS", RD_T_DOUBLE, "duration of the capture", 2, false },
};

const struct rd_column rd_diff_columns[RD_DIFF_COLUMNS] = {
	{ "area", "AREA", RD_T_STR, "device, link, firmware, module, gid, address, route, setting, counter, host", 0, false },
	{ "subject", "SUBJECT", RD_T_STR, "changed object: device, port, interface, module", 0, false },
	{ "field", "FIELD", RD_T_STR, "changed property", 0, false },
	{ "before", "BEFORE", RD_T_STR, "value in the first capture; none: missing there", 0, false },
	{ "after", "AFTER", RD_T_STR, "value in the second capture; none: missing there", 0, false },
	{ "weight", "WEIGHT", RD_T_UINT, "significance, 1 to 100", 0, true },
};

static const struct rd_column base_columns[] = {
	{ "before_host", NULL, RD_T_STR, "host of the first capture", 0, false },
	{ "before_time", NULL, RD_T_TIME, "time of the first capture", 0, false },
};
/* clang-format on */

void rd_report_capture(struct rd_report *report, const struct rd_capture_facts *facts)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("bundles", rd_capture_columns));

	if (!facts->samples)
		RD_ROW(section, RD_STR(facts->file));
	else
		RD_ROW(section, RD_STR(facts->file), RD_UINT(facts->size), RD_UINT(facts->samples),
		       RD_UINT(facts->requests), RD_UINT(facts->denied), RD_UINT_OF(facts->log_dropped),
		       RD_DOUBLE(facts->seconds));
}

void rd_report_changes(struct rd_report *report, const char *host, uint64_t time, const struct rd_changes *changes)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("changes", rd_diff_columns));

	for (size_t i = 0; i < changes->n; i++) {
		const struct rd_fact *before = changes->v[i].before, *after = changes->v[i].after,
				     *fact = after ? after : before;

		RD_ROW(section, RD_STR(rd_area_name(fact->area)), RD_STR(fact->subject), RD_STR(fact->field),
		       RD_STR(before ? before->value : NULL), RD_STR(after ? after->value : NULL),
		       RD_UINT(changes->v[i].weight));
	}
	report->scalars = RD_OBJECT("base", base_columns, RD_STR(host), time ? RD_UINT(time) : RD_UNKNOWN_CELL);
}
