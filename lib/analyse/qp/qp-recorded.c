// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/qp/qp-recorded.h"

#include "analyse/qp/qp-track.h"
#include "analyse/qp/qp.h"
#include "analyse/qp/udp-sport.h"
#include "base/memory.h"

/* More are not useful; a bundle may contain any number of entries of one queue pair. */
#define RECORDERS_MAX 64

#define DIFFERS(x, y) ((x).known == RD_OK && (y).known == RD_OK && (x).v != (y).v)

/* The state that it is in as far as the recorder knows. */
struct current {
	uint8_t state;
	bool by_call;
	uint64_t since_ns; /* 0: unknown */
};

static struct current current_of(const struct rd_qp_recorded *recorded)
{
	if (recorded->event.known == RD_OK && rd_qp_event_fails(recorded->event.v) &&
	    recorded->event_ns > recorded->state_ns && recorded->state.v != RD_QPS_ERR)
		return (struct current){ RD_QPS_ERR, false, recorded->event_ns };
	return (struct current){ recorded->state.v, true, recorded->entered ? recorded->state_ns : 0 };
}

/* A device moves a queue pair to SQE or ERR by itself; every other transition is a call, which the recorder would have seen. */
static bool may_be_in(const struct rd_qp_recorded *recorded, const struct rd_qp *qp)
{
	return recorded->state.known != RD_OK || qp->state.known != RD_OK || rd_qp_has_failed(qp) ||
	       current_of(recorded).state == qp->state.v;
}

/* The kernel names a thread as the owner, which created it or opened the device; its ID need not be that of the process. */
static bool may_belong_to(const struct rd_qp_recorded *recorded, const struct rd_qp *qp)
{
	bool connected = rd_qp_is_connected_type(qp) && recorded->seen.dest_qpn.known == RD_OK &&
			 qp->rqpn.known == RD_OK;

	return connected ? recorded->seen.dest_qpn.v == qp->rqpn.v : !DIFFERS(recorded->pid, qp->owner.pid);
}

static bool is_of(const struct rd_qp_recorded *recorded, const struct rd_qp *qp)
{
	return !DIFFERS(recorded->type, qp->type) && may_belong_to(recorded, qp) && may_be_in(recorded, qp);
}

static void apply(const struct rd_qp_recorded *recorded, const struct rd_qp *qp, uint64_t now_ns,
		  struct rd_qp_past *past)
{
	struct current current = current_of(recorded);

	if (!past->seen || (recorded->seen.has_dgid && !past->seen->has_dgid)) {
		struct rd_qp_seen *seen = rd_alloc(1, sizeof(*seen));

		*seen = recorded->seen;
		rd_qp_seen_add_sport(seen, recorded->lqpn, recorded->has_dlid);
		past->seen = seen;
	}
	if (!past->last_err)
		past->last_err = recorded->err;
	if (past->last_event.known != RD_OK)
		RD_COPY(past->last_event, recorded->event);
	if (past->age_kind == RD_AGE_EXACT || recorded->state.known != RD_OK || qp->state.known != RD_OK ||
	    current.state != qp->state.v)
		return;
	past->moved_by_call = current.by_call;
	if (!current.since_ns || current.since_ns > now_ns)
		return;
	past->age_kind = RD_AGE_EXACT;
	RD_SET(past->age_seconds, (double)(now_ns - current.since_ns) / 1e9);
	RD_SET(past->age_max_seconds, past->age_seconds.v);
}

/* The first entry from `at` on that is of this queue pair; NULL: none. */
static const struct rd_qp_recorded *find_entry(const struct rd_res *res, const struct rd_qp *qp, size_t at)
{
	for (size_t n = 0; n < RECORDERS_MAX && at < res->n_recorded; n++, at++) {
		const struct rd_qp_recorded *recorded = &res->recorded[at];

		if (recorded->dev != qp->dev || recorded->lqpn != qp->lqpn.v)
			break;
		if (is_of(recorded, qp))
			return recorded;
	}
	return NULL;
}

static bool is_before(const struct rd_qp_recorded *recorded, const struct rd_qp *qp)
{
	return recorded->dev < qp->dev || (recorded->dev == qp->dev && recorded->lqpn < qp->lqpn.v);
}

void rd_qp_apply_recorded(struct rd_qp_views *views, uint64_t now_ns)
{
	const struct rd_res *res = views->res;
	size_t at = 0;

	/* Both lists are sorted by device and number. */
	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];
		const struct rd_qp_recorded *recorded;

		if (qp->lqpn.known != RD_OK)
			continue;
		while (at < res->n_recorded && is_before(&res->recorded[at], qp))
			at++;
		recorded = find_entry(res, qp, at);
		if (recorded) {
			struct rd_qp_past past = *views->v[i].past;

			apply(recorded, qp, now_ns, &past);
			rd_qp_views_set_past(views, i, &past);
		}
	}
}
