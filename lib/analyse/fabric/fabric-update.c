/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-update.h"

#include "base/memory.h"

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
}

static void move_port(struct rd_fabric_port *from, struct rd_fabric_port *to)
{
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
	to->capability = from->capability;
	to->capability2 = from->capability2;
	to->tick = from->tick;
	to->responded = from->responded;
	to->unsupported = from->unsupported;
}

/* Marks a port of a new node REPLACED if its peer port was connected to a different node before. */
static void mark_replaced(const struct rd_fabric *before, const struct rd_fabric *now, struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &now->ports[port->peer];
	size_t old, there;

	if (!peer || rd_fabric_find_node(before, now->nodes[port->node].guid) != RD_NONE)
		return;
	old = rd_fabric_find_port(before, now->nodes[peer->node].guid, peer->number);
	there = old == RD_NONE ? RD_NONE : before->ports[old].peer;
	if (there == RD_NONE)
		return;
	port->old_guid = before->nodes[before->ports[there].node].guid;
	/* The old node may only have been connected elsewhere. */
	if (rd_fabric_find_node(now, port->old_guid) == RD_NONE)
		port->presence = RD_PORT_REPLACED;
	else
		port->old_guid = 0;
}

/* Adds a port that disappeared, with its last values. It has no peer: the index would no longer be valid. */
static void keep_gone(struct rd_fabric *before, struct rd_fabric_port *port, struct rd_fabric *now)
{
	const struct rd_fabric_node *node = &before->nodes[port->node];
	struct rd_fabric_port *kept = rd_fabric_add_port(now, node->guid, port->number);
	size_t at;

	at = kept->node;
	*kept = *port;
	kept->node = at;
	kept->peer = RD_NONE;
	kept->presence = RD_PORT_GONE;
	kept->fresh = false;
	kept->values = kept->before = NULL;
	move_counters(port, kept);
}

static void add_gone_nodes(const struct rd_fabric *before, struct rd_fabric *now)
{
	size_t n = now->n_nodes; /* nodes added after these are not sorted */

	for (size_t i = 0; i < before->n_ports; i++) {
		const struct rd_fabric_node *old = &before->nodes[before->ports[i].node];
		struct rd_fabric_node *node;

		if (before->ports[i].presence == RD_PORT_GONE ||
		    rd_find_u64(now->nodes, n, sizeof(*now->nodes), old->guid))
			continue;
		/* Ports are sorted by node. */
		if (now->n_nodes > n && now->nodes[now->n_nodes - 1].guid == old->guid)
			continue;
		node = rd_fabric_add_node(now, old->guid, old->kind, old->n_ports, old->description);
		node->system_guid = old->system_guid;
		node->vendor = old->vendor;
		node->device = old->device;
	}
}

/* Sorts added nodes in, and updates the node index of each port. */
static void resort_nodes(struct rd_fabric *now)
{
	_cleanup_free_ uint64_t *guids = rd_alloc(now->n_ports + 1, sizeof(*guids));

	for (size_t i = 0; i < now->n_ports; i++)
		guids[i] = now->nodes[now->ports[i].node].guid;
	rd_fabric_sort_nodes(now);
	for (size_t i = 0; i < now->n_ports; i++)
		now->ports[i].node = rd_fabric_find_node(now, guids[i]);
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

void rd_fabric_update(struct rd_fabric *before, struct rd_fabric *now)
{
	now->sweep = before->sweep;
	now->swept_ns = before->swept_ns;
	for (size_t i = 0; i < now->n_nodes; i++) {
		size_t old = rd_fabric_find_node(before, now->nodes[i].guid);

		if (old != RD_NONE)
			move_node(&before->nodes[old], &now->nodes[i]);
	}
	for (size_t i = 0; i < now->n_ports; i++) {
		struct rd_fabric_port *port = &now->ports[i];
		size_t old = rd_fabric_find_port(before, now->nodes[port->node].guid, port->number);

		if (old != RD_NONE) {
			move_port(&before->ports[old], port);
			before->ports[old].presence = RD_PORT_GONE; /* do not keep it */
		} else {
			port->presence = RD_PORT_NEW;
			mark_replaced(before, now, port);
		}
	}
	add_gone_nodes(before, now);
	resort_nodes(now);
	for (size_t i = 0; i < before->n_ports; i++)
		if (before->ports[i].presence != RD_PORT_GONE)
			keep_gone(before, &before->ports[i], now);
	sort_ports(now);
}
