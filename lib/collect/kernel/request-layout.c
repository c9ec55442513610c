// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts of requests, from the structures of the user ABI. Attribute ids of ioctls are written as numbers, with the enum they are
 * from, because the headers of the build host may be older than the running kernel.
 */
#include "collect/kernel/request.h"

#include <linux/types.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "bpf/record.h"
#include "model/trace/command.h"

#define IOCTL(object, method) RD_VERB(RD_VERB_IOCTL, (object) << 16 | (method))
#define COMMAND(number) RD_VERB(RD_VERB_INVOKE_WRITE, number)
#define EXTENDED RD_COMMAND_EXTENDED
#define UCM(number) RD_VERB(RD_VERB_UCMA, number)

/* A field of a command. */
#define F(field, type, member)                                                                              \
	{                                                                                                   \
		RD_REQ_##field, sizeof(((struct type *)0)->member), offsetof(struct type, member), 0, false \
	}
#define GID_OF(type, member)                                            \
	{                                                               \
		RD_REQ_GID, 16, offsetof(struct type, member), 0, false \
	}
/* An attribute of an ioctl: a number, or a member of the struct it points to. */
#define A(field, id, size)                         \
	{                                          \
		RD_REQ_##field, size, id, 0, false \
	}
#define S(field, id, type, member)                                                                          \
	{                                                                                                   \
		RD_REQ_##field, sizeof(((struct type *)0)->member), id, offsetof(struct type, member), true \
	}

static const struct layout {
	uint64_t key;
	const struct rd_req_place *places;
} layouts[];
static const size_t n_layouts;

static const struct rd_req_place *find_layout(uint64_t key)
{
	for (size_t i = 0; i < n_layouts; i++)
		if (layouts[i].key == key)
			return layouts[i].places;
	return NULL;
}

const struct rd_req_place *rd_request_layout(uint64_t key, const struct rd_fnset *set)
{
	uint32_t fn = (uint32_t)key;
	const struct rd_command *command;

	if (key >> 32 != RD_VERB_WRITE)
		return find_layout(key);
	command = set && fn < set->n_fns ? rd_command_of_handler(set->fns[fn].name) : NULL;
	return command ? find_layout(COMMAND(command->id | (command->extended ? RD_COMMAND_EXTENDED : 0))) : NULL;
}

bool rd_request_layout_at(size_t i, uint64_t *key)
{
	if (i < n_layouts)
		*key = layouts[i].key;
	return i < n_layouts;
}

/* clang-format off */
#define END { 0, 0, 0, 0, false }

static const struct rd_req_place reg_mr[] = {
	F(H_PD, ib_uverbs_reg_mr, pd_handle), F(ADDRESS, ib_uverbs_reg_mr, start), F(LENGTH, ib_uverbs_reg_mr, length),
	F(IOVA, ib_uverbs_reg_mr, hca_va), F(ACCESS, ib_uverbs_reg_mr, access_flags), END
};
static const struct rd_req_place rereg_mr[] = {
	F(H_MR, ib_uverbs_rereg_mr, mr_handle), F(H_PD, ib_uverbs_rereg_mr, pd_handle), F(REREG, ib_uverbs_rereg_mr, flags),
	F(ADDRESS, ib_uverbs_rereg_mr, start), F(LENGTH, ib_uverbs_rereg_mr, length),
	F(IOVA, ib_uverbs_rereg_mr, hca_va), F(ACCESS, ib_uverbs_rereg_mr, access_flags), END
};
/* enum uverbs_attrs_reg_mr_cmd_attr_ids */
static const struct rd_req_place reg_mr_ioctl[] = {
	A(H_PD, 1, 4), A(IOVA, 3, 8), A(ADDRESS, 4, 8), A(LENGTH, 5, 8), A(ACCESS, 6, 4), A(FD, 7, 4), END
};
/* enum uverbs_attrs_reg_dmabuf_mr_cmd_attr_ids */
static const struct rd_req_place reg_dmabuf_mr[] = {
	A(H_PD, 1, 4), A(LENGTH, 3, 8), A(IOVA, 4, 8), A(FD, 5, 4), A(ACCESS, 6, 4), END
};
static const struct rd_req_place advise_mr[] = { A(H_PD, 0, 4), END };
static const struct rd_req_place dereg_mr[] = { F(H_MR, ib_uverbs_dereg_mr, mr_handle), END };
static const struct rd_req_place mr_destroy[] = { A(H_MR, 0, 4), END };
static const struct rd_req_place alloc_mw[] = {
	F(H_PD, ib_uverbs_alloc_mw, pd_handle), F(MW_TYPE, ib_uverbs_alloc_mw, mw_type), END
};
static const struct rd_req_place dealloc_mw[] = { F(H_MW, ib_uverbs_dealloc_mw, mw_handle), END };
static const struct rd_req_place mw_destroy[] = { A(H_MW, 0, 4), END };
static const struct rd_req_place dealloc_pd[] = { F(H_PD, ib_uverbs_dealloc_pd, pd_handle), END };
static const struct rd_req_place pd_destroy[] = { A(H_PD, 0, 4), END };

static const struct rd_req_place create_cq[] = {
	F(CQE, ib_uverbs_create_cq, cqe), F(COMP_VECTOR, ib_uverbs_create_cq, comp_vector),
	F(FD, ib_uverbs_create_cq, comp_channel), END
};
static const struct rd_req_place ex_create_cq[] = {
	F(CQE, ib_uverbs_ex_create_cq, cqe), F(COMP_VECTOR, ib_uverbs_ex_create_cq, comp_vector),
	F(FD, ib_uverbs_ex_create_cq, comp_channel), F(FLAGS, ib_uverbs_ex_create_cq, flags), END
};
/* enum uverbs_attrs_create_cq_cmd_attr_ids */
static const struct rd_req_place cq_create[] = { A(CQE, 1, 4), A(FD, 3, 4), A(COMP_VECTOR, 4, 4), A(FLAGS, 5, 4), END };
static const struct rd_req_place resize_cq[] = {
	F(H_CQ, ib_uverbs_resize_cq, cq_handle), F(CQE, ib_uverbs_resize_cq, cqe), END
};
static const struct rd_req_place notify_cq[] = { F(H_CQ, ib_uverbs_req_notify_cq, cq_handle), END };
static const struct rd_req_place destroy_cq[] = { F(H_CQ, ib_uverbs_destroy_cq, cq_handle), END };
static const struct rd_req_place cq_destroy[] = { A(H_CQ, 0, 4), END };

static const struct rd_req_place create_qp[] = {
	F(H_PD, ib_uverbs_create_qp, pd_handle), F(H_CQ, ib_uverbs_create_qp, send_cq_handle),
	F(H_RECV_CQ, ib_uverbs_create_qp, recv_cq_handle), F(H_SRQ, ib_uverbs_create_qp, srq_handle),
	F(SEND_WR, ib_uverbs_create_qp, max_send_wr), F(RECV_WR, ib_uverbs_create_qp, max_recv_wr),
	F(SEND_SGE, ib_uverbs_create_qp, max_send_sge), F(RECV_SGE, ib_uverbs_create_qp, max_recv_sge),
	F(INLINE, ib_uverbs_create_qp, max_inline_data), F(QP_TYPE, ib_uverbs_create_qp, qp_type),
	F(IS_SRQ, ib_uverbs_create_qp, is_srq), END
};
static const struct rd_req_place ex_create_qp[] = {
	F(H_PD, ib_uverbs_ex_create_qp, pd_handle), F(H_CQ, ib_uverbs_ex_create_qp, send_cq_handle),
	F(H_RECV_CQ, ib_uverbs_ex_create_qp, recv_cq_handle), F(H_SRQ, ib_uverbs_ex_create_qp, srq_handle),
	F(SEND_WR, ib_uverbs_ex_create_qp, max_send_wr), F(RECV_WR, ib_uverbs_ex_create_qp, max_recv_wr),
	F(SEND_SGE, ib_uverbs_ex_create_qp, max_send_sge), F(RECV_SGE, ib_uverbs_ex_create_qp, max_recv_sge),
	F(INLINE, ib_uverbs_ex_create_qp, max_inline_data), F(QP_TYPE, ib_uverbs_ex_create_qp, qp_type),
	F(IS_SRQ, ib_uverbs_ex_create_qp, is_srq), F(FLAGS, ib_uverbs_ex_create_qp, create_flags), END
};
/* enum uverbs_attrs_create_qp_cmd_attr_ids; the capabilities are a struct ib_uverbs_qp_cap: five numbers of 32 bits. */
static const struct rd_req_place qp_create[] = {
	A(H_PD, 2, 4), A(H_SRQ, 3, 4), A(H_CQ, 4, 4), A(H_RECV_CQ, 5, 4), A(QP_TYPE, 9, 4), A(FLAGS, 10, 4),
	{ RD_REQ_SEND_WR, 4, 8, 0, true }, { RD_REQ_RECV_WR, 4, 8, 4, true }, { RD_REQ_SEND_SGE, 4, 8, 8, true },
	{ RD_REQ_RECV_SGE, 4, 8, 12, true }, { RD_REQ_INLINE, 4, 8, 16, true }, END
};
static const struct rd_req_place query_qp[] = { F(H_QP, ib_uverbs_query_qp, qp_handle), END };
static const struct rd_req_place destroy_qp[] = { F(H_QP, ib_uverbs_destroy_qp, qp_handle), END };
static const struct rd_req_place qp_destroy[] = { A(H_QP, 0, 4), END };

static const struct rd_req_place modify_qp[] = {
	F(H_QP, ib_uverbs_modify_qp, qp_handle), F(MASK, ib_uverbs_modify_qp, attr_mask),
	F(STATE, ib_uverbs_modify_qp, qp_state), F(CUR_STATE, ib_uverbs_modify_qp, cur_qp_state),
	F(PATH_MTU, ib_uverbs_modify_qp, path_mtu), F(QKEY, ib_uverbs_modify_qp, qkey),
	F(DEST_QPN, ib_uverbs_modify_qp, dest_qp_num), F(PKEY_INDEX, ib_uverbs_modify_qp, pkey_index),
	F(RD_ATOMIC, ib_uverbs_modify_qp, max_rd_atomic), F(DEST_RD_ATOMIC, ib_uverbs_modify_qp, max_dest_rd_atomic),
	F(MIN_RNR_TIMER, ib_uverbs_modify_qp, min_rnr_timer), F(TIMEOUT, ib_uverbs_modify_qp, timeout),
	F(RETRY_CNT, ib_uverbs_modify_qp, retry_cnt), F(RNR_RETRY, ib_uverbs_modify_qp, rnr_retry),
	F(PORT, ib_uverbs_modify_qp, port_num), F(QP_ACCESS, ib_uverbs_modify_qp, qp_access_flags),
	F(ALT_PORT, ib_uverbs_modify_qp, alt_port_num), F(ALT_TIMEOUT, ib_uverbs_modify_qp, alt_timeout),
	F(ALT_PKEY_INDEX, ib_uverbs_modify_qp, alt_pkey_index), F(ALT_AV_PORT, ib_uverbs_modify_qp, alt_dest.port_num),
	F(AV_PORT, ib_uverbs_modify_qp, dest.port_num), F(AV_GLOBAL, ib_uverbs_modify_qp, dest.is_global),
	F(SGID_INDEX, ib_uverbs_modify_qp, dest.sgid_index), F(DLID, ib_uverbs_modify_qp, dest.dlid),
	GID_OF(ib_uverbs_modify_qp, dest.dgid), END
};
static const struct rd_req_place create_ah[] = {
	F(H_PD, ib_uverbs_create_ah, pd_handle), F(AV_PORT, ib_uverbs_create_ah, attr.port_num),
	F(AV_GLOBAL, ib_uverbs_create_ah, attr.is_global), F(SGID_INDEX, ib_uverbs_create_ah, attr.grh.sgid_index),
	F(DLID, ib_uverbs_create_ah, attr.dlid), GID_OF(ib_uverbs_create_ah, attr.grh.dgid), END
};
static const struct rd_req_place destroy_ah[] = { F(H_AH, ib_uverbs_destroy_ah, ah_handle), END };
static const struct rd_req_place ah_destroy[] = { A(H_AH, 0, 4), END };
static const struct rd_req_place mcast[] = {
	F(H_QP, ib_uverbs_attach_mcast, qp_handle), F(MLID, ib_uverbs_attach_mcast, mlid),
	GID_OF(ib_uverbs_attach_mcast, gid), END
};

static const struct rd_req_place create_srq[] = {
	F(H_PD, ib_uverbs_create_srq, pd_handle), F(SRQ_WR, ib_uverbs_create_srq, max_wr),
	F(SRQ_SGE, ib_uverbs_create_srq, max_sge), F(SRQ_LIMIT, ib_uverbs_create_srq, srq_limit), END
};
static const struct rd_req_place create_xsrq[] = {
	F(H_PD, ib_uverbs_create_xsrq, pd_handle), F(H_XRCD, ib_uverbs_create_xsrq, xrcd_handle),
	F(H_CQ, ib_uverbs_create_xsrq, cq_handle), F(SRQ_WR, ib_uverbs_create_xsrq, max_wr),
	F(SRQ_SGE, ib_uverbs_create_xsrq, max_sge), F(SRQ_LIMIT, ib_uverbs_create_xsrq, srq_limit), F(SRQ_TYPE, ib_uverbs_create_xsrq, srq_type), END
};
/* enum uverbs_attrs_create_srq_cmd_attr_ids */
static const struct rd_req_place srq_create[] = {
	A(H_PD, 1, 4), A(H_XRCD, 2, 4), A(H_CQ, 3, 4), A(SRQ_WR, 5, 4), A(SRQ_SGE, 6, 4), A(SRQ_LIMIT, 7, 4),
	A(SRQ_TYPE, 9, 4), END
};
static const struct rd_req_place modify_srq[] = {
	F(H_SRQ, ib_uverbs_modify_srq, srq_handle), F(SRQ_MASK, ib_uverbs_modify_srq, attr_mask),
	F(SRQ_WR, ib_uverbs_modify_srq, max_wr), F(SRQ_LIMIT, ib_uverbs_modify_srq, srq_limit), END
};
static const struct rd_req_place query_srq[] = { F(H_SRQ, ib_uverbs_query_srq, srq_handle), END };
static const struct rd_req_place destroy_srq[] = { F(H_SRQ, ib_uverbs_destroy_srq, srq_handle), END };
static const struct rd_req_place srq_destroy[] = { A(H_SRQ, 0, 4), END };
static const struct rd_req_place close_xrcd[] = { F(H_XRCD, ib_uverbs_close_xrcd, xrcd_handle), END };
static const struct rd_req_place xrcd_destroy[] = { A(H_XRCD, 0, 4), END };
static const struct rd_req_place wq_destroy[] = { A(H_WQ, 0, 4), END };
static const struct rd_req_place other_destroy[] = { A(H_OTHER, 0, 4), END };

static const struct rd_req_place query_port_command[] = { F(PORT, ib_uverbs_query_port, port_num), END };
static const struct rd_req_place query_port[] = { A(PORT, 0, 1), END };
static const struct rd_req_place query_gid_entry[] = { A(PORT, 0, 4), A(GID_INDEX, 1, 4), END };

static const struct rd_req_place cm_create_id[] = {
	F(PORT_SPACE, rdma_ucm_create_id, ps), F(QP_TYPE, rdma_ucm_create_id, qp_type), END
};
static const struct rd_req_place cm_destroy_id[] = { F(CM_ID, rdma_ucm_destroy_id, id), END };
static const struct rd_req_place cm_bind_ip[] = {
	F(CM_ID, rdma_ucm_bind_ip, id), F(SRC, rdma_ucm_bind_ip, addr), END
};
static const struct rd_req_place cm_bind[] = { F(CM_ID, rdma_ucm_bind, id), F(SRC, rdma_ucm_bind, addr),
	F(ADDR_SIZE, rdma_ucm_bind, addr_size), END };
static const struct rd_req_place cm_resolve_ip[] = {
	F(CM_ID, rdma_ucm_resolve_ip, id), F(SRC, rdma_ucm_resolve_ip, src_addr), F(DST, rdma_ucm_resolve_ip, dst_addr), END
};
static const struct rd_req_place cm_resolve_addr[] = {
	F(CM_ID, rdma_ucm_resolve_addr, id), F(SRC, rdma_ucm_resolve_addr, src_addr),
	F(DST, rdma_ucm_resolve_addr, dst_addr), END
};
static const struct rd_req_place cm_resolve_route[] = { F(CM_ID, rdma_ucm_resolve_route, id), END };
static const struct rd_req_place cm_query[] = { F(CM_ID, rdma_ucm_query, id), F(OPTION, rdma_ucm_query, option), END };
static const struct rd_req_place cm_connect[] = {
	F(CM_ID, rdma_ucm_connect, id), F(PRIVATE_LEN, rdma_ucm_connect, conn_param.private_data_len),
	F(DEST_QPN, rdma_ucm_connect, conn_param.qp_num), END
};
static const struct rd_req_place cm_listen[] = {
	F(CM_ID, rdma_ucm_listen, id), F(BACKLOG, rdma_ucm_listen, backlog), END
};
static const struct rd_req_place cm_accept[] = {
	F(CM_ID, rdma_ucm_accept, id), F(PRIVATE_LEN, rdma_ucm_accept, conn_param.private_data_len), END
};
static const struct rd_req_place cm_reject[] = {
	F(CM_ID, rdma_ucm_reject, id), F(PRIVATE_LEN, rdma_ucm_reject, private_data_len),
	F(REASON, rdma_ucm_reject, reason), END
};
static const struct rd_req_place cm_disconnect[] = { F(CM_ID, rdma_ucm_disconnect, id), END };
static const struct rd_req_place cm_init_qp_attr[] = {
	F(CM_ID, rdma_ucm_init_qp_attr, id), F(STATE, rdma_ucm_init_qp_attr, qp_state), END
};
static const struct rd_req_place cm_set_option[] = {
	F(CM_ID, rdma_ucm_set_option, id), F(OPTION_LEVEL, rdma_ucm_set_option, level),
	F(OPTION, rdma_ucm_set_option, optname), END
};
static const struct rd_req_place cm_notify[] = { F(CM_ID, rdma_ucm_notify, id), F(EVENT, rdma_ucm_notify, event), END };
static const struct rd_req_place cm_join_ip[] = {
	F(CM_ID, rdma_ucm_join_ip_mcast, id), F(DST, rdma_ucm_join_ip_mcast, addr), END
};
static const struct rd_req_place cm_join[] = {
	F(CM_ID, rdma_ucm_join_mcast, id), F(DST, rdma_ucm_join_mcast, addr), F(JOIN_FLAGS, rdma_ucm_join_mcast, join_flags),
	F(ADDR_SIZE, rdma_ucm_join_mcast, addr_size), END
};
static const struct rd_req_place cm_migrate[] = {
	F(CM_ID, rdma_ucm_migrate_id, id), F(FD, rdma_ucm_migrate_id, fd), END
};

static const struct layout layouts[] = {
	{ COMMAND(2), query_port_command }, { COMMAND(4), dealloc_pd }, { COMMAND(5), create_ah }, { COMMAND(8), destroy_ah },
	{ COMMAND(9), reg_mr }, { COMMAND(11), rereg_mr }, { COMMAND(13), dereg_mr }, { COMMAND(14), alloc_mw },
	{ COMMAND(16), dealloc_mw }, { COMMAND(18), create_cq }, { COMMAND(19), resize_cq }, { COMMAND(20), destroy_cq },
	{ COMMAND(23), notify_cq },
	{ COMMAND(24), create_qp }, { COMMAND(25), query_qp }, { COMMAND(26), modify_qp }, { COMMAND(27), destroy_qp },
	{ COMMAND(30), mcast }, { COMMAND(31), mcast }, { COMMAND(32), create_srq }, { COMMAND(33), modify_srq },
	{ COMMAND(34), query_srq }, { COMMAND(35), destroy_srq }, { COMMAND(38), close_xrcd }, { COMMAND(39), create_xsrq },
	{ COMMAND(EXTENDED | 18), ex_create_cq }, { COMMAND(EXTENDED | 24), ex_create_qp }, { COMMAND(EXTENDED | 26), modify_qp },
	{ IOCTL(0, 2), query_port }, { IOCTL(0, 6), query_gid_entry }, { IOCTL(1, 0), pd_destroy }, { IOCTL(3, 0), cq_create },
	{ IOCTL(3, 1), cq_destroy }, { IOCTL(4, 0), qp_create }, { IOCTL(4, 1), qp_destroy }, { IOCTL(5, 0), srq_create },
	{ IOCTL(5, 1), srq_destroy }, { IOCTL(6, 0), ah_destroy }, { IOCTL(7, 1), mr_destroy }, { IOCTL(7, 2), advise_mr },
	{ IOCTL(7, 4), reg_dmabuf_mr }, { IOCTL(7, 5), reg_mr_ioctl }, { IOCTL(8, 0), mw_destroy }, { IOCTL(9, 0), other_destroy },
	{ IOCTL(10, 0), xrcd_destroy }, { IOCTL(11, 0), other_destroy }, { IOCTL(12, 1), wq_destroy },
	{ IOCTL(13, 1), other_destroy }, { IOCTL(14, 1), other_destroy }, { IOCTL(15, 1), other_destroy },
	{ UCM(0), cm_create_id }, { UCM(1), cm_destroy_id }, { UCM(2), cm_bind_ip }, { UCM(3), cm_resolve_ip },
	{ UCM(4), cm_resolve_route }, { UCM(5), cm_query }, { UCM(6), cm_connect }, { UCM(7), cm_listen }, { UCM(8), cm_accept },
	{ UCM(9), cm_reject }, { UCM(10), cm_disconnect }, { UCM(11), cm_init_qp_attr }, { UCM(14), cm_set_option },
	{ UCM(15), cm_notify }, { UCM(16), cm_join_ip }, { UCM(17), cm_destroy_id }, { UCM(18), cm_migrate },
	{ UCM(19), cm_query }, { UCM(20), cm_bind }, { UCM(21), cm_resolve_addr }, { UCM(22), cm_join },
};
static const size_t n_layouts = RD_ARRAY_SIZE(layouts);

/* clang-format on */
