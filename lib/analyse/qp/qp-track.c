/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs over time: from samples, from events, and from what the recorder of another process keeps. */
#include "analyse/qp/qp.h"

#include "base/map.h"

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

static bool is_of(const struct rd_qp_recorded *recorded, const struct rd_qp *qp)
{
	bool connected = rd_qp_is_connected_type(qp) && recorded->seen.dest_qpn.known == RD_OK &&
			 qp->rqpn.known == RD_OK;

	/* The kernel names a thread as the owner, which created it or opened the device; its ID need not be that of the process. */
	if (DIFFERS(recorded->type, qp->type) ||
	    (connected ? recorded->seen.dest_qpn.v != qp->rqpn.v : DIFFERS(recorded->pid, qp->owner.pid)))
		return false;
	/* A device moves a queue pair to SQE or ERR by itself; every other transition is a call, which the recorder would have seen. */
	return recorded->state.known != RD_OK || qp->state.known != RD_OK || rd_qp_has_failed(qp) ||
	       current_of(recorded).state == qp->state.v;
}

static struct rd_qp_seen *copy_seen(const struct rd_qp_seen *seen)
{
	struct rd_qp_seen *ret = rd_alloc(1, sizeof(*ret));

	*ret = *seen;
	return ret;
}

static void apply(const struct rd_qp_recorded *recorded, uint32_t driver, const struct rd_qp *qp, uint64_t now_ns,
		  struct rd_qp_past *past)
{
	struct current current = current_of(recorded);

	if (!past->seen || (recorded->seen.has_dgid && !past->seen->has_dgid)) {
		struct rd_qp_seen *seen = copy_seen(&recorded->seen);

		if (seen->dest_qpn.known == RD_OK)
			rd_qp_seen_add_sport(seen, driver, recorded->lqpn, seen->dest_qpn.v, recorded->has_dlid);
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
		while (at < res->n_recorded &&
		       (res->recorded[at].dev < qp->dev ||
			(res->recorded[at].dev == qp->dev && res->recorded[at].lqpn < qp->lqpn.v)))
			at++;
		recorded = find_entry(res, qp, at);
		if (recorded) {
			struct rd_qp_past past = *views->v[i].past;

			apply(recorded, res->devs[qp->dev].driver_id.v, qp, now_ns, &past);
			rd_qp_views_set_past(views, i, &past);
		}
	}
}

#define TRACKED_MAX (1u << 18) /* bounds memory against programs that create queue pairs without end */
#define PSN_MASK 0xffffffu
/* A step backwards is retransmission. Fewer packets than this are in flight, so a larger step is forwards: at 400 Gbit/s the
 * 24-bit PSN wraps in 1.5 s. */
#define PSN_BACK 0x10000u

/* enum ib_event_type */
#define EVENT_QP_FATAL 1
#define EVENT_QP_REQ_ERR 2
#define EVENT_QP_ACCESS_ERR 3

struct tracked {
	char ibdev[64];
	uint32_t qpn;
	bool kept; /* a newer sample has it, too */
	RD_FIELD(uint8_t) state;
	enum rd_age_kind kind;
	uint64_t from_ns, to_ns; /* it entered this state in this interval */
	bool by_call;
	enum rd_qp_cause cause;
	bool recorded; /* `seen` is valid */
	struct rd_qp_seen seen;
	int last_err;
	RD_FIELD(uint32_t) last_event;
	uint64_t sample_began_ns, sample_ns; /* the last sample that listed it; 0: none */
	/* As in that sample: to detect a reused number, and progress. */
	uint32_t dev_index;
	RD_FIELD(uint32_t) pid, pdn, rqpn, sq_psn, rq_psn;
	RD_FIELD(uint8_t) type;
	RD_FIELD(double) best; /* packets per second, the most between any two samples */
	uint32_t retried;      /* after its last packet, as verdicts found */
	uint64_t retried_ns;
};

struct table {
	struct tracked *v;
	size_t n, cap;
	struct rd_map map; /* by device and number */
};

struct rd_qp_track {
	struct table table;
	uint64_t sample_ns; /* of the last sample; 0: none */
	bool complete;	    /* that sample listed all queue pairs */
};

static uint64_t hash_of(const char *ibdev, uint32_t qpn)
{
	return rd_hash(rd_hash(RD_HASH, ibdev, strlen(ibdev)), &qpn, sizeof(qpn));
}

static struct tracked *find_tracked(const struct table *t, const char *ibdev, uint32_t qpn)
{
	uint64_t hash = hash_of(ibdev, qpn);
	size_t i;

	for (size_t probe = 0; (i = rd_map_next(&t->map, hash, &probe)) != RD_MAP_END;)
		if (t->v[i].qpn == qpn && !strcmp(t->v[i].ibdev, ibdev))
			return &t->v[i];
	return NULL;
}

static struct tracked *add_tracked(struct table *t, const struct tracked *what)
{
	if (t->n >= TRACKED_MAX)
		return NULL;
	rd_map_put(&t->map, hash_of(what->ibdev, what->qpn), t->n);
	*RD_ADD(t->v, t->n, t->cap) = *what;
	return &t->v[t->n - 1];
}

static struct tracked new_tracked(const char *ibdev, uint32_t qpn)
{
	struct tracked ret = { .qpn = qpn };

	snprintf(ret.ibdev, sizeof(ret.ibdev), "%s", ibdev);
	return ret;
}

static void table_deinit(struct table *t)
{
	free(t->v);
	rd_map_deinit(&t->map);
	*t = (struct table){ 0 };
}

struct rd_qp_track *rd_qp_track_create(void)
{
	return rd_alloc(1, sizeof(struct rd_qp_track));
}

void rd_qp_track_destroy(struct rd_qp_track *track)
{
	if (!track)
		return;
	table_deinit(&track->table);
	free(track);
}

static void enter_state(struct tracked *q, uint8_t state, enum rd_age_kind kind, uint64_t from_ns, uint64_t to_ns,
			bool by_call)
{
	RD_SET(q->state, state);
	q->kind = kind;
	q->from_ns = from_ns;
	q->to_ns = to_ns;
	q->by_call = by_call;
	q->cause = RD_QP_CAUSE_NONE;
	q->best.known = RD_ABSENT;
	q->retried = 0;
	/* modify_qp sets the first PSNs: those before and after it cannot be compared. */
	q->sq_psn.known = q->rq_psn.known = RD_ABSENT;
}

bool rd_qp_event_fails(uint32_t code)
{
	return code == EVENT_QP_FATAL || code == EVENT_QP_REQ_ERR || code == EVENT_QP_ACCESS_ERR;
}

static double seconds(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns > then_ns ? (double)(now_ns - then_ns) / 1e9 : 0;
}

/* Packets between two PSNs; a step back counts as 0. */
static uint32_t advance(uint32_t from, uint32_t to)
{
	uint32_t step = (to - from) & PSN_MASK;

	return step <= PSN_MASK - PSN_BACK ? step : 0;
}

static bool fell(uint32_t from, uint32_t to)
{
	return from != to && advance(from, to) == 0;
}

static void set_psn_rate(struct tracked *q, const struct rd_qp *qp, uint64_t now_ns, struct rd_qp_past *past)
{
	double dt = seconds(now_ns, q->sample_ns);
	bool sq = q->sq_psn.known == RD_OK && qp->sq_psn.known == RD_OK;
	bool rq = q->rq_psn.known == RD_OK && qp->rq_psn.known == RD_OK;
	uint32_t packets = 0;

	if (!q->sample_ns || dt <= 0 || (!sq && !rq))
		return;
	if (sq)
		packets += advance(q->sq_psn.v, qp->sq_psn.v);
	if (rq)
		packets += advance(q->rq_psn.v, qp->rq_psn.v);
	past->psn_fell = (sq && fell(q->sq_psn.v, qp->sq_psn.v)) || (rq && fell(q->rq_psn.v, qp->rq_psn.v));
	if (packets || past->psn_fell)
		q->retried = 0;
	past->retried = q->retried;
	if (q->retried)
		RD_SET(past->retried_seconds, seconds(now_ns, q->retried_ns));
	RD_SET(past->psn_per_second, packets / dt);
	RD_COPY(past->best_per_second, q->best);
	if (q->best.known != RD_OK || q->best.v < packets / dt)
		RD_SET(q->best, packets / dt);
}

/* Updates the state from a sample. */
static void update_state(struct tracked *q, const struct rd_qp *qp, bool created_since, uint64_t last_ns,
			 uint64_t now_ns)
{
	if (qp->state.known != RD_OK) {
		q->state.known = RD_ABSENT;
		q->kind = RD_AGE_UNKNOWN;
	} else if (q->state.known != RD_OK) {
		enter_state(q, qp->state.v, created_since ? RD_AGE_INTERVAL : RD_AGE_AT_LEAST,
			    created_since ? last_ns : 0, now_ns, false);
	} else if (q->state.v != qp->state.v ||
		   (q->sample_ns && q->to_ns <= q->sample_ns && DIFFERS(q->rqpn, qp->rqpn))) {
		/* With another remote QP, it left its state since the last sample, and came back. */
		uint64_t from = q->to_ns > last_ns ? q->to_ns : last_ns;

		enter_state(q, qp->state.v, RD_AGE_INTERVAL, from, now_ns, false);
	}
}

/* Updates one queue pair. `now`: where it is kept for the next sample; NULL: nowhere. False: too many to track, its age stays
 * unknown. */
static bool track_qp(struct rd_qp_track *track, struct table *now, const struct rd_res *res, const struct rd_qp *qp,
		     uint64_t began_ns, uint64_t mono_ns, struct rd_qp_past *past)
{
	const char *ibdev = res->devs[qp->dev].name;
	struct tracked *old = find_tracked(&track->table, ibdev, qp->lqpn.v);
	/* Numbers are reused: whether this is another queue pair than in the last sample, or one of another device of
	 * that name. */
	bool another = old && old->sample_ns &&
		       (old->dev_index != res->devs[qp->dev].index || DIFFERS(old->pid, qp->owner.pid) ||
			DIFFERS(old->pdn, qp->pdn) || DIFFERS(old->type, qp->type));
	struct tracked one = old && !another ? *old : new_tracked(ibdev, qp->lqpn.v), *q = &one;

	if (now)
		q = add_tracked(now, &one);
	if (!q)
		return false;
	if (old && !another)
		old->kept = true;
	update_state(q, qp, another || (!old && track->sample_ns && track->complete), track->sample_ns, mono_ns);
	if (q->kind != RD_AGE_UNKNOWN) {
		past->fresh = q->kind == RD_AGE_AT_LEAST ? false : q->to_ns > q->sample_ns;
		past->age_kind = q->kind;
		RD_SET(past->age_seconds, seconds(mono_ns, q->to_ns));
		if (q->kind != RD_AGE_AT_LEAST)
			RD_SET(past->age_max_seconds, seconds(mono_ns, q->from_ns));
	}
	set_psn_rate(q, qp, mono_ns, past);
	past->last_err = q->last_err;
	past->cause = q->cause;
	RD_COPY(past->last_event, q->last_event);
	past->moved_by_call = q->by_call && qp->state.known == RD_OK && q->state.v == qp->state.v;
	if (q->recorded)
		past->seen = copy_seen(&q->seen);
	q->sample_began_ns = began_ns;
	q->sample_ns = mono_ns;
	q->dev_index = res->devs[qp->dev].index;
	RD_COPY(q->pid, qp->owner.pid);
	RD_COPY(q->pdn, qp->pdn);
	RD_COPY(q->type, qp->type);
	RD_COPY(q->rqpn, qp->rqpn);
	RD_COPY(q->sq_psn, qp->sq_psn);
	RD_COPY(q->rq_psn, qp->rq_psn);
	return true;
}

static bool has_number(const struct rd_qp *qp)
{
	return qp->dev >= 0 && qp->lqpn.known == RD_OK;
}

/* What they did since the previous sample is in the counters of their device, too. */
static void count_gone(const struct table *before, struct rd_qp_views *views)
{
	const struct rd_res *res = views->res;
	const char *name = NULL;
	int d = -1;

	free(views->gone);
	views->gone = rd_alloc(res->n_devs + 1, sizeof(*views->gone));
	/* They are grouped by device, mostly, so that few are searched. */
	for (size_t i = 0; i < before->n; i++) {
		const struct tracked *q = &before->v[i];

		if (q->kept)
			continue;
		if (!name || strcmp(name, q->ibdev) != 0)
			d = rd_res_find_dev(res, q->ibdev);
		name = q->ibdev;
		if (d >= 0)
			views->gone[d]++;
	}
}

/* False: not all could be tracked. */
static bool track_qps(struct rd_qp_track *track, struct table *now, struct rd_qp_views *views, uint64_t began_ns,
		      uint64_t mono_ns)
{
	const struct rd_res *res = views->res;
	bool all = true;

	for (size_t i = 0; i < res->n_qps; i++) {
		struct rd_qp_past past = { 0 };

		if (!has_number(&res->qps[i]) || !res->devs[res->qps[i].dev].name)
			continue;
		all &= track_qp(track, now, res, &res->qps[i], began_ns, mono_ns, &past);
		rd_qp_views_set_past(views, i, &past);
	}
	return all;
}

void rd_qp_track_last(struct rd_qp_track *track, struct rd_qp_views *views, uint64_t began_ns, uint64_t mono_ns)
{
	track_qps(track, NULL, views, began_ns, mono_ns);
	count_gone(&track->table, views);
	rd_qp_apply_recorded(views, mono_ns);
}

void rd_qp_track_sample(struct rd_qp_track *track, struct rd_qp_views *views, uint64_t began_ns, uint64_t mono_ns)
{
	const struct rd_res *res = views->res;
	struct table now = { 0 };
	bool tracked_all = track_qps(track, &now, views, began_ns, mono_ns);

	count_gone(&track->table, views);
	table_deinit(&track->table);
	track->table = now;
	track->sample_ns = mono_ns;
	track->complete = tracked_all;
	for (size_t d = 0; d < res->n_devs; d++)
		track->complete &= rd_res_is_whole(&res->devs[d], RD_RES_QP);
	rd_qp_apply_recorded(views, mono_ns);
}

void rd_qp_track_keep(struct rd_qp_track *track, const struct rd_qp_views *views)
{
	const struct rd_res *res = views->res;

	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];
		struct tracked *q = has_number(qp) ? find_tracked(&track->table, res->devs[qp->dev].name, qp->lqpn.v) :
						     NULL;

		if (!q)
			continue;
		q->cause = views->v[i].verdict->cause;
		/* Not 0: the device retransmitted since the sample before. */
		if (views->v[i].verdict->retried) {
			q->retried = views->v[i].verdict->retried;
			q->retried_ns = q->sample_ns;
		}
	}
}

static void apply_modify(struct tracked *q, const struct rd_qp_event *ev)
{
	if (ev->err) {
		q->last_err = ev->err;
		return;
	}
	rd_qp_seen_merge(&q->seen, &ev->seen);
	q->recorded = true;
	if (ev->state.known != RD_OK)
		return;
	/* The call returned before the last sample began: the sample is newer, unless it shows this very state. A call during a
	 * sample may come before or after it; and the state changes before the call returns. */
	if (ev->mono_ns < q->sample_began_ns && q->state.known == RD_OK && q->state.v != ev->state.v)
		return;
	if (q->state.known != RD_OK || q->state.v != ev->state.v ||
	    (ev->mono_ns - ev->duration_ns < q->sample_ns && q->kind != RD_AGE_EXACT))
		enter_state(q, ev->state.v, RD_AGE_EXACT, ev->mono_ns, ev->mono_ns, true);
}

static void set_left_state(const struct tracked *q, struct rd_qp_event *ev)
{
	if (q->state.known != RD_OK)
		return;
	if (ev->before.known != RD_OK)
		RD_SET(ev->before, q->state.v);
	if (ev->before.v != q->state.v)
		return; /* it left the known state before */
	ev->age_kind = q->kind;
	RD_SET(ev->age_seconds, seconds(ev->mono_ns, q->to_ns));
	if (q->kind != RD_AGE_AT_LEAST)
		RD_SET(ev->age_max_seconds, seconds(ev->mono_ns, q->from_ns));
}

void rd_qp_track_event(struct rd_qp_track *track, struct rd_qp_event *ev)
{
	struct tracked new, *q;

	if (ev->what == RD_QP_DEVICE || ev->lqpn.known != RD_OK || !ev->ibdev[0])
		return;
	new = new_tracked(ev->ibdev, ev->lqpn.v);
	q = find_tracked(&track->table, ev->ibdev, ev->lqpn.v);
	if (!q)
		q = add_tracked(&track->table, &new);
	if (!q)
		return;
	if (ev->what != RD_QP_CREATED)
		set_left_state(q, ev);
	switch (ev->what) {
	case RD_QP_CREATED:
		*q = new;
		q->recorded = true;
		enter_state(q, RD_QPS_RESET, RD_AGE_EXACT, ev->mono_ns, ev->mono_ns, true);
		break;
	case RD_QP_MODIFIED:
		apply_modify(q, ev);
		break;
	case RD_QP_ASYNC:
		RD_SET(q->last_event, ev->code.v);
		if (rd_qp_event_fails(ev->code.v) && !(q->state.known == RD_OK && q->state.v == RD_QPS_ERR))
			enter_state(q, RD_QPS_ERR, RD_AGE_EXACT, ev->mono_ns, ev->mono_ns, false);
		break;
	case RD_QP_DESTROYED:
		q->state.known = RD_ABSENT; /* a later queue pair may reuse the number */
		q->kind = RD_AGE_UNKNOWN;
		q->sample_ns = 0;
		break;
	default:
		break;
	}
}
