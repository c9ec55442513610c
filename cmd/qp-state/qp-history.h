/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Successive samples of queue pairs: two samples show what one cannot. */
#ifndef RD_CMD_QP_HISTORY_H
#define RD_CMD_QP_HISTORY_H

#include "analyse/qp/qp-track.h"
#include "analyse/qp/qp-verdict.h"
#include "analyse/shared/meaning.h"
#include "cmd/cmd.h"
#include "model/rdma/qp-evidence.h"

/* Zero it before the first sample; always deinit it. */
struct qp_history {
	bool repeated;		   /* another sample follows, which needs the counters of this one */
	struct rd_qp_track *track; /* the recorder's if `recorded`; else owned */
	bool recorded;
	struct qp_counted {
		char ibdev[64];
		struct rd_qp_counts counts;
	} * counted;		    /* at the last sample, by device */
	struct rd_qp_doubt *doubts; /* of each of them */
	size_t n_counted;
	struct rd_meanings meanings;	/* read when counters are first needed */
	struct rd_qp_counters counters; /* those of `meanings` that are evidence */
	struct qp_down {
		char ibdev[64];
		uint32_t port;
	} * down; /* ports that were DOWN or INIT at the last sample */
	size_t n_down;
	uint64_t sample_ns; /* CLOCK_MONOTONIC of the last sample; 0: none */
};

/* Judges a sample that was begun at `began_ns` (CLOCK_MONOTONIC): ages, packet rates, verdicts. `views` are those of `res`, of which it
 * fills the states of processes. Reads that failed go to `errors`. */
void qp_history_judge(struct qp_history *history, struct rd_source *source, double stuck_seconds, uint64_t began_ns,
		      struct rd_res *res, struct rd_qp_views *views, struct rd_errlist *errors);

void qp_history_deinit(struct qp_history *history);

#endif
