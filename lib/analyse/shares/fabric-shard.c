/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides the ports of a network among the hosts that read them. */
#include <ctype.h>
#include <strings.h>

#include "analyse/shares/fabric-shard.h"

/*
 * Rendezvous hashing with bounded loads: spreads items over bins so that a bin that appears or disappears moves few items. The
 * result depends only on the keys, weights and rooms, not on their order, and is computed with integers, so that every machine
 * gets the same.
 */

struct bin {
	uint64_t key;	 /* a hash, unique */
	uint32_t weight; /* expected number of items, relative to that of other bins; at least 1 */
	size_t room;	 /* the most items that it takes */
	size_t id;	 /* what an item's owner is set to */
};

/* Bins that an item compares; further ones follow in the order of their keys. Bounds the cost with very many bins. */
#define COMPARED 512

#define UNTRIED UINT64_MAX

/* What an item costs a bin; lower is better. Distinct for the bins of an item: by its place after the item's key. */
struct cost {
	uint64_t value;
	size_t place;
};

/* An item in a bin. */
struct held {
	uint64_t cost, key;
	size_t item;
};

struct matching {
	struct bin *bins; /* by key */
	size_t n_bins, compared;
	const uint64_t *items;
	size_t *first;	     /* per item: the bin that its places begin with */
	struct cost *asked;  /* per item: of the latest bin that it asked */
	struct held **heaps; /* per bin: the item with the highest cost first */
	size_t *loads;	     /* per bin */
};

/* Finalizer of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* -ln(1 - x) of a uniform x, to the fourth power, in units of 2^-32: exponentially distributed, so that divided by their weights the
 * least of several is each one's in proportion to its weight. */
static uint64_t exponential(uint64_t hash)
{
	uint64_t x = hash >> 32, square = x * x >> 32;

	return x + square / 2 + (square * x >> 32) / 3 + (square * square >> 32) / 4;
}

static uint64_t cost_of(const struct matching *m, size_t item, size_t place)
{
	const struct bin *bin = &m->bins[(m->first[item] + place) % m->n_bins];

	if (place >= m->compared)
		return (UINT64_C(1) << 63) + place;
	return (exponential(mix(m->items[item] ^ bin->key)) << 28) / bin->weight;
}

static bool is_after(struct cost a, struct cost b)
{
	return a.value > b.value || (a.value == b.value && a.place > b.place);
}

/* The item's next place after the one asked, by cost. False: all have been asked. */
static bool next_place(const struct matching *m, size_t item, struct cost *ret)
{
	struct cost last = m->asked[item], best = { UNTRIED, 0 };
	bool any = last.value == UNTRIED;

	for (size_t place = 0; place < m->compared; place++) {
		struct cost cost = { cost_of(m, item, place), place };

		if ((any || is_after(cost, last)) && is_after(best, cost))
			best = cost;
	}
	if (best.value == UNTRIED) {
		best.place = any || last.place < m->compared ? m->compared : last.place + 1;
		if (best.place >= m->n_bins)
			return false;
		best.value = cost_of(m, item, best.place);
	}
	*ret = best;
	return true;
}

/* ---- heaps of the items in a bin */

static bool is_worse(const struct held *a, const struct held *b)
{
	return a->cost > b->cost || (a->cost == b->cost && a->key > b->key);
}

static void swap(struct held *heap, size_t a, size_t b)
{
	struct held held = heap[a];

	heap[a] = heap[b];
	heap[b] = held;
}

static void sift_down(struct held *heap, size_t n)
{
	size_t at = 0;

	while (2 * at + 1 < n) {
		size_t child = 2 * at + 1;

		if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
			child++;
		if (!is_worse(&heap[child], &heap[at]))
			return;
		swap(heap, at, child);
		at = child;
	}
}

/* Offers an item to a bin. Returns the item that the bin does not keep; SIZE_MAX: it keeps all. */
static size_t offer_to_bin(struct matching *m, size_t bin, struct held held)
{
	struct held *heap = m->heaps[bin];
	size_t out;

	if (m->loads[bin] < m->bins[bin].room) {
		size_t at;

		heap[m->loads[bin]] = held;
		at = m->loads[bin]++;
		for (; at > 0 && is_worse(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
			swap(heap, at, (at - 1) / 2);
		return SIZE_MAX;
	}
	if (m->loads[bin] == 0 || !is_worse(&heap[0], &held))
		return held.item;
	out = heap[0].item;
	heap[0] = held;
	sift_down(heap, m->loads[bin]);
	return out;
}

/* Places an item, and those that it displaces. One that no bin keeps stays without. */
static void place_item(struct matching *m, size_t item)
{
	while (item != SIZE_MAX) {
		struct cost next;
		size_t bin;

		if (!next_place(m, item, &next))
			return;
		m->asked[item] = next;
		bin = (m->first[item] + next.place) % m->n_bins;
		item = offer_to_bin(m, bin, (struct held){ next.value, m->items[item], item });
	}
}

/* ---- all of it */

/*
 * Sets owner[i] to the `id` of the bin of the item with the hash `items[i]`; -1 where no bin has room. Each item prefers its bins in
 * the order of a hash of both keys divided by the weight of the bin. A full bin keeps the items with the lowest hashes (stable
 * matching by deferred acceptance: Gale and Shapley 1962). Changes `bins`.
 */
static void rendezvous(struct bin *bins, size_t n_bins, const uint64_t *items, size_t n_items, int32_t *owner)
{
	_cleanup_free_ size_t *first = rd_alloc(n_items + 1, sizeof(*first));
	_cleanup_free_ struct cost *asked = rd_alloc(n_items + 1, sizeof(*asked));
	struct matching m = { .bins = bins, .n_bins = n_bins, .items = items, .first = first, .asked = asked };
	size_t n = 0;

	/* Sorts the bins by their mixed keys, and drops those without room. */
	for (size_t i = 0; i < m.n_bins; i++) {
		if (m.bins[i].room == 0)
			continue;
		m.bins[n] = m.bins[i];
		m.bins[n].key = mix(m.bins[n].key);
		n++;
	}
	m.n_bins = n;
	m.compared = n < COMPARED ? n : COMPARED;
	qsort(m.bins, n, sizeof(*m.bins), rd_compare_u64);
	m.heaps = rd_alloc(n + 1, sizeof(*m.heaps));
	m.loads = rd_alloc(n + 1, sizeof(*m.loads));
	for (size_t i = 0; i < n; i++)
		m.heaps[i] = rd_alloc((m.bins[i].room < n_items ? m.bins[i].room : n_items) + 1, sizeof(**m.heaps));
	for (size_t i = 0; i < n_items; i++) {
		uint64_t key = mix(items[i]);

		owner[i] = -1;
		if (m.n_bins == 0)
			continue;
		first[i] = rd_lower_bound(&key, m.bins, m.n_bins, sizeof(*m.bins), rd_compare_u64) % m.n_bins;
		asked[i].value = UNTRIED;
	}
	for (size_t i = 0; i < n_items && m.n_bins > 0; i++)
		place_item(&m, i);
	for (size_t b = 0; b < m.n_bins; b++) {
		for (size_t i = 0; i < m.loads[b]; i++)
			owner[m.heaps[b][i].item] = (int32_t)m.bins[b].id;
		free(m.heaps[b]);
	}
	RD_FREE(m.heaps, m.loads);
}

/* ---- the division */

/* State of a division. Nodes are processed in the order of their GUIDs, as they are sorted. */
struct division {
	const struct rd_fabric *fabric;
	struct rd_shards *shards;
	ssize_t *host_of; /* per node: index of its host; -1: not in the list */
	uint64_t *keys;	  /* per host: hash of its name */
	size_t *marked;	  /* per host: the switch that it was last seen at, see hosts_on */
	size_t *wanted;	  /* ports to be assigned, and their hashes */
	uint64_t *items;
	size_t n_wanted;
	size_t near; /* the most ports of a host's leaf switches and the adapters attached to them */
};

/* Independent of the state of the link: a link that flaps must not change the division. */
static bool is_readable(const struct rd_fabric_port *port)
{
	return port->selected && port->number > 0 && port->presence != RD_PORT_GONE;
}

/* ---- hosts of adapters */

/* "node17.cluster.example" and "node17" are the same host, "node17" and "node1" are not. */
static bool same_host(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const char *a_dot = memchr(a, '.', a_len), *b_dot = memchr(b, '.', b_len);

	if (!a_dot || !b_dot) { /* at least one has no domain */
		a_len = a_dot ? (size_t)(a_dot - a) : a_len;
		b_len = b_dot ? (size_t)(b_dot - b) : b_len;
	}
	return a_len == b_len && strncasecmp(a, b, a_len) == 0;
}

static ssize_t find_host(const struct rd_shards *shards, const char *host, size_t len)
{
	for (size_t i = 0; i < shards->n; i++)
		if (shards->v[i].host && same_host(shards->v[i].host, strlen(shards->v[i].host), host, len))
			return (ssize_t)i;
	return -1;
}

ssize_t rd_shards_find(const struct rd_shards *shards, const char *host)
{
	return find_host(shards, host, strlen(host));
}

/* The node description begins with the host name: "node17 HCA-1", "node17 mlx5_0", "'node17 HCA-1'". */
ssize_t rd_shards_of_node(const struct rd_shards *shards, const struct rd_fabric_node *node)
{
	const char *text = rd_fabric_name(node);
	size_t len;

	text += strspn(text, " '\"");
	len = strcspn(text, " \t'\":/");
	return node->kind != RD_NODE_CA || len == 0 ? -1 : find_host(shards, text, len);
}

/* ---- order and hash */

static int by_name(const void *a, const void *b)
{
	return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static uint64_t hash_number(uint64_t hash, uint64_t value)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> (56 - 8 * i));
	return rd_hash(hash, bytes, sizeof(bytes));
}

/* ---- assigning ports */

static void assign_port(struct division *d, size_t port, size_t host)
{
	d->shards->owner[port] = (int32_t)host;
	d->shards->v[host].ports++;
}

static bool is_unassigned(const struct division *d, size_t port)
{
	return d->shards->owner[port] < 0 && is_readable(&d->fabric->ports[port]);
}

static size_t room_of(const struct division *d, size_t host)
{
	size_t ports = d->shards->v[host].ports;

	return ports < d->shards->most ? d->shards->most - ports : 0;
}

static size_t leaf_room_of(const struct division *d, size_t host)
{
	size_t leaf = d->shards->v[host].leaf, room = room_of(d, host), left = leaf < d->near ? d->near - leaf : 0;

	return left < room ? left : room;
}

/* Collects the hosts of the list that are attached to this switch; returns their number. */
static size_t hosts_on(const struct division *d, const struct rd_fabric_node *node, struct bin *bins)
{
	size_t hosts = 0;

	for (size_t p = node->first; p < node->end; p++) {
		size_t peer = d->fabric->ports[p].peer;
		ssize_t host = peer == RD_NONE ? -1 : d->host_of[d->fabric->ports[peer].node];

		if (host < 0 || d->marked[host] == node->first + 1)
			continue;
		d->marked[host] = node->first + 1;
		bins[hosts++] = (struct bin){ d->keys[host], 1, leaf_room_of(d, (size_t)host), (size_t)host };
	}
	return hosts;
}

/* Adds a port to those to be assigned, if it is. */
static void want(struct division *d, size_t port)
{
	if (port == RD_NONE || !is_unassigned(d, port))
		return;
	d->wanted[d->n_wanted] = port;
	d->items[d->n_wanted++] = hash_number(hash_number(RD_HASH, d->fabric->nodes[d->fabric->ports[port].node].guid),
					      d->fabric->ports[port].number);
}

/* Assigns the wanted ports to hosts with room. */
static void assign_wanted(struct division *d, struct bin *bins, size_t n_bins, bool leaf)
{
	_cleanup_free_ int32_t *owner = rd_alloc(d->n_wanted + 1, sizeof(*owner));

	rendezvous(bins, n_bins, d->items, d->n_wanted, owner);
	for (size_t i = 0; i < d->n_wanted; i++) {
		if (owner[i] < 0)
			continue;
		assign_port(d, d->wanted[i], (size_t)owner[i]);
		d->shards->v[owner[i]].leaf += leaf;
	}
	d->n_wanted = 0;
}

/* ---- dividing */

/* Sorts the names, in lower case, without duplicates. */
static void set_hosts(struct rd_shards *shards, char *const *names, size_t n)
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

/*
 * At most: an even share and five percent or, if that is more, its square root, by which the numbers of ports that hashing gives to
 * the hosts scatter; the closer the bound, the more ports must move from full hosts when one leaves. Near: half of the share
 * of the next power of two of hosts, which is the same when a fleet of a usual size loses a host.
 */
static void set_bounds(struct division *d)
{
	size_t share = (d->shards->ports + d->shards->n - 1) / d->shards->n, root = 0, hosts = 1;

	while ((root + 1) * (root + 1) <= share)
		root++;
	while (hosts * hosts * 2 < d->shards->n * d->shards->n)
		hosts *= 2;
	d->shards->most = share + (root > share / 20 ? root : share / 20);
	d->near = d->shards->ports / (2 * hosts);
	if (d->near == 0)
		d->near = 1;
}

/* Counts the agents that each host queries, and the most ports that it reads from one of them. */
static void count_agents(const struct division *d)
{
	_cleanup_free_ size_t *ports = rd_alloc(d->shards->n, sizeof(*ports)); /* of one agent, per host */

	for (size_t i = 0; i < d->fabric->n_nodes; i++) {
		const struct rd_fabric_node *node = &d->fabric->nodes[i];

		for (size_t p = node->first; p < node->end; p++) {
			int32_t host = d->shards->owner[p];

			if (host < 0)
				continue;
			d->shards->v[host].agents += ports[host]++ == 0;
			if (ports[host] > d->shards->v[host].max_agent)
				d->shards->v[host].max_agent = ports[host];
		}
		for (size_t p = node->first; p < node->end; p++)
			if (d->shards->owner[p] >= 0)
				ports[d->shards->owner[p]] = 0;
	}
}

void rd_shards_divide(const struct rd_fabric *fabric, char *const *names, size_t n, struct rd_shards *ret)
{
	struct division d = { .fabric = fabric, .shards = ret };
	_cleanup_free_ struct bin *bins = NULL;
	size_t usual;
	uint64_t hash = RD_HASH;

	*ret = (struct rd_shards){ 0 };
	set_hosts(ret, names, n);
	d.shards->owner = rd_alloc(fabric->n_ports + 1, sizeof(*d.shards->owner));
	d.host_of = rd_alloc(fabric->n_nodes + 1, sizeof(*d.host_of));
	d.keys = rd_alloc(d.shards->n, sizeof(*d.keys));
	d.marked = rd_alloc(d.shards->n, sizeof(*d.marked));
	d.wanted = rd_alloc(fabric->n_ports + 1, sizeof(*d.wanted));
	d.items = rd_alloc(fabric->n_ports + 1, sizeof(*d.items));
	for (size_t i = 0; i < fabric->n_nodes; i++)
		d.host_of[i] = rd_shards_of_node(d.shards, &fabric->nodes[i]);
	for (size_t i = fabric->n_ports; i > 0; i--) {
		d.shards->owner[i - 1] = -1;
		d.shards->ports += is_readable(&fabric->ports[i - 1]);
	}
	for (size_t i = 0; i < d.shards->n; i++)
		d.keys[i] = d.shards->v[i].host ? rd_hash(RD_HASH, d.shards->v[i].host, strlen(d.shards->v[i].host)) :
						  hash_number(RD_HASH, i);
	set_bounds(&d);
	bins = rd_alloc(ret->n, sizeof(*bins));
	/* Of the hosts, and of every readable port with its peer port. */
	for (size_t k = 0; k < d.shards->n; k++)
		if (d.shards->v[k].host)
			hash = rd_hash(hash, d.shards->v[k].host, strlen(d.shards->v[k].host) + 1);
	hash = hash_number(hash, d.shards->n);
	for (size_t k = 0; k < d.fabric->n_nodes; k++)
		for (size_t p = d.fabric->nodes[k].first; p < d.fabric->nodes[k].end; p++) {
			const struct rd_fabric_port *port = &d.fabric->ports[p], *peer;

			if (!is_readable(port))
				continue;
			peer = port->peer == RD_NONE ? NULL : &d.fabric->ports[port->peer];
			hash = hash_number(hash, d.fabric->nodes[port->node].guid);
			hash = hash_number(hash, port->number);
			hash = hash_number(hash, peer ? d.fabric->nodes[peer->node].guid : 0);
			hash = hash_number(hash, peer ? peer->number : 0);
		}
	ret->topology = hash;
	/* Assigns the ports of each host's own adapters. */
	for (size_t i = 0; i < d.fabric->n_ports; i++) {
		ssize_t host = d.host_of[d.fabric->ports[i].node];

		if (host < 0 || !is_readable(&d.fabric->ports[i]))
			continue;
		d.shards->v[host].found |= d.fabric->ports[i].peer != RD_NONE ||
					   d.fabric->ports[i].state > RD_LINK_DOWN;
		d.shards->v[host].own++;
		assign_port(&d, i, (size_t)host);
	}
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < fabric->n_nodes; i++) {
			const struct rd_fabric_node *node = &fabric->nodes[i];

			if (node->kind != RD_NODE_SWITCH)
				continue;
			if (pass == 0) {
				/* Assigns the other ends of the cables of a host's adapters. */
				for (size_t p = node->first; p < node->end; p++) {
					size_t peer = d.fabric->ports[p].peer;
					ssize_t host = peer == RD_NONE ? -1 : d.host_of[d.fabric->ports[peer].node];

					if (host < 0 || !is_unassigned(&d, p) || leaf_room_of(&d, (size_t)host) == 0)
						continue;
					assign_port(&d, p, (size_t)host);
					d.shards->v[host].leaf++;
				}
			} else {
				size_t hosts = hosts_on(&d, node, bins);

				/* Assigns ports of a leaf switch, and the adapters' ports attached to it, to the hosts on it: to each at most a third, because those
				 * of a host that leaves move to the few others on the leaf, which then hand over as many others. */
				if (hosts == 0)
					continue;
				for (size_t p = node->first; p < node->end; p++) {
					size_t peer = d.fabric->ports[p].peer;

					want(&d, p);
					if (peer != RD_NONE &&
					    d.fabric->nodes[d.fabric->ports[peer].node].kind == RD_NODE_CA)
						want(&d, peer);
				}
				for (size_t k = 0; k < hosts; k++)
					if (bins[k].room > d.n_wanted / 3)
						bins[k].room = d.n_wanted / 3;
				assign_wanted(&d, bins, hosts, true);
			}
		}
	/* Assigns the remaining ports to all hosts, more to those that have fewer. */
	usual = 2 * d.near;
	for (size_t i = 0; i < d.shards->n; i++) {
		size_t ports = d.shards->v[i].ports, weight = ports < usual ? usual - ports : 0;

		weight = weight * 256 / usual;
		bins[i] = (struct bin){ d.keys[i], weight > 16 ? (uint32_t)weight : 16, room_of(&d, i), i };
	}
	for (size_t i = 0; i < d.fabric->n_ports; i++)
		want(&d, i);
	assign_wanted(&d, bins, d.shards->n, false);
	count_agents(&d);
	RD_FREE(d.host_of, d.keys, d.marked, d.wanted, d.items);
}

void rd_shards_deinit(struct rd_shards *shards)
{
	for (size_t i = 0; i < shards->n; i++)
		free(shards->v[i].host);
	RD_FREE(shards->v, shards->owner);
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

void rd_shards_judge(const struct rd_fabric *fabric, const struct rd_shards *shards, struct rd_findings *findings)
{
	size_t unnamed = 0;

	/* "MT4123 ConnectX6   Mellanox Technologies": the kernel sets the description at start, rdma-ndd puts the host name into it. */
	for (size_t i = 0; i < fabric->n_nodes; i++)
		unnamed += fabric->nodes[i].kind == RD_NODE_CA && !rd_fabric_is_aggregation(&fabric->nodes[i]) &&
			   strstr(rd_fabric_name(&fabric->nodes[i]), "Mellanox Technologies");
	for (size_t i = 0; i < shards->n; i++) {
		const struct rd_shard *shard = &shards->v[i];
		struct rd_finding finding = {
			"fabric-shard-uncovered", "ports are not read: the host assigned to them is not in the fabric",
			"each host reads only its own share; the share of a missing host is not read", RD_SEV_WARNING
		};

		if (!shard->host || shard->found)
			continue;
		finding.subject = rd_dup(shard->host);
		finding.observed = rd_text("no channel adapter with that name; %zu of %zu ports not covered",
					   shard->ports, shards->ports);
		finding.expected =
			rd_dup("an adapter with a link, whose node description begins with the name of the host");
		finding.fix =
			unnamed ?
				rd_text("# %zu adapters have the description of their vendor: on all hosts, give their "
					"names by --node-name-map, or start rdma-ndd",
					unnamed) :
				rd_dup("# bring the host back, or remove it from the list on all hosts");
		rd_finding_add(findings, &finding);
	}
}
