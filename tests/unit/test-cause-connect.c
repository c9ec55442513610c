// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake-host.h"
#include "made-failure.h"

#include <net/if.h>

#include "collect/failure/failure.h"

#define STATE 1
#define AV 128

static struct rd_netif interfaces[] = {
	{ .ifindex = 2, .name = (char *)"eth0", .flags = IFF_UP | IFF_RUNNING },
	{ .ifindex = 3, .name = (char *)"eth1", .flags = IFF_UP | IFF_RUNNING },
};
static struct rd_ifaddr addresses[2];

/* eth0 has 10.1.2.3, eth1 has 10.9.9.9. */
static void add_net(struct made_failure *m)
{
	interfaces[0].flags = IFF_UP | IFF_RUNNING;
	addresses[0] = (struct rd_ifaddr){ .ifindex = 2, .addr = { .raw = { 10, 1, 2, 3 } } };
	addresses[1] = (struct rd_ifaddr){ .ifindex = 3, .addr = { .raw = { 10, 9, 9, 9 } } };
	m->f.net = (struct rd_netstate){ .links_known = RD_OK,
					 .addrs_known = RD_OK,
					 .ifs = interfaces,
					 .n_ifs = RD_ARRAY_SIZE(interfaces),
					 .addrs = addresses,
					 .n_addrs = RD_ARRAY_SIZE(addresses) };
}

/* To RTR, from GID 3, ::ffff:10.1.2.3 on eth0, to ::ffff:10.1.2.9. */
static void to_rtr(struct made_failure *m, int err, const char *module, const char *origin)
{
	made_failure(m, "ibv_modify_qp", err, module, origin);
	add_net(m);
	MADE_FIELDS(m, { RD_REQ_MASK, STATE | AV }, { RD_REQ_SGID_INDEX, 3 }, { RD_REQ_AV_GLOBAL, 1 });
	m->event.request.has_gid = true;
	made_to_gid(m, "10.1.2.9");
	m->f.gid_index = 3;
	m->f.gid = (struct rd_gid_entry){ .known = RD_OK, .netdev = (char *)"eth0" };
	made_gid_of("10.1.2.3", m->f.gid.raw);
}

/* --- the source GID --- */

FAILURE_TEST(roce_needs_a_global_route)
{
	to_rtr(m, EINVAL, MADE_CORE, "rdma_check_ah_attr");
	ASSERT_UNKNOWN(m, "source GID: index 3 holds 10.1.2.3 of eth0");
	MADE_FIELDS(m, { RD_REQ_AV_GLOBAL, 0 }, { RD_REQ_DLID, 7 });
	ASSERT_CAUSE(m, "grh-missing", HIGH, "mlx5_0/1 is a RoCE port", "is_global 0, dlid 7, sgid_index 3");
	m->f.dev.link_layer = (char *)"InfiniBand";
	ASSERT_NOTHING(m);
	m->f.dev.link_layer = (char *)"Ethernet";
	/* The vector is not valid. */
	ASSERT_NOTHING(made_field(m, RD_REQ_MASK, STATE));
	ASSERT_CAUSE(made_field(m, RD_REQ_MASK, STATE | AV), "grh-missing", HIGH, "mlx5_0/1");
	/* iWARP runs on Ethernet, too. */
	m->f.dev.other_type = true;
	ASSERT_NOTHING(m);
	m->f.dev.other_type = false;
	m->f.read &= ~(unsigned)RD_FACT_GID;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(an_index_beyond_the_table)
{
	to_rtr(m, EINVAL, MADE_CORE, "rdma_get_gid_attr");
	m->f.gid_index = 16;
	m->f.gid.known = RD_DENIED;
	ASSERT_CAUSE(m, "gid-index-range", HIGH, "sgid_index is 16", "mlx5_0/1 has 16 entries");
	m->f.gid_index = 15;
	ASSERT_NOTHING(m);
	m->f.gid_index = 1;
	m->f.dev.n_gids = 1;
	ASSERT_CAUSE(m, "gid-index-range", HIGH, "mlx5_0/1 has 1 entry");
	m->f.dev.n_gids = 16;
	m->f.gid_index = 16;
	m->f.dev.n_gids = 0; /* not readable */
	ASSERT_NOTHING(m);
	m->f.dev.n_gids = 16;
	ASSERT_CAUSE(made_verb(m, "ibv_query_gid_ex"), "gid-index-range", HIGH, "sgid_index is 16");
}

FAILURE_TEST(an_empty_entry)
{
	to_rtr(m, ENODATA, MADE_CORE, "rdma_get_gid_attr");
	ASSERT_UNKNOWN(m, "index 3 holds 10.1.2.3");
	m->f.gid.known = RD_ABSENT;
	ASSERT_CAUSE(m, "gid-index-unused", HIGH, "entry 3 of the GID table of mlx5_0/1 is empty");
	m->f.gid_before = m->f.gid;
	m->f.gid_before.known = RD_OK;
	ASSERT_CAUSE(m, "gid-changed", HIGH, "entry 3", "it held 10.1.2.3", "removed from eth0");
	/* It may have been removed since the driver failed. */
	ASSERT_CAUSE(made_errno(m, ENOENT), "gid-changed", MEDIUM, "entry 3");
	made_errno(m, ENODATA);
	ASSERT_CAUSE(made_module(m, MADE_DRIVER), "gid-changed", MEDIUM, "entry 3");
	ASSERT_CAUSE(made_errno(m, EINVAL), "gid-changed", MEDIUM, "entry 3");
	m->f.gid_before.known = RD_DENIED;
	ASSERT_CAUSE(m, "gid-index-unused", MEDIUM, "entry 3");
	/* The whole port is gone. */
	m->f.dev.netdev = m->f.dev.state = NULL;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(an_entry_that_was_filled_since)
{
	to_rtr(m, ENODATA, MADE_CORE, "rdma_fill_sgid_attr");
	/* Not read, so that it may have been there all the time. */
	ASSERT_UNKNOWN(m, "index 3 holds 10.1.2.3");
	m->f.gid_before.known = RD_ABSENT;
	ASSERT_CAUSE(m, "gid-index-unused", MEDIUM, "entry 3", "was empty; it holds 10.1.2.3 now");
	m->f.gid_before.known = RD_OK;
	ASSERT_CAUSE(m, "gid-index-unused", MEDIUM, "it holds 10.1.2.3 now");
	made_gid_of("10.1.2.3", m->f.gid_before.raw);
	ASSERT_UNKNOWN(m, "index 3 holds 10.1.2.3");
	m->f.gid_before.known = RD_ABSENT;
	ASSERT_UNKNOWN(made_origin(m, MADE_DRIVER, "mlx5_ib_modify_qp"), "index 3 holds 10.1.2.3");
}

FAILURE_TEST(addresses_of_different_families)
{
	to_rtr(m, EINVAL, MADE_CORE, "rdma_resolve_ip");
	ASSERT_CAUSE(made_to_gid(m, "fe80::7"), "gid-family", HIGH, "source 10.1.2.3 (GID index 3) is an IPv4 address",
		     "destination fe80::7 is IPv6");
	/* What nobody resolves. */
	ASSERT_UNKNOWN(made_to_gid(m, "ff0e::1"), "index 3 holds");
	made_to_gid(m, "fe80::7");
	ASSERT_UNKNOWN(made_module(m, MADE_DRIVER), "index 3 holds");
	made_module(m, MADE_CORE);
	m->f.gid.known = RD_DENIED;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(a_destination_that_was_never_filled_in)
{
	to_rtr(m, ENODEV, MADE_CORE, "rdma_find_ndev_for_src_ip_rcu");
	ASSERT_CAUSE(made_to_gid(m, "0.0.0.0"), "gid-destination", HIGH, "::ffff:0.0.0.0", "mlx5_0/1");
	m->f.dev.link_layer = (char *)"InfiniBand";
	made_assert_not(m, "gid-destination");
	m->f.dev.link_layer = (char *)"Ethernet";
	made_assert_not(made_module(m, MADE_DRIVER), "gid-destination");
	made_module(m, MADE_CORE);
	/* Errnos that the resolution does not return for it. */
	made_assert_not(made_errno(m, ENOENT), "gid-destination");
	made_assert_not(made_errno(m, EINVAL), "gid-destination");
	ASSERT_CAUSE(made_to_gid(m, "::"), "gid-destination", HIGH, "destination GID :: is");
	made_errno(m, ETIMEDOUT);
	ASSERT_CAUSE(made_to_gid(m, "127.0.0.1"), "gid-destination", HIGH, "::ffff:127.0.0.1", "loopback");
	made_assert_not(made_to_gid(m, "128.0.0.1"), "gid-destination");
	made_errno(m, ENETUNREACH);
	made_to_gid(m, "::1");
	ASSERT_CAUSE(m, "gid-destination", HIGH, "destination GID ::1 is", "::1 is of the loopback interface");
	made_assert_not(made_to_gid(m, "::2"), "gid-destination");
}

FAILURE_TEST(an_interface_of_another_namespace)
{
	to_rtr(m, ETIMEDOUT, MADE_CORE, "rdma_addr_find_l2_eth_by_grh");
	RD_SET(m->event.moment.net_ns, 4026532500);
	made_assert_not(m, "gid-namespace");
	m->f.gid.netdev = NULL;
	ASSERT_CAUSE(m, "gid-namespace", HIGH, "GID 10.1.2.3 (index 3 of mlx5_0/1)", "net:[4026532500]");
	m->f.gid.netdev = (char *)"eth7";
	ASSERT_CAUSE(m, "gid-namespace", HIGH, "another network namespace than this one");
	ASSERT_CAUSE(made_errno(m, EHOSTUNREACH), "gid-namespace", HIGH, "than this one");
	ASSERT_CAUSE(made_errno(m, ENETUNREACH), "gid-namespace", HIGH, "than this one");
	/* An interface of that name is here, too. */
	made_errno(m, ENODEV);
	m->f.gid.netdev = (char *)"eth0";
	m->f.other_net_ns = true;
	ASSERT_CAUSE(m, "gid-namespace", MEDIUM, "another network namespace than the process");
	m->f.other_net_ns = false;
	made_assert_not(m, "gid-namespace");
	/* Entries of InfiniBand have no interface. */
	m->f.gid.netdev = NULL;
	m->f.dev.link_layer = (char *)"InfiniBand";
	made_assert_not(m, "gid-namespace");
	m->f.dev.link_layer = (char *)"Ethernet";
	made_assert_not(made_module(m, MADE_DRIVER), "gid-namespace");
}

/* --- path.c --- */

FAILURE_TEST(an_interface_that_is_down)
{
	to_rtr(m, ENETUNREACH, MADE_CORE, "addr4_resolve");
	m->f.route_errno = ENETUNREACH;
	interfaces[0].flags = 0;
	ASSERT_CAUSE(m, "interface-down", HIGH, "interface eth0, through which 10.1.2.9 is reached, is down",
		     "ip link set eth0 up");
	interfaces[0].flags = IFF_UP;
	ASSERT_CAUSE(m, "interface-down", HIGH, "has no carrier", "ethtool eth0");
	/* The kernel waited for a neighbour: it went down later. */
	ASSERT_CAUSE(made_errno(m, ETIMEDOUT), "interface-down", HIGH, "has no carrier");
	interfaces[0].flags = 0;
	made_function(m, "addr_resolve");
	ASSERT_CAUSE(m, "neighbour-unreachable", MEDIUM, "no reply to ARP requests for 10.1.2.9", "eth0 is down now");
	made_assert_not(made_function(m, "rdma_addr_find_l2_eth_by_grh"), "interface-down");
	made_assert_not(m, "no-route");
	made_assert_not(made_module(m, MADE_DRIVER), "interface-down");
}

FAILURE_TEST(a_destination_without_route)
{
	to_rtr(m, ENETUNREACH, MADE_CORE, "addr4_resolve");
	m->f.route_errno = ENETUNREACH;
	ASSERT_CAUSE(m, "no-route", HIGH, "no route to 10.1.2.9 from 10.1.2.3 through eth0",
		     "route: to 10.1.2.9 from 10.1.2.3: ENETUNREACH");
	ASSERT_CAUSE(made_errno(m, EHOSTUNREACH), "no-route", MEDIUM, "no route to 10.1.2.9");
	m->f.route_errno = -1;
	made_assert_not(m, "no-route");
	/* Routes of ours are not those of the process. */
	m->f.route_errno = EHOSTUNREACH;
	m->f.other_net_ns = true;
	RD_SET(m->event.moment.net_ns, 4026532500);
	ASSERT_UNKNOWN(m, "net:[4026532500]: its routes and neighbours are not readable");
	made_failure(m, "rdma_resolve_addr", EACCES, "ib_core", "addr4_resolve");
	made_destination(m, "10.77.0.1", 7471);
	m->f.other_net_ns = true;
	RD_SET(m->event.moment.net_ns, 4026532500);
	ASSERT_UNKNOWN(m, "net:[4026532500]: its routes", "nsenter -t 4721 -n ip route");
}

FAILURE_TEST(a_socket_address_without_route)
{
	made_failure(m, "rdma_resolve_addr", ENETUNREACH, "ib_core", "addr4_resolve");
	add_net(m);
	made_destination(m, "10.77.0.1", 7471);
	m->f.route_errno = ENETUNREACH;
	ASSERT_CAUSE(m, "no-route", HIGH, "no route to 10.77.0.1", "from any address", "ip route get 10.77.0.1");
	ASSERT_CAUSE(made_source(m, "10.1.2.3", 0), "no-route", HIGH, "no route to 10.77.0.1 from 10.1.2.3");
	ASSERT_CAUSE(made_source(m, "0.0.0.0", 0), "no-route", HIGH, "from any address");
	ASSERT_CAUSE(made_destination(m, "2001:db8::7", 7471), "no-route", HIGH, "no route to 2001:db8::7");
	/* By the route, it is through an interface that is down. */
	m->f.route_errno = 0;
	m->f.route.ifindex = 2;
	interfaces[0].flags = 0;
	ASSERT_CAUSE(m, "interface-down", HIGH, "interface eth0, through which 2001:db8::7", "directly on eth0");
	m->event.request.dst.family = 40;
	ASSERT_NOTHING(m);
	made_destination(m, "10.77.0.1", 7471);
	ASSERT_NOTHING(made_verb(m, "rdma_bind_addr"));
}

FAILURE_TEST(a_route_that_refuses)
{
	made_failure(m, "rdma_resolve_addr", EACCES, "ib_core", "addr_resolve");
	add_net(m);
	made_destination(m, "10.77.0.1", 7471);
	m->f.route_errno = EACCES;
	ASSERT_CAUSE(m, "no-route", HIGH, "10.77.0.1", "of type prohibit", "route show table all type prohibit");
	made_assert_not(made_errno(m, EINVAL), "no-route");
	m->f.route_errno = EINVAL;
	ASSERT_CAUSE(m, "no-route", HIGH, "of type blackhole");
	/* The same errno of a source that the host does not have, and of another function. */
	ASSERT_CAUSE(made_source(m, "10.1.2.3", 0), "no-route", HIGH, "10.77.0.1 from 10.1.2.3");
	made_assert_not(made_source(m, "10.1.2.4", 0), "no-route");
	/* Nothing leaves the host from there. */
	made_source(m, "127.9.9.9", 0);
	addresses[1].addr.raw[0] = 127; /* 127.9.9.9 */
	ASSERT_CAUSE(m, "address-without-rdma", HIGH, "source 127.9.9.9", "10.77.0.1 is not reached");
	m->event.request.src.known = false;
	made_assert_not(made_origin(m, MADE_CM, "rdma_bind_addr_dst"), "no-route");
	m->f.other_net_ns = true;
	ASSERT_NOTHING(m);
}

/* Programs that resolve names get such addresses (AI_V4MAPPED). */
FAILURE_TEST(an_ipv4_address_in_an_ipv6_one)
{
	made_failure(m, "rdma_resolve_addr", ENETUNREACH, "ib_core", "addr6_resolve.constprop.0");
	add_net(m);
	made_destination(m, "::ffff:10.1.2.9", 7471);
	m->f.route_errno = ENETUNREACH;
	ASSERT_CAUSE(m, "address-family", HIGH, "::ffff:10.1.2.9 is an IPv4 address", "AF_INET");
	ASSERT_CAUSE(made_destination(m, "2001:db8::1", 7471), "no-route", HIGH, "2001:db8::1");
	made_failure(m, "rdma_bind_addr", EADDRNOTAVAIL, "ib_core", "rdma_find_ndev_for_src_ip_rcu");
	add_net(m);
	made_source(m, "::ffff:10.1.2.3", 7471);
	ASSERT_CAUSE(m, "address-family", HIGH, "::ffff:10.1.2.3 is an IPv4 address");
}

FAILURE_TEST(a_scope_that_is_not_an_interface)
{
	made_failure(m, "rdma_resolve_addr", ENETUNREACH, "ib_core", "addr6_resolve.constprop.0");
	add_net(m);
	made_destination(m, "fe80::1234", 7471);
	m->event.request.dst.scope_id = 99;
	ASSERT_CAUSE(m, "address-scope-missing", HIGH, "sin6_scope_id of fe80::1234 is 99");
	m->event.request.dst.scope_id = 2;
	made_assert_not(m, "address-scope-missing");
	made_destination(m, "2001:db8::1", 7471);
	m->event.request.dst.scope_id = 99;
	made_assert_not(m, "address-scope-missing");
}

FAILURE_TEST(a_neighbour_outside_of_the_subnet)
{
	struct rd_neigh neighbour = { .ifindex = 2, .addr = { 10, 50, 0, 9 }, .state = RD_NEIGH_INCOMPLETE };

	to_rtr(m, ETIMEDOUT, MADE_CORE, "addr_resolve");
	addresses[0].addr.prefix = 24;
	m->f.net.neighs = &neighbour;
	m->f.net.n_neighs = 1;
	m->f.route_errno = 0;
	m->f.route = (struct rd_route){ .ifindex = 2 };
	ASSERT_CAUSE(made_to_gid(m, "10.50.0.9"), "neighbour-unreachable", HIGH,
		     "no address of eth0 is in the subnet of 10.50.0.9", "ip route get 10.50.0.9");
	made_to_gid(m, "10.1.2.9");
	memcpy(neighbour.addr, (uint8_t[]){ 10, 1, 2, 9 }, 4);
	ASSERT_CAUSE(m, "neighbour-unreachable", HIGH, "directly on eth0", "ping -c 3 -I eth0 10.1.2.9");
	assert_null(strstr(m->said, "in the subnet of"));
}

FAILURE_TEST(a_neighbour_that_does_not_answer)
{
	struct rd_neigh neighbour = { .ifindex = 2, .addr = { 10, 1, 2, 1 }, .state = RD_NEIGH_FAILED };

	to_rtr(m, ETIMEDOUT, MADE_CORE, "rdma_addr_find_l2_eth_by_grh");
	m->f.net.neighs = &neighbour;
	m->f.net.n_neighs = 1;
	m->f.route_errno = 0;
	m->f.route = (struct rd_route){ .has_gateway = true, .gateway = { 10, 1, 2, 1 }, .ifindex = 2 };
	ASSERT_CAUSE(m, "neighbour-unreachable", HIGH, "no reply from 10.1.2.1 to ARP requests on eth0",
		     "via 10.1.2.1 on eth0", "neighbour entry of 10.1.2.1: FAILED", "10.1.2.3, GID index 3");
	/* An entry that works. */
	neighbour.state = 0x02;
	ASSERT_UNKNOWN(m, "neighbour entry: known");
	/* None: only that the kernel gave up says so. */
	neighbour.addr[3] = 7;
	ASSERT_UNKNOWN(m, "neighbour entry: no entry");
	made_function(m, "addr_resolve");
	ASSERT_CAUSE(m, "neighbour-unreachable", MEDIUM, "no reply from 10.1.2.1", "or the table of neighbours is full");
	/* Drivers wait for their firmware. */
	neighbour = (struct rd_neigh){ .ifindex = 2, .addr = { 10, 1, 2, 1 }, .state = RD_NEIGH_FAILED };
	made_assert_not(made_module(m, MADE_DRIVER), "neighbour-unreachable");
	made_module(m, MADE_CORE);
	m->f.read &= ~(unsigned)RD_FACT_PATH;
	made_assert_not(m, "neighbour-unreachable");
}

/* --- what was read when the trace began --- */

#define PORT_DIR "/sys/class/infiniband/mlx5_0/ports/1"

static void reread(struct made_failure *m, struct rd_failure_reader *reader)
{
	rd_failure_deinit(&m->f);
	m->f = (struct rd_failure){ .event = &m->event, .set = &m->set };
	rd_failure_read(reader, RD_FACT_DEVICE | RD_FACT_GID, &m->f, NULL);
}

FAILURE_TEST(a_device_that_was_created_again)
{
	struct rd_failure_reader *reader;
	_cleanup_(fake_host_deinit) struct fake_host host = fake_host_make();

	fake_host_text(&host, "/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	fake_host_text(&host, "/sys/class/infiniband/mlx5_0/node_guid", "5054:00ff:fe00:0901\n");
	fake_host_text(&host, PORT_DIR "/link_layer", "Ethernet\n");
	fake_host_text(&host, PORT_DIR "/gids/0", "0000:0000:0000:0000:0000:ffff:0a01:0203\n");
	reader = rd_failure_reader_create(host.source);
	made_failure(m, "ibv_modify_qp", ENODATA, MADE_CORE, "rdma_fill_sgid_attr");
	made_field(m, RD_REQ_SGID_INDEX, 0);
	fake_host_text(&host, PORT_DIR "/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	m->f = (struct rd_failure){ 0 };
	reread(m, reader);
	ASSERT_EACH(IS(m->f.dev.other_type, false), IS(m->f.gid.known, RD_ABSENT), IS(m->f.gid_before.known, RD_OK));
	made_field(m, RD_REQ_SGID_INDEX, 1);
	reread(m, reader);
	assert_int_equal(m->f.gid_before.known, RD_ABSENT);
	/* Another device of that name, of which nothing was read. */
	made_field(m, RD_REQ_SGID_INDEX, 0);
	fake_host_text(&host, "/sys/class/infiniband/mlx5_0/node_guid", "5054:00ff:fe00:0902\n");
	fake_host_text(&host, "/sys/class/infiniband/mlx5_0/node_type", "4: RNIC\n");
	reread(m, reader);
	ASSERT_EACH(IS(m->f.dev.other_type, true), IS(m->f.gid_before.known, RD_DENIED));
	rd_failure_deinit(&m->f);
	rd_failure_reader_destroy(reader);
}
