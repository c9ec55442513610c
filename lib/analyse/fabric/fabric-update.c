/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of nodes, ports and their counters from one discovery of a network to the next; what repeated sweeps counted and found. */
#include "analyse/fabric/fabric.h"

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

/* In place of a counter: of port 0, a node restarted; of others, a cable was plugged in. Its count: 1 if a discovery found it, at the
 * time of that; 0 if a restart is known by its counters. */
#define RESTARTED UINT16_MAX

void rd_fabric_history_deinit(struct rd_fabric_history *history)
{
	free(history->v);
	*history = (struct rd_fabric_history){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct rd_history_entry *x = a, *y = b;

	return RD_CMP(x->guid, y->guid) ?: RD_CMP(x->port, y->port) ?: RD_CMP(x->counter, y->counter);
}

static const struct rd_history_entry *find_entry(const struct rd_fabric_history *history, uint64_t guid, unsigned port,
						 size_t counter)
{
	struct rd_history_entry key = { .guid = guid, .port = port, .counter = (uint16_t)counter };
	size_t at = history ? rd_lower_bound(&key, history->v, history->n, sizeof(key), compare) : 0;

	return history && at < history->n && compare(&history->v[at], &key) == 0 ? &history->v[at] : NULL;
}

static void forget_old(struct rd_fabric_history *history, uint64_t now)
{
	uint64_t since = now > RD_HISTORY_HOUR_NS ? now - RD_HISTORY_HOUR_NS : 0;
	size_t kept = 0;

	for (size_t i = 0; i < history->n; i++) {
		struct rd_history_entry *entry = &history->v[i];
		uint16_t n = 0;

		for (uint16_t k = 0; k < entry->n; k++)
			if (entry->v[k].ns >= since)
				entry->v[n++] = entry->v[k];
		entry->n = n;
		if (n > 0)
			history->v[kept++] = *entry;
	}
	history->n = kept;
}

/* Entries up to `sorted` are in order, those after it are of this sweep. */
static void add_entry(struct rd_fabric_history *history, size_t sorted, const struct rd_history_entry *new)
{
	size_t at = rd_lower_bound(new, history->v, sorted, sizeof(*new), compare);
	struct rd_history_entry *entry = at < sorted ? &history->v[at] : NULL;

	if (entry && compare(entry, new) == 0) {
		if (new->counter == RESTARTED)
			entry->n = 0;
		if (entry->n == RD_HISTORY_TIMES) {
			size_t closest = 0;

			/* Merges the two increases that are closest in time. They take the time of the older one: what is merged is forgotten early
			 * rather than late. */
			for (size_t i = 1; i + 1 < entry->n; i++)
				if (entry->v[i + 1].ns - entry->v[i].ns <
				    entry->v[closest + 1].ns - entry->v[closest].ns)
					closest = i;
			entry->v[closest].count += entry->v[closest + 1].count;
			entry->n--;
			for (size_t i = closest + 1; i < entry->n; i++)
				entry->v[i] = entry->v[i + 1];
		}
		entry->v[entry->n++] = new->v[0];
		return;
	}
	if (history->n >= RD_HISTORY_MAX)
		return;
	*RD_ADD(history->v, history->n, history->cap) = *new;
}

/* Whether what a port counted of packets is less than before: 1, or 0. -1: not known. */
static int went_back(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	int known = -1;

	for (size_t i = RD_C_XMIT_DATA; i <= RD_C_RCV_PKTS && i < fabric->n_values; i++) {
		if (!port->fresh || !port->before || !port->before_ns || !port->values || port->before[i].bits != 64 ||
		    port->values[i].bits != 64 || port->before[i].v == 0)
			continue;
		if (port->values[i].v < port->before[i].v)
			return 1;
		known = 0;
	}
	return known;
}

/* Whether a node restarted: most of its ports, from `first` to `end`, went back. Of a few somebody has cleared the counters. */
static bool has_restarted(const struct rd_fabric *fabric, size_t first, size_t end)
{
	size_t back = 0, known = 0;

	for (size_t i = first; i < end; i++) {
		int r = went_back(fabric, &fabric->ports[i]);

		known += r >= 0;
		back += r > 0;
	}
	return back * 2 > known;
}

static void add_port(struct rd_fabric_history *history, size_t sorted, const struct rd_fabric *fabric,
		     const struct rd_fabric_port *port, bool restarted)
{
	struct rd_history_entry new = { .guid = fabric->nodes[port->node].guid, .n = 1, .v[0].ns = port->read_ns };
	uint64_t delta;

	if (port->presence == RD_PORT_NEW || restarted) {
		new.counter = RESTARTED;
		new.v[0].count = !restarted;
		new.v[0].ns = restarted ? port->read_ns : fabric->discovered_ns;
		add_entry(history, sorted, &new);
		new.v[0].ns = port->read_ns;
	}
	new.port = port->number;
	if (port->connected) {
		new.counter = RESTARTED;
		new.v[0] = (struct rd_history_time){ .ns = fabric->discovered_ns, .count = 1 };
		add_entry(history, sorted, &new);
		new.v[0].ns = port->read_ns;
	}
	for (size_t i = 0; i < fabric->n_values; i++) {
		if (!rd_pma_is_fault(i) || !rd_fabric_delta(fabric, port, i, &delta, NULL) || delta == 0)
			continue;
		new.counter = (uint16_t)i;
		new.v[0].count = delta;
		add_entry(history, sorted, &new);
	}
}

void rd_fabric_history_add(struct rd_fabric_history *history, const struct rd_fabric *fabric)
{
	size_t sorted;

	if (fabric->swept_ns <= history->swept_ns)
		return;
	history->swept_ns = fabric->swept_ns;
	forget_old(history, fabric->swept_ns);
	sorted = history->n;
	for (size_t i = 0; i < fabric->n_nodes; i++) {
		bool restarted = has_restarted(fabric, fabric->nodes[i].first, fabric->nodes[i].end);

		for (size_t k = fabric->nodes[i].first; k < fabric->nodes[i].end; k++)
			if (fabric->ports[k].fresh)
				add_port(history, sorted, fabric, &fabric->ports[k], restarted);
	}
	if (history->n > sorted) {
		size_t n = 0;

		qsort(history->v, history->n, sizeof(*history->v), compare);
		/* Several ports of a switch may each have told that it restarted. */
		for (size_t i = 0; i < history->n; i++)
			if (n == 0 || compare(&history->v[n - 1], &history->v[i]) != 0)
				history->v[n++] = history->v[i];
		history->n = n;
	}
}

uint64_t rd_fabric_history_sum(const struct rd_fabric_history *history, const struct rd_fabric *fabric,
			       const struct rd_fabric_port *port, size_t counter)
{
	const struct rd_history_entry *entry =
		find_entry(history, fabric->nodes[port->node].guid, port->number, counter);
	uint64_t sum = 0;

	for (size_t i = 0; entry && i < entry->n; i++)
		sum += entry->v[i].count;
	if (!history)
		rd_fabric_delta(fabric, port, counter, &sum, NULL);
	return sum;
}

/* The links and nodes at both ends of a cable. */
struct losses {
	const struct rd_history_entry *links[2], *restarts[2], *connected[2]; /* NULL: none */
	uint64_t late_ns; /* a restart is discovered at most that long after the link came up */
	bool still, drops;
};

static bool is_near_restart(const struct losses *losses, uint64_t ns, uint64_t restart)
{
	return ns + losses->late_ns >= restart && ns <= restart + RD_HISTORY_LOSS_NS;
}

/* Whether what was counted at `ns` is a consequence of this restart. A node that was found comes up, perhaps at a port that lost no
 * link. Else a link was lost before it. In between, the link is down: packets are dropped, but no errors are received. */
static bool is_of_restart(const struct losses *losses, const struct rd_history_time *restart, uint64_t ns)
{
	if (restart->count && is_near_restart(losses, ns, restart->ns))
		return true;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; losses->links[side] && i < losses->links[side]->n; i++) {
			uint64_t lost = losses->links[side]->v[i].ns;

			if (restart->ns + RD_HISTORY_LOSS_NS < lost || restart->ns > lost + RD_HISTORY_BOOT_NS)
				continue;
			if ((ns + RD_HISTORY_LOSS_NS >= lost && ns <= lost + RD_HISTORY_LOSS_NS) ||
			    is_near_restart(losses, ns, restart->ns) ||
			    (losses->drops && ns >= lost && ns <= restart->ns))
				return true;
		}
	return false;
}

static bool is_lost(const struct losses *losses, uint64_t ns)
{
	for (size_t side = 0; side < 2; side++) {
		const struct rd_history_entry *link = losses->links[side], *restarts = losses->restarts[side];
		const struct rd_history_entry *connected = losses->connected[side];

		for (size_t i = 0; connected && i < connected->n; i++)
			if (is_near_restart(losses, ns, connected->v[i].ns))
				return true;
		for (size_t i = 0; losses->still && link && i < link->n; i++)
			if (ns + RD_HISTORY_LOSS_NS >= link->v[i].ns)
				return true;
		for (size_t i = 0; restarts && i < restarts->n; i++)
			if (is_of_restart(losses, &restarts->v[i], ns))
				return true;
	}
	return false;
}

uint64_t rd_fabric_history_lost(const struct rd_fabric_history *history, const struct rd_fabric *fabric,
				const struct rd_fabric_port *port, const struct rd_fabric_port *peer, size_t counter,
				bool still)
{
	const struct rd_fabric_port *ends[2] = { port, peer };
	const struct rd_history_entry *entry =
		find_entry(history, fabric->nodes[port->node].guid, port->number, counter);
	struct losses losses = { .still = still, .drops = rd_pma_counters[counter].kind == RD_PMA_DROP };
	uint64_t interval = port->before_ns ? port->read_ns - port->before_ns : 0;
	uint64_t sum = 0;

	losses.late_ns = interval > RD_HISTORY_LOSS_NS ? interval : RD_HISTORY_LOSS_NS;
	for (size_t i = 0; i < 2 && ends[i]; i++) {
		uint64_t guid = fabric->nodes[ends[i]->node].guid;

		losses.links[i] = find_entry(history, guid, ends[i]->number, RD_C_LINK_DOWNED);
		losses.connected[i] = find_entry(history, guid, ends[i]->number, RESTARTED);
		losses.restarts[i] = find_entry(history, guid, 0, RESTARTED);
	}
	for (size_t i = 0; entry && i < entry->n; i++)
		sum += is_lost(&losses, entry->v[i].ns) ? entry->v[i].count : 0;
	return losses.drops || sum <= RD_HISTORY_LOSS_ERRORS ? sum : 0;
}

bool rd_fabric_history_restarted(const struct rd_fabric_history *history, uint64_t guid)
{
	return find_entry(history, guid, 0, RESTARTED) != NULL;
}

/* ---- findings */

static void latch_deinit(struct rd_fabric_latch *latch)
{
	RD_FREE(latch->subject, latch->observed, latch->fix);
}

void rd_fabric_latches_deinit(struct rd_fabric_latches *latches)
{
	for (size_t i = 0; i < latches->n; i++)
		latch_deinit(&latches->v[i]);
	free(latches->v);
	*latches = (struct rd_fabric_latches){ 0 };
}

static int compare_keys(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = a, *y = b;

	return strcmp(x->id, y->id) ?: strcmp(x->subject, y->subject) ?: RD_CMP(x->severity, y->severity);
}

/* Adds a finding to the latch with its key among the first `n`, which are sorted, else as a new one at the end. */
static void add_finding(struct rd_fabric_latches *latches, size_t n, const struct rd_finding *finding, size_t rank,
			uint64_t now_ns)
{
	struct rd_fabric_latch key = { .id = finding->id,
				       .severity = finding->severity,
				       .subject = finding->subject ?: (char[]){ "" } };
	struct rd_fabric_latch *latch = n ? bsearch(&key, latches->v, n, sizeof(key), compare_keys) : NULL;

	if (!latch) {
		latch = RD_ADD(latches->v, latches->n, latches->cap);
		*latch = key;
		latch->subject = rd_dup(key.subject);
	}
	RD_FREE(latch->observed, latch->fix);
	latch->title = finding->title;
	latch->observed = rd_dup_if(finding->observed);
	latch->fix = rd_dup_if(finding->fix);
	if (latch->current)
		return; /* another finding of this sweep has the same key: nodes can have the same name */
	latch->current = true;
	latch->cleared = false;
	latch->rank = rank;
	rd_latched_look(&latch->looks, now_ns);
}

/* Sorts by key, and merges new latches that have the same key. */
static void sort_by_key(struct rd_fabric_latches *latches)
{
	size_t n = 0;

	qsort(latches->v, latches->n, sizeof(*latches->v), compare_keys);
	for (size_t i = 0; i < latches->n; i++) {
		struct rd_fabric_latch *latch = &latches->v[i];

		if (n && compare_keys(&latches->v[n - 1], latch) == 0)
			latch_deinit(latch);
		else
			latches->v[n++] = *latch;
	}
	latches->n = n;
}

/* Those to keep come first. */
static int compare_worth(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = a, *y = b;

	/* Of those found at the same time, the ones that are known longer: the set does not change from sweep to sweep. */
	return RD_FIRST(RD_CMP(y->severity, x->severity), RD_CMP(y->current, x->current),
			RD_CMP(y->looks.last_ns, x->looks.last_ns), RD_CMP(x->looks.first_ns, y->looks.first_ns),
			RD_CMP(x->rank, y->rank));
}

void rd_fabric_latch(struct rd_fabric_latches *latches, const struct rd_findings *findings, uint64_t now_ns)
{
	size_t known = latches->n;

	rd_latched_look(&latches->looks, now_ns);
	for (size_t i = 0; i < known; i++)
		latches->v[i].current = false;
	for (size_t i = 0; i < findings->n; i++)
		if (findings->v[i].severity >= RD_SEV_WARNING && rd_finding_stands(&findings->v[i]))
			add_finding(latches, known, &findings->v[i], i, now_ns);
	if (latches->n > known)
		sort_by_key(latches);
	/* That a node was silent is not over when it is gone. */
	for (size_t i = 0; i < latches->n; i++) {
		struct rd_fabric_latch key = { .id = "fabric-agent-silent", .subject = latches->v[i].subject };

		if (!latches->v[i].current || strcmp(latches->v[i].id, "fabric-node-gone") != 0)
			continue;
		for (key.severity = RD_SEV_WARNING; key.severity <= RD_SEV_CRITICAL; key.severity++) {
			struct rd_fabric_latch *silent =
				bsearch(&key, latches->v, latches->n, sizeof(key), compare_keys);

			if (silent && !silent->current)
				silent->cleared = true;
		}
	}
	if (latches->n <= RD_LATCHES_MAX)
		return;
	qsort(latches->v, latches->n, sizeof(*latches->v), compare_worth);
	while (latches->n > RD_LATCHES_MAX) {
		latch_deinit(&latches->v[--latches->n]);
		latches->dropped++;
	}
	sort_by_key(latches);
}

void rd_fabric_latches_clear(struct rd_fabric_latches *latches)
{
	for (size_t i = 0; i < latches->n; i++)
		latches->v[i].cleared = !latches->v[i].current;
}

static int compare_harm(const void *a, const void *b)
{
	const struct rd_fabric_latch *x = *(const struct rd_fabric_latch *const *)a;
	const struct rd_fabric_latch *y = *(const struct rd_fabric_latch *const *)b;

	return RD_FIRST(RD_CMP(y->severity, x->severity), RD_CMP(y->current, x->current),
			x->current ? 0 : RD_CMP(y->looks.last_ns, x->looks.last_ns), RD_CMP(x->rank, y->rank),
			compare_keys(x, y));
}

const struct rd_fabric_latch **rd_fabric_latches_ranked(const struct rd_fabric_latches *latches)
{
	const struct rd_fabric_latch **ranked = rd_alloc(latches->n + 1, sizeof(*ranked));

	for (size_t i = 0; i < latches->n; i++)
		ranked[i] = &latches->v[i];
	qsort(ranked, latches->n, sizeof(*ranked), compare_harm);
	return ranked;
}

size_t rd_fabric_latches_count(const struct rd_fabric_latches *latches, enum rd_severity severity, bool current)
{
	size_t n = 0;

	for (size_t i = 0; i < latches->n; i++)
		n += latches->v[i].severity == severity && latches->v[i].current == current && !latches->v[i].cleared;
	return n;
}
