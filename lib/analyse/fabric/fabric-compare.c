/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a network with its saved topology. */
#include "analyse/fabric/fabric.h"

/* What is missing with a node of the saved topology, and why it is. */
struct lost {
	bool replaced;	 /* a node with a different GUID is in its place */
	size_t root;	 /* see find_roots */
	size_t adapters; /* missing adapters of which it is the root */
	size_t owner;	 /* see find_owners */
	size_t switches; /* missing switches of which it is the owner, without itself */
	size_t cause;	 /* of a missing switch: index of the finding about it, or that explains it */
};

struct comparison {
	const struct rd_fabric *plan, *now;
	size_t *to_now, *to_plan;	      /* index of the same node in the other topology; RD_NONE: not there */
	enum rd_reach *reach;		      /* per node of the saved topology */
	size_t unknown_nodes, unknown_cables; /* of the saved topology, that the walk did not reach */
	struct lost *of;		      /* per node of the saved topology */
	bool *reported;			      /* per port of `now`: a finding names it */
	bool *told;			      /* per port of the saved topology: a finding is about its cable */
	struct rd_findings *findings;
	size_t judged;	 /* findings that were there before */
	bool duplicates; /* one of them is about nodes with the same GUID */
};

static char *port_text(const struct rd_fabric *fabric, size_t port)
{
	const struct rd_fabric_port *p = port == RD_NONE ? NULL : &fabric->ports[port];

	if (!p)
		return rd_dup("nothing");
	return rd_text("%s (0x%016" PRIx64 ") port %u", rd_fabric_name(&fabric->nodes[p->node]),
		       fabric->nodes[p->node].guid, p->number);
}

/* The same port in the other topology; RD_NONE. */
static size_t other_port(const struct rd_fabric *from, const size_t *map, const struct rd_fabric *to, size_t port)
{
	size_t node = port == RD_NONE ? RD_NONE : map[from->ports[port].node];

	if (node == RD_NONE || node >= to->n_nodes)
		return RD_NONE;
	return rd_fabric_find_port(to, to->nodes[node].guid, from->ports[port].number);
}

/* Of ports of the saved topology, and those that their cables led to, one that is disabled now; RD_NONE. */
static size_t disabled_port(const struct comparison *c, size_t from, size_t end)
{
	size_t ret = RD_NONE;

	for (size_t i = 2 * from; i < 2 * end && ret == RD_NONE; i++) {
		ret = other_port(c->plan, c->to_now, c->now, i % 2 ? c->plan->ports[i / 2].peer : i / 2);
		if (ret != RD_NONE && c->now->ports[ret].physical_state != RD_PHYSICAL_DISABLED)
			ret = RD_NONE;
	}
	return ret;
}

/* ---- nodes */

static void map_nodes(struct comparison *c)
{
	_cleanup_free_ bool *kept = rd_alloc(c->now->n_nodes + 1, sizeof(*kept)); /* gone, or not reached */

	for (size_t i = 0; i < c->now->n_nodes; i++) {
		c->to_plan[i] = RD_NONE;
		kept[i] = true;
	}
	for (size_t i = 0; i < c->now->n_ports; i++)
		if (c->now->ports[i].presence != RD_PORT_GONE && c->now->ports[i].presence != RD_PORT_UNREACHED)
			kept[c->now->ports[i].node] = false;
	for (size_t i = 0; i < c->plan->n_nodes; i++) {
		size_t node = rd_fabric_find_node(c->now, c->plan->nodes[i].guid);

		c->to_now[i] = c->reach[i] == RD_REACH_FOUND ? node : RD_NONE;
		if (c->to_now[i] != RD_NONE)
			c->to_plan[node] = i;
		c->unknown_nodes += c->reach[i] == RD_REACH_UNKNOWN;
	}
	for (size_t i = 0; i < c->now->n_nodes; i++)
		if (kept[i] && c->to_plan[i] == RD_NONE)
			c->to_plan[i] = c->plan->n_nodes; /* neither present nor extra */
}

enum node_change { NODE_REPLACED, NODE_EXTRA, SWITCH_MISSING, ADAPTER_MISSING };

/* `fix` is static here. */
static const struct {
	struct rd_finding finding;
	const char *observed, *expected, *fix;
} node_changes[] = {
	[NODE_REPLACED] = { { "fabric-node-replaced", "node was replaced: same cable, different GUID",
			      "hardware was swapped; the saved topology, and any configuration by GUID, still names the old node",
			      RD_SEV_WARNING },
			    NULL,
			    NULL,
			    "# if intended, save the topology again: rdmadiag counters --fabric --save-topology FILE" },
	[NODE_EXTRA] = { { "fabric-node-extra", "node is not in the saved topology",
			   "it was connected after the topology was saved, or to the wrong fabric", RD_SEV_WARNING },
			 "found",
			 "not in the saved topology",
			 "# if intended, save the topology again: rdmadiag counters --fabric --save-topology FILE" },
	[SWITCH_MISSING] = { { "fabric-node-missing", "switch in the saved topology is missing from the fabric",
			       "nodes attached to it are unreachable, or have fewer paths", RD_SEV_CRITICAL },
			     "not found",
			     "a switch",
			     "# check its power, and the ports of its neighbours in the saved topology" },
	[ADAPTER_MISSING] = { { "fabric-node-missing",
				"channel adapter in the saved topology is missing from the fabric",
				"its host cannot take part in a job", RD_SEV_CRITICAL },
			      "not found",
			      "a channel adapter",
			      "# on the host: ibstat, dmesg\n# check its power, the cable at both ends, and whether the port at the switch is enabled" },
};

/* Takes ownership of both texts; NULL: the text of node_changes. `cause`: index of the finding that explains it; RD_NONE. */
static void add_node_finding(struct comparison *c, enum node_change change, const struct rd_fabric_node *node,
			     char *observed, char *expected, size_t cause)
{
	struct rd_finding finding = node_changes[change].finding;

	rd_finding_at_node(&finding, node);
	finding.observed = observed ?: rd_dup_if(node_changes[change].observed);
	finding.expected = expected ?: rd_dup_if(node_changes[change].expected);
	finding.fix = rd_dup(node_changes[change].fix);
	if (cause != RD_NONE)
		rd_finding_blame(&finding, &c->findings->v[cause]);
	rd_finding_add(c->findings, &finding);
}

static bool is_missing(const struct comparison *c, size_t node)
{
	return c->reach[node] == RD_REACH_MISSING && !c->of[node].replaced;
}

/* Per missing switch: itself if it had a cable to a node that was found, else such a switch through which alone it could be reached. */
static void find_owners(struct comparison *c)
{
	_cleanup_free_ size_t *queue = rd_alloc(c->plan->n_nodes + 1, sizeof(*queue));
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < c->plan->n_nodes; i++)
		c->of[i].owner = RD_NONE;
	for (size_t i = 0; i < c->plan->n_ports; i++) {
		size_t node = c->plan->ports[i].node, at = c->plan->ports[i].peer;
		size_t peer = at == RD_NONE ? RD_NONE : c->plan->ports[at].node;

		if (c->of[node].owner != RD_NONE || !is_missing(c, node) || c->plan->nodes[node].kind == RD_NODE_CA ||
		    peer == RD_NONE || c->reach[peer] == RD_REACH_UNKNOWN || is_missing(c, peer))
			continue;
		c->of[node].owner = node;
		queue[tail++] = node;
	}
	while (head < tail) {
		size_t node = queue[head++];

		for (size_t i = c->plan->nodes[node].first; i < c->plan->nodes[node].end; i++) {
			size_t peer = c->plan->ports[i].peer;
			size_t next = peer == RD_NONE ? RD_NONE : c->plan->ports[peer].node;

			if (next == RD_NONE || c->of[next].owner != RD_NONE || !is_missing(c, next) ||
			    c->plan->nodes[next].kind == RD_NODE_CA)
				continue;
			c->of[next].owner = c->of[node].owner;
			queue[tail++] = next;
		}
	}
}

/* Index of a finding that the judge of the latest sweep added; RD_NONE. */
static size_t find_subject(const struct comparison *c, const char *id, const char *subject)
{
	for (size_t i = 0; i < c->judged; i++)
		if (strcmp(c->findings->v[i].id, id) == 0 && strcmp(c->findings->v[i].subject, subject) == 0)
			return i;
	return RD_NONE;
}

/* Index of the finding that a node of the fabric has the GUID of another one; RD_NONE. */
static size_t find_duplicate(const struct comparison *c, size_t node)
{
	_cleanup_free_ char *subject = rd_text("0x%016" PRIx64, rd_fabric_reported_guid(&c->now->nodes[node]));

	return c->duplicates ? find_subject(c, "fabric-guid-duplicate", subject) : RD_NONE;
}

/* The same for a node that is connected where `missing` is in the saved topology: it may be that node, with a wrong GUID. */
static size_t find_duplicate_of(const struct comparison *c, size_t missing)
{
	for (size_t i = 0; c->duplicates && i < c->plan->n_ports; i++) {
		const struct rd_fabric_port *port = &c->plan->ports[i];
		size_t peer = port->node == missing ? other_port(c->plan, c->to_now, c->now, port->peer) : RD_NONE;
		size_t found = peer == RD_NONE ? RD_NONE : c->now->ports[peer].peer;
		size_t cause = found == RD_NONE ? RD_NONE : find_duplicate(c, c->now->ports[found].node);

		if (cause != RD_NONE)
			return cause;
	}
	return RD_NONE;
}

static size_t cause_of_missing(const struct comparison *c, size_t node)
{
	_cleanup_free_ char *subject = rd_fabric_node_text(&c->plan->nodes[node]);
	size_t root = c->of[node].root,
	       owner = root == RD_NONE || c->of[root].owner == RD_NONE ? root : c->of[root].owner;
	size_t cause = owner == RD_NONE ? find_subject(c, "fabric-node-gone", subject) : c->of[owner].cause;

	return cause == RD_NONE ? find_duplicate_of(c, node) : cause;
}

static void report_missing_switch(struct comparison *c, size_t node)
{
	_cleanup_free_ char *subject = rd_fabric_node_text(&c->plan->nodes[node]);
	char *observed = NULL, *expected = NULL;
	size_t n = c->of[node].adapters, switches = c->of[node].switches,
	       gone = find_subject(c, "fabric-node-gone", subject), owner = c->of[node].owner;

	if (switches > 0)
		observed = rd_text("not found, and with it %zu switch%s and %zu adapter%s behind it", switches,
				   switches == 1 ? "" : "es", n, n == 1 ? "" : "s");
	else if (n > 0)
		observed = rd_text("not found, and with it %zu adapter%s without another link", n, n == 1 ? "" : "s");
	if (c->plan->nodes[node].kind == RD_NODE_ROUTER)
		expected = rd_dup("a router");
	if (gone == RD_NONE && owner != RD_NONE && owner != node)
		gone = c->of[owner].cause;
	c->of[node].cause = gone == RD_NONE ? c->findings->n : gone;
	add_node_finding(c, SWITCH_MISSING, &c->plan->nodes[node], observed, expected, gone);
	if (gone == RD_NONE)
		c->findings->v[c->of[node].cause].harm = rd_fabric_harm(RD_HARM_SWITCH_GONE, (double)(n + switches));
}

/* Switches first: they explain why adapters are missing. */
static void compare_nodes(struct comparison *c)
{
	/* Per node of the saved topology: the missing switch to which all cables of a missing adapter led, or the first of
	 * several. */
	for (size_t i = 0; i < c->plan->n_nodes; i++)
		c->of[i].root = RD_NONE;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->plan->n_ports; i++) {
			const struct rd_fabric_port *port = &c->plan->ports[i];
			size_t peer = port->peer == RD_NONE ? RD_NONE : c->plan->ports[port->peer].node;

			if (peer == RD_NONE || !is_missing(c, port->node) ||
			    c->plan->nodes[port->node].kind != RD_NODE_CA)
				continue;
			if (!is_missing(c, peer) || c->plan->nodes[peer].kind == RD_NODE_CA)
				c->of[port->node].root = RD_NONE;
			else if (pass == 0 && c->of[port->node].root == RD_NONE)
				c->of[port->node].root = peer;
		}
	for (size_t i = 0; i < c->plan->n_nodes; i++)
		if (c->of[i].root != RD_NONE)
			c->of[c->of[i].root].adapters++;
	find_owners(c);
	/* Counts what the finding of each owner covers. */
	for (size_t i = 0; i < c->plan->n_nodes; i++)
		if (c->of[i].owner != RD_NONE && c->of[i].owner != i) {
			c->of[c->of[i].owner].switches++;
			c->of[c->of[i].owner].adapters += c->of[i].adapters;
			c->of[i].adapters = 0;
		}
	/* Those that explain others first. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->plan->n_nodes; i++)
			if (is_missing(c, i) && c->plan->nodes[i].kind != RD_NODE_CA &&
			    (c->of[i].owner == i) == (pass == 0))
				report_missing_switch(c, i);
	for (size_t i = 0; i < c->plan->n_nodes; i++) {
		const struct rd_fabric_node *node = &c->plan->nodes[i];

		if (is_missing(c, i) && node->kind == RD_NODE_CA) {
			size_t off = disabled_port(c, node->first, node->end);
			_cleanup_free_ char *port = port_text(c->now, off);

			add_node_finding(c, ADAPTER_MISSING, node,
					 off == RD_NONE ? NULL : rd_text("not found, and %s is disabled", port), NULL,
					 cause_of_missing(c, i));
		} else if (c->of[i].replaced)
			add_node_finding(c, NODE_REPLACED, node, rd_fabric_node_text(&c->now->nodes[c->to_now[i]]),
					 rd_fabric_node_text(node), find_duplicate(c, c->to_now[i]));
	}
	for (size_t i = 0; i < c->now->n_nodes; i++)
		if (c->to_plan[i] == RD_NONE)
			add_node_finding(c, NODE_EXTRA, &c->now->nodes[i], NULL, NULL, find_duplicate(c, i));
}

/* ---- cables */

/* Index of a warning about the cable at `port` that the judge of the latest sweep added; RD_NONE. */
static size_t find_judged(const struct comparison *c, const char *id, size_t port)
{
	const struct rd_fabric_port *peer = port == RD_NONE ? NULL : rd_fabric_neighbour(c->now, &c->now->ports[port]);
	_cleanup_free_ char *here = port == RD_NONE ? NULL : rd_fabric_cable_text(c->now, &c->now->ports[port]);
	_cleanup_free_ char *there = peer ? rd_fabric_cable_text(c->now, peer) : NULL;

	for (size_t i = 0; here && i < c->judged; i++)
		if (strcmp(c->findings->v[i].id, id) == 0 && c->findings->v[i].severity > RD_SEV_NOTE &&
		    (strcmp(c->findings->v[i].subject, here) == 0 ||
		     (there && strcmp(c->findings->v[i].subject, there) == 0)))
			return i;
	return RD_NONE;
}

/* The cable that is missing is the link that a switch lacks: the saved topology knows its ports. */
static void blame_missing(struct comparison *c, size_t planned, const struct rd_finding *cause)
{
	const struct rd_fabric_port *port = &c->plan->ports[planned];
	const char *here = rd_fabric_name(&c->plan->nodes[port->node]);
	const char *there = rd_fabric_name(&c->plan->nodes[c->plan->ports[port->peer].node]);
	_cleanup_free_ char *down = rd_text("%s, to %s", here, there), *up = rd_text("%s, to %s", there, here);

	for (size_t i = 0; i < c->judged; i++) {
		struct rd_finding *finding = &c->findings->v[i];

		if (strcmp(finding->id, "fabric-uplink-missing") == 0 && !finding->caused_by.id &&
		    (strcmp(finding->subject, down) == 0 || strcmp(finding->subject, up) == 0))
			rd_finding_blame(finding, cause);
	}
}

static const char title_missing[] = "cable in the saved topology is missing or its link is down";

static void add_cable_finding(struct comparison *c, size_t planned, size_t now, size_t peer, const char *id,
			      const char *title)
{
	size_t expected = planned == RD_NONE ? RD_NONE : c->plan->ports[planned].peer;
	const struct rd_fabric *of = now == RD_NONE ? c->plan : c->now;
	const struct rd_fabric_port *port = &of->ports[now == RD_NONE ? planned : now];
	struct rd_finding finding = {
		.id = id,
		.severity = RD_SEV_WARNING,
		.title = title,
		.why = "routing and host ordering were computed for the saved topology",
		.node_guid = of->nodes[port->node].guid,
		.port = port->number,
		.subject = now == RD_NONE ? port_text(c->plan, planned) : port_text(c->now, now),
		.observed = port_text(c->now, peer),
		.expected = port_text(c->plan, expected),
		.fix = rd_dup(
			"# check the cable at both ends\n# if intended, save the topology again: rdmadiag counters --fabric --save-topology FILE"),
	};
	size_t rail;

	if (now != RD_NONE)
		c->reported[now] = true;
	if (peer != RD_NONE)
		c->reported[peer] = true;
	if (strcmp(id, "fabric-cable-missing") == 0) {
		size_t cause = find_judged(c, "fabric-link-down", now);

		if (cause != RD_NONE)
			rd_finding_blame(&finding, &c->findings->v[cause]);
		blame_missing(c, planned, cause == RD_NONE ? &finding : &c->findings->v[cause]);
	}
	/* An adapter that was moved is at the wrong switch because of that. */
	rail = find_judged(c, "fabric-rail-odd", now);
	if (rail != RD_NONE)
		rd_finding_blame(&c->findings->v[rail], &finding);
	for (int end = 0; end < 2; end++) {
		size_t at = end ? peer : now;
		size_t cause = at == RD_NONE ? RD_NONE : find_duplicate(c, c->now->ports[at].node);

		if (cause != RD_NONE && !finding.caused_by.id)
			rd_finding_blame(&finding, &c->findings->v[cause]);
	}
	rd_finding_add(c->findings, &finding);
}

static void add_slower_finding(struct comparison *c, size_t planned, size_t now)
{
	const struct rd_fabric_port *was = &c->plan->ports[planned], *is = &c->now->ports[now];
	double before = was->width_active * rd_link_lane_gbps(was->speed_active);
	double after = is->width_active * rd_link_lane_gbps(is->speed_active);
	size_t cause;
	struct rd_finding finding = { "fabric-link-slower", "link is slower than in the saved topology",
				      "it limits all traffic routed over it", RD_SEV_WARNING };

	if (before <= 0 || after <= 0 || after >= before * 0.999)
		return;
	rd_finding_at_port(&finding, c->now, is);
	free(finding.subject);
	finding.subject = port_text(c->now, now);
	finding.observed = rd_text("%ux%s", is->width_active, rd_link_speed_name(is->speed_active));
	finding.expected = rd_text("%ux%s", was->width_active, rd_link_speed_name(was->speed_active));
	finding.fix = rd_dup("# reseat or replace the cable\n# then check the error counters of both ports");
	cause = find_judged(c, "fabric-link-degraded", now);
	cause = cause == RD_NONE ? find_judged(c, "fabric-link-odd", now) : cause;
	if (cause != RD_NONE)
		rd_finding_blame(&finding, &c->findings->v[cause]);
	rd_finding_add(c->findings, &finding);
}

/* Whether the walk did not see what is connected to a port of the saved topology, whose node was found. */
static bool is_unsure(const struct comparison *c, size_t planned, size_t now)
{
	size_t node = c->to_now[c->plan->ports[planned].node];

	return now == RD_NONE ? c->now->nodes[node].unread > 0 :
				c->now->ports[now].peer == RD_NONE && rd_fabric_is_unsure(&c->now->ports[now]);
}

/* A cable of the saved topology whose nodes are both present. Pass 0 reports missing and slower links; both passes report moved cables,
 * the second those whose ports the first had not reported yet, and as missing a cable in whose place there is another that was moved. */
static void compare_cable(struct comparison *c, size_t i, int pass)
{
	size_t ends[2] = { i, c->plan->ports[i].peer }, now[2], peers[2];

	for (int e = 0; e < 2; e++) {
		now[e] = other_port(c->plan, c->to_now, c->now, ends[e]);
		peers[e] = now[e] == RD_NONE ? RD_NONE : c->now->ports[now[e]].peer;
	}
	if (now[0] != RD_NONE && peers[0] == now[1] && now[1] != RD_NONE) {
		if (pass == 0)
			add_slower_finding(c, ends[0], now[0]);
		return;
	}
	if (peers[0] == RD_NONE && peers[1] == RD_NONE) {
		if (is_unsure(c, ends[0], now[0]) || is_unsure(c, ends[1], now[1]))
			c->unknown_cables += pass == 0;
		else if (pass == 0)
			add_cable_finding(c, ends[0], now[0], RD_NONE, "fabric-cable-missing",
					  disabled_port(c, i, i + 1) == RD_NONE ?
						  title_missing :
						  "link of the saved topology is disabled");
		return;
	}
	for (int e = 0; e < 2; e++)
		if (peers[e] != RD_NONE && !c->reported[now[e]]) {
			c->told[i] = true;
			add_cable_finding(c, ends[e], now[e], peers[e], "fabric-cable-moved",
					  "cable is connected to a different port than in the saved topology");
			return;
		}
	for (int e = 0; e < 2 && pass == 1 && !c->told[i]; e++)
		if (peers[e] == RD_NONE && now[e] != RD_NONE && !is_unsure(c, ends[e], now[e]) && !c->reported[now[e]]) {
			c->told[i] = true;
			add_cable_finding(c, ends[e], now[e], RD_NONE, "fabric-cable-missing", title_missing);
		}
}

static void compare_cables(struct comparison *c)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->plan->n_ports; i++) {
			size_t peer = c->plan->ports[i].peer;

			if (peer != RD_NONE && peer >= i && c->to_now[c->plan->ports[i].node] != RD_NONE &&
			    c->to_now[c->plan->ports[peer].node] != RD_NONE)
				compare_cable(c, i, pass);
		}
	for (size_t i = 0; i < c->now->n_ports; i++) {
		const struct rd_fabric_port *port = &c->now->ports[i];
		size_t planned = other_port(c->now, c->to_plan, c->plan, i);

		/* A cable of `now`, at a port where the saved topology has none. */
		if (port->peer == RD_NONE || port->peer < i || port->presence == RD_PORT_GONE || c->reported[i] ||
		    c->reported[port->peer] || c->to_plan[port->node] >= c->plan->n_nodes ||
		    c->to_plan[c->now->ports[port->peer].node] >= c->plan->n_nodes)
			continue;
		if (planned != RD_NONE && c->plan->ports[planned].peer != RD_NONE)
			continue;
		add_cable_finding(c, planned, i, port->peer, "fabric-cable-extra", "cable is not in the saved topology");
	}
}

/* Takes ownership of `observed`. */
static void add_unknown(struct comparison *c, const char *title, const char *why, char *observed, const char *fix)
{
	const struct rd_finding kind = { "fabric-compare-unknown", title, why, RD_SEV_UNKNOWN, .undecided = true };

	rd_finding_put(c->findings, &kind, rd_dup("saved topology"), observed, rd_dup(fix));
}

/* If no node of the saved topology is found, it is of another network: its differences say nothing. */
static bool report_foreign(struct comparison *c)
{
	for (size_t i = 0; i < c->plan->n_nodes; i++)
		if (c->to_now[i] != RD_NONE)
			return false;
	if (c->plan->n_nodes == 0 || c->unknown_nodes > 0)
		return false;
	add_unknown(c, "the saved topology is of another network: none of its nodes is here", "nothing was compared",
		    rd_text("0 of its %zu nodes are among the %zu that were found", c->plan->n_nodes, c->now->n_nodes),
		    "# check the name of the file, and the port in use: --port");
	return true;
}

void rd_fabric_compare(const struct rd_fabric *plan, const struct rd_fabric *now, struct rd_findings *findings)
{
	struct comparison c = {
		.plan = plan,
		.now = now,
		.to_now = rd_alloc(plan->n_nodes + 1, sizeof(size_t)),
		.to_plan = rd_alloc(now->n_nodes + 1, sizeof(size_t)),
		.of = rd_alloc(plan->n_nodes + 1, sizeof(struct lost)),
		.reported = rd_alloc(now->n_ports + 1, sizeof(bool)),
		.reach = rd_fabric_reach(plan, now),
		.told = rd_alloc(plan->n_ports + 1, sizeof(bool)),
		.findings = findings,
		.judged = findings->n,
	};

	for (size_t i = 0; i < c.judged; i++)
		c.duplicates |= strcmp(findings->v[i].id, "fabric-guid-duplicate") == 0;
	map_nodes(&c);
	if (!report_foreign(&c)) {
		/* A node replaces a missing node of the saved topology if it is at the same port of a neighbour that is in both. */
		for (size_t i = 0; i < c.plan->n_ports; i++) {
			const struct rd_fabric_port *port = &c.plan->ports[i];
			size_t peer = other_port(c.plan, c.to_now, c.now, port->peer), node;

			if (c.reach[port->node] != RD_REACH_MISSING || c.of[port->node].replaced || peer == RD_NONE ||
			    c.now->ports[peer].peer == RD_NONE)
				continue;
			node = c.now->ports[c.now->ports[peer].peer].node;
			if (c.to_plan[node] != RD_NONE || c.now->nodes[node].kind != c.plan->nodes[port->node].kind ||
			    c.now->ports[c.now->ports[peer].peer].number != port->number)
				continue;
			c.to_now[port->node] = node;
			c.to_plan[node] = port->node;
			c.of[port->node].replaced = true;
		}
		compare_nodes(&c);
		compare_cables(&c);
		/* What was not reached is neither the same nor different. */
		if (c.unknown_nodes || c.unknown_cables)
			add_unknown(
				&c, "part of the saved topology could not be compared",
				"the discovery did not reach it: it may be as saved, or missing",
				rd_text("%zu of %zu nodes, and %zu more cable%s, were not reached", c.unknown_nodes,
					plan->n_nodes, c.unknown_cables, c.unknown_cables == 1 ? "" : "s"),
				"# repeat\n# finding fabric-walk-incomplete names the ports where the discovery ended");
	}
	RD_FREE(c.of, c.told, c.reach, c.to_now, c.to_plan, c.reported);
}
