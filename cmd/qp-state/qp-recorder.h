/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder of queue pairs while it runs: hooks, events, the queue pairs over time. */
#ifndef RD_CMD_QP_RECORDER_H
#define RD_CMD_QP_RECORDER_H

#include "analyse/qp/qp-track.h"
#include "cmd/cmd.h"
#include "model/rdma/qp-event.h"
#include "trace/attach/session.h"
#include "trace/select/select-qp.h"

struct qp_recorder {
	struct rd_ctx *ctx;
	struct rd_fnset set;
	struct rd_qp_watch watch;
	struct rd_session *session;
	struct rd_cgroups *cgroups;
	struct rd_qp_track *track;
	struct rd_errlist notes; /* what did not work, and what that loses */
	uint64_t damaged;	 /* records that made no sense */
	uint64_t lost;		 /* records that there was no room for, as far as it was said */
	uint64_t started_ns;	 /* CLOCK_MONOTONIC */
	/* What to do with an event; it goes away afterwards. Not 0: no more. NULL: nothing. */
	int (*event)(void *arg, struct rd_qp_event *event);
	void *arg;
	int (*interrupted)(void *arg, size_t done, size_t total); /* asked while hooks are being attached; may be NULL */
};

/* Hooks on, and a first look at all queue pairs, so that the state before a transition is known. -errno with err filled: what
 * lacks and what to do. `recorder` is zeroed but for ctx, event, arg and interrupted; to be released in any case. */
int qp_recorder_start(struct qp_recorder *recorder, struct rd_err *err);

/* Hands out what has happened; never waits. How many records, or what event() said, or -errno. */
int qp_recorder_drain(struct qp_recorder *recorder, struct rd_err *err);

/* Says in `errors` how many records were lost since it was asked last, and whether the recorder has ended: what happened meanwhile
 * is missing. */
void qp_recorder_tell_lost(struct qp_recorder *recorder, struct rd_errlist *errors);

void qp_recorder_deinit(struct qp_recorder *recorder);

#endif
