// SPDX-License-Identifier: GPL-2.0-or-later
#include "made-failure.h"

/* enum ib_qp_attr_mask */
enum { STATE = 1, CUR_STATE = 2, ACCESS = 8, PKEY = 16, PORT = 32, QKEY = 64, AV = 128, MTU = 256, TIMEOUT = 512 };
#define ALT_PATH (1u << 14)
#define MODIFY_QP "mlx5_ib_modify_qp"

/* --- transitions --- */

static void modify(struct made_failure *m, const char *module, const char *origin, uint32_t mask)
{
	made_failure(m, "ibv_modify_qp", EINVAL, module, origin);
	made_field(m, RD_REQ_MASK, mask);
}

/* What ib_modify_qp_is_ok() was called with. */
static struct made_failure *transition(struct made_failure *m, unsigned cur, unsigned next, unsigned type, uint32_t mask)
{
	modify(m, MADE_DRIVER, MODIFY_QP, mask);
	m->event.moment.qp.known = true;
	m->event.moment.qp.cur = (uint8_t)cur;
	m->event.moment.qp.next = (uint8_t)next;
	m->event.moment.qp.type = (uint8_t)type;
	m->event.moment.qp.mask = mask;
	return m;
}

FAILURE_TEST(transitions_that_do_not_exist)
{
	transition(m, RD_QPS_INIT, RD_QPS_RTS, RD_QPT_RC, STATE);
	RD_SET(m->event.qpn, 1234);
	ASSERT_CAUSE(m, "qp-state", HIGH, "cannot be moved from INIT to RTS", "queue pair 1234 was in state INIT",
		     "attr_mask 0x1: IBV_QP_STATE", "move it to RTR first");
	/* The errno is not that of the check. */
	ASSERT_UNKNOWN(made_errno(m, ENOMEM), "no control group");
	/* To RESET and ERR. */
	transition(m, RD_QPS_RTS, RD_QPS_RESET, RD_QPT_RC, STATE);
	ASSERT_UNKNOWN(m, "RTS to RESET with these attributes is permitted");
	transition(m, RD_QPS_SQD, RD_QPS_ERR, RD_QPT_RC, STATE);
	ASSERT_UNKNOWN(m, "SQD to ERR with these attributes is permitted");
	ASSERT_CAUSE(transition(m, RD_QPS_RESET, RD_QPS_ERR, RD_QPT_RC, STATE), "qp-state", HIGH, "from RESET to ERR");
}

FAILURE_TEST(attributes_that_are_missing)
{
	ASSERT_CAUSE(transition(m, RD_QPS_RESET, RD_QPS_INIT, RD_QPT_RC, STATE | PKEY | PORT), "qp-attribute-missing",
		     HIGH, "RESET to INIT requires IBV_QP_ACCESS_FLAGS",
		     "attr_mask 0x31: IBV_QP_STATE, IBV_QP_PKEY_INDEX, IBV_QP_PORT");
	m->event.moment.qp.mask = STATE | PORT;
	ASSERT_CAUSE(m, "qp-attribute-missing", HIGH, "set these attributes and their bits");
	m->event.moment.qp.mask = STATE | PKEY | PORT | ACCESS;
	ASSERT_UNKNOWN(m, "RESET to INIT with these attributes is permitted");
	/* Of datagrams. */
	m->event.moment.qp.type = RD_QPT_UD;
	m->event.moment.qp.mask = STATE | PKEY | PORT;
	ASSERT_CAUSE(m, "qp-attribute-missing", HIGH, "requires IBV_QP_QKEY");
	/* Drivers have their own rules for their own types. */
	m->event.moment.qp.type = RD_QPT_DRIVER;
	ASSERT_NOTHING(m);
}

FAILURE_TEST(attributes_that_do_not_belong_there)
{
	const uint32_t mask = STATE | PKEY | PORT | ACCESS;

	transition(m, RD_QPS_RESET, RD_QPS_INIT, RD_QPT_UC, mask | TIMEOUT);
	ASSERT_CAUSE(m, "qp-attribute-not-allowed", HIGH, "RESET to INIT does not permit IBV_QP_TIMEOUT", "0x239");
	/* Rates are a matter of the driver. */
	m->event.moment.qp.mask = mask | 1u << 25;
	ASSERT_UNKNOWN(m, "is permitted");
}

FAILURE_TEST(a_state_that_the_program_claims)
{
	transition(m, RD_QPS_INIT, RD_QPS_RTR, RD_QPT_UD, STATE | CUR_STATE);
	ASSERT_CAUSE(m, "qp-state", HIGH, "cur_qp_state may only be RTR, RTS, SQD or SQE, and is INIT");
	transition(m, RD_QPS_SQE, RD_QPS_RTS, RD_QPT_RC, STATE | CUR_STATE);
	ASSERT_CAUSE(m, "qp-state", HIGH, "cur_qp_state is SQE", "type RC never is");
	transition(m, RD_QPS_SQE, RD_QPS_RTS, RD_QPT_UD, STATE | CUR_STATE);
	ASSERT_UNKNOWN(m, "SQE to RTS with these attributes is permitted");
}

FAILURE_TEST(a_queue_pair_that_was_never_in_init)
{
	struct rd_moment_handle *qp;

	modify(m, MADE_UVERBS, "modify_qp", STATE | AV);
	MADE_FIELDS(m, { RD_REQ_STATE, RD_QPS_RTR }, { RD_REQ_AV_PORT, 1 });
	qp = made_handle(m, RD_REQ_H_QP, 5);
	RD_SET(qp->number, 99);
	ASSERT_UNKNOWN(m, "all objects");
	RD_SET(qp->port, 0);
	ASSERT_CAUSE(m, "qp-state", HIGH, "never moved to INIT", "queue pair 99 has no port yet", "port 1");
	qp->port.v = 1;
	ASSERT_UNKNOWN(m, "all objects");
}

FAILURE_TEST(attributes_that_a_type_never_has)
{
	struct rd_moment_handle *qp;

	modify(m, MADE_DRIVER, MODIFY_QP, STATE | PKEY | PORT | QKEY | ACCESS);
	qp = made_handle(m, RD_REQ_H_QP, 5);
	RD_SET(qp->qp_type, RD_QPT_UD);
	ASSERT_CAUSE(m, "qp-attribute-not-allowed", HIGH, "type UD have no IBV_QP_ACCESS_FLAGS", "0x79", "leave it out");
	made_field(m, RD_REQ_MASK, STATE | PKEY | PORT | QKEY | ACCESS | TIMEOUT);
	ASSERT_CAUSE(m, "qp-attribute-not-allowed", HIGH, "IBV_QP_ACCESS_FLAGS, IBV_QP_TIMEOUT", "leave them out");
	made_field(m, RD_REQ_MASK, STATE | PKEY | PORT | QKEY | ACCESS);
	/* The core does not look at them. */
	ASSERT_UNKNOWN(made_origin(m, MADE_CORE, "rdma_resolve_ip"), "all objects");
	made_origin(m, MADE_DRIVER, MODIFY_QP);
	ASSERT_UNKNOWN(made_field(m, RD_REQ_MASK, STATE | PKEY | PORT | QKEY), "all objects");
}

/* --- values --- */

FAILURE_TEST(values_above_the_highest)
{
	modify(m, MADE_UVERBS, "modify_qp", STATE);
	ASSERT_CAUSE(made_field(m, RD_REQ_STATE, 12), "attribute-value", HIGH, "is 12, and 6 is the highest value");
	/* Elsewhere in the core nothing looks at it, and EPERM is about privileges. */
	ASSERT_CAUSE(made_function(m, "rdma_resolve_ip"), "attribute-value", MEDIUM, "is 12");
	made_function(m, "modify_qp");
	ASSERT_CAUSE(made_errno(m, EPERM), "attribute-value", MEDIUM, "is 12");
	made_errno(m, EINVAL);
	ASSERT_NOTHING(made_field(m, RD_REQ_STATE, 6));
	/* Of timeouts many drivers take five bits, and do not look at the rest. */
	modify(m, MADE_DRIVER, MODIFY_QP, STATE | TIMEOUT);
	made_field(m, RD_REQ_TIMEOUT, 40);
	ASSERT_CAUSE(m, "attribute-value", MEDIUM, "timeout is 40, and 31 is the highest value");
	ASSERT_NOTHING(made_field(m, RD_REQ_TIMEOUT, 31));
	/* It is not valid. */
	made_field(m, RD_REQ_TIMEOUT, 40);
	ASSERT_NOTHING(made_field(m, RD_REQ_MASK, STATE));
}

FAILURE_TEST(of_several_wrong_values_none_is_certain)
{
	modify(m, MADE_DRIVER, MODIFY_QP, STATE | TIMEOUT | MTU);
	MADE_FIELDS(m, { RD_REQ_TIMEOUT, 40 }, { RD_REQ_PATH_MTU, 9 });
	/* What drivers check comes before what many of them accept. */
	ASSERT_CAUSE(m, "attribute-value", MEDIUM, "one of these: path_mtu is 9, which is not a value",
		     "; or timeout is 40");
	MADE_FIELDS(m, { RD_REQ_PATH_MTU, 3 }, { RD_REQ_RD_ATOMIC, 255 },
		    { RD_REQ_MASK, STATE | TIMEOUT | MTU | 1u << 13 });
	made_attr(m, "max_qp_init_rd_atom", 128);
	ASSERT_CAUSE(m, "limit-exceeded", MEDIUM, "one of these: max_rd_atomic is 255", "; or timeout is 40");
}

FAILURE_TEST(values_above_a_limit_of_the_device)
{
	modify(m, MADE_DRIVER, MODIFY_QP, STATE | 1u << 13);
	made_field(m, RD_REQ_RD_ATOMIC, 17);
	/* The limit is unknown. */
	ASSERT_NOTHING(m);
	made_attr(m, "max_qp_init_rd_atom", 16);
	/* Drivers may take as many as they can instead. */
	ASSERT_CAUSE(m, "limit-exceeded", MEDIUM, "is 17, and max_qp_init_rd_atom of the device is 16");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_RD_ATOMIC, 16), "no value is out of range");
	m->f.read &= ~(unsigned)RD_FACT_LIMITS;
	ASSERT_NOTHING(made_field(m, RD_REQ_RD_ATOMIC, 17));
}

FAILURE_TEST(a_path_mtu_above_that_of_the_port)
{
	modify(m, MADE_DRIVER, MODIFY_QP, STATE | MTU);
	made_field(m, RD_REQ_PATH_MTU, 5);
	made_attr(m, "port1.max_mtu_bytes", 2048);
	ASSERT_CAUSE(m, "limit-exceeded", HIGH, "path_mtu is 4096 bytes, and the port supports 2048");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_PATH_MTU, 4), "no value is out of range");
}

FAILURE_TEST(masks_and_flags_that_are_not_defined)
{
	modify(m, MADE_UVERBS, "ib_uverbs_modify_qp", STATE | 1u << 30);
	ASSERT_CAUSE(made_errno(m, EOPNOTSUPP), "attribute-value", HIGH, "attr_mask contains 0x40000000");
	MADE_FIELDS(m, { RD_REQ_MASK, STATE | ACCESS }, { RD_REQ_QP_ACCESS, 0x8001 });
	ASSERT_CAUSE(m, "access-flags", MEDIUM, "qp_access_flags is 0x8001, and 0x8000 in it");
	ASSERT_NOTHING(made_field(m, RD_REQ_QP_ACCESS, 0xf));
	/* Of memory regions; a driver may refuse them for queue pairs, and the core does not look. */
	ASSERT_NOTHING(made_field(m, RD_REQ_QP_ACCESS, 0x81));
	made_origin(m, MADE_DRIVER, MODIFY_QP);
	made_errno(m, EINVAL);
	ASSERT_CAUSE(m, "access-flags", MEDIUM, "qp_access_flags is 0x81, and the driver may not support 0x80");
	ASSERT_NOTHING(made_exact(m, false));
}

FAILURE_TEST(alternate_paths_are_of_infiniband)
{
	modify(m, MADE_CORE, "_ib_modify_qp", STATE | ALT_PATH);
	ASSERT_CAUSE(m, "not-supported", HIGH, "alternate path (IBV_QP_ALT_PATH)");
	m->f.dev.link_layer = (char *)"InfiniBand";
	ASSERT_NOTHING(m);
}

FAILURE_TEST(ports_that_the_device_does_not_have)
{
	struct rd_moment_handle *qp;

	modify(m, MADE_UVERBS, "modify_qp", STATE | PORT);
	ASSERT_CAUSE(made_field(m, RD_REQ_PORT, 9), "port-number", HIGH, "is 9, and mlx5_0 has only port 1");
	m->f.dev.n_ports = 0; /* not readable */
	ASSERT_NOTHING(m);
	m->f.dev.n_ports = 1;
	ASSERT_NOTHING(made_field(m, RD_REQ_PORT, 1));
	/* The other port of two. */
	m->f.dev.n_ports = 2;
	MADE_FIELDS(m, { RD_REQ_MASK, STATE | AV }, { RD_REQ_STATE, RD_QPS_RTR }, { RD_REQ_AV_PORT, 2 });
	qp = made_handle(m, RD_REQ_H_QP, 5);
	RD_SET(qp->port, 1);
	ASSERT_CAUSE(m, "port-number", HIGH, "ah_attr.port_num is 2", "is on port 1");
	qp->port.v = 2;
	ASSERT_UNKNOWN(m, "all objects");
}

FAILURE_TEST(partition_keys_beyond_the_table)
{
	modify(m, MADE_DRIVER, MODIFY_QP, STATE | PKEY);
	made_field(m, RD_REQ_PKEY_INDEX, 200);
	m->f.dev.n_pkeys = 128;
	ASSERT_CAUSE(m, "pkey-index", MEDIUM, "pkey_index is 200, and the table of mlx5_0/1 has 128 entries");
	/* Another value that is wrong for sure; and the core does not look at the index. */
	MADE_FIELDS(m, { RD_REQ_MASK, STATE | PKEY | MTU }, { RD_REQ_PATH_MTU, 9 });
	ASSERT_CAUSE(m, "attribute-value", MEDIUM, "one of these: path_mtu is 9", "; or pkey_index is 200");
	made_field(m, RD_REQ_MASK, STATE | PKEY);
	ASSERT_NOTHING(made_origin(m, MADE_CORE, "rdma_fill_sgid_attr"));
	/* The driver's function may not be hooked. */
	made_origin(m, MADE_CORE, "_ib_modify_qp");
	ASSERT_NOTHING(made_exact(m, true));
	ASSERT_CAUSE(made_exact(m, false), "pkey-index", MEDIUM, "pkey_index is 200");
	made_exact(made_origin(m, MADE_DRIVER, MODIFY_QP), true);
	ASSERT_NOTHING(made_field(m, RD_REQ_PKEY_INDEX, 127));
	made_field(m, RD_REQ_PKEY_INDEX, 200);
	m->f.dev.n_pkeys = 0;
	ASSERT_NOTHING(m);
}
