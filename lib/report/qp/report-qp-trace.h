/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of qp-state --trace: one row per event, and the summary. */
#ifndef RD_REPORT_QP_TRACE_H
#define RD_REPORT_QP_TRACE_H

#include "model/rdma/qp-event.h"
#include "model/trace/event.h"
#include "model/trace/fnset.h"
#include "report/shared/report.h"

/* One event as a section of one row. */
struct rd_section *rd_report_qp_event(const struct rd_qp_event *event);

/* Counts of modify_qp calls by old and new state. */
struct rd_qp_moves {
	uint64_t ok[RD_QP_ENDS][RD_QP_ENDS]; /* by enum rd_qp_state before and after; RD_QP_END_NONE: unknown */
	uint64_t failed[RD_QP_ENDS][RD_QP_ENDS];
};

struct rd_qp_trace_summary {
	double seconds;
	size_t per_backend[RD_BACKEND_COUNT]; /* functions */
	size_t functions;
	struct rd_trace_totals totals;
	uint64_t shown;
	struct rd_qp_moves moves;
	uint64_t durations[RD_QP_ENDS][RD_QP_DURATIONS]; /* calls, by new state and power of two of their ns */
};

/* Adds the scalars, `transitions` and `durations`. */
void rd_report_qp_trace_summary(struct rd_report *report, const struct rd_qp_trace_summary *summary);

#endif
