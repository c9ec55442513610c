/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <math.h>

#include "analyse/shares/fabric-shard.h"
#include "fabric-text.h"

/* Every selected port has one owner, and what the owners are said to have is what they have. */
static void check_whole(const struct rd_fabric *fabric, const struct rd_shards *shards)
{
	size_t *counted = calloc(shards->n, sizeof(*counted)), all = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		if (!fabric->ports[i].selected) {
			assert_int_equal(shards->owner[i], -1);
			continue;
		}
		assert_in_range(shards->owner[i], 0, (int)shards->n - 1);
		counted[shards->owner[i]]++;
		all++;
	}
	assert_int_equal(all, shards->ports);
	for (size_t i = 0; i < shards->n; i++)
		assert_int_equal(counted[i], shards->v[i].ports);
	free(counted);
}

/* The bound is an even share and 5 percent or the square root of the share; the least of the shares is not bounded, but near. */
static void check_even(const struct rd_shards *shards)
{
	double even = (double)shards->ports / (double)shards->n,
	       slack = even / 20 > sqrt(even) ? even / 20 : sqrt(even);

	assert_in_range(shards->most, (size_t)even, (size_t)(even + slack + 1));
	for (size_t i = 0; i < shards->n; i++)
		if (shards->v[i].ports > shards->most || (double)shards->v[i].ports < even - 3.5 * sqrt(even))
			fail_msg("share %zu: %zu ports, even is %.1f, at most %zu", i, shards->v[i].ports, even,
				 shards->most);
}

static size_t divide_tree(const struct rd_fabric *fabric, unsigned leaves, unsigned per_leaf, struct rd_shards *shards)
{
	char **names = calloc(leaves * per_leaf, sizeof(*names));
	size_t n = 0;

	for (unsigned l = 0; l < leaves; l++)
		for (unsigned h = 0; h < per_leaf; h++) {
			names[n] = calloc(1, 32);
			snprintf(names[n++], 32, "host%u-%u", l, h);
		}
	rd_shards_divide(fabric, names, n, shards);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return n;
}

TEST(eight_and_sixty_four_hosts_share_ten_thousand_ports_evenly)
{
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;
	struct rd_shards shards;

	fabric_from_tree(96, 32, 24, &fabric);
	assert_in_range(fabric.n_ports, 10000, 11000);

	divide_tree(&fabric, 8, 1, &shards);
	assert_int_equal(shards.n, 8);
	check_whole(&fabric, &shards);
	check_even(&shards);
	rd_shards_deinit(&shards);

	divide_tree(&fabric, 16, 4, &shards);
	assert_int_equal(shards.n, 64);
	check_whole(&fabric, &shards);
	check_even(&shards);
	rd_shards_deinit(&shards);

	for (size_t n = 8; n <= 64; n += 56) {
		rd_shards_divide(&fabric, NULL, n, &shards);
		check_whole(&fabric, &shards);
		check_even(&shards);
		rd_shards_deinit(&shards);
	}
}

TEST(a_host_takes_itself_and_its_leaf)
{
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;
	_cleanup_(rd_shards_deinit) struct rd_shards shards;
	size_t near = 0;

	fabric_from_tree(8, 4, 4, &fabric);
	divide_tree(&fabric, 8, 1, &shards);
	check_whole(&fabric, &shards);
	check_even(&shards);
	for (size_t l = 0; l < 8; l++) {
		size_t own = fabric_port_at(&fabric, 0x1000000 + l * 256, 1);
		size_t leaf = fabric_port_at(&fabric, 0x20000 + l, 1);

		ASSERT_EACH(IS(shards.v[shards.owner[own]].found, true), IS(shards.owner[own], l));
		near += shards.owner[leaf] == shards.owner[own];
	}
	assert_int_equal(near, 8);
}

TEST(the_order_of_the_list_and_doubles_do_not_matter)
{
	char *const one[] = { "host0-0", "host1-0", "host2-0" };
	char *const other[] = { "HOST2-0", "host0-0", "host1-0", "host0-0" };
	char *const fewer[] = { "host0-0", "host1-0" };
	struct rd_shards a, b, c;
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;

	fabric_from_tree(4, 2, 4, &fabric);
	rd_shards_divide(&fabric, one, 3, &a);
	rd_shards_divide(&fabric, other, 4, &b);
	rd_shards_divide(&fabric, fewer, 2, &c);
	assert_int_equal(b.n, 3);
	for (size_t i = 0; i < fabric.n_ports; i++)
		assert_int_equal(a.owner[i], b.owner[i]);
	ASSERT_EACH(IS(a.topology, b.topology), IS(a.topology != c.topology, true),
		    IS(rd_shards_find(&a, "host1-0.cluster.example"), 1), IS(rd_shards_find(&a, "host1"), -1));
	rd_shards_deinit(&a);
	rd_shards_deinit(&b);
	rd_shards_deinit(&c);
}

TEST(the_share_of_a_missing_host_is_named_as_not_covered)
{
	char *const names[] = { "host0-0", "host1-0", "gone17" };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_shards_deinit) struct rd_shards shards;
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;

	fabric_from_tree(4, 2, 4, &fabric);
	rd_shards_divide(&fabric, names, 3, &shards);
	check_whole(&fabric, &shards);
	check_even(&shards);
	rd_shards_judge(&fabric, &shards, &findings);
	assert_int_equal(findings.n, 1);
	ASSERT_EACH(READS(findings.v[0].subject, "gone17"), IS(findings.v[0].severity, RD_SEV_WARNING),
		    HAS(findings.v[0].observed, "ports not covered"));
}

TEST(the_longest_agent_bounds_the_predicted_time)
{
	_cleanup_(rd_shards_deinit) struct rd_shards shards;
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric;

	fabric_from_tree(4, 2, 4, &fabric);
	rd_shards_divide(&fabric, NULL, 1, &shards);
	rd_shards_predict(&shards, 5, 0.000244, 1, 1);
	assert_true(shards.v[0].seconds > 0.99 * 5 * 0.000244 * (double)shards.ports);
	rd_shards_predict(&shards, 5, 0.000244, 100000, 1);
	assert_true(shards.v[0].seconds > 0.99 * 5 * 0.000244 * 6 && shards.v[0].seconds < 1.01 * 5 * 0.000244 * 6);
}
