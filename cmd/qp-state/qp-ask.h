/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state's questions beyond the list: timeouts, pairs of several hosts, spread over links. */
#ifndef RD_CMD_QP_ASK_H
#define RD_CMD_QP_ASK_H

#include "analyse/qp/qp-timeout.h"
#include "cmd/cmd.h"

struct qp_ask {
	bool timeouts, join;
	struct rd_timeouts values;
	unsigned links; /* --entropy; 0: not asked */
};

/* Whether there are values for --timeouts. */
bool qp_ask_given(const struct qp_ask *ask);

struct qp_look;

/* Add what was asked to the report of a look. */
void qp_ask_fill(const struct qp_ask *ask, struct qp_look *look);

/* Exit codes: --timeouts of values that were given needs no device; --join reads bundles only. */
int qp_show_timeouts(struct rd_ctx *ctx, const struct qp_ask *ask);
int qp_join(struct rd_ctx *ctx, int argc, char **argv);

#endif
