/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many ports change hands when a host of the list leaves or joins. */
#include "unit.h"

#include "analyse/shares/fabric-shard.h"
#include "collect/fabric/fabric.h"
#include "fabric-text.h"

#define HOSTS 32

struct moves {
	double worst, mean; /* of all ports, in percent */
	size_t most, least; /* ports of a host */
	double even;
};

static void divide(const struct rd_fabric *fabric, char **names, size_t n, struct rd_shards *ret)
{
	rd_shards_divide(fabric, names, n, ret);
	assert_int_equal(ret->n, n);
}

/* Ports whose owner in `a` has another name in `b`. */
static size_t count_moved(const struct rd_fabric *fabric, const struct rd_shards *a, const struct rd_shards *b)
{
	size_t moved = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		if (a->owner[i] < 0) {
			assert_int_equal(b->owner[i], -1);
			continue;
		}
		assert_in_range(b->owner[i], 0, (int)b->n - 1);
		moved += strcmp(a->v[a->owner[i]].host, b->v[b->owner[i]].host) != 0;
	}
	return moved;
}

/* Lets each of the hosts leave in turn; it joins again in the same numbers. */
static struct moves measure(const struct rd_fabric *fabric, char **names)
{
	struct moves ret = { .least = SIZE_MAX };
	struct rd_shards all, fewer;

	divide(fabric, names, HOSTS, &all);
	ret.even = (double)all.ports / HOSTS;
	for (size_t i = 0; i < HOSTS; i++) {
		assert_true(all.v[i].ports <= all.most || all.v[i].ports == all.v[i].own);
		ret.most = all.v[i].ports > ret.most ? all.v[i].ports : ret.most;
		ret.least = all.v[i].ports < ret.least ? all.v[i].ports : ret.least;
	}
	for (size_t out = 0; out < HOSTS; out++) {
		char *left[HOSTS];
		double moved;
		size_t n = 0;

		for (size_t i = 0; i < HOSTS; i++)
			if (i != out)
				left[n++] = names[i];
		divide(fabric, left, n, &fewer);
		moved = 100.0 * (double)count_moved(fabric, &all, &fewer) / (double)all.ports;
		ret.mean += moved / HOSTS;
		ret.worst = moved > ret.worst ? moved : ret.worst;
		rd_shards_deinit(&fewer);
	}
	rd_shards_deinit(&all);
	return ret;
}

/* Names of HOSTS adapters: from number `from` on, every `step`th. */
static void pick_hosts(const struct rd_fabric *fabric, size_t from, size_t step, char **names)
{
	size_t n = 0, ca = 0;

	for (size_t i = 0; i < fabric->n_nodes && n < HOSTS; i++) {
		const char *text = fabric->nodes[i].description;

		if (fabric->nodes[i].kind != RD_NODE_CA || ca++ < from || (ca - 1 - from) % step)
			continue;
		names[n] = rd_dup(text);
		names[n++][strcspn(text, " ")] = '\0';
	}
	assert_int_equal(n, HOSTS);
}

/* `worst` and `mean`: the most that may move when one of 32 leaves or joins, in percent of all ports. */
static void check_moves(const char *what, const struct rd_fabric *fabric, size_t from, size_t step, double worst,
			double mean)
{
	char *names[HOSTS];
	struct moves moves;

	pick_hosts(fabric, from, step, names);
	moves = measure(fabric, names);
	print_message("%s, %zu ports: worst %.2f %%, mean %.2f %%; shares %zu to %zu, even %.1f\n", what,
		      fabric->n_ports, moves.worst, moves.mean, moves.least, moves.most, moves.even);
	if (moves.worst > worst || moves.mean > mean)
		fail_msg("%s: more than %.2f or %.2f %%", what, worst, mean);
	for (size_t i = 0; i < HOSTS; i++)
		free(names[i]);
}

TEST(of_a_fat_tree_at_most_four_percent_move)
{
	struct rd_fabric fabric;

	fabric_from_tree(96, 32, 24, &fabric);
	check_moves("tree, a host on every third leaf", &fabric, 0, 72, 4, 3.6);
	check_moves("tree, hosts on two leaves", &fabric, 0, 1, 4, 3.6);
	check_moves("tree, five hosts on a leaf", &fabric, 100, 5, 4, 3.6);
	rd_fabric_deinit(&fabric);
	fabric_from_tree(40, 16, 20, &fabric);
	check_moves("small tree, hosts spread", &fabric, 0, 25, 4, 3.6);
	check_moves("small tree, hosts on two leaves", &fabric, 0, 1, 4, 3.6);
	rd_fabric_deinit(&fabric);
}

/* In a network of some hundred ports a share is a few dozen: the square root of it is a percent of all. */
TEST(of_a_small_network_little_more_moves)
{
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;

	fabric_from_tree(32, 8, 16, &fabric);
	check_moves("tiny tree, hosts spread", &fabric, 0, 16, 5, 4.2);
	check_moves("tiny tree, hosts on three leaves", &fabric, 3, 1, 5, 4.2);
	check_moves("tiny tree, five hosts on a leaf", &fabric, 3, 3, 5, 4.2);
}

/* A torus of SIDE^3 switches with two hosts each: six links of two cables. */
#define SIDE 8
TEST(of_a_torus_at_most_four_percent_move)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;

	rd_buf_str(&text, RD_TOPOLOGY_MAGIC "\n");
	for (unsigned i = 0; i < SIDE * SIDE * SIDE; i++) {
		rd_buf_printf(&text, "node 0x%x switch 14 \"t%u\"\n", 0x10000 + i, i);
		for (unsigned h = 0; h < 2; h++)
			rd_buf_printf(&text, "node 0x%x ca 1 \"n%u-%u mlx5_0\"\nlink 0x%x 1 0x%x %u 4xHDR\n",
				      0x1000000 + 2 * i + h, i, h, 0x1000000 + 2 * i + h, 0x10000 + i, 13 + h);
	}
	for (unsigned i = 0; i < SIDE * SIDE * SIDE; i++)
		for (unsigned axis = 0, unit = 1; axis < 3; axis++, unit *= SIDE) {
			unsigned next = i / unit % SIDE == SIDE - 1 ? i - (SIDE - 1) * unit : i + unit;

			for (unsigned c = 0; c < 2; c++)
				rd_buf_printf(&text, "link 0x%x %u 0x%x %u 4xHDR\n", 0x10000 + i, 4 * axis + c + 1,
					      0x10000 + next, 4 * axis + c + 3);
		}
	fabric_from_text(text.data, &fabric);
	check_moves("torus, hosts spread", &fabric, 0, 32, 4, 3.6);
	check_moves("torus, hosts side by side", &fabric, 0, 1, 4, 3.6);
}

/* A dragonfly of 17 groups of 16 switches, each group with a cable to each other group, and four hosts at a switch. */
TEST(of_a_dragonfly_at_most_four_percent_move)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;

	rd_buf_str(&text, RD_TOPOLOGY_MAGIC "\n");
	for (unsigned i = 0; i < 17 * 16; i++) {
		rd_buf_printf(&text, "node 0x%x switch 20 \"d%u\"\n", 0x10000 + i, i);
		for (unsigned h = 0; h < 4; h++)
			rd_buf_printf(&text, "node 0x%x ca 1 \"n%u-%u mlx5_0\"\nlink 0x%x 1 0x%x %u 4xNDR\n",
				      0x1000000 + 4 * i + h, i, h, 0x1000000 + 4 * i + h, 0x10000 + i, 17 + h);
	}
	for (unsigned i = 0; i < 17 * 16; i++)
		for (unsigned j = i % 16 + 1; j < 16; j++)
			rd_buf_printf(&text, "link 0x%x %u 0x%x %u 4xNDR\n", 0x10000 + i, j, 0x10000 + i / 16 * 16 + j,
				      i % 16 + 1);
	for (unsigned a = 0; a < 17; a++)
		for (unsigned b = a + 1; b < 17; b++)
			rd_buf_printf(&text, "link 0x%x 16 0x%x 16 4xNDR\n", 0x10000 + 16 * a + b - 1,
				      0x10000 + 16 * b + a);
	fabric_from_text(text.data, &fabric);
	check_moves("dragonfly, hosts spread", &fabric, 0, 34, 4, 3.6);
	check_moves("dragonfly, hosts side by side", &fabric, 7, 1, 4, 3.6);
}

/* The host is taken off the list, and its adapter out of the network. */
TEST(a_host_that_is_switched_off_moves_no_more)
{
	char *names[HOSTS];
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;
	struct rd_shards all, fewer;

	fabric_from_tree(40, 16, 20, &fabric);
	pick_hosts(&fabric, 0, 25, names);
	divide(&fabric, names, HOSTS, &all);
	for (size_t out = 0; out < HOSTS; out++) {
		char *left[HOSTS];
		size_t n = 0;

		for (size_t i = 0; i < HOSTS; i++)
			if (i != out)
				left[n++] = names[i];
		for (size_t i = 0; i < fabric.n_ports; i++)
			if (all.owner[i] >= 0 && rd_shards_of_node(&all, &fabric.nodes[fabric.ports[i].node]) ==
							 rd_shards_find(&all, names[out]))
				fabric.ports[i].presence = RD_PORT_GONE;
		divide(&fabric, left, n, &fewer);
		assert_int_equal(fewer.ports, all.ports - 1);
		size_t moved = 0;
		for (size_t i = 0; i < fabric.n_ports; i++) {
			if (fabric.ports[i].presence != RD_PORT_GONE)
				moved += strcmp(all.v[all.owner[i]].host, fewer.v[fewer.owner[i]].host) != 0;
			fabric.ports[i].presence = RD_PORT_PRESENT;
		}
		if ((double)moved > 0.04 * (double)all.ports)
			fail_msg("%s: %zu of %zu ports", names[out], moved, all.ports);
		rd_shards_deinit(&fewer);
	}
	rd_shards_deinit(&all);
	for (size_t i = 0; i < HOSTS; i++)
		free(names[i]);
}
