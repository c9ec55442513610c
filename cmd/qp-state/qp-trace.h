/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state --trace: events of queue pairs as they happen. */
#ifndef RD_CMD_QP_TRACE_H
#define RD_CMD_QP_TRACE_H

#include "cmd/cmd.h"
#include "model/rdma/qp-event.h"

/* Selects and limits events; zero and NULL: no limit. */
struct qp_trace_opts {
	double duration; /* seconds; 0: until stopped */
	uint64_t events; /* 0: all */
	/* Whether to show an event; events of a device or port need only match the filter by device. */
	bool (*wanted)(const void *arg, const struct rd_qp_event *event);
	const void *wanted_arg;
};

/* Runs until Ctrl-C, `duration` or `events` is reached. Returns the exit code. */
int qp_trace(struct rd_ctx *ctx, const struct qp_trace_opts *opts);

#endif
