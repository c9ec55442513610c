/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of rdma_ucm as the kernel's own header lays them out. */
#include "unit.h"

#include "request-bytes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

static struct rd_request by_ucm(uint32_t number, const void *cmd, size_t size)
{
	return request_raw(RD_VERB(RD_VERB_UCMA, number), cmd, size);
}

#define BY_UCM(number, cmd) by_ucm(RDMA_USER_CM_CMD_##number, &(cmd), sizeof(cmd))

static void assert_address(const struct rd_req_address *a, int family, uint16_t port, const char *text)
{
	uint8_t addr[16] = { 0 };

	ASSERT_EACH(IS(a->known, true), IS(a->family, family), IS(a->port, port));
	if (text)
		assert_int_equal(inet_pton(family, text, addr), 1);
	assert_memory_equal(a->addr, addr, sizeof(addr));
	assert_int_equal(a->scope_id, family == AF_INET6 ? 3 : 0);
}

static struct sockaddr_in ipv4(const char *text, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, text, &in.sin_addr);
	return in;
}

static struct sockaddr_in6 ipv6(const char *text, uint16_t port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = 3 };

	inet_pton(AF_INET6, text, &in6.sin6_addr);
	return in6;
}

TEST(an_address_is_bound)
{
	const struct sockaddr_in in = ipv4("192.0.2.1", 7471);
	struct rdma_ucm_bind bind = { .id = 4, .addr_size = sizeof(in) };
	struct rdma_ucm_bind_ip bind_ip = { .response = 1, .addr = ipv6("2001:db8::1", 7472), .id = 5 };
	struct rd_request r;

	memcpy(&bind.addr, &in, sizeof(in));
	r = BY_UCM(BIND, bind);
	ASSERT_FIELDS(r, { RD_REQ_CM_ID, 4 }, { RD_REQ_ADDR_SIZE, 16 });
	assert_address(&r.src, AF_INET, 7471, "192.0.2.1");
	assert_false(r.dst.known);
	r = BY_UCM(BIND_IP, bind_ip);
	ASSERT_FIELDS(r, { RD_REQ_CM_ID, 5 });
	assert_address(&r.src, AF_INET6, 7472, "2001:db8::1");
	/* A family of which only the name is known: AF_IB. */
	bind.addr.ss_family = 27;
	r = BY_UCM(BIND, bind);
	assert_address(&r.src, 27, 0, NULL);
}

TEST(an_address_is_resolved)
{
	struct rdma_ucm_resolve_addr addr = { .id = 6, .timeout_ms = 2000, .src_size = 28, .dst_size = 28 };
	struct rdma_ucm_resolve_ip ip = {
		.src_addr = ipv6("::1", 1), .dst_addr = ipv6("::2", 2), .id = 7, .timeout_ms = 2000
	};
	const struct sockaddr_in6 src = ipv6("fe80::1", 1000), dst = ipv6("2001:db8::2", 18515);
	struct rdma_ucm_resolve_route route = { .id = 8, .timeout_ms = 2000 };
	struct rd_request r;

	memcpy(&addr.src_addr, &src, sizeof(src));
	memcpy(&addr.dst_addr, &dst, sizeof(dst));
	r = BY_UCM(RESOLVE_ADDR, addr);
	ASSERT_FIELDS(r, { RD_REQ_CM_ID, 6 });
	assert_address(&r.src, AF_INET6, 1000, "fe80::1");
	assert_address(&r.dst, AF_INET6, 18515, "2001:db8::2");
	r = BY_UCM(RESOLVE_IP, ip);
	ASSERT_FIELDS(r, { RD_REQ_CM_ID, 7 });
	assert_address(&r.src, AF_INET6, 1, "::1");
	assert_address(&r.dst, AF_INET6, 2, "::2");
	ASSERT_FIELDS(BY_UCM(RESOLVE_ROUTE, route), { RD_REQ_CM_ID, 8 });
	/* No source: the kernel chooses it. */
	memset(&addr.src_addr, 0, sizeof(addr.src_addr));
	r = BY_UCM(RESOLVE_ADDR, addr);
	assert_address(&r.src, 0, 0, NULL);
}

TEST(a_connection_has_private_data)
{
	struct rdma_ucm_connect connect = {
		.conn_param = { .qp_num = 17,
				.qkey = 2,
				.private_data_len = 56,
				.srq = 1,
				.responder_resources = 3,
				.retry_count = 7 },
		.id = 9,
	};
	struct rdma_ucm_accept accept = { .uid = 1, .conn_param = { .qp_num = 18, .private_data_len = 196 }, .id = 10 };
	struct rdma_ucm_reject reject = { .id = 11, .private_data_len = 148, .reason = 28 };
	struct rdma_ucm_listen listen = { .id = 12, .backlog = 128 };
	struct rdma_ucm_disconnect disconnect = { .id = 13 };

	memset(connect.conn_param.private_data, 0xaa, sizeof(connect.conn_param.private_data));
	ASSERT_FIELDS(BY_UCM(CONNECT, connect), { RD_REQ_CM_ID, 9 }, { RD_REQ_PRIVATE_LEN, 56 },
		      { RD_REQ_DEST_QPN, 17 });
	ASSERT_FIELDS(BY_UCM(ACCEPT, accept), { RD_REQ_CM_ID, 10 }, { RD_REQ_PRIVATE_LEN, 196 });
	ASSERT_FIELDS(BY_UCM(REJECT, reject), { RD_REQ_CM_ID, 11 }, { RD_REQ_PRIVATE_LEN, 148 }, { RD_REQ_REASON, 28 });
	ASSERT_FIELDS(BY_UCM(LISTEN, listen), { RD_REQ_CM_ID, 12 }, { RD_REQ_BACKLOG, 128 });
	ASSERT_FIELDS(BY_UCM(DISCONNECT, disconnect), { RD_REQ_CM_ID, 13 });
}

TEST(the_other_commands_of_the_connection_manager)
{
	const struct rdma_ucm_create_id create = { .uid = 1, .response = 2, .ps = RDMA_PS_UDP, .qp_type = 4 };
	const struct rdma_ucm_destroy_id destroy = { .response = 1, .id = 3, .reserved = 9 };
	const struct rdma_ucm_query query = { .response = 1, .id = 4, .option = RDMA_USER_CM_QUERY_GID };
	const struct rdma_ucm_init_qp_attr init = { .response = 1, .id = 5, .qp_state = 2 };
	const struct rdma_ucm_set_option option = {
		.optval = 1, .id = 6, .level = RDMA_OPTION_IB, .optname = 3, .optlen = 4
	};
	const struct rdma_ucm_notify notify = { .id = 7, .event = 8 };
	const struct rdma_ucm_migrate_id migrate = { .response = 1, .id = 9, .fd = 10 };
	struct rdma_ucm_join_mcast join = { .response = 1, .uid = 2, .id = 11, .addr_size = 16, .join_flags = 1 };
	const struct rdma_ucm_join_ip_mcast join_ip = { .response = 1, .uid = 2, .addr = ipv6("ff0e::1", 0), .id = 12 };
	const struct sockaddr_in group = ipv4("239.1.2.3", 0);
	struct rd_request r;

	memcpy(&join.addr, &group, sizeof(group));
	ASSERT_FIELDS(BY_UCM(CREATE_ID, create), { RD_REQ_PORT_SPACE, RDMA_PS_UDP }, { RD_REQ_QP_TYPE, 4 });
	ASSERT_FIELDS(BY_UCM(DESTROY_ID, destroy), { RD_REQ_CM_ID, 3 });
	ASSERT_FIELDS(BY_UCM(LEAVE_MCAST, destroy), { RD_REQ_CM_ID, 3 });
	ASSERT_FIELDS(BY_UCM(QUERY, query), { RD_REQ_CM_ID, 4 }, { RD_REQ_OPTION, 2 });
	ASSERT_FIELDS(BY_UCM(QUERY_ROUTE, query), { RD_REQ_CM_ID, 4 }, { RD_REQ_OPTION, 2 });
	ASSERT_FIELDS(BY_UCM(INIT_QP_ATTR, init), { RD_REQ_CM_ID, 5 }, { RD_REQ_STATE, 2 });
	ASSERT_FIELDS(BY_UCM(SET_OPTION, option), { RD_REQ_CM_ID, 6 }, { RD_REQ_OPTION_LEVEL, 1 }, { RD_REQ_OPTION, 3 });
	ASSERT_FIELDS(BY_UCM(NOTIFY, notify), { RD_REQ_CM_ID, 7 }, { RD_REQ_EVENT, 8 });
	ASSERT_FIELDS(BY_UCM(MIGRATE_ID, migrate), { RD_REQ_CM_ID, 9 }, { RD_REQ_FD, 10 });
	r = BY_UCM(JOIN_MCAST, join);
	ASSERT_FIELDS(r, { RD_REQ_CM_ID, 11 }, { RD_REQ_JOIN_FLAGS, 1 }, { RD_REQ_ADDR_SIZE, join.addr_size });
	assert_address(&r.dst, AF_INET, 0, "239.1.2.3");
	r = BY_UCM(JOIN_IP_MCAST, join_ip);
	ASSERT_FIELDS(r, { RD_REQ_CM_ID, 12 });
	assert_address(&r.dst, AF_INET6, 0, "ff0e::1");
}
