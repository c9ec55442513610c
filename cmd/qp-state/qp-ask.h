/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state --timeouts, --join, --entropy. */
#ifndef RD_CMD_QP_ASK_H
#define RD_CMD_QP_ASK_H

#include "analyse/qp/qp-timers.h"
#include "cmd/cmd.h"

struct qp_ask {
	bool timeouts, join;
	struct rd_timeouts values;
	unsigned links; /* --entropy; 0: not given */
};

/* Whether there are values for --timeouts. */
bool qp_ask_given(const struct qp_ask *ask);

struct qp_sample;

/* Adds the sections of --timeouts and --entropy to the report of a sample. */
void qp_ask_fill(const struct qp_ask *ask, struct qp_sample *sample);

/* Return exit codes. --timeouts with given values needs no device; --join only reads bundles. */
int qp_show_timeouts(struct rd_ctx *ctx, const struct qp_ask *ask);
int qp_join(struct rd_ctx *ctx, int argc, char **argv);

#endif
