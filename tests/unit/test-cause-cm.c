// SPDX-License-Identifier: GPL-2.0-or-later
#include "made-failure.h"

#include <linux/capability.h>
#include <net/if.h>
#include <sys/socket.h>

#include "diagnose/shared/rule.h"

static struct rd_netif interfaces[] = {
	{ .ifindex = 2, .name = (char *)"eth0", .flags = IFF_UP | IFF_RUNNING },
	{ .ifindex = 3, .name = (char *)"eth1", .flags = IFF_UP | IFF_RUNNING },
};
static struct rd_ifaddr addresses[2];

/* eth0 has 10.1.2.3, eth1 has 10.9.9.9. */
static void add_net(struct made_failure *m)
{
	interfaces[0].flags = IFF_UP | IFF_RUNNING;
	interfaces[0].kind = NULL;
	interfaces[1].lower = interfaces[1].master = 0;
	interfaces[1].vlan = -1;
	addresses[0] = (struct rd_ifaddr){ .ifindex = 2, .addr = { .raw = { 10, 1, 2, 3 } } };
	addresses[1] = (struct rd_ifaddr){ .ifindex = 3, .addr = { .raw = { 10, 9, 9, 9 } } };
	m->f.net = (struct rd_netstate){ .links_known = RD_OK,
					 .addrs_known = RD_OK,
					 .ifs = interfaces,
					 .n_ifs = RD_ARRAY_SIZE(interfaces),
					 .addrs = addresses,
					 .n_addrs = RD_ARRAY_SIZE(addresses) };
}

/* --- addresses --- */

static void bind_to(struct made_failure *m, int err, const char *origin, const char *address, uint16_t port)
{
	made_failure(m, "rdma_bind_addr", err, MADE_CM, origin);
	add_net(m);
	made_source(m, address, port);
	made_cm_state(m, CM_IDLE);
	made_field(m, RD_REQ_CM_ID, 12);
}

FAILURE_TEST(an_address_of_which_duplicates_are_looked_for)
{
	bind_to(m, EADDRNOTAVAIL, "rdma_find_ndev_for_src_ip_rcu", "2001:db8::1", 7000);
	made_module(m, MADE_CORE);
	addresses[0] = (struct rd_ifaddr){ .ifindex = 2, .flags = 0x40, .addr = { .v6 = true } };
	memcpy(addresses[0].addr.raw, m->event.request.src.addr, 16);
	ASSERT_CAUSE(m, "address-tentative", HIGH, "2001:db8::1 of eth0 cannot be used yet");
	addresses[0].flags = 0x08;
	ASSERT_CAUSE(m, "address-tentative", HIGH, "another host has it");
	addresses[0].flags = 0;
	made_assert_not(m, "address-tentative");
}

FAILURE_TEST(a_port_that_another_process_uses)
{
	struct rd_cm_id id = { .src = { .family = AF_INET, .port = 7471, .ip = { 10, 1, 2, 3 } },
			       .owner.pid = { 99, RD_OK },
			       .proc = -1 };

	bind_to(m, EADDRINUSE, "cma_check_port", "10.1.2.3", 7471);
	ASSERT_CAUSE(m, "address-in-use", HIGH, "port 7471 of 10.1.2.3");
	m->f.res.cm_ids = &id;
	m->f.res.n_cm_ids = 1;
	ASSERT_CAUSE(m, "address-in-use", HIGH, "used by process 99");
	id.owner = (struct rd_owner){ .kernel = (char *)"rds_rdma", .pid.known = RD_ABSENT };
	ASSERT_CAUSE(m, "address-in-use", HIGH, "used by rds_rdma of the kernel: unload");
	id.owner = (struct rd_owner){ .pid = { 99, RD_OK } };
	/* That of another address does not matter. */
	ASSERT_CAUSE(made_function(m, "rdma_bind_addr"), "address-in-use", MEDIUM, "used by process 99");
	id.src.port = 7472;
	ASSERT_NOTHING(m);
	/* rdma_listen names none. */
	m->event.request.src.known = false;
	made_function(m, "cma_check_port");
	ASSERT_CAUSE(m, "address-in-use", HIGH, "the port is used by another rdma_cm_id");
	m->event.request.src.known = true;
	/* Two, of which one has any address. */
	made_errno(m, EADDRNOTAVAIL);
	made_function(m, "cma_check_port");
	ASSERT_CAUSE(m, "address-in-use", HIGH, "port 7471 of 10.1.2.3", "before it listens");
	/* Another function failed last, for another device. */
	made_function(m, "cma_validate_port");
	ASSERT_CAUSE(m, "address-in-use", MEDIUM, "port 7471 of 10.1.2.3", "bound to 0.0.0.0 or ::");
	id.src = (struct rd_sockaddr){ .family = AF_INET, .port = 7471 };
	ASSERT_CAUSE(m, "address-in-use", MEDIUM, "port 7471 of 0.0.0.0 is used by process 99");
	ASSERT_CAUSE(made_source(m, "::", 7471), "address-in-use", MEDIUM, ":: is every address", "used by process 99");
	/* Before it looks at ports, as for an address that is not usable yet. */
	made_source(m, "10.1.2.3", 7471);
	ASSERT_NOTHING(made_function(m, "rdma_find_ndev_for_src_ip_rcu"));
}

FAILURE_TEST(an_address_of_another_host)
{
	bind_to(m, EADDRNOTAVAIL, "rdma_find_ndev_for_src_ip_rcu", "10.1.2.4", 7471);
	ASSERT_CAUSE(m, "address-not-local", HIGH, "no interface of this host has the address 10.1.2.4");
	ASSERT_NOTHING(made_source(m, "10.1.2.3", 7471));
	/* In a container; elsewhere than there nothing is known of it. */
	m->f.other_net_ns = true;
	RD_SET(m->event.moment.net_ns, 4026532500);
	ASSERT_CAUSE(m, "address-not-local", HIGH, "net:[4026532500]", "10.1.2.3", "interface eth0 has it");
	ASSERT_NOTHING(made_function(m, "rdma_bind_addr"));
	assert_non_null(strstr(m->said, "nsenter -t 4721 -n ip address"));
	m->f.other_net_ns = false;
	made_source(m, "10.1.2.4", 7471);
	m->f.net.addrs_known = RD_DENIED;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(no_port_is_free)
{
	bind_to(m, EADDRNOTAVAIL, "cma_alloc_any_port", "10.1.2.3", 0);
	ASSERT_CAUSE(m, "ports-exhausted", HIGH, "ip_local_port_range", "0 rdma_cm_ids");
	ASSERT_CAUSE(made_function(m, "addr_resolve"), "ports-exhausted", MEDIUM, "ip_local_port_range");
	m->event.request.src.port = 7471;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(an_interface_without_rdma_device)
{
	struct rd_res_dev dev = { .name = (char *)"mlx5_0" };

	bind_to(m, ENODEV, "cma_validate_port", "10.9.9.9", 7471);
	ASSERT_CAUSE(m, "address-without-rdma", MEDIUM, "address 10.9.9.9 is of interface eth1");
	m->f.res.devs = &dev;
	m->f.res.n_devs = 1;
	ASSERT_CAUSE(m, "address-without-rdma", HIGH, "address 10.9.9.9 is of interface eth1");
	made_assert_not(made_source(m, "10.1.2.4", 7471), "address-without-rdma");
	/* By the route. */
	made_verb(m, "rdma_resolve_addr");
	m->event.request.src.known = false;
	made_assert_not(made_destination(m, "10.9.9.1", 7471), "address-without-rdma");
	m->f.route_errno = 0;
	m->f.route.ifindex = 3;
	ASSERT_CAUSE(m, "address-without-rdma", HIGH, "the route to 10.9.9.1 is through interface eth1");
}

FAILURE_TEST(an_address_without_gid)
{
	struct rd_res_dev dev = { .name = (char *)"mlx5_0" };
	struct rd_res_port port = { .num = 1, .netdev = (char *)"eth1" };

	bind_to(m, ENODEV, "cma_validate_port", "10.9.9.9", 7471);
	m->f.res = (struct rd_res){ .devs = &dev, .n_devs = 1, .ports = &port, .n_ports = 1 };
	RD_SET(port.state, 4);
	ASSERT_CAUSE(m, "address-without-rdma", MEDIUM,
		     "10.9.9.9 is an address of eth1, but mlx5_0/1 has no GID for it", "call it again");
	port.state.v = 1;
	ASSERT_CAUSE(m, "address-without-rdma", MEDIUM, "not ACTIVE", "ip link set eth1 up");
	/* The port of another interface; one above it is enough. */
	port.netdev = (char *)"eth0";
	ASSERT_CAUSE(m, "address-without-rdma", HIGH, "which has no RDMA device");
	interfaces[1].lower = 2;
	interfaces[1].vlan = 7;
	ASSERT_CAUSE(m, "address-without-rdma", MEDIUM, "mlx5_0/1 has no GID for it");
	/* The other end of a pair is below it, too. */
	interfaces[1].vlan = -1;
	ASSERT_CAUSE(m, "address-without-rdma", HIGH, "which has no RDMA device");
	interfaces[0].kind = (char *)"bond";
	interfaces[1].master = 2;
	port.netdev = (char *)"eth1";
	ASSERT_CAUSE(made_source(m, "10.1.2.3", 7471), "address-without-rdma", MEDIUM, "address of eth0, but mlx5_0/1");
	made_verb(m, "rdma_resolve_addr");
	m->event.request.src.known = false;
	made_destination(m, "10.9.9.1", 7471);
	m->f.route_errno = 0;
	m->f.route.ifindex = 2;
	ASSERT_CAUSE(m, "address-without-rdma", MEDIUM, "the route to 10.9.9.1 is through eth0, but mlx5_0/1");
}

FAILURE_TEST(scopes_that_do_not_fit_the_address)
{
	bind_to(m, ENODEV, "rdma_translate_ip", "fe80::1", 7471);
	addresses[1].addr = (struct rd_addr){ .v6 = true, .raw = { 0xfe, 0x80, [15] = 1 } };
	m->event.request.src.scope_id = 99;
	ASSERT_CAUSE(m, "address-scope-missing", HIGH, "sin6_scope_id is 99, which is not the index of an interface",
		     "fe80::1 is an address of eth1 (index 3)", "if_nametoindex(\"eth1\")");
	m->event.request.src.scope_id = 2;
	ASSERT_CAUSE(m, "address-scope-missing", HIGH, "sin6_scope_id is 2, the index of eth0, which does not have");
	/* The right one, and one of two interfaces with the same address. */
	m->event.request.src.scope_id = 3;
	ASSERT_CAUSE(m, "address-without-rdma", MEDIUM, "interface eth1");
	addresses[0].addr = addresses[1].addr;
	ASSERT_CAUSE(m, "address-without-rdma", MEDIUM, "interface eth1");
	m->f.net.links_known = RD_DENIED;
	m->event.request.src.scope_id = 99;
	made_assert_not(m, "address-scope-missing");
}

FAILURE_TEST(ports_below_1024_need_a_capability)
{
	bind_to(m, EACCES, "cma_use_port", "10.1.2.3", 80);
	ASSERT_NOTHING(m);
	RD_SET(m->event.moment.caps, 0);
	ASSERT_CAUSE(m, "privileged-port", HIGH, "port 80 is below 1024", "CAP_NET_BIND_SERVICE");
	m->event.moment.caps.v = 1ull << CAP_NET_BIND_SERVICE;
	ASSERT_NOTHING(m);
	/* The kernel requires it of the initial user namespace. */
	RD_SET(m->event.moment.user_ns_level, 1);
	ASSERT_CAUSE(m, "privileged-port", HIGH, "only in a user namespace");
	m->event.moment.user_ns_level.v = 0;
	ASSERT_NOTHING(m);
	m->event.moment.caps.v = 0;
	m->event.request.src.port = 1024;
	ASSERT_NOTHING(m);
	/* Before it looks at the port. */
	m->event.request.src.port = 80;
	ASSERT_CAUSE(made_origin(m, MADE_UCM, "ucma_write"), "credentials-changed", HIGH, "changed its user");
}

FAILURE_TEST(families_that_rdma_cm_does_not_have)
{
	bind_to(m, EAFNOSUPPORT, "rdma_bind_addr", "10.1.2.3", 80);
	/* One that it has. */
	ASSERT_NOTHING(m);
	m->event.request.src.family = AF_UNIX;
	ASSERT_CAUSE(m, "address-family", HIGH, "address family 1 ");
	m->event.request.src.known = false;
	ASSERT_NOTHING(m);
	m->event.request.src.known = true;
	m->event.object = (char *)"QP";
	ASSERT_NOTHING(m);
}

/* --- values --- */

FAILURE_TEST(a_length_that_is_not_of_the_family)
{
	bind_to(m, EINVAL, "ucma_bind", "10.1.2.3", 0);
	ASSERT_UNKNOWN(made_module(m, MADE_UCM), "the rdma_cm_id was new");
	made_field(m, RD_REQ_ADDR_SIZE, 17);
	ASSERT_CAUSE(m, "request-malformed", HIGH, "addr_size is 17", "rdma_cm_id number 12");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_ADDR_SIZE, 16), "the rdma_cm_id was new");
	m->event.request.src.family = AF_INET6;
	ASSERT_CAUSE(m, "request-malformed", HIGH, "addr_size is 16");
	m->event.request.src.family = AF_UNIX;
	ASSERT_CAUSE(m, "address-family", HIGH, "family 1,");
	made_function(m, "ucma_get_ctx");
	ASSERT_UNKNOWN(made_exact(m, false), "the rdma_cm_id was new");
}

FAILURE_TEST(link_local_addresses_need_their_interface)
{
	bind_to(m, EINVAL, "cma_check_linklocal", "fe80::1", 7471);
	ASSERT_CAUSE(m, "address-scope-missing", HIGH, "fe80::1 is a link-local address");
	m->event.request.src.scope_id = 2;
	ASSERT_UNKNOWN(m, "was new");
	ASSERT_UNKNOWN(made_source(m, "2001:db8::1", 7471), "was new");
}

FAILURE_TEST(groups_that_cannot_be_joined)
{
	made_failure(m, "rdma_join_multicast", EINVAL, MADE_UCM, "ucma_process_join");
	made_cm_state(m, CM_ADDR_BOUND);
	made_destination(m, "239.1.2.3", 0);
	ASSERT_CAUSE(made_field(m, RD_REQ_JOIN_FLAGS, 5), "attribute-value", HIGH, "join_flags is 5");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_JOIN_FLAGS, 1), "was bound");
	ASSERT_CAUSE(made_field(m, RD_REQ_ADDR_SIZE, 7), "request-malformed", HIGH, "addr_size is 7");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_ADDR_SIZE, 16), "was bound");
	made_origin(m, MADE_CM, "cma_iboe_join_multicast");
	ASSERT_CAUSE(made_destination(m, "0.0.0.0", 0), "multicast-address", HIGH, "0.0.0.0");
	ASSERT_UNKNOWN(made_destination(m, "239.1.2.3", 0), "was bound");
	ASSERT_CAUSE(made_function(m, "rdma_join_multicast"), "qp-type", MEDIUM, "for datagrams");
}

FAILURE_TEST(private_data_that_does_not_fit)
{
	made_failure(m, "rdma_connect", EINVAL, "ib_cm", "cm_validate_req_param");
	made_cm_state(m, CM_ROUTE_RESOLVED);
	made_field(m, RD_REQ_PRIVATE_LEN, 57);
	ASSERT_CAUSE(m, "private-data-too-long", HIGH, "private_data_len is 57", "at most 56 bytes");
	/* Datagrams and iWARP carry more. */
	ASSERT_CAUSE(made_function(m, "ib_send_cm_sidr_req"), "private-data-too-long", MEDIUM, "57");
	ASSERT_CAUSE(made_field(m, RD_REQ_PRIVATE_LEN, 181), "private-data-too-long", HIGH, "181");
	ASSERT_CAUSE(made_origin(m, "iw_cm", "iw_cm_connect"), "private-data-too-long", MEDIUM, "181");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_PRIVATE_LEN, 56), "was route resolved");
	made_verb(m, "rdma_accept");
	made_cm_state(m, CM_CONNECT);
	ASSERT_UNKNOWN(made_field(m, RD_REQ_PRIVATE_LEN, 196), "connecting or connected");
}

FAILURE_TEST(ends_of_different_families)
{
	made_failure(m, "rdma_resolve_addr", EINVAL, MADE_CM, "resolve_prepare_src");
	made_cm_state(m, CM_IDLE);
	made_source(m, "10.1.2.3", 0);
	made_destination(m, "2001:db8::1", 0);
	ASSERT_CAUSE(m, "address-family", HIGH, "source 10.1.2.3 and destination 2001:db8::1");
	ASSERT_UNKNOWN(made_destination(m, "10.1.2.9", 0), "was new");
	m->event.request.src.known = false;
	made_cm_state(m, CM_ADDR_BOUND);
	ASSERT_CAUSE(m, "address-family", HIGH, "is bound to an address of another family than destination 10.1.2.9");
	ASSERT_UNKNOWN(made_function(m, "cma_acquire_dev"), "was bound");
}

FAILURE_TEST(values_that_do_not_exist)
{
	static const struct {
		const char *verb, *origin;
		enum rd_req_field field;
		uint64_t wrong, right;
		const char *word;
	} cases[] = {
		{ "rdma_init_qp_attr", "ucma_init_qp_attr", RD_REQ_STATE, 7, 6, "qp_state is 7" },
		{ "rdma_notify", "ib_cm_notify", RD_REQ_EVENT, 5, 4, "event is 5" },
		{ "rdma_reject", "ucma_reject", RD_REQ_REASON, 9, 28, "reason is 9" },
		{ "rdma_create_id", "ucma_get_qp_type", RD_REQ_PORT_SPACE, 0x107, 0x106, "port space 0x107" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		made_failure(m, cases[i].verb, EINVAL, MADE_UCM, cases[i].origin);
		made_cm_state(m, CM_CONNECT);
		ASSERT_CAUSE(made_field(m, cases[i].field, cases[i].wrong), "attribute-value", HIGH, cases[i].word);
		made_assert_not(made_field(m, cases[i].field, cases[i].right), "attribute-value");
	}
}

FAILURE_TEST(options_that_were_refused)
{
	made_failure(m, "rdma_set_option", ENOSYS, MADE_UCM, "ucma_set_option_id");
	MADE_FIELDS(m, { RD_REQ_OPTION_LEVEL, 0 }, { RD_REQ_OPTION, 44 });
	ASSERT_CAUSE(m, "not-supported", HIGH, "option 44 of level 0 is not known to this kernel");
	ASSERT_CAUSE(made_errno(m, EINVAL), "attribute-value", MEDIUM, "option 44 of level 0 was refused");
	/* A function that knows the reason. */
	ASSERT_CAUSE(made_origin(m, MADE_CM, "rdma_set_ack_timeout"), "qp-type", HIGH, "ACK timeout");
	m->event.request.known[RD_REQ_OPTION] = false;
	ASSERT_NOTHING(made_exact(m, false));
}

FAILURE_TEST(an_id_that_does_not_exist)
{
	made_failure(m, "rdma_connect", ENOENT, MADE_UCM, "_ucma_find_context");
	ASSERT_CAUSE(made_field(m, RD_REQ_CM_ID, 12), "cm-id-stale", HIGH, "no rdma_cm_id with number 12");
	/* Its state was not read; what comes after ucma has found it. */
	ASSERT_CAUSE(made_origin(m, MADE_CM, "cma_ib_init_qp_attr"), "cm-id-stale", MEDIUM, "12");
	ASSERT_NOTHING(made_cm_state(m, CM_ROUTE_RESOLVED));
	m->event.moment.cm_state.known = RD_ABSENT;
	m->event.request.known[RD_REQ_CM_ID] = false;
	ASSERT_NOTHING(m);
	/* The other object may be the one. */
	MADE_FIELDS(m, { RD_REQ_CM_ID, 12 }, { RD_REQ_FD, 5 });
	ASSERT_CAUSE(made_origin(m, MADE_UCM, "ucma_migrate_id"), "cm-id-stale", MEDIUM, "12");
	m->event.moment.fd_known = RD_OK;
	ASSERT_CAUSE(m, "cm-id-stale", HIGH, "12");
}

/* --- states --- */

FAILURE_TEST(calls_need_certain_states)
{
	static const struct {
		const char *verb;
		uint8_t wrong, right;
		const char *word, *more;
	} cases[] = {
		{ "rdma_bind_addr", CM_ADDR_BOUND, CM_IDLE, "that is new; this one is bound",
		  "bind an rdma_cm_id once" },
		{ "rdma_listen", CM_LISTEN, CM_ADDR_BOUND, "this one is listening", "listen once" },
		{ "rdma_resolve_addr", CM_ADDR_RESOLVED, CM_IDLE, "new or bound; this one is address resolved", "once" },
		{ "rdma_resolve_route", CM_ADDR_BOUND, CM_ADDR_RESOLVED, "this one is bound", "ADDR_RESOLVED" },
		/* Since Linux 6.17 a service of InfiniBand can be resolved instead. */
		{ "rdma_resolve_route", CM_ADDRINFO_QUERY, CM_ADDRINFO_RESOLVED, "this one is resolving a service",
		  "ADDR_RESOLVED" },
		{ "rdma_resolve_addr", CM_ADDRINFO_QUERY, CM_ADDRINFO_RESOLVED, "this one is resolving", "once" },
		{ "rdma_connect", CM_ADDR_RESOLVED, CM_ROUTE_RESOLVED, "this one is address resolved",
		  "ROUTE_RESOLVED" },
		/* What is past the step is not led back to it. */
		{ "rdma_connect", CM_CONNECT, CM_ROUTE_RESOLVED, "this one is connecting", "create another rdma_cm_id" },
		{ "rdma_resolve_route", CM_ROUTE_RESOLVED, CM_ADDR_RESOLVED, "this one is route resolved",
		  "create another rdma_cm_id" },
		{ "rdma_connect", CM_DEVICE_REMOVAL, CM_ROUTE_RESOLVED, "its device is being removed",
		  "create another rdma_cm_id" },
		{ "rdma_listen", CM_ADDR_RESOLVED, CM_ADDR_BOUND, "this one is address resolved", "create another" },
		{ "rdma_accept", CM_LISTEN, CM_CONNECT, "this one is listening", "CONNECT_REQUEST" },
		{ "rdma_join_multicast", CM_IDLE, CM_ADDR_BOUND, "this one is new", "bind it" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		made_failure(m, cases[i].verb, EINVAL, MADE_CM, "cma_some_function");
		made_field(m, RD_REQ_CM_ID, 12);
		made_cm_state(m, cases[i].wrong);
		ASSERT_CAUSE(m, "cm-id-state", HIGH, cases[i].word, cases[i].more, "number 12");
		m->event.moment.cm_state.v = cases[i].right;
		ASSERT_UNKNOWN(m, "when the call began");
		m->event.moment.cm_state = (__typeof__(m->event.moment.cm_state)){ cases[i].wrong, RD_DENIED };
		ASSERT_NOTHING(m);
	}
}

FAILURE_TEST(a_connection_that_does_not_exist)
{
	made_failure(m, "rdma_disconnect", EINVAL, MADE_CM, "rdma_disconnect");
	ASSERT_CAUSE(m, "cm-id-state", MEDIUM, "needs an rdma_cm_id with a connection; this one has none");
	ASSERT_CAUSE(made_cm_state(m, CM_LISTEN), "cm-id-state", HIGH, "this one is listening");
	ASSERT_UNKNOWN(made_cm_state(m, CM_CONNECT), "connecting or connected");
}

FAILURE_TEST(attributes_are_there_before_a_connection)
{
	made_failure(m, "rdma_init_qp_attr", EINVAL, "ib_cm", "cm_init_qp_rtr_attr");
	ASSERT_CAUSE(made_cm_state(m, CM_LISTEN), "cm-id-state", HIGH, "this one is listening");
	ASSERT_CAUSE(made_origin(m, MADE_CM, "cma_set_qkey"), "cm-id-state", HIGH, "this one is listening");
	ASSERT_UNKNOWN(made_cm_state(m, CM_ROUTE_RESOLVED), "was route resolved");
}

FAILURE_TEST(an_id_without_a_device)
{
	made_failure(m, "rdma_connect", EINVAL, MADE_UCM, "ucma_get_ctx_dev");
	ASSERT_CAUSE(m, "cm-id-state", HIGH, "rdma_connect needs an rdma_cm_id that has a device",
		     "resolve_route first");
	ASSERT_CAUSE(made_exact(m, false), "cm-id-state", MEDIUM, "has a device");
	/* Calls that need none. */
	ASSERT_NOTHING(made_verb(m, "rdma_bind_addr"));
	/* It is not traced: the caller is the origin, which may have another reason. */
	made_exact(m, true);
	made_verb(m, "rdma_connect");
	made_function(m, "ucma_connect");
	ASSERT_CAUSE(m, "cm-id-state", MEDIUM, "probably not resolved", "conn_param.valid");
	made_verb(m, "rdma_join_multicast");
	ASSERT_CAUSE(made_function(m, "ucma_process_join"), "cm-id-state", HIGH, "has a device");
	ASSERT_CAUSE(made_field(m, RD_REQ_JOIN_FLAGS, 1), "cm-id-state", MEDIUM, "addr_size");
	made_field(m, RD_REQ_ADDR_SIZE, 16);
	ASSERT_CAUSE(made_destination(m, "239.1.2.3", 0), "cm-id-state", HIGH, "has a device");
	made_verb(m, "rdma_resolve_route");
	ASSERT_CAUSE(made_function(m, "ucma_resolve_route"), "cm-id-state", HIGH, "has a device");
	made_assert_not(made_function(m, "ucma_write"), "cm-id-state");
	/* Of another channel. */
	made_verb(m, "rdma_connect");
	ASSERT_CAUSE(made_function(m, "ucma_get_ctx"), "cm-id-foreign", HIGH, "another event channel");
}
