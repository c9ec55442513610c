/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking for the nodes of a network: what is there is found, each cable is gone over once, nobody is waited for in vain. */
#include "fake-mads.h"
#include "unit.h"

#include "collect/fabric/fabric.h"

#include <limits.h>

#define CA 1
#define SWITCH 2

struct net {
	struct fake_mads fake;
	struct rd_sweep_limits limits;
	struct rd_walk walk;
	struct rd_err err;
};

static void setup(struct net *net)
{
	fake_mads_init(&net->fake);
	net->limits = (struct rd_sweep_limits){ .window = 8, .per_lid = 2, .timeout_ms = 100, .retries = 2 };
}

static void teardown(struct net *net)
{
	rd_walk_deinit(&net->walk);
	fake_mads_deinit(&net->fake);
}

static int walk(struct net *net)
{
	int r = rd_walk_run(&net->fake.mads, &net->limits, &net->walk, &net->err);

	assert_true(net->fake.most_in_flight <= net->limits.window);
	return r;
}

/* Leaves of two hosts each below two spines; ours is the first host. LIDs: hosts from 1, leaves from 21, spines 31 and 32. */
static void build(struct net *net, unsigned leaves)
{
	unsigned spines[2], leaf, host;

	for (unsigned i = 0; i < leaves; i++) {
		host = fake_node_add(&net->fake, CA, 1, (uint16_t)(2 * i + 1));
		leaf = fake_node_add(&net->fake, SWITCH, 5, (uint16_t)(21 + i));
		fake_cable(&net->fake, host, 1, leaf, 1);
		fake_cable(&net->fake, fake_node_add(&net->fake, CA, 1, (uint16_t)(2 * i + 2)), 1, leaf, 2);
		for (unsigned k = 0; k < 2; k++) {
			if (i == 0)
				spines[k] = fake_node_add(&net->fake, SWITCH, 8, (uint16_t)(31 + k));
			fake_cable(&net->fake, leaf, 3 + k, spines[k], i + 1);
		}
	}
}

static struct rd_walk_node *node_of(struct net *net, uint64_t lid)
{
	for (size_t i = 0; i < net->walk.n; i++)
		if (net->walk.nodes[i]->guid == 0x1000 + lid)
			return net->walk.nodes[i];
	return NULL;
}

#define NET_TEST(name) TEST_BEGUN(name, struct net, net, setup, teardown)

NET_TEST(what_is_there_is_found)
{
	struct rd_walk_node *leaf;

	net->fake.seed = 5;
	build(net, 6);
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.n, 20);
	assert_ptr_equal(net->walk.nodes[0], node_of(net, 1));
	assert_int_equal(net->walk.self_port, 1);
	for (unsigned i = 0; i < net->fake.n_nodes; i++) {
		const struct fake_node *is = &net->fake.nodes[i];
		struct rd_walk_node *found = node_of(net, is->lid);

		assert_non_null(found);
		assert_int_equal(found->n_ports, is->n_ports);
		for (unsigned p = 1; p <= is->n_ports; p++) {
			const struct fake_node *peer = &net->fake.nodes[is->peers[p].node];

			assert_true(found->ports[p].known);
			assert_int_equal(found->ports[p].peer != NULL, is->peers[p].port != 0);
			if (!is->peers[p].port)
				continue;
			assert_ptr_equal(found->ports[p].peer, node_of(net, peer->lid));
			assert_int_equal(found->ports[p].peer_port, is->peers[p].port);
		}
	}
	leaf = node_of(net, 23);
	ASSERT_EACH(READS((char *)leaf->description, "node 23"),
		    IS(mad_get_field(leaf->ports[0].info, 0, IB_PORT_LID_F), 23), IS(leaf->route.hops, 3));
}

NET_TEST(each_cable_is_gone_over_once)
{
	unsigned hosts = 12, leaves = 6, spines = 2, cables = hosts + leaves * spines;

	build(net, leaves);
	assert_int_equal(walk(net), 0);
	/* Who we are and who is at the other end; of a host name and port; of a switch name, what it can, ports from 0. */
	assert_int_equal(net->fake.sent, 1 + cables + 2 * hosts + leaves * (2 + 6) + spines * (2 + 9));
	for (unsigned i = 0; i < net->fake.n_nodes; i++)
		assert_true(net->fake.agents[net->fake.nodes[i].lid].most_in_flight <= 6);
}

/* Of a wide tree; the first switch is the only way out. */
NET_TEST(switches_are_not_flooded)
{
	unsigned most = 0;

	net->limits = (struct rd_sweep_limits){ .window = 64, .per_lid = 8, .timeout_ms = 100, .per_switch = 2 };
	net->fake.seed = 7;
	build(net, 8);
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.n, 26);
	for (unsigned i = 0; i < net->fake.n_nodes; i++) {
		const struct fake_node *node = &net->fake.nodes[i];

		if (node->kind == SWITCH && node->lid != 21)
			assert_in_range(net->fake.agents[node->lid].most_passing, 1, 2);
		most = net->fake.agents[node->lid].most_passing > most ? net->fake.agents[node->lid].most_passing :
									 most;
	}
	assert_true(most > 2); /* at the first */
	/* Routes are spread over both spines. */
	assert_true(node_of(net, 31)->n_routes >= 3 && node_of(net, 32)->n_routes >= 3);
}

/* The questions are the same whoever answers first: a recording has the answers to them. */
NET_TEST(routes_do_not_depend_on_who_is_fast)
{
	_cleanup_(rd_walk_deinit) struct rd_walk before;

	build(net, 6);
	assert_int_equal(walk(net), 0);
	before = net->walk;
	net->fake.agents[31].latency_us = 5000;
	net->fake.seed = 11;
	net->limits.window = 3;
	net->fake.most_in_flight = 0;
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.n, before.n);
	for (size_t i = 0; i < before.n; i++) {
		assert_int_equal(net->walk.nodes[i]->guid, before.nodes[i]->guid);
		assert_memory_equal(&net->walk.nodes[i]->route, &before.nodes[i]->route, sizeof(struct rd_mad_route));
	}
}

/* Less is on its way then, down to eight; those who are only silent, or slow, are no reason. */
NET_TEST(losses_halve_the_window)
{
	net->limits =
		(struct rd_sweep_limits){ .window = 64, .per_lid = 2, .timeout_ms = 50, .retries = 3, .per_switch = 2 };
	build(net, 8);
	net->fake.agents[4].silent = UINT_MAX;
	net->fake.agents[5].latency_us = 180000;
	assert_int_equal(walk(net), 0);
	assert_non_null(node_of(net, 5));
	assert_int_equal(net->walk.stats.window, 64);
	rd_walk_deinit(&net->walk);
	net->fake.agents[6].silent = 1;
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.stats.window, 32);
	rd_walk_deinit(&net->walk);
	net->fake.loss_percent = 20;
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.stats.window, 8);
}

NET_TEST(who_is_silent_is_left_out)
{
	build(net, 3);
	net->fake.agents[4].silent = UINT_MAX;
	net->fake.agents[23].silent = UINT_MAX;
	assert_int_equal(walk(net), 0);
	ASSERT_EACH(IS(node_of(net, 4) == NULL, true), IS(node_of(net, 23) == NULL, true),
		    IS(node_of(net, 5) == NULL, true));
	ASSERT_EACH(IS(net->walk.n, 7), IS(node_of(net, 22)->ports[2].peer == NULL, true),
		    IS(node_of(net, 22)->ports[2].known, true));
	/* At most one host's tries for each round that meets one. */
	assert_true(net->walk.duration_ns < 3 * 700000000ULL);
}

NET_TEST(a_host_between_two_switches_is_one_node)
{
	unsigned host = fake_node_add(&net->fake, CA, 2, 1), a = fake_node_add(&net->fake, SWITCH, 3, 2);
	unsigned b = fake_node_add(&net->fake, SWITCH, 3, 3), both = fake_node_add(&net->fake, CA, 2, 4);

	fake_cable(&net->fake, host, 1, a, 1);
	fake_cable(&net->fake, a, 2, b, 2);
	fake_cable(&net->fake, a, 3, both, 1);
	fake_cable(&net->fake, b, 3, both, 2);
	/* Our other port is at a switch, too: it is seen from there. */
	fake_cable(&net->fake, host, 2, b, 1);
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.n, 4);
	assert_true(node_of(net, 4)->ports[1].known && node_of(net, 4)->ports[2].known);
	assert_true(node_of(net, 1)->ports[1].known && node_of(net, 1)->ports[2].known);
	assert_ptr_equal(node_of(net, 1)->ports[2].peer, node_of(net, 3));
}

/* Hosts 3 and 6 at different leaves, and the leaves 22 and 23, have one GUID each: none is left out. */
NET_TEST(two_devices_of_one_guid_are_two_nodes)
{
	unsigned twins = 0;

	build(net, 4);
	for (unsigned i = 0; i < net->fake.n_nodes; i++) {
		struct fake_node *node = &net->fake.nodes[i];

		node->guid = node->lid == 6 ? 0x1003 : node->lid == 23 ? 0x1016 : node->guid;
	}
	net->limits.per_switch = 2;
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.n, 14);
	for (size_t i = 0; i < net->walk.n; i++) {
		struct rd_walk_node *node = net->walk.nodes[i];

		if (!node->reported_guid)
			continue;
		twins++;
		assert_true(node->reported_guid == 0x1003 || node->reported_guid == 0x1016);
		assert_ptr_equal(node_of(net, node->reported_guid - 0x1000)->twin, node);
		assert_true(node->guid >> 48 == 0xffff);
	}
	assert_int_equal(twins, 2);
	/* Each leaf is at both spines, with a host at each of its first two ports. */
	for (unsigned k = 31; k <= 32; k++)
		for (unsigned p = 1; p <= 4; p++) {
			struct rd_walk_node *leaf = node_of(net, k)->ports[p].peer;

			ASSERT_EACH(IS(leaf != NULL, true), IS(node_of(net, k)->ports[p].peer_port, 3 + k - 31));
			assert_ptr_equal(leaf, node_of(net, 31)->ports[p].peer);
			assert_true(leaf->ports[1].peer && leaf->ports[2].peer);
			assert_int_equal(leaf->description[5], '2');
		}
}

/* Healthy ones: a host with two ports, parallel cables, a cable from a switch to itself, a loopback plug. */
NET_TEST(what_is_one_device_is_one_node)
{
	unsigned host = fake_node_add(&net->fake, CA, 1, 1), a = fake_node_add(&net->fake, SWITCH, 9, 2);
	unsigned b = fake_node_add(&net->fake, SWITCH, 9, 3), both = fake_node_add(&net->fake, CA, 2, 4);

	fake_cable(&net->fake, host, 1, a, 1);
	for (unsigned p = 2; p <= 5; p++)
		fake_cable(&net->fake, a, p, b, p == 5 ? 2 : p + 1);
	fake_cable(&net->fake, a, 6, both, 1);
	fake_cable(&net->fake, b, 6, both, 2);
	fake_cable(&net->fake, a, 7, a, 8);
	fake_cable(&net->fake, b, 9, b, 9);
	net->fake.seed = 3;
	assert_int_equal(walk(net), 0);
	assert_int_equal(net->walk.n, 4);
	for (size_t i = 0; i < net->walk.n; i++)
		assert_null(net->walk.nodes[i]->twin);
}

static struct fake_mads *moving;

/* When the fourth node has responded once, its cable is in the third. */
static void move_away(struct rd_mad *mad)
{
	if (mad->data[17] != IB_ATTR_NODE_INFO)
		return;
	moving->agents[4].change = NULL;
	moving->nodes[1].peers[2].port = 0;
	fake_cable(moving, 3, 1, 2, 2);
}

NET_TEST(a_cable_that_is_moved_meanwhile_is_no_second_device)
{
	unsigned host = fake_node_add(&net->fake, CA, 1, 1), a = fake_node_add(&net->fake, SWITCH, 3, 2);
	unsigned b = fake_node_add(&net->fake, SWITCH, 3, 3), moved = fake_node_add(&net->fake, CA, 1, 4);

	fake_cable(&net->fake, host, 1, a, 1);
	fake_cable(&net->fake, a, 2, moved, 1);
	fake_cable(&net->fake, a, 3, b, 1);
	moving = &net->fake;
	net->fake.agents[4].change = move_away;
	net->limits.window = 1;
	assert_int_equal(walk(net), 0);
	ASSERT_EACH(IS(net->fake.agents[4].change == NULL, true), IS(net->walk.n, 4),
		    IS(node_of(net, 4)->twin == NULL, true));
	assert_ptr_equal(node_of(net, 4)->ports[1].peer, node_of(net, 3));
	assert_null(node_of(net, 2)->ports[2].peer);
}

NET_TEST(our_own_silence_is_an_error)
{
	build(net, 1);
	net->fake.agents[1].silent = UINT_MAX;
	assert_int_equal(walk(net), -ETIMEDOUT);
	assert_non_null(strstr(net->err.message, "local port"));
}

NET_TEST(a_port_that_fails_is_an_error)
{
	build(net, 3);
	net->fake.fail_after = 20;
	assert_int_equal(walk(net), -ENODEV);
}

/* Of makers that have FDR10 only, where it can be only. */
NET_TEST(what_looks_like_qdr_is_asked_whether_it_is_fdr10)
{
	uint8_t *extended;

	build(net, 2);
	net->fake.nodes[1].device = 0xc738;
	assert_int_equal(walk(net), 0);
	extended = node_of(net, 21)->ports[1].extended;
	assert_int_equal(mad_get_field(extended, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F), 1);
	extended = node_of(net, 22)->ports[1].extended;
	assert_int_equal(mad_get_field(extended, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F), 0);
}

static void everybody(struct rd_mad *mad)
{
	if (mad->data[17] == IB_ATTR_NODE_INFO)
		mad_set_field64(mad->data, 64, IB_NODE_GUID_F, 0x1015);
}

static void beyond_its_ports(struct rd_mad *mad)
{
	if (mad->data[17] == IB_ATTR_NODE_INFO)
		mad_set_field(mad->data, 64, IB_NODE_LOCAL_PORT_F, 200);
}

static void nothing_known(struct rd_mad *mad)
{
	if (mad->data[17] == IB_ATTR_NODE_INFO)
		mad_set_field(mad->data, 64, IB_NODE_TYPE_F, 77);
}

NET_TEST(who_lies_is_survived)
{
	build(net, 3);
	net->fake.agents[31].change = net->fake.agents[32].change = everybody;
	assert_int_equal(walk(net), 0);
	assert_null(node_of(net, 31));
	rd_walk_deinit(&net->walk);
	net->fake.agents[31].change = beyond_its_ports;
	net->fake.agents[32].change = nothing_known;
	assert_int_equal(walk(net), 0);
	assert_null(node_of(net, 22));
}
