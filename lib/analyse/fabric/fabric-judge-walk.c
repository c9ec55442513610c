/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts about the discovery itself. */
#include <inttypes.h>
#include <string.h>

#include "analyse/fabric/fabric-judge.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/fabric/routes.h"

#define NAMED 3 /* ports and nodes that a finding names; the rest is counted */

/* Appends a node, or one of its ports, to a list of at most NAMED; counts all. */
static void add_name(struct rd_buf *list, size_t *n, const struct rd_fabric_node *node,
		     const struct rd_fabric_port *port)
{
	const char *name = rd_fabric_name(node);

	if ((*n)++ >= NAMED)
		return;
	rd_buf_str(list, list->len ? ", " : "");
	if (*name)
		rd_buf_str(list, name);
	else
		rd_buf_printf(list, "0x%016" PRIx64, node->guid); /* its NodeDescription was not read */
	if (port)
		rd_buf_printf(list, " port %u", port->number);
}

static void end_list(struct rd_buf *out, const char *what, const char *whats, const struct rd_buf *list, size_t n)
{
	if (n == 0)
		return;
	rd_buf_printf(out, "%s%zu %s: %s", out->len ? "; " : "", n, n == 1 ? what : whats, list->data);
	if (n > NAMED)
		rd_buf_printf(out, " and %zu more", n - NAMED);
}

/* Ports with a link, behind which no node was found. Returns the first. */
static const struct rd_fabric_port *list_unreached_ports(const struct rd_fabric *fabric, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf list = { 0 };
	const struct rd_fabric_port *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!port->peer_unreached || port->presence == RD_PORT_UNREACHED || port->presence == RD_PORT_GONE)
			continue;
		first = first ? first : port;
		add_name(&list, &n, &fabric->nodes[port->node], port);
	}
	end_list(out, "port has a link, but no node responded behind it",
		 "ports have a link, but no node responded behind them", &list, n);
	return first;
}

static void list_unread_nodes(const struct rd_fabric *fabric, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf list = { 0 };
	size_t n = 0, attributes = 0;

	for (size_t i = 0; i < fabric->n_nodes; i++) {
		const struct rd_fabric_node *node = &fabric->nodes[i];

		if (node->unread)
			add_name(&list, &n, node, NULL);
		attributes += node->unread;
	}
	end_list(out, "node was read in part", "nodes were read in part", &list, n);
	if (n)
		rd_buf_printf(out, " (%zu attribute%s without a response)", attributes, attributes == 1 ? "" : "s");
}

/* Nodes that are kept from an earlier walk. */
static void list_unreached_nodes(const struct rd_fabric *fabric, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf list = { 0 };
	size_t n = 0, last = RD_NONE;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence != RD_PORT_UNREACHED || port->node == last)
			continue;
		last = port->node;
		add_name(&list, &n, &fabric->nodes[port->node], NULL);
	}
	end_list(out, "known node was not reached", "known nodes were not reached", &list, n);
}

/* "NAME, connected to NAME port N" */
static char *place_text(const struct rd_fabric *fabric, size_t node)
{
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i], *peer;

		if (port->node != node || port->peer == RD_NONE)
			continue;
		peer = &fabric->ports[port->peer];
		return rd_text("%s port %u, connected to %s port %u", rd_fabric_name(&fabric->nodes[node]),
			       port->number, rd_fabric_name(&fabric->nodes[peer->node]), peer->number);
	}
	return rd_text("%s, without a cable", rd_fabric_name(&fabric->nodes[node]));
}

static void judge_duplicates(const struct rd_fabric *fabric, struct rd_findings *findings)
{
	for (size_t i = 0; i < fabric->n_nodes; i++) {
		const struct rd_fabric_node *node = &fabric->nodes[i];
		size_t other = node->reported_guid ? rd_fabric_find_node(fabric, node->reported_guid) : RD_NONE;
		_cleanup_free_ char *first = NULL, *second = NULL;
		struct rd_finding finding = {
			.id = "fabric-guid-duplicate",
			.severity = RD_SEV_CRITICAL,
			.title = "two devices report the same node GUID",
			.why = "the subnet manager takes them for one node: one of them gets no LID, or the wrong routes",
		};

		if (other == RD_NONE)
			continue;
		first = place_text(fabric, other);
		second = place_text(fabric, i);
		finding.subject = rd_text("0x%016" PRIx64, node->reported_guid);
		finding.observed = rd_text("%s; and %s, listed here as 0x%016" PRIx64, first, second, node->guid);
		finding.expected = rd_dup("a GUID that no other device has");
		finding.fix = rd_dup(
			"# compare the GUIDs with the labels of both devices\n# set that of the wrong one with the tool of its vendor (flint -d DEVICE sg), then restart it");
		rd_finding_add(findings, &finding);
	}
}

#define LIDS ((size_t)UINT16_MAX + 1)
#define LID_DUPLICATES 16 /* findings */

/* Whether the subnet manager has assigned the LID that the latest walk read. One that it did not bring up may have an old LID. */
static bool has_valid_lid(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return port->lid && port->presence != RD_PORT_GONE && port->presence != RD_PORT_UNREACHED && !port->unread &&
	       (port->state == RD_LINK_ACTIVE || fabric->nodes[port->node].kind == RD_NODE_SWITCH);
}

static void report_duplicate_lid(const struct rd_fabric *fabric, uint16_t lid, size_t a, size_t b,
				 struct rd_findings *findings)
{
	_cleanup_free_ char *first = place_text(fabric, a), *second = place_text(fabric, b);
	struct rd_finding finding = {
		.id = "fabric-lid-duplicate",
		.severity = RD_SEV_WARNING,
		.title = "two nodes have the same LID",
		.why = "packets for one of them arrive at the other, and so do queries: the counters of both are those of one",
		.subject = rd_text("LID %u", lid),
		.observed = rd_text("%s; and %s", first, second),
		.expected = rd_dup("a LID that no other node has"),
		.fix = rd_dup(
			"sminfo\n# repeat in a minute, as the subnet manager may be changing LIDs\n# is there a second one?\n# opensm -r assigns all LIDs again, which interrupts jobs"),
	};

	rd_finding_add(findings, &finding);
}

static void judge_lids(const struct rd_fabric *fabric, struct rd_findings *findings)
{
	_cleanup_free_ size_t *owner = rd_alloc(LIDS, sizeof(*owner)); /* node + 1 */
	_cleanup_free_ bool *told = rd_alloc(fabric->n_nodes + 1, sizeof(*told));
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports && n < LID_DUPLICATES; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		size_t end = port->lid + ((size_t)1 << port->lmc);

		if (!has_valid_lid(fabric, port))
			continue;
		for (size_t lid = port->lid; lid < end && lid < LIDS; lid++) {
			size_t other = owner[lid];

			owner[lid] = port->node + 1;
			if (!other || other == port->node + 1 || told[port->node])
				continue;
			told[port->node] = true;
			report_duplicate_lid(fabric, (uint16_t)lid, other - 1, port->node, findings);
			n++;
		}
	}
}

/* Findings that follow from the subnet manager's absence: links that it does not make ACTIVE, and routes that it does not change. */
static void blame_manager(struct rd_findings *findings, const struct rd_finding *manager)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->v[i].id, "fabric-link-inactive") == 0 ||
		    strcmp(findings->v[i].id, "fabric-node-cut-off") == 0)
			rd_finding_blame(&findings->v[i], manager);
}

static void judge_manager(const struct rd_fabric *fabric, struct rd_findings *findings)
{
	struct rd_finding finding = {
		.id = "fabric-sm-silent",
		.severity = RD_SEV_WARNING,
		.title = "the subnet manager does not respond",
		.why = "ports that come up stay in INIT, and routes are not changed when a link or switch fails; what works "
		       "now goes on",
	};
	_cleanup_free_ char *name = NULL;

	if (!fabric->sm_silent || !fabric->sm_lid)
		return;
	for (size_t i = 0; i < fabric->n_ports && !name; i++)
		if (rd_port_has_lid(&fabric->ports[i], fabric->sm_lid))
			name = rd_safe(rd_fabric_name(&fabric->nodes[fabric->ports[i].node]));
	finding.subject = rd_text("subnet manager at LID %u%s%s%s", fabric->sm_lid, name ? " (" : "", name ? name : "",
				  name ? ")" : "");
	finding.observed = rd_dup("no response to SMInfo");
	finding.expected = rd_dup("a response");
	finding.fix = rd_text("sminfo\n# on %s: systemctl status opensm, or the subnet manager that is used there",
			      name ? name : "that host");
	rd_finding_add(findings, &finding);
	blame_manager(findings, &findings->v[findings->n - 1]);
}

void rd_fabric_judge_walk(const struct rd_fabric *fabric, struct rd_findings *findings)
{
	_cleanup_buf_ struct rd_buf observed = { 0 };
	const struct rd_fabric_port *first = list_unreached_ports(fabric, &observed);
	struct rd_finding finding = {
		.id = "fabric-walk-incomplete",
		.severity = RD_SEV_WARNING,
		.title = "discovery is incomplete: parts of the network were not reached",
		.why = "what is behind these ports is unknown: it is neither checked nor reported as missing",
	};

	judge_duplicates(fabric, findings);
	judge_lids(fabric, findings);
	judge_manager(fabric, findings);
	list_unread_nodes(fabric, &observed);
	list_unreached_nodes(fabric, &observed);
	if (!observed.len)
		return;
	if (fabric->walk.lost)
		rd_buf_printf(&observed, "; %" PRIu64 " of %" PRIu64 " queries got no response to any try",
			      fabric->walk.lost, fabric->walk.sent - fabric->walk.retries);
	finding.subject = rd_text("fabric of %s port %u", fabric->ibdev, fabric->port);
	finding.observed = rd_dup(observed.data);
	finding.expected = rd_dup("a response from every node behind a link that is up");
	if (first && first->lid)
		finding.fix = rd_text(
			"ibportstate %u %u query\n# repeat\n# if the same ports are named, check the node at the other end of this link: its firmware may hang",
			first->lid, first->number);
	else
		finding.fix = rd_dup("# repeat\n# if it stays incomplete, use a longer --mad-timeout");
	rd_finding_add(findings, &finding);
}
