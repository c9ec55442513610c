/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the linear forwarding tables of switches. */
#include "collect/fabric/fabric.h"

#include "base/memory.h"
#include "source/shared/libibmad.h"

#include <errno.h>
#include <string.h>

#define CLASS_SM 0x01
#define CLASS_SM_DIRECTED 0x81
#define LID_PERMISSIVE 0xffff
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
		.mad_class = reading->ways ? CLASS_SM_DIRECTED : CLASS_SM,
		.attribute = info ? IB_ATTR_SWITCH_INFO : IB_ATTR_LINEARFORWTBL,
		.modifier = info ? 0 : (uint32_t)block,
		.gate = reading->ways ? reading->gates[node] : 0,
		.route = reading->ways ? &reading->ways[node] : NULL,
		.subject = node,
		.lid = reading->n_agents - 1,
	};
}

static bool store_response(void *arg, const struct rd_sweep_result *result)
{
	struct reading *reading = arg;
	const struct rd_sweep_query *sent = result->sent;

	if (result->error)
		return true;
	if (sent->attribute == IB_ATTR_SWITCH_INFO)
		RD_SET(reading->routes->tables[sent->subject].top,
		       (uint16_t)rd_mad_field(result->mad + IB_SMP_DATA_OFFS, IB_SW_LINEAR_FDB_TOP_F));
	else
		memcpy(rd_routes_block(reading->routes, sent->subject, sent->modifier), result->mad + IB_SMP_DATA_OFFS,
		       RD_ROUTE_BLOCK);
	return true;
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

static int read_infos(struct reading *reading, struct rd_err *err)
{
	for (size_t i = 0; i < reading->fabric->n_nodes; i++)
		if (can_query(reading, i) && reading->routes->tables[i].top.known != RD_OK) {
			reading->n_agents++;
			add_query(reading, i, WHOLE_TABLE);
		}
	return send_queries(reading, err);
}

static int read_blocks(struct reading *reading, struct rd_err *err)
{
	int r = 0;

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
	r = read_infos(&reading, err);
	if (!r)
		r = read_blocks(&reading, err);
	if (!r && count_unread(&reading) > 0) {
		find_ways(&reading);
		r = read_infos(&reading, err);
		if (!r)
			r = read_blocks(&reading, err);
	}
	routes->n_unread = count_unread(&reading);
	routes->duration_ns = mads->ops->now(mads) - start;
	RD_FREE(reading.ways, reading.gates, reading.parents, reading.queries);
	return r;
}
