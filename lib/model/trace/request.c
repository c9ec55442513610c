// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/request.h"

#include <ctype.h>

/* clang-format off */
static const char *const names[RD_REQ_FIELDS] = {
	[RD_REQ_H_PD] = "protection domain", [RD_REQ_H_MR] = "memory region", [RD_REQ_H_MW] = "memory window",
	[RD_REQ_H_AH] = "address handle", [RD_REQ_H_QP] = "queue pair", [RD_REQ_H_CQ] = "completion queue",
	[RD_REQ_H_RECV_CQ] = "receive completion queue", [RD_REQ_H_SRQ] = "shared receive queue", [RD_REQ_H_XRCD] = "XRC domain",
	[RD_REQ_H_WQ] = "work queue", [RD_REQ_H_OTHER] = "object", [RD_REQ_ADDRESS] = "addr", [RD_REQ_LENGTH] = "length",
	[RD_REQ_IOVA] = "iova", [RD_REQ_ACCESS] = "access", [RD_REQ_REREG] = "flags", [RD_REQ_FD] = "fd",
	[RD_REQ_MW_TYPE] = "type", [RD_REQ_CQE] = "cqe", [RD_REQ_COMP_VECTOR] = "comp_vector", [RD_REQ_SEND_WR] = "max_send_wr",
	[RD_REQ_RECV_WR] = "max_recv_wr", [RD_REQ_SEND_SGE] = "max_send_sge", [RD_REQ_RECV_SGE] = "max_recv_sge",
	[RD_REQ_INLINE] = "max_inline_data", [RD_REQ_QP_TYPE] = "qp_type", [RD_REQ_IS_SRQ] = "srq", [RD_REQ_SRQ_WR] = "max_wr",
	[RD_REQ_SRQ_SGE] = "max_sge", [RD_REQ_SRQ_LIMIT] = "srq_limit", [RD_REQ_SRQ_MASK] = "srq_attr_mask",
	[RD_REQ_MASK] = "attr_mask", [RD_REQ_STATE] = "qp_state", [RD_REQ_CUR_STATE] = "cur_qp_state",
	[RD_REQ_PATH_MTU] = "path_mtu", [RD_REQ_QKEY] = "qkey", [RD_REQ_DEST_QPN] = "dest_qp_num",
	[RD_REQ_PKEY_INDEX] = "pkey_index", [RD_REQ_RD_ATOMIC] = "max_rd_atomic", [RD_REQ_DEST_RD_ATOMIC] = "max_dest_rd_atomic",
	[RD_REQ_MIN_RNR_TIMER] = "min_rnr_timer", [RD_REQ_TIMEOUT] = "timeout", [RD_REQ_RETRY_CNT] = "retry_cnt",
	[RD_REQ_RNR_RETRY] = "rnr_retry", [RD_REQ_ALT_PORT] = "alt_port_num", [RD_REQ_ALT_TIMEOUT] = "alt_timeout",
	[RD_REQ_ALT_PKEY_INDEX] = "alt_pkey_index", [RD_REQ_QP_ACCESS] = "qp_access_flags",
	[RD_REQ_AV_PORT] = "ah_attr.port_num", [RD_REQ_AV_GLOBAL] = "ah_attr.is_global",
	[RD_REQ_SGID_INDEX] = "ah_attr.grh.sgid_index", [RD_REQ_DLID] = "ah_attr.dlid",
	[RD_REQ_ALT_AV_PORT] = "alt_ah_attr.port_num", [RD_REQ_PORT] = "port_num", [RD_REQ_GID_INDEX] = "gid_index",
	[RD_REQ_MLID] = "lid", [RD_REQ_CM_ID] = "rdma_cm_id", [RD_REQ_BACKLOG] = "backlog",
	[RD_REQ_PRIVATE_LEN] = "private_data_len", [RD_REQ_PORT_SPACE] = "port space", [RD_REQ_OPTION_LEVEL] = "level",
	[RD_REQ_OPTION] = "optname", [RD_REQ_EVENT] = "event", [RD_REQ_FLAGS] = "flags", [RD_REQ_SRQ_TYPE] = "srq_type",
	[RD_REQ_JOIN_FLAGS] = "join_flags", [RD_REQ_REASON] = "reason", [RD_REQ_ADDR_SIZE] = "addr_size",
};
/* clang-format on */

const char *rd_req_name(enum rd_req_field field)
{
	return (unsigned)field < RD_REQ_FIELDS ? names[field] : "?";
}

bool rd_is_v4_gid(const uint8_t *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, prefix, sizeof(prefix));
}

/* clang-format off */
static const struct rd_command commands[] = {
	{ 0, false, "GET_CONTEXT", "DEVICE", "ibv_open_device", NULL },
	{ 1, false, "QUERY_DEVICE", "DEVICE", "ibv_query_device", NULL },
	{ 2, false, "QUERY_PORT", "DEVICE", "ibv_query_port", NULL },
	{ 3, false, "ALLOC_PD", "PD", "ibv_alloc_pd", NULL },
	{ 4, false, "DEALLOC_PD", "PD", "ibv_dealloc_pd", NULL },
	{ 5, false, "CREATE_AH", "AH", "ibv_create_ah", NULL },
	{ 6, false, "MODIFY_AH", "AH", NULL, NULL },
	{ 7, false, "QUERY_AH", "AH", NULL, NULL },
	{ 8, false, "DESTROY_AH", "AH", "ibv_destroy_ah", NULL },
	{ 9, false, "REG_MR", "MR", "ibv_reg_mr", NULL },
	{ 10, false, "REG_SMR", "MR", NULL, NULL },
	{ 11, false, "REREG_MR", "MR", "ibv_rereg_mr", NULL },
	{ 12, false, "QUERY_MR", "MR", NULL, NULL },
	{ 13, false, "DEREG_MR", "MR", "ibv_dereg_mr", NULL },
	{ 14, false, "ALLOC_MW", "MW", "ibv_alloc_mw", NULL },
	{ 15, false, "BIND_MW", "MW", "ibv_bind_mw", NULL },
	{ 16, false, "DEALLOC_MW", "MW", "ibv_dealloc_mw", NULL },
	{ 17, false, "CREATE_COMP_CHANNEL", "COMP_CHANNEL", "ibv_create_comp_channel", NULL },
	{ 18, false, "CREATE_CQ", "CQ", "ibv_create_cq", NULL },
	{ 19, false, "RESIZE_CQ", "CQ", "ibv_resize_cq", NULL },
	{ 20, false, "DESTROY_CQ", "CQ", "ibv_destroy_cq", NULL },
	{ 21, false, "POLL_CQ", "CQ", "ibv_poll_cq", NULL },
	{ 22, false, "PEEK_CQ", "CQ", NULL, NULL },
	{ 23, false, "REQ_NOTIFY_CQ", "CQ", "ibv_req_notify_cq", NULL },
	{ 24, false, "CREATE_QP", "QP", "ibv_create_qp", NULL },
	{ 25, false, "QUERY_QP", "QP", "ibv_query_qp", NULL },
	{ 26, false, "MODIFY_QP", "QP", "ibv_modify_qp", NULL },
	{ 27, false, "DESTROY_QP", "QP", "ibv_destroy_qp", NULL },
	{ 28, false, "POST_SEND", "QP", "ibv_post_send", NULL },
	{ 29, false, "POST_RECV", "QP", "ibv_post_recv", NULL },
	{ 30, false, "ATTACH_MCAST", "QP", "ibv_attach_mcast", NULL },
	{ 31, false, "DETACH_MCAST", "QP", "ibv_detach_mcast", NULL },
	{ 32, false, "CREATE_SRQ", "SRQ", "ibv_create_srq", NULL },
	{ 33, false, "MODIFY_SRQ", "SRQ", "ibv_modify_srq", NULL },
	{ 34, false, "QUERY_SRQ", "SRQ", "ibv_query_srq", NULL },
	{ 35, false, "DESTROY_SRQ", "SRQ", "ibv_destroy_srq", NULL },
	{ 36, false, "POST_SRQ_RECV", "SRQ", "ibv_post_srq_recv", NULL },
	{ 37, false, "OPEN_XRCD", "XRCD", "ibv_open_xrcd", NULL },
	{ 38, false, "CLOSE_XRCD", "XRCD", "ibv_close_xrcd", NULL },
	{ 39, false, "CREATE_XSRQ", "SRQ", "ibv_create_srq_ex", NULL },
	{ 40, false, "OPEN_QP", "QP", "ibv_open_qp", NULL },
	{ 1, true, "QUERY_DEVICE", "DEVICE", "ibv_query_device_ex", NULL },
	{ 18, true, "CREATE_CQ", "CQ", "ibv_create_cq_ex", NULL },
	{ 24, true, "CREATE_QP", "QP", "ibv_create_qp_ex", NULL },
	{ 26, true, "MODIFY_QP", "QP", "ibv_modify_qp", NULL }, /* used by the library for masks of more than 20 bits */
	{ 50, true, "CREATE_FLOW", "FLOW", "ibv_create_flow", NULL },
	{ 51, true, "DESTROY_FLOW", "FLOW", "ibv_destroy_flow", NULL },
	{ 52, true, "CREATE_WQ", "WQ", "ibv_create_wq", NULL },
	{ 53, true, "MODIFY_WQ", "WQ", "ibv_modify_wq", NULL },
	{ 54, true, "DESTROY_WQ", "WQ", "ibv_destroy_wq", NULL },
	{ 55, true, "CREATE_RWQ_IND_TBL", "RWQ_IND_TBL", "ibv_create_rwq_ind_table", "create_rwq_ind_table" },
	{ 56, true, "DESTROY_RWQ_IND_TBL", "RWQ_IND_TBL", "ibv_destroy_rwq_ind_table", "destroy_rwq_ind_table" },
	{ 57, true, "MODIFY_CQ", "CQ", "ibv_modify_cq", NULL },
};
/* clang-format on */

const struct rd_command *rd_command_find(uint32_t number)
{
	bool extended = number & RD_COMMAND_EXTENDED;

	for (size_t i = 0; i < RD_ARRAY_SIZE(commands); i++)
		if (commands[i].id == (number & ~RD_COMMAND_EXTENDED) && commands[i].extended == extended)
			return &commands[i];
	return NULL;
}

static bool is_handler(const struct rd_command *command, const char *function)
{
	static const char prefix[] = "ib_uverbs_";
	const char *want = command->handler ?: command->name;

	if (strncmp(function, prefix, sizeof(prefix) - 1) != 0)
		return false;
	function += sizeof(prefix) - 1;
	if (command->extended) {
		if (strncmp(function, "ex_", 3) != 0)
			return false;
		function += 3;
	}
	while (*want && tolower((unsigned char)*want) == *function)
		want++, function++;
	return !*want && (!*function || *function == '.');
}

const struct rd_command *rd_command_of_handler(const char *function)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(commands); i++)
		if (is_handler(&commands[i], function))
			return &commands[i];
	return NULL;
}
