/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes that are gone, silent, new or replaced. What is gone or silent only because a switch is, is part of that finding. */

#include "analyse/fabric/fabric-judge-priv.h"

#define EXAMPLES 3
/* Current devices respond within a millisecond. */
#define SLOW_NS UINT64_C(50000000)
#define SLOW_TIMES 10
#define FAN 3 /* so many switches that are gone, all behind one that is there, are one event */

/* ---- who is gone or silent, and because of whom */

static enum rd_fate fate_of(const struct judge *j, size_t node)
{
	size_t queried = 0, silent = 0, gone = 0, n = j->fabric->nodes[node].end - j->fabric->nodes[node].first;

	for (size_t i = j->fabric->nodes[node].first; i < j->fabric->nodes[node].end; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		gone += port->presence == RD_PORT_GONE;
		queried += port->selected;
		silent += port->selected && port->error == ETIMEDOUT;
	}
	if (n > 0 && gone == n)
		return RD_FATE_GONE;
	return queried > 0 && silent == queried ? RD_FATE_SILENT : RD_FATE_HERE;
}

/* Index of the node at the other end of a port's cable, or at its latest; RD_NONE. */
static size_t neighbour_of(const struct judge *j, size_t port)
{
	const struct rd_fabric_port *neighbour = rd_fabric_neighbour(j->fabric, &j->fabric->ports[port]);

	return neighbour ? neighbour->node : RD_NONE;
}

/* Of a node: what its finding covers, or which finding covers it. */
struct part {
	size_t root;		   /* the node whose finding covers it; RD_NONE: it is there, or not assigned yet */
	size_t sole;		   /* its only neighbour that is there; RD_NONE: it has no such neighbour, or several */
	bool borders;		   /* has neighbours that are there */
	size_t adapters, switches; /* nodes that its finding covers, without itself */
	size_t fan;		   /* of one that is there: switches that are gone and have only it as neighbour */
};

struct roots {
	struct part *of; /* per node */
	size_t *queue, head, tail;
};

static void find_borders(const struct judge *j, struct roots *r)
{
	for (size_t i = 0; i < j->fabric->n_nodes; i++) {
		bool several = false;

		r->of[i].root = r->of[i].sole = RD_NONE;
		for (size_t p = j->fabric->nodes[i].first; j->fates[i] != RD_FATE_HERE && p < j->fabric->nodes[i].end;
		     p++) {
			size_t other = neighbour_of(j, p);

			if (other == RD_NONE || j->fates[other] != RD_FATE_HERE)
				continue;
			several |= r->of[i].borders && r->of[i].sole != other;
			r->of[i].borders = true;
			r->of[i].sole = other;
		}
		if (several)
			r->of[i].sole = RD_NONE;
		if (r->of[i].sole != RD_NONE && j->fates[i] == RD_FATE_GONE &&
		    j->fabric->nodes[i].kind == RD_NODE_SWITCH)
			r->of[r->of[i].sole].fan++;
	}
}

static void take(struct roots *r, size_t node, size_t root)
{
	r->of[node].root = root;
	r->queue[r->tail++] = node;
}

/* Whether only the agent of a switch is silent: adapters behind it respond, at the ports that it connects. */
static bool passes_packets(const struct judge *j, size_t node)
{
	for (size_t p = j->fabric->nodes[node].first;
	     j->fates[node] == RD_FATE_SILENT && p < j->fabric->nodes[node].end; p++) {
		const struct rd_fabric_port *port = &j->fabric->ports[p];

		if (port->peer != RD_NONE && j->fabric->ports[port->peer].fresh &&
		    j->fabric->nodes[j->fabric->ports[port->peer].node].kind != RD_NODE_SWITCH)
			return true;
	}
	return false;
}

/* Assigns to the queued nodes what can be reached only through nodes that are gone or silent, too. */
static void spread(const struct judge *j, struct roots *r)
{
	while (r->head < r->tail) {
		size_t node = r->queue[r->head++];

		if (passes_packets(j, node))
			continue;
		for (size_t p = j->fabric->nodes[node].first; p < j->fabric->nodes[node].end; p++) {
			size_t other = neighbour_of(j, p);

			if (other == RD_NONE || j->fates[other] == RD_FATE_HERE || r->of[other].root != RD_NONE ||
			    r->of[other].borders)
				continue;
			take(r, other, r->of[node].root);
			if (j->fabric->nodes[other].kind == RD_NODE_SWITCH)
				r->of[r->of[node].root].switches++;
			else if (!rd_fabric_is_aggregation(&j->fabric->nodes[other]))
				r->of[r->of[node].root].adapters++;
		}
	}
}

/* Causes first: switches with neighbours that are there, then other switches, then adapters. */
static void find_roots(const struct judge *j, struct roots *r)
{
	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < j->fabric->n_nodes; i++) {
			bool is_switch = j->fabric->nodes[i].kind == RD_NODE_SWITCH;

			if (j->fates[i] == RD_FATE_HERE || r->of[i].root != RD_NONE)
				continue;
			if (pass == 0 ? !is_switch || !r->of[i].borders : pass == 1 && !is_switch)
				continue;
			take(r, i, i);
			if (pass == 1)
				spread(j, r);
		}
		spread(j, r);
	}
}

/* ---- findings about nodes that are gone */

/* Names of nodes that the finding of `root` covers, or of the switches behind `fan`, at most EXAMPLES. */
static char *names_of(const struct judge *j, const struct roots *r, size_t root, size_t fan)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < j->fabric->n_nodes && n <= EXAMPLES; i++) {
		if (rd_fabric_is_aggregation(&j->fabric->nodes[i]))
			continue;
		if (root != RD_NONE ? r->of[i].root != root || i == root :
				      r->of[i].sole != fan || j->fates[i] != RD_FATE_GONE ||
					      j->fabric->nodes[i].kind != RD_NODE_SWITCH)
			continue;
		if (n++ < EXAMPLES)
			rd_buf_printf(&text, "%s%s", n > 1 ? ", " : "", rd_fabric_name(&j->fabric->nodes[i]));
	}
	if (n > EXAMPLES)
		rd_buf_str(&text, ", ...");
	return rd_dup(text.len ? text.data : "");
}

/* "17 adapters", "2 switches and 34 adapters" */
static char *count_text(size_t switches, size_t adapters)
{
	const char *s = switches == 1 ? "" : "es", *a = adapters == 1 ? "" : "s";

	if (switches == 0)
		return rd_text("%zu adapter%s", adapters, a);
	if (adapters == 0)
		return rd_text("%zu switch%s", switches, s);
	return rd_text("%zu switch%s and %zu adapter%s", switches, s, adapters, a);
}

/* "and with it 17 adapters that have no other link: h1, h2, h3, ..."; NULL: no other node. */
static char *covered_text(const struct judge *j, const struct roots *r, size_t root)
{
	_cleanup_free_ char *count = NULL, *names = NULL;

	if (r->of[root].switches + r->of[root].adapters == 0)
		return NULL;
	count = count_text(r->of[root].switches, r->of[root].adapters);
	names = names_of(j, r, root, RD_NONE);
	return rd_text("and with it %s without another link: %s", count, names);
}

static void report_gone(struct judge *j, const struct roots *r, size_t node)
{
	bool is_switch = j->fabric->nodes[node].kind == RD_NODE_SWITCH;
	struct rd_finding finding = {
		.id = "fabric-node-gone",
		.severity = r->of[node].adapters > 0 ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		.title = is_switch ? "switch disappeared: it is no longer discovered" :
				     "node disappeared: it is no longer discovered",
		.why = "it was powered off, hangs, or lost its last cable; its values are old",
		.node_guid = j->fabric->nodes[node].guid,
		.subject = rd_fabric_node_text(&j->fabric->nodes[node]),
		.observed = covered_text(j, r, node),
		.harm = rd_fabric_harm(is_switch ? RD_HARM_SWITCH_GONE : RD_HARM_ADAPTER_GONE,
				       (double)r->of[node].adapters),
		.fix = rd_dup("# check the port of its neighbour, then its power\n# no action needed if intended"),
	};

	/* The finding about a node in its place says that it is gone. */
	for (size_t i = 0; r->of[node].adapters == 0 && i < j->fabric->n_ports; i++)
		if (j->fabric->ports[i].presence == RD_PORT_REPLACED &&
		    j->fabric->ports[i].old_guid == finding.node_guid)
			finding.severity = RD_SEV_NOTE;
	rd_finding_add(j->findings, &finding);
}

/* ---- agents that do not respond */

static char *read_error_text(const struct rd_fabric_port *port)
{
	const char *name = rd_errno_name(port->error), *attribute = rd_pma_attribute_name(port->error_attribute);

	if (port->error_status)
		return rd_text("status 0x%04x for %s (attribute 0x%02x)", (unsigned)port->error_status,
			       attribute ?: "NodeInfo", port->error_attribute);
	if (port->error == ETIMEDOUT)
		return rd_text("no response to %s (ETIMEDOUT, attribute 0x%02x)", attribute ?: "NodeInfo",
			       port->error_attribute);
	return rd_text("%s for %s (attribute 0x%02x)", name ?: "?", attribute ?: "NodeInfo", port->error_attribute);
}

/* The latest walk found the node, but packets to its LID, or back, are dropped. */
static void report_blocked(struct judge *j, size_t node, const char *covered)
{
	const struct rd_fabric_block *block = &j->fabric->nodes[node].blocked;
	const char *state = rd_link_state_name(block->state), *way = block->back ? "back from it" : "to it";
	size_t at = rd_fabric_find_node(j->fabric, block->guid);
	const char *name = at == RD_NONE ? "?" : rd_fabric_name(&j->fabric->nodes[at]);
	struct rd_finding finding = {
		.id = "fabric-node-cut-off",
		.severity = RD_SEV_WARNING,
		.title = "node is cut off: packets from here to its LID, or back, are dropped",
		.why = "the routes of the subnet manager lead to a link that is not ACTIVE: data is dropped there, too",
		.node_guid = j->fabric->nodes[node].guid,
		.subject = rd_fabric_node_text(&j->fabric->nodes[node]),
		.expected = rd_dup("a route whose links are all ACTIVE"),
		.harm = rd_fabric_harm(RD_HARM_LINK_DOWN, 0),
	};

	if (block->port)
		finding.observed = rd_text("the route %s leaves %s through port %u, which is %s%s%s", way, name,
					   block->port, state ?: "not ACTIVE", covered ? ", " : "", covered ?: "");
	else
		finding.observed = rd_text("%s has no route %s%s%s", name, way, covered ? ", " : "", covered ?: "");
	finding.fix = rd_dup(
		"sminfo\nrdmadiag counters --fabric --routes\n# read the log of the subnet manager: it should have set the link to ACTIVE, or changed the routes\n# --routes shows what else is affected");
	rd_finding_add(j->findings, &finding);
}

/* `n` of the `queried` ports of a node were not read, `port` is the first. `covered`: see covered_text; owned here. */
static void report_unread(struct judge *j, const struct rd_fabric_port *port, size_t n, size_t queried, char *covered)
{
	_cleanup_free_ char *error = read_error_text(port), *more = covered;
	struct rd_finding finding = { n < queried ? "fabric-ports-unread" : "fabric-agent-silent",
				      n < queried ? "counters of some ports could not be read" :
						    "node does not respond to performance queries",
				      "its counters are stale or unknown, so its ports are not checked", RD_SEV_WARNING,
				      .harm = rd_fabric_harm(RD_HARM_UNREAD, (double)n) };

	if (n == queried && j->fabric->nodes[port->node].blocked.guid) {
		report_blocked(j, port->node, more);
		return;
	}
	rd_finding_at_node(&finding, &j->fabric->nodes[port->node]);
	finding.observed = rd_text("%zu of %zu ports: %s%s%s", n, queried, error, more ? ", " : "", more ?: "");
	finding.expected = rd_dup("a response for every port");
	finding.fix = rd_text("perfquery %u %u\n# if it times out too, the firmware or the CPU of that node hangs",
			      port->lid, port->number);
	rd_finding_add(j->findings, &finding);
}

/* Ports at whose LIDs other nodes respond: one event, of which the discovery is not over. */
static void report_strangers(struct judge *j, const struct rd_fabric_port *one, size_t n)
{
	struct rd_finding finding = {
		"fabric-lid-changed", "other nodes respond at known LIDs: the subnet manager has changed LIDs",
		"counters are not taken from the wrong node: they are old until the network was discovered again",
		RD_SEV_NOTE, .harm = rd_fabric_harm(RD_HARM_NOTE, 0)
	};

	finding.subject = n == 1 ? rd_fabric_port_text(j->fabric, one) : rd_text("%zu ports", n);
	finding.observed = rd_text("LID %u is of another node than at the discovery", one->lid);
	finding.expected = rd_dup("the node GUID of the discovery");
	rd_finding_add(j->findings, &finding);
}

/* ---- nodes that appeared or changed */

/* One finding per node: for the first port that changed. */
static void judge_presence(struct judge *j, size_t node)
{
	static const struct rd_finding kinds[] = {
		[RD_PORT_NEW] = { "fabric-node-new", "new node", NULL, RD_SEV_NOTE },
		[RD_PORT_REPLACED] = { "fabric-node-replaced", "node was replaced: same cable, different GUID",
				       "hardware was swapped: its counters start from zero", RD_SEV_WARNING },
		[RD_PORT_MOVED] = { "fabric-lid-changed", "LID of the node changed", NULL, RD_SEV_NOTE },
	};
	size_t which = j->fabric->nodes[node].first, to = j->fabric->nodes[node].end;
	const struct rd_fabric_port *port;
	struct rd_finding finding;

	while (which < to && j->fabric->ports[which].presence == RD_PORT_PRESENT)
		which++;
	port = &j->fabric->ports[which];
	if (which == to || (size_t)port->presence >= RD_ARRAY_SIZE(kinds))
		return;
	finding = kinds[port->presence];
	rd_finding_at_node(&finding, &j->fabric->nodes[node]);
	if (port->presence == RD_PORT_REPLACED)
		finding.observed = rd_text("instead of 0x%016" PRIx64, port->old_guid);
	else if (port->presence == RD_PORT_MOVED)
		finding.observed = rd_text("LID %u, was %u", port->lid, port->old_lid);
	rd_finding_add(j->findings, &finding);
}

/* Critical if only the local node was discovered. */
static void judge_alone(struct judge *j)
{
	const struct rd_fabric *fabric = j->fabric;
	const struct rd_fabric_port *self = fabric->self == RD_NONE ? NULL : &fabric->ports[fabric->self];
	size_t others = 0;
	struct rd_finding finding = {
		"fabric-alone", "no node discovered except this one",
		"no other node responded: this host cannot reach the fabric, or is not connected to one",
		RD_SEV_CRITICAL, .harm = rd_fabric_harm(RD_HARM_ALONE, 0)
	};

	for (size_t i = 0; self && i < fabric->n_ports; i++)
		others += fabric->ports[i].node != self->node && fabric->ports[i].presence != RD_PORT_GONE &&
			  (fabric->ports[i].presence != RD_PORT_UNREACHED || fabric->ports[i].fresh);
	if (others > 0 || !self)
		return;
	finding.subject = rd_text("%s port %u", fabric->ibdev, fabric->port);
	finding.observed = rd_text("the link is %s, and the node at its other end does not respond",
				   self->state == RD_LINK_ACTIVE ? "ACTIVE" : "not ACTIVE");
	finding.expected = rd_dup("a switch, or another host, at the other end of the cable");
	finding.fix = rd_dup("ibstat\n# check the cable, and whether the switch is powered and its port enabled");
	rd_finding_add(j->findings, &finding);
}

/* A delay of this host meets what is in flight at that time; each agent gets its first query alone, so all responses of an agent are
 * late only if the agent is slow. */
static void judge_slow(struct judge *j)
{
	const struct rd_sweep_stats *sweep = &j->fabric->sweep;
	const struct rd_fabric_port *slowest = NULL;
	size_t n = 0, last = RD_NONE;
	struct rd_finding finding = {
		"fabric-agent-slow", "performance management agent responds slowly",
		"a sweep waits for the slowest agent; data does not pass the processor that runs it", RD_SEV_NOTE
	};

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		if (!port->fresh || port->response_ns < SLOW_NS ||
		    port->response_ns < SLOW_TIMES * sweep->latency_median_ns)
			continue;
		n += port->node != last;
		last = port->node;
		if (!slowest || port->response_ns > slowest->response_ns)
			slowest = port;
	}
	if (!slowest)
		return;
	rd_finding_at_node(&finding, node_of(j, slowest));
	finding.observed =
		rd_text("%.0f ms or more, median of all responses %.1f ms; %.2f s of the %.2f s of the sweep; "
			"%zu agent%s",
			(double)slowest->response_ns / 1e6, (double)sweep->latency_median_ns / 1e6,
			(double)slowest->busy_ns / 1e9, (double)sweep->duration_ns / 1e9, n,
			n == 1 ? " is slow" : "s are slow");
	finding.expected = rd_text("less than %u ms", (unsigned)(SLOW_NS / 1000000));
	finding.fix = rd_dup("# look at the load and the firmware of this device");
	rd_finding_add(j->findings, &finding);
}

/* ---- all */

void rd_judge_nodes(struct judge *j)
{
	const struct rd_fabric_port *stranger = NULL;
	size_t n = j->fabric->n_nodes + 1, strangers = 0;
	struct roots r = {
		.of = rd_alloc(n, sizeof(*r.of)),
		.queue = rd_alloc(n, sizeof(*r.queue)),
	};

	j->fates = rd_alloc(n, sizeof(*j->fates));
	for (size_t i = 0; i < j->fabric->n_nodes; i++)
		j->fates[i] = fate_of(j, i);
	judge_alone(j);
	find_borders(j, &r);
	find_roots(j, &r);
	for (size_t i = 0; i < j->fabric->n_nodes; i++) {
		const struct rd_fabric_port *first = NULL;
		size_t queried = 0, failed = 0;

		if (r.of[i].fan >= FAN) {
			_cleanup_free_ char *count = NULL, *names = names_of(j, &r, RD_NONE, i);
			size_t adapters = 0, switches = 0;
			struct rd_finding fan = {
				"fabric-node-gone", "all switches behind this one disappeared",
				"this part of the network is cut off: the links of this switch are down, or all behind it lost power",
				RD_SEV_CRITICAL
			};

			/* Several switches that are gone have one neighbour that is there: it lost its links, or what is behind it lost power. */
			for (size_t k = 0; k < j->fabric->n_nodes; k++) {
				size_t root = r.of[k].root;

				if (root == RD_NONE || r.of[root].sole != i || j->fates[root] != RD_FATE_GONE)
					continue;
				switches += j->fabric->nodes[k].kind == RD_NODE_SWITCH;
				adapters += j->fabric->nodes[k].kind != RD_NODE_SWITCH &&
					    !rd_fabric_is_aggregation(&j->fabric->nodes[k]);
			}
			count = count_text(switches, adapters);
			rd_finding_at_node(&fan, &j->fabric->nodes[i]);
			fan.observed = rd_text("%s: %s", count, names);
			fan.harm = rd_fabric_harm(RD_HARM_SWITCH_GONE, (double)(adapters + switches));
			fan.fix =
				rd_dup("# check this switch and its links to the others, then the power of the others");
			rd_finding_add(j->findings, &fan);
		}
		if (j->fates[i] != RD_FATE_GONE)
			judge_presence(j, i);
		else if (r.of[i].root == i && (r.of[i].sole == RD_NONE || r.of[r.of[i].sole].fan < FAN ||
					       j->fabric->nodes[i].kind != RD_NODE_SWITCH))
			report_gone(j, &r, i);
		if (r.of[i].root != RD_NONE && r.of[i].root != i)
			continue;
		for (size_t p = j->fabric->nodes[i].first; p < j->fabric->nodes[i].end; p++) {
			const struct rd_fabric_port *port = &j->fabric->ports[p];

			if (!port->selected || port->presence == RD_PORT_GONE)
				continue;
			queried++;
			if (port->error == ESTALE) {
				strangers++;
				stranger = port;
			} else if (port->error || port->error_status) {
				failed++;
				first = first ?: port;
			}
		}
		if (failed > 0)
			report_unread(j, first, failed, queried, r.of[i].root == i ? covered_text(j, &r, i) : NULL);
	}
	if (stranger)
		report_strangers(j, stranger, strangers);
	judge_slow(j);
	RD_FREE(r.of, r.queue);
}

/* ---- the discovery itself */

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
		first = first ?: port;
		add_name(&list, &n, &fabric->nodes[port->node], port);
	}
	end_list(out, "port has a link, but no node responded behind it",
		 "ports have a link, but no node responded behind them", &list, n);
	return first;
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
			"fabric-guid-duplicate", "two devices report the same node GUID",
			"the subnet manager takes them for one node: one of them gets no LID, or the wrong routes",
			RD_SEV_CRITICAL
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

		if (!(port->lid && port->presence != RD_PORT_GONE && port->presence != RD_PORT_UNREACHED &&
		      !port->unread &&
		      (port->state == RD_LINK_ACTIVE || fabric->nodes[port->node].kind == RD_NODE_SWITCH)))
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

static void judge_manager(const struct rd_fabric *fabric, struct rd_findings *findings)
{
	struct rd_finding finding = {
		"fabric-sm-silent", "the subnet manager does not respond",
		"ports that come up stay in INIT, and routes are not changed when a link or switch fails; what works "
		"now goes on",
		RD_SEV_WARNING
	};
	_cleanup_free_ char *name = NULL;

	if (!fabric->sm_silent || !fabric->sm_lid)
		return;
	for (size_t i = 0; i < fabric->n_ports && !name; i++)
		if (rd_port_has_lid(&fabric->ports[i], fabric->sm_lid))
			name = rd_safe(rd_fabric_name(&fabric->nodes[fabric->ports[i].node]));
	finding.subject = rd_text("subnet manager at LID %u%s%s%s", fabric->sm_lid, name ? " (" : "", name ?: "",
				  name ? ")" : "");
	finding.observed = rd_dup("no response to SMInfo");
	finding.expected = rd_dup("a response");
	finding.fix = rd_text("sminfo\n# on %s: systemctl status opensm, or the subnet manager that is used there",
			      name ?: "that host");
	rd_finding_add(findings, &finding);
	/* Findings that follow from the subnet manager's absence: links that it does not make ACTIVE, and routes that it does not change. */
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->v[i].id, "fabric-link-inactive") == 0 ||
		    strcmp(findings->v[i].id, "fabric-node-cut-off") == 0)
			rd_finding_blame(&findings->v[i], (&findings->v[findings->n - 1]));
}

void rd_fabric_judge_walk(const struct rd_fabric *fabric, struct rd_findings *findings)
{
	_cleanup_buf_ struct rd_buf observed = { 0 };
	const struct rd_fabric_port *first = list_unreached_ports(fabric, &observed);
	struct rd_finding finding = {
		"fabric-walk-incomplete", "discovery is incomplete: parts of the network were not reached",
		"what is behind these ports is unknown: it is neither checked nor reported as missing", RD_SEV_WARNING
	};
	_cleanup_buf_ struct rd_buf nodes = { 0 };
	size_t n = 0, attributes = 0;
	_cleanup_buf_ struct rd_buf unreached = { 0 };
	size_t missed = 0, last = RD_NONE;

	judge_duplicates(fabric, findings);
	judge_lids(fabric, findings);
	judge_manager(fabric, findings);
	for (size_t k = 0; k < fabric->n_nodes; k++) {
		const struct rd_fabric_node *node = &fabric->nodes[k];

		if (node->unread)
			add_name(&nodes, &n, node, NULL);
		attributes += node->unread;
	}
	end_list(&observed, "node was read in part", "nodes were read in part", &nodes, n);
	if (n)
		rd_buf_printf(&observed, " (%zu attribute%s without a response)", attributes,
			      attributes == 1 ? "" : "s");
	/* Nodes that are kept from an earlier walk. */
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence != RD_PORT_UNREACHED || port->node == last)
			continue;
		last = port->node;
		add_name(&unreached, &missed, &fabric->nodes[port->node], NULL);
	}
	end_list(&observed, "known node was not reached", "known nodes were not reached", &unreached, missed);
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
