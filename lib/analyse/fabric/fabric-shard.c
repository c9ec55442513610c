/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-shard.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

/* What the division is made of: nodes in the order of their GUIDs. */
struct division {
	const struct rd_fabric *fabric;
	struct rd_shards *shards;
	size_t *order;	    /* nodes by GUID */
	size_t *first_port; /* of a node, in the ports of the fabric */
	ssize_t *host_of;   /* of a node; -1: of none that reads */
	size_t *room;	    /* ports that a host may still get */
};

/* The link does not matter: one that comes and goes must not change the division. */
static bool is_readable(const struct rd_fabric_port *port)
{
	return port->selected && port->number > 0 && port->presence != RD_PORT_GONE;
}

/* ---- whose adapter it is */

/* "node17.cluster.example" and "node17" are the same host, "node17" and "node1" are not. */
static bool same_host(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const char *a_dot = memchr(a, '.', a_len), *b_dot = memchr(b, '.', b_len);

	if (!a_dot || !b_dot) { /* one of them without domain */
		a_len = a_dot ? (size_t)(a_dot - a) : a_len;
		b_len = b_dot ? (size_t)(b_dot - b) : b_len;
	}
	return a_len == b_len && strncasecmp(a, b, a_len) == 0;
}

ssize_t rd_shards_find(const struct rd_shards *shards, const char *host)
{
	for (size_t i = 0; i < shards->n; i++)
		if (shards->v[i].host && same_host(shards->v[i].host, strlen(shards->v[i].host), host, strlen(host)))
			return (ssize_t)i;
	return -1;
}

/* Hosts write their name first: "node17 HCA-1", "node17 mlx5_0", "'node17 HCA-1'". */
ssize_t rd_shards_of_node(const struct rd_shards *shards, const struct rd_fabric_node *node)
{
	const char *text = rd_fabric_name(node);
	size_t len;

	text += strspn(text, " '\"");
	len = strcspn(text, " \t'\":/");
	if (node->kind != RD_NODE_CA || len == 0)
		return -1;
	for (size_t i = 0; i < shards->n; i++)
		if (shards->v[i].host && same_host(shards->v[i].host, strlen(shards->v[i].host), text, len))
			return (ssize_t)i;
	return -1;
}

/* ---- order and sum */

static int by_name(const void *a, const void *b)
{
	return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static int compare_guids(const void *a, const void *b, void *arg)
{
	const struct rd_fabric *fabric = arg;
	uint64_t x = fabric->nodes[*(const size_t *)a].guid, y = fabric->nodes[*(const size_t *)b].guid;

	return (x > y) - (x < y);
}

static uint64_t hash_number(uint64_t hash, uint64_t value)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> (56 - 8 * i));
	return rd_hash(hash, bytes, sizeof(bytes));
}

static size_t ports_of(const struct rd_fabric *fabric, size_t from)
{
	size_t n = 0;

	while (from + n < fabric->n_ports && fabric->ports[from + n].node == fabric->ports[from].node)
		n++;
	return n;
}

/* The hosts, and every port that is read with the port at its other end. */
static uint64_t hash_topology(const struct division *d)
{
	uint64_t hash = RD_HASH;

	for (size_t i = 0; i < d->shards->n; i++)
		if (d->shards->v[i].host)
			hash = rd_hash(hash, d->shards->v[i].host, strlen(d->shards->v[i].host) + 1);
	hash = hash_number(hash, d->shards->n);
	for (size_t i = 0; i < d->fabric->n_nodes; i++) {
		size_t first = d->first_port[d->order[i]];

		for (size_t p = first; first != RD_NONE && p < first + ports_of(d->fabric, first); p++) {
			const struct rd_fabric_port *port = &d->fabric->ports[p], *peer;

			if (!is_readable(port))
				continue;
			peer = port->peer == RD_NONE ? NULL : &d->fabric->ports[port->peer];
			hash = hash_number(hash, d->fabric->nodes[port->node].guid);
			hash = hash_number(hash, port->number);
			hash = hash_number(hash, peer ? d->fabric->nodes[peer->node].guid : 0);
			hash = hash_number(hash, peer ? peer->number : 0);
		}
	}
	return hash;
}

/* ---- handing out */

static void give(struct division *d, size_t port, size_t host)
{
	d->shards->owner[port] = (int32_t)host;
	d->shards->v[host].ports++;
	if (d->room[host] > 0)
		d->room[host]--;
}

static bool is_free(const struct division *d, size_t port)
{
	return d->shards->owner[port] < 0 && is_readable(&d->fabric->ports[port]);
}

/* A host's own adapters. */
static void give_own(struct division *d)
{
	for (size_t i = 0; i < d->fabric->n_ports; i++) {
		ssize_t host = d->host_of[d->fabric->ports[i].node];

		if (host < 0 || !is_readable(&d->fabric->ports[i]))
			continue;
		d->shards->v[host].found |= d->fabric->ports[i].peer != RD_NONE ||
					    d->fabric->ports[i].state > RD_LINK_DOWN;
		d->shards->v[host].own++;
		give(d, i, (size_t)host);
	}
}

/* Marks the hosts that read and have a port on this switch; how many. */
static size_t readers_on(const struct division *d, size_t first, size_t n, bool *on)
{
	size_t readers = 0;

	memset(on, 0, d->shards->n * sizeof(*on));
	for (size_t p = first; p < first + n; p++) {
		size_t peer = d->fabric->ports[p].peer;
		ssize_t host = peer == RD_NONE ? -1 : d->host_of[d->fabric->ports[peer].node];

		if (host >= 0 && !on[host]) {
			on[host] = true;
			readers++;
		}
	}
	return readers;
}

/* The reader on this leaf that has most room; -1: none has any. */
static ssize_t roomiest(const struct division *d, const bool *on)
{
	ssize_t best = -1;

	for (size_t i = 0; i < d->shards->n; i++)
		if (on[i] && d->room[i] > 0 && (best < 0 || d->room[i] > d->room[best]))
			best = (ssize_t)i;
	return best;
}

/* The ports of a leaf, each with the adapter's port at its other end, in runs: an agent then hears few hosts. */
static void give_leaf(struct division *d, size_t first, bool *on)
{
	size_t n = ports_of(d->fabric, first), readers = readers_on(d, first, n, on), left = 0;
	ssize_t host = -1;

	if (readers == 0)
		return;
	for (size_t i = 0; i < 2 * n; i++) {
		size_t port = i % 2 == 0 ? first + i / 2 : d->fabric->ports[first + i / 2].peer;

		if (port == RD_NONE || !is_free(d, port) ||
		    (i % 2 == 1 && d->fabric->nodes[d->fabric->ports[port].node].kind != RD_NODE_CA))
			continue;
		if (left == 0 || d->room[host] == 0) {
			host = roomiest(d, on);
			left = (2 * n + readers - 1) / readers;
		}
		if (host < 0)
			return;
		give(d, port, (size_t)host);
		d->shards->v[host].leaf++;
		left--;
	}
}

/* What nobody is near to, to the hosts in turn until each has its share. */
static void give_rest(struct division *d)
{
	size_t host = 0;

	for (size_t i = 0; i < d->fabric->n_nodes; i++) {
		size_t first = d->first_port[d->order[i]];

		for (size_t p = first; first != RD_NONE && p < first + ports_of(d->fabric, first); p++) {
			if (!is_free(d, p))
				continue;
			while (d->room[host] == 0 && host + 1 < d->shards->n)
				host++;
			give(d, p, host);
		}
	}
}

/* ---- the whole */

static void take_names(struct rd_shards *shards, char *const *names, size_t n)
{
	_cleanup_free_ char **sorted = rd_alloc(n, sizeof(*sorted));

	shards->v = rd_alloc(n, sizeof(*shards->v));
	shards->n = names ? 0 : n;
	if (!names)
		return;
	memcpy(sorted, names, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (size_t i = 0; i < n; i++) {
		if (shards->n > 0 && strcasecmp(shards->v[shards->n - 1].host, sorted[i]) == 0)
			continue;
		shards->v[shards->n].host = rd_dup(sorted[i]);
		for (char *c = shards->v[shards->n].host; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		shards->n++;
	}
}

static void division_init(struct division *d)
{
	const struct rd_fabric *fabric = d->fabric;

	d->shards->owner = rd_alloc(fabric->n_ports + 1, sizeof(*d->shards->owner));
	d->order = rd_alloc(fabric->n_nodes + 1, sizeof(*d->order));
	d->first_port = rd_alloc(fabric->n_nodes + 1, sizeof(*d->first_port));
	d->host_of = rd_alloc(fabric->n_nodes + 1, sizeof(*d->host_of));
	d->room = rd_alloc(d->shards->n, sizeof(*d->room));
	for (size_t i = 0; i < fabric->n_nodes; i++) {
		d->order[i] = i;
		d->first_port[i] = RD_NONE;
		d->host_of[i] = rd_shards_of_node(d->shards, &fabric->nodes[i]);
	}
	qsort_r(d->order, fabric->n_nodes, sizeof(*d->order), compare_guids, (void *)(uintptr_t)fabric);
	for (size_t i = fabric->n_ports; i > 0; i--) {
		d->first_port[fabric->ports[i - 1].node] = i - 1;
		d->shards->owner[i - 1] = -1;
		d->shards->ports += is_readable(&fabric->ports[i - 1]);
	}
	for (size_t i = 0; i < d->shards->n; i++)
		d->room[i] = d->shards->ports / d->shards->n + (i < d->shards->ports % d->shards->n);
}

/* How many agents each host asks, and how many ports at most at one of them. */
static void count_agents(const struct division *d)
{
	_cleanup_free_ size_t *at = rd_alloc(d->shards->n, sizeof(*at));

	for (size_t i = 0; i < d->fabric->n_nodes; i++) {
		size_t first = d->first_port[i];

		memset(at, 0, d->shards->n * sizeof(*at));
		for (size_t p = first; first != RD_NONE && p < first + ports_of(d->fabric, first); p++) {
			int32_t host = d->shards->owner[p];

			if (host < 0)
				continue;
			d->shards->v[host].agents += at[host]++ == 0;
			if (at[host] > d->shards->v[host].max_agent)
				d->shards->v[host].max_agent = at[host];
		}
	}
}

int rd_shards_divide(const struct rd_fabric *fabric, char *const *names, size_t n, struct rd_shards *ret)
{
	struct division d = { .fabric = fabric, .shards = ret };
	_cleanup_free_ bool *on = NULL;

	*ret = (struct rd_shards){ 0 };
	if (n == 0)
		return -EINVAL;
	take_names(ret, names, n);
	division_init(&d);
	on = rd_alloc(ret->n, sizeof(*on));
	ret->topology = hash_topology(&d);
	give_own(&d);
	for (size_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[d.order[i]].kind == RD_NODE_SWITCH && d.first_port[d.order[i]] != RD_NONE)
			give_leaf(&d, d.first_port[d.order[i]], on);
	give_rest(&d);
	count_agents(&d);
	free(d.order);
	free(d.first_port);
	free(d.host_of);
	free(d.room);
	return 0;
}

void rd_shards_deinit(struct rd_shards *shards)
{
	for (size_t i = 0; i < shards->n; i++)
		free(shards->v[i].host);
	free(shards->v);
	free(shards->owner);
	*shards = (struct rd_shards){ 0 };
}

void rd_shards_predict(struct rd_shards *shards, unsigned attributes, double latency, unsigned window, unsigned per_lid)
{
	for (size_t i = 0; i < shards->n && window > 0 && per_lid > 0; i++) {
		double all = (double)shards->v[i].ports * attributes * latency / window;
		double one = (double)shards->v[i].max_agent * attributes * latency / per_lid;

		shards->v[i].seconds = all > one ? all : one;
	}
}

void rd_shards_judge(const struct rd_shards *shards, struct rd_findings *findings)
{
	for (size_t i = 0; i < shards->n; i++) {
		const struct rd_shard *shard = &shards->v[i];
		struct rd_finding finding = {
			.id = "fabric-shard-uncovered",
			.severity = RD_SEV_WARNING,
			.title = "ports that nobody reads: their host is not in the fabric",
			.why = "every host reads its own share only; that of a missing one stays unread",
		};

		if (!shard->host || shard->found)
			continue;
		finding.subject = rd_dup(shard->host);
		finding.observed = rd_text("no channel adapter of that name; %zu of %zu ports not covered",
					   shard->ports, shards->ports);
		finding.expected =
			rd_dup("a host of the list has an adapter with a link, and its name in the node description");
		finding.fix = rd_dup("bring it back, or take it off the list on all hosts");
		rd_finding_add(findings, &finding);
	}
}
