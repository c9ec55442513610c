/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discovering a network that loses datagrams: what was not reached is not gone, and what is gone is reported once. */
#include "fake-mads.h"
#include "tests/source-parts.h"
#include "unit.h"

#include "analyse/fabric/fabric.h"
#include "cmd/fabric/fabric.h"

#include <limits.h>

#define CA 1
#define SWITCH 2
#define LEAVES 8
#define SPINES 3
#define HOSTS 6
#define NODES (LEAVES + SPINES + LEAVES * HOSTS)
#define LEAF_LID(leaf) (uint16_t)(500 + (leaf))
#define HOST_LID(leaf, host) (uint16_t)(1 + (leaf)*HOSTS + (host))
#define WALK_INTERVAL UINT64_C(1000000000000) /* longer than any after which a walk is due */

/* This host, and the network behind its port. */
struct net {
	struct rd_source source;
	struct fake_mads fake;
	struct fabric_run run;
	struct rd_fabric plan;
	unsigned leaves[LEAVES], spines[SPINES], hosts[LEAVES][HOSTS];
};

static struct net *net_of(struct rd_source *source)
{
	return (struct net *)source;
}

static int one_port(struct rd_source *source, struct rd_bytes *ret, struct rd_err *err)
{
	static const char line[] = "mlx5_0 1 1001 1001 1 0 500 4 5 100 InfiniBand\n";

	ret->data = (uint8_t *)rd_dup(line);
	ret->size = sizeof(line) - 1;
	return 0;
}

static int open_port(struct rd_source *source, const char *ibdev, unsigned port, struct rd_mads **ret,
		     struct rd_err *err)
{
	*ret = &net_of(source)->fake.mads;
	return 0;
}

static uint64_t now_of(struct rd_source *source, int clock)
{
	return net_of(source)->fake.now;
}

static const struct source_parts ops = {
	.ops.get = parts_get, .ops.name = "live", .ops.mad_ports = one_port, .ops.mad_open = open_port, .ops.now = now_of
};

static void build(struct net *net)
{
	for (unsigned i = 0; i < LEAVES; i++)
		for (unsigned k = 0; k < HOSTS; k++)
			net->hosts[i][k] = fake_node_add(&net->fake, CA, 1, HOST_LID(i, k));
	for (unsigned i = 0; i < SPINES; i++)
		net->spines[i] = fake_node_add(&net->fake, SWITCH, LEAVES, (uint16_t)(600 + i));
	for (unsigned i = 0; i < LEAVES; i++) {
		net->leaves[i] = fake_node_add(&net->fake, SWITCH, HOSTS + SPINES, LEAF_LID(i));
		for (unsigned k = 0; k < HOSTS; k++)
			fake_cable(&net->fake, net->hosts[i][k], 1, net->leaves[i], k + 1);
		for (unsigned k = 0; k < SPINES; k++)
			fake_cable(&net->fake, net->leaves[i], HOSTS + k + 1, net->spines[k], i + 1);
	}
}

static void begin(struct net *net, struct fabric_run *run)
{
	struct fabric_opts opts = { .port = "mlx5_0/1" };

	assert_int_equal(fabric_begin(&net->source, &opts, run, NULL), 0);
}

static void setup(struct net *net)
{
	struct fabric_run run;

	net->source.ops = &ops.ops;
	fake_mads_init(&net->fake);
	build(net);
	begin(net, &run);
	net->plan = run.fabric;
	assert_int_equal(net->plan.n_nodes, NODES);
	run.fabric = (struct rd_fabric){ 0 };
	fabric_end(&run);
}

static void teardown(struct net *net)
{
	fabric_end(&net->run);
	rd_fabric_deinit(&net->plan);
	fake_mads_deinit(&net->fake);
}

/* Discovers again, if that is due, and sweeps meanwhile. Returns whether it was. */
static bool refresh(struct net *net)
{
	bool due = false;

	while (fabric_refresh(&net->run, 20)) {
		due = true;
		assert_int_equal(fabric_sweep(&net->run, NULL), 0);
	}
	return due;
}

/* Discovers again, and sweeps. */
static const struct rd_fabric *walk_again(struct net *net)
{
	net->fake.now += WALK_INTERVAL;
	assert_true(refresh(net));
	assert_int_equal(fabric_sweep(&net->run, NULL), 0);
	return &net->run.fabric;
}

static const struct rd_fabric_port *port_at(const struct rd_fabric *fabric, uint64_t guid, unsigned number)
{
	size_t port = rd_fabric_find_port(fabric, guid, number);

	return port == RD_NONE ? NULL : &fabric->ports[port];
}

static size_t count_presence(const struct rd_fabric *fabric, enum rd_presence presence)
{
	size_t n = 0;

	for (size_t i = 0; i < fabric->n_ports; i++)
		n += fabric->ports[i].presence == presence;
	return n;
}

static size_t count_findings(const struct rd_findings *findings, const char *id)
{
	size_t n = 0;

	for (size_t i = 0; i < findings->n; i++)
		n += strcmp(findings->v[i].id, id) == 0;
	return n;
}

/* Compared with the whole network: nothing may be called missing, moved or extra; what was not reached is unknown. */
static void assert_no_difference(const struct net *net, const struct rd_fabric *now)
{
	struct rd_findings findings = { 0 };
	bool incomplete = rd_fabric_is_incomplete(now);

	rd_fabric_compare(&net->plan, now, &findings);
	for (size_t i = 0; i < findings.n; i++)
		assert_string_equal(findings.v[i].id, "fabric-compare-unknown");
	assert_true(findings.n == 0 || incomplete);
	rd_findings_deinit(&findings);
	rd_fabric_judge_walk(now, &findings);
	assert_int_equal(count_findings(&findings, "fabric-walk-incomplete"), incomplete);
	rd_findings_deinit(&findings);
}

static void lose(struct net *net, unsigned percent, uint32_t seed)
{
	net->fake.loss_percent = percent;
	net->fake.loss_seed = seed;
}

#define NET_TEST(name) TEST_BEGUN(name, struct net, net, setup, teardown)

NET_TEST(what_is_there_is_never_gone)
{
	static const unsigned percents[] = { 1, 5, 20, 40 };
	size_t incomplete = 0;

	for (size_t p = 0; p < RD_ARRAY_SIZE(percents); p++) {
		lose(net, percents[p], 17);
		begin(net, &net->run);
		assert_no_difference(net, &net->run.fabric);
		for (unsigned i = 0; i < 20; i++) {
			walk_again(net);
			assert_int_equal(count_presence(&net->run.fabric, RD_PORT_GONE), 0);
			assert_int_equal(count_presence(&net->run.fabric, RD_PORT_REPLACED), 0);
			assert_no_difference(net, &net->run.fabric);
			incomplete += rd_fabric_is_incomplete(&net->run.fabric);
		}
		assert_true(net->run.fabric.walk.retries > 0);
		/* Whatever a walk did not reach is known from earlier ones, and read by LID. */
		assert_int_equal(net->run.fabric.n_nodes, NODES);
		for (size_t i = 0; i < net->run.fabric.n_ports; i++)
			assert_true(net->run.fabric.ports[i].fresh);
		fabric_end(&net->run);
	}
	assert_true(incomplete > 0); /* else nothing was tested */
}

static void unplug(struct net *net, unsigned node, unsigned port)
{
	struct fake_node *at = &net->fake.nodes[node];

	net->fake.nodes[at->peers[port].node].peers[at->peers[port].port].port = 0;
	at->peers[port].port = 0;
}

NET_TEST(a_node_that_is_removed_is_gone_until_it_is_back)
{
	const struct rd_fabric_port *port;

	for (uint32_t seed = 1; seed <= 5; seed++) {
		lose(net, 20, seed);
		begin(net, &net->run);
		for (unsigned i = 0; i < 20; i++) {
			if (i == 7) {
				unplug(net, net->hosts[3][2], 1);
				net->fake.agents[HOST_LID(3, 2)].silent = UINT_MAX;
			}
			walk_again(net);
			port = port_at(&net->run.fabric, 0x1000 + HOST_LID(3, 2), 1);
			/* At once, or when a walk has seen that the link is down. */
			assert_true(i != 6 || port->presence == RD_PORT_PRESENT);
			assert_true(i < 12 || port->presence == RD_PORT_GONE);
			assert_int_equal(count_presence(&net->run.fabric, RD_PORT_GONE), port->presence == RD_PORT_GONE);
		}
		fake_cable(&net->fake, net->hosts[3][2], 1, net->leaves[3], 3);
		net->fake.agents[HOST_LID(3, 2)].silent = 0;
		for (unsigned i = 0; i < 6; i++)
			walk_again(net);
		assert_int_equal(count_presence(&net->run.fabric, RD_PORT_GONE), 0);
		fabric_end(&net->run);
	}
}

/* A node in the place of one that is gone ends that, at once and later. So does a day. */
NET_TEST(a_node_that_is_replaced_is_not_gone)
{
	const struct rd_fabric_port *port;
	unsigned other;

	begin(net, &net->run);
	unplug(net, net->hosts[3][2], 1);
	net->fake.agents[HOST_LID(3, 2)].silent = UINT_MAX;
	walk_again(net);
	walk_again(net);
	assert_int_equal(port_at(&net->run.fabric, 0x1000 + HOST_LID(3, 2), 1)->presence, RD_PORT_GONE);
	other = fake_node_add(&net->fake, CA, 1, 900);
	fake_cable(&net->fake, other, 1, net->leaves[3], 3);
	walk_again(net);
	port = port_at(&net->run.fabric, 0x1000 + 900, 1);
	ASSERT_EACH(IS(port->presence, RD_PORT_REPLACED), IS(port->old_guid, 0x1000 + HOST_LID(3, 2)));
	assert_null(port_at(&net->run.fabric, 0x1000 + HOST_LID(3, 2), 1));
	unplug(net, other, 1);
	net->fake.agents[900].silent = UINT_MAX;
	walk_again(net);
	assert_int_equal(port_at(&net->run.fabric, 0x1000 + 900, 1)->presence, RD_PORT_GONE);
	net->fake.now += UINT64_C(86400000000000);
	walk_again(net);
	assert_null(port_at(&net->run.fabric, 0x1000 + 900, 1));
}

/* A switch that is gone, with what is behind it. */
NET_TEST(a_switch_is_gone_with_its_adapters)
{
	begin(net, &net->run);
	for (unsigned i = 1; i <= HOSTS + SPINES; i++)
		unplug(net, net->leaves[2], i);
	net->fake.agents[LEAF_LID(2)].silent = UINT_MAX;
	for (unsigned i = 0; i < HOSTS; i++)
		net->fake.agents[HOST_LID(2, i)].silent = UINT_MAX;
	assert_int_equal(count_presence(walk_again(net), RD_PORT_GONE), HOSTS + HOSTS + SPINES);
	assert_int_equal(count_presence(&net->run.fabric, RD_PORT_UNREACHED), 0);
	assert_false(rd_fabric_is_incomplete(&net->run.fabric));
}

/* The link of a host is down, and yet it responds at its LID: there is a way to it that the walk did not see. */
NET_TEST(what_responds_at_its_lid_is_not_gone)
{
	begin(net, &net->run);
	unplug(net, net->hosts[3][2], 1);
	assert_int_equal(count_presence(walk_again(net), RD_PORT_GONE), 0);
	assert_int_equal(port_at(&net->run.fabric, 0x1000 + HOST_LID(3, 2), 1)->presence, RD_PORT_UNREACHED);
	assert_true(port_at(&net->run.fabric, 0x1000 + HOST_LID(3, 2), 1)->fresh);
	/* Another node at its LID is no sign of it. */
	net->fake.agents[HOST_LID(3, 2)].guid = 0x4711;
	walk_again(net);
	assert_int_equal(port_at(&net->run.fabric, 0x1000 + HOST_LID(3, 2), 1)->presence, RD_PORT_GONE);
}

/* A leaf whose links are up, but that does not respond to directed routes: its hosts are behind it. */
NET_TEST(what_is_behind_a_silent_switch_is_not_reached)
{
	struct rd_findings findings = { 0 };
	const struct rd_fabric_port *port;

	begin(net, &net->run);
	net->fake.agents[LEAF_LID(2)].silent_route = true;
	assert_int_equal(count_presence(walk_again(net), RD_PORT_GONE), 0);
	assert_int_equal(count_presence(&net->run.fabric, RD_PORT_UNREACHED), HOSTS + HOSTS + SPINES);
	assert_no_difference(net, &net->run.fabric);
	port = port_at(&net->run.fabric, 0x1000 + HOST_LID(2, 0), 1);
	ASSERT_EACH(IS(net->run.fabric.ports[port->peer].number, 1), IS(port->fresh, true));
	rd_fabric_judge_walk(&net->run.fabric, &findings);
	assert_int_equal(findings.n, 1);
	ASSERT_HAS(findings.v[0].observed, "3 ports have a link", "node 600 port 3", "7 known nodes were not reached");
	assert_non_null(strstr(findings.v[0].fix, "ibportstate 600 3 query"));
	rd_findings_deinit(&findings);
	/* When it responds again, nothing is new. */
	net->fake.agents[LEAF_LID(2)].silent_route = false;
	assert_int_equal(count_presence(walk_again(net), RD_PORT_PRESENT), net->run.fabric.n_ports);
	assert_false(rd_fabric_is_incomplete(&net->run.fabric));
}

/* Our own link: nothing is known about the rest. */
NET_TEST(our_own_link_does_not_make_others_gone)
{
	begin(net, &net->run);
	unplug(net, net->hosts[0][0], 1);
	for (unsigned i = 2; i < FAKE_NOWHERE; i++)
		net->fake.agents[i].silent = UINT_MAX;
	assert_int_equal(count_presence(walk_again(net), RD_PORT_GONE), 0);
	assert_int_equal(net->run.fabric.n_nodes, NODES);
}

/* PortInfo of one port, and the description of its switch, got lost: they are those of before. */
NET_TEST(what_was_not_read_is_as_before)
{
	const struct rd_fabric_port *port;
	size_t node;

	begin(net, &net->run);
	walk_again(net);
	net->fake.agents[LEAF_LID(4)].silent_attribute = IB_ATTR_NODE_DESC;
	walk_again(net);
	node = rd_fabric_find_node(&net->run.fabric, 0x1000 + LEAF_LID(4));
	assert_int_equal(net->run.fabric.nodes[node].unread, 1);
	assert_string_equal(net->run.fabric.nodes[node].description, "node 504");
	assert_true(rd_fabric_is_incomplete(&net->run.fabric));
	net->fake.agents[LEAF_LID(4)].silent_attribute = IB_ATTR_PORT_INFO;
	assert_int_equal(count_presence(walk_again(net), RD_PORT_GONE), 0);
	port = port_at(&net->run.fabric, 0x1000 + LEAF_LID(4), 2);
	ASSERT_EACH(IS(port->lid, LEAF_LID(4)), IS(port->state, RD_LINK_ACTIVE), IS(port->selected, true));
	assert_no_difference(net, &net->run.fabric);
}

/* Sweeps each second; returns the number of walks. */
static unsigned walks_in(struct net *net, unsigned seconds)
{
	unsigned walks = 0;

	for (unsigned i = 0; i < seconds; i++) {
		net->fake.now += UINT64_C(1000000000);
		walks += refresh(net);
		assert_int_equal(fabric_sweep(&net->run, NULL), 0);
	}
	return walks;
}

NET_TEST(a_walk_has_a_reason)
{
	begin(net, &net->run);
	assert_int_equal(walks_in(net, 500), 0);
	assert_int_equal(walks_in(net, 400), 1); /* every ten minutes */
	/* All counters increase, LinkDowned among them: once, so one walk. */
	net->fake.value = 1;
	assert_int_equal(walks_in(net, 10), 1);
	assert_int_equal(walks_in(net, 400), 0);
	/* An agent that falls silent. */
	net->fake.agents[HOST_LID(3, 2)].silent = UINT_MAX;
	net->fake.agents[HOST_LID(3, 2)].silent_route = true;
	assert_int_equal(walks_in(net, 10), 1);
	/* From then on it is not reached: walks at growing intervals, until it is. */
	assert_true(net->run.incomplete);
	assert_in_range(walks_in(net, 600), 3, 8);
	net->fake.agents[HOST_LID(3, 2)].silent = 0;
	net->fake.agents[HOST_LID(3, 2)].silent_route = false;
	assert_in_range(walks_in(net, 600), 1, 2);
	assert_false(net->run.incomplete);
}

/* The subnet manager at the first leaf; the fake counts its activity with its datagrams. */
NET_TEST(a_subnet_manager_that_stops_or_moves_is_a_reason)
{
	begin(net, &net->run);
	assert_int_equal(walks_in(net, 100), 0);
	net->fake.sm_stopped = true;
	assert_int_equal(walks_in(net, 30), 1);
	assert_int_equal(walks_in(net, 300), 0);
	net->fake.sm_stopped = false;
	net->fake.agents[500].guid = 0x777;
	assert_true(walks_in(net, 30) >= 1);
}

/* Two hosts of one GUID: both are listed and read, with the same identity after each walk, and named with their places. */
NET_TEST(a_duplicate_guid_is_named_with_both_places)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	const struct rd_fabric *fabric = &net->run.fabric;
	uint64_t guid = 0x1000 + HOST_LID(2, 1);

	net->fake.nodes[net->hosts[5][3]].guid = guid;
	net->fake.agents[HOST_LID(5, 3)].guid = guid;
	begin(net, &net->run);
	for (unsigned i = 0; i < 3; i++) {
		walk_again(net);
		ASSERT_EACH(IS(fabric->n_nodes, NODES), IS(count_presence(fabric, RD_PORT_PRESENT), fabric->n_ports),
			    IS(fabric->changed, false));
		for (size_t k = 0; k < fabric->n_ports; k++)
			assert_true(fabric->ports[k].fresh);
	}
	rd_fabric_judge_walk(fabric, &findings);
	assert_int_equal(findings.n, 1);
	ASSERT_EACH(READS(findings.v[0].id, "fabric-guid-duplicate"), IS(findings.v[0].severity, RD_SEV_CRITICAL));
	ASSERT_HAS(findings.v[0].observed, "node 14 port 1, connected to node 502 port 2",
		   "node 34 port 1, connected to node 505 port 4");
	/* It explains all differences from the saved topology. */
	rd_fabric_compare(&net->plan, fabric, &findings);
	assert_true(findings.n >= 2);
	for (size_t i = 1; i < findings.n; i++) {
		assert_non_null(findings.v[i].caused_by.id);
		assert_string_equal(findings.v[i].caused_by.id, "fabric-guid-duplicate");
	}
}
