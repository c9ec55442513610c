/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-reach.h"

#include "base/memory.h"

#define PHYSICAL_LINK_UP 5

/* What the cables of a node of `known` show. */
enum evidence { NO_EVIDENCE, EVIDENCE_MISSING, EVIDENCE_UNKNOWN };

struct reach {
	const struct rd_fabric *known, *now;
	enum rd_reach *result; /* per node of `known` */
	enum evidence *shown;  /* per node of `known` */
	bool *gone;	       /* per node of `known`: an earlier walk showed it */
	size_t *first_port;    /* per node of `known`, and one more */
	size_t *todo, n_todo;  /* nodes whose neighbours are to be visited */
};

bool rd_fabric_is_unsure(const struct rd_fabric_port *port)
{
	return port->unread || port->peer_unreached || port->presence == RD_PORT_UNREACHED;
}

bool rd_fabric_has_no_link(const struct rd_fabric_port *port)
{
	return port->peer == RD_NONE && !port->was_guid && port->state == RD_LINK_DOWN && !rd_fabric_is_unsure(port);
}

bool rd_fabric_is_incomplete(const struct rd_fabric *fabric)
{
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].unread)
			return true;
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (rd_fabric_is_unsure(&fabric->ports[i]))
			return true;
	return false;
}

/* Presence of each node: GONE or UNREACHED if all of its ports are, else PRESENT. */
static enum rd_presence *node_presences(const struct rd_fabric *now)
{
	enum rd_presence *kept = rd_alloc(now->n_nodes + 1, sizeof(*kept));

	for (size_t i = 0; i < now->n_ports; i++) {
		const struct rd_fabric_port *port = &now->ports[i];
		bool old = port->presence == RD_PORT_GONE || port->presence == RD_PORT_UNREACHED;

		if (i == 0 || now->ports[i - 1].node != port->node)
			kept[port->node] = old ? port->presence : RD_PORT_PRESENT;
		else if (!old)
			kept[port->node] = RD_PORT_PRESENT;
		else if (kept[port->node] == RD_PORT_GONE)
			kept[port->node] = port->presence; /* UNREACHED, if one of them is */
	}
	return kept;
}

/* What the other end of a cable, at a node that was found, shows about the node that was connected there. */
static enum evidence evidence_at(const struct rd_fabric *now, const struct rd_fabric_node *node, unsigned number)
{
	size_t at = rd_fabric_find_port(now, node->guid, number);
	const struct rd_fabric_node *found = &now->nodes[rd_fabric_find_node(now, node->guid)];
	const struct rd_fabric_port *port = at == RD_NONE ? NULL : &now->ports[at];

	if (port && rd_fabric_is_unsure(port))
		return EVIDENCE_UNKNOWN;
	if (port && port->peer != RD_NONE)
		return EVIDENCE_MISSING; /* a different node */
	/* If only our own link is down, nothing is known about what is behind it. */
	if (at != RD_NONE && at == now->self)
		return EVIDENCE_UNKNOWN;
	/* Routes do not continue through channel adapters: what is behind their other ports is not queried. */
	if (found->kind != RD_NODE_SWITCH)
		return NO_EVIDENCE;
	if (!port)
		return found->unread ? EVIDENCE_UNKNOWN : EVIDENCE_MISSING;
	return EVIDENCE_MISSING;
}

static void collect_evidence(struct reach *r)
{
	for (size_t i = 0; i < r->known->n_ports; i++) {
		const struct rd_fabric_port *port = &r->known->ports[i];
		const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &r->known->ports[port->peer];
		enum evidence shown;

		if (!peer || r->result[port->node] != RD_REACH_MISSING || r->result[peer->node] != RD_REACH_FOUND)
			continue;
		shown = evidence_at(r->now, &r->known->nodes[peer->node], peer->number);
		if (shown > r->shown[port->node])
			r->shown[port->node] = shown;
	}
}

/* Gives evidence to nodes that were connected to nodes with the same evidence, through switches. */
static void spread_evidence(struct reach *r, enum evidence shown)
{
	r->n_todo = 0;
	for (size_t i = 0; i < r->known->n_nodes; i++)
		if (r->shown[i] == shown)
			r->todo[r->n_todo++] = i;
	while (r->n_todo) {
		size_t node = r->todo[--r->n_todo];

		if (r->known->nodes[node].kind != RD_NODE_SWITCH)
			continue;
		for (size_t i = r->first_port[node]; i < r->first_port[node + 1]; i++) {
			size_t peer = r->known->ports[i].peer;
			size_t next = peer == RD_NONE ? RD_NONE : r->known->ports[peer].node;

			if (next == RD_NONE || r->result[next] != RD_REACH_MISSING || r->shown[next] >= shown)
				continue;
			r->shown[next] = shown;
			r->todo[r->n_todo++] = next;
		}
	}
}

static void index_ports(struct reach *r)
{
	size_t port = 0;

	for (size_t node = 0; node <= r->known->n_nodes; node++) {
		while (port < r->known->n_ports && r->known->ports[port].node < node)
			port++;
		r->first_port[node] = port;
	}
}

enum rd_reach *rd_fabric_reach(const struct rd_fabric *known, const struct rd_fabric *now)
{
	_cleanup_free_ enum rd_presence *kept = node_presences(now), *before = node_presences(known);
	bool incomplete = rd_fabric_is_incomplete(now);
	struct reach r = {
		.known = known,
		.now = now,
		.result = rd_alloc(known->n_nodes + 1, sizeof(*r.result)),
		.shown = rd_alloc(known->n_nodes + 1, sizeof(*r.shown)),
		.gone = rd_alloc(known->n_nodes + 1, sizeof(*r.gone)),
		.first_port = rd_alloc(known->n_nodes + 1, sizeof(*r.first_port)),
		.todo = rd_alloc(known->n_nodes + 1, sizeof(*r.todo)),
	};

	index_ports(&r);
	for (size_t i = 0; i < known->n_nodes; i++) {
		size_t node = rd_fabric_find_node(now, known->nodes[i].guid);

		r.gone[i] = node == RD_NONE ? before[i] == RD_PORT_GONE : kept[node] == RD_PORT_GONE;
		r.result[i] = node == RD_NONE || r.gone[i]    ? RD_REACH_MISSING :
			      kept[node] == RD_PORT_UNREACHED ? RD_REACH_UNKNOWN :
								RD_REACH_FOUND;
		/* What is behind a node that was not reached is not known either. */
		r.shown[i] = r.result[i] == RD_REACH_UNKNOWN ? EVIDENCE_UNKNOWN : NO_EVIDENCE;
	}
	collect_evidence(&r);
	/* In this order: the first may overwrite the second. */
	spread_evidence(&r, EVIDENCE_UNKNOWN);
	spread_evidence(&r, EVIDENCE_MISSING);
	for (size_t i = 0; i < known->n_nodes; i++)
		if (r.result[i] == RD_REACH_MISSING && !r.gone[i] &&
		    (r.shown[i] == EVIDENCE_UNKNOWN || (r.shown[i] == NO_EVIDENCE && incomplete)))
			r.result[i] = RD_REACH_UNKNOWN;
	RD_FREE(r.shown, r.gone, r.first_port, r.todo);
	return r.result;
}
