/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How evenly destination LIDs lie over the links of switches. */
#include <inttypes.h>

#include "analyse/fabric/fabric-names.h"
#include "analyse/fabric/fabric-routes.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/fabric-census.h"

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
			port = rd_routes_port(fabric, links->routes, node, (unsigned)egress);
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

/* The groups of one switch, which has the ports [from, to). */
static void group_links(const struct links *links, size_t from, size_t to, struct rd_routes_verdict *verdict)
{
	size_t node = links->fabric->ports[from].node, n = 0;
	struct rd_route_group uplinks = { .node = node, .neighbour = RD_NONE }, group = uplinks;
	struct link_to sorted[256] = { 0 };

	for (size_t i = from; i < to && n < RD_ARRAY_SIZE(sorted); i++) {
		size_t behind = switch_behind(links->fabric, i);

		if (behind != RD_NONE)
			sorted[n++] = (struct link_to){ behind, i };
	}
	qsort(sorted, n, sizeof(*sorted), compare_links);
	for (size_t i = 0; i < n; i++) {
		if (sorted[i].neighbour != group.neighbour) {
			keep_group(verdict, &group);
			group = (struct rd_route_group){ .node = node, .neighbour = sorted[i].neighbour };
		}
		add_to_group(links, &group, sorted[i].port);
		add_to_group(links, &uplinks, sorted[i].port);
	}
	keep_group(verdict, &group);
	/* The same links as the last group otherwise. */
	if (group.links != uplinks.links && is_leaf(links, from, to))
		keep_group(verdict, &uplinks);
}

static void report_uneven(const struct links *links, const struct rd_routes_verdict *verdict,
			  struct rd_findings *findings)
{
	struct rd_finding finding = {
		.id = "fabric-route-uneven",
		.severity = RD_SEV_NOTE,
		.title = "routes lie unevenly over links that lead to the same switches",
		.why = "the busiest link saturates while the others are idle, if all adapters send",
	};
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
	finding.subject = rd_fabric_cable_text(links->fabric, &links->fabric->ports[worst->busiest]);
	finding.observed = rd_dup(out.data);
	finding.expected = rd_text("less than %.0f times the mean", UNEVEN);
	finding.fix = rd_dup(
		"# check routing_engine in opensm.conf: ftree for fat trees\n# opensm computes the tables again on SIGHUP");
	rd_finding_add(findings, &finding);
}

void rd_routes_balance(const struct rd_fabric *fabric, const struct rd_routes *routes,
		       struct rd_routes_verdict *verdict, struct rd_findings *findings)
{
	struct links links = { .fabric = fabric, .routes = routes };

	links.lids = rd_alloc(fabric->n_ports + 1, sizeof(*links.lids));
	links.hosts = rd_alloc(fabric->n_nodes + 1, sizeof(*links.hosts));
	count_lids(&links);
	for (size_t from = 0, to; from < fabric->n_ports; from = to) {
		for (to = from; to < fabric->n_ports && fabric->ports[to].node == fabric->ports[from].node; to++)
			;
		/* Of a table that was read in part, some LIDs would be missing. */
		if (fabric->nodes[fabric->ports[from].node].kind == RD_NODE_SWITCH &&
		    !routes->tables[fabric->ports[from].node].partial)
			group_links(&links, from, to, verdict);
	}
	report_uneven(&links, verdict, findings);
	RD_FREE(links.lids, links.hosts);
}
