/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/trace.h"

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "bpf/record.h"

static void assert_verb_of(uint64_t key, const struct rd_fnset *set, const char *object, const char *method,
			   const char *verb)
{
	struct rd_verb v;

	rd_verb_name(key, set, &v);
	ASSERT_EACH(READS(v.object, object), READS(v.method, method), READS(v.verb, verb));
}

static void assert_verb(uint64_t key, const char *object, const char *method, const char *verb)
{
	assert_verb_of(key, NULL, object, method, verb);
}

static uint64_t ioctl_key(uint32_t object, uint32_t method)
{
	return RD_VERB(RD_VERB_IOCTL, object << 16 | method);
}

TEST(ioctl_methods_have_the_names_of_the_headers)
{
	assert_verb(ioctl_key(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE), "CQ", "CQ_CREATE", "ibv_create_cq");
	assert_verb(ioctl_key(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE), "QP", "QP_CREATE", "ibv_create_qp");
	assert_verb(ioctl_key(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR), "MR", "REG_DMABUF_MR",
		    "ibv_reg_dmabuf_mr");
	assert_verb(ioctl_key(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR), "MR", "ADVISE_MR", "ibv_advise_mr");
	assert_verb(ioctl_key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY), "DEVICE", "QUERY_GID_ENTRY",
		    "ibv_query_gid_ex");
	assert_verb(ioctl_key(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC), "ASYNC_EVENT",
		    "ASYNC_EVENT_ALLOC", "ibv_open_device");
	assert_verb(ioctl_key(UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY), "FLOW_ACTION",
		    "FLOW_ACTION_ESP_MODIFY", "ibv_modify_flow_action_esp");
	assert_verb(ioctl_key(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ), "COUNTERS", "COUNTERS_READ",
		    "ibv_read_counters");
}

TEST(objects_newer_than_the_headers_here_have_names)
{
	assert_verb(ioctl_key(17, 0), "DMAH", "DMAH_ALLOC", "ibv_alloc_dmah");
	assert_verb(ioctl_key(19, 0), "COMP_CNTR", "COMP_CNTR_CREATE", "ibv_create_comp_cntr");
	assert_verb(ioctl_key(UVERBS_OBJECT_MR, 5), "MR", "REG_MR", "ibv_reg_mr");
}

TEST(a_drivers_own_object_is_a_number_and_claims_no_verb)
{
	assert_verb(ioctl_key(0x1003, 0x1000), "0x1003", "0x1000", "");
	assert_verb(ioctl_key(UVERBS_OBJECT_QP, 0x1001), "QP", "0x1001", "");
}

TEST(a_command_inside_invoke_write_is_about_its_own_object)
{
	assert_verb(RD_VERB(RD_VERB_INVOKE_WRITE, IB_USER_VERBS_CMD_REG_MR), "MR", "INVOKE_WRITE:REG_MR", "ibv_reg_mr");
	assert_verb(RD_VERB(RD_VERB_INVOKE_WRITE, IB_USER_VERBS_CMD_MODIFY_QP), "QP", "INVOKE_WRITE:MODIFY_QP",
		    "ibv_modify_qp");
	assert_verb(RD_VERB(RD_VERB_INVOKE_WRITE, IB_USER_VERBS_CMD_OPEN_QP), "QP", "INVOKE_WRITE:OPEN_QP",
		    "ibv_open_qp");
	assert_verb(RD_VERB(RD_VERB_INVOKE_WRITE, 0x80000000u | IB_USER_VERBS_EX_CMD_MODIFY_CQ), "CQ",
		    "INVOKE_WRITE:EX_MODIFY_CQ", "ibv_modify_cq");
	assert_verb(RD_VERB(RD_VERB_INVOKE_WRITE, 0x80000000u | 77), "DEVICE", "INVOKE_WRITE:EX_0x4d", "");
	assert_verb(RD_VERB(RD_VERB_INVOKE_WRITE, 77), "DEVICE", "INVOKE_WRITE:0x4d", "");
}

TEST(a_write_is_named_by_its_handler)
{
	struct rd_fn fns[] = { { .name = "ib_uverbs_reg_mr" },
			       { .name = "ib_uverbs_ex_create_rwq_ind_table" },
			       { .name = "ib_uverbs_create_qp.isra.0" },
			       { .name = "some_other" },
			       { .name = "ib_uverbs_reg_mrs" } };
	struct rd_fnset set = { .fns = fns, .n_fns = RD_ARRAY_SIZE(fns) };

	assert_verb_of(RD_VERB(RD_VERB_WRITE, 0), &set, "MR", "WRITE:REG_MR", "ibv_reg_mr");
	assert_verb_of(RD_VERB(RD_VERB_WRITE, 1), &set, "RWQ_IND_TBL", "WRITE:EX_CREATE_RWQ_IND_TBL",
		       "ibv_create_rwq_ind_table");
	assert_verb_of(RD_VERB(RD_VERB_WRITE, 2), &set, "QP", "WRITE:CREATE_QP", "ibv_create_qp");
	assert_verb_of(RD_VERB(RD_VERB_WRITE, 3), &set, "DEVICE", "WRITE", "");
	assert_verb_of(RD_VERB(RD_VERB_WRITE, 4), &set, "DEVICE", "WRITE", "");
	assert_verb_of(RD_VERB(RD_VERB_WRITE, 0xffffffffu), &set, "DEVICE", "WRITE", "");
	assert_verb(RD_VERB(RD_VERB_WRITE, 0), "DEVICE", "WRITE", "");
}

TEST(rdma_cm_commands_have_the_librarys_names)
{
	assert_verb(RD_VERB(RD_VERB_UCMA, RDMA_USER_CM_CMD_BIND_IP), "RDMA_CM", "BIND_IP", "rdma_bind_addr");
	assert_verb(RD_VERB(RD_VERB_UCMA, RDMA_USER_CM_CMD_BIND), "RDMA_CM", "BIND", "rdma_bind_addr");
	assert_verb(RD_VERB(RD_VERB_UCMA, RDMA_USER_CM_CMD_RESOLVE_ADDR), "RDMA_CM", "RESOLVE_ADDR",
		    "rdma_resolve_addr");
	assert_verb(RD_VERB(RD_VERB_UCMA, RDMA_USER_CM_CMD_GET_EVENT), "RDMA_CM", "GET_EVENT", "rdma_get_cm_event");
	assert_verb(RD_VERB(RD_VERB_UCMA, RDMA_USER_CM_CMD_JOIN_MCAST), "RDMA_CM", "JOIN_MCAST", "rdma_join_multicast");
	assert_verb(RD_VERB(RD_VERB_UCMA, 999), "RDMA_CM", "0x3e7", "");
}

TEST(file_operations_and_unreadable_headers)
{
	assert_verb(RD_VERB(RD_VERB_FOP, RD_ENTRY_UVERBS_OPEN), "DEVICE", "OPEN", "ibv_open_device");
	assert_verb(RD_VERB(RD_VERB_FOP, RD_ENTRY_UVERBS_MMAP), "DEVICE", "MMAP", "");
	assert_verb(0, "", "", "");
	assert_verb(UINT64_MAX, "", "", "");
}

TEST(what_is_not_known_is_null_in_the_event)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { .verb_key = ioctl_key(UVERBS_OBJECT_QP, 0) };

	rd_verb_resolve(&ev, NULL);
	assert_string_equal(ev.verb, "ibv_create_qp");
	ev.verb_key = 0;
	rd_verb_resolve(&ev, NULL);
	ASSERT_EACH(IS(ev.object == NULL, true), IS(ev.method == NULL, true), IS(ev.verb == NULL, true));
}
