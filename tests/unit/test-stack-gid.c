/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which GID Mooncake, UCX and libfabric take of a port; tests/rules/STACKS.md says of which function each rule is. */
#include "unit.h"

#include "analyse/nicmap/nicmap.h"
#include "analyse/shared/gid.h"
#include "analyse/stacks/stack-priv.h"
#include "nicmap-host.h"

/* One RoCE port, mlx5_0, with interface eth0. */
static struct rd_port *start(struct rd_host *host)
{
	*host = (struct rd_host){ 0 };
	made_nic(host, "mlx5_0", "10:00.0", -1, "pci0000:10", -1, 100);
	made_netdev(host, "eth0");
	return made_port(host, 0);
}

static unsigned mooncake(const struct rd_port *port)
{
	const char *why = NULL;
	int gid = rd_gid_mooncake(port, &why);

	assert_non_null(why);
	return gid < 0 ? 999 : port->gids[gid].index;
}

static unsigned ucx(const struct rd_port *port)
{
	const char *why = NULL;
	int gid = rd_gid_ucx(port, &why);

	assert_non_null(why);
	return gid < 0 ? 999 : port->gids[gid].index;
}

static unsigned older(const struct rd_port *port)
{
	int gid = rd_gid_mooncake_0311(port);

	return gid < 0 ? 999 : port->gids[gid].index;
}

/* Mooncake#2729: addresses of 10/8 once counted no more than link-local ones. */
TEST(mooncake_takes_10_8_before_link_local)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gids(&host, 0, "0 v1 fe80::1, 1 v2 fe80::1, 2 v1 10.1.2.3, 3 v2 10.1.2.3");
	assert_int_equal(mooncake(port), 3);
	assert_int_equal(older(port), 3);
}

TEST(mooncake_takes_a_routable_address_before_a_private_one)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gids(&host, 0, "0 v2 fe80::1, 1 v2 172.16.0.1, 2 v2 100.64.0.1");
	assert_int_equal(mooncake(port), 1);
	/* 192.168/16 is not private to it. */
	made_gids(&host, 0, "5 v2 192.168.0.1, 6 v2 2001:db8::1");
	assert_int_equal(mooncake(port), 5);
	assert_int_equal(older(port), 1);
}

TEST(mooncake_leaves_interfaces_of_containers_out_while_there_is_another)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gid(&host, 0, 3, "192.168.0.1", RD_GID_ROCE_V2, "docker0");
	assert_int_equal(mooncake(port), 3);
	made_gid(&host, 0, 5, "10.0.0.1", RD_GID_ROCE_V2, "eth0");
	assert_int_equal(mooncake(port), 5);
}

TEST(mooncake_takes_roce_v1_where_there_is_no_other)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	assert_int_equal(mooncake(port), 999);
	made_gids(&host, 0, "0 v1 fe80::1, 2 v1 10.1.2.3");
	assert_int_equal(mooncake(port), 0);
	made_gid(&host, 0, 4, "fe80::1", RD_GID_ROCE_V2, "eth0");
	assert_int_equal(mooncake(port), 4);
}

/* The kernel hides the type of a GID whose interface another network namespace has; Mooncake asks libibverbs for it. */
TEST(mooncake_cannot_be_told_where_a_type_is_hidden)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gid(&host, 0, 3, "10.1.2.3", RD_GID_ROCE_V2, "eth0");
	made_gid(&host, 0, 5, "10.1.2.4", RD_GID_UNKNOWN, NULL);
	assert_int_equal(mooncake(port), 3); /* worse in either case */
	made_gid(&host, 0, 7, "192.168.1.4", RD_GID_UNKNOWN, NULL);
	assert_int_equal(mooncake(port), 999);
}

/* ROCm/ATOM#1748: ports that have IPv6 only. */
TEST(mooncake_before_0_3_12_takes_link_local_of_ipv6_only)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gids(&host, 0, "0 v2 fe80::1, 1 v2 fd93::1");
	assert_int_equal(older(port), 0);
	assert_int_equal(mooncake(port), 1);
	made_gid(&host, 0, 2, "10.0.0.1", RD_GID_ROCE_V2, NULL);
	assert_int_equal(older(port), 2);
}

TEST(ucx_takes_v2_before_v1_and_ipv4_before_ipv6)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gid(&host, 0, 0, "fe80::1", RD_GID_ROCE_V1, "eth0");
	assert_int_equal(ucx(port), 0);
	made_gid(&host, 0, 1, "2001:db8::1", RD_GID_ROCE_V1, "eth0");
	assert_int_equal(ucx(port), 1);
	made_gid(&host, 0, 2, "10.1.2.3", RD_GID_ROCE_V1, "eth0");
	assert_int_equal(ucx(port), 2);
	made_gid(&host, 0, 3, "fe80::1", RD_GID_ROCE_V2, "eth0");
	assert_int_equal(ucx(port), 3);
	made_gid(&host, 0, 4, "2001:db8::1", RD_GID_ROCE_V2, "eth0");
	assert_int_equal(ucx(port), 4);
	/* Any IPv4 address, be it for one link. */
	made_gids(&host, 0, "5 v2 169.254.3.1, 6 v2 10.1.2.3");
	assert_int_equal(ucx(port), 5);
}

TEST(ucx_counts_a_hidden_type_as_v1)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gid(&host, 0, 0, "10.1.2.3", RD_GID_UNKNOWN, NULL);
	made_gid(&host, 0, 1, "fe80::1", RD_GID_ROCE_V2, "eth0");
	assert_int_equal(ucx(port), 1);
}

static void make_infiniband(struct rd_port *port)
{
	free(port->link_layer);
	port->link_layer = strdup("InfiniBand");
}

TEST(ucx_takes_index_1_of_a_fabric_with_routers)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	struct rd_port *port = start(&host);

	made_gid(&host, 0, 0, "fe80::506b:4b03:a1:420c", RD_GID_IB, NULL);
	made_gid(&host, 0, 1, "fec0:0:5::20:601:0:1", RD_GID_IB, NULL);
	make_infiniband(port);
	assert_int_equal(ucx(port), 0); /* another vendor's identifier */
	port->gids[1].raw[8] = 0x00;
	port->gids[1].raw[9] = 0x14;
	assert_int_equal(ucx(port), 0);
	port->gids[1].raw[10] = 0x05;
	assert_int_equal(ucx(port), 1);
	port->gids[1].raw[4] = port->gids[1].raw[5] = 0;
	assert_int_equal(ucx(port), 0);
	assert_int_equal(mooncake(port), 0);
}

static int taken_gid(const struct rd_nicmap *map, enum rd_stack_id id)
{
	return map->stacks.v[id].ports[0].gid;
}

TEST(libfabric_takes_the_gid_of_the_one_address)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	_cleanup_(rd_nicmap_deinit) struct rd_nicmap map = { 0 };
	struct rd_port *port = start(&host);

	made_gids(&host, 0, "0 v2 fe80::1, 1 v1 10.0.0.1, 2 v2 10.0.0.1");
	made_analyse(&host, 0, &map);
	assert_int_equal(port->gids[taken_gid(&map, RD_STACK_LIBFABRIC)].index, 2);
	made_gid(&host, 0, 3, "10.0.1.1", RD_GID_ROCE_V2, "eth0");
	made_analyse(&host, 0, &map);
	assert_int_equal(taken_gid(&map, RD_STACK_LIBFABRIC), -1);
	assert_non_null(strstr(map.stacks.v[RD_STACK_LIBFABRIC].ports[0].gid_why, "depends"));
}

static const char *variable(const struct rd_nicmap *map, const char *name)
{
	for (size_t i = 0; i < map->env.n; i++)
		if (strcmp(map->env.v[i].name, name) == 0)
			return map->env.v[i].value;
	return NULL;
}

/* It reads NCCL's where its own is not set, so that the two must agree. */
TEST(mooncake_gets_the_gid_index_that_nccl_gets)
{
	_cleanup_(rd_host_deinit) struct rd_host host = { 0 };
	_cleanup_(rd_nicmap_deinit) struct rd_nicmap map = { 0 };
	int up = made_switch(&host, 0x20, "pci0000:20", 0);

	made_gpu(&host, "23:00.0", made_port_of(&host, up, 0), "pci0000:20", 0);
	made_nic(&host, "mlx5_0", "24:00.0", made_port_of(&host, up, 1), "pci0000:20", 0, 400);
	made_netdev(&host, "eth0");
	made_gids(&host, 0, "0 v2 fe80::1, 5 v2 10.0.0.1");
	made_analyse(&host, 0, &map);
	assert_string_equal(variable(&map, "NCCL_IB_GID_INDEX"), "5");
	assert_string_equal(variable(&map, "MC_GID_INDEX"), "5");
	assert_string_equal(variable(&map, "MC_TE_FILTERS"), "mlx5_0");
	assert_null(variable(&map, "MC_IB_PORT"));
	assert_non_null(strstr(map.stacks.v[RD_STACK_MOONCAKE].note, "NCCL_IB_GID_INDEX"));
}

static const struct rd_finding *told(const struct rd_nicmap *map, const char *id, const char *subject)
{
	for (size_t i = 0; i < map->stacks.findings.n; i++)
		if (strcmp(map->stacks.findings.v[i].id, id) == 0 &&
		    strcmp(map->stacks.findings.v[i].subject, subject) == 0)
			return &map->stacks.findings.v[i];
	return NULL;
}

TEST(a_gid_for_one_link_is_told_where_a_better_one_is)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	_cleanup_(rd_nicmap_deinit) struct rd_nicmap map = { 0 };
	const struct rd_finding *finding;

	start(&host);
	made_gids(&host, 0, "0 v2 fe80::1, 2 v2 169.254.3.1");
	made_analyse(&host, 0, &map);
	assert_null(told(&map, "stack-gid", "ucx")); /* there is no better one */
	free(host.ports[0].gids[1].netdev);
	host.ports[0].gids[1].netdev = strdup("eth9"); /* not of this network namespace */
	made_gid(&host, 0, 4, "10.0.0.1", RD_GID_ROCE_V2, "eth0");
	made_analyse(&host, 0, &map);
	finding = told(&map, "stack-gid", "ucx");
	assert_non_null(finding);
	assert_int_equal(finding->severity, RD_SEV_WARNING);
	assert_non_null(strstr(finding->observed, "index 2 (169.254.3.1"));
	assert_string_equal(finding->fix, "# set UCX_IB_GID_INDEX=4 in the job's environment");
}

TEST(an_older_mooncake_is_told_where_it_would_fail)
{
	_cleanup_(rd_host_deinit) struct rd_host host;
	_cleanup_(rd_nicmap_deinit) struct rd_nicmap map = { 0 };

	start(&host);
	made_gids(&host, 0, "0 v2 fe80::1, 1 v2 10.0.0.1");
	made_analyse(&host, 0, &map);
	assert_null(told(&map, "stack-gid-older", "mooncake"));
	host.ports[0].gids[1].raw[10] = host.ports[0].gids[1].raw[11] = 0;
	host.ports[0].gids[1].raw[0] = 0xfd;
	made_analyse(&host, 0, &map);
	assert_non_null(told(&map, "stack-gid-older", "mooncake"));
	assert_null(told(&map, "stack-gid", "mooncake"));
}
