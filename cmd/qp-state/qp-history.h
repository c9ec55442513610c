/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at queue pairs, one after the other: what one look cannot tell, two can. */
#ifndef RD_CMD_QP_HISTORY_H
#define RD_CMD_QP_HISTORY_H

#include "analyse/qp/qp-track.h"
#include "analyse/shared/meaning.h"
#include "cmd/cmd.h"
#include "model/rdma/qp-evidence.h"

/* Zeroed before the first look; to be released in any case. */
struct qp_history {
	bool goes_on;		   /* there will be another look, which needs what this one counts */
	struct rd_qp_track *track; /* a recorder's, which then is `recorded`; else its own */
	bool recorded;
	struct qp_counted {
		char ibdev[64];
		struct rd_qp_counts counts;
	} * counted; /* at the last look, by device */
	size_t n_counted;
	struct rd_meanings meanings;	/* read when something is counted */
	struct rd_qp_counters counters; /* of these, the evidence */
	uint64_t look_ns;		/* CLOCK_MONOTONIC of the last look; 0: there was none */
};

/* Judges what a look has read, which began at `began_ns` (CLOCK_MONOTONIC): ages, motion, verdicts. `errors` takes what could not be read. 0 or -ENOMEM. */
int qp_history_judge(struct qp_history *history, struct rd_source *source, double stuck_seconds, uint64_t began_ns,
		     struct rd_qp_views *views, struct rd_errlist *errors);

void qp_history_deinit(struct qp_history *history);

#endif
