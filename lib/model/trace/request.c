// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/trace/request.h"

static const char *const names[RD_REQ_FIELDS];

const char *rd_req_name(enum rd_req_field field)
{
	return (unsigned)field < RD_REQ_FIELDS ? names[field] : "?";
}

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
