/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs over time: changes between two samples, and events recorded in between. How long each queue pair has been in its
 * state, and how well that is known:
 *   exact      the transition was recorded: a modify_qp call, the creation, or an event that reports the failure
 *   interval   two samples differ, and no transition was recorded (the device changed the state, or no recorder ran)
 *   at_least   it was in this state in the first sample
 * A reused number is detected by device, process, PD and type; a queue pair that was reconnected between two samples by the
 * number of its remote QP.
 */
#ifndef RD_ANALYSE_QP_TRACK_H
#define RD_ANALYSE_QP_TRACK_H

#include "model/rdma/qp-view.h"
#include "model/rdma/qp.h"

struct rd_qp_track;

struct rd_qp_track *rd_qp_track_create(void);
void rd_qp_track_destroy(struct rd_qp_track *track);

/* Takes a sample of all queue pairs, read between `began_ns` and `mono_ns` (CLOCK_MONOTONIC). Fills the past of each view; drops
 * queue pairs that no longer exist. Tracks at most 2^18 queue pairs. */
void rd_qp_track_sample(struct rd_qp_track *track, struct rd_qp_views *views, uint64_t began_ns, uint64_t mono_ns);

/* The same for a sample that no other follows: keeps nothing. */
void rd_qp_track_last(struct rd_qp_track *track, struct rd_qp_views *views, uint64_t began_ns, uint64_t mono_ns);

/* Keeps the causes of failures, which later samples cannot determine. */
void rd_qp_track_keep(struct rd_qp_track *track, const struct rd_qp_views *views);

/* Takes an event, in chronological order. Fills `before` if the caller did not set it, and the time spent in that state. */
void rd_qp_track_event(struct rd_qp_track *track, struct rd_qp_event *event);

/* Whether a queue pair is in ERR after this event (enum ib_event_type). */
bool rd_qp_event_fails(uint32_t code);

/*
 * Fills the past of each view where nothing better is known: attributes, exact age, last errno and event. `now_ns`
 * (CLOCK_MONOTONIC): when the sample ended; 0: no ages. An entry that contradicts the list (another type, process, remote QP or state)
 * is of an earlier queue pair with this number, or outdated, and is not used.
 */
void rd_qp_apply_recorded(struct rd_qp_views *views, uint64_t now_ns);

#endif
