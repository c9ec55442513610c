// SPDX-License-Identifier: GPL-2.0-or-later
#include "made-failure.h"

#include <linux/capability.h>

/* --- types and flags --- */

FAILURE_TEST(types_of_queue_pairs_that_do_not_exist)
{
	made_failure(m, "ibv_create_qp", EINVAL, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE");
	ASSERT_CAUSE(made_field(m, RD_REQ_QP_TYPE, 77), "attribute-value", HIGH, "qp_type is 77, which does not exist");
	ASSERT_NOTHING(made_field(m, RD_REQ_QP_TYPE, RD_QPT_DRIVER));
	ASSERT_NOTHING(made_field(m, RD_REQ_QP_TYPE, RD_QPT_RC));
}

FAILURE_TEST(flags_of_queue_pairs_that_have_none)
{
	made_failure(m, "ibv_create_qp_ex", EINVAL, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE");
	made_field(m, RD_REQ_QP_TYPE, RD_QPT_RC);
	ASSERT_CAUSE(made_field(m, RD_REQ_FLAGS, 2), "attribute-value", HIGH, "create_flags is 0x2", "type RC");
	/* All of them may signal every request. */
	ASSERT_NOTHING(made_field(m, RD_REQ_FLAGS, 1u << 31));
	made_field(m, RD_REQ_FLAGS, 2);
	ASSERT_NOTHING(made_field(m, RD_REQ_QP_TYPE, RD_QPT_UD));
	/* Older commands leave flags to the driver, which may have them for RC. */
	made_field(m, RD_REQ_QP_TYPE, RD_QPT_RC);
	ASSERT_NOTHING(made_module(m, MADE_DRIVER));
}

FAILURE_TEST(raw_packets_need_a_capability)
{
	made_failure(m, "ibv_create_qp", EPERM, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE");
	made_field(m, RD_REQ_QP_TYPE, RD_QPT_RAW_PACKET);
	RD_SET(m->event.moment.caps, 0x15);
	RD_SET(m->event.moment.user_ns_level, 0);
	ASSERT_CAUSE(m, "capability-missing", HIGH, "CAP_NET_RAW, which the process does not have", "0x15");
	m->event.moment.caps.v = 1ull << CAP_NET_RAW;
	ASSERT_NOTHING(m);
	m->event.moment.user_ns_level.v = 1;
	ASSERT_CAUSE(m, "capability-missing", HIGH, "only in its user namespace", "0x2000");
	m->event.moment.caps.known = RD_DENIED;
	ASSERT_NOTHING(m);
	m->event.moment.caps = (__typeof__(m->event.moment.caps)){ 0, RD_OK };
	ASSERT_NOTHING(made_field(m, RD_REQ_QP_TYPE, RD_QPT_RC));
}

FAILURE_TEST(flow_steering_needs_a_capability)
{
	made_failure(m, "ibv_create_flow", EPERM, MADE_UVERBS, "ib_uverbs_ex_create_flow");
	ASSERT_NOTHING(m);
	RD_SET(m->event.moment.caps, 0x15);
	RD_SET(m->event.moment.user_ns_level, 0);
	ASSERT_CAUSE(m, "capability-missing", HIGH, "flow steering needs CAP_NET_RAW", "does not have", "0x15");
	ASSERT_NOTHING(made_origin(m, MADE_DRIVER, "mlx5_ib_create_flow"));
	m->event.moment.caps.v = 1ull << CAP_NET_RAW;
	ASSERT_NOTHING(made_origin(m, MADE_UVERBS, "ib_uverbs_ex_create_flow"));
}

FAILURE_TEST(a_queue_pair_without_completion_queue)
{
	made_failure(m, "ibv_create_qp", ENOENT, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_QP_CREATE");
	made_field(m, RD_REQ_QP_TYPE, RD_QPT_RC);
	made_handle(m, RD_REQ_H_CQ, 3);
	ASSERT_CAUSE(m, "request-malformed", HIGH, "no completion queue for receives");
	made_handle(m, RD_REQ_H_RECV_CQ, 4);
	ASSERT_UNKNOWN(m, "all objects that the request names exist");
}

FAILURE_TEST(shared_receive_queues_of_types_that_do_not_exist)
{
	made_failure(m, "ibv_create_srq_ex", EINVAL, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_SRQ_CREATE");
	ASSERT_CAUSE(made_field(m, RD_REQ_SRQ_TYPE, 7), "attribute-value", HIGH, "srq_type is 7");
	ASSERT_NOTHING(made_field(m, RD_REQ_SRQ_TYPE, 2));
}

FAILURE_TEST(flags_of_completion_queues)
{
	made_failure(m, "ibv_create_cq_ex", EINVAL, MADE_UVERBS, "uverbs_get_flags32");
	ASSERT_CAUSE(made_field(m, RD_REQ_FLAGS, 0x10), "attribute-value", HIGH, "flags is 0x10");
	ASSERT_NOTHING(made_function(m, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE"));
	made_errno(m, EOPNOTSUPP);
	made_origin(m, MADE_DRIVER, "mlx5_ib_create_cq");
	made_field(m, RD_REQ_FLAGS, 1);
	ASSERT_CAUSE(m, "not-supported", HIGH, "flags 0x1 (timestamps of completions)", "mlx5_0");
	/* What the driver calls may have refused, or the driver has no such function. */
	ASSERT_NOTHING(made_exact(m, false));
	made_exact(m, true);
	ASSERT_NOTHING(made_origin(m, MADE_UVERBS, "ib_uverbs_notsupp"));
}

/* --- multicast --- */

static struct rd_moment_handle *join(struct made_failure *m, const char *verb, int err, const char *module,
				     const char *origin)
{
	struct rd_moment_handle *qp;

	made_failure(m, verb, err, module, origin);
	m->event.request.has_gid = true;
	made_to_gid(m, "ff0e::ffff:ef01:203");
	made_field(m, RD_REQ_MLID, 49153);
	qp = made_handle(m, RD_REQ_H_QP, 5);
	RD_SET(qp->number, 99);
	RD_SET(qp->qp_type, RD_QPT_UD);
	return qp;
}

FAILURE_TEST(only_datagrams_join_multicast_groups)
{
	struct rd_moment_handle *qp = join(m, "ibv_attach_mcast", EINVAL, MADE_CORE, "ib_attach_mcast");

	ASSERT_UNKNOWN(m, "all objects");
	qp->qp_type.v = RD_QPT_RC;
	ASSERT_CAUSE(m, "qp-type", HIGH, "queue pair 99 is of type RC");
	qp->qp_type.known = RD_DENIED;
	ASSERT_UNKNOWN(m, "all objects");
	ASSERT_CAUSE(made_to_gid(m, "fe80::1"), "multicast-address", HIGH, "fe80::1 is not a multicast GID");
	/* The kernel takes a mapped IPv4 group, too. */
	ASSERT_CAUSE(made_to_gid(m, "240.1.2.3"), "multicast-address", HIGH, "240.1.2.3 is not");
	ASSERT_UNKNOWN(made_to_gid(m, "239.1.2.3"), "all objects");
	qp->qp_type.known = RD_OK;
	ASSERT_CAUSE(m, "qp-type", HIGH, "queue pair 99 is of type RC");
	qp->qp_type.known = RD_DENIED;
	m->f.read &= ~(unsigned)RD_FACT_LIMITS;
	ASSERT_UNKNOWN(m, "all objects");
}

FAILURE_TEST(detaching_what_was_not_attached)
{
	join(m, "ibv_detach_mcast", EINVAL, MADE_UVERBS, "ib_uverbs_detach_mcast");
	ASSERT_CAUSE(m, "multicast-not-attached", HIGH, "queue pair 99", "ff0e::ffff:ef01:203", "LID 49153");
	made_origin(m, MADE_DRIVER, "mlx5_ib_mcg_detach");
	ASSERT_CAUSE(m, "multicast-not-attached", MEDIUM, "queue pair 99");
	m->event.request.has_gid = false;
	ASSERT_UNKNOWN(m, "all objects");
}

FAILURE_TEST(a_full_group_is_the_likely_cause_only_in_a_driver)
{
	join(m, "ibv_attach_mcast", ENOMEM, MADE_DRIVER, "mlx5_ib_mcg_attach");
	ASSERT_UNKNOWN(m, "no control group");
	made_attr(m, "max_mcast_qp_attach", 56);
	ASSERT_CAUSE(m, "multicast-limit", MEDIUM, "max_mcast_qp_attach is 56", "ff0e::ffff:ef01:203");
	ASSERT_UNKNOWN(made_exact(m, false), "no control group");
	made_exact(m, true);
	ASSERT_UNKNOWN(made_module(m, MADE_UVERBS), "no control group");
}

/* --- sizes --- */

FAILURE_TEST(sizes_above_the_limits)
{
	made_failure(m, "ibv_create_qp", EINVAL, MADE_DRIVER, "mlx5_ib_create_qp");
	made_field(m, RD_REQ_SEND_WR, 40000);
	ASSERT_NOTHING(made_field(m, RD_REQ_SEND_SGE, 2));
	made_attr(m, "max_qp_wr", 32768);
	ASSERT_CAUSE(m, "limit-exceeded", HIGH, "is 40000, and max_qp_wr of mlx5_0 is 32768");
	/* The core has no limits of its own. */
	made_assert_not(made_module(m, MADE_UVERBS), "limit-exceeded");
	ASSERT_CAUSE(made_exact(m, false), "limit-exceeded", MEDIUM, "40000");
	made_exact(m, true);
	made_module(m, MADE_DRIVER);
	/* That is the lower one of two limits. */
	made_attr(m, "max_sge", 30);
	MADE_FIELDS(m, { RD_REQ_SEND_WR, 32768 }, { RD_REQ_RECV_SGE, 31 });
	ASSERT_CAUSE(m, "limit-exceeded", MEDIUM, "is 31, and max_sge of mlx5_0 is 30");
	made_field(m, RD_REQ_SEND_WR, 32769);
	ASSERT_CAUSE(m, "limit-exceeded", MEDIUM, "one of these: max_send_wr is 32769", "; or max_recv_sge is 31");
	/* Memory may have run out, too. */
	made_field(m, RD_REQ_RECV_SGE, 1);
	ASSERT_CAUSE(made_errno(m, ENOMEM), "limit-exceeded", MEDIUM, "is 32769");
	made_errno(m, EINVAL);
	made_field(m, RD_REQ_RECV_SGE, 31);
	/* Receives come from a shared queue. */
	made_field(m, RD_REQ_SEND_WR, 16);
	ASSERT_UNKNOWN(made_field(m, RD_REQ_IS_SRQ, 1), "all sizes of the request are within the limits of mlx5_0");
}

FAILURE_TEST(queues_without_entries)
{
	made_failure(m, "ibv_create_cq", EINVAL, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE");
	made_field(m, RD_REQ_CQE, 0);
	ASSERT_CAUSE(made_attr(m, "max_cqe", 4194303), "attribute-value", HIGH, "is 0", "request 1 to the limits");
	ASSERT_CAUSE(made_module(m, MADE_DRIVER), "attribute-value", MEDIUM, "is 0");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_CQE, 4194303), "within the limits");
}

FAILURE_TEST(completion_vectors_are_counted_from_zero)
{
	made_failure(m, "ibv_create_cq", EINVAL, MADE_UVERBS, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE");
	made_field(m, RD_REQ_COMP_VECTOR, 8);
	made_attr(m, "num_comp_vectors", 8);
	ASSERT_CAUSE(m, "limit-exceeded", HIGH, "comp_vector is 8, and mlx5_0 has 8 completion vectors");
	/* The core checks it first. */
	made_attr(m, "max_cqe", 100);
	ASSERT_CAUSE(made_field(m, RD_REQ_CQE, 101), "limit-exceeded", HIGH, "comp_vector is 8");
	ASSERT_CAUSE(made_module(m, MADE_DRIVER), "limit-exceeded", HIGH, "is 101");
	made_module(m, MADE_UVERBS);
	made_field(m, RD_REQ_CQE, 100);
	ASSERT_UNKNOWN(made_errno(m, ENOMEM), "no control group");
	made_errno(m, EINVAL);
	ASSERT_UNKNOWN(made_field(m, RD_REQ_COMP_VECTOR, 7), "within the limits");
}

FAILURE_TEST(limits_of_shared_receive_queues)
{
	made_failure(m, "ibv_modify_srq", EINVAL, MADE_DRIVER, "mlx5_ib_modify_srq");
	MADE_FIELDS(m, { RD_REQ_SRQ_MASK, 3 }, { RD_REQ_SRQ_WR, 100 }, { RD_REQ_SRQ_LIMIT, 101 });
	made_attr(m, "max_srq_wr", 32767);
	ASSERT_CAUSE(m, "limit-exceeded", MEDIUM, "srq_limit is 101, and max_wr of the request is 100");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_SRQ_LIMIT, 100), "within the limits");
	/* The size of the queue is not known. */
	made_field(m, RD_REQ_SRQ_MASK, 2);
	ASSERT_CAUSE(m, "limit-exceeded", MEDIUM, "srq_limit is 100, the only value of the request");
	/* What the driver calls may have failed; the core does not compare it. */
	ASSERT_UNKNOWN(made_exact(m, false), "within the limits");
	made_exact(m, true);
	ASSERT_UNKNOWN(made_module(m, MADE_UVERBS), "within the limits");
	made_module(m, MADE_DRIVER);
	made_field(m, RD_REQ_SRQ_LIMIT, 40000);
	ASSERT_CAUSE(m, "limit-exceeded", HIGH, "srq_limit is 40000, and max_srq_wr of the device is 32767");
	ASSERT_UNKNOWN(made_field(m, RD_REQ_SRQ_LIMIT, 0), "within the limits");
	/* The size is not to be changed. */
	ASSERT_UNKNOWN(made_field(m, RD_REQ_SRQ_WR, 40000), "within the limits");
	made_field(m, RD_REQ_SRQ_MASK, 1);
	ASSERT_CAUSE(m, "limit-exceeded", HIGH, "is 40000, and max_srq_wr of mlx5_0 is 32767");
}

FAILURE_TEST(inline_data_is_the_last_suspect)
{
	made_failure(m, "ibv_create_qp", EINVAL, MADE_DRIVER, "rxe_qp_chk_init");
	made_field(m, RD_REQ_INLINE, 4000);
	ASSERT_CAUSE(made_attr(m, "max_qp_wr", 32768), "limit-exceeded", MEDIUM, "max_inline_data is 4000 bytes");
	ASSERT_NOTHING(made_field(m, RD_REQ_INLINE, 0));
	made_field(m, RD_REQ_INLINE, 4000);
	ASSERT_NOTHING(made_function(m, "mlx5_ib_create_qp"));
}

FAILURE_TEST(a_controlled_qkey_needs_a_capability)
{
	made_failure(m, "ibv_modify_qp", EPERM, MADE_UVERBS, "modify_qp");
	MADE_FIELDS(m, { RD_REQ_MASK, 1 | 64 }, { RD_REQ_QKEY, 0x80010000 });
	RD_SET(m->event.moment.user_ns_level, 0);
	RD_SET(m->event.moment.caps, 0);
	ASSERT_CAUSE(m, "capability-missing", HIGH, "qkey 0x80010000", "does not have it", "rdma system");
	m->event.moment.caps.v = 1 << 13;
	made_assert_not(m, "capability-missing");
	m->event.moment.user_ns_level.v = 1;
	ASSERT_CAUSE(m, "capability-missing", HIGH, "only in its user namespace");
	made_assert_not(made_field(m, RD_REQ_QKEY, 0x10000), "capability-missing");
}

/* A driver may have a reason of its own. */
FAILURE_TEST(a_signal_is_no_failure)
{
	made_failure(m, "ibv_reg_mr", EINTR, MADE_UVERBS, "ib_umem_get");
	m->f.read = 0;
	ASSERT_CAUSE(m, "interrupted", MEDIUM, "SIGKILL", "no failure");
	assert_null(strstr(m->said, "control group"));
	/* By whom: a control group that is at its limit. */
	m->f.read = RD_FACT_MEMORY;
	m->f.memory.group =
		(struct rd_memory_group){ (char *)"/job", { 2 << 20, RD_OK }, { 2 << 20, RD_OK }, { 7, RD_OK } };
	ASSERT_CAUSE(m, "interrupted", HIGH, "/job uses 2 MiB of 2 MiB", "/job reached its limit 7 times", "oom-kill");
	ASSERT_CAUSE(made_errno(m, 512), "interrupted", HIGH, "ERESTARTSYS");
	made_errno(m, EINTR);
	ASSERT_NOTHING(made_origin(m, MADE_DRIVER, "mlx5_ib_reg_user_mr"));
}
