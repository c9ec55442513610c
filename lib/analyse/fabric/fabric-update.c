/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of nodes, ports and their counters from one discovery of a network to the next. */

#include "analyse/fabric/fabric-update.h"
#include "base/memory.h"

/* ---- nodes that were not found */

#define PHYSICAL_LINK_UP 5

/* What the cables of a node of `known` show. */
enum evidence { NO_EVIDENCE, EVIDENCE_MISSING, EVIDENCE_UNKNOWN };

struct reach {
	const struct rd_fabric *known, *now;
	enum rd_reach *result; /* per node of `known` */
	enum evidence *shown;  /* per node of `known` */
	bool *gone;	       /* per node of `known`: an earlier walk showed it */
	size_t *todo, n_todo;  /* nodes whose neighbours are to be visited */
};

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
		for (size_t i = r->known->nodes[node].first; i < r->known->nodes[node].end; i++) {
			size_t peer = r->known->ports[i].peer;
			size_t next = peer == RD_NONE ? RD_NONE : r->known->ports[peer].node;

			if (next == RD_NONE || r->result[next] != RD_REACH_MISSING || r->shown[next] >= shown)
				continue;
			r->shown[next] = shown;
			r->todo[r->n_todo++] = next;
		}
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
		.todo = rd_alloc(known->n_nodes + 1, sizeof(*r.todo)),
	};

	for (size_t i = 0; i < known->n_nodes; i++) {
		size_t node = rd_fabric_find_node(now, known->nodes[i].guid);

		r.gone[i] = node == RD_NONE ? before[i] == RD_PORT_GONE : kept[node] == RD_PORT_GONE;
		r.result[i] = node == RD_NONE || r.gone[i]    ? RD_REACH_MISSING :
			      kept[node] == RD_PORT_UNREACHED ? RD_REACH_UNKNOWN :
								RD_REACH_FOUND;
		/* What is behind a node that was not reached is not known either. */
		r.shown[i] = r.result[i] == RD_REACH_UNKNOWN ? EVIDENCE_UNKNOWN : NO_EVIDENCE;
	}
	for (size_t i = 0; i < r.known->n_ports; i++) {
		const struct rd_fabric_port *port = &r.known->ports[i];
		const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &r.known->ports[port->peer];
		enum evidence shown;

		if (!peer || r.result[port->node] != RD_REACH_MISSING || r.result[peer->node] != RD_REACH_FOUND)
			continue;
		shown = evidence_at(r.now, &r.known->nodes[peer->node], peer->number);
		if (shown > r.shown[port->node])
			r.shown[port->node] = shown;
	}
	/* In this order: the first may overwrite the second. */
	spread_evidence(&r, EVIDENCE_UNKNOWN);
	spread_evidence(&r, EVIDENCE_MISSING);
	for (size_t i = 0; i < known->n_nodes; i++)
		if (r.result[i] == RD_REACH_MISSING && !r.gone[i] &&
		    (r.shown[i] == EVIDENCE_UNKNOWN || (r.shown[i] == NO_EVIDENCE && incomplete)))
			r.result[i] = RD_REACH_UNKNOWN;
	RD_FREE(r.shown, r.gone, r.todo);
	return r.result;
}

/* ---- carrying over */

/* For how long after its last values a node that is gone is reported. */
#define GONE_NS UINT64_C(86400000000000)

static void move_counters(struct rd_fabric_port *from, struct rd_fabric_port *to)
{
	to->values = RD_TAKE(from->values);
	to->before = RD_TAKE(from->before);
	to->read_ns = from->read_ns;
	to->before_ns = from->before_ns;
	to->silent = from->silent;
	to->error = from->error;
	to->error_status = from->error_status;
	to->error_attribute = from->error_attribute;
	/* It may be down since the walk read it: it is checked with the next sweep. */
	to->lost = from->lost && to->peer != RD_NONE;
}

static void move_port(struct rd_fabric_port *from, struct rd_fabric_port *to, bool incomplete)
{
	if (to->unread) {
		/* What PortInfo would have shown, of a port whose PortInfo the walk did not read. */
		to->state = from->state;
		to->physical_state = from->physical_state;
		to->width_active = from->width_active;
		to->width_enabled = from->width_enabled;
		to->width_supported = from->width_supported;
		to->speed_active = from->speed_active;
		to->speed_enabled = from->speed_enabled;
		to->speed_supported = from->speed_supported;
	}
	/* The LID of a switch is that of its port 0. */
	if (!to->lid && incomplete) {
		to->lid = from->lid;
		to->lmc = from->lmc;
		to->selected = from->selected;
	}
	if (from->presence == RD_PORT_GONE)
		to->presence = RD_PORT_NEW;
	else if (from->lid != to->lid && from->lid && to->lid)
		to->presence = RD_PORT_MOVED;
	to->old_lid = to->presence == RD_PORT_MOVED ? from->lid : 0;
	move_counters(from, to);
	/* An agent that did not respond at the old LID may respond at the new one. */
	if (to->presence == RD_PORT_MOVED) {
		to->error = 0;
		to->silent = false;
	}
}

static void move_node(const struct rd_fabric_node *from, struct rd_fabric_node *to)
{
	if (to->unread && !*to->description) {
		free(to->description);
		to->description = rd_dup(from->description);
	}
	to->capability = from->capability;
	to->capability2 = from->capability2;
	to->tick = from->tick;
	to->responded = from->responded;
	to->unsupported = from->unsupported;
	to->no_sums = from->no_sums;
	to->blocked = from->blocked;
}

/* A port without a link keeps the identity of the port that it was last linked with. */
static void keep_peer(const struct rd_fabric *before, const struct rd_fabric_port *from, struct rd_fabric_port *to)
{
	const struct rd_fabric_port *peer = from->peer == RD_NONE ? NULL : &before->ports[from->peer];

	to->was_guid = peer ? before->nodes[peer->node].guid : from->was_guid;
	to->was_port = peer ? peer->number : from->was_port;
}

/* Adds the nodes of ports that are kept. */
static void keep_nodes(const struct rd_fabric *before, const enum rd_presence *kept, struct rd_fabric *now)
{
	size_t n = now->n_nodes; /* nodes added after these are not sorted */

	for (size_t i = 0; i < before->n_ports; i++) {
		const struct rd_fabric_node *old = &before->nodes[before->ports[i].node];
		struct rd_fabric_node *node;

		if (kept[i] == RD_PORT_PRESENT || rd_find_u64(now->nodes, n, sizeof(*now->nodes), old->guid))
			continue;
		/* Ports are sorted by node. */
		if (now->n_nodes > n && now->nodes[now->n_nodes - 1].guid == old->guid)
			continue;
		node = rd_fabric_add_node(now, old->guid, old->kind, old->n_ports, old->description);
		node->reported_guid = old->reported_guid;
		node->system_guid = old->system_guid;
		node->vendor = old->vendor;
		node->device = old->device;
		move_node(old, node);
	}
}

/* Identity of a port, independent of its index. */
struct port_id {
	uint64_t guid;
	unsigned number;
};

/* Sorts added ports in, and updates the index of each peer. */
static void sort_ports(struct rd_fabric *now)
{
	_cleanup_free_ struct port_id *peers = rd_alloc(now->n_ports + 1, sizeof(*peers));
	struct port_id self = { 0 }; /* separate: a cleanup attribute applies to its whole declaration */

	for (size_t i = 0; i < now->n_ports; i++) {
		struct rd_fabric_port *port = &now->ports[i];
		const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &now->ports[port->peer];

		if (peer)
			peers[i] = (struct port_id){ now->nodes[peer->node].guid, peer->number };
		if (i == now->self)
			self = (struct port_id){ now->nodes[port->node].guid, port->number };
		port->peer = i; /* index into peers */
	}
	rd_fabric_sort_ports(now);
	for (size_t i = 0; i < now->n_ports; i++) {
		const struct port_id *peer = &peers[now->ports[i].peer];

		now->ports[i].peer = peer->guid ? rd_fabric_find_port(now, peer->guid, peer->number) : RD_NONE;
	}
	now->self = self.guid ? rd_fabric_find_port(now, self.guid, self.number) : RD_NONE;
}

/* Per node of `before`: whether it was gone, and another node is at one of its cables. To be freed. */
static bool *find_replaced(const struct rd_fabric *before, const struct rd_fabric *now)
{
	bool *replaced = rd_alloc(before->n_nodes + 1, sizeof(*replaced));

	for (size_t i = 0; i < before->n_ports; i++) {
		const struct rd_fabric_port *port = &before->ports[i];
		size_t there = port->presence == RD_PORT_GONE ?
				       rd_fabric_find_port(now, port->was_guid, port->was_port) :
				       RD_NONE;

		replaced[port->node] |= there != RD_NONE && now->ports[there].peer != RD_NONE;
	}
	return replaced;
}

/* The presence of a port that is not in `now`; PRESENT: it is not kept. What is gone stays so while its node is, for a day, unless that
 * was replaced. */
static enum rd_presence presence_of_lost(const struct rd_fabric *before, const enum rd_reach *reach,
					 const bool *replaced, const struct rd_fabric *now,
					 const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &before->ports[port->peer];
	const struct rd_fabric_node *node = &before->nodes[port->node];
	size_t there;

	if (port->presence == RD_PORT_GONE && (reach[port->node] == RD_REACH_FOUND || replaced[port->node] ||
					       now->discovered_ns > port->read_ns + GONE_NS))
		return RD_PORT_PRESENT;
	if (reach[port->node] == RD_REACH_UNKNOWN)
		return RD_PORT_UNREACHED;
	if (reach[port->node] == RD_REACH_MISSING)
		return RD_PORT_GONE;
	if (now->nodes[rd_fabric_find_node(now, node->guid)].unread)
		return RD_PORT_UNREACHED;
	/* A port of a channel adapter is seen from the other end of its cable only. */
	if (!peer || node->kind == RD_NODE_SWITCH)
		return RD_PORT_GONE;
	there = rd_fabric_find_port(now, before->nodes[peer->node].guid, peer->number);
	return reach[peer->node] == RD_REACH_UNKNOWN || (there != RD_NONE && rd_fabric_is_unsure(&now->ports[there])) ?
		       RD_PORT_UNREACHED :
		       RD_PORT_GONE;
}

/* Whether a cable may still be at the port: nothing is known about its other end. */
static bool may_have_cable(const struct rd_fabric *fabric, size_t port)
{
	return port != RD_NONE && fabric->ports[port].peer == RD_NONE && rd_fabric_is_unsure(&fabric->ports[port]) &&
	       fabric->ports[port].presence != RD_PORT_GONE;
}

/* Carries over what was found again, and sets the presence of all ports of `now`. Returns the presence of the others, per port of
 * `before`; PRESENT: not kept. To be freed. */
static enum rd_presence *match_ports(struct rd_fabric *before, const enum rd_reach *reach, struct rd_fabric *now)
{
	enum rd_presence *kept = rd_alloc(before->n_ports + 1, sizeof(*kept));
	_cleanup_free_ bool *replaced = find_replaced(before, now);

	for (size_t i = 0; i < before->n_ports; i++)
		kept[i] = presence_of_lost(before, reach, replaced, now, &before->ports[i]);
	for (size_t i = 0; i < now->n_ports; i++) {
		struct rd_fabric_port *port = &now->ports[i];
		const struct rd_fabric_node *node = &now->nodes[port->node];
		size_t old = rd_fabric_find_port(before, node->guid, port->number);

		if (old != RD_NONE) {
			move_port(&before->ports[old], port, node->unread > 0);
			if (port->peer == RD_NONE)
				keep_peer(before, &before->ports[old], port);
			else
				port->connected = rd_fabric_has_no_link(&before->ports[old]);
			kept[old] = RD_PORT_PRESENT;
		} else {
			const struct rd_fabric_port *peer;
			size_t at, former;
			uint64_t guid;

			port->presence = RD_PORT_NEW;
			/* Marks a port of a new node REPLACED if its peer port was connected to a different node before. */
			peer = port->peer == RD_NONE ? NULL : &now->ports[port->peer];
			if (!peer || rd_fabric_find_node(before, now->nodes[port->node].guid) != RD_NONE)
				continue;
			at = rd_fabric_find_port(before, now->nodes[peer->node].guid, peer->number);
			guid = at == RD_NONE ? 0 :
					       (before->ports[at].peer == RD_NONE ?
							before->ports[at].was_guid :
							before->nodes[before->ports[before->ports[at].peer].node].guid);
			former = guid ? rd_fabric_find_node(before, guid) : RD_NONE;
			/* The old node may only have been connected elsewhere, or be out of reach. */
			if (former == RD_NONE || reach[former] != RD_REACH_MISSING)
				continue;
			port->old_guid = guid;
			port->presence = RD_PORT_REPLACED;
		}
	}
	return kept;
}

void rd_fabric_update(struct rd_fabric *before, const enum rd_reach *reach, struct rd_fabric *now)
{
	_cleanup_free_ enum rd_presence *kept = NULL;
	_cleanup_free_ bool *used = rd_alloc((size_t)UINT16_MAX + 1, sizeof(*used));
	_cleanup_free_ uint64_t *guids = rd_alloc(now->n_ports + 1, sizeof(*guids));

	now->sweep = before->sweep;
	now->swept_ns = before->swept_ns;
	for (size_t i = 0; i < now->n_nodes; i++) {
		size_t old = rd_fabric_find_node(before, now->nodes[i].guid);

		if (old != RD_NONE)
			move_node(&before->nodes[old], &now->nodes[i]);
	}
	kept = match_ports(before, reach, now);
	keep_nodes(before, kept, now);
	/* Sorts added nodes in, and updates the node index of each port. */
	for (size_t i = 0; i < now->n_ports; i++)
		guids[i] = now->nodes[now->ports[i].node].guid;
	rd_fabric_sort_nodes(now);
	for (size_t i = 0; i < now->n_ports; i++)
		now->ports[i].node = rd_fabric_find_node(now, guids[i]);
	for (size_t i = 0; i < before->n_ports; i++)
		if (kept[i] != RD_PORT_PRESENT) {
			struct rd_fabric_port *port = &before->ports[i];
			const struct rd_fabric_node *node = &before->nodes[port->node];
			struct rd_fabric_port *copy = rd_fabric_add_port(now, node->guid, port->number);
			size_t at;

			/* Adds a port that was not found, with its last values. It has no peer yet: the index would not be valid. */
			at = copy->node;
			*copy = *port;
			copy->node = at;
			copy->peer = RD_NONE;
			keep_peer(before, port, copy);
			copy->presence = kept[i];
			copy->fresh = false;
			copy->values = copy->before = NULL;
			move_counters(port, copy);
		}
	sort_ports(now);
	/* Deselects ports of nodes that were not reached if a node that was reached has their LID now. */
	for (size_t i = 0; i < now->n_ports; i++)
		if (now->ports[i].presence != RD_PORT_GONE && now->ports[i].presence != RD_PORT_UNREACHED)
			used[now->ports[i].lid] = true;
	for (size_t i = 0; i < now->n_ports; i++)
		if (now->ports[i].presence == RD_PORT_UNREACHED && used[now->ports[i].lid])
			now->ports[i].selected = false;
	/* Restores cables that the walk did not see. */
	for (size_t i = 0; i < before->n_ports; i++) {
		const struct rd_fabric_port *port = &before->ports[i];
		const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &before->ports[port->peer];
		size_t here, there;

		if (!peer || port->peer < i)
			continue;
		here = rd_fabric_find_port(now, before->nodes[port->node].guid, port->number);
		there = rd_fabric_find_port(now, before->nodes[peer->node].guid, peer->number);
		if (here == there || !may_have_cable(now, here) || !may_have_cable(now, there))
			continue;
		now->ports[here].peer = there;
		now->ports[there].peer = here;
	}
}
