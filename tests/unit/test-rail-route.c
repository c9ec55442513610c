/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rails with routing tables of their own: the route that is missing, and the command that adds it. */
#include "unit.h"

#include "check-run.h"
#include "model/host/netstate.h"
#include "model/nicmap/nicmap.h"

/* mlx5_0 on eth0 (2), 10.0.1.1/24; packets from there use table 101. The main table has a gateway for eth0. */
struct rail {
	struct rd_host host;
	struct rd_port_views ports;
	struct rd_netif netif;
	struct rd_ifaddr addr;
	struct rd_policy policy;
	struct rd_route routes[2];
	struct rd_netstate net;
	struct rd_check_input in;
};

static void rail_init(struct rail *rail)
{
	struct rd_port *port;

	*rail = (struct rail){
		.netif = { .ifindex = 2, .name = (char *)"eth0", .rdma = true },
		.addr = { .ifindex = 2, .addr = { .raw = { 10, 0, 1, 1 }, .prefix = 24 } },
		.policy = { .table = 101, .source = { 10, 0, 1, 1 }, .source_len = 32 },
		.routes = { { .table = 101, .ifindex = 9, .type = 1 },
			    { .table = 254, .ifindex = 2, .type = 1, .has_gateway = true, .gateway = { 10, 0, 1, 254 } } },
		.net = { .links_known = RD_OK,
			 .addrs_known = RD_OK,
			 .routes_known = RD_OK,
			 .policies_known = RD_OK,
			 .n_ifs = 1,
			 .n_addrs = 1,
			 .n_policies = 1,
			 .n_routes = 2 },
	};
	rail->net.ifs = &rail->netif;
	rail->net.addrs = &rail->addr;
	rail->net.policies = &rail->policy;
	rail->net.routes = rail->routes;
	rd_host_add_ibdev(&rail->host)->name = strdup("mlx5_0");
	rail->host.ibdevs[0].pci = -1;
	rd_host_add_netdev(&rail->host)->name = strdup("eth0");
	port = rd_host_add_port(&rail->host, 0);
	port->num = 1;
	port->link_layer = strdup("Ethernet");
	port->netdevs = calloc(1, sizeof(int));
	port->n_netdevs = 1;
	rd_port_views_init(&rail->ports, &rail->host);
	rail->ports.v[0].role = RD_ROLE_COMPUTE;
	rail->in = (struct rd_check_input){ .host = &rail->host, .ports = &rail->ports, .net = &rail->net };
}

static void rail_deinit(struct rail *rail)
{
	rd_port_views_deinit(&rail->ports);
	rd_host_deinit(&rail->host);
}

static void expect_fix(struct rail *rail, const char *wanted)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	bool found = false;

	check_run(&rail->in, "rail-route", &findings);
	for (size_t i = 0; i < findings.n; i++)
		found |= findings.v[i].severity == RD_SEV_WARNING && strstr(findings.v[i].fix, wanted) != NULL;
	assert_true(found);
}

TEST(a_table_without_the_rail)
{
	_cleanup_(rail_deinit) struct rail rail;

	rail_init(&rail);
	expect_fix(&rail, "\nip route add default via 10.0.1.254 dev eth0 table 101\n");
	/* No route of the rail has a gateway: it is left to fill in. */
	rail.routes[1].has_gateway = false;
	expect_fix(&rail, "\n# ip route add default via GATEWAY dev eth0 table 101\n");
	/* The gateway of another interface is not the rail's. */
	rail.routes[1].has_gateway = true;
	rail.routes[1].ifindex = 9;
	expect_fix(&rail, "GATEWAY");
}

TEST(a_table_with_the_rail)
{
	_cleanup_(rail_deinit) struct rail rail;

	rail_init(&rail);
	rail.routes[0].ifindex = 2;
	assert_int_equal(check_worst(&rail.in, "rail-route"), RD_SEV_OK);
	/* Packets from another address use the table. */
	rail.routes[0].ifindex = 9;
	rail.policy.source[3] = 7;
	assert_int_equal(check_worst(&rail.in, "rail-route"), RD_SEV_SKIP);
}
