/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading forwarding tables of agents that respond, do not, or only on another way. */
#include "fake-mads.h"
#include "unit.h"

#include <limits.h>

#include "collect/fabric/fabric.h"
#include "fabric-text.h"

#define TEXT                                                                                                           \
	RD_TOPOLOGY_MAGIC "\nnode 0x1001 ca 1 \"here\"\nnode 0x1002 switch 4 \"near\"\nnode 0x1003 switch 4 \"far\"\n" \
			  "link 0x1001 1 0x1002 1 4xHDR\nlink 0x1002 2 0x1003 3 4xHDR\n"
#define TOP 130

struct net {
	struct fake_mads fake;
	struct rd_fabric fabric;
	struct rd_routes routes;
	struct rd_sweep_limits limits;
};

/* The entry of LID l is l & 63, plus 64 in blocks of an odd number. */
static void respond(struct rd_mad *mad)
{
	uint8_t *data = mad->data + IB_SMP_DATA_OFFS;
	unsigned block = mad->data[23];

	if (mad->data[17] == IB_ATTR_SWITCH_INFO) {
		memset(data, 0, IB_SMP_DATA_SIZE);
		mad_set_field(data, 0, IB_SW_LINEAR_FDB_CAP_F, 0xc000);
		mad_set_field(data, 0, IB_SW_LINEAR_FDB_TOP_F, TOP);
	} else if (mad->data[17] == IB_ATTR_LINEARFORWTBL) {
		for (unsigned i = 0; i < RD_ROUTE_BLOCK; i++)
			data[i] = (uint8_t)(i + block % 2 * 64);
	}
}

static void set_up(struct net *net)
{
	unsigned near, far;

	fake_mads_init(&net->fake);
	fake_node_add(&net->fake, 1, 1, 1);
	near = fake_node_add(&net->fake, 2, 4, 2);
	far = fake_node_add(&net->fake, 2, 4, 3);
	fake_cable(&net->fake, 0, 1, near, 1);
	fake_cable(&net->fake, near, 2, far, 3);
	net->fake.agents[2].change = net->fake.agents[3].change = respond;
	net->limits = (struct rd_sweep_limits){ .window = 64, .per_lid = 2, .timeout_ms = 100, .retries = 2 };
	net->limits.per_switch = 2;
	fabric_from_text(TEXT, &net->fabric);
	for (size_t i = 0; i < net->fabric.n_ports; i++)
		net->fabric.ports[i].lid = (uint16_t)(net->fabric.nodes[net->fabric.ports[i].node].guid - 0x1000);
	net->fabric.self = fabric_port_at(&net->fabric, 0x1001, 1);
}

static void tear_down(struct net *net)
{
	rd_routes_deinit(&net->routes);
	rd_fabric_deinit(&net->fabric);
	fake_mads_deinit(&net->fake);
}

static void read_tables(struct net *net, const uint16_t *lids, size_t n)
{
	rd_routes_deinit(&net->routes);
	rd_routes_init(&net->fabric, &net->routes);
	assert_int_equal(rd_routes_read(&net->fake.mads, &net->limits, &net->fabric, lids, n, &net->routes, NULL), 0);
}

static size_t node_at(const struct net *net, uint64_t guid)
{
	return rd_fabric_find_node(&net->fabric, guid);
}

#define NET_TEST(name) TEST_BEGUN(name, struct net, net, set_up, tear_down)

NET_TEST(only_blocks_of_the_lids_are_read)
{
	read_tables(net, (uint16_t[]){ 5, 70 }, 2);
	ASSERT_EACH(IS(net->fake.sent, 2 + 4), IS(net->routes.mads_sent, 6), IS(net->routes.n_unread, 0),
		    IS(rd_routes_egress(&net->routes, node_at(net, 0x1002), 5), 5),
		    IS(rd_routes_egress(&net->routes, node_at(net, 0x1003), 70), 70));
	assert_int_equal(rd_routes_egress(&net->routes, node_at(net, 0x1003), TOP), RD_ROUTE_UNREAD);
	assert_int_equal(rd_routes_egress(&net->routes, node_at(net, 0x1003), TOP + 1), RD_ROUTE_NONE);
	assert_int_equal(rd_routes_egress(&net->routes, node_at(net, 0x1003), 0xffff), RD_ROUTE_NONE);
	/* A block beyond the end of the table is not read. */
	net->fake.sent = 0;
	read_tables(net, (uint16_t[]){ 4000 }, 1);
	ASSERT_EACH(IS(net->fake.sent, 2), IS(net->routes.n_unread, 0));
	/* Without LIDs: those of the fabric, which are all in the first block. */
	net->fake.sent = 0;
	read_tables(net, NULL, 0);
	assert_int_equal(net->fake.sent, 4);
}

/* Its LID leads nowhere, as after a fault of the tables: the directed route is another way. */
NET_TEST(an_agent_that_no_lid_leads_to_is_read_on_a_directed_route)
{
	for (unsigned i = 1; i <= 4; i++) {
		size_t port = rd_fabric_find_port(&net->fabric, 0x1003, i);

		if (port != RD_NONE)
			net->fabric.ports[port].lid = 500;
	}
	net->fake.agents[500].silent = UINT_MAX;
	read_tables(net, (uint16_t[]){ 5 }, 1);
	ASSERT_EACH(IS(net->routes.n_unread, 0), IS(rd_routes_egress(&net->routes, node_at(net, 0x1003), 5), 5),
		    IS(net->routes.timeouts > 0, true));
}

NET_TEST(a_silent_agent_is_unread)
{
	net->fake.agents[3].silent = UINT_MAX;
	read_tables(net, (uint16_t[]){ 5 }, 1);
	assert_int_equal(net->routes.n_unread, 1);
	assert_true(net->routes.tables[node_at(net, 0x1003)].partial);
	assert_int_equal(rd_routes_egress(&net->routes, node_at(net, 0x1003), 5), RD_ROUTE_UNREAD);
	assert_int_equal(rd_routes_egress(&net->routes, node_at(net, 0x1002), 5), 5);
	/* Its table only. */
	net->fake.agents[3].silent = 0;
	net->fake.agents[3].silent_attribute = IB_ATTR_LINEARFORWTBL;
	read_tables(net, (uint16_t[]){ 5 }, 1);
	assert_int_equal(net->routes.n_unread, 1);
	assert_int_equal(rd_routes_egress(&net->routes, node_at(net, 0x1003), 5), RD_ROUTE_UNREAD);
}

NET_TEST(lost_datagrams_are_sent_again)
{
	net->fake.agents[2].silent = 2;
	net->fake.agents[3].silent = 1;
	read_tables(net, (uint16_t[]){ 5, 70, 129 }, 3);
	ASSERT_EACH(IS(net->routes.n_unread, 0), IS(net->routes.timeouts, 3));
}
