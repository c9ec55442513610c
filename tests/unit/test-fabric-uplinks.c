/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links that switches lack, in networks of all shapes: sound ones are silent, and of one without a cable either nothing is said or just
 * that. With files of ibnetdiscover as arguments: what is said of them, see tests/fabric/dumps.
 */
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "collect/fabric/fabric.h"
#include "fabric-text.h"

#define SWITCHES 512

struct net {
	struct rd_buf text;
	unsigned ports, used[SWITCHES], hosts; /* of each switch */
	unsigned ends[8192][2], n, without;    /* cables between switches; the one that is left out, n: none */
};

static unsigned add_switch(struct net *net, unsigned id)
{
	rd_buf_printf(&net->text, "node 0x%x switch %u \"s%u\"\n", 0x10000 + id, net->ports, id);
	return id;
}

static void add_hosts(struct net *net, unsigned at, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned guid = 0x1000000 + net->hosts++;

		rd_buf_printf(&net->text, "node 0x%x ca 1 \"%s%u\"\n", guid, name, guid);
		rd_buf_printf(&net->text, "link 0x%x %u 0x%x 1 4xHDR\n", 0x10000 + at, ++net->used[at], guid);
	}
}

static void add_cables(struct net *net, unsigned a, unsigned b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		net->used[a]++;
		net->used[b]++;
		assert_true(net->used[a] < net->ports && net->used[b] < net->ports);
		if (net->n != net->without)
			rd_buf_printf(&net->text, "link 0x%x %u 0x%x %u 4xHDR\n", 0x10000 + a, net->used[a],
				      0x10000 + b, net->used[b]);
		net->ends[net->n][0] = a;
		net->ends[net->n++][1] = b;
	}
}

/* Leaves from 100, all connected to `spines` from 0. */
static void tree(struct net *net, unsigned leaves, unsigned spines, unsigned cables, unsigned hosts)
{
	for (unsigned s = 0; s < spines; s++)
		add_switch(net, s);
	for (unsigned l = 0; l < leaves; l++) {
		add_hosts(net, add_switch(net, 100 + l), hosts, "h");
		for (unsigned s = 0; s < spines; s++)
			add_cables(net, 100 + l, s, cables);
	}
}

static void add_aggregation(struct net *net, unsigned from, unsigned to)
{
	for (unsigned s = from; s < to; s++)
		add_hosts(net, s, 1, "Mellanox Technologies Aggregation Node ");
}

static void two_tiers(struct net *net)
{
	tree(net, 18, 9, 2, 18);
}

static void four_leaves(struct net *net)
{
	tree(net, 4, 2, 9, 18);
}

/* Spines with adapters of their own are spines: each switch has an aggregation node, one has hosts that manage the network. */
static void sharp(struct net *net)
{
	tree(net, 12, 4, 4, 16);
	add_aggregation(net, 0, 4);
	add_aggregation(net, 100, 112);
	add_hosts(net, 0, 2, "ufm");
}

static void pods(struct net *net, const unsigned *leaves, unsigned n)
{
	for (unsigned core = 0; core < 16; core++)
		add_switch(net, core);
	for (unsigned p = 0; p < n; p++) {
		for (unsigned a = 0; a < 4; a++) {
			add_switch(net, 16 + 4 * p + a);
			for (unsigned c = 0; c < 4; c++)
				add_cables(net, 16 + 4 * p + a, 4 * a + c, 1);
		}
		for (unsigned l = 0; l < leaves[p]; l++) {
			add_hosts(net, add_switch(net, 100 + 10 * p + l), 4, "h");
			for (unsigned a = 0; a < 4; a++)
				add_cables(net, 100 + 10 * p + l, 16 + 4 * p + a, 1);
		}
	}
}

static void three_tiers(struct net *net)
{
	pods(net, (const unsigned[]){ 4, 4, 4, 4, 4, 4 }, 6);
}

static void half_populated(struct net *net)
{
	pods(net, (const unsigned[]){ 6, 5, 4, 2, 2, 3, 6, 2 }, 8);
}

/* In each unit a leaf per rail, all connected to the same spines. */
static void rails(struct net *net)
{
	tree(net, 24, 8, 2, 12);
	add_aggregation(net, 0, 8);
}

static void torus_of(struct net *net, unsigned x, unsigned y, bool wrap)
{
	for (unsigned i = 0; i < x * y; i++)
		add_hosts(net, add_switch(net, i), 3, "h");
	for (unsigned i = 0; i < x * y; i++) {
		if (wrap || i % x + 1 < x)
			add_cables(net, i, i / x * x + (i % x + 1) % x, 1);
		if (wrap || i / x + 1 < y)
			add_cables(net, i, (i + x) % (x * y), 1);
	}
}

static void torus(struct net *net)
{
	torus_of(net, 5, 4, true);
}

static void grid(struct net *net)
{
	torus_of(net, 12, 12, false);
}

static void ladder(struct net *net)
{
	torus_of(net, 8, 2, false);
}

static void chain(struct net *net)
{
	torus_of(net, 12, 1, false);
}

static void hypercube(struct net *net)
{
	for (unsigned i = 0; i < 16; i++)
		add_hosts(net, add_switch(net, i), 3, "h");
	for (unsigned i = 0; i < 16; i++)
		for (unsigned bit = 1; bit < 16; bit <<= 1)
			if (i & bit)
				add_cables(net, i, i ^ bit, 1);
}

static void full_mesh(struct net *net)
{
	for (unsigned i = 0; i < 12; i++)
		add_hosts(net, add_switch(net, i), 3, "h");
	for (unsigned i = 0; i < 12; i++)
		for (unsigned k = 0; k < i; k++)
			add_cables(net, i, k, 1);
}

/* `links` between each two groups of four leaves and four spines, dealt to the spines in turn. */
static void dragonfly_of(struct net *net, unsigned groups, unsigned links)
{
	unsigned next[16] = { 0 };

	for (unsigned s = 0; s < 4 * groups; s++)
		add_switch(net, s);
	for (unsigned l = 0; l < 4 * groups; l++) {
		add_hosts(net, add_switch(net, 100 + l), 8, "h");
		for (unsigned s = 0; s < 4; s++)
			add_cables(net, 100 + l, l / 4 * 4 + s, 2);
	}
	for (unsigned a = 0; a < groups; a++)
		for (unsigned b = 0; b < a; b++)
			for (unsigned i = 0; i < links; i++)
				add_cables(net, 4 * a + next[a]++ % 4, 4 * b + next[b]++ % 4, 1);
}

static void dragonfly(struct net *net)
{
	dragonfly_of(net, 5, 4);
}

/* Seven links for four spines: each group has a spine with one less. */
static void uneven_dragonfly(struct net *net)
{
	dragonfly_of(net, 8, 1);
}

/* Uplinks that do not divide evenly: 75 % of the leaves have two links to each spine, and no two in a row the same. */
static void uneven(struct net *net)
{
	unsigned next = 0;

	for (unsigned s = 0; s < 4; s++)
		add_switch(net, s);
	for (unsigned l = 0; l < 12; l++) {
		add_hosts(net, add_switch(net, 100 + l), 8, "h");
		for (unsigned i = 0; i < 7; i++)
			add_cables(net, 100 + l, next++ % 4, 1);
	}
}

/* 128 adapters at leaves of at most twelve: four leaves have eleven, and as many uplinks. */
static void smaller_leaves(struct net *net)
{
	for (unsigned s = 0; s < 6; s++)
		add_switch(net, s);
	for (unsigned l = 0; l < 11; l++) {
		add_hosts(net, add_switch(net, 100 + l), l < 7 ? 12 : 11, "h");
		for (unsigned s = 0; s < 6; s++)
			add_cables(net, 100 + l, s, l >= 7 && s == l - 7 ? 1 : 2);
	}
}

/* A leaf for storage at half of the spines, one for management with a single link, and an older switch. */
static void guests(struct net *net)
{
	tree(net, 12, 6, 2, 12);
	add_hosts(net, add_switch(net, 200), 6, "storage");
	add_hosts(net, add_switch(net, 201), 6, "login");
	add_hosts(net, add_switch(net, 202), 20, "old");
	for (unsigned s = 0; s < 3; s++)
		add_cables(net, 200, s, 2);
	add_cables(net, 201, 0, 1);
	add_cables(net, 202, 4, 2);
	add_cables(net, 202, 5, 2);
}

static void single(struct net *net)
{
	add_hosts(net, add_switch(net, 0), 20, "h");
}

/* Numbers of cables that are found when one is missing: all, some, or none since it cannot be known. */
enum found { ALL, SOME, NONE };

static const struct {
	const char *name;
	void (*make)(struct net *net);
	enum found found;
} shapes[] = {
	{ "two tiers", two_tiers, ALL },
	{ "four leaves", four_leaves, ALL },
	{ "aggregation nodes", sharp, ALL },
	{ "three tiers", three_tiers, ALL },
	{ "half-populated pods", half_populated, ALL },
	{ "rails", rails, ALL },
	{ "torus", torus, ALL },
	{ "grid", grid, NONE },
	{ "ladder", ladder, NONE },
	{ "chain", chain, NONE },
	{ "hypercube", hypercube, ALL },
	{ "full mesh", full_mesh, ALL },
	{ "dragonfly", dragonfly, ALL },
	{ "uneven dragonfly", uneven_dragonfly, SOME },
	{ "uneven uplinks", uneven, NONE },
	{ "smaller leaves", smaller_leaves, SOME },
	{ "guests", guests, SOME },
	{ "single switch", single, NONE },
};

static void judge(const char *name, const char *text, size_t size, struct rd_findings *findings)
{
	struct rd_err err = { 0 };
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric = { 0 };
	struct rd_fabric_limits limits;

	if (rd_topology_parse(name, text, size, &fabric, &err) < 0)
		fail_msg("%s: %s", err.object, err.message);
	fabric.self = 0;
	rd_fabric_limits_init(&limits);
	rd_fabric_judge(&fabric, &limits, NULL, findings);
}

/* Makes the network without a cable. Whether that is found; anything else that is said is an error. The number of cables, if it is
 * the number of the one that is left out. */
static bool finds(size_t shape, unsigned without, unsigned *cables)
{
	struct net *net = rd_alloc(1, sizeof(*net));
	struct rd_findings findings = { 0 };
	char down[64] = "", up[64] = "";
	bool found;

	net->ports = 64;
	net->without = without;
	rd_buf_str(&net->text, RD_TOPOLOGY_MAGIC "\n");
	shapes[shape].make(net);
	judge(shapes[shape].name, net->text.data, net->text.len, &findings);
	if (without < net->n) {
		snprintf(down, sizeof(down), "s%u, to s%u", net->ends[without][0], net->ends[without][1]);
		snprintf(up, sizeof(up), "s%u, to s%u", net->ends[without][1], net->ends[without][0]);
	}
	for (size_t i = 0; i < findings.n; i++) {
		const char *subject = findings.v[i].subject;

		if (findings.n > 1 || strcmp(findings.v[i].id, "fabric-uplink-missing") != 0 ||
		    (strcmp(subject, down) != 0 && strcmp(subject, up) != 0))
			fail_msg("%s without '%s': %s %s", shapes[shape].name, down, findings.v[i].id, subject);
	}
	found = findings.n == 1;
	*cables = net->n;
	rd_findings_deinit(&findings);
	rd_buf_deinit(&net->text);
	free(net);
	return found;
}

TEST(sound_networks_are_silent_and_one_missing_cable_is_found)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(shapes); i++) {
		unsigned cables, n = 0, found = 0, step;

		assert_false(finds(i, UINT32_MAX, &cables));
		step = cables / 24 + 1;
		for (unsigned without = 0; without < cables; without += step, n++)
			found += finds(i, without, &cables);
		if ((shapes[i].found == ALL && found < n) || (shapes[i].found == NONE && found > 0) ||
		    (shapes[i].found == SOME && (found == 0 || found == n)))
			fail_msg("%s: %u of %u found", shapes[i].name, found, n);
	}
}

static int say(const char *path)
{
	size_t size = 1 << 26;
	_cleanup_free_ char *text = rd_alloc(1, size);
	struct rd_findings findings = { 0 };
	FILE *file = fopen(path, "r");

	if (!file)
		return 1;
	size = fread(text, 1, size, file);
	fclose(file);
	judge(path, text, size, &findings);
	for (size_t i = 0; i < findings.n; i++)
		if (strcmp(findings.v[i].id, "fabric-uplink-missing") == 0)
			printf("%s\t%s\n", findings.v[i].subject, findings.v[i].observed);
	rd_findings_deinit(&findings);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return say(argv[1]);
	return unit_run(NULL, NULL);
}
