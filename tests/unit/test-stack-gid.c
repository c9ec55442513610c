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

TEST(which_gid_each_takes)
{
	enum { ANY = -1, NONE = 999 };
	static const struct {
		const char *name, *gids;
		int mooncake, older, ucx;
	} cases[] = {
		/* Mooncake#2729: addresses of 10/8 once counted no more than link-local ones. */
		{ "10/8 before link-local", "0 v1 fe80::1, 1 v2 fe80::1, 2 v1 10.1.2.3, 3 v2 10.1.2.3", 3, 3, ANY },
		{ "a routable address", "0 v2 fe80::1, 1 v2 172.16.0.1, 2 v2 100.64.0.1", 1, ANY, ANY },
		{ "192.168/16 is not private to it",
		  "0 v2 fe80::1, 1 v2 172.16.0.1, 2 v2 100.64.0.1, 5 v2 192.168.0.1, 6 v2 2001:db8::1", 5, 1, ANY },
		{ "an interface of containers alone", "3 v2 192.168.0.1@docker0", 3, ANY, ANY },
		{ "an interface of containers", "3 v2 192.168.0.1@docker0, 5 v2 10.0.0.1", 5, ANY, ANY },
		{ "nothing", "", NONE, ANY, ANY },
		{ "RoCEv1 where there is no other", "0 v1 fe80::1, 2 v1 10.1.2.3", 0, ANY, ANY },
		{ "RoCEv2 beside it", "0 v1 fe80::1, 2 v1 10.1.2.3, 4 v2 fe80::1", 4, ANY, ANY },
		/* The kernel hides the type of a GID whose interface another network namespace has; libibverbs knows it. */
		{ "a hidden type, worse in either case", "3 v2 10.1.2.3, 5 v? 10.1.2.4@", 3, ANY, ANY },
		{ "a hidden type", "3 v2 10.1.2.3, 5 v? 10.1.2.4@, 7 v? 192.168.1.4@", NONE, ANY, ANY },
		/* ROCm/ATOM#1748: ports that have IPv6 only. */
		{ "IPv6 only", "0 v2 fe80::1, 1 v2 fd93::1", 1, 0, ANY },
		{ "IPv4 beside it", "0 v2 fe80::1, 1 v2 fd93::1, 2 v2 10.0.0.1@", ANY, 2, ANY },
		{ "ucx: v1 link-local", "0 v1 fe80::1", ANY, ANY, 0 },
		{ "ucx: v1 IPv6", "0 v1 fe80::1, 1 v1 2001:db8::1", ANY, ANY, 1 },
		{ "ucx: v1 IPv4", "0 v1 fe80::1, 1 v1 2001:db8::1, 2 v1 10.1.2.3", ANY, ANY, 2 },
		{ "ucx: v2 link-local", "0 v1 fe80::1, 1 v1 2001:db8::1, 2 v1 10.1.2.3, 3 v2 fe80::1", ANY, ANY, 3 },
		{ "ucx: v2 IPv6", "0 v1 fe80::1, 1 v1 2001:db8::1, 2 v1 10.1.2.3, 3 v2 fe80::1, 4 v2 2001:db8::1", ANY,
		  ANY, 4 },
		{ "ucx: any IPv4 of v2, be it for one link",
		  "0 v1 fe80::1, 1 v1 2001:db8::1, 2 v1 10.1.2.3, 3 v2 fe80::1, 4 v2 2001:db8::1, 5 v2 169.254.3.1, "
		  "6 v2 10.1.2.3",
		  ANY, ANY, 5 },
		{ "ucx: a hidden type counts as v1", "0 v? 10.1.2.3@, 1 v2 fe80::1", ANY, ANY, 1 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		_cleanup_(rd_host_deinit) struct rd_host host;
		struct rd_port *port = start(&host);

		made_gids(&host, 0, cases[i].gids);
		if ((cases[i].mooncake != ANY && (int)mooncake(port) != cases[i].mooncake) ||
		    (cases[i].older != ANY && (int)older(port) != cases[i].older) ||
		    (cases[i].ucx != ANY && (int)ucx(port) != cases[i].ucx))
			fail_msg("%s: %u, %u, %u", cases[i].name, mooncake(port), older(port), ucx(port));
	}
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
	ASSERT_EACH(READS(variable(&map, "NCCL_IB_GID_INDEX"), "5"), READS(variable(&map, "MC_GID_INDEX"), "5"),
		    READS(variable(&map, "MC_TE_FILTERS"), "mlx5_0"), IS(variable(&map, "MC_IB_PORT") == NULL, true),
		    HAS(map.stacks.v[RD_STACK_MOONCAKE].note, "NCCL_IB_GID_INDEX"));
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
	ASSERT_EACH(IS(finding->severity, RD_SEV_WARNING), HAS(finding->observed, "index 2 (169.254.3.1"));
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
