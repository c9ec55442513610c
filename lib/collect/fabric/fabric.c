/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ports of this host, the walk that discovers nodes and cables with directed routes, the network as it found it, names of nodes. */
#include "collect/fabric/fabric.h"

#include <search.h>

#include "source/shared/libibmad.h"

/* Whether two NodeInfo can be of one device, whichever port they were received at: type, GUIDs, DeviceID, Revision, VendorID. */
static bool is_same_device(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a + 2, b + 2, 18) == 0 && memcmp(a + 30, b + 30, 6) == 0 && memcmp(a + 37, b + 37, 3) == 0;
}

/* SwitchX, ConnectX-3 and later devices report FDR10 only in a vendor-specific attribute: PortInfo shows QDR. Bull sells them
 * under its own vendor and device IDs. Other devices would reject the query or, worse, not respond. */
static bool has_extended_port_info(struct rd_walk_node *node)
{
	static const struct {
		unsigned vendor, first, last; /* vendor 0: any */
	} devices[] = {
		{ 0, 0x1003, 0x101b }, { 0, 0xa2d2, 0xa2d2 }, { 0, 0xc738, 0xc73b }, { 0, 0xc839, 0xc839 },
		{ 0, 0xcb20, 0xcb20 }, { 0, 0xcf08, 0xcf09 }, { 0, 0xd2f0, 0xd2f0 }, { 0x119f, 0x1b02, 0x1bf0 },
	};
	unsigned vendor = rd_mad_field(node->info, IB_NODE_VENDORID_F);
	unsigned device = rd_mad_field(node->info, IB_NODE_DEVID_F);

	for (size_t i = 0; i < RD_ARRAY_SIZE(devices); i++)
		if ((!devices[i].vendor || devices[i].vendor == vendor) && device >= devices[i].first &&
		    device <= devices[i].last)
			return true;
	return false;
}

static void unlink_port(struct rd_walk_port *port)
{
	if (port->peer)
		port->peer->ports[port->peer_port].peer = NULL;
	port->peer = NULL;
}

#define CLASS_SM_DIRECTED 0x81
#define LID_PERMISSIVE 0xffff
#define ATTR_EXTENDED_PORT_INFO 0xff90 /* vendor specific: see has_extended_port_info */
#define PHYSICAL_LINK_UP 5
#define SPEED_QDR 4
#define NODES_MAX ((size_t)1 << 17) /* there are fewer LIDs */

/* Where to store the data of a response. */
struct destination {
	uint8_t *data;	 /* RD_SMP_DATA bytes */
	bool *responded; /* set to true; NULL: not needed */
	bool *lost;	 /* set to whether there was none; NULL: the attribute is optional */
};

/* The node at the other end of an egress port, to be queried for NodeInfo in the next round. */
struct neighbour {
	struct rd_walk_node *node; /* of the egress port; NULL: the neighbour is the local node */
	unsigned port;
	struct rd_mad_route route; /* to the neighbour */
	unsigned far;		   /* of a conflict: the port of the neighbour */
	bool responded, lost;
	uint8_t info[RD_SMP_DATA]; /* its NodeInfo */
};

/* A neighbour that reports the GUID of a known node, and cannot be that node where it is. */
struct conflict {
	struct neighbour at, again; /* the same place */
	struct rd_walk_node *node;
	struct neighbour before; /* where the node was found before */
};

struct discovery {
	struct rd_mads *mads;
	struct rd_sweep_limits limits;
	uint32_t *gates; /* per node of the walk, beginning at 1: its parent; of limits.switches */
	size_t cap_gates;
	struct rd_walk *walk;
	void *by_guid; /* of tsearch */
	struct neighbour *neighbours;
	size_t n_neighbours, cap_neighbours;
	struct conflict *conflicts;
	size_t n_conflicts, cap_conflicts;
	/* The queries of one sweep. */
	struct rd_sweep_query *queries;
	struct destination *destinations;
	size_t n, cap_queries, cap_destinations, n_agents;
	uint64_t timeouts; /* of tries */
	int error;	   /* positive errno of the latest query without a response */
	bool too_many;	   /* nodes: more than NODES_MAX */
};

/* Adds a query to the latest agent; the caller has incremented n_agents for it. `via`: the last node on its route that is known, NULL:
 * none. */
static void add_query(struct discovery *d, const struct rd_walk_node *via, const struct rd_mad_route *route,
		      unsigned next_hop, uint16_t attribute, uint32_t modifier, struct destination destination)
{
	rd_reserve(&d->queries, &d->cap_queries, d->n + 1, sizeof(*d->queries));
	rd_reserve(&d->destinations, &d->cap_destinations, d->n + 1, sizeof(*d->destinations));
	d->queries[d->n] = (struct rd_sweep_query){
		.dest.lid = LID_PERMISSIVE,
		.mad_class = CLASS_SM_DIRECTED,
		.next_hop = (uint8_t)next_hop,
		.attribute = attribute,
		.modifier = modifier,
		.expected = attribute !=
			    IB_ATTR_NODE_INFO, /* only nodes that responded to NodeInfo are queried for others */
		.route = route,
		.gate = via ? via->gate : 0,
		.lid = d->n_agents - 1,
	};
	d->destinations[d->n++] = destination;
}

static void store_response(void *arg, const struct rd_sweep_result *result)
{
	struct discovery *d = arg;
	const struct destination *destination = &d->destinations[result->query];

	if (destination->lost)
		*destination->lost = result->error && result->error != EREMOTEIO;
	if (result->error) {
		d->walk->stats.lost += destination->lost && result->error == ETIMEDOUT;
		d->error = result->error;
		return;
	}
	memcpy(destination->data, result->mad + IB_SMP_DATA_OFFS, RD_SMP_DATA);
	if (destination->responded)
		*destination->responded = true;
}

static int send_queries(struct discovery *d, struct rd_err *err)
{
	struct rd_sweep_callbacks callbacks = { .done = store_response, .arg = d };
	struct rd_sweep_stats stats = { 0 };
	int r;

	if (d->too_many)
		return rd_err_set(err, E2BIG, "network", "more than %zu nodes", NODES_MAX);
	/* Lists the switches for the limit. Nodes are discovered after those that their routes pass. */
	if (d->limits.per_switch) {
		rd_reserve(&d->gates, &d->cap_gates, d->walk->n + 1, sizeof(*d->gates));
		for (size_t i = 0; i < d->walk->n; i++)
			d->gates[i + 1] = d->walk->nodes[i]->via ? d->walk->nodes[i]->via->gate : 0;
		d->limits.switches = d->gates;
		d->limits.n_switches = d->walk->n + 1;
	}
	r = rd_sweep_run(d->mads, &d->limits, d->queries, d->n, d->n_agents, &callbacks, &stats, err);
	d->n = d->n_agents = 0;
	d->walk->stats.sent += stats.sent;
	d->walk->stats.retries += stats.retries;
	d->timeouts += stats.timeouts;
	d->limits.window = d->walk->stats.window = stats.window;
	return r;
}

/* A new node at the place of the neighbour. NULL: too many nodes. */
static struct rd_walk_node *add_node(struct discovery *d, struct neighbour *neighbour, uint64_t guid)
{
	struct rd_walk *walk = d->walk;
	struct rd_walk_node *node;

	d->too_many |= walk->n >= NODES_MAX;
	if (d->too_many)
		return NULL;
	node = rd_alloc(1, sizeof(*node));
	node->guid = guid;
	node->kind = rd_mad_field(neighbour->info, IB_NODE_TYPE_F);
	node->n_ports = rd_mad_field(neighbour->info, IB_NODE_NPORTS_F);
	memcpy(node->info, neighbour->info, sizeof(node->info));
	node->route = neighbour->route;
	node->via = neighbour->node;
	node->ports = rd_alloc(node->n_ports + 1, sizeof(*node->ports));
	node->index = walk->n;
	*RD_ADD(walk->nodes, walk->n, walk->cap) = node;
	if (node->via)
		node->via->n_routes++;
	if (!tsearch(node, &d->by_guid, rd_compare_u64))
		rd_out_of_memory();
	return node;
}

static struct rd_walk_node *find_node(struct discovery *d, uint64_t guid)
{
	struct rd_walk_node key = { .guid = guid };
	struct rd_walk_node *const *found = tfind(&key, &d->by_guid, rd_compare_u64);

	return found ? *found : NULL;
}

static void query_port_info(struct discovery *d, const struct rd_walk_node *via, const struct rd_mad_route *route,
			    unsigned next_hop, struct rd_walk_node *node, unsigned number)
{
	struct rd_walk_port *port = &node->ports[number];

	add_query(d, via, route, next_hop, IB_ATTR_PORT_INFO, number,
		  (struct destination){ port->info, &port->known, &port->lost });
}

static void query_description(struct discovery *d, struct rd_walk_node *node)
{
	add_query(d, node, &node->route, 0, IB_ATTR_NODE_DESC, 0,
		  (struct destination){ node->description, NULL, &node->description_lost });
}

static void query_switch_info(struct discovery *d, struct rd_walk_node *node)
{
	add_query(d, node, &node->route, 0, IB_ATTR_SWITCH_INFO, 0,
		  (struct destination){ node->switch_info, NULL, &node->switch_info_lost });
}

/* NodeInfo of what is at a place: behind a port of a node, or at the end of a route. */
static void query_node_info(struct discovery *d, struct neighbour *place)
{
	d->n_agents++;
	add_query(d, place->node, place->node ? &place->node->route : &place->route, place->port, IB_ATTR_NODE_INFO, 0,
		  (struct destination){ place->info, &place->responded, &place->lost });
}

/* Of the devices with this GUID: the one that is known to be there, else the first that can be. NULL: none can. */
static struct rd_walk_node *choose_device(struct rd_walk_node *node, const struct neighbour *neighbour, unsigned port)
{
	struct rd_walk_node *fits = NULL;

	for (; node; node = node->twin) {
		const struct rd_walk_port *at = port <= node->n_ports ? &node->ports[port] : NULL;

		if (!at || !is_same_device(node->info, neighbour->info))
			continue;
		if (at->peer && at->peer == neighbour->node && at->peer_port == neighbour->port)
			return node;
		if (!at->peer && !fits)
			fits = node;
	}
	return fits;
}

/* `first`: nodes from this index are new in this round. */
static void connect_neighbour(struct discovery *d, struct neighbour *neighbour, struct rd_walk_node *node,
			      unsigned port, size_t first)
{
	node->ports[port].guid = rd_mad_field64(neighbour->info, IB_NODE_PORT_GUID_F);
	if (neighbour->node) {
		unlink_port(&neighbour->node->ports[neighbour->port]);
		unlink_port(&node->ports[port]);
		neighbour->node->ports[neighbour->port].peer = node;
		neighbour->node->ports[neighbour->port].peer_port = port;
		node->ports[port].peer = neighbour->node;
		node->ports[port].peer_port = neighbour->port;
		neighbour->node->ports[neighbour->port].peer_unreached = node->ports[port].peer_unreached = false;
	} else
		d->walk->self_port = port;
	/* Spreads the routes of nodes that were found in this round over the nodes that lead to them. */
	if (d->limits.per_switch && neighbour->node && node->via && node->index >= first &&
	    neighbour->node->n_routes + 1 < node->via->n_routes) {
		node->via->n_routes--;
		node->via = neighbour->node;
		node->via->n_routes++;
		node->route = neighbour->route;
	}
	/* A channel adapter need not respond to PortInfo of a port other than the one that received the SMP. */
	if (node->kind != RD_NODE_SWITCH && !node->ports[port].known) {
		d->n_agents++;
		query_port_info(d, neighbour->node, &neighbour->route, 0, node, port);
	}
}

/* Adds the node of a neighbour that responded. */
static void add_neighbour(struct discovery *d, struct neighbour *neighbour, size_t first)
{
	unsigned kind = rd_mad_field(neighbour->info, IB_NODE_TYPE_F);
	unsigned port = rd_mad_field(neighbour->info, IB_NODE_LOCAL_PORT_F);
	uint64_t guid = rd_mad_field64(neighbour->info, IB_NODE_GUID_F);
	size_t before = d->walk->n;
	struct rd_walk_node *node, *device;

	if (neighbour->node)
		neighbour->node->ports[neighbour->port].peer_unreached = true; /* until it is linked */
	if (!neighbour->responded || kind < RD_NODE_CA || kind > RD_NODE_ROUTER ||
	    port > rd_mad_field(neighbour->info, IB_NODE_NPORTS_F))
		return;
	node = find_node(d, guid);
	node = node ? node : add_node(d, neighbour, guid);
	if (!node)
		return;
	device = d->walk->n > before ? node : choose_device(node, neighbour, port);
	if (device)
		connect_neighbour(d, neighbour, device, port, first);
	else {
		struct conflict *conflict;

		/* Remembers a neighbour, and a place where the node with its GUID was found before. */
		conflict = RD_ADD(d->conflicts, d->n_conflicts, d->cap_conflicts);
		*conflict = (struct conflict){ .at = *neighbour, .again = *neighbour, .node = node };
		conflict->again.responded = false;
		if (port <= node->n_ports && node->ports[port].peer && is_same_device(node->info, neighbour->info)) {
			conflict->before.node = node->ports[port].peer;
			conflict->before.port = node->ports[port].peer_port;
			conflict->before.far = port;
		} else {
			conflict->before.route = node->route; /* its NodeInfo differs: it can be queried anywhere */
		}
	}
}

static struct rd_walk_node *add_twin(struct discovery *d, struct conflict *conflict)
{
	uint64_t guid = conflict->node->guid, made_up, count = 0;
	struct rd_walk_node *twin, *last = conflict->node;

	/* No vendor has the OUI ff-ff-xx. */
	do {
		count++;
		made_up = UINT64_C(0xffff) << 48 |
			  rd_hash(rd_hash(RD_HASH, &guid, sizeof(guid)), &count, sizeof(count)) >> 16;
	} while (find_node(d, made_up));
	twin = add_node(d, &conflict->at, made_up);
	if (!twin)
		return NULL;
	twin->reported_guid = guid;
	while (last->twin)
		last = last->twin;
	return last->twin = twin;
}

/* Queries both places of each conflict again. If the node is no longer where it was, its cable was moved; if it is at both, these are
 * two devices. */
static int resolve_conflicts(struct discovery *d, struct rd_err *err)
{
	int r;

	if (!d->n_conflicts)
		return 0;
	for (size_t i = 0; i < d->n_conflicts; i++) {
		query_node_info(d, &d->conflicts[i].again);
		query_node_info(d, &d->conflicts[i].before);
	}
	r = send_queries(d, err);
	for (size_t i = 0; !r && i < d->n_conflicts; i++) {
		struct conflict *conflict = &d->conflicts[i];
		unsigned port = rd_mad_field(conflict->at.info, IB_NODE_LOCAL_PORT_F);
		struct rd_walk_node *node = choose_device(conflict->node, &conflict->at, port);
		uint8_t was[RD_SMP_DATA];

		memcpy(was, conflict->node->info, sizeof(was));
		if (!(conflict->again.responded && is_same_device(conflict->again.info, conflict->at.info) &&
		      rd_mad_field(conflict->again.info, IB_NODE_LOCAL_PORT_F) ==
			      rd_mad_field(conflict->at.info, IB_NODE_LOCAL_PORT_F)))
			continue;
		if (!node && conflict->before.responded && is_same_device(conflict->before.info, was) &&
		    (!conflict->before.node ||
		     rd_mad_field(conflict->before.info, IB_NODE_LOCAL_PORT_F) == conflict->before.far))
			node = add_twin(d, conflict);
		else if (!node && is_same_device(conflict->at.info, was))
			node = conflict->node;
		if (node)
			connect_neighbour(d, &conflict->at, node, port, SIZE_MAX);
	}
	return r;
}

/* Whether a directed route can continue through the port: a port of a switch, or the local port; its link is up. */
static bool is_egress(const struct discovery *d, struct rd_walk_node *node, unsigned number)
{
	struct rd_walk_port *port = &node->ports[number];

	if (node->kind == RD_NODE_SWITCH ? number == 0 : node != d->walk->nodes[0] || number != d->walk->self_port)
		return false;
	return port->known && !port->peer && rd_mad_field(port->info, IB_PORT_PHYS_STATE_F) == PHYSICAL_LINK_UP;
}

static void plan_neighbour(struct discovery *d, struct rd_walk_node *node, unsigned port)
{
	struct neighbour *neighbour;

	if (node && node->route.hops >= RD_MAD_ROUTE_MAX) {
		node->ports[port].peer_unreached = true;
		return;
	}
	neighbour = RD_ADD(d->neighbours, d->n_neighbours, d->cap_neighbours);
	*neighbour = (struct neighbour){ .node = node, .port = port };
	if (node) {
		neighbour->route = node->route;
		neighbour->route.path[neighbour->route.hops++] = (uint8_t)port;
	}
}

/* Plans the neighbours of all nodes from `first`. What is behind their ports is not known yet, so the limit of its datagrams cannot be
 * kept; but switches of one tier are usually cabled alike, so each begins at other ports than the ones before. */
static void plan_neighbours(struct discovery *d, size_t first)
{
	struct rd_walk *walk = d->walk;

	for (size_t i = first; i < walk->n; i++) {
		struct rd_walk_node *node = walk->nodes[i];
		size_t begin = (i - first) * d->limits.per_switch;

		for (size_t k = 0; k <= node->n_ports; k++) {
			unsigned port = (unsigned)((begin + k) % (node->n_ports + 1));

			if (is_egress(d, node, port))
				plan_neighbour(d, node, port);
		}
	}
}

/* One round: NodeInfo of all neighbours, then the attributes of all new nodes. The queries do not depend on the order of
 * responses, so a discovery can be replayed from a recording. */
static int discover_round(struct discovery *d, struct rd_err *err)
{
	struct rd_walk *walk = d->walk;
	size_t first = walk->n;
	int r;

	d->n_conflicts = 0;
	for (size_t i = 0; i < d->n_neighbours; i++)
		query_node_info(d, &d->neighbours[i]);
	r = send_queries(d, err);
	for (size_t i = 0; !r && i < d->n_neighbours; i++)
		add_neighbour(d, &d->neighbours[i], first);
	if (!r)
		r = resolve_conflicts(d, err);
	for (size_t i = first; !r && i < walk->n; i++) {
		struct rd_walk_node *node = walk->nodes[i];

		node->gate = (d->limits.per_switch && node->kind == RD_NODE_SWITCH &&
			      node->route.hops > (d->walk->nodes[0]->kind != RD_NODE_SWITCH)) ?
				     (uint32_t)node->index + 1 :
			     node->via ? node->via->gate :
					 0;
		d->n_agents++;
		query_description(d, node);
		if (node->kind != RD_NODE_SWITCH)
			continue;
		query_switch_info(d, node);
		for (unsigned p = 0; p <= node->n_ports; p++)
			query_port_info(d, node, &node->route, 0, node, p);
	}
	if (!r)
		r = send_queries(d, err);
	d->n_neighbours = 0;
	if (!r)
		plan_neighbours(d, first);
	return r;
}

/* If datagrams were lost by chance, some of them until the last try, queries what is missing once more. A node that never responds
 * does not indicate such losses: all tries of its queries are lost. */
static int repair(struct discovery *d, struct rd_err *err)
{
	int r;

	if (!d->walk->stats.lost || d->timeouts <= d->walk->stats.lost * (d->limits.retries + 1))
		return 0;
	d->walk->stats.lost = 0;
	for (size_t i = 0; i < d->walk->n; i++) {
		struct rd_walk_node *node = d->walk->nodes[i];

		/* Queries what was lost of a node. A channel adapter is queried for a port from the other end of its cable. */
		d->n_agents++;
		if (node->description_lost)
			query_description(d, node);
		if (node->switch_info_lost)
			query_switch_info(d, node);
		for (unsigned p = 0; p <= node->n_ports; p++) {
			const struct rd_walk_port *port = &node->ports[p];

			if (port->lost && node->kind != RD_NODE_SWITCH && port->peer) {
				d->n_agents++; /* behind a different switch */
				query_port_info(d, port->peer, &port->peer->route, port->peer_port, node, p);
			} else if (port->lost) {
				query_port_info(d, node, &node->route, 0, node, p);
			}
		}
	}
	r = send_queries(d, err);
	if (!r)
		plan_neighbours(d, 0);
	while (!r && d->n_neighbours)
		r = discover_round(d, err);
	return r;
}

/* For tdestroy: the nodes belong to struct rd_walk. */
static void keep_node(void *node)
{
}

int rd_walk_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_walk *walk, struct rd_err *err)
{
	struct discovery discovery = { .mads = mads, .limits = *limits, .walk = walk };
	uint64_t start = mads->ops->now(mads);
	int r = 0;

	*walk = (struct rd_walk){ 0 };
	plan_neighbour(&discovery, NULL, 0);
	while (!r && discovery.n_neighbours)
		r = discover_round(&discovery, err);
	if (!r && walk->n)
		r = repair(&discovery, err);
	if (!r && !walk->n) {
		r = rd_err_set(err, discovery.error ? discovery.error : EBADMSG, "network",
			       "local port does not respond to a NodeInfo query");
		rd_err_hint(err, "ibstat shows the state of the port; smpquery -D nodeinfo 0 queries it");
	}
	if (!r) {
		for (size_t i = 0; i < discovery.walk->n; i++) {
			struct rd_walk_node *node = discovery.walk->nodes[i];

			discovery.n_agents++;
			for (unsigned p = 0; p <= node->n_ports && has_extended_port_info(node); p++) {
				struct rd_walk_port *port = &node->ports[p];

				if (port->known && rd_mad_field(port->info, IB_PORT_PHYS_STATE_F) == PHYSICAL_LINK_UP &&
				    rd_mad_field(port->info, IB_PORT_LINK_SPEED_ACTIVE_F) == SPEED_QDR &&
				    rd_mad_field(port->info, IB_PORT_LINK_SPEED_EXT_ACTIVE_F) == 0)
					add_query(&discovery, node, &node->route, 0, ATTR_EXTENDED_PORT_INFO, p,
						  (struct destination){ port->extended, NULL, NULL });
			}
		}
		r = send_queries(&discovery, err);
	}
	walk->duration_ns = mads->ops->now(mads) - start;
	tdestroy(discovery.by_guid, keep_node);
	RD_FREE(discovery.gates, discovery.neighbours, discovery.conflicts, discovery.queries, discovery.destinations);
	return r;
}

void rd_walk_deinit(struct rd_walk *walk)
{
	for (size_t i = 0; i < walk->n; i++)
		RD_FREE(walk->nodes[i]->ports, walk->nodes[i]);
	free(walk->nodes);
	*walk = (struct rd_walk){ 0 };
}

#define NAME_MAX_BYTES 128
#define PORTS_OF_NODE_MAX 255

/* "mlx5_0 1 0c42a103008b1c3e 0c42a103008b1c3e 12 0 1 4 5 200 InfiniBand": the format of rd_mad_ports. */
static bool parse_mad_port(char *line, struct rd_mad_port *ret)
{
	unsigned *const numbers[] = { &ret->lid,      &ret->lmc, &ret->sm_lid, &ret->state, &ret->physical_state,
				      &ret->rate_gbps };
	char *words[11] = { 0 };

	*ret = (struct rd_mad_port){ 0 };
	if (rd_words(&line, words, 11) < 10 || strlen(words[0]) >= sizeof(ret->ibdev) ||
	    rd_parse_u32(words[1], RD_DECIMAL, UINT32_MAX, &ret->port) < 0 ||
	    rd_parse_uint(words[2], RD_HEX, UINT64_MAX, &ret->node_guid) < 0 ||
	    rd_parse_uint(words[3], RD_HEX, UINT64_MAX, &ret->port_guid) < 0)
		return false;
	for (size_t i = 0; i < RD_ARRAY_SIZE(numbers); i++)
		if (rd_parse_u32(words[4 + i], RD_DECIMAL, UINT32_MAX, numbers[i]) < 0)
			return false;
	snprintf(ret->ibdev, sizeof(ret->ibdev), "%s", words[0]);
	snprintf(ret->link_layer, sizeof(ret->link_layer), "%s", words[10] ? words[10] : "");
	return true;
}

int rd_collect_mad_ports(struct rd_source *src, struct rd_mad_port **ret, size_t *n, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	_cleanup_free_ struct rd_mad_port *ports = NULL;
	size_t cap = 0, count = 0;
	char *at, *line;
	int r = rd_mad_ports(src, &bytes, err);

	if (r < 0)
		return r;
	at = (char *)bytes.data;
	while ((line = strsep(&at, "\n"))) {
		struct rd_mad_port port;

		if (parse_mad_port(line, &port))
			*RD_ADD(ports, count, cap) = port;
	}
	if (!count)
		return rd_err_set(err, ENODEV, "MAD ports", "none on this host");
	*ret = RD_TAKE(ports);
	*n = count;
	return 0;
}

static unsigned lanes_of_width(unsigned width)
{
	static const struct {
		unsigned bit, lanes;
	} widths[] = { { 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(widths); i++)
		if (widths[i].bit == width)
			return widths[i].lanes;
	return 0;
}

/* LinkSpeed (1, 2, 4: SDR, DDR, QDR) and LinkSpeedExt (1, 2, 4, 8: FDR to NDR) as one mask of 1 << enum rd_link_speed. */
static unsigned speed_mask(unsigned plain, unsigned extended, bool fdr10)
{
	unsigned mask = (plain & 7) << RD_SPEED_SDR | (extended & 15) << RD_SPEED_FDR;

	/* All ones: whatever the hardware supports. */
	if (plain == 15)
		mask |= 7 << RD_SPEED_SDR;
	return mask | (unsigned)fdr10 << RD_SPEED_FDR10;
}

static void decode_link(struct rd_walk_port *from, struct rd_fabric_port *port)
{
	const uint8_t *info = from->info, *more = from->extended;

	port->state = rd_mad_field(info, IB_PORT_STATE_F);
	port->physical_state = rd_mad_field(info, IB_PORT_PHYS_STATE_F);
	port->width_active = lanes_of_width(rd_mad_field(info, IB_PORT_LINK_WIDTH_ACTIVE_F));
	port->width_enabled = rd_mad_field(info, IB_PORT_LINK_WIDTH_ENABLED_F);
	port->width_supported = rd_mad_field(info, IB_PORT_LINK_WIDTH_SUPPORTED_F);
	port->speed_supported = speed_mask(rd_mad_field(info, IB_PORT_LINK_SPEED_SUPPORTED_F),
					   rd_mad_field(info, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
					   rd_mad_field(more, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F) & 1);
	port->speed_enabled = speed_mask(rd_mad_field(info, IB_PORT_LINK_SPEED_ENABLED_F),
					 rd_mad_field(info, IB_PORT_LINK_SPEED_EXT_ENABLED_F),
					 rd_mad_field(more, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F) & 1);
	port->speed_active = rd_link_fastest(speed_mask(rd_mad_field(info, IB_PORT_LINK_SPEED_ACTIVE_F),
							rd_mad_field(info, IB_PORT_LINK_SPEED_EXT_ACTIVE_F),
							rd_mad_field(more, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) & 1));
	/* Without a link the active fields are not valid. */
	if (port->state <= RD_LINK_DOWN)
		port->width_active = port->speed_active = 0;
}

int rd_collect_fabric(struct rd_mads *mads, const struct rd_mad_port *from, const struct rd_sweep_limits *limits,
		      uint64_t attributes, struct rd_fabric *fabric, struct rd_err *err)
{
	_cleanup_(rd_walk_deinit) struct rd_walk walk = { 0 };
	int r = rd_walk_run(mads, limits, &walk, err);

	*fabric = (struct rd_fabric){ .port = from->port, .sm_lid = (uint16_t)from->sm_lid, .self = RD_NONE };
	if (r < 0)
		return r;
	snprintf(fabric->ibdev, sizeof(fabric->ibdev), "%s", from->ibdev);
	fabric->attributes = attributes;
	fabric->n_values = rd_pma_n_values(attributes);
	fabric->discovered_ns = mads->ops->now(mads);
	for (size_t k = 0; k < walk.n; k++) {
		struct rd_walk_node *seen = walk.nodes[k];
		char description[RD_SMP_DATA + 1] = "";
		struct rd_fabric_node *node;

		memcpy(description, seen->description, RD_SMP_DATA);
		node = rd_fabric_add_node(fabric, seen->guid, seen->kind,
					  seen->n_ports < PORTS_OF_NODE_MAX ? seen->n_ports : PORTS_OF_NODE_MAX,
					  description);
		node->reported_guid = seen->reported_guid;
		node->system_guid = rd_mad_field64(seen->info, IB_NODE_SYSTEM_GUID_F);
		node->vendor = rd_mad_field(seen->info, IB_NODE_VENDORID_F);
		node->device = rd_mad_field(seen->info, IB_NODE_DEVID_F);
		node->unread = (unsigned)seen->description_lost + seen->switch_info_lost;
		for (unsigned p = 0; p <= seen->n_ports; p++)
			node->unread += seen->ports[p].lost;
	}
	rd_fabric_sort_nodes(fabric);
	for (size_t i = 0; i < walk.n; i++) {
		struct rd_walk_node *node = walk.nodes[i];
		bool in_switch = node->kind == RD_NODE_SWITCH;
		bool enhanced = in_switch && rd_mad_field(node->switch_info, IB_SW_ENHANCED_PORT0_F);

		/* The ports of a switch share the LID of port 0, and port 0 has counters only if it is enhanced. */
		for (unsigned p = in_switch && !enhanced; p <= node->n_ports && p < PORTS_OF_NODE_MAX; p++) {
			struct rd_walk_port *seen = &node->ports[p], *manager = in_switch ? &node->ports[0] : seen;
			struct rd_fabric_port *port;

			if (!seen->known && !seen->peer && !(in_switch && seen->lost))
				continue;
			port = rd_fabric_add_port(fabric, node->guid, p);
			port->guid = seen->guid;
			port->lid = (uint16_t)rd_mad_field(manager->info, IB_PORT_LID_F);
			port->lmc = (uint8_t)rd_mad_field(manager->info, IB_PORT_LMC_F);
			port->selected = port->lid >= IB_MIN_UCAST_LID && port->lid <= IB_MAX_UCAST_LID;
			port->unread = !seen->known;
			port->peer_unreached = seen->peer_unreached;
			decode_link(seen, port);
		}
	}
	rd_fabric_sort_ports(fabric);
	for (size_t i = 0; i < walk.n; i++) {
		const struct rd_walk_node *node = walk.nodes[i];

		for (unsigned k = 0; k <= node->n_ports; k++) {
			const struct rd_walk_port *port = &node->ports[k];
			size_t here = rd_fabric_find_port(fabric, node->guid, k), there;

			if (here == RD_NONE || !port->peer)
				continue;
			there = rd_fabric_find_port(fabric, port->peer->guid, port->peer_port);
			if (there != here)
				fabric->ports[here].peer = there;
		}
	}
	fabric->self = rd_fabric_find_port(fabric, walk.nodes[0]->guid, walk.self_port);
	fabric->discovery_ns = walk.duration_ns;
	fabric->walk = walk.stats;
	return 0;
}

/* One line: 0x0002c9030061b0f0 "leaf 7" # comment. 0, or -EINVAL if it is invalid. */
static int name_node(struct rd_fabric *fabric, char *line)
{
	const char *at = rd_trim(line), *name, *close;
	uint64_t guid;
	size_t node;

	if (!*at || *at == '#')
		return 0;
	if (rd_take_uint(&at, RD_HEX, UINT64_MAX, &guid) < 0 || (*at != ' ' && *at != '\t'))
		return -EINVAL;
	name = at + strspn(at, " \t");
	close = *name == '"' ? strchr(name + 1, '"') : NULL;
	if (!close || close == name + 1 || close - name > NAME_MAX_BYTES)
		return -EINVAL;
	node = rd_fabric_find_node(fabric, guid);
	if (node == RD_NONE)
		return 0;
	free(fabric->nodes[node].name);
	fabric->nodes[node].name = rd_dup_part(name + 1, (size_t)(close - name - 1));
	return 0;
}

void rd_fabric_name_nodes(struct rd_fabric *fabric, const char *text, size_t *ret_bad)
{
	_cleanup_free_ char *copy = rd_dup(text);
	char *at = copy, *line;

	*ret_bad = 0;
	while (at && (line = strsep(&at, "\n")))
		*ret_bad += name_node(fabric, line) < 0;
}
