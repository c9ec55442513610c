/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of trace-errno --live: failures by origin. */
#ifndef RD_REPORT_TRACE_LIVE_H
#define RD_REPORT_TRACE_LIVE_H

#include "report/trace/report-trace.h"

/* What calls that failed in the same function, with the same verb, device and error, have in common. Texts may be NULL: unknown. */
struct rd_live_origin {
	struct rd_origin_count count; /* since the start */
	RD_FIELD(double) rate;	      /* per second, since the previous look */
	RD_FIELD(double) age;	      /* seconds since the newest one that was read */
	const char *process;	      /* of that: "python3[4711]" */
	const char *job, *cause;
};

/* One row for each; the caller owns the section. */
struct rd_section *rd_report_trace_live(const struct rd_live_origin *origins, size_t n, const struct rd_fnset *set);

/* The first four identify a row. */
enum { RD_LIVE_ERRNO, RD_LIVE_VERB, RD_LIVE_IBDEV, RD_LIVE_ORIGIN, RD_LIVE_COUNT, RD_LIVE_RATE, RD_LIVE_AGE };

#endif
