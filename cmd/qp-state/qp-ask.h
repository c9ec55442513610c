/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state's questions beyond the list: timeouts, pairs of several hosts, spread over links. */
#ifndef RD_CMD_QP_ASK_H
#define RD_CMD_QP_ASK_H

#include "analyse/qp-timeout.h"
#include "cmd/cmd.h"

struct qp_ask {
	bool timeouts, join;
	bool given; /* values for --timeouts */
	struct rd_timeouts values;
	unsigned links; /* --entropy; 0: not asked */
};

#define QP_ASK_OPTIONS                                                                                               \
	{ "timeouts", 0, NULL, "how long until it gives up: of what a recorder saw, or of the values given", NULL }, \
		{ "timeout", 0, "T", "with --timeouts: local ACK timeout, 0 to 31 (4.096 us x 2^T)", NULL },         \
		{ "retry", 0, "R", "with --timeouts: retry_cnt, 0 to 7 (default 7)", NULL },                         \
		{ "rnr-retry", 0, "N", "with --timeouts: rnr_retry, 0 to 7; 7 is for ever", NULL },                  \
		{ "min-rnr-timer", 0, "M", "with --timeouts: min_rnr_timer of the receiver, 0 to 31", NULL },        \
		{ "join", 0,                                                                                         \
		  NULL,	  "match the queue pairs of the bundles that follow with each other",                        \
		  NULL,	  RD_NEEDS_FOREIGN_OPERANDS },                                                               \
	{                                                                                                            \
		"entropy", 0, "N", "how evenly RoCE v2 flows would be spread over N equal-cost links", NULL          \
	}

/* Takes one of these options. 1: it was one, 0: it was not, -EINVAL with `err` filled. */
int qp_ask_option(struct qp_ask *ask, const char *option, const char *arg, struct rd_err *err);

/* Options that do not go together, or lack what they need. -EINVAL with `err` filled. */
int qp_ask_check(const struct qp_ask *ask, int argc, char **argv, struct rd_err *err);

struct qp_look;

/* Add what was asked to the report of a look. */
void qp_ask_fill(const struct qp_ask *ask, struct qp_look *look);

/* Exit codes: --timeouts of values that were given needs no device; --join reads bundles only. */
int qp_show_timeouts(struct rd_ctx *ctx, const struct qp_ask *ask);
int qp_join(struct rd_ctx *ctx, int argc, char **argv);

#endif
