/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Congestion: which ports wait for credits, and for which port they wait in the end. */
#include "analyse/fabric/fabric.h"

/* Share of the data rate from which a link counts as saturated: headers and gaps between packets take the rest. */
#define SATURATED 0.9
#define TICK_BITS 64 /* of the port, in a tick of most devices */
#define EXAMPLES 3

enum root_kind {
	ROOT_RECEIVER,	/* the neighbour is an adapter or router that drains slowly */
	ROOT_SATURATED, /* the link carries what it can */
	ROOT_SWITCH,	/* the neighbour is a switch of which no port waits or is saturated */
	ROOT_UNREAD,	/* the neighbour has ports of which this is unknown */
	ROOT_CIRCLE,	/* the ports wait for each other */
};

/* A port that waits, or a saturated one that others wait for. */
struct member {
	size_t port;
	double share; /* of time waited; 0: it does not wait */
	size_t next;  /* the member that it waits for; RD_NONE: it is a root */
	size_t root;
	enum root_kind kind; /* of a root */
	bool visited, placed;
	bool guessed; /* the tick of the device is unknown: `share` is for that of most devices. Of a root: for one behind it, too */
	/* Of a root: those behind it, and the longest waits among them. */
	size_t n_behind;
	double worst;
	size_t examples[EXAMPLES];
};

struct trees {
	const struct rd_fabric *fabric;
	const struct rd_fabric_limit *limit; /* percent */
	struct member *members;
	size_t n, cap;
	size_t *of_port; /* index of its member; RD_NONE: none */
};

static size_t add_member(struct trees *t, size_t port, double share, bool guessed)
{
	rd_reserve(&t->members, &t->cap, t->n + 1, sizeof(*t->members));
	t->members[t->n] = (struct member){ port, share, RD_NONE, RD_NONE, .guessed = guessed };
	t->of_port[port] = t->n;
	return t->n++;
}

static bool is_saturated(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	double gbps = rd_fabric_link_gbps(port), sent;

	return port->fresh && gbps > 0 && rd_fabric_gbps(fabric, port, RD_C_XMIT_DATA, &sent) &&
	       sent / gbps >= SATURATED;
}

static bool wait_share(const struct rd_fabric *fabric, const struct rd_fabric_port *port, double *share, bool *guessed)
{
	double seconds, gbps = rd_fabric_link_gbps(port);
	uint64_t ticks;

	*guessed = false;
	if (rd_fabric_wait_share(fabric, port, share))
		return true;
	*guessed = fabric->nodes[port->node].tick.known != RD_OK && gbps > 0 &&
		   rd_fabric_delta(fabric, port, RD_C_XMIT_WAIT, &ticks, &seconds);
	if (*guessed)
		*share = (double)ticks * TICK_BITS / (gbps * 1e9 * seconds);
	return *guessed;
}

/* Sets what member `i` waits for, or the kind of root that it is. May add a member. */
static void follow_wait(struct trees *t, size_t i)
{
	const struct rd_fabric *fabric = t->fabric;
	const struct rd_fabric_port *port = &fabric->ports[t->members[i].port];
	const struct rd_fabric_node *node;
	size_t waiting = RD_NONE, saturated = RD_NONE, unread = 0; /* egress ports but the one that faces this port */
	double most = 0, share;

	if (port->peer == RD_NONE) {
		t->members[i].kind = ROOT_UNREAD;
		return;
	}
	node = &fabric->nodes[fabric->ports[port->peer].node];
	if (node->kind != RD_NODE_SWITCH) {
		t->members[i].kind = is_saturated(fabric, port) ? ROOT_SATURATED : ROOT_RECEIVER;
		return;
	}
	for (size_t k = node->first; k < node->end; k++) {
		const struct rd_fabric_port *other = &fabric->ports[k];
		size_t member = t->of_port[k];

		if (k == port->peer || other->number == 0 || other->peer == RD_NONE)
			continue;
		if (member != RD_NONE && t->members[member].share > most) {
			most = t->members[member].share;
			waiting = k;
		}
		if (is_saturated(fabric, other))
			saturated = k;
		else if (!other->fresh || !rd_fabric_wait_share(fabric, other, &share))
			unread++;
	}
	if (waiting != RD_NONE) {
		t->members[i].next = t->of_port[waiting];
	} else if (saturated != RD_NONE) {
		size_t root = t->of_port[saturated];

		if (root == RD_NONE)
			root = add_member(t, saturated, 0, false);
		t->members[root].kind = ROOT_SATURATED;
		t->members[i].next = root;
	} else if (is_saturated(fabric, port)) {
		t->members[i].kind = ROOT_SATURATED;
	} else {
		t->members[i].kind = unread ? ROOT_UNREAD : ROOT_SWITCH;
	}
}

/* Finds the root of member `i`. Each has one `next`, so a chain ends in a root, or in a circle, of which the first member by index
 * becomes the root. Members whose root is known end the search: the time is linear. */
static void find_root(struct trees *t, size_t i)
{
	struct member *m = t->members;
	size_t at = i, root;

	while (!m[at].visited && m[at].next != RD_NONE) {
		m[at].visited = true;
		at = m[at].next;
	}
	root = m[at].root;
	if (m[at].next == RD_NONE) {
		root = at;
	} else if (root == RD_NONE) {
		root = at;
		for (size_t j = m[at].next; j != at; j = m[j].next)
			root = j < root ? j : root;
		m[root].kind = ROOT_CIRCLE;
	}
	for (at = i; at != RD_NONE && !m[at].placed; at = m[at].next) {
		m[at].placed = true;
		m[at].visited = true;
		m[at].root = root;
	}
}

static char *describe(const struct trees *t, const struct member *root)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	const struct rd_fabric_port *port = &t->fabric->ports[root->port];
	double gbps;

	if (root->guessed)
		rd_buf_str(&out, "PortXmitWait increases, in ticks of unknown length");
	else if (root->share > 0)
		rd_buf_printf(&out, "waited for credits %.0f %% of the time", root->share * 100);
	if (rd_fabric_gbps(t->fabric, port, RD_C_XMIT_DATA, &gbps))
		rd_buf_printf(&out, "%ssent %.1f of %.0f Gbit/s", out.len ? ", " : "", gbps, rd_fabric_link_gbps(port));
	for (size_t i = 0; i < root->n_behind && i < EXAMPLES; i++) {
		const struct member *member = &t->members[root->examples[i]];
		_cleanup_free_ char *name = rd_fabric_port_text(t->fabric, &t->fabric->ports[member->port]);

		if (i == 0)
			rd_buf_printf(&out, "%s%zu port%s behind it wait%s: ", out.len ? "; " : "", root->n_behind,
				      root->n_behind == 1 ? "" : "s", root->n_behind == 1 ? "s" : "");
		rd_buf_printf(&out, "%s%s", i ? ", " : "", name);
		if (!root->guessed)
			rd_buf_printf(&out, " %.0f %%", member->share * 100);
	}
	if (root->n_behind > EXAMPLES)
		rd_buf_str(&out, ", ...");
	return rd_dup(out.data);
}

static void describe_kind(const struct trees *t, const struct member *root, struct rd_finding *finding)
{
	const struct rd_fabric_port *port = &t->fabric->ports[root->port];
	_cleanup_free_ char *peer =
		rd_safe(port->peer == RD_NONE ? "the neighbour" :
						rd_fabric_name(&t->fabric->nodes[t->fabric->ports[port->peer].node]));

	switch (root->kind) {
	case ROOT_RECEIVER:
		finding->title = "receiver is slow: ports wait for credits";
		finding->why =
			"the receiver grants no flow control credits, so packets to it fill the buffers of switches "
			"and delay other traffic";
		finding->fix = rd_text(
			"# on %s: rdmadiag check\n# a PCIe link below its speed or width is a frequent cause", peer);
		break;
	case ROOT_SATURATED:
		finding->title = "link is saturated: ports wait for credits";
		finding->why =
			"more data is sent over the link than it can carry: the ports before it wait, the receiver is "
			"not the cause";
		finding->fix = rd_dup(
			"rdmadiag counters --fabric --routes\n# --routes shows how evenly routes lie over the links\n# else spread the senders of the job");
		break;
	case ROOT_SWITCH:
		finding->title = "switch grants few credits: port waits much of the time";
		finding->why =
			"no egress port of the switch waits or is saturated, so the cause is in the switch: bursts "
			"shorter than the interval, or its arbitration";
		finding->fix = rd_text(
			"rdmadiag counters --fabric -i 0.5 -c 4\n# repeat with this shorter interval\n# then check the firmware of %s",
			peer);
		break;
	case ROOT_UNREAD:
		finding->title = "port waits for credits much of the time: the cause behind it is unknown";
		finding->why = "some egress ports of its neighbour were not read, so the cause may be any of them";
		finding->fix = rd_text("perfquery %u %u\n# read all ports of %s",
				       port->peer == RD_NONE ? port->lid : t->fabric->ports[port->peer].lid,
				       port->peer == RD_NONE ? port->number : t->fabric->ports[port->peer].number,
				       peer);
		break;
	case ROOT_CIRCLE:
		finding->title = "ports wait for credits in a circle";
		finding->why =
			"each waits for the next, the last for the first: routes that form a loop of credits can "
			"deadlock";
		finding->fix = rd_dup(
			"# check the routing engine of the subnet manager\n# one free of deadlocks: updn, lash, dfsssp");
		break;
	}
}

void rd_fabric_judge_trees(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits,
			   struct rd_findings *findings)
{
	struct trees t = { .fabric = fabric, .limit = &limits->v[RD_PMA_COUNTERS] };
	size_t waiting;

	if (t.limit->warning < 0)
		return;
	t.of_port = rd_alloc(fabric->n_ports + 1, sizeof(*t.of_port));
	for (size_t i = 0; i < fabric->n_ports; i++)
		t.of_port[i] = RD_NONE;
	for (size_t i = 0; i < t.fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &t.fabric->ports[i];
		double share;
		bool guessed;

		if (port->fresh && port->presence != RD_PORT_GONE && wait_share(t.fabric, port, &share, &guessed) &&
		    share * 100 > t.limit->warning)
			add_member(&t, i, share, guessed);
	}
	waiting = t.n;
	for (size_t i = 0; i < waiting; i++)
		follow_wait(&t, i);
	for (size_t i = 0; i < t.n; i++)
		find_root(&t, i);
	for (size_t i = 0; i < t.n; i++) {
		struct member *member = &t.members[i], *root = &t.members[member->root];
		size_t at;

		/* Counts a member at its root, and keeps it as an example if few of those behind the root wait longer. */
		root->worst = member->share > root->worst ? member->share : root->worst;
		root->guessed |= member->guessed;
		if (member == root)
			continue;
		at = root->n_behind < EXAMPLES ? root->n_behind : EXAMPLES;
		root->n_behind++;
		while (at > 0 && t.members[root->examples[at - 1]].share < member->share) {
			if (at < EXAMPLES)
				root->examples[at] = root->examples[at - 1];
			at--;
		}
		if (at < EXAMPLES)
			root->examples[at] = i;
	}
	for (size_t i = 0; i < t.n; i++)
		if (t.members[i].root == i) {
			const struct member *root = &t.members[i];
			struct rd_finding finding = { .id = "fabric-congested", .severity = RD_SEV_WARNING };

			/* Of a single port that is nothing: all that send much wait a little. */
			if (root->guessed && root->n_behind == 0)
				continue;
			if (root->guessed)
				finding.severity = RD_SEV_NOTE;
			else if (t.limit->critical >= 0 && root->worst * 100 > t.limit->critical)
				finding.severity = RD_SEV_CRITICAL;
			describe_kind(&t, root, &finding);
			rd_finding_at_port(&finding, t.fabric, &t.fabric->ports[root->port]);
			finding.observed = describe(&t, root);
			finding.expected = rd_text("ports wait at most %.0f %% of the time", t.limit->warning);
			rd_finding_add(findings, &finding);
		}
	RD_FREE(t.of_port, t.members);
}
