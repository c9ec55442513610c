/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/sweep.h"

#include <errno.h>
#include <string.h>

#define METHOD_GET 0x01
#define METHOD_GET_RESP 0x81
#define MAD_CLASS_PM 0x04
#define MAD_CLASS_ROUTE 0x81
#define ATTR_CLASS_PORT_INFO 0x0001
#define STATUS_BUSY 0x0001
#define DATA_AT 64
#define HOPS_AT 7
#define LIDS_AT 32   /* of both ends */
#define ROUTE_AT 129 /* behind a byte that counts for nothing */

/* Above the time of a try: then the port has lost the datagram, which it must not. */
#define GRACE_NS UINT64_C(1000000000)

#define NO_SLOT UINT32_MAX
#define NO_ASK UINT32_MAX

enum lane { LANE_NONE, LANE_FIRST, LANE_AGAIN };

/* An agent. Its questions are asks[next] up to asks[end]; those to be repeated are a list. */
struct lid {
	size_t next, end;
	uint32_t again, in_flight; /* the first to repeat; NO_ASK */
	enum lane lane;		   /* the queue it waits in */
	bool answered, gone;
	bool silent;	    /* the latest that was heard of it is a try without an answer */
	unsigned exhausted; /* questions in a row without an answer to any try */
};

struct slot {
	size_t ask;
	uint32_t tid;
	unsigned tries;
	uint64_t sent_ns;
	uint32_t free_next;
	bool used;
};

/* LIDs that can be asked, in a ring. */
struct queue {
	size_t *v, head, n, cap;
};

struct sweep {
	struct rd_mads *mads;
	struct rd_sweep_limits limits;
	const struct rd_sweep_ask *asks;
	size_t n_asks, left;
	struct lid *lids;
	size_t n_lids;
	uint8_t *tries;	      /* of each question */
	uint32_t *next_again; /* of each question that is to be repeated, the next such one of its LID */
	struct slot *slots;
	uint32_t free_slot, in_flight;
	struct queue first, again;
	bool *group_dead; /* the rest of the group is skipped */
	size_t n_groups;
	const struct rd_sweep_calls *calls;
	struct rd_sweep_stats *stats;
	uint32_t *latencies; /* ns, of every answer */
	size_t n_latencies;
};

static void push(struct queue *queue, size_t lid)
{
	queue->v[(queue->head + queue->n++) % queue->cap] = lid;
}

static size_t pop(struct queue *queue)
{
	size_t lid = queue->v[queue->head];

	queue->head = (queue->head + 1) % queue->cap;
	queue->n--;
	return lid;
}

/* Puts a LID into the queue where it belongs, if it may be asked. */
static void offer(struct sweep *sweep, size_t index)
{
	struct lid *lid = &sweep->lids[index];
	uint32_t most = lid->answered && !lid->silent ? sweep->limits.per_lid : 1;

	if (lid->lane != LANE_NONE || lid->gone || lid->in_flight >= most)
		return;
	if (lid->again != NO_ASK || (lid->silent && lid->next < lid->end)) {
		lid->lane = LANE_AGAIN;
		push(&sweep->again, index);
	} else if (lid->next < lid->end) {
		lid->lane = LANE_FIRST;
		push(&sweep->first, index);
	}
}

static bool tell(struct sweep *sweep, size_t ask, int error, unsigned status, const uint8_t *mad, uint64_t at_ns)
{
	struct rd_sweep_answer answer = { ask, error, status, mad, at_ns };

	sweep->left--;
	if (error == EHOSTDOWN)
		sweep->stats->skipped++;
	return sweep->calls->done(sweep->calls->arg, &answer);
}

static void push_again(struct sweep *sweep, struct lid *lid, size_t ask)
{
	sweep->next_again[ask] = lid->again;
	lid->again = (uint32_t)ask;
}

static size_t pop_again(struct sweep *sweep, struct lid *lid)
{
	size_t ask = lid->again;

	if (ask == NO_ASK)
		return RD_NONE;
	lid->again = sweep->next_again[ask];
	return ask;
}

/* What is left of a LID is not asked; what is in flight is waited for. */
static void give_up(struct sweep *sweep, struct lid *lid, uint64_t now)
{
	lid->gone = true;
	for (size_t ask; (ask = pop_again(sweep, lid)) != RD_NONE;)
		tell(sweep, ask, EHOSTDOWN, 0, NULL, now);
	while (lid->next < lid->end)
		tell(sweep, lid->next++, EHOSTDOWN, 0, NULL, now);
}

static bool wanted(const struct sweep *sweep, size_t ask)
{
	return !sweep->calls->want || sweep->calls->want(sweep->calls->arg, ask);
}

/* The next question of a LID that is still to be asked; RD_NONE if there is none. */
static size_t next_ask(struct sweep *sweep, struct lid *lid, uint64_t now)
{
	for (;;) {
		size_t ask = pop_again(sweep, lid);

		if (ask == RD_NONE && lid->next >= lid->end)
			return RD_NONE;
		if (ask == RD_NONE)
			ask = lid->next++;
		if (sweep->group_dead[sweep->asks[ask].group])
			tell(sweep, ask, EHOSTDOWN, 0, NULL, now);
		else if (wanted(sweep, ask))
			return ask;
		else
			tell(sweep, ask, ENODATA, 0, NULL, now);
	}
}

/* Permissive LIDs at both ends: the route is all the way. */
static void build_route(const struct rd_sweep_ask *ask, uint8_t *data)
{
	const struct rd_mad_route *route = ask->route;

	data[HOPS_AT] = (uint8_t)(route->hops + (ask->beyond != 0));
	memset(data + LIDS_AT, 0xff, 4);
	memcpy(data + ROUTE_AT, route->exits, route->hops);
	if (ask->beyond)
		data[ROUTE_AT + route->hops] = ask->beyond;
}

static void build(const struct rd_sweep_ask *ask, struct rd_mad *mad)
{
	memset(mad, 0, sizeof(*mad));
	mad->dest = ask->dest;
	mad->data[0] = 1; /* base version */
	mad->data[1] = ask->mad_class;
	mad->data[2] = 1; /* class version */
	mad->data[3] = METHOD_GET;
	mad->data[16] = (uint8_t)(ask->attribute >> 8);
	mad->data[17] = (uint8_t)ask->attribute;
	for (int i = 0; i < 4; i++)
		mad->data[20 + i] = (uint8_t)(ask->modifier >> (24 - 8 * i));
	if (ask->mad_class == MAD_CLASS_ROUTE)
		build_route(ask, mad->data);
	if (ask->mad_class == MAD_CLASS_PM && ask->attribute != ATTR_CLASS_PORT_INFO) {
		mad->data[DATA_AT + 1] = ask->port_select;
		/* CounterSelect of a Get is ignored by the specification; some agents want it. */
		mad->data[DATA_AT + 2] = mad->data[DATA_AT + 3] = 0xff;
	}
}

static bool fatal(int code)
{
	return code == ENODEV || code == EBADF || code == EIO || code == ENXIO || code == ENOMEM;
}

/* An agent that talks, and only to this question says nothing. */
static bool harmless(const struct sweep *sweep, size_t ask)
{
	return sweep->asks[ask].optional && sweep->lids[sweep->asks[ask].lid].answered;
}

static void finished(struct sweep *sweep, size_t ask, int error, unsigned status, const uint8_t *mad, uint64_t now)
{
	size_t index = sweep->asks[ask].lid;
	struct lid *lid = &sweep->lids[index];
	bool grave = error && error != EREMOTEIO && !harmless(sweep, ask), go_on;

	if (grave)
		sweep->group_dead[sweep->asks[ask].group] = true;
	go_on = tell(sweep, ask, error, status, mad, now);
	if (!lid->gone && (!go_on || (grave && (!lid->answered || lid->exhausted >= 2))))
		give_up(sweep, lid, now);
}

/* Sends one question of a LID. 1: sent; 0: nothing to send or no room; -errno: the port is no good. */
static int send_one(struct sweep *sweep, size_t index, struct rd_err *err)
{
	struct lid *lid = &sweep->lids[index];
	uint64_t now = sweep->mads->ops->now(sweep->mads);
	size_t ask = next_ask(sweep, lid, now);
	uint32_t at = sweep->free_slot;
	struct slot *slot = &sweep->slots[at];
	struct rd_err why = { 0 };
	struct rd_mad mad;
	int r;

	if (ask == RD_NONE)
		return 0;
	build(&sweep->asks[ask], &mad);
	/* The slot in the low bits, a serial number above: an old answer finds its slot, but not its number. */
	mad.tid = (++sweep->mads->serial << 10 | at) & UINT32_MAX;
	r = sweep->mads->ops->send(sweep->mads, &mad, sweep->limits.timeout_ms, &why);
	if (r == -EAGAIN && sweep->in_flight) {
		push_again(sweep, lid, ask);
		return -EAGAIN;
	}
	if (r < 0 && fatal(-r)) {
		push_again(sweep, lid, ask);
		if (err)
			*err = why;
		return r;
	}
	if (r < 0) {
		finished(sweep, ask, -r, 0, NULL, now);
		return 0;
	}
	sweep->free_slot = slot->free_next;
	*slot = (struct slot){ .ask = ask, .tid = mad.tid, .tries = ++sweep->tries[ask], .sent_ns = now, .used = true };
	sweep->in_flight++;
	lid->in_flight++;
	sweep->stats->sent++;
	sweep->stats->retries += slot->tries > 1;
	return 1;
}

/* Fills the window. */
static int send_all(struct sweep *sweep, struct rd_err *err)
{
	while (sweep->in_flight < sweep->limits.window && sweep->first.n + sweep->again.n) {
		size_t index = pop(sweep->first.n ? &sweep->first : &sweep->again);
		int r;

		sweep->lids[index].lane = LANE_NONE;
		r = send_one(sweep, index, err);
		offer(sweep, index);
		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static void release(struct sweep *sweep, uint32_t at)
{
	struct slot *slot = &sweep->slots[at];

	slot->used = false;
	slot->free_next = sweep->free_slot;
	sweep->free_slot = at;
	sweep->in_flight--;
	sweep->lids[sweep->asks[slot->ask].lid].in_flight--;
}

static void no_answer(struct sweep *sweep, uint32_t at, int code, uint64_t now)
{
	size_t ask = sweep->slots[at].ask, index = sweep->asks[ask].lid;
	struct lid *lid = &sweep->lids[index];

	release(sweep, at);
	sweep->stats->timeouts++;
	lid->silent = true;
	if (sweep->tries[ask] <= sweep->limits.retries && !lid->gone && !sweep->group_dead[sweep->asks[ask].group]) {
		push_again(sweep, lid, ask);
	} else {
		lid->exhausted += !harmless(sweep, ask);
		finished(sweep, ask, code, 0, NULL, now);
	}
	offer(sweep, index);
}

/* Whether the bytes are an answer to what was asked. */
static bool sound(const struct rd_sweep_ask *ask, const struct rd_mad *mad)
{
	const uint8_t *data = mad->data;
	bool selects = ask->mad_class == MAD_CLASS_PM && ask->attribute != ATTR_CLASS_PORT_INFO;
	unsigned attribute = (unsigned)data[16] << 8 | data[17];
	bool refused = data[4] || data[5];

	if (mad->size < RD_MAD_SIZE || data[0] != 1 || data[1] != ask->mad_class || data[3] != METHOD_GET_RESP)
		return false;
	/* Who refuses need not fill in the rest. */
	return attribute == ask->attribute && (refused || !selects || data[DATA_AT + 1] == ask->port_select);
}

static void answered(struct sweep *sweep, uint32_t at, const struct rd_mad *mad, uint64_t now)
{
	struct slot *slot = &sweep->slots[at];
	size_t ask = slot->ask, index = sweep->asks[ask].lid;
	struct lid *lid = &sweep->lids[index];
	unsigned status = ((unsigned)mad->data[4] << 8 | mad->data[5]) & 0x7fff;
	uint64_t latency = now - slot->sent_ns;
	int error = 0;

	if (!sound(&sweep->asks[ask], mad)) {
		sweep->stats->malformed++;
		error = EBADMSG;
	} else if (status & STATUS_BUSY) {
		no_answer(sweep, at, EBUSY, now);
		return;
	} else if (status) {
		sweep->stats->refused++;
		error = EREMOTEIO;
	}
	release(sweep, at);
	sweep->stats->received++;
	sweep->latencies[sweep->n_latencies++] = latency > UINT32_MAX ? UINT32_MAX : (uint32_t)latency;
	lid->answered = true;
	lid->silent = false;
	lid->exhausted = 0;
	finished(sweep, ask, error, status, error == EBADMSG ? NULL : mad->data, now);
	offer(sweep, index);
}

static void take(struct sweep *sweep, const struct rd_mad *mad)
{
	uint64_t now = sweep->mads->ops->now(sweep->mads);
	uint32_t at = mad->tid % RD_SWEEP_WINDOW_MAX;

	if (at >= sweep->limits.window || !sweep->slots[at].used || sweep->slots[at].tid != mad->tid) {
		sweep->stats->stray++;
		return;
	}
	if (mad->status)
		no_answer(sweep, at, mad->status, now);
	else
		answered(sweep, at, mad, now);
}

/* What the port has forgotten. */
static void expire(struct sweep *sweep)
{
	uint64_t now = sweep->mads->ops->now(sweep->mads);
	uint64_t most = (uint64_t)sweep->limits.timeout_ms * 1000000 + GRACE_NS;

	for (uint32_t i = 0; i < sweep->limits.window; i++)
		if (sweep->slots[i].used && now - sweep->slots[i].sent_ns > most)
			no_answer(sweep, i, ETIMEDOUT, now);
}

static int run(struct sweep *sweep, struct rd_err *err)
{
	while (sweep->left) {
		struct rd_mad mad;
		int r = send_all(sweep, err);

		if (r < 0)
			return r;
		if (!sweep->left)
			break;
		/* As many as have come; waits only for the first of them. */
		r = sweep->mads->ops->recv(sweep->mads, &mad, (int)sweep->limits.timeout_ms + 100, err);
		if (r < 0)
			return r;
		if (r == 0)
			expire(sweep);
		else
			take(sweep, &mad);
	}
	return 0;
}

/* The port is no good: what has no answer ends with that. */
static void end_all(struct sweep *sweep, int code)
{
	uint64_t now = sweep->mads->ops->now(sweep->mads);

	for (uint32_t i = 0; i < sweep->limits.window; i++)
		if (sweep->slots[i].used)
			tell(sweep, sweep->slots[i].ask, code, 0, NULL, now);
	for (size_t i = 0; i < sweep->n_lids; i++) {
		struct lid *lid = &sweep->lids[i];

		for (size_t ask; (ask = pop_again(sweep, lid)) != RD_NONE;)
			tell(sweep, ask, code, 0, NULL, now);
		while (lid->next < lid->end)
			tell(sweep, lid->next++, code, 0, NULL, now);
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void note_latencies(struct sweep *sweep)
{
	struct rd_sweep_stats *stats = sweep->stats;
	size_t n = sweep->n_latencies;

	stats->latencies = n;
	if (!n)
		return;
	qsort(sweep->latencies, n, sizeof(*sweep->latencies), compare);
	stats->latency_min_ns = sweep->latencies[0];
	stats->latency_median_ns = sweep->latencies[(n - 1) / 2];
	stats->latency_p99_ns = sweep->latencies[(n - 1) * 99 / 100];
	stats->latency_max_ns = sweep->latencies[n - 1];
}

static void sweep_deinit(struct sweep *sweep)
{
	free(sweep->lids);
	free(sweep->tries);
	free(sweep->next_again);
	free(sweep->slots);
	free(sweep->first.v);
	free(sweep->again.v);
	free(sweep->group_dead);
	free(sweep->latencies);
}

static int allocate(struct sweep *sweep)
{
	size_t n = sweep->n_asks + 1;

	for (size_t i = 0; i < sweep->n_asks; i++)
		if (sweep->asks[i].group >= sweep->n_groups)
			sweep->n_groups = sweep->asks[i].group + 1;
	sweep->lids = calloc(sweep->n_lids + 1, sizeof(*sweep->lids));
	sweep->tries = calloc(n, 1);
	sweep->next_again = calloc(n, sizeof(*sweep->next_again));
	sweep->slots = calloc(sweep->limits.window, sizeof(*sweep->slots));
	sweep->first.cap = sweep->again.cap = sweep->n_lids + 1;
	sweep->first.v = calloc(sweep->first.cap, sizeof(*sweep->first.v));
	sweep->again.v = calloc(sweep->again.cap, sizeof(*sweep->again.v));
	sweep->group_dead = calloc(sweep->n_groups + 1, 1);
	sweep->latencies = calloc(n, sizeof(*sweep->latencies));
	return sweep->lids && sweep->tries && sweep->next_again && sweep->slots && sweep->first.v && sweep->again.v &&
			       sweep->group_dead && sweep->latencies ?
		       0 :
		       -ENOMEM;
}

static void queue_all(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->n_lids; i++)
		sweep->lids[i].again = NO_ASK;
	for (uint32_t i = 0; i < sweep->limits.window; i++)
		sweep->slots[i].free_next = i + 1 < sweep->limits.window ? i + 1 : NO_SLOT;
	for (size_t i = 0; i < sweep->n_asks; i++) {
		struct lid *lid = &sweep->lids[sweep->asks[i].lid];

		if (lid->end == 0)
			lid->next = i;
		lid->end = i + 1;
	}
	for (size_t i = 0; i < sweep->n_asks; i++)
		offer(sweep, sweep->asks[i].lid);
}

int rd_sweep_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_sweep_ask *asks,
		 size_t n_asks, size_t n_lids, const struct rd_sweep_calls *calls, struct rd_sweep_stats *stats,
		 struct rd_err *err)
{
	struct sweep sweep = {
		.mads = mads,
		.limits = *limits,
		.asks = asks,
		.n_asks = n_asks,
		.left = n_asks,
		.n_lids = n_lids,
		.calls = calls,
		.stats = stats,
	};
	uint64_t start = mads->ops->now(mads);
	int r;

	*stats = (struct rd_sweep_stats){ .window = limits->window, .per_lid_window = limits->per_lid };
	r = allocate(&sweep);
	if (r < 0) {
		sweep_deinit(&sweep);
		return rd_err_set(err, ENOMEM, "sweep", "no memory for %zu questions", n_asks);
	}
	queue_all(&sweep);
	r = run(&sweep, err);
	if (r < 0)
		end_all(&sweep, -r);
	stats->duration_ns = mads->ops->now(mads) - start;
	note_latencies(&sweep);
	sweep_deinit(&sweep);
	return r;
}
