/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends many queries, with a limited number in flight in all, per agent, and through each switch. */

#include "collect/fabric/fabric.h"

/* ---- gates */

/*
 * Which agent may be queried next, if datagrams to it pass switches of which each lets a limited number pass at a time. The switches
 * are a tree: to reach one, a datagram passes its parents. Gate 0 is the root, without a limit. Each operation takes time in
 * proportion to the depth of the tree, not to the number of agents.
 */

#define NO_GATE UINT32_MAX

/* The lists that an agent can wait in; one of the first is always taken before one of the second. */
enum gate_class { GATE_FIRST, GATE_RETRY, GATE_CLASSES };

/* A list of agents or gates, whose elements have the index of the next one elsewhere. */
struct list {
	uint32_t first, last;
};

/*
 * A gate is in the list of its parent if it has room, and something waits behind it. So a walk down the lists from the root finds an
 * agent that can be queried. A gate that became full is dropped from the list when it is met, and put back when it has room again.
 */
struct gate {
	uint32_t parent;
	unsigned passing;
	struct {
		struct list agents, gates;
		uint32_t next; /* in the list of the parent */
		bool listed;
	} of[GATE_CLASSES];
};

struct gates {
	struct gate *v; /* by index; 0: the root */
	size_t n;
	unsigned limit;	      /* of each gate but the root */
	uint32_t *next_agent; /* per agent: the next one in its list */
};

static bool is_full(const struct gates *gates, uint32_t gate)
{
	return gate != 0 && gates->v[gate].passing >= gates->limit;
}

/* Puts a gate into the list of its parent, and its parents into those of theirs, up to one that is full. */
static void list_gate(struct gates *gates, uint32_t gate, enum gate_class class)
{
	while (gate != 0 && !gates->v[gate].of[class].listed && !is_full(gates, gate) &&
	       (gates->v[gate].of[class].agents.first != NO_GATE || gates->v[gate].of[class].gates.first != NO_GATE)) {
		struct list *list = &gates->v[gates->v[gate].parent].of[class].gates;

		gates->v[gate].of[class].listed = true;
		gates->v[gate].of[class].next = NO_GATE;
		if (list->first == NO_GATE)
			list->first = gate;
		else
			gates->v[list->last].of[class].next = gate;
		list->last = gate;
		gate = gates->v[gate].parent;
	}
}

/* Lets an agent behind the gate wait. An agent can wait once only. */
static void gates_push(struct gates *gates, size_t agent, uint32_t gate, enum gate_class class)
{
	struct list *list = &gates->v[gate].of[class].agents;

	gates->next_agent[agent] = NO_GATE;
	if (list->first == NO_GATE)
		list->first = (uint32_t)agent;
	else
		gates->next_agent[list->last] = (uint32_t)agent;
	list->last = (uint32_t)agent;
	list_gate(gates, gate, class);
}

/* Agents behind other gates come first: the more gates a datagram passes, the fewer can be sent at a time. Returns the agent; NO_GATE.
 * A gate that still has something waiting is put at the end of its list, so that gates take turns. */
static uint32_t pop_class(struct gates *gates, enum gate_class class)
{
	uint32_t at = 0, agent;

	for (;;) {
		if (gates->v[at].of[class].gates.first != NO_GATE) {
			struct list *list = &gates->v[at].of[class].gates;
			uint32_t gate = list->first;

			list->first = gates->v[gate].of[class].next;
			gates->v[gate].of[class].listed = false;
			at = is_full(gates, gate) ? at : gate;
		} else if (at != 0 && gates->v[at].of[class].agents.first == NO_GATE) {
			at = gates->v[at].parent; /* only gates that are full were behind it */
		} else {
			break;
		}
	}
	agent = gates->v[at].of[class].agents.first;
	if (agent != NO_GATE)
		gates->v[at].of[class].agents.first = gates->next_agent[agent];
	for (; at != 0; at = gates->v[at].parent)
		list_gate(gates, at, class);
	return agent;
}

/* Takes an agent that waits, and for which all gates have room; SIZE_MAX: none. */
static size_t gates_pop(struct gates *gates)
{
	for (int class = 0; class < GATE_CLASSES; class ++) {
		uint32_t agent = pop_class(gates, class);

		if (agent != NO_GATE)
			return agent;
	}
	return SIZE_MAX;
}

static void gates_leave(struct gates *gates, uint32_t gate)
{
	for (uint32_t at = gate; at != 0; at = gates->v[at].parent)
		gates->v[at].passing--;
	for (; gate != 0; gate = gates->v[gate].parent)
		for (int class = 0; class < GATE_CLASSES; class ++)
			list_gate(gates, gate, class);
}

/* ---- queries */

#define METHOD_GET 0x01
#define METHOD_GET_RESP 0x81
#define MAD_CLASS_PM 0x04
#define MAD_CLASS_SM_DIRECTED 0x81
#define ATTR_CLASS_PORT_INFO 0x0001
#define STATUS_BUSY 0x0001
#define DATA_AT 64
#define HOP_COUNT_AT 7
#define DR_LIDS_AT 32 /* DrSLID, DrDLID */
#define PATH_AT 129   /* InitialPath[1]; [0] is not used */

/* Added to the timeout of a try: after that, libibumad has lost the request without reporting a timeout. */
#define GRACE_NS UINT64_C(1000000000)

/* Consecutive queries without a response to any try, after which an agent that responded before is considered down. One can be an
 * attribute that it does not respond to, and two bad luck: with 20 % of the MADs lost in each direction, all three tries of one
 * query in twenty fail. */
#define EXHAUSTED_MAX 3

#define NO_SLOT UINT32_MAX
#define NO_QUERY UINT32_MAX

/* An agent. Its queries are queries[next] to queries[end - 1], those to retry a list. */
struct lid {
	size_t next, end;
	uint32_t retry, in_flight; /* retry: head of the list; NO_QUERY: empty */
	uint32_t gate;
	bool waits; /* in sweep->gates */
	bool responded, abandoned;
	bool timed_out;	    /* its latest try got no response */
	unsigned exhausted; /* consecutive queries of which no try got a response, optional ones not counted */
};

struct slot {
	size_t query;
	uint32_t tid;
	unsigned tries, timeout_ms;
	uint64_t sent_ns;
	uint32_t free_next;
	bool used;
};

struct sweep {
	struct rd_mads *mads;
	struct rd_sweep_limits limits;
	const struct rd_sweep_query *queries;
	size_t n_queries, left;
	struct lid *lids;
	size_t n_lids;
	uint8_t *tries;	      /* per query */
	uint32_t *next_retry; /* per query in a retry list: the next query of that list */
	struct slot *slots;
	uint32_t free_slot, in_flight, window;
	uint64_t narrowed_ns; /* when the window was halved last */
	struct gates gates;   /* LIDs that a query can be sent to */
	const struct rd_sweep_callbacks *callbacks;
	struct rd_sweep_stats *stats;
	uint32_t *latencies; /* ns, of every response */
	size_t n_latencies;
};

/* Whether the next query of a LID waits for those before it. */
static bool must_wait(const struct sweep *sweep, const struct lid *lid)
{
	return lid->in_flight && sweep->queries[lid->next].after;
}

/* Puts a LID into the queue for its next query, if it has one that can be sent and its window is not full. */
static void enqueue_lid(struct sweep *sweep, size_t index)
{
	struct lid *lid = &sweep->lids[index];
	uint32_t window = lid->responded && !lid->timed_out ? sweep->limits.per_lid : 1;
	bool more = lid->next < lid->end && !must_wait(sweep, lid);

	if (lid->waits || lid->abandoned || lid->in_flight >= window || (lid->retry == NO_QUERY && !more))
		return;
	lid->waits = true;
	gates_push(&sweep->gates, index, lid->gate, lid->retry != NO_QUERY || lid->timed_out ? GATE_RETRY : GATE_FIRST);
}

static void report_result(struct sweep *sweep, size_t query, int error, unsigned status, const uint8_t *mad,
			  uint64_t at_ns)
{
	uint64_t latency_ns = mad ? sweep->latencies[sweep->n_latencies - 1] : 0;
	struct rd_sweep_result result = { query, sweep->tries[query], error, status,
					  mad,	 latency_ns,	      at_ns, &sweep->queries[query] };

	sweep->left--;
	if (error == EHOSTDOWN)
		sweep->stats->skipped++;
	sweep->callbacks->done(sweep->callbacks->arg, &result);
}

static void push_retry(struct sweep *sweep, struct lid *lid, size_t query)
{
	sweep->next_retry[query] = lid->retry;
	lid->retry = (uint32_t)query;
}

static size_t pop_retry(struct sweep *sweep, struct lid *lid)
{
	size_t query = lid->retry;

	if (query == NO_QUERY)
		return RD_NONE;
	lid->retry = sweep->next_retry[query];
	return query;
}

/* Ends the remaining queries of a LID with that error. */
static void skip_rest(struct sweep *sweep, struct lid *lid, int code, uint64_t now)
{
	for (size_t query; (query = pop_retry(sweep, lid)) != RD_NONE;)
		report_result(sweep, query, code, 0, NULL, now);
	while (lid->next < lid->end)
		report_result(sweep, lid->next++, code, 0, NULL, now);
}

/* The next query of a LID that is needed; RD_NONE if none can be sent now. */
static size_t next_query(struct sweep *sweep, struct lid *lid, uint64_t now)
{
	for (;;) {
		size_t query = pop_retry(sweep, lid);

		if (query == RD_NONE && (lid->next >= lid->end || must_wait(sweep, lid)))
			return RD_NONE;
		if (query == RD_NONE)
			query = lid->next++;
		if (!sweep->callbacks->needed || sweep->callbacks->needed(sweep->callbacks->arg, query))
			return query;
		report_result(sweep, query, ENODATA, 0, NULL, now);
	}
}

static void build_get(const struct rd_sweep_query *query, struct rd_mad *mad)
{
	memset(mad, 0, sizeof(*mad));
	mad->dest = query->dest;
	mad->data[0] = 1; /* base version */
	mad->data[1] = query->mad_class;
	mad->data[2] = 1; /* class version */
	mad->data[3] = METHOD_GET;
	mad->data[16] = (uint8_t)(query->attribute >> 8);
	mad->data[17] = (uint8_t)query->attribute;
	for (int i = 0; i < 4; i++)
		mad->data[20 + i] = (uint8_t)(query->modifier >> (24 - 8 * i));
	if (query->mad_class == MAD_CLASS_SM_DIRECTED) {
		const struct rd_mad_route *route = query->route;

		/* Permissive DrSLID and DrDLID: a pure directed route. */
		mad->data[HOP_COUNT_AT] = (uint8_t)(route->hops + (query->next_hop != 0));
		memset(mad->data + DR_LIDS_AT, 0xff, 4);
		memcpy(mad->data + PATH_AT, route->path, route->hops);
		if (query->next_hop)
			mad->data[PATH_AT + route->hops] = query->next_hop;
	}
	if (query->mad_class == MAD_CLASS_PM && query->attribute != ATTR_CLASS_PORT_INFO) {
		mad->data[DATA_AT + 1] = query->port_select;
		/* The specification ignores CounterSelect in a Get; some agents need it. */
		mad->data[DATA_AT + 2] = mad->data[DATA_AT + 3] = 0xff;
	}
}

static void finish_query(struct sweep *sweep, size_t query, int error, unsigned status, const uint8_t *mad, uint64_t now)
{
	struct lid *lid = &sweep->lids[sweep->queries[query].lid];
	bool failed = error && error != EREMOTEIO && !sweep->queries[query].optional;

	report_result(sweep, query, error, status, mad, now);
	if (!lid->abandoned && failed && (!lid->responded || lid->exhausted >= EXHAUSTED_MAX)) {
		/* Those in flight are still waited for. */
		lid->abandoned = true;
		skip_rest(sweep, lid, EHOSTDOWN, now);
	}
}

/* Sends one query of a LID. 1: sent; 0: nothing to send, or this query failed; -EAGAIN: send queue full; other -errno: the local
 * port failed. */
static int send_query(struct sweep *sweep, size_t index, struct rd_err *err)
{
	struct lid *lid = &sweep->lids[index];
	uint64_t now = sweep->mads->ops->now(sweep->mads);
	size_t query = next_query(sweep, lid, now);
	uint32_t at = sweep->free_slot;
	struct slot *slot = &sweep->slots[at];
	struct rd_err why = { 0 };
	unsigned timeout_ms;
	struct rd_mad mad;
	int r;

	if (query == RD_NONE)
		return 0;
	timeout_ms = sweep->limits.timeout_ms;
	for (unsigned tries = sweep->tries[query]; tries > 0 && timeout_ms < RD_SWEEP_TIMEOUT_MAX_MS; tries--)
		timeout_ms *= 2;
	build_get(&sweep->queries[query], &mad);
	/* Slot in the low bits, serial number above: a late response finds its slot, but its serial number does not match. */
	mad.tid = (++sweep->mads->serial << 10 | at) & RD_MAD_TID_MAX;
	r = sweep->mads->ops->send(sweep->mads, &mad, timeout_ms, &why);
	if (r == -EAGAIN && sweep->in_flight) {
		push_retry(sweep, lid, query);
		return -EAGAIN;
	}
	if (r < 0 && (-r == ENODEV || -r == EBADF || -r == EIO || -r == ENXIO || -r == ENOMEM)) {
		push_retry(sweep, lid, query);
		if (err)
			*err = why;
		return r;
	}
	if (r < 0) {
		finish_query(sweep, query, -r, 0, NULL, now);
		return 0;
	}
	sweep->free_slot = slot->free_next;
	*slot = (struct slot){ .query = query,
			       .tid = mad.tid,
			       .tries = ++sweep->tries[query],
			       .timeout_ms = timeout_ms,
			       .sent_ns = now,
			       .used = true };
	sweep->in_flight++;
	lid->in_flight++;
	/* A datagram passes a gate and its parents, until it leaves. */
	for (uint32_t gate = lid->gate; gate != 0; gate = sweep->gates.v[gate].parent)
		sweep->gates.v[gate].passing++;
	sweep->stats->sent++;
	sweep->stats->retries += slot->tries > 1;
	return 1;
}

/* Sends queries until the window is full or the queues are empty. */
static int fill_window(struct sweep *sweep, struct rd_err *err)
{
	size_t index;

	while (sweep->in_flight < sweep->window && (index = gates_pop(&sweep->gates)) != RD_NONE) {
		int r;

		sweep->lids[index].waits = false;
		r = send_query(sweep, index, err);
		enqueue_lid(sweep, index);
		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static void release_slot(struct sweep *sweep, uint32_t at)
{
	struct slot *slot = &sweep->slots[at];
	struct lid *lid = &sweep->lids[sweep->queries[slot->query].lid];

	slot->used = false;
	slot->free_next = sweep->free_slot;
	sweep->free_slot = at;
	sweep->in_flight--;
	lid->in_flight--;
	gates_leave(&sweep->gates, lid->gate);
}

/* A try without a valid response: tries again, behind the queries of other LIDs, or ends the query with that error. */
static void handle_failed_try(struct sweep *sweep, uint32_t at, int code, uint64_t now)
{
	size_t query = sweep->slots[at].query, index = sweep->queries[query].lid;
	struct lid *lid = &sweep->lids[index];

	release_slot(sweep, at);
	lid->timed_out = true;
	if (sweep->tries[query] <= sweep->limits.retries && !lid->abandoned) {
		push_retry(sweep, lid, query);
	} else {
		lid->exhausted += code != EBADMSG && !sweep->queries[query].optional;
		finish_query(sweep, query, code, 0, NULL, now);
	}
	enqueue_lid(sweep, index);
}

static void handle_no_response(struct sweep *sweep, uint32_t at, int code, uint64_t now)
{
	sweep->stats->timeouts++;
	handle_failed_try(sweep, at, code, now);
}

/* Whether the MAD is a response to the query. */
static bool is_response_to(const struct rd_sweep_query *query, const struct rd_mad *mad)
{
	const uint8_t *data = mad->data;
	bool selects = query->mad_class == MAD_CLASS_PM && query->attribute != ATTR_CLASS_PORT_INFO;
	unsigned attribute = (unsigned)data[16] << 8 | data[17];
	bool refused = data[4] || data[5];

	if (mad->size < RD_MAD_SIZE || data[0] != 1 || data[1] != query->mad_class || data[3] != METHOD_GET_RESP)
		return false;
	/* A response with an error status need not fill in the data. */
	return attribute == query->attribute && (refused || !selects || data[DATA_AT + 1] == query->port_select);
}

static void handle_response(struct sweep *sweep, uint32_t at, const struct rd_mad *mad, uint64_t now)
{
	struct slot *slot = &sweep->slots[at];
	size_t query = slot->query, index = sweep->queries[query].lid;
	struct lid *lid = &sweep->lids[index];
	unsigned status = ((unsigned)mad->data[4] << 8 | mad->data[5]) & 0x7fff;
	uint64_t latency = now - slot->sent_ns;
	int error = 0;

	if (!is_response_to(&sweep->queries[query], mad)) {
		sweep->stats->malformed++;
		sweep->stats->received++;
		lid->responded = true;
		lid->exhausted = 0;
		handle_failed_try(sweep, at, EBADMSG, now);
		return;
	} else if (status & STATUS_BUSY) {
		handle_no_response(sweep, at, EBUSY, now);
		return;
	} else if (status) {
		sweep->stats->refused++;
		error = EREMOTEIO;
	}
	/* An earlier try was lost, unless the agent is slow. What was on its way with it may be lost for the same reason. */
	if (sweep->limits.n_switches && slot->tries > 1 && latency < (uint64_t)sweep->limits.timeout_ms * 1000000 &&
	    slot->sent_ns > sweep->narrowed_ns && sweep->window > RD_SWEEP_WINDOW_LOSSY) {
		sweep->window /= 2;
		sweep->narrowed_ns = now;
	}
	release_slot(sweep, at);
	sweep->stats->received++;
	sweep->latencies[sweep->n_latencies++] = latency > UINT32_MAX ? UINT32_MAX : (uint32_t)latency;
	lid->responded = true;
	lid->timed_out = false;
	lid->exhausted = 0;
	finish_query(sweep, query, error, status, mad->data, now);
	enqueue_lid(sweep, index);
}

static int run_sweep(struct sweep *sweep, struct rd_err *err)
{
	while (sweep->left) {
		struct rd_mad mad;
		int r = fill_window(sweep, err);

		if (r < 0)
			return r;
		if (!sweep->left)
			break;
		/* Responses are processed as they arrive. */
		r = sweep->mads->ops->recv(sweep->mads, &mad, (int)sweep->limits.timeout_ms + 100, err);
		if (r < 0)
			return r;
		if (r == 0) {
			uint64_t now = sweep->mads->ops->now(sweep->mads);

			/* Ends tries for which libibumad returned neither a response nor a timeout. */
			for (uint32_t i = 0; i < sweep->limits.window; i++) {
				const struct slot *slot = &sweep->slots[i];

				if (slot->used && now - slot->sent_ns > (uint64_t)slot->timeout_ms * 1000000 + GRACE_NS)
					handle_no_response(sweep, i, ETIMEDOUT, now);
			}
		} else {
			uint64_t now = sweep->mads->ops->now(sweep->mads);
			uint32_t at = mad.tid % RD_SWEEP_WINDOW_MAX;

			if (at >= sweep->limits.window || !sweep->slots[at].used || sweep->slots[at].tid != mad.tid) {
				sweep->stats->stray++;
				continue;
			}
			if (mad.status)
				handle_no_response(sweep, at, mad.status, now);
			else
				handle_response(sweep, at, &mad, now);
		}
	}
	return 0;
}

int rd_sweep_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_sweep_query *queries,
		 size_t n_queries, size_t n_lids, const struct rd_sweep_callbacks *callbacks,
		 struct rd_sweep_stats *stats, struct rd_err *err)
{
	struct sweep sweep = {
		.mads = mads,
		.limits = *limits,
		.queries = queries,
		.n_queries = n_queries,
		.window = limits->window,
		.left = n_queries,
		.n_lids = n_lids,
		.callbacks = callbacks,
	};
	struct rd_sweep_stats unused = { 0 };
	uint64_t start = mads->ops->now(mads);
	struct gates *gates = &sweep.gates;
	static const struct list empty = { NO_GATE, NO_GATE };
	int r;

	sweep.stats = stats = stats ? stats : &unused;
	*stats = (struct rd_sweep_stats){ .per_lid_window = limits->per_lid };
	sweep.lids = rd_alloc(n_lids + 1, sizeof(*sweep.lids));
	sweep.tries = rd_alloc(n_queries + 1, 1);
	sweep.next_retry = rd_alloc(n_queries + 1, sizeof(*sweep.next_retry));
	sweep.slots = rd_alloc(limits->window, sizeof(*sweep.slots));
	sweep.latencies = rd_alloc(n_queries + 1, sizeof(*sweep.latencies));
	*gates = (struct gates){ .n = limits->n_switches ? limits->n_switches : 1, .limit = limits->per_switch };
	gates->v = rd_alloc(gates->n, sizeof(*gates->v));
	gates->next_agent = rd_alloc(n_lids + 1, sizeof(*gates->next_agent));
	/* The parent of a gate has a lower index, that of the first is not used. */
	for (size_t i = 0; i < gates->n; i++) {
		gates->v[i].parent = i ? limits->switches[i] : 0;
		for (int c = 0; c < GATE_CLASSES; c++)
			gates->v[i].of[c].agents = gates->v[i].of[c].gates = empty;
	}
	for (size_t i = 0; i < sweep.n_lids; i++)
		sweep.lids[i].retry = NO_QUERY;
	for (uint32_t i = 0; i < sweep.limits.window; i++)
		sweep.slots[i].free_next = i + 1 < sweep.limits.window ? i + 1 : NO_SLOT;
	for (size_t i = 0; i < sweep.n_queries; i++) {
		struct lid *lid = &sweep.lids[sweep.queries[i].lid];

		if (lid->end == 0)
			lid->next = i;
		lid->end = i + 1;
		lid->gate = sweep.queries[i].gate;
		lid->responded |= sweep.queries[i].expected;
	}
	for (size_t i = 0; i < sweep.n_queries; i++)
		enqueue_lid(&sweep, sweep.queries[i].lid);
	r = run_sweep(&sweep, err);
	if (r < 0) {
		uint64_t now = mads->ops->now(mads);

		/* The local port failed: ends all queries without a result with that error. */
		for (uint32_t i = 0; i < sweep.limits.window; i++)
			if (sweep.slots[i].used)
				report_result(&sweep, sweep.slots[i].query, -r, 0, NULL, now);
		for (size_t i = 0; i < sweep.n_lids; i++)
			skip_rest(&sweep, &sweep.lids[i], -r, now);
	}
	stats->duration_ns = mads->ops->now(mads) - start;
	stats->window = sweep.window;
	stats->latencies = sweep.n_latencies;
	if (sweep.n_latencies) {
		size_t last = sweep.n_latencies - 1;

		qsort(sweep.latencies, last + 1, sizeof(*sweep.latencies), rd_compare_u32);
		stats->latency_min_ns = sweep.latencies[0];
		stats->latency_median_ns = sweep.latencies[last / 2];
		stats->latency_p99_ns = sweep.latencies[last * 99 / 100];
		stats->latency_max_ns = sweep.latencies[last];
	}
	RD_FREE(sweep.lids, sweep.tries, sweep.next_retry, sweep.slots, sweep.latencies, gates->v, gates->next_agent);
	return r;
}
