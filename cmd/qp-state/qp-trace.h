/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state --trace: what happens to queue pairs, as it happens. */
#ifndef RD_CMD_QP_TRACE_H
#define RD_CMD_QP_TRACE_H

#include "cmd/cmd.h"
#include "model/rdma/qp-event.h"

/* Which events to show; zero and NULL let all pass. */
struct qp_trace_opts {
	double duration; /* seconds; 0: until stopped */
	uint64_t events; /* 0: all */
	/* Whether an event is wanted; events of a device or port pass where the filter has nothing against the device. */
	bool (*wanted)(const void *arg, const struct rd_qp_event *event);
	const void *wanted_arg;
};

/* Runs until Ctrl-C, the duration, or so many events. Returns the exit code. */
int qp_trace(struct rd_ctx *ctx, const struct qp_trace_opts *opts);

#endif
