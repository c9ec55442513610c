/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs over time: what changed between two looks, and what a recorder saw happen in between. Since when each is in its
 * state, and how well that is known:
 *   exact      the transition was recorded: a call of modify_qp, the birth, or an event that says that it failed
 *   interval   two looks found different states, and nobody was seen to do it (the device did, or no recorder ran)
 *   at_least   it was so at the first look
 * A number that is used again is told by its device, process, PD and type; a queue pair that was connected anew between two
 * looks by its peer's number.
 */
#ifndef RD_ANALYSE_QP_TRACK_H
#define RD_ANALYSE_QP_TRACK_H

#include "model/rdma/qp-event.h"
#include "model/rdma/qp-view.h"

struct rd_qp_track;

struct rd_qp_track *rd_qp_track_create(void);
void rd_qp_track_destroy(struct rd_qp_track *track);

/* A look at all queue pairs, which took from `began_ns` to `mono_ns` (CLOCK_MONOTONIC). Fills the past of each view; what was
 * known of those that are not there any more is forgotten. What is beyond 2^18 queue pairs is not followed. */
void rd_qp_track_look(struct rd_qp_track *track, struct rd_qp_views *views, uint64_t began_ns, uint64_t mono_ns);

/* Remembers what a judgement found out that later looks cannot: why a queue pair failed. */
void rd_qp_track_keep(struct rd_qp_track *track, const struct rd_qp_views *views);

/* An event, in the order of time. Fills `before` where the caller did not name it, and how long it had been so. */
void rd_qp_track_event(struct rd_qp_track *track, struct rd_qp_event *event);

#endif
