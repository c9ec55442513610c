/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A switch without one of the links that all others like it have: 19 of 20 uplinks, or one of two cables to a switch. Switches are
 * alike if they are of the same device, have adapters, and have the same number of links to each of the same other switches. Without
 * a saved topology a missing link is a fault only if nothing else explains it: the switch has all other links of those that are
 * alike, and no more adapters than they have, and both ends have a port without a link.
 */
#include "analyse/fabric/fabric-judge-priv.h"
#include "analyse/fabric/fabric-reach.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define ALIKE 8	   /* fewer switches that are alike have no norm */
#define RARELY 50  /* at most one of so many, or one, may differ */
#define PORTION 10 /* at most one link of so many, or one, may be missing: more is a different design */

/* Links from one switch to another. */
struct pair {
	size_t from, to; /* indices of nodes */
	size_t n;
};

/* A switch with adapters. */
struct leaf {
	size_t node;
	uint64_t likeness;	  /* hash of its device and its pairs: the same for switches that are alike */
	const struct pair *pairs; /* sorted by the other switch */
	size_t n_pairs;
	size_t uplinks, adapters, free; /* links to switches, to others, ports without a link */
	bool unsure;			/* the walk did not see all of its links, or one went down meanwhile */
};

struct uplinks {
	struct pair *pairs;
	size_t n_pairs;
	struct leaf *leaves; /* sorted by likeness */
	size_t n;
	size_t *leaf_of; /* per node: its index in `leaves`; RD_NONE */
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int compare_leaves(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	if (x->likeness != y->likeness)
		return x->likeness < y->likeness ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Lists the pairs of switches with links in each direction, sorted. */
static void list_pairs(const struct judge *j, struct uplinks *u)
{
	size_t n = 0;

	for (size_t i = 0; i < j->fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];

		if (port->presence != RD_PORT_GONE && port->peer != RD_NONE && rd_judge_is_uplink(j, port))
			u->pairs[n++] = (struct pair){ port->node, j->fabric->ports[port->peer].node, 1 };
	}
	qsort(u->pairs, n, sizeof(*u->pairs), compare_pairs);
	for (size_t i = 0; i < n; i++) {
		if (u->n_pairs > 0 && compare_pairs(&u->pairs[u->n_pairs - 1], &u->pairs[i]) == 0)
			u->pairs[u->n_pairs - 1].n++;
		else
			u->pairs[u->n_pairs++] = u->pairs[i];
	}
}

/* FNV-1a, in words. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x100000001b3);
}

static void count_ports(const struct judge *j, struct leaf *leaf)
{
	leaf->unsure = j->fabric->nodes[leaf->node].unread > 0;
	for (size_t i = j->first[leaf->node]; i < j->first[leaf->node + 1]; i++) {
		const struct rd_fabric_port *port = &j->fabric->ports[i];
		bool uplink = rd_judge_is_uplink(j, port);

		if (port->number == 0)
			continue;
		if (port->peer == RD_NONE) {
			/* A link that went down has a finding of its own. */
			leaf->unsure |= uplink || rd_fabric_is_unsure(port);
			leaf->free += port->state == RD_LINK_DOWN && port->physical_state != RD_PHYSICAL_DISABLED;
		} else {
			leaf->uplinks += uplink;
			leaf->adapters += !uplink;
		}
	}
}

static struct leaf describe(const struct judge *j, const struct uplinks *u, size_t node)
{
	const struct rd_fabric_node *is = &j->fabric->nodes[node];
	struct pair key = { node, 0, 0 };
	struct leaf leaf = { .node = node };
	size_t at = rd_lower_bound(&key, u->pairs, u->n_pairs, sizeof(key), compare_pairs);

	count_ports(j, &leaf);
	leaf.pairs = &u->pairs[at];
	leaf.likeness = mix(mix(mix(UINT64_C(0xcbf29ce484222325), is->vendor), is->device), is->n_ports);
	for (; at < u->n_pairs && u->pairs[at].from == node; at++) {
		leaf.n_pairs++;
		leaf.likeness = mix(mix(leaf.likeness, u->pairs[at].to), u->pairs[at].n);
	}
	return leaf;
}

static void list_leaves(const struct judge *j, struct uplinks *u)
{
	for (size_t i = 0; i < j->fabric->n_nodes; i++) {
		u->leaf_of[i] = RD_NONE;
		if (j->fabric->nodes[i].kind != RD_NODE_SWITCH || j->fates[i] == RD_FATE_GONE)
			continue;
		u->leaves[u->n] = describe(j, u, i);
		u->n += u->leaves[u->n].adapters > 0 && u->leaves[u->n].n_pairs > 0;
	}
	qsort(u->leaves, u->n, sizeof(*u->leaves), compare_leaves);
	for (size_t i = 0; i < u->n; i++)
		u->leaf_of[u->leaves[i].node] = i;
}

/* Number of switches that are alike, and the highest number of their adapters. */
static size_t count_alike(const struct uplinks *u, const struct leaf *leaf, size_t *adapters)
{
	struct leaf key = { .likeness = leaf->likeness };
	size_t from = rd_lower_bound(&key, u->leaves, u->n, sizeof(key), compare_leaves), to = from;

	*adapters = 0;
	for (; to < u->n && u->leaves[to].likeness == leaf->likeness; to++)
		*adapters = u->leaves[to].adapters > *adapters ? u->leaves[to].adapters : *adapters;
	return to - from;
}

static bool is_same_device(const struct judge *j, size_t a, size_t b)
{
	const struct rd_fabric_node *x = &j->fabric->nodes[a], *y = &j->fabric->nodes[b];

	return x->vendor == y->vendor && x->device == y->device && x->n_ports == y->n_ports;
}

/* Of the switches that have links to the first switch that `leaf` has links to, one of those of which most are alike. Those that
 * have all links of `leaf` are among them. */
static const struct leaf *find_norm(const struct judge *j, const struct uplinks *u, const struct leaf *leaf,
				    size_t *alike, size_t *adapters)
{
	struct pair key = { leaf->pairs[0].to, 0, 0 };
	size_t at = rd_lower_bound(&key, u->pairs, u->n_pairs, sizeof(key), compare_pairs), n, most;
	const struct leaf *norm = NULL;
	uint64_t seen = 0;

	*alike = 0;
	for (; at < u->n_pairs && u->pairs[at].from == key.from; at++) {
		size_t other = u->leaf_of[u->pairs[at].to];

		if (other == RD_NONE || u->leaves[other].likeness == leaf->likeness ||
		    u->leaves[other].likeness == seen || !is_same_device(j, leaf->node, u->leaves[other].node))
			continue;
		seen = u->leaves[other].likeness;
		n = count_alike(u, &u->leaves[other], &most);
		if (n > *alike) {
			*alike = n;
			*adapters = most;
			norm = &u->leaves[other];
		}
	}
	return norm;
}

static size_t links_to(const struct leaf *leaf, size_t to)
{
	struct pair key = { leaf->node, to, 0 };
	size_t at = rd_lower_bound(&key, leaf->pairs, leaf->n_pairs, sizeof(key), compare_pairs);

	return at < leaf->n_pairs && leaf->pairs[at].to == to ? leaf->pairs[at].n : 0;
}

/* Whether `leaf` has the links of `norm` except for a few, at most one to each switch, and no others. */
static bool is_part_of(const struct leaf *leaf, const struct leaf *norm)
{
	size_t shared = 0, missing = 0, most = norm->uplinks / PORTION > 1 ? norm->uplinks / PORTION : 1;

	for (size_t i = 0; i < norm->n_pairs; i++) {
		size_t has = links_to(leaf, norm->pairs[i].to);

		if (has > norm->pairs[i].n || has + 1 < norm->pairs[i].n)
			return false;
		shared += has;
		missing += norm->pairs[i].n - has;
	}
	return shared == leaf->uplinks && missing > 0 && missing <= most;
}

static void report_missing(struct judge *j, const struct leaf *leaf, const struct leaf *norm, const struct pair *pair,
			   size_t alike)
{
	const char *name = rd_fabric_name(&j->fabric->nodes[pair->to]);
	struct rd_finding finding = {
		.id = "fabric-uplink-missing",
		.severity = RD_SEV_WARNING,
		.title = "switch lacks a link that all others like it have",
		.why = "a cable is missing, unplugged or dead: the adapters at this switch have less bandwidth",
		.harm = rd_fabric_harm(RD_HARM_LINK_DOWN, 1),
		.subject = rd_text("%s, to %s", rd_fabric_name(&j->fabric->nodes[leaf->node]), name),
		.observed = rd_text("%zu of %zu links to %s, %zu of %zu to all switches", links_to(leaf, pair->to),
				    pair->n, name, leaf->uplinks, norm->uplinks),
		.expected = rd_text("all of them, as %zu switches like it have", alike),
		.fix = rd_text("iblinkinfo -S 0x%016" PRIx64 "\n# check the ports without a link of both switches",
			       j->fabric->nodes[leaf->node].guid),
	};

	rd_finding_add(j->findings, &finding);
}

static void judge_leaf(struct judge *j, const struct uplinks *u, const struct leaf *leaf)
{
	size_t alike, most, adapters = 0, own = count_alike(u, leaf, &adapters);
	const struct leaf *norm;

	/* Cheap questions first: in some networks no two switches are alike. */
	if (leaf->free == 0 || leaf->unsure || own >= ALIKE)
		return;
	norm = find_norm(j, u, leaf, &alike, &adapters);
	most = alike / RARELY > 1 ? alike / RARELY : 1;
	if (!norm || alike < ALIKE || own > most || leaf->adapters > adapters || !is_part_of(leaf, norm))
		return;
	for (size_t i = 0; i < norm->n_pairs; i++) {
		struct leaf peer = { .node = norm->pairs[i].to };

		if (links_to(leaf, peer.node) == norm->pairs[i].n)
			continue;
		count_ports(j, &peer);
		if (peer.free > 0 && !peer.unsure)
			report_missing(j, leaf, norm, &norm->pairs[i], alike);
	}
}

void rd_judge_uplinks(struct judge *j)
{
	struct uplinks u = {
		.pairs = rd_alloc(j->fabric->n_ports + 1, sizeof(*u.pairs)),
		.leaves = rd_alloc(j->fabric->n_nodes + 1, sizeof(*u.leaves)),
		.leaf_of = rd_alloc(j->fabric->n_nodes + 1, sizeof(*u.leaf_of)),
	};

	list_pairs(j, &u);
	list_leaves(j, &u);
	for (size_t i = 0; i < u.n; i++)
		judge_leaf(j, &u, &u.leaves[i]);
	RD_FREE(u.pairs, u.leaves, u.leaf_of);
}

void rd_fabric_accept_uplinks(struct rd_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		struct rd_finding *finding = &findings->v[i];

		if (strcmp(finding->id, "fabric-uplink-missing") != 0 || finding->caused_by.id)
			continue;
		finding->severity = RD_SEV_NOTE;
		finding->title = "switch lacks a link that all others like it have, and so it is in the saved topology";
		finding->harm = rd_fabric_harm(RD_HARM_NOTE, 0);
	}
}
