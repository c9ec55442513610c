// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts of requests, from the structures of the user ABI. Attribute ids of ioctls are written as numbers, with the enum they are
 * from, because the headers of the build host may be older than the running kernel.
 */
#include "collect/kernel/kernel.h"

#include <linux/types.h>
#include <netinet/in.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <time.h>

#include "bpf/record.h"
#include "collect/shared/cgroup.h"

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
/* An attribute of an ioctl that is a number. */
#define A(field, id, size)                         \
	{                                          \
		RD_REQ_##field, size, id, 0, false \
	}

/* clang-format off */
#define END { 0, 0, 0, 0, false }
#define PLACES(...) (const struct rd_req_place[]) { __VA_ARGS__, END }

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
static const struct rd_req_place mcast[] = {
	F(H_QP, ib_uverbs_attach_mcast, qp_handle), F(MLID, ib_uverbs_attach_mcast, mlid),
	GID_OF(ib_uverbs_attach_mcast, gid), END
};

static const struct rd_req_place other_destroy[] = { A(H_OTHER, 0, 4), END };

static const struct rd_req_place cm_destroy_id[] = { F(CM_ID, rdma_ucm_destroy_id, id), END };
static const struct rd_req_place cm_query[] = { F(CM_ID, rdma_ucm_query, id), F(OPTION, rdma_ucm_query, option), END };

static const struct layout {
	uint64_t key;
	const struct rd_req_place *places;
} layouts[] = {
	{ COMMAND(2), PLACES(F(PORT, ib_uverbs_query_port, port_num)) },
	{ COMMAND(4), PLACES(F(H_PD, ib_uverbs_dealloc_pd, pd_handle)) },
	{ COMMAND(5), PLACES(F(H_PD, ib_uverbs_create_ah, pd_handle), F(AV_PORT, ib_uverbs_create_ah, attr.port_num),
		F(AV_GLOBAL, ib_uverbs_create_ah, attr.is_global), F(SGID_INDEX, ib_uverbs_create_ah, attr.grh.sgid_index),
		F(DLID, ib_uverbs_create_ah, attr.dlid), GID_OF(ib_uverbs_create_ah, attr.grh.dgid)) },
	{ COMMAND(8), PLACES(F(H_AH, ib_uverbs_destroy_ah, ah_handle)) },
	{ COMMAND(9), PLACES(F(H_PD, ib_uverbs_reg_mr, pd_handle), F(ADDRESS, ib_uverbs_reg_mr, start),
		F(LENGTH, ib_uverbs_reg_mr, length), F(IOVA, ib_uverbs_reg_mr, hca_va),
		F(ACCESS, ib_uverbs_reg_mr, access_flags)) },
	{ COMMAND(11), PLACES(F(H_MR, ib_uverbs_rereg_mr, mr_handle), F(H_PD, ib_uverbs_rereg_mr, pd_handle),
		F(REREG, ib_uverbs_rereg_mr, flags), F(ADDRESS, ib_uverbs_rereg_mr, start),
		F(LENGTH, ib_uverbs_rereg_mr, length), F(IOVA, ib_uverbs_rereg_mr, hca_va),
		F(ACCESS, ib_uverbs_rereg_mr, access_flags)) },
	{ COMMAND(13), PLACES(F(H_MR, ib_uverbs_dereg_mr, mr_handle)) },
	{ COMMAND(14), PLACES(F(H_PD, ib_uverbs_alloc_mw, pd_handle), F(MW_TYPE, ib_uverbs_alloc_mw, mw_type)) },
	{ COMMAND(16), PLACES(F(H_MW, ib_uverbs_dealloc_mw, mw_handle)) },
	{ COMMAND(18), PLACES(F(CQE, ib_uverbs_create_cq, cqe), F(COMP_VECTOR, ib_uverbs_create_cq, comp_vector),
		F(FD, ib_uverbs_create_cq, comp_channel)) },
	{ COMMAND(19), PLACES(F(H_CQ, ib_uverbs_resize_cq, cq_handle), F(CQE, ib_uverbs_resize_cq, cqe)) },
	{ COMMAND(20), PLACES(F(H_CQ, ib_uverbs_destroy_cq, cq_handle)) },
	{ COMMAND(23), PLACES(F(H_CQ, ib_uverbs_req_notify_cq, cq_handle)) },
	{ COMMAND(24), PLACES(F(H_PD, ib_uverbs_create_qp, pd_handle), F(H_CQ, ib_uverbs_create_qp, send_cq_handle),
		F(H_RECV_CQ, ib_uverbs_create_qp, recv_cq_handle), F(H_SRQ, ib_uverbs_create_qp, srq_handle),
		F(SEND_WR, ib_uverbs_create_qp, max_send_wr), F(RECV_WR, ib_uverbs_create_qp, max_recv_wr),
		F(SEND_SGE, ib_uverbs_create_qp, max_send_sge), F(RECV_SGE, ib_uverbs_create_qp, max_recv_sge),
		F(INLINE, ib_uverbs_create_qp, max_inline_data), F(QP_TYPE, ib_uverbs_create_qp, qp_type),
		F(IS_SRQ, ib_uverbs_create_qp, is_srq)) },
	{ COMMAND(25), PLACES(F(H_QP, ib_uverbs_query_qp, qp_handle)) },
	{ COMMAND(26), modify_qp },
	{ COMMAND(27), PLACES(F(H_QP, ib_uverbs_destroy_qp, qp_handle)) },
	{ COMMAND(30), mcast },
	{ COMMAND(31), mcast },
	{ COMMAND(32), PLACES(F(H_PD, ib_uverbs_create_srq, pd_handle), F(SRQ_WR, ib_uverbs_create_srq, max_wr),
		F(SRQ_SGE, ib_uverbs_create_srq, max_sge), F(SRQ_LIMIT, ib_uverbs_create_srq, srq_limit)) },
	{ COMMAND(33), PLACES(F(H_SRQ, ib_uverbs_modify_srq, srq_handle), F(SRQ_MASK, ib_uverbs_modify_srq, attr_mask),
		F(SRQ_WR, ib_uverbs_modify_srq, max_wr), F(SRQ_LIMIT, ib_uverbs_modify_srq, srq_limit)) },
	{ COMMAND(34), PLACES(F(H_SRQ, ib_uverbs_query_srq, srq_handle)) },
	{ COMMAND(35), PLACES(F(H_SRQ, ib_uverbs_destroy_srq, srq_handle)) },
	{ COMMAND(38), PLACES(F(H_XRCD, ib_uverbs_close_xrcd, xrcd_handle)) },
	{ COMMAND(39), PLACES(F(H_PD, ib_uverbs_create_xsrq, pd_handle), F(H_XRCD, ib_uverbs_create_xsrq, xrcd_handle),
		F(H_CQ, ib_uverbs_create_xsrq, cq_handle), F(SRQ_WR, ib_uverbs_create_xsrq, max_wr),
		F(SRQ_SGE, ib_uverbs_create_xsrq, max_sge), F(SRQ_LIMIT, ib_uverbs_create_xsrq, srq_limit),
		F(SRQ_TYPE, ib_uverbs_create_xsrq, srq_type)) },
	{ COMMAND(EXTENDED | 18), PLACES(F(CQE, ib_uverbs_ex_create_cq, cqe),
		F(COMP_VECTOR, ib_uverbs_ex_create_cq, comp_vector), F(FD, ib_uverbs_ex_create_cq, comp_channel),
		F(FLAGS, ib_uverbs_ex_create_cq, flags)) },
	{ COMMAND(EXTENDED | 24), PLACES(F(H_PD, ib_uverbs_ex_create_qp, pd_handle),
		F(H_CQ, ib_uverbs_ex_create_qp, send_cq_handle), F(H_RECV_CQ, ib_uverbs_ex_create_qp, recv_cq_handle),
		F(H_SRQ, ib_uverbs_ex_create_qp, srq_handle), F(SEND_WR, ib_uverbs_ex_create_qp, max_send_wr),
		F(RECV_WR, ib_uverbs_ex_create_qp, max_recv_wr), F(SEND_SGE, ib_uverbs_ex_create_qp, max_send_sge),
		F(RECV_SGE, ib_uverbs_ex_create_qp, max_recv_sge), F(INLINE, ib_uverbs_ex_create_qp, max_inline_data),
		F(QP_TYPE, ib_uverbs_ex_create_qp, qp_type), F(IS_SRQ, ib_uverbs_ex_create_qp, is_srq),
		F(FLAGS, ib_uverbs_ex_create_qp, create_flags)) },
	{ COMMAND(EXTENDED | 26), modify_qp },
	{ IOCTL(0, 2), PLACES(A(PORT, 0, 1)) },
	{ IOCTL(0, 6), PLACES(A(PORT, 0, 4), A(GID_INDEX, 1, 4)) },
	{ IOCTL(1, 0), PLACES(A(H_PD, 0, 4)) },
	/* enum uverbs_attrs_create_cq_cmd_attr_ids */
	{ IOCTL(3, 0), PLACES(A(CQE, 1, 4), A(FD, 3, 4), A(COMP_VECTOR, 4, 4), A(FLAGS, 5, 4)) },
	{ IOCTL(3, 1), PLACES(A(H_CQ, 0, 4)) },
	/* enum uverbs_attrs_create_qp_cmd_attr_ids; the capabilities are a struct ib_uverbs_qp_cap: five numbers of 32 bits. */
	{ IOCTL(4, 0), PLACES(A(H_PD, 2, 4), A(H_SRQ, 3, 4), A(H_CQ, 4, 4), A(H_RECV_CQ, 5, 4), A(QP_TYPE, 9, 4),
		A(FLAGS, 10, 4), { RD_REQ_SEND_WR, 4, 8, 0, true }, { RD_REQ_RECV_WR, 4, 8, 4, true },
		{ RD_REQ_SEND_SGE, 4, 8, 8, true }, { RD_REQ_RECV_SGE, 4, 8, 12, true },
		{ RD_REQ_INLINE, 4, 8, 16, true }) },
	{ IOCTL(4, 1), PLACES(A(H_QP, 0, 4)) },
	/* enum uverbs_attrs_create_srq_cmd_attr_ids */
	{ IOCTL(5, 0), PLACES(A(H_PD, 1, 4), A(H_XRCD, 2, 4), A(H_CQ, 3, 4), A(SRQ_WR, 5, 4), A(SRQ_SGE, 6, 4),
		A(SRQ_LIMIT, 7, 4), A(SRQ_TYPE, 9, 4)) },
	{ IOCTL(5, 1), PLACES(A(H_SRQ, 0, 4)) },
	{ IOCTL(6, 0), PLACES(A(H_AH, 0, 4)) },
	{ IOCTL(7, 1), PLACES(A(H_MR, 0, 4)) },
	{ IOCTL(7, 2), PLACES(A(H_PD, 0, 4)) },
	/* enum uverbs_attrs_reg_dmabuf_mr_cmd_attr_ids */
	{ IOCTL(7, 4), PLACES(A(H_PD, 1, 4), A(LENGTH, 3, 8), A(IOVA, 4, 8), A(FD, 5, 4), A(ACCESS, 6, 4)) },
	/* enum uverbs_attrs_reg_mr_cmd_attr_ids */
	{ IOCTL(7, 5), PLACES(A(H_PD, 1, 4), A(IOVA, 3, 8), A(ADDRESS, 4, 8), A(LENGTH, 5, 8), A(ACCESS, 6, 4),
		A(FD, 7, 4)) },
	{ IOCTL(8, 0), PLACES(A(H_MW, 0, 4)) },
	{ IOCTL(9, 0), other_destroy },
	{ IOCTL(10, 0), PLACES(A(H_XRCD, 0, 4)) },
	{ IOCTL(11, 0), other_destroy },
	{ IOCTL(12, 1), PLACES(A(H_WQ, 0, 4)) },
	{ IOCTL(13, 1), other_destroy },
	{ IOCTL(14, 1), other_destroy },
	{ IOCTL(15, 1), other_destroy },
	{ UCM(0), PLACES(F(PORT_SPACE, rdma_ucm_create_id, ps), F(QP_TYPE, rdma_ucm_create_id, qp_type)) },
	{ UCM(1), cm_destroy_id },
	{ UCM(2), PLACES(F(CM_ID, rdma_ucm_bind_ip, id), F(SRC, rdma_ucm_bind_ip, addr)) },
	{ UCM(3), PLACES(F(CM_ID, rdma_ucm_resolve_ip, id), F(SRC, rdma_ucm_resolve_ip, src_addr),
		F(DST, rdma_ucm_resolve_ip, dst_addr)) },
	{ UCM(4), PLACES(F(CM_ID, rdma_ucm_resolve_route, id)) },
	{ UCM(5), cm_query },
	{ UCM(6), PLACES(F(CM_ID, rdma_ucm_connect, id), F(PRIVATE_LEN, rdma_ucm_connect, conn_param.private_data_len),
		F(DEST_QPN, rdma_ucm_connect, conn_param.qp_num)) },
	{ UCM(7), PLACES(F(CM_ID, rdma_ucm_listen, id), F(BACKLOG, rdma_ucm_listen, backlog)) },
	{ UCM(8), PLACES(F(CM_ID, rdma_ucm_accept, id), F(PRIVATE_LEN, rdma_ucm_accept, conn_param.private_data_len)) },
	{ UCM(9), PLACES(F(CM_ID, rdma_ucm_reject, id), F(PRIVATE_LEN, rdma_ucm_reject, private_data_len),
		F(REASON, rdma_ucm_reject, reason)) },
	{ UCM(10), PLACES(F(CM_ID, rdma_ucm_disconnect, id)) },
	{ UCM(11), PLACES(F(CM_ID, rdma_ucm_init_qp_attr, id), F(STATE, rdma_ucm_init_qp_attr, qp_state)) },
	{ UCM(14), PLACES(F(CM_ID, rdma_ucm_set_option, id), F(OPTION_LEVEL, rdma_ucm_set_option, level),
		F(OPTION, rdma_ucm_set_option, optname)) },
	{ UCM(15), PLACES(F(CM_ID, rdma_ucm_notify, id), F(EVENT, rdma_ucm_notify, event)) },
	{ UCM(16), PLACES(F(CM_ID, rdma_ucm_join_ip_mcast, id), F(DST, rdma_ucm_join_ip_mcast, addr)) },
	{ UCM(17), cm_destroy_id },
	{ UCM(18), PLACES(F(CM_ID, rdma_ucm_migrate_id, id), F(FD, rdma_ucm_migrate_id, fd)) },
	{ UCM(19), cm_query },
	{ UCM(20), PLACES(F(CM_ID, rdma_ucm_bind, id), F(SRC, rdma_ucm_bind, addr),
		F(ADDR_SIZE, rdma_ucm_bind, addr_size)) },
	{ UCM(21), PLACES(F(CM_ID, rdma_ucm_resolve_addr, id), F(SRC, rdma_ucm_resolve_addr, src_addr),
		F(DST, rdma_ucm_resolve_addr, dst_addr)) },
	{ UCM(22), PLACES(F(CM_ID, rdma_ucm_join_mcast, id), F(DST, rdma_ucm_join_mcast, addr),
		F(JOIN_FLAGS, rdma_ucm_join_mcast, join_flags), F(ADDR_SIZE, rdma_ucm_join_mcast, addr_size)) },
};
/* clang-format on */

static const struct rd_req_place *find_layout(uint64_t key)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(layouts); i++)
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
	if (i < RD_ARRAY_SIZE(layouts))
		*key = layouts[i].key;
	return i < RD_ARRAY_SIZE(layouts);
}

#define ATTR_INLINE 8 /* longer data is behind a pointer */

/* The copied request, checked against its size. */
struct copy {
	struct rd_rec_request req;
	bool ioctl;	     /* attributes, else a command */
	const uint8_t *data; /* of the command */
	size_t size;
};

static bool check_copy(const void *data, size_t size, struct rd_rec_request *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (size > sizeof(*ret))
		size = sizeof(*ret);
	if (size < offsetof(struct rd_rec_request, attrs))
		return false;
	memcpy(ret, data, size);
	if (ret->n_raw) {
		ret->n_attrs = ret->n_blocks = 0; /* they share the place of the raw bytes */
		return ret->n_raw <= RD_REQUEST_RAW && size >= offsetof(struct rd_rec_request, raw) + ret->n_raw;
	}
	return ret->n_attrs <= RD_REQUEST_ATTRS && ret->n_blocks <= RD_REQUEST_BLOCKS &&
	       size >= offsetof(struct rd_rec_request, attrs) + ret->n_attrs * sizeof(ret->attrs[0]) &&
	       (!ret->n_blocks ||
		size >= offsetof(struct rd_rec_request, blocks) + ret->n_blocks * sizeof(ret->blocks[0]));
}

/* Where the bytes of a place of an ioctl are, and how many. */
static const uint8_t *attr_bytes(const struct copy *c, const struct rd_req_place *place, size_t *ret)
{
	for (size_t i = 0; i < c->req.n_attrs; i++) {
		const struct rd_rec_attr *attr = &c->req.attrs[i];

		if (attr->id != place->at)
			continue;
		if (!place->pointed && attr->len <= ATTR_INLINE) {
			/* A handle or a descriptor has no length. */
			*ret = attr->len ? attr->len : sizeof(attr->data);
			return (const uint8_t *)&attr->data;
		}
		for (size_t b = 0; place->pointed && b < c->req.n_blocks; b++) {
			const struct rd_rec_block *block = &c->req.blocks[b];

			if (block->attr != i || block->len > RD_REQUEST_BLOCK)
				continue;
			*ret = block->len - place->in;
			return block->len < place->in ? NULL : block->bytes + place->in;
		}
		return NULL;
	}
	return NULL;
}

static void take_address(const uint8_t *bytes, size_t size, struct rd_req_address *ret)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	sa_family_t family;

	if (size < sizeof(in6))
		return;
	memcpy(&family, bytes, sizeof(family));
	memcpy(&in, bytes, sizeof(in));
	memcpy(&in6, bytes, sizeof(in6));
	ret->known = true;
	ret->family = family;
	if (family == AF_INET) {
		ret->port = ntohs(in.sin_port);
		memcpy(ret->addr, &in.sin_addr, 4);
	} else if (family == AF_INET6) {
		ret->port = ntohs(in6.sin6_port);
		memcpy(ret->addr, &in6.sin6_addr, 16);
		ret->scope_id = in6.sin6_scope_id;
	}
}

static void take_place(const struct copy *c, const struct rd_req_place *place, struct rd_request *ret)
{
	size_t size = c->data && place->at < c->size ? c->size - place->at : 0;
	const uint8_t *bytes = c->ioctl ? attr_bytes(c, place, &size) : size ? c->data + place->at : NULL;
	uint64_t v = 0;

	if (!bytes)
		return;
	switch (place->field) {
	case RD_REQ_GID:
		ret->has_gid = size >= sizeof(ret->gid);
		if (ret->has_gid)
			memcpy(ret->gid, bytes, sizeof(ret->gid));
		return;
	case RD_REQ_SRC:
		take_address(bytes, size, &ret->src);
		return;
	case RD_REQ_DST:
		take_address(bytes, size, &ret->dst);
		return;
	default:
		break;
	}
	/* An ioctl may pass a shorter number than the kernel has; the rest is 0. */
	if (c->ioctl && !place->pointed && size < place->size)
		memcpy(&v, bytes, size);
	else if (size >= place->size && place->size <= sizeof(v))
		memcpy(&v, bytes, place->size);
	else
		return;
	ret->v[place->field] = v;
	ret->known[place->field] = true;
}

void rd_request_decode(uint64_t key, const struct rd_fnset *set, const void *data, size_t size, struct rd_request *ret)
{
	const struct rd_req_place *places = rd_request_layout(key, set);
	struct copy c = { 0 };

	memset(ret, 0, sizeof(*ret));
	if (!places || !check_copy(data, size, &c.req))
		return;
	c.ioctl = key >> 32 == RD_VERB_IOCTL;
	if (key >> 32 == RD_VERB_INVOKE_WRITE) {
		const struct rd_rec_block *block = c.req.n_blocks ? &c.req.blocks[0] : NULL;

		c.data = block && block->len <= RD_REQUEST_BLOCK ? block->bytes : NULL;
		c.size = c.data ? block->len : 0;
		/* Data of at most eight bytes stands in the attribute itself: the command has the id 0. */
		for (size_t i = 0; !c.data && i < c.req.n_attrs; i++)
			if (!c.req.attrs[i].id && c.req.attrs[i].len <= ATTR_INLINE) {
				c.data = (const uint8_t *)&c.req.attrs[i].data;
				c.size = c.req.attrs[i].len;
			}
	} else if (!c.ioctl) {
		c.data = c.req.raw;
		c.size = c.req.n_raw;
	}
	ret->readable = c.ioctl ? c.req.n_attrs : c.size;
	for (; places->size; places++)
		take_place(&c, places, ret);
}

/* include/linux/mm.h */
#define VM_WRITE 0x2
#define VM_SHARED 0x8
#define VM_UFFD 0x1200
#define VM_GUARD 0x800
#define VM_NORESERVE 0x200000
#ifdef __x86_64__
#define PKEY_OF(flags) ((flags) >> 32 & 15)
#else
#define PKEY_OF(flags) 0 /* the bits have other meanings there */
#endif

static void take_mapping(const struct rd_rec_mapping *rec, uint64_t page, struct rd_mapping *ret)
{
	if (rec->what > RD_MAPPING_OTHER)
		return;
	*ret = (struct rd_mapping){
		.kind = rec->what,
		.at = rec->at,
		.start = rec->start,
		.end = rec->end,
		.writable = rec->flags & VM_WRITE,
		.shared = rec->flags & VM_SHARED,
		.reserved = !(rec->flags & VM_NORESERVE),
		.watched = rec->flags & VM_UFFD,
		.guarded = rec->flags & VM_GUARD,
		.others = rec->others,
		.key = PKEY_OF(rec->flags),
		.has_file = rec->mode,
		.mode = rec->mode,
		.file_size = rec->file_size,
		.inode = rec->inode,
		.magic = rec->magic,
		.rdev = rec->rdev,
		.block = rec->block,
	};
	/* The sum of the processors' parts may be below 0 or beyond the limit. */
	if (rec->fs_blocks && rec->fs_blocks < UINT64_MAX / page) {
		RD_SET(ret->fs_size, rec->fs_blocks * page);
		RD_SET(ret->fs_used, (int64_t)rec->fs_used < 0	   ? 0 :
				     rec->fs_used < rec->fs_blocks ? rec->fs_used * page :
								     ret->fs_size.v);
	}
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)sizeof(rec->name), rec->name);
}

void rd_moment_decode(const void *data, struct rd_moment *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE); /* records are of this host */
	struct rd_rec_moment rec;

	memcpy(&rec, data, sizeof(rec));
	memset(ret, 0, sizeof(*ret));
	ret->page_size = page;
	ret->started_ns = rec.started;
	if (rec.known & RD_MOMENT_LIMITS) {
		RD_SET(ret->memlock, rec.memlock);
		RD_SET(ret->nofile, rec.nofile);
	}
	if (rec.known & RD_MOMENT_MEMORY && rec.pinned < UINT64_MAX / page && rec.locked < UINT64_MAX / page) {
		RD_SET(ret->pinned, rec.pinned * page);
		RD_SET(ret->locked, rec.locked * page);
	}
	if (rec.known & RD_MOMENT_CREDS) {
		RD_SET(ret->caps, rec.caps);
		RD_SET(ret->user_ns_level, rec.user_ns_level);
	}
	if (rec.known & RD_MOMENT_NET)
		RD_SET(ret->net_ns, rec.net_ns);
	if (rec.known & RD_MOMENT_FILES)
		RD_SET(ret->next_fd, rec.next_fd);
	if (rec.known & RD_MOMENT_QP) {
		ret->qp.known = true;
		ret->qp.cur = rec.qp_cur;
		ret->qp.next = rec.qp_next;
		ret->qp.type = rec.qp_type;
		ret->qp.mask = rec.qp_mask;
	}
	if (rec.known & RD_MOMENT_CM)
		RD_SET(ret->cm_state, rec.cm_state);
	ret->fd_known = rec.fd_what == RD_CALLER_FD_OPEN   ? RD_OK :
			rec.fd_what == RD_CALLER_FD_CLOSED ? RD_ABSENT :
							     RD_DENIED;
	snprintf(ret->fd_name, sizeof(ret->fd_name), "%.*s", (int)sizeof(rec.fd_name), rec.fd_name);
	ret->mapped_all = rec.mapped == RD_MAPPED_ALL;
	ret->mapped_in_part = rec.mapped == RD_MAPPED_MORE;
	take_mapping(&rec.fault, ret->page_size, &ret->fault);
	take_mapping(&rec.special, ret->page_size, &ret->special);
	if (rec.response_what == RD_MAPPING_HOLE || rec.response_what == RD_MAPPING_READ_ONLY) {
		ret->response.kind = rec.response_what;
		ret->response.at = rec.response;
	}
	for (size_t i = 0; i < rec.n_handles && i < RD_MOMENT_HANDLES; i++) {
		const struct rd_rec_handle *from = &rec.handles[i];
		struct rd_moment_handle *to = &ret->handles[ret->n_handles++];

		*to = (struct rd_moment_handle){
			.handle = from->handle,
			.looked_up = from->flags & RD_HANDLE_LOOKED_UP,
			.found = from->flags & RD_HANDLE_FOUND,
			.locked = from->flags & RD_HANDLE_LOCKED,
			.type = from->type,
		};
		if (from->flags & RD_HANDLE_NUMBER)
			RD_SET(to->number, from->number);
		if (from->flags & RD_HANDLE_USERS)
			RD_SET(to->users, from->users);
		if (from->flags & RD_HANDLE_PORT)
			RD_SET(to->port, from->port);
		if (from->flags & RD_HANDLE_DETAIL && from->type == RD_OBJ_QP)
			RD_SET(to->qp_type, from->detail);
	}
}

#define DEVICES_MAX 1024 /* including removed ones */
#define REREAD_NS 1000000000ull

#define UVERBS_CLASS "/sys/class/infiniband_verbs"

struct device {
	uint32_t dev;
	char ibdev[64];
};

struct rd_trace_facts {
	struct rd_source *src;
	struct rd_cgroups *cgroups;
	struct device *devices; /* the latest name of each device number */
	size_t n_devices, cap_devices;
	uint64_t devices_read_ns; /* CLOCK_MONOTONIC; 0: never */
};

struct rd_trace_facts *rd_trace_facts_create(struct rd_source *src)
{
	struct rd_trace_facts *facts = rd_alloc(1, sizeof(*facts));

	facts->src = src;
	facts->cgroups = rd_cgroups_create(src);
	return facts;
}

void rd_trace_facts_destroy(struct rd_trace_facts *facts)
{
	if (!facts)
		return;
	rd_cgroups_destroy(facts->cgroups);
	RD_FREE(facts->devices, facts);
}

static void keep_device(struct rd_trace_facts *facts, uint32_t dev, const char *ibdev)
{
	struct device *d = NULL;

	for (size_t i = 0; i < facts->n_devices && !d; i++)
		if (facts->devices[i].dev == dev)
			d = &facts->devices[i];
	if (!d) {
		if (facts->n_devices == DEVICES_MAX)
			return;
		d = RD_ADD(facts->devices, facts->n_devices, facts->cap_devices);
		d->dev = dev;
	}
	snprintf(d->ibdev, sizeof(d->ibdev), "%s", ibdev);
}

/* Ignores devices that are not readable; they are shown without a name. */
static void read_devices(struct rd_trace_facts *facts)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	uint64_t now = facts->src->ops->now(facts->src, CLOCK_MONOTONIC);

	if (facts->devices_read_ns && now - facts->devices_read_ns < REREAD_NS)
		return;
	facts->devices_read_ns = now;
	if (rd_list_dir(facts->src, UVERBS_CLASS, &names, NULL))
		return;
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_free_ char *number = NULL, *ibdev = NULL;
		const char *at;
		uint32_t major, minor;

		if (strncmp(names.v[i], "uverbs", 6) ||
		    rd_read_textf(facts->src, &number, NULL, UVERBS_CLASS "/%s/dev", names.v[i]) ||
		    rd_read_textf(facts->src, &ibdev, NULL, UVERBS_CLASS "/%s/ibdev", names.v[i]))
			continue;
		at = number;
		if (rd_take_u32(&at, RD_DECIMAL, (1 << 12) - 1, &major) == 0 && *at++ == ':' &&
		    rd_parse_u32(at, RD_DECIMAL, (1 << 20) - 1, &minor) == 0)
			keep_device(facts, major << 20 | minor, ibdev);
	}
}

const char *rd_trace_facts_ibdev(struct rd_trace_facts *facts, uint32_t dev)
{
	if (!dev)
		return NULL;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < facts->n_devices; i++)
			if (facts->devices[i].dev == dev)
				return facts->devices[i].ibdev;
		if (!pass)
			read_devices(facts);
	}
	return NULL;
}

uint32_t rd_trace_facts_dev(struct rd_trace_facts *facts, const char *ibdev)
{
	read_devices(facts);
	for (size_t i = 0; i < facts->n_devices; i++)
		if (!strcmp(facts->devices[i].ibdev, ibdev))
			return facts->devices[i].dev;
	return 0;
}

void rd_trace_facts_list(struct rd_trace_facts *facts, char *buf, size_t size)
{
	size_t len = 0;

	read_devices(facts);
	snprintf(buf, size, "%s", facts->n_devices ? "" : "none");
	for (size_t i = 0; i < facts->n_devices && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s", i ? ", " : "", facts->devices[i].ibdev);
}

int rd_trace_facts_cgroup(struct rd_trace_facts *facts, const char *path, uint64_t *ret, struct rd_err *err)
{
	return rd_cgroups_id(facts->cgroups, path, ret, err);
}

static int fn_id(uint32_t fn, size_t n_fns)
{
	return fn < n_fns ? (int)fn : -1;
}

/* A stack that is longer than what follows is cut off there. */
static struct rd_rec_user *copy_user(const uint8_t *at, const uint8_t *end)
{
	struct rd_rec_user head, *user;
	size_t room = (size_t)(end - at) - sizeof(head);

	memcpy(&head, at, sizeof(head));
	head.size = head.size < room ? head.size : (uint32_t)room;
	user = rd_alloc(1, sizeof(head) + head.size);
	*user = head;
	memcpy(user + 1, at + sizeof(head), head.size);
	return user;
}

/* What follows the fixed part: sizes in bytes. */
struct parts {
	size_t chain, kstack, moment, request, user;
};

static struct parts parts_of(const struct rd_rec *rec)
{
	return (struct parts){
		.chain = rec->n_chain * sizeof(rec->chain[0]),
		.kstack = rec->n_kstack * sizeof(uint64_t),
		.moment = rec->n_moment ? sizeof(struct rd_rec_moment) : 0,
		.request = rec->n_request,
		.user = rec->n_user ? sizeof(struct rd_rec_user) : 0,
	};
}

/* Copies the fixed part and checks all counts against the size of the record. */
static int check_record(const void *data, size_t size, struct rd_rec *rec, struct rd_err *err)
{
	const size_t fixed = offsetof(struct rd_rec, chain);
	struct parts parts;

	memset(rec, 0, sizeof(*rec));
	if (size < fixed)
		return rd_err_set(err, EBADMSG, "event record", "%zu bytes, expected at least %zu", size, fixed);
	memcpy(rec, data, fixed);
	parts = parts_of(rec);
	if (rec->n_chain > RD_CHAIN_SLOTS || rec->n_kstack > RD_STACK_MAX ||
	    size < fixed + parts.chain + parts.kstack + parts.moment + parts.request + parts.user)
		return rd_err_set(err, EBADMSG, "event record",
				  "%u functions, %u stack frames and %u bytes of the request do not fit into %zu bytes",
				  rec->n_chain, rec->n_kstack, rec->n_request, size);
	if (rec->err >= 0)
		return rd_err_set(err, EBADMSG, "event record", "invalid errno %d", rec->err);
	memcpy(rec->chain, (const uint8_t *)data + fixed, rec->n_chain * sizeof(rec->chain[0]));
	return 0;
}

int rd_trace_event_decode(struct rd_trace_facts *facts, const void *data, size_t size, const struct rd_fnset *set,
			  struct rd_event *ret, struct rd_err *err)
{
	const struct rd_source_ops *ops = facts->src->ops;
	struct rd_event ev = { 0 };
	struct parts parts;
	const uint8_t *at;
	struct rd_rec rec;
	const char *ibdev;
	int r = check_record(data, size, &rec, err);

	if (r)
		return r;
	ev.pid = rec.pid;
	ev.tid = rec.tid;
	ev.uid = rec.uid;
	snprintf(ev.comm, sizeof(ev.comm), "%.*s", (int)sizeof(rec.comm), rec.comm);
	ev.verb_key = rec.verb;
	ev.num_attrs = rec.num_attrs;
	ev.dev = rec.dev;
	ev.cgroup_id = rec.cgroup;
	ev.err = rec.err;
	ev.root = fn_id(rec.root, set->n_fns);
	ev.origin = fn_id(rec.origin, set->n_fns);
	ev.chain_id = rec.chain_id;
	ev.dropped = rec.dropped;
	/* 0: no number assigned yet; queue pair 0 itself belongs to the kernel. */
	if (rec.flags & RD_REC_QPN && rec.qpn)
		RD_SET(ev.qpn, rec.qpn);
	if (rec.flags & RD_REC_PORT)
		RD_SET(ev.port, rec.port);
	ev.time_ns = ops->now(facts->src, CLOCK_REALTIME) - ops->now(facts->src, CLOCK_MONOTONIC) + rec.time;
	ev.at_ns = rec.time;
	parts = parts_of(&rec);
	at = (const uint8_t *)data + offsetof(struct rd_rec, chain) + parts.chain;
	ev.chain = rd_alloc(rec.n_chain + 1u, sizeof(*ev.chain));
	ev.n_chain = rec.n_chain;
	for (size_t i = 0; i < ev.n_chain; i++)
		ev.chain[i] = (struct rd_link){
			.fn = fn_id(rec.chain[i].fn, set->n_fns),
			.err = rec.chain[i].err,
			.branch = rec.chain[i].flags & RD_LINK_BRANCH,
		};
	ev.kstack = rd_alloc(rec.n_kstack + 1u, sizeof(*ev.kstack));
	ev.n_kstack = rec.n_kstack;
	for (size_t i = 0; i < ev.n_kstack; i++)
		memcpy(&ev.kstack[i].addr, at + i * sizeof(uint64_t), sizeof(uint64_t));
	at += parts.kstack;
	if (parts.moment)
		rd_moment_decode(at, &ev.moment);
	rd_request_decode(rec.verb, set, at + parts.moment, parts.request, &ev.request);
	if (parts.user)
		ev.user = copy_user(at + parts.moment + parts.request, (const uint8_t *)data + size);
	ev.ibdev = *rec.ibdev ? rd_dup_part(rec.ibdev, sizeof(rec.ibdev)) : NULL;
	if (!ev.ibdev && (ibdev = rd_trace_facts_ibdev(facts, rec.dev)))
		ev.ibdev = rd_dup(ibdev);
	ev.cgroup = rd_cgroups_path(facts->cgroups, rec.pid, rec.cgroup);
	*ret = ev;
	return 0;
}
