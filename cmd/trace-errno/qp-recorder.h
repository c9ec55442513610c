/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder of queue pairs: hooks, events, and queue pairs over time. */
#ifndef RD_CMD_QP_RECORDER_H
#define RD_CMD_QP_RECORDER_H

#include "analyse/qp/qp.h"
#include "cmd/cmd.h"
#include "trace/attach/session.h"
#include "trace/select/select.h"

struct qp_recorder {
	struct rd_ctx *ctx;
	struct rd_source *ring; /* reads the ring buffer; NULL: ctx->source does */
	struct rd_fnset set;
	struct rd_qp_watch watch;
	struct rd_session *session;
	struct rd_cgroups *cgroups;
	struct rd_qp_track *track;
	struct rd_res devs;	 /* devices at the start, without queue pairs */
	struct rd_errlist notes; /* what failed, and what is therefore not recorded */
	const void *raw;	 /* the record of the event that is handled */
	uint64_t damaged;	 /* records that could not be decoded */
	uint64_t lost;		 /* lost records that were already reported */
	uint64_t started_ns;	 /* CLOCK_MONOTONIC */
	/* Called with each event, which is valid during the call. Returns not 0 to stop. May be NULL. */
	int (*event)(void *arg, struct rd_qp_event *event);
	void *arg;
	int (*interrupted)(void *arg, size_t done, size_t total); /* called while hooks are attached; may be NULL */
};

/* Attaches the hooks and takes a first sample of all queue pairs, so that the state before a transition is known. -errno with
 * `err` filled. `recorder` is zeroed except ctx, event, arg and interrupted; always deinit it. */
int qp_recorder_start(struct qp_recorder *recorder, struct rd_err *err);

/* Passes new events to event(); never blocks. Returns the number of records, the result of event(), or -errno. */
int qp_recorder_drain(struct qp_recorder *recorder, struct rd_err *err);

/* Adds to `errors` how many records were lost since the last call, and whether the recorder has ended. */
void qp_recorder_report_lost(struct qp_recorder *recorder, struct rd_errlist *errors);

void qp_recorder_deinit(struct qp_recorder *recorder);

#endif
