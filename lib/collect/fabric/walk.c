/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/walk.h"

#include "source/shared/libibmad.h"

#include <errno.h>
#include <search.h>
#include <string.h>

#define CLASS_ROUTE 0x81
#define LID_PERMISSIVE 0xffff
#define ATTR_EXTENDED_PORT_INFO 0xff90 /* a maker's own: see has_extended */
#define PHYSICAL_LINK_UP 5
#define SPEED_QDR 4
#define NODES_MAX ((size_t)1 << 17) /* there are fewer LIDs */

/* Where the answer to a question belongs. */
struct place {
	uint8_t *data;	/* RD_SMP_DATA bytes */
	bool *answered; /* NULL: need not be told */
};

/* A port that leads on, and who was met behind it. */
struct door {
	struct rd_walk_node *node; /* NULL: we ourselves are to be met */
	unsigned port;
	struct rd_mad_route through; /* the way to who is behind it */
	bool answered;
	uint8_t info[RD_SMP_DATA];
};

struct run {
	struct rd_mads *mads;
	const struct rd_sweep_limits *limits;
	struct rd_walk *walk;
	void *by_guid; /* of tsearch */
	struct door *doors;
	size_t n_doors, cap_doors;
	/* Questions that are asked together. */
	struct rd_sweep_ask *asks;
	struct place *places;
	size_t n, cap_asks, cap_places, n_agents;
	int error;   /* positive errno of the latest question without an answer */
	bool failed; /* no memory */
};

/* Of the latest agent: n_agents was raised for it. */
static void ask(struct run *run, const struct rd_mad_route *route, unsigned beyond, uint16_t attribute,
		uint32_t modifier, struct place place)
{
	if (rd_grow(&run->asks, &run->cap_asks, run->n + 1, sizeof(*run->asks)) < 0 ||
	    rd_grow(&run->places, &run->cap_places, run->n + 1, sizeof(*run->places)) < 0) {
		run->failed = true;
		return;
	}
	run->asks[run->n] = (struct rd_sweep_ask){
		.dest.lid = LID_PERMISSIVE,
		.mad_class = CLASS_ROUTE,
		.beyond = (uint8_t)beyond,
		.attribute = attribute,
		.modifier = modifier,
		.route = route,
		.lid = run->n_agents - 1,
		.group = run->n,
	};
	run->places[run->n++] = place;
}

static bool done(void *arg, const struct rd_sweep_answer *answer)
{
	struct run *run = arg;
	const struct place *place = &run->places[answer->ask];

	if (answer->error) {
		run->error = answer->error;
		return true;
	}
	memcpy(place->data, answer->mad + IB_SMP_DATA_OFFS, RD_SMP_DATA);
	if (place->answered)
		*place->answered = true;
	return true;
}

static int ask_all(struct run *run, struct rd_err *err)
{
	struct rd_sweep_calls calls = { .done = done, .arg = run };
	struct rd_sweep_stats stats;
	int r;

	if (run->failed)
		return rd_err_set(err, ENOMEM, "network", "no memory for what was found");
	r = rd_sweep_run(run->mads, run->limits, run->asks, run->n, run->n_agents, &calls, &stats, err);
	run->n = run->n_agents = 0;
	return r;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = ((const struct rd_walk_node *)a)->guid, y = ((const struct rd_walk_node *)b)->guid;

	return (x > y) - (x < y);
}

static struct rd_walk_node *create(struct door *door)
{
	struct rd_walk_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->guid = rd_libibmad.mad_get_field64(door->info, 0, IB_NODE_GUID_F);
	node->kind = rd_libibmad.mad_get_field(door->info, 0, IB_NODE_TYPE_F);
	node->n_ports = rd_libibmad.mad_get_field(door->info, 0, IB_NODE_NPORTS_F);
	memcpy(node->info, door->info, sizeof(node->info));
	node->route = door->through;
	node->ports = calloc(node->n_ports + 1, sizeof(*node->ports));
	if (!node->ports) {
		free(node);
		return NULL;
	}
	return node;
}

/* Who is behind the door, met before or now. NULL: no memory. */
static struct rd_walk_node *meet(struct run *run, struct door *door)
{
	struct rd_walk *walk = run->walk;
	struct rd_walk_node key = { .guid = rd_libibmad.mad_get_field64(door->info, 0, IB_NODE_GUID_F) }, *node;
	struct rd_walk_node *const *met = tfind(&key, &run->by_guid, compare);

	if (met)
		return *met;
	if (walk->n >= NODES_MAX || rd_grow(&walk->nodes, &walk->cap, walk->n + 1, sizeof(*walk->nodes)) < 0)
		return NULL;
	node = create(door);
	if (node)
		walk->nodes[walk->n++] = node;
	return node && tsearch(node, &run->by_guid, compare) ? node : NULL;
}

static void part(struct rd_walk_port *port)
{
	if (port->peer)
		port->peer->ports[port->peer_port].peer = NULL;
	port->peer = NULL;
}

/* A cable that was moved meanwhile is where it was seen last. */
static void join(struct rd_walk_node *a, unsigned port_a, struct rd_walk_node *b, unsigned port_b)
{
	part(&a->ports[port_a]);
	part(&b->ports[port_b]);
	a->ports[port_a].peer = b;
	a->ports[port_a].peer_port = port_b;
	b->ports[port_b].peer = a;
	b->ports[port_b].peer_port = port_a;
}

static void ask_port(struct run *run, const struct rd_mad_route *route, struct rd_walk_node *node, unsigned number)
{
	struct rd_walk_port *port = &node->ports[number];

	ask(run, route, 0, IB_ATTR_PORT_INFO, number, (struct place){ port->info, &port->known });
}

static void ask_node(struct run *run, struct rd_walk_node *node)
{
	ask(run, &node->route, 0, IB_ATTR_NODE_DESC, 0, (struct place){ node->description, NULL });
	if (node->kind != RD_NODE_SWITCH)
		return;
	ask(run, &node->route, 0, IB_ATTR_SWITCH_INFO, 0, (struct place){ node->switch_info, NULL });
	for (unsigned i = 0; i <= node->n_ports; i++)
		ask_port(run, &node->route, node, i);
}

/* Takes in who was behind a door, and asks what is still to be known. */
static void pass(struct run *run, struct door *door)
{
	unsigned kind = rd_libibmad.mad_get_field(door->info, 0, IB_NODE_TYPE_F);
	unsigned port = rd_libibmad.mad_get_field(door->info, 0, IB_NODE_LOCAL_PORT_F);
	size_t before = run->walk->n;
	struct rd_walk_node *node;

	if (!door->answered || kind < RD_NODE_CA || kind > RD_NODE_ROUTER)
		return;
	node = meet(run, door);
	if (!node) {
		run->failed = true;
		return;
	}
	if (port > node->n_ports)
		return;
	if (door->node)
		join(door->node, door->port, node, port);
	else
		run->walk->self_port = port;
	run->n_agents++;
	if (run->walk->n > before)
		ask_node(run, node);
	/* A channel adapter need not answer for another port than the one that it was asked through. */
	if (node->kind != RD_NODE_SWITCH && !node->ports[port].known)
		ask_port(run, &door->through, node, port);
}

/* We get through switches, and out of our own port. */
static bool leads_on(const struct run *run, struct rd_walk_node *node, unsigned number)
{
	struct rd_walk_port *port = &node->ports[number];

	if (node->kind == RD_NODE_SWITCH ? number == 0 : node != run->walk->nodes[0] || number != run->walk->self_port)
		return false;
	return port->known && !port->peer && node->route.hops < RD_MAD_ROUTE_MAX &&
	       rd_libibmad.mad_get_field(port->info, 0, IB_PORT_PHYS_STATE_F) == PHYSICAL_LINK_UP;
}

static void add_door(struct run *run, struct rd_walk_node *node, unsigned port)
{
	struct door *door;

	if (rd_grow(&run->doors, &run->cap_doors, run->n_doors + 1, sizeof(*run->doors)) < 0) {
		run->failed = true;
		return;
	}
	door = &run->doors[run->n_doors++];
	*door = (struct door){ .node = node, .port = port };
	if (node) {
		door->through = node->route;
		door->through.exits[door->through.hops++] = (uint8_t)port;
	}
}

/* All doors at once, then all that was met behind them: so what is asked does not depend on who answers first, and a
 * recording of it can be walked over again. */
static int go_on(struct run *run, struct rd_err *err)
{
	static const struct rd_mad_route here = { 0 };
	struct rd_walk *walk = run->walk;
	size_t first = walk->n;
	int r;

	for (size_t i = 0; i < run->n_doors; i++) {
		struct door *door = &run->doors[i];

		run->n_agents++;
		ask(run, door->node ? &door->node->route : &here, door->port, IB_ATTR_NODE_INFO, 0,
		    (struct place){ door->info, &door->answered });
	}
	r = ask_all(run, err);
	for (size_t i = 0; !r && i < run->n_doors; i++)
		pass(run, &run->doors[i]);
	if (!r)
		r = ask_all(run, err);
	run->n_doors = 0;
	for (size_t i = first; !r && i < walk->n; i++)
		for (unsigned port = 0; port <= walk->nodes[i]->n_ports; port++)
			if (leads_on(run, walk->nodes[i], port))
				add_door(run, walk->nodes[i], port);
	return r;
}

/* SwitchX, ConnectX-3 and what came after say in an attribute of their own that a link which looks like QDR is FDR10; Bull
 * sells them under its own numbers. Others would refuse or, worse, be silent. */
static bool has_extended(struct rd_walk_node *node)
{
	static const struct {
		unsigned vendor, first, last; /* vendor 0: any */
	} devices[] = {
		{ 0, 0x1003, 0x101b }, { 0, 0xa2d2, 0xa2d2 }, { 0, 0xc738, 0xc73b }, { 0, 0xc839, 0xc839 },
		{ 0, 0xcb20, 0xcb20 }, { 0, 0xcf08, 0xcf09 }, { 0, 0xd2f0, 0xd2f0 }, { 0x119f, 0x1b02, 0x1bf0 },
	};
	unsigned vendor = rd_libibmad.mad_get_field(node->info, 0, IB_NODE_VENDORID_F);
	unsigned device = rd_libibmad.mad_get_field(node->info, 0, IB_NODE_DEVID_F);

	for (size_t i = 0; i < RD_ARRAY_SIZE(devices); i++)
		if ((!devices[i].vendor || devices[i].vendor == vendor) && device >= devices[i].first &&
		    device <= devices[i].last)
			return true;
	return false;
}

static int ask_extended(struct run *run, struct rd_err *err)
{
	for (size_t i = 0; i < run->walk->n; i++) {
		struct rd_walk_node *node = run->walk->nodes[i];

		run->n_agents++;
		for (unsigned p = 0; p <= node->n_ports && has_extended(node); p++) {
			struct rd_walk_port *port = &node->ports[p];

			if (port->known &&
			    rd_libibmad.mad_get_field(port->info, 0, IB_PORT_PHYS_STATE_F) == PHYSICAL_LINK_UP &&
			    rd_libibmad.mad_get_field(port->info, 0, IB_PORT_LINK_SPEED_ACTIVE_F) == SPEED_QDR &&
			    rd_libibmad.mad_get_field(port->info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F) == 0)
				ask(run, &node->route, 0, ATTR_EXTENDED_PORT_INFO, p,
				    (struct place){ port->extended, NULL });
		}
	}
	return ask_all(run, err);
}

static void nothing(void *node)
{
	(void)node;
}

int rd_walk_run(struct rd_mads *mads, const struct rd_sweep_limits *limits, struct rd_walk *walk, struct rd_err *err)
{
	struct run run = { .mads = mads, .limits = limits, .walk = walk };
	uint64_t start = mads->ops->now(mads);
	int r = 0;

	*walk = (struct rd_walk){ 0 };
	add_door(&run, NULL, 0);
	while (!r && run.n_doors)
		r = go_on(&run, err);
	if (!r && !walk->n) {
		r = -(run.error ? run.error : EBADMSG);
		rd_err_set(err, -r, "network", "our own port does not say who it is");
		rd_err_hint(err, "ibstat shows the state of the port; smpquery -D nodeinfo 0 asks the port itself");
	}
	if (!r)
		r = ask_extended(&run, err);
	walk->duration_ns = mads->ops->now(mads) - start;
	tdestroy(run.by_guid, nothing);
	free(run.doors);
	free(run.asks);
	free(run.places);
	return r;
}

void rd_walk_deinit(struct rd_walk *walk)
{
	for (size_t i = 0; i < walk->n; i++) {
		free(walk->nodes[i]->ports);
		free(walk->nodes[i]);
	}
	free(walk->nodes);
	*walk = (struct rd_walk){ 0 };
}
