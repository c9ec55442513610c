/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries besides the walk and the sweep: nodes at their LIDs, the subnet manager, the state of links, forwarding tables of switches,
 * and routes to nodes that do not respond. */

#include "collect/fabric/fabric.h"
#include "source/shared/libibmad.h"

#define CLASS_SMI 0x01
#define DOUBTFUL_MAX 128 /* ports queried after a sweep, each with its neighbour */

struct probe {
	const struct rd_fabric *fabric;
	bool *responds; /* per node */
};

static void take_node_info(void *arg, const struct rd_sweep_result *result)
{
	struct probe *probe = arg;
	size_t node = result->sent->subject;

	if (result->error)
		return;
	if (rd_mad_field64(result->mad + IB_SMP_DATA_OFFS, IB_NODE_GUID_F) ==
	    rd_fabric_reported_guid(&probe->fabric->nodes[node]))
		probe->responds[node] = true;
}

int rd_fabric_probe(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_fabric *fabric,
		    const bool *asked, bool *responds, struct rd_err *err)
{
	_cleanup_free_ struct rd_sweep_query *queries = rd_alloc(fabric->n_ports + 1, sizeof(*queries));
	struct probe probe = { fabric, responds };
	struct rd_sweep_callbacks callbacks = { .done = take_node_info, .arg = &probe };
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!asked[port->node] || port->lid < IB_MIN_UCAST_LID || port->lid > IB_MAX_UCAST_LID ||
		    (n > 0 && queries[n - 1].subject == port->node && queries[n - 1].dest.lid == port->lid))
			continue;
		queries[n] = (struct rd_sweep_query){
			.dest.lid = port->lid,
			.mad_class = CLASS_SMI,
			.attribute = IB_ATTR_NODE_INFO,
			.subject = port->node,
			.lid = n,
		};
		n++;
	}
	return n ? rd_sweep_run(mads, limits, queries, n, n, &callbacks, NULL, err) : 0;
}

static void take_sm_info(void *arg, const struct rd_sweep_result *result)
{
	struct rd_sm_info *sm = arg;

	if (result->error)
		return;
	sm->known = true;
	sm->guid = rd_mad_field64(result->mad + IB_SMP_DATA_OFFS, IB_SMINFO_GUID_F);
	sm->activity = rd_mad_field(result->mad + IB_SMP_DATA_OFFS, IB_SMINFO_ACT_F);
	sm->state = rd_mad_field(result->mad + IB_SMP_DATA_OFFS, IB_SMINFO_STATE_F);
}

int rd_fabric_query_sm(struct rd_mads *mads, const struct rd_sweep_limits *limits, uint16_t lid, struct rd_sm_info *ret,
		       struct rd_err *err)
{
	struct rd_sweep_query query = { .dest.lid = lid, .mad_class = CLASS_SMI, .attribute = IB_ATTR_SMINFO };
	struct rd_sweep_callbacks callbacks = { .done = take_sm_info, .arg = ret };

	*ret = (struct rd_sm_info){ 0 };
	return rd_sweep_run(mads, limits, &query, 1, 1, &callbacks, NULL, err);
}

struct states {
	struct rd_fabric *fabric;
	bool *responds; /* per query */
};

static void take_port_info(void *arg, const struct rd_sweep_result *result)
{
	struct states *states = arg;
	struct rd_fabric_port *port = &states->fabric->ports[result->sent->subject];
	unsigned state;

	if (result->error)
		return;
	states->responds[result->query] = true;
	state = rd_mad_field(result->mad + IB_SMP_DATA_OFFS, IB_PORT_STATE_F);
	port->lost = state == RD_LINK_DOWN && port->state > RD_LINK_DOWN;
	if (state >= RD_LINK_DOWN && (state == RD_LINK_DOWN) != (port->state == RD_LINK_DOWN))
		states->fabric->changed = true;
}

/* Whether the link of the port may be down since the discovery: it counted that, or cannot count it another time. */
static bool is_doubtful(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	struct rd_pma_value value;
	uint64_t delta;

	if (port->lost)
		return true;
	if (!port->fresh || !rd_fabric_value(fabric, port, RD_C_LINK_DOWNED, &value))
		return false;
	/* It was cleared, and has counted since. */
	if (value.v > 0 && port->before && port->before_ns && port->before[RD_C_LINK_DOWNED].v > value.v)
		return true;
	return rd_pma_saturated(&value) || (rd_fabric_delta(fabric, port, RD_C_LINK_DOWNED, &delta, NULL) && delta > 0);
}

int rd_fabric_check_links(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_fabric *fabric,
			  struct rd_err *err)
{
	struct rd_sweep_query queries[DOUBTFUL_MAX * 2];
	bool responds[DOUBTFUL_MAX * 2] = { false };
	size_t n = 0;
	struct states states = { fabric, responds };
	struct rd_sweep_callbacks callbacks = { .done = take_port_info, .arg = &states };
	struct rd_sweep_limits short_limits = *limits;
	int r;

	for (size_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].mute = false;
	for (size_t i = 0; i < fabric->n_ports && n + 2 <= DOUBTFUL_MAX * 2; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_GONE || !port->lid || !is_doubtful(fabric, port))
			continue;
		queries[n++].subject = i;
		if (port->peer != RD_NONE && fabric->ports[port->peer].lid)
			queries[n++].subject = port->peer;
	}
	for (size_t i = 0; i < n; i++)
		queries[i] = (struct rd_sweep_query){ .dest.lid = fabric->ports[queries[i].subject].lid,
						      .mad_class = CLASS_SMI,
						      .attribute = IB_ATTR_PORT_INFO,
						      .modifier = fabric->ports[queries[i].subject].number,
						      .optional = true,
						      .subject = queries[i].subject,
						      .lid = i };
	short_limits.retries = limits->retries > 1 ? 1 : limits->retries;
	r = n ? rd_sweep_run(mads, &short_limits, queries, n, n, &callbacks, NULL, err) : 0;
	/* A port that does not respond has lost its link if the other end says so. */
	for (size_t i = 0; i < n && !r; i++) {
		struct rd_fabric_port *port = &fabric->ports[queries[i].subject];

		port->mute = !responds[i];
		if (port->mute && port->peer != RD_NONE)
			port->lost = fabric->ports[port->peer].lost;
	}
	return r;
}

/* ---- routes to silent nodes */

/*
 * Follows the routes to nodes that do not respond at their LIDs, and back, by the forwarding tables of the switches on the way. These
 * are read with directed routes, which do not depend on the tables.
 */
#define CLASS_SM_DIRECTED 0x81
#define LID_PERMISSIVE 0xffff
#define TRACES_MAX 256
#define SWITCHES_MAX 32 /* on the way to a node and back */

/* A packet on its way. */
struct trace {
	size_t target;		 /* node */
	uint16_t lid;		 /* where it goes to: the LID of the target, then the one of the local port */
	bool back;		 /* it has been there */
	bool ended;		 /* arrived, was dropped, or it is not known what becomes of it */
	size_t at;		 /* the switch that it has come to */
	struct rd_mad_route way; /* the directed route to that switch */
	unsigned egress;	 /* the port of that switch that it leaves through */
};

struct traces {
	struct rd_fabric *fabric;
	bool known_lids;
	struct trace v[TRACES_MAX];
	struct rd_sweep_query queries[TRACES_MAX];
	size_t n;
};

static void drop(struct traces *t, struct trace *trace, unsigned port, unsigned state)
{
	t->fabric->nodes[trace->target].blocked = (struct rd_fabric_block){
		.guid = t->fabric->nodes[trace->at].guid,
		.port = port,
		.state = state,
		.back = trace->back,
	};
	trace->ended = true;
}

static void take_table(void *arg, const struct rd_sweep_result *result)
{
	struct traces *t = arg;
	struct trace *trace = &t->v[result->sent->subject];

	if (result->error) {
		trace->ended = true;
		return;
	}
	trace->egress = result->mad[IB_SMP_DATA_OFFS + trace->lid % RD_ROUTE_BLOCK];
	/* Port 0 is the switch itself, which does not have this LID. */
	if (trace->egress != 0 && trace->egress <= t->fabric->nodes[trace->at].n_ports)
		return;
	if (t->known_lids)
		drop(t, trace, 0, 0);
	trace->ended = true;
}

/* The node at the other end of the egress port, by the latest walk; RD_NONE. */
static size_t next_node(const struct traces *t, const struct trace *trace)
{
	const struct rd_fabric *fabric = t->fabric;
	size_t port = rd_fabric_find_port(fabric, fabric->nodes[trace->at].guid, trace->egress);
	size_t peer = port == RD_NONE ? RD_NONE : fabric->ports[port].peer;

	return peer == RD_NONE ? RD_NONE : fabric->ports[peer].node;
}

static bool is_next_to_target(const struct traces *t, const struct trace *trace)
{
	return !trace->back && next_node(t, trace) == trace->target;
}

static void move_on(struct traces *t, struct trace *trace)
{
	const struct rd_fabric *fabric = t->fabric;
	size_t next = next_node(t, trace);
	bool there = is_next_to_target(t, trace);

	if (next == RD_NONE || trace->way.hops >= SWITCHES_MAX ||
	    (!there && fabric->nodes[next].kind != RD_NODE_SWITCH)) {
		trace->ended = true;
		return;
	}
	/* What an adapter sends comes back to the switch that it is connected to. */
	if (fabric->nodes[next].kind == RD_NODE_SWITCH) {
		trace->at = next;
		trace->way.path[trace->way.hops++] = (uint8_t)trace->egress;
	}
	if (there) {
		trace->back = true;
		trace->lid = fabric->ports[fabric->self].lid;
	}
}

static void take_state(void *arg, const struct rd_sweep_result *result)
{
	struct traces *t = arg;
	struct trace *trace = &t->v[result->sent->subject];
	unsigned state;

	if (result->error) {
		trace->ended = true;
		return;
	}
	state = rd_mad_field(result->mad + IB_SMP_DATA_OFFS, IB_PORT_STATE_F);
	/* Without its link the node is not cut off, but gone: the next discovery shows that. */
	if (state == RD_LINK_DOWN && is_next_to_target(t, trace))
		trace->ended = true;
	else if (state == RD_LINK_DOWN || state == RD_LINK_INIT)
		drop(t, trace, trace->egress, state);
	else
		move_on(t, trace);
}

/* Queries an attribute of the switch that each packet has come to. Returns the number of packets that are still on their way. */
static ssize_t query_switches(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct traces *t,
			      uint16_t attribute, struct rd_err *err)
{
	struct rd_sweep_callbacks callbacks = {
		.done = attribute == IB_ATTR_PORT_INFO ? take_state : take_table,
		.arg = t,
	};
	size_t n = 0;
	int r;

	for (size_t i = 0; i < t->n; i++) {
		const struct trace *trace = &t->v[i];

		if (trace->ended)
			continue;
		t->queries[n] = (struct rd_sweep_query){
			.dest.lid = LID_PERMISSIVE,
			.mad_class = CLASS_SM_DIRECTED,
			.attribute = attribute,
			.modifier = attribute == IB_ATTR_PORT_INFO ? trace->egress :
								     (uint32_t)trace->lid / RD_ROUTE_BLOCK,
			.route = &trace->way,
			.subject = i,
			.lid = n,
		};
		n++;
	}
	r = n ? rd_sweep_run(mads, limits, t->queries, n, n, &callbacks, NULL, err) : 0;
	return r < 0 ? r : (ssize_t)n;
}

/* The port of a node whose LID does not respond although the latest walk found the node; RD_NONE. `first`, `end`: its ports. */
static size_t silent_port(const struct rd_fabric *fabric, size_t first, size_t end)
{
	size_t found = RD_NONE;

	for (size_t i = first; i < end; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_GONE || port->presence == RD_PORT_UNREACHED || port->unread)
			return RD_NONE;
		if (!port->selected || !port->lid)
			continue;
		if (port->error != ETIMEDOUT)
			return RD_NONE;
		found = found == RD_NONE ? i : found;
	}
	return found;
}

int rd_fabric_trace_silent(struct rd_mads *mads, const struct rd_sweep_limits *limits, bool known_lids,
			   struct rd_fabric *fabric, struct rd_err *err)
{
	struct traces *t;
	ssize_t left = 1;

	for (size_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].blocked = (struct rd_fabric_block){ 0 };
	if (fabric->self == RD_NONE || fabric->ports[fabric->self].peer == RD_NONE ||
	    fabric->nodes[fabric->ports[fabric->self].node].kind == RD_NODE_SWITCH ||
	    fabric->nodes[fabric->ports[fabric->ports[fabric->self].peer].node].kind != RD_NODE_SWITCH)
		return 0;
	t = rd_alloc(1, sizeof(*t));
	t->fabric = fabric;
	t->known_lids = known_lids;
	for (size_t i = 0; i < fabric->n_nodes && t->n < TRACES_MAX; i++) {
		const struct rd_fabric_port *self = &fabric->ports[fabric->self];
		size_t port = silent_port(fabric, fabric->nodes[i].first, fabric->nodes[i].end);

		if (port != RD_NONE && port != fabric->self)
			t->v[t->n++] = (struct trace){
				.target = i,
				.lid = fabric->ports[port].lid,
				.at = fabric->ports[self->peer].node,
				.way = { .hops = 1, .path = { (uint8_t)self->number } },
			};
	}
	while (left > 0) {
		left = query_switches(mads, limits, t, IB_ATTR_LINEARFORWTBL, err);
		if (left > 0)
			left = query_switches(mads, limits, t, IB_ATTR_PORT_INFO, err);
	}
	free(t);
	return left < 0 ? (int)left : 0;
}

/* ---- linear forwarding tables of switches */

#define QUERIES_MAX ((size_t)1 << 16) /* of one run of the sweep, about 10 MB; a table of 48 K LIDs has 768 blocks */
#define WHOLE_TABLE SIZE_MAX	      /* `block` of the SwitchInfo query */

struct reading {
	struct rd_mads *mads;
	struct rd_sweep_limits limits;
	const struct rd_fabric *fabric;
	struct rd_routes *routes;
	bool wanted[RD_ROUTE_BLOCKS];
	struct rd_mad_route *ways; /* directed routes, per node; NULL: LID routed. Hops 0: none, except to the local node */
	uint32_t *gates;	   /* per node: see struct rd_sweep_query */
	uint32_t *parents;	   /* of the gates: see struct rd_sweep_limits */
	struct rd_sweep_query *queries;
	size_t n, cap, n_agents;
};

static uint16_t lid_of_switch(const struct reading *reading, size_t node)
{
	const struct rd_fabric_node *at = &reading->fabric->nodes[node];

	return at->first < at->end ? reading->fabric->ports[at->first].lid : 0;
}

static bool is_present(const struct reading *reading, size_t node)
{
	const struct rd_fabric_node *at = &reading->fabric->nodes[node];

	return at->kind == RD_NODE_SWITCH && at->first < at->end &&
	       reading->fabric->ports[at->first].presence != RD_PORT_GONE;
}

/* Whether the node can be reached the way that is in use. */
static bool can_query(const struct reading *reading, size_t node)
{
	const struct rd_fabric *fabric = reading->fabric;

	if (!is_present(reading, node))
		return false;
	if (!reading->ways)
		return lid_of_switch(reading, node) != 0;
	return reading->ways[node].hops || (fabric->self != RD_NONE && fabric->ports[fabric->self].node == node);
}

static void add_query(struct reading *reading, size_t node, size_t block)
{
	struct rd_sweep_query *query = RD_ADD(reading->queries, reading->n, reading->cap);
	bool info = block == WHOLE_TABLE;

	*query = (struct rd_sweep_query){
		.dest.lid = reading->ways ? LID_PERMISSIVE : lid_of_switch(reading, node),
		.mad_class = reading->ways ? CLASS_SM_DIRECTED : CLASS_SMI,
		.attribute = info ? IB_ATTR_SWITCH_INFO : IB_ATTR_LINEARFORWTBL,
		.modifier = info ? 0 : (uint32_t)block,
		.gate = reading->ways ? reading->gates[node] : 0,
		.route = reading->ways ? &reading->ways[node] : NULL,
		.subject = node,
		.lid = reading->n_agents - 1,
	};
}

static void store_response(void *arg, const struct rd_sweep_result *result)
{
	struct reading *reading = arg;
	const struct rd_sweep_query *sent = result->sent;

	if (result->error)
		return;
	if (sent->attribute == IB_ATTR_SWITCH_INFO)
		RD_SET(reading->routes->tables[sent->subject].top,
		       (uint16_t)rd_mad_field(result->mad + IB_SMP_DATA_OFFS, IB_SW_LINEAR_FDB_TOP_F));
	else
		memcpy(rd_routes_block(reading->routes, sent->subject, sent->modifier), result->mad + IB_SMP_DATA_OFFS,
		       RD_ROUTE_BLOCK);
}

static int send_queries(struct reading *reading, struct rd_err *err)
{
	struct rd_sweep_callbacks callbacks = { .done = store_response, .arg = reading };
	struct rd_sweep_stats stats = { 0 };
	int r = rd_sweep_run(reading->mads, &reading->limits, reading->queries, reading->n, reading->n_agents,
			     &callbacks, &stats, err);

	reading->routes->mads_sent += stats.sent;
	reading->routes->timeouts += stats.timeouts;
	reading->n = reading->n_agents = 0;
	return r;
}

static bool is_missing(const struct reading *reading, size_t node, size_t block)
{
	const struct rd_route_table *table = &reading->routes->tables[node];

	return reading->wanted[block] && table->top.known == RD_OK && block <= table->top.v / RD_ROUTE_BLOCK &&
	       !(table->blocks && table->blocks[block]);
}

/* SwitchInfo where it is missing, then blocks of the tables. */
static int read_tables(struct reading *reading, struct rd_err *err)
{
	int r;

	for (size_t i = 0; i < reading->fabric->n_nodes; i++)
		if (can_query(reading, i) && reading->routes->tables[i].top.known != RD_OK) {
			reading->n_agents++;
			add_query(reading, i, WHOLE_TABLE);
		}
	r = send_queries(reading, err);
	for (size_t i = 0; i < reading->fabric->n_nodes && !r; i++) {
		size_t before = reading->n;

		if (!can_query(reading, i))
			continue;
		reading->n_agents++;
		for (size_t block = 0; block < RD_ROUTE_BLOCKS; block++)
			if (is_missing(reading, i, block))
				add_query(reading, i, block);
		reading->n_agents -= reading->n == before;
		if (reading->n >= QUERIES_MAX)
			r = send_queries(reading, err);
	}
	return r < 0 ? r : send_queries(reading, err);
}

/* Whether a directed route can continue through a port: only switches forward, and of the local node only the port in use is known
 * to be ours. */
static bool is_egress(const struct reading *reading, size_t at)
{
	const struct rd_fabric *fabric = reading->fabric;
	const struct rd_fabric_port *port = &fabric->ports[at];

	return port->peer != RD_NONE && port->presence != RD_PORT_GONE && port->state > RD_LINK_DOWN &&
	       (fabric->nodes[port->node].kind == RD_NODE_SWITCH || at == fabric->self);
}

/* Directed routes from the local port to all nodes, by the discovered cables, with the fewest hops. */
static void find_ways(struct reading *reading)
{
	const struct rd_fabric *fabric = reading->fabric;
	size_t n = fabric->n_nodes + 1, head = 0, tail = 0;
	_cleanup_free_ size_t *queue = rd_alloc(n, sizeof(*queue));
	_cleanup_free_ bool *seen = rd_alloc(n, sizeof(*seen));

	reading->ways = rd_alloc(n, sizeof(*reading->ways));
	reading->gates = rd_alloc(n, sizeof(*reading->gates));
	reading->parents = rd_alloc(n, sizeof(*reading->parents));
	if (fabric->self == RD_NONE)
		return;
	queue[tail++] = fabric->ports[fabric->self].node;
	seen[queue[0]] = true;
	while (head < tail) {
		size_t node = queue[head++];

		for (size_t i = fabric->nodes[node].first; i < fabric->nodes[node].end; i++) {
			size_t to = is_egress(reading, i) ? fabric->ports[fabric->ports[i].peer].node : node;
			struct rd_mad_route *way = &reading->ways[to];

			if (seen[to] || reading->ways[node].hops >= RD_MAD_ROUTE_MAX)
				continue;
			/* Extends the route to a node by one of its ports. Gates are numbered from 1 in the order in which nodes are found; every switch but
			 * the first one limits what passes it. */
			*way = reading->ways[node];
			way->path[way->hops++] = (uint8_t)fabric->ports[i].number;
			reading->parents[tail] = reading->gates[to] = reading->gates[node];
			if (fabric->nodes[to].kind == RD_NODE_SWITCH &&
			    way->hops > (fabric->nodes[queue[0]].kind != RD_NODE_SWITCH))
				reading->gates[to] = (uint32_t)tail;
			seen[to] = true;
			queue[tail++] = to;
		}
	}
	reading->limits.switches = reading->parents;
	reading->limits.n_switches = tail;
}

/* Number of switches of which SwitchInfo or a wanted block is missing. */
static size_t count_unread(struct reading *reading)
{
	size_t n = 0;

	for (size_t i = 0; i < reading->fabric->n_nodes; i++) {
		bool missing = is_present(reading, i) && reading->routes->tables[i].top.known != RD_OK;

		for (size_t block = 0; block < RD_ROUTE_BLOCKS && !missing && is_present(reading, i); block++)
			missing = is_missing(reading, i, block);
		reading->routes->tables[i].partial = missing;
		n += missing;
	}
	return n;
}

int rd_routes_read(struct rd_mads *mads, const struct rd_sweep_limits *limits, const struct rd_fabric *fabric,
		   const uint16_t *lids, size_t n_lids, struct rd_routes *routes, struct rd_err *err)
{
	struct reading reading = { .mads = mads, .limits = *limits, .fabric = fabric, .routes = routes };
	uint64_t start = mads->ops->now(mads);
	int r;

	for (size_t i = 0; lids && i < n_lids; i++)
		reading.wanted[lids[i] / RD_ROUTE_BLOCK] = true;
	for (size_t lid = 0; !lids && lid <= RD_LID_MAX; lid++)
		reading.wanted[lid / RD_ROUTE_BLOCK] |= routes->owners[lid] != RD_NONE;
	r = read_tables(&reading, err);
	if (!r && count_unread(&reading) > 0) {
		find_ways(&reading);
		r = read_tables(&reading, err);
	}
	routes->n_unread = count_unread(&reading);
	routes->duration_ns = mads->ops->now(mads) - start;
	RD_FREE(reading.ways, reading.gates, reading.parents, reading.queries);
	return r;
}
