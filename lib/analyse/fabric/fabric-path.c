/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-path.h"

#include <string.h>

#include "analyse/fabric/fabric-names.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"

#define LOOP_SHOWN 12 /* hops of a loop */

/* Packets other than SMPs pass in ARMED and ACTIVE. */
static bool carries_data(const struct rd_fabric_port *port)
{
	return port->state == RD_LINK_ARMED || port->state == RD_LINK_ACTIVE;
}

static struct rd_route_step leave_through(const struct rd_fabric *fabric, size_t out, int entry)
{
	const struct rd_fabric_port *port = &fabric->ports[out];
	struct rd_route_step step = { .entry = entry, .out = out, .next = RD_NONE };

	if (port->unread || port->state == 0 || (carries_data(port) && port->peer == RD_NONE)) {
		step.end = RD_ROUTE_UNKNOWN;
	} else if (!carries_data(port)) {
		step.end = RD_ROUTE_DEAD_END;
	} else {
		step.end = RD_ROUTE_CONTINUES;
		step.next = port->peer;
	}
	return step;
}

struct rd_route_step rd_route_step(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t at, size_t in,
				   size_t to, uint16_t lid)
{
	struct rd_route_step step = { .entry = RD_ROUTE_UNREAD, .out = RD_NONE, .next = RD_NONE };
	const struct rd_fabric_node *node = &fabric->nodes[at];

	if (node->kind != RD_NODE_SWITCH) {
		step.end = in == to ? RD_ROUTE_ARRIVES : RD_ROUTE_ASTRAY;
		return step;
	}
	if (fabric->ports[to].node == at) {
		step.end = RD_ROUTE_ARRIVES;
		return step;
	}
	step.entry = rd_routes_egress(routes, at, lid);
	if (step.entry == RD_ROUTE_UNREAD) {
		step.end = RD_ROUTE_UNKNOWN;
		return step;
	}
	/* Port 0 is the switch itself, and the LID is not its own. */
	if (step.entry == 0 || (unsigned)step.entry > node->n_ports) {
		step.end = RD_ROUTE_MISSING;
		return step;
	}
	step.out = rd_routes_port(fabric, routes, at, (unsigned)step.entry);
	if (step.out == RD_NONE) {
		step.end = RD_ROUTE_UNKNOWN;
		return step;
	}
	return leave_through(fabric, step.out, step.entry);
}

static struct rd_path_hop *add_hop(struct rd_path *path, size_t node, size_t in)
{
	rd_reserve(&path->hops, &path->cap, path->n + 1, sizeof(*path->hops));
	path->hops[path->n] = (struct rd_path_hop){ node, in, RD_NONE };
	return &path->hops[path->n++];
}

void rd_path_find(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t from, size_t to, uint16_t lid,
		  struct rd_path *path)
{
	_cleanup_free_ bool *passed = rd_alloc(fabric->n_nodes + 1, sizeof(*passed));
	size_t at = fabric->ports[from].node;
	struct rd_route_step step;
	struct rd_path_hop *hop;

	*path = (struct rd_path){ .to = to, .lid = lid };
	hop = add_hop(path, at, RD_NONE);
	if (fabric->nodes[at].kind == RD_NODE_SWITCH)
		step = rd_route_step(fabric, routes, at, RD_NONE, to, lid);
	else
		step = leave_through(fabric, from, RD_ROUTE_UNREAD);
	for (;;) {
		hop->out = step.out;
		path->end = step.end;
		path->entry = step.entry;
		if (step.end != RD_ROUTE_CONTINUES)
			return;
		passed[at] = true;
		at = fabric->ports[step.next].node;
		hop = add_hop(path, at, step.next);
		if (passed[at] && fabric->nodes[at].kind == RD_NODE_SWITCH) {
			path->end = RD_ROUTE_LOOPS;
			return;
		}
		step = rd_route_step(fabric, routes, at, step.next, to, lid);
	}
}

void rd_path_deinit(struct rd_path *path)
{
	free(path->hops);
	*path = (struct rd_path){ 0 };
}

bool rd_path_is_reverse(const struct rd_path *path, const struct rd_path *back)
{
	if (path->n != back->n)
		return false;
	for (size_t i = 0; i < path->n; i++) {
		const struct rd_path_hop *a = &path->hops[i], *b = &back->hops[path->n - 1 - i];

		if (a->node != b->node || a->in != b->out || a->out != b->in)
			return false;
	}
	return true;
}

static const char *last_name(const struct rd_fabric *fabric, const struct rd_path *path)
{
	return rd_fabric_name(&fabric->nodes[path->hops[path->n - 1].node]);
}

char *rd_path_fault(const struct rd_fabric *fabric, const struct rd_path *path)
{
	const struct rd_path_hop *last = &path->hops[path->n - 1];
	const char *name = last_name(fabric, path), *state;

	switch (path->end) {
	case RD_ROUTE_MISSING:
		return rd_text("no route at %s for LID %u", name, path->lid);
	case RD_ROUTE_DEAD_END:
		state = rd_link_state_name(fabric->ports[last->out].state);
		return rd_text("route for LID %u leaves %s through port %u, which is %s", path->lid, name,
			       fabric->ports[last->out].number, state ? state : "not ACTIVE");
	case RD_ROUTE_ASTRAY:
		return rd_text("route for LID %u ends at %s port %u, which does not have it", path->lid, name,
			       fabric->ports[last->in].number);
	case RD_ROUTE_LOOPS:
		return rd_text("route for LID %u loops at %s", path->lid, name);
	case RD_ROUTE_UNKNOWN:
		if (last->out != RD_NONE)
			return rd_text(
				"route for LID %u is unknown from %s port %u on: the port or its neighbour was not read",
				path->lid, name, fabric->ports[last->out].number);
		return rd_text("route for LID %u is unknown from %s on: its forwarding table was not read", path->lid,
			       name);
	case RD_ROUTE_ARRIVES:
	case RD_ROUTE_CONTINUES:
		break;
	}
	return NULL;
}

struct rd_finding rd_route_finding(enum rd_route_end end)
{
	static const char tables[] =
		"sminfo\n# read the log of the subnet manager, which computes the tables\n# opensm computes them again on SIGHUP";
	static const struct rd_finding kinds[RD_ROUTE_ENDS] = {
		[RD_ROUTE_UNKNOWN] = { .id = "fabric-route-unread",
				       .severity = RD_SEV_UNKNOWN,
				       .title = "route is unknown: a forwarding table was not read",
				       .why = "the switch did not respond to SwitchInfo or LinearForwardingTable queries, or "
					      "an M_Key protects them",
				       .undecided = true },
		[RD_ROUTE_MISSING] = { .id = "fabric-route-missing",
				       .severity = RD_SEV_CRITICAL,
				       .title = "switch has no route for a LID",
				       .why = "it discards packets to that LID: transport retry count exceeded at the senders" },
		[RD_ROUTE_DEAD_END] = { .id = "fabric-route-dead-end",
					.severity = RD_SEV_CRITICAL,
					.title = "route leads to a port whose link is not ACTIVE",
					.why = "the switch discards packets to that LID: the subnet manager has not reacted to "
					       "the loss of the link, or has not set it to ACTIVE" },
		[RD_ROUTE_ASTRAY] = { .id = "fabric-route-astray",
				      .severity = RD_SEV_CRITICAL,
				      .title = "route ends at the wrong port",
				      .why = "that adapter drops packets that are not for its LID" },
		[RD_ROUTE_LOOPS] = { .id = "fabric-route-loop",
				     .severity = RD_SEV_CRITICAL,
				     .title = "route loops between switches",
				     .why = "packets circulate until a lifetime limit discards them, and take the "
					    "credits of other traffic" },
	};
	struct rd_finding finding = kinds[end];

	if (finding.id)
		finding.fix = rd_dup(tables);
	return finding;
}

/* "leaf 1 port 5 -> spine 0 port 2 -> leaf 1" */
static char *loop_text(const struct rd_fabric *fabric, const struct rd_path *path)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	size_t first = 0, end = path->n - 1;

	while (path->hops[first].node != path->hops[end].node)
		first++;
	for (size_t i = first; i < end && i - first < LOOP_SHOWN; i++)
		rd_buf_printf(&out, "%s port %u -> ", rd_fabric_name(&fabric->nodes[path->hops[i].node]),
			      fabric->ports[path->hops[i].out].number);
	rd_buf_printf(&out, "%s%s", end - first > LOOP_SHOWN ? "... -> " : "", last_name(fabric, path));
	return rd_dup(out.data);
}

static char *observed_text(const struct rd_fabric *fabric, const struct rd_path *path)
{
	_cleanup_free_ char *target = rd_fabric_port_text(fabric, &fabric->ports[path->to]);
	_cleanup_free_ char *fault = NULL;

	if (path->end == RD_ROUTE_LOOPS)
		fault = loop_text(fabric, path);
	else if (path->end == RD_ROUTE_MISSING)
		fault = rd_text("table entry %d", path->entry);
	else
		fault = rd_path_fault(fabric, path);
	return rd_text("LID %u (%s): %s", path->lid, target, fault);
}

void rd_path_judge(const struct rd_fabric *fabric, const struct rd_path *path, struct rd_findings *findings)
{
	struct rd_finding finding = rd_route_finding(path->end);
	const struct rd_path_hop *last = &path->hops[path->n - 1];

	if (!finding.id)
		return;
	if (path->end == RD_ROUTE_DEAD_END)
		finding.subject = rd_fabric_port_text(fabric, &fabric->ports[last->out]);
	else
		finding.subject = rd_dup(last_name(fabric, path));
	finding.observed = observed_text(fabric, path);
	finding.expected = rd_text("a route that ends at the port with LID %u", path->lid);
	rd_finding_add(findings, &finding);
}

/* ---- the ports of paths, as a fabric of their own */

static void mark(const struct rd_fabric *fabric, size_t port, bool *ports, bool *nodes)
{
	if (port == RD_NONE)
		return;
	ports[port] = true;
	nodes[fabric->ports[port].node] = true;
	port = fabric->ports[port].peer;
	if (port != RD_NONE) {
		ports[port] = true;
		nodes[fabric->ports[port].node] = true;
	}
}

void rd_path_part(const struct rd_fabric *fabric, const struct rd_path *const *paths, size_t n, struct rd_fabric *ret)
{
	_cleanup_free_ bool *ports = rd_alloc(fabric->n_ports + 1, 1), *nodes = rd_alloc(fabric->n_nodes + 1, 1);
	_cleanup_free_ size_t *new_port = rd_alloc(fabric->n_ports + 1, sizeof(size_t)),
			      *new_node = rd_alloc(fabric->n_nodes + 1, sizeof(size_t));
	size_t n_ports = 0, n_nodes = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < paths[i]->n; j++) {
			mark(fabric, paths[i]->hops[j].in, ports, nodes);
			mark(fabric, paths[i]->hops[j].out, ports, nodes);
		}
	*ret = *fabric;
	ret->self = RD_NONE;
	ret->nodes = rd_alloc(fabric->n_nodes + 1, sizeof(*ret->nodes));
	ret->ports = rd_alloc(fabric->n_ports + 1, sizeof(*ret->ports));
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (nodes[i]) {
			new_node[i] = n_nodes;
			ret->nodes[n_nodes++] = fabric->nodes[i];
		}
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (ports[i]) {
			new_port[i] = n_ports;
			ret->ports[n_ports] = fabric->ports[i];
			ret->ports[n_ports++].node = new_node[fabric->ports[i].node];
		}
	for (size_t i = 0; i < n_ports; i++)
		if (ret->ports[i].peer != RD_NONE)
			ret->ports[i].peer = ports[ret->ports[i].peer] ? new_port[ret->ports[i].peer] : RD_NONE;
	ret->n_nodes = n_nodes;
	ret->n_ports = n_ports;
}

void rd_path_free_part(struct rd_fabric *part)
{
	RD_FREE(part->nodes, part->ports);
	*part = (struct rd_fabric){ 0 };
}
