/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/trace/report-trace-live.h"

#include "base/memory.h"
#include "base/text.h"

enum { LIVE_PROCESS = RD_LIVE_AGE + 1, LIVE_CAUSE, LIVE_JOB, LIVE_BENIGN, LIVE_COLUMNS };

static const struct rd_column live_columns[LIVE_COLUMNS];

static void add_origin(struct rd_section *section, const struct rd_live_origin *origin, const struct rd_fnset *set)
{
	const struct rd_origin_count *count = &origin->count;
	struct rd_row *row = rd_section_add(section);
	_cleanup_free_ char *verb = NULL;

	if (!count->verb && count->object)
		verb = rd_text("%s.%s", count->object, count->method ? count->method : "?");
	rd_row_str(row, RD_LIVE_ERRNO, rd_errno_name(-count->err));
	rd_row_str(row, RD_LIVE_VERB, count->verb ? count->verb : verb);
	rd_row_str(row, RD_LIVE_IBDEV, count->ibdev);
	rd_row_str(row, RD_LIVE_ORIGIN, count->fn >= 0 ? set->fns[count->fn].name : NULL);
	rd_row_uint(row, RD_LIVE_COUNT, count->count);
	if (origin->rate.known == RD_OK)
		rd_row_double(row, RD_LIVE_RATE, origin->rate.v);
	if (origin->age.known == RD_OK)
		rd_row_double(row, RD_LIVE_AGE, origin->age.v);
	rd_row_str(row, LIVE_PROCESS, origin->process);
	rd_row_str(row, LIVE_CAUSE, origin->cause);
	rd_row_str(row, LIVE_JOB, origin->job);
	rd_row_uint(row, LIVE_BENIGN, count->benign);
	if (origin->rate.known == RD_OK && origin->rate.v > 0 && count->benign < count->count)
		rd_row_severity(row, RD_SEV_WARNING);
}

struct rd_section *rd_report_trace_live(const struct rd_live_origin *origins, size_t n, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("origins", live_columns, LIVE_COLUMNS);

	for (size_t i = 0; i < n; i++)
		add_origin(section, &origins[i], set);
	return section;
}

/* clang-format off */
static const struct rd_column live_columns[LIVE_COLUMNS] = {
	[RD_LIVE_ERRNO] = { "errno", "ERRNO", RD_T_STR, "error that the call returned", 0, false },
	[RD_LIVE_VERB] = { "verb", "VERB", RD_T_STR, "verb, or object and method of the call", 0, false },
	[RD_LIVE_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[RD_LIVE_ORIGIN] = { "origin", "ORIGIN", RD_T_STR, "kernel function that failed first", 0, false },
	[RD_LIVE_COUNT] = { "count", "COUNT", RD_T_UINT, "failed calls since the start", 0, false, .scaled = true },
	[RD_LIVE_RATE] = { "rate", "PER_S", RD_T_DOUBLE, "failed calls per second, since the previous look", 1, false, .scaled = true },
	[RD_LIVE_AGE] = { "age_seconds", "AGE", RD_T_DOUBLE, "seconds since the newest one that was read", 0, false },
	[LIVE_PROCESS] = { "process", "PROCESS", RD_T_STR, "process of the newest one", 0, false },
	[LIVE_CAUSE] = { "cause", "CAUSE", RD_T_STR, "cause of the newest one", 0, false },
	[LIVE_JOB] = { "job", "JOB", RD_T_STR, "job of that process", 0, true },
	[LIVE_BENIGN] = { "benign", "BENIGN", RD_T_UINT, "of the count: expected from healthy programs", 0, true },
};
