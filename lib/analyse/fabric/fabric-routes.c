/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routes by the forwarding tables of switches: of one pair of ports, of all, and how evenly they lie over links. */

#include "analyse/fabric/fabric.h"

/* ---- the route from a port to a LID */

#define LOOP_SHOWN 12 /* hops of a loop */

/* Packets other than SMPs pass in ARMED and ACTIVE. */
static bool carries_data(const struct rd_fabric_port *port)
{
	return port->state == RD_LINK_ARMED || port->state == RD_LINK_ACTIVE;
}

/* What happens to a packet at a node. */
struct route_step {
	enum rd_route_end end; /* CONTINUES: `next` is the port at the other end of the cable */
	int entry;	       /* of the table; RD_ROUTE_UNREAD: unknown, or not a switch */
	size_t out, next;      /* indices of ports; RD_NONE */
};

static struct route_step leave_through(const struct rd_fabric *fabric, size_t out, int entry)
{
	const struct rd_fabric_port *port = &fabric->ports[out];

	if (port->unread || port->state == 0 || (carries_data(port) && port->peer == RD_NONE))
		return (struct route_step){ RD_ROUTE_UNKNOWN, entry, out, RD_NONE };
	if (!carries_data(port))
		return (struct route_step){ RD_ROUTE_DEAD_END, entry, out, RD_NONE };
	return (struct route_step){ RD_ROUTE_CONTINUES, entry, out, port->peer };
}

/* Index of a port by its number; RD_NONE. In constant time if the ports of the node are known without gaps. */
static size_t port_of(const struct rd_fabric *fabric, size_t node, unsigned number)
{
	size_t first = fabric->nodes[node].first, end = fabric->nodes[node].end, at;

	if (first == end || number < fabric->ports[first].number)
		return RD_NONE;
	at = first + number - fabric->ports[first].number;
	if (at < end && fabric->ports[at].number == number)
		return at;
	return rd_fabric_find_port(fabric, fabric->nodes[node].guid, number);
}

/* `at`: index of a node, `in`: the port that the packet came in, RD_NONE: it starts there. `to`: a port that has the LID. */
static struct route_step route_step(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t at,
				    size_t in, size_t to, uint16_t lid)
{
	const struct rd_fabric_node *node = &fabric->nodes[at];
	bool is_switch = node->kind == RD_NODE_SWITCH, there = is_switch ? fabric->ports[to].node == at : in == to;
	int entry = !is_switch || there ? RD_ROUTE_UNREAD : rd_routes_egress(routes, at, lid);
	size_t out;

	if (!is_switch || there)
		return (struct route_step){ there ? RD_ROUTE_ARRIVES : RD_ROUTE_ASTRAY, entry, RD_NONE, RD_NONE };
	if (entry == RD_ROUTE_UNREAD)
		return (struct route_step){ RD_ROUTE_UNKNOWN, entry, RD_NONE, RD_NONE };
	/* Port 0 is the switch itself, and the LID is not its own. */
	if (entry == 0 || (unsigned)entry > node->n_ports)
		return (struct route_step){ RD_ROUTE_MISSING, entry, RD_NONE, RD_NONE };
	out = port_of(fabric, at, (unsigned)entry);
	if (out == RD_NONE)
		return (struct route_step){ RD_ROUTE_UNKNOWN, entry, RD_NONE, RD_NONE };
	return leave_through(fabric, out, entry);
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
	struct route_step step;
	struct rd_path_hop *hop;

	*path = (struct rd_path){ .to = to, .lid = lid };
	hop = add_hop(path, at, RD_NONE);
	if (fabric->nodes[at].kind == RD_NODE_SWITCH)
		step = route_step(fabric, routes, at, RD_NONE, to, lid);
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
		step = route_step(fabric, routes, at, step.next, to, lid);
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
			       fabric->ports[last->out].number, state ?: "not ACTIVE");
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

/* A finding without texts for a kind of end; `id` NULL: ARRIVES. */
static struct rd_finding route_finding(enum rd_route_end end)
{
	static const char tables[] =
		"sminfo\n# read the log of the subnet manager, which computes the tables\n# opensm computes them again on SIGHUP";
	static const struct rd_finding kinds[RD_ROUTE_ENDS] = {
		[RD_ROUTE_UNKNOWN] = { "fabric-route-unread", "route is unknown: a forwarding table was not read",
				       "the switch did not respond to SwitchInfo or LinearForwardingTable queries, or "
				       "an M_Key protects them",
				       RD_SEV_UNKNOWN, .undecided = true },
		[RD_ROUTE_MISSING] = { "fabric-route-missing", "switch has no route for a LID",
				       "it discards packets to that LID: transport retry count exceeded at the senders",
				       RD_SEV_CRITICAL },
		[RD_ROUTE_DEAD_END] = { "fabric-route-dead-end", "route leads to a port whose link is not ACTIVE",
					"the switch discards packets to that LID: the subnet manager has not reacted to "
					"the loss of the link, or has not set it to ACTIVE",
					RD_SEV_CRITICAL },
		[RD_ROUTE_ASTRAY] = { "fabric-route-astray", "route ends at the wrong port",
				      "that adapter drops packets that are not for its LID", RD_SEV_CRITICAL },
		[RD_ROUTE_LOOPS] = { "fabric-route-loop", "route loops between switches",
				     "packets circulate until a lifetime limit discards them, and take the "
				     "credits of other traffic",
				     RD_SEV_CRITICAL },
	};
	struct rd_finding finding = kinds[end];

	if (finding.id)
		finding.fix = rd_dup(tables);
	return finding;
}

static char *observed_text(const struct rd_fabric *fabric, const struct rd_path *path)
{
	_cleanup_free_ char *target = rd_fabric_port_text(fabric, &fabric->ports[path->to]);
	_cleanup_free_ char *fault = NULL;

	if (path->end == RD_ROUTE_LOOPS) {
		_cleanup_buf_ struct rd_buf out = { 0 };
		size_t first = 0, end = path->n - 1;

		/* "leaf 1 port 5 -> spine 0 port 2 -> leaf 1" */
		while (path->hops[first].node != path->hops[end].node)
			first++;
		for (size_t i = first; i < end && i - first < LOOP_SHOWN; i++)
			rd_buf_printf(&out, "%s port %u -> ", rd_fabric_name(&fabric->nodes[path->hops[i].node]),
				      fabric->ports[path->hops[i].out].number);
		rd_buf_printf(&out, "%s%s", end - first > LOOP_SHOWN ? "... -> " : "", last_name(fabric, path));
		fault = rd_dup(out.data);
	} else if (path->end == RD_ROUTE_MISSING)
		fault = rd_text("table entry %d", path->entry);
	else
		fault = rd_path_fault(fabric, path);
	return rd_text("LID %u (%s): %s", path->lid, target, fault);
}

void rd_path_judge(const struct rd_fabric *fabric, const struct rd_path *path, struct rd_findings *findings)
{
	struct rd_finding finding = route_finding(path->end);

	if (!finding.id)
		return;
	if (path->end == RD_ROUTE_DEAD_END)
		finding.subject = rd_fabric_port_text(fabric, &fabric->ports[path->hops[path->n - 1].out]);
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
	rd_fabric_index_ports(ret);
}

void rd_path_free_part(struct rd_fabric *part)
{
	RD_FREE(part->nodes, part->ports);
	*part = (struct rd_fabric){ 0 };
}

/* ---- how evenly LIDs lie over links */

#define UNEVEN 2.0 /* times the mean */
#define SPARE 4	   /* LIDs more than links: fewer cannot be spread evenly */
#define EXAMPLES 3

struct links {
	const struct rd_fabric *fabric;
	const struct rd_routes *routes;
	uint64_t *lids; /* per port: LIDs of adapters and routers that leave through it */
	uint32_t *hosts; /* per node: adapters and routers attached; aggregation nodes, which switches contain, are not counted */
};

static void count_lids(const struct links *links)
{
	const struct rd_fabric *fabric = links->fabric;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		const struct rd_fabric_node *node = &fabric->nodes[port->node];

		if (node->kind != RD_NODE_SWITCH && port->peer != RD_NONE && !rd_fabric_is_aggregation(node))
			links->hosts[fabric->ports[port->peer].node]++;
	}
	for (size_t node = 0; node < fabric->n_nodes; node++) {
		if (!links->routes->tables[node].blocks)
			continue;
		for (size_t lid = 1; lid <= RD_LID_MAX; lid++) {
			size_t owner = links->routes->owners[lid], port;
			int egress;

			if (owner == RD_NONE || fabric->nodes[fabric->ports[owner].node].kind == RD_NODE_SWITCH)
				continue;
			egress = rd_routes_egress(links->routes, node, (uint16_t)lid);
			if (egress <= 0 || egress == RD_ROUTE_NONE)
				continue;
			port = port_of(fabric, node, (unsigned)egress);
			if (port != RD_NONE)
				links->lids[port]++;
		}
	}
}

/* The switch at the other end of a link that carries data; RD_NONE. */
static size_t switch_behind(const struct rd_fabric *fabric, size_t port)
{
	const struct rd_fabric_port *from = &fabric->ports[port];
	size_t node;

	if (from->state != RD_LINK_ACTIVE || from->peer == RD_NONE || from->presence == RD_PORT_GONE)
		return RD_NONE;
	node = fabric->ports[from->peer].node;
	return fabric->nodes[node].kind == RD_NODE_SWITCH && node != from->node ? node : RD_NONE;
}

static void add_to_group(const struct links *links, struct rd_route_group *group, size_t port)
{
	uint64_t lids = links->lids[port];

	if (group->links == 0 || lids < group->least)
		group->least = lids;
	if (group->links == 0 || lids > group->most) {
		group->most = lids;
		group->busiest = port;
	}
	group->links++;
	group->lids += lids;
}

static void keep_group(struct rd_routes_verdict *verdict, struct rd_route_group *group)
{
	if (group->links < 2)
		return;
	group->uneven = group->lids >= group->links + SPARE &&
			(double)group->most >= UNEVEN * (double)group->lids / group->links;
	*RD_ADD(verdict->groups, verdict->n, verdict->cap) = *group;
}

/* Whether all links between switches are uplinks: the switch is a leaf of a tree, so any of them leads to any other leaf. In a torus
 * or a dragonfly the neighbours have hosts, too, and the direction is given by the destination. */
static bool is_leaf(const struct links *links, size_t from, size_t to)
{
	uint32_t hosts = from < to ? links->hosts[links->fabric->ports[from].node] : 0;

	for (size_t i = from; i < to; i++) {
		size_t behind = switch_behind(links->fabric, i);

		if (behind != RD_NONE && links->hosts[behind] * 4 > hosts)
			return false;
	}
	return hosts > 0;
}

struct link_to {
	size_t neighbour, port;
};

static int compare_links(const void *a, const void *b)
{
	const struct link_to *x = a, *y = b;

	return RD_CMP(x->neighbour, y->neighbour) ?: RD_CMP(x->port, y->port);
}

static void report_uneven(const struct links *links, const struct rd_routes_verdict *verdict,
			  struct rd_findings *findings)
{
	struct rd_finding finding = { "fabric-route-uneven",
				      "routes lie unevenly over links that lead to the same switches",
				      "the busiest link saturates while the others are idle, if all adapters send",
				      RD_SEV_NOTE };
	const struct rd_route_group *worst = NULL;
	_cleanup_buf_ struct rd_buf out = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < verdict->n; i++) {
		const struct rd_route_group *group = &verdict->groups[i];
		_cleanup_free_ char *port = NULL;

		if (!group->uneven)
			continue;
		if (!worst || group->most * worst->lids * group->links > worst->most * group->lids * worst->links)
			worst = group;
		if (n++ >= EXAMPLES)
			continue;
		port = rd_fabric_port_text(links->fabric, &links->fabric->ports[group->busiest]);
		rd_buf_printf(&out, "%s%s carries %" PRIu64 " LIDs, the mean of %u links is %.1f", n > 1 ? "; " : "",
			      port, group->most, group->links, (double)group->lids / group->links);
	}
	if (!worst)
		return;
	if (n > EXAMPLES)
		rd_buf_printf(&out, "; %zu more", n - EXAMPLES);
	rd_finding_at_port(&finding, links->fabric, &links->fabric->ports[worst->busiest]);
	finding.observed = rd_dup(out.data);
	finding.expected = rd_text("less than %.0f times the mean", UNEVEN);
	finding.fix = rd_dup(
		"# check routing_engine in opensm.conf: ftree for fat trees\n# opensm computes the tables again on SIGHUP");
	rd_finding_add(findings, &finding);
}

/* Groups links, and adds the finding on uneven ones. */
static void balance_routes(const struct rd_fabric *fabric, const struct rd_routes *routes,
			   struct rd_routes_verdict *verdict, struct rd_findings *findings)
{
	struct links links = { .fabric = fabric, .routes = routes };

	links.lids = rd_alloc(fabric->n_ports + 1, sizeof(*links.lids));
	links.hosts = rd_alloc(fabric->n_nodes + 1, sizeof(*links.hosts));
	count_lids(&links);
	/* Of a table that was read in part, some LIDs would be missing. */
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].kind == RD_NODE_SWITCH && !routes->tables[i].partial) {
			size_t from = fabric->nodes[i].first;
			size_t to = fabric->nodes[i].end;
			size_t k = 0;
			struct rd_route_group uplinks = { .node = i, .neighbour = RD_NONE }, group = uplinks;
			struct link_to sorted[256] = { 0 };

			/* The groups of one switch, which has the ports [from, to). */
			for (size_t g = from; g < to && k < RD_ARRAY_SIZE(sorted); g++) {
				size_t behind = switch_behind(links.fabric, g);

				if (behind != RD_NONE)
					sorted[k++] = (struct link_to){ behind, g };
			}
			qsort(sorted, k, sizeof(*sorted), compare_links);
			for (size_t g = 0; g < k; g++) {
				if (sorted[g].neighbour != group.neighbour) {
					keep_group(verdict, &group);
					group = (struct rd_route_group){ .node = i, .neighbour = sorted[g].neighbour };
				}
				add_to_group(&links, &group, sorted[g].port);
				add_to_group(&links, &uplinks, sorted[g].port);
			}
			keep_group(verdict, &group);
			/* The same links as the last group otherwise. */
			if (group.links != uplinks.links && is_leaf(&links, from, to))
				keep_group(verdict, &uplinks);
		}
	report_uneven(&links, verdict, findings);
	RD_FREE(links.lids, links.hosts);
}

/* ---- all routes */

#define NAMED_MAX 5 /* switches with the same kind of fault */

/* What fails first at a switch. */
struct fault {
	uint64_t pairs, lids;
	size_t source, to; /* an example: indices of ports */
	uint16_t lid;
};

struct job {
	const struct rd_fabric *fabric;
	const struct rd_routes *routes;
	struct rd_routes_verdict *verdict;
	/* Per node. */
	struct {
		size_t sources; /* index of a port that sends from this switch; RD_NONE */
		uint32_t n_sources;
		/* For the current LID: whether it was followed, what comes of it, and where. */
		uint16_t followed;
		uint8_t end;
		uint32_t culprit;
	} * of;
	size_t *leaves; /* nodes that have sources */
	size_t n_leaves;
	uint16_t *counted[RD_ROUTE_ENDS]; /* per culprit: the LID that was counted last */
	struct fault *faults[RD_ROUTE_ENDS];
	uint32_t *chain; /* nodes of the walk that is in progress */
};

/* A port of an adapter or router that takes part: its link is ready for data, at a switch. */
static bool takes_part(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return fabric->nodes[port->node].kind != RD_NODE_SWITCH && port->presence != RD_PORT_GONE && port->lid &&
	       port->state == RD_LINK_ACTIVE && port->peer != RD_NONE &&
	       fabric->nodes[fabric->ports[port->peer].node].kind == RD_NODE_SWITCH;
}

/* Follows the route from a switch until its end is known; every switch on the way then has the same end. A loop is attributed to
 * its switch with the lowest index, so that every source counts it there. */
static void follow(struct job *job, size_t leaf, size_t to, uint16_t lid)
{
	size_t n = 0, at = leaf, in = RD_NONE, culprit;
	enum rd_route_end end;

	for (;;) {
		struct route_step step;

		if (job->of[at].followed == lid) {
			end = job->of[at].end;
			culprit = job->of[at].culprit;
			break;
		}
		step = route_step(job->fabric, job->routes, at, in, to, lid);
		if (job->fabric->nodes[at].kind == RD_NODE_SWITCH) {
			job->of[at].followed = lid;
			job->of[at].end = RD_ROUTE_CONTINUES;
			job->chain[n++] = (uint32_t)at;
		}
		culprit = at;
		end = step.end;
		if (step.end != RD_ROUTE_CONTINUES) {
			/* It strayed at the last switch. */
			if (end == RD_ROUTE_ASTRAY && n)
				culprit = job->chain[n - 1];
			break;
		}
		in = step.next;
		at = job->fabric->ports[in].node;
	}
	if (end == RD_ROUTE_CONTINUES) {
		end = RD_ROUTE_LOOPS;
		culprit = at;
		for (size_t i = n; i-- > 0 && job->chain[i] != at;)
			culprit = job->chain[i] < culprit ? job->chain[i] : culprit;
	}
	for (size_t i = 0; i < n; i++) {
		job->of[job->chain[i]].end = (uint8_t)end;
		job->of[job->chain[i]].culprit = (uint32_t)culprit;
	}
}

static void follow_to(struct job *job, size_t to, uint16_t lid)
{
	size_t own_leaf = job->fabric->ports[job->fabric->ports[to].peer].node;

	job->verdict->destinations++;
	for (size_t i = 0; i < job->n_leaves; i++) {
		size_t leaf = job->leaves[i];
		uint64_t pairs = job->of[leaf].n_sources - (leaf == own_leaf);

		if (!pairs)
			continue;
		follow(job, leaf, to, lid);
		job->verdict->pairs += pairs;
		job->verdict->by_end[job->of[leaf].end] += pairs;
		if (job->of[leaf].end != RD_ROUTE_ARRIVES) {
			enum rd_route_end end = job->of[leaf].end;
			size_t culprit = job->of[leaf].culprit;
			struct fault *fault;

			if (!job->faults[end]) {
				job->faults[end] = rd_alloc(job->fabric->n_nodes + 1, sizeof(struct fault));
				job->counted[end] = rd_alloc(job->fabric->n_nodes + 1, sizeof(uint16_t));
			}
			fault = &job->faults[end][culprit];
			if (job->counted[end][culprit] != lid) {
				job->counted[end][culprit] = lid;
				fault->lids++;
			}
			if (!fault->pairs) {
				fault->source = job->of[leaf].sources;
				fault->to = to;
				fault->lid = lid;
			}
			fault->pairs += pairs;
		}
	}
}

/* Those with the most pairs of a kind, one if the kind is unknown; the last has the number of the others. */
static void report_kind(const struct job *job, enum rd_route_end end, struct rd_findings *findings)
{
	const struct fault *faults = job->faults[end];
	size_t worst[NAMED_MAX] = { 0 }, n = 0, most = end == RD_ROUTE_UNKNOWN ? 1 : NAMED_MAX, shown;

	for (size_t i = 0; i < job->fabric->n_nodes; i++) {
		size_t at = n < most ? n : most;

		if (!faults[i].pairs)
			continue;
		n++;
		for (; at > 0 && faults[worst[at - 1]].pairs < faults[i].pairs; at--)
			if (at < most)
				worst[at] = worst[at - 1];
		if (at < most)
			worst[at] = i;
	}
	shown = n < most ? n : most;
	for (size_t i = 0; i < shown; i++) {
		size_t culprit = worst[i];
		size_t others = i + 1 == shown ? n - shown : 0;
		const struct fault *fault = &job->faults[end][culprit];
		const struct rd_fabric *fabric = job->fabric;
		struct rd_findings one = { 0 };
		struct rd_path path;
		_cleanup_free_ char *count = NULL, *more = NULL;
		char *observed;

		/* `others`: number of switches with the same kind of fault that are not reported. */
		rd_path_find(fabric, job->routes, fault->source, fault->to, fault->lid, &path);
		rd_path_judge(fabric, &path, &one);
		rd_path_deinit(&path);
		if (one.n == 0)
			continue;
		count = rd_text("%" PRIu64 " LID%s, %" PRIu64 " of %" PRIu64 " pairs of adapters", fault->lids,
				fault->lids == 1 ? "" : "s", fault->pairs, job->verdict->pairs);
		more = others ? rd_text("; %zu more switch%s", others, others == 1 ? "" : "es") : rd_dup("");
		if (fault->lids == 1)
			observed = rd_text("%s; %s%s", one.v[0].observed, count, more);
		else
			observed = rd_text("%s; for example %s%s", count, one.v[0].observed, more);
		free(one.v[0].subject);
		one.v[0].subject = rd_dup(rd_fabric_name(&fabric->nodes[culprit]));
		one.v[0].node_guid = fabric->nodes[culprit].guid;
		free(one.v[0].observed);
		one.v[0].observed = observed;
		rd_finding_copy(findings, &one.v[0]);
		rd_findings_deinit(&one);
	}
}

void rd_routes_judge(const struct rd_fabric *fabric, const struct rd_routes *routes, struct rd_routes_verdict *verdict,
		     struct rd_findings *findings)
{
	struct job job = { .fabric = fabric, .routes = routes, .verdict = verdict };
	size_t n = fabric->n_nodes + 1;

	*verdict = (struct rd_routes_verdict){ 0 };
	job.of = rd_alloc(n, sizeof(*job.of));
	job.leaves = rd_alloc(n, sizeof(*job.leaves));
	job.chain = rd_alloc(n, sizeof(*job.chain));
	for (size_t i = 0; i < fabric->n_nodes; i++)
		job.of[i].sources = RD_NONE;
	for (size_t i = 0; i < fabric->n_ports; i++) {
		size_t leaf;

		if (!takes_part(fabric, &fabric->ports[i]))
			continue;
		leaf = fabric->ports[fabric->ports[i].peer].node;
		if (job.of[leaf].sources == RD_NONE) {
			job.of[leaf].sources = i;
			job.leaves[job.n_leaves++] = leaf;
		}
		job.of[leaf].n_sources++;
		job.verdict->sources++;
	}
	for (size_t lid = 1; lid <= RD_LID_MAX; lid++)
		if (routes->owners[lid] != RD_NONE && takes_part(fabric, &fabric->ports[routes->owners[lid]]))
			follow_to(&job, routes->owners[lid], (uint16_t)lid);
	for (int end = 0; end < RD_ROUTE_ENDS; end++)
		if (job.faults[end])
			report_kind(&job, (enum rd_route_end)end, findings);
	balance_routes(fabric, routes, verdict, findings);
	RD_FREE(job.of, job.leaves, job.chain);
	for (int end = 0; end < RD_ROUTE_ENDS; end++)
		RD_FREE(job.counted[end], job.faults[end]);
}

void rd_routes_verdict_deinit(struct rd_routes_verdict *verdict)
{
	free(verdict->groups);
	*verdict = (struct rd_routes_verdict){ 0 };
}

/* ---- ports that an operator may mean */

enum fit { FITS_NOT, FITS_PREFIX, FITS_WORDS, FITS_WHOLE };

struct wanted {
	const char *text;
	size_t size;	 /* of the name in `text` */
	unsigned number; /* of the port; 0: any */
	uint64_t guid;	 /* 0: none */
	uint32_t lid;	 /* 0: none */
};

static enum fit name_fit(const char *name, const struct wanted *wanted)
{
	if (!name || strncmp(name, wanted->text, wanted->size) != 0)
		return FITS_NOT;
	if (name[wanted->size] == '\0')
		return FITS_WHOLE;
	return name[wanted->size] == ' ' ? FITS_WORDS : FITS_PREFIX;
}

static enum fit port_fit(const struct rd_fabric *fabric, const struct rd_fabric_port *port, const struct wanted *wanted)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	enum fit named, described;

	if (port->presence == RD_PORT_GONE || (wanted->number && port->number != wanted->number))
		return FITS_NOT;
	if (wanted->lid && wanted->lid <= RD_LID_MAX && rd_port_has_lid(port, (uint16_t)wanted->lid))
		return FITS_WHOLE;
	if (wanted->guid && (node->guid == wanted->guid || port->guid == wanted->guid))
		return FITS_WHOLE;
	named = name_fit(node->name, wanted);
	described = name_fit(node->description, wanted);
	named = named > described ? named : described;
	/* A number may be a whole name, too, but not the beginning of one. */
	return (wanted->lid || wanted->guid) && named != FITS_WHOLE ? FITS_NOT : named;
}

static bool is_cabled(const struct rd_fabric_port *port)
{
	return port->peer != RD_NONE && port->lid;
}

/* Of the ports of one node that fit: whether to keep this one. */
static bool keeps(const struct rd_fabric *fabric, const enum fit *fits, size_t at, enum fit best)
{
	const struct rd_fabric_node *node = &fabric->nodes[fabric->ports[at].node];
	bool any = false;

	for (size_t i = node->first; i < node->end; i++) {
		if (fits[i] != best)
			continue;
		if (node->kind == RD_NODE_SWITCH)
			return i == at;
		any |= is_cabled(&fabric->ports[i]);
	}
	return !any || is_cabled(&fabric->ports[at]);
}

static size_t find_wanted(const struct rd_fabric *fabric, const struct wanted *wanted, size_t max, size_t *ret)
{
	_cleanup_free_ enum fit *fits = rd_alloc(fabric->n_ports + 1, sizeof(*fits));
	enum fit best = FITS_PREFIX;
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		fits[i] = port_fit(fabric, &fabric->ports[i], wanted);
		best = fits[i] > best ? fits[i] : best;
	}
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (fits[i] == best && keeps(fabric, fits, i, best) && n++ < max)
			ret[n - 1] = i;
	return n;
}

size_t rd_fabric_find_ports(const struct rd_fabric *fabric, const char *text, size_t max, size_t **ret)
{
	struct wanted wanted = { .text = text, .size = strlen(text) };
	const char *slash = strrchr(text, '/');
	uint32_t number;
	size_t n;

	*ret = rd_alloc(max + 1, sizeof(**ret));
	if (strncmp(text, "0x", 2) == 0)
		rd_parse_uint(text, RD_HEX, UINT64_MAX, &wanted.guid);
	else
		rd_parse_u32(text, RD_DECIMAL, UINT32_MAX, &wanted.lid);
	n = find_wanted(fabric, &wanted, max, *ret);
	if (n > 0 || !slash || slash == text || rd_parse_u32(slash + 1, RD_DECIMAL, 254, &number) < 0 || number == 0)
		return n;
	wanted = (struct wanted){ .text = text, .size = (size_t)(slash - text), .number = number };
	if (strncmp(text, "0x", 2) == 0) {
		_cleanup_free_ char *guid = rd_dup_part(text, wanted.size);

		rd_parse_uint(guid, RD_HEX, UINT64_MAX, &wanted.guid);
	}
	return find_wanted(fabric, &wanted, max, *ret);
}
