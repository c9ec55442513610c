/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests as the kernel's own headers lay them out, in each of the ways a program can pass them. */
#include "unit.h"

#include "request-bytes.h"

#include <arpa/inet.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

/* The method to register memory by an ioctl is younger than many headers (Linux 6.17): enum uverbs_attrs_reg_mr_cmd_attr_ids. */
enum {
	METHOD_REG_MR = UVERBS_METHOD_REG_DMABUF_MR + 1,
	REG_MR_HANDLE = 0,
	REG_MR_PD_HANDLE,
	REG_MR_DMA_HANDLE,
	REG_MR_IOVA,
	REG_MR_ADDR,
	REG_MR_LENGTH,
	REG_MR_ACCESS_FLAGS,
	REG_MR_FD,
};

static uint64_t ioctl_key(uint16_t object, uint16_t method)
{
	return RD_VERB(RD_VERB_IOCTL, (uint32_t)object << 16 | method);
}

static struct rd_request decode_ioctl(uint64_t key, const struct rd_rec_request *req)
{
	return request_decode(key, req,
			      offsetof(struct rd_rec_request, blocks) + req->n_blocks * sizeof(req->blocks[0]));
}

static void add_attr(struct rd_rec_request *req, uint16_t id, uint16_t len, uint64_t data)
{
	req->attrs[req->n_attrs++] = (struct rd_rec_attr){ id, len, UVERBS_ATTR_F_MANDATORY, 0, data };
}

/* A handle or descriptor has no length. */
static void add_handle(struct rd_rec_request *req, uint16_t id, uint32_t handle)
{
	add_attr(req, id, 0, handle);
}

static void add_struct(struct rd_rec_request *req, uint16_t id, const void *data, size_t size)
{
	struct rd_rec_block *block = &req->blocks[req->n_blocks];

	if (size <= 8) {
		uint64_t value = 0;

		memcpy(&value, data, size);
		add_attr(req, id, size, value);
		return;
	}
	block->attr = req->n_attrs;
	block->len = size < RD_REQUEST_BLOCK ? size : RD_REQUEST_BLOCK;
	memcpy(block->bytes, data, block->len);
	add_attr(req, id, size, 0x7ffc00001000);
	req->n_blocks++;
}

/* As libibverbs passes a command by ioctl. */
static struct rd_request by_invoke_write(uint32_t number, const void *cmd, size_t size)
{
	struct rd_rec_request req = { 0 };

	add_struct(&req, UVERBS_ATTR_CORE_IN, cmd, size);
	add_attr(&req, UVERBS_ATTR_CORE_OUT, 12, 0x7ffc00002000);
	add_attr(&req, UVERBS_ATTR_WRITE_CMD, 8, number);
	return decode_ioctl(RD_VERB(RD_VERB_INVOKE_WRITE, number), &req);
}

static struct rd_request by_write(const char *handler, const void *cmd, size_t size)
{
	int fn = rd_fnset_find(&request_set, handler);

	assert_true(fn >= 0);
	return request_raw(RD_VERB(RD_VERB_WRITE, fn), cmd, size);
}

#define BY_COMMAND(number, cmd) by_invoke_write(IB_USER_VERBS_CMD_##number, &(cmd), sizeof(cmd))
#define BY_EXTENDED(number, cmd) \
	by_invoke_write(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##number, &(cmd), sizeof(cmd))

TEST(memory_is_registered_by_each_interface_alike)
{
	const struct ib_uverbs_reg_mr cmd = { .response = 1,
					      .start = 0x7f0012345678,
					      .length = 1ull << 33,
					      .hca_va = 0x1000,
					      .pd_handle = 2,
					      .access_flags = 7 };
	const struct request_field expected[] = { { RD_REQ_ADDRESS, 0x7f0012345678 },
						  { RD_REQ_LENGTH, 1ull << 33 },
						  { RD_REQ_IOVA, 0x1000 },
						  { RD_REQ_H_PD, 2 },
						  { RD_REQ_ACCESS, 7 },
						  REQUEST_END };
	struct rd_rec_request req = { 0 };

	request_assert(BY_COMMAND(REG_MR, cmd), expected);
	request_assert(by_write("ib_uverbs_reg_mr", &cmd, sizeof(cmd)), expected);
	add_handle(&req, REG_MR_HANDLE, 0);
	add_handle(&req, REG_MR_PD_HANDLE, cmd.pd_handle);
	add_handle(&req, REG_MR_DMA_HANDLE, 77);
	add_attr(&req, REG_MR_IOVA, 8, cmd.hca_va);
	add_attr(&req, REG_MR_ADDR, 8, cmd.start);
	add_attr(&req, REG_MR_LENGTH, 8, cmd.length);
	add_attr(&req, REG_MR_ACCESS_FLAGS, 4, cmd.access_flags);
	request_assert(decode_ioctl(ioctl_key(UVERBS_OBJECT_MR, METHOD_REG_MR), &req), expected);
}

TEST(memory_of_a_device_is_registered_by_descriptor)
{
	struct rd_rec_request req = { 0 };

	add_handle(&req, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0);
	add_handle(&req, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 2);
	add_attr(&req, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, 4096);
	add_attr(&req, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 8192);
	add_attr(&req, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, 0x10000);
	add_attr(&req, UVERBS_ATTR_REG_DMABUF_MR_FD, 0, 17);
	add_attr(&req, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, 15);
	add_attr(&req, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, 0x7ffc00003000);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR), &req), { RD_REQ_H_PD, 2 },
		      { RD_REQ_LENGTH, 8192 }, { RD_REQ_IOVA, 0x10000 }, { RD_REQ_FD, 17 }, { RD_REQ_ACCESS, 15 });
	req = (struct rd_rec_request){ 0 };
	add_handle(&req, REG_MR_PD_HANDLE, 2);
	add_attr(&req, REG_MR_LENGTH, 8, 8192);
	add_attr(&req, REG_MR_FD, 0, 17);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_MR, METHOD_REG_MR), &req), { RD_REQ_H_PD, 2 },
		      { RD_REQ_LENGTH, 8192 }, { RD_REQ_FD, 17 });
}

TEST(regions_and_windows)
{
	const struct ib_uverbs_rereg_mr rereg = { .response = 1,
						  .mr_handle = 3,
						  .flags = 5,
						  .start = 0x2000,
						  .length = 100,
						  .hca_va = 0x3000,
						  .pd_handle = 4,
						  .access_flags = 6 };
	const struct ib_uverbs_alloc_mw alloc = { .response = 1, .pd_handle = 3, .mw_type = 2 };
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(REREG_MR, rereg), { RD_REQ_H_MR, 3 }, { RD_REQ_REREG, 5 }, { RD_REQ_ADDRESS, 0x2000 },
		      { RD_REQ_LENGTH, 100 }, { RD_REQ_IOVA, 0x3000 }, { RD_REQ_H_PD, 4 }, { RD_REQ_ACCESS, 6 });
	ASSERT_FIELDS(BY_COMMAND(ALLOC_MW, alloc), { RD_REQ_H_PD, 3 }, { RD_REQ_MW_TYPE, 2 });
	add_handle(&req, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 9);
	add_attr(&req, UVERBS_ATTR_ADVISE_MR_ADVICE, 8, 1);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR), &req), { RD_REQ_H_PD, 9 });
}

TEST(completion_queues)
{
	const struct ib_uverbs_create_cq create = {
		.response = 1, .user_handle = 2, .cqe = 256, .comp_vector = 3, .comp_channel = 12
	};
	const struct ib_uverbs_ex_create_cq ex = {
		.user_handle = 2, .cqe = 257, .comp_vector = 4, .comp_channel = -1, .comp_mask = 5, .flags = 2
	};
	const struct ib_uverbs_req_notify_cq notify = { .cq_handle = 9, .solicited_only = 1 };
	const struct ib_uverbs_resize_cq resize = { .response = 1, .cq_handle = 8, .cqe = 1024 };
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(CREATE_CQ, create), { RD_REQ_CQE, 256 }, { RD_REQ_COMP_VECTOR, 3 }, { RD_REQ_FD, 12 });
	ASSERT_FIELDS(BY_EXTENDED(CREATE_CQ, ex), { RD_REQ_CQE, 257 }, { RD_REQ_COMP_VECTOR, 4 },
		      { RD_REQ_FD, 0xffffffff }, { RD_REQ_FLAGS, 2 });
	ASSERT_FIELDS(BY_COMMAND(REQ_NOTIFY_CQ, notify), { RD_REQ_H_CQ, 9 });
	ASSERT_FIELDS(BY_COMMAND(RESIZE_CQ, resize), { RD_REQ_H_CQ, 8 }, { RD_REQ_CQE, 1024 });
	add_handle(&req, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_CQE, 4, 258);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 0x7f0000000000);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 63);
	add_handle(&req, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 12);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 1);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE), &req), { RD_REQ_CQE, 258 },
		      { RD_REQ_COMP_VECTOR, 63 }, { RD_REQ_FD, 12 }, { RD_REQ_FLAGS, 1 });
}

TEST(shared_receive_queues)
{
	const struct ib_uverbs_create_srq create = {
		.response = 1, .user_handle = 2, .pd_handle = 3, .max_wr = 4, .max_sge = 5, .srq_limit = 6
	};
	const struct ib_uverbs_create_xsrq xsrq = { .response = 1,
						    .user_handle = 2,
						    .srq_type = 1,
						    .pd_handle = 3,
						    .max_wr = 4,
						    .max_sge = 5,
						    .srq_limit = 6,
						    .xrcd_handle = 7,
						    .cq_handle = 8 };
	const struct ib_uverbs_modify_srq modify = { .srq_handle = 2, .attr_mask = 3, .max_wr = 100, .srq_limit = 50 };
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(CREATE_SRQ, create), { RD_REQ_H_PD, 3 }, { RD_REQ_SRQ_WR, 4 }, { RD_REQ_SRQ_SGE, 5 },
		      { RD_REQ_SRQ_LIMIT, 6 });
	ASSERT_FIELDS(BY_COMMAND(CREATE_XSRQ, xsrq), { RD_REQ_H_PD, 3 }, { RD_REQ_SRQ_WR, 4 }, { RD_REQ_SRQ_SGE, 5 },
		      { RD_REQ_SRQ_LIMIT, 6 }, { RD_REQ_H_XRCD, 7 }, { RD_REQ_H_CQ, 8 }, { RD_REQ_SRQ_TYPE, 1 });
	ASSERT_FIELDS(BY_COMMAND(MODIFY_SRQ, modify), { RD_REQ_H_SRQ, 2 }, { RD_REQ_SRQ_MASK, 3 },
		      { RD_REQ_SRQ_WR, 100 }, { RD_REQ_SRQ_LIMIT, 50 });
	add_handle(&req, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0);
	add_handle(&req, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 3);
	add_handle(&req, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, 7);
	add_handle(&req, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 8);
	add_attr(&req, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 9);
	add_attr(&req, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, 10);
	add_attr(&req, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 11);
	add_attr(&req, UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 12);
	add_attr(&req, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 4, 13);
	add_attr(&req, UVERBS_ATTR_CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_TM);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE), &req), { RD_REQ_H_PD, 3 },
		      { RD_REQ_H_XRCD, 7 }, { RD_REQ_H_CQ, 8 }, { RD_REQ_SRQ_WR, 10 }, { RD_REQ_SRQ_SGE, 11 },
		      { RD_REQ_SRQ_LIMIT, 12 }, { RD_REQ_SRQ_TYPE, IB_UVERBS_SRQT_TM });
}

TEST(a_queue_pair_is_created_by_each_interface)
{
	const struct ib_uverbs_create_qp cmd = { .response = 1,
						 .user_handle = 2,
						 .pd_handle = 3,
						 .send_cq_handle = 4,
						 .recv_cq_handle = 5,
						 .srq_handle = 6,
						 .max_send_wr = 7,
						 .max_recv_wr = 8,
						 .max_send_sge = 9,
						 .max_recv_sge = 10,
						 .max_inline_data = 11,
						 .sq_sig_all = 1,
						 .qp_type = IB_UVERBS_QPT_UD,
						 .is_srq = 1 };
	const struct ib_uverbs_ex_create_qp ex = { .user_handle = 2,
						   .pd_handle = 3,
						   .send_cq_handle = 4,
						   .recv_cq_handle = 5,
						   .srq_handle = 6,
						   .max_send_wr = 7,
						   .max_recv_wr = 8,
						   .max_send_sge = 9,
						   .max_recv_sge = 10,
						   .max_inline_data = 11,
						   .sq_sig_all = 1,
						   .qp_type = IB_UVERBS_QPT_UD,
						   .is_srq = 1,
						   .comp_mask = 1,
						   .create_flags = 12 };
	const struct ib_uverbs_qp_cap cap = { 7, 8, 9, 10, 11 };
	struct request_field expected[] = { { RD_REQ_H_PD, 3 },
					    { RD_REQ_H_CQ, 4 },
					    { RD_REQ_H_RECV_CQ, 5 },
					    { RD_REQ_H_SRQ, 6 },
					    { RD_REQ_SEND_WR, 7 },
					    { RD_REQ_RECV_WR, 8 },
					    { RD_REQ_SEND_SGE, 9 },
					    { RD_REQ_RECV_SGE, 10 },
					    { RD_REQ_INLINE, 11 },
					    { RD_REQ_QP_TYPE, 4 },
					    { RD_REQ_IS_SRQ, 1 },
					    REQUEST_END,
					    REQUEST_END };
	struct rd_rec_request req = { 0 };

	request_assert(BY_COMMAND(CREATE_QP, cmd), expected);
	request_assert(by_write("ib_uverbs_create_qp", &cmd, sizeof(cmd)), expected);
	expected[11] = (struct request_field){ RD_REQ_FLAGS, 12 };
	request_assert(BY_EXTENDED(CREATE_QP, ex), expected);
	request_assert(by_write("ib_uverbs_ex_create_qp.isra.0", &ex, sizeof(ex)), expected);
	add_handle(&req, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	add_handle(&req, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 3);
	add_handle(&req, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 6);
	add_handle(&req, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 4);
	add_handle(&req, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 5);
	add_attr(&req, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 0x7f0000000000);
	add_struct(&req, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	add_attr(&req, UVERBS_ATTR_CREATE_QP_TYPE, 8, IB_UVERBS_QPT_UD);
	add_attr(&req, UVERBS_ATTR_CREATE_QP_FLAGS, 4, 13);
	add_struct(&req, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	/* Whether there is a SRQ follows from its handle. */
	expected[10] = (struct request_field){ RD_REQ_FLAGS, 13 };
	expected[11] = (struct request_field)REQUEST_END;
	request_assert(decode_ioctl(ioctl_key(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE), &req), expected);
}

static struct ib_uverbs_modify_qp modify_example(void)
{
	struct ib_uverbs_modify_qp cmd = {
		.dest = { .flow_label = 1,
			  .dlid = 2,
			  .sgid_index = 3,
			  .hop_limit = 4,
			  .traffic_class = 5,
			  .sl = 6,
			  .src_path_bits = 7,
			  .static_rate = 8,
			  .is_global = 1,
			  .port_num = 10 },
		.alt_dest = { .dlid = 11, .sgid_index = 12, .port_num = 13 },
		.qp_handle = 14,
		.attr_mask = 0x12345,
		.qkey = 16,
		.rq_psn = 17,
		.sq_psn = 18,
		.dest_qp_num = 19,
		.qp_access_flags = 20,
		.pkey_index = 0x1516,
		.alt_pkey_index = 0x1617,
		.qp_state = 23,
		.cur_qp_state = 24,
		.path_mtu = 25,
		.path_mig_state = 26,
		.en_sqd_async_notify = 27,
		.max_rd_atomic = 28,
		.max_dest_rd_atomic = 29,
		.min_rnr_timer = 30,
		.port_num = 31,
		.timeout = 32,
		.retry_cnt = 33,
		.rnr_retry = 34,
		.alt_port_num = 35,
		.alt_timeout = 36,
	};

	memset(cmd.alt_dest.dgid, 0xee, sizeof(cmd.alt_dest.dgid));
	inet_pton(AF_INET6, "fe80::1:2", cmd.dest.dgid);
	return cmd;
}

static const struct request_field modified[] = { { RD_REQ_H_QP, 14 },
						 { RD_REQ_MASK, 0x12345 },
						 { RD_REQ_STATE, 23 },
						 { RD_REQ_CUR_STATE, 24 },
						 { RD_REQ_PATH_MTU, 25 },
						 { RD_REQ_QKEY, 16 },
						 { RD_REQ_DEST_QPN, 19 },
						 { RD_REQ_PKEY_INDEX, 0x1516 },
						 { RD_REQ_RD_ATOMIC, 28 },
						 { RD_REQ_DEST_RD_ATOMIC, 29 },
						 { RD_REQ_MIN_RNR_TIMER, 30 },
						 { RD_REQ_TIMEOUT, 32 },
						 { RD_REQ_RETRY_CNT, 33 },
						 { RD_REQ_RNR_RETRY, 34 },
						 { RD_REQ_PORT, 31 },
						 { RD_REQ_QP_ACCESS, 20 },
						 { RD_REQ_ALT_PORT, 35 },
						 { RD_REQ_ALT_TIMEOUT, 36 },
						 { RD_REQ_ALT_PKEY_INDEX, 0x1617 },
						 { RD_REQ_AV_PORT, 10 },
						 { RD_REQ_AV_GLOBAL, 1 },
						 { RD_REQ_SGID_INDEX, 3 },
						 { RD_REQ_DLID, 2 },
						 { RD_REQ_ALT_AV_PORT, 13 },
						 REQUEST_END };

TEST(a_queue_pair_is_modified_with_masks_timeouts_and_path)
{
	const struct ib_uverbs_ex_modify_qp ex = { .base = modify_example(), .rate_limit = 40 };
	const struct ib_uverbs_modify_qp cmd = modify_example();
	struct rd_request r = BY_COMMAND(MODIFY_QP, cmd);

	request_assert(r, modified);
	assert_true(r.has_gid);
	assert_memory_equal(r.gid, cmd.dest.dgid, 16);
	r = BY_EXTENDED(MODIFY_QP, ex);
	request_assert(r, modified);
	assert_memory_equal(r.gid, cmd.dest.dgid, 16);
}

TEST(addresses_and_multicast_groups)
{
	struct ib_uverbs_create_ah ah = {
		.response = 1,
		.user_handle = 2,
		.pd_handle = 3,
		.attr = { .grh = { .flow_label = 4, .sgid_index = 5, .hop_limit = 6 },
			  .dlid = 7,
			  .sl = 8,
			  .is_global = 1,
			  .port_num = 9 },
	};
	struct ib_uverbs_attach_mcast attach = { .qp_handle = 2, .mlid = 0xc001 };
	struct ib_uverbs_detach_mcast detach = { .qp_handle = 3, .mlid = 0xc002 };
	struct rd_request r;

	inet_pton(AF_INET6, "fe80::3", ah.attr.grh.dgid);
	inet_pton(AF_INET6, "ff12::4", attach.gid);
	inet_pton(AF_INET6, "ff12::5", detach.gid);
	r = BY_COMMAND(CREATE_AH, ah);
	ASSERT_FIELDS(r, { RD_REQ_H_PD, 3 }, { RD_REQ_AV_PORT, 9 }, { RD_REQ_AV_GLOBAL, 1 }, { RD_REQ_SGID_INDEX, 5 },
		      { RD_REQ_DLID, 7 });
	assert_memory_equal(r.gid, ah.attr.grh.dgid, 16);
	r = BY_COMMAND(ATTACH_MCAST, attach);
	ASSERT_FIELDS(r, { RD_REQ_H_QP, 2 }, { RD_REQ_MLID, 0xc001 });
	assert_memory_equal(r.gid, attach.gid, 16);
	r = BY_COMMAND(DETACH_MCAST, detach);
	ASSERT_FIELDS(r, { RD_REQ_H_QP, 3 }, { RD_REQ_MLID, 0xc002 });
	assert_memory_equal(r.gid, detach.gid, 16);
}

TEST(what_is_destroyed_is_named_by_its_handle)
{
	const struct ib_uverbs_dereg_mr mr = { .mr_handle = 5 };
	const struct ib_uverbs_dealloc_mw mw = { .mw_handle = 6 };
	const struct ib_uverbs_dealloc_pd pd = { .pd_handle = 7 };
	const struct ib_uverbs_destroy_ah ah = { .ah_handle = 8 };
	const struct ib_uverbs_destroy_qp qp = { .response = 1, .qp_handle = 9, .reserved = 2 };
	const struct ib_uverbs_destroy_cq cq = { .response = 1, .cq_handle = 10 };
	const struct ib_uverbs_destroy_srq srq = { .response = 1, .srq_handle = 11 };
	const struct ib_uverbs_close_xrcd xrcd = { .xrcd_handle = 12 };

	ASSERT_FIELDS(BY_COMMAND(DEREG_MR, mr), { RD_REQ_H_MR, 5 });
	ASSERT_FIELDS(BY_COMMAND(DEALLOC_MW, mw), { RD_REQ_H_MW, 6 });
	ASSERT_FIELDS(BY_COMMAND(DEALLOC_PD, pd), { RD_REQ_H_PD, 7 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_AH, ah), { RD_REQ_H_AH, 8 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_QP, qp), { RD_REQ_H_QP, 9 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_CQ, cq), { RD_REQ_H_CQ, 10 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_SRQ, srq), { RD_REQ_H_SRQ, 11 });
	ASSERT_FIELDS(BY_COMMAND(CLOSE_XRCD, xrcd), { RD_REQ_H_XRCD, 12 });
}

TEST(each_method_that_destroys_names_its_object)
{
	static const struct {
		uint16_t object, method, attr;
		enum rd_req_field field;
	} methods[] = {
		{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, UVERBS_ATTR_DESTROY_PD_HANDLE, RD_REQ_H_PD },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, UVERBS_ATTR_DESTROY_CQ_HANDLE, RD_REQ_H_CQ },
		{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE, RD_REQ_H_QP },
		{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, UVERBS_ATTR_DESTROY_SRQ_HANDLE, RD_REQ_H_SRQ },
		{ UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, UVERBS_ATTR_DESTROY_AH_HANDLE, RD_REQ_H_AH },
		{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, RD_REQ_H_MR },
		{ UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, UVERBS_ATTR_DESTROY_MW_HANDLE, RD_REQ_H_MW },
		{ UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, UVERBS_ATTR_DESTROY_XRCD_HANDLE, RD_REQ_H_XRCD },
		{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, UVERBS_ATTR_DESTROY_WQ_HANDLE, RD_REQ_H_WQ },
		{ UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, UVERBS_ATTR_DESTROY_FLOW_HANDLE, RD_REQ_H_OTHER },
		{ UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE,
		  RD_REQ_H_OTHER },
		{ UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY, UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE,
		  RD_REQ_H_OTHER },
		{ UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, UVERBS_ATTR_FREE_DM_HANDLE, RD_REQ_H_OTHER },
		{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE,
		  RD_REQ_H_OTHER },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(methods); i++) {
		struct rd_rec_request req = { 0 };

		add_handle(&req, methods[i].attr, 0x100 + i);
		ASSERT_FIELDS(decode_ioctl(ioctl_key(methods[i].object, methods[i].method), &req),
			      { methods[i].field, 0x100 + i });
	}
}

TEST(queries_name_port_and_gid)
{
	const struct ib_uverbs_query_port port = { .response = 1, .port_num = 3 };
	const struct ib_uverbs_query_qp qp = { .response = 1, .qp_handle = 4, .attr_mask = 5 };
	const struct ib_uverbs_query_srq srq = { .response = 1, .srq_handle = 6 };
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(QUERY_PORT, port), { RD_REQ_PORT, 3 });
	ASSERT_FIELDS(BY_COMMAND(QUERY_QP, qp), { RD_REQ_H_QP, 4 });
	ASSERT_FIELDS(BY_COMMAND(QUERY_SRQ, srq), { RD_REQ_H_SRQ, 6 });
	add_attr(&req, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 0xff02);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT), &req), { RD_REQ_PORT, 2 });
	req = (struct rd_rec_request){ 0 };
	add_attr(&req, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 4, 1);
	add_attr(&req, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 4, 17);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY), &req),
		      { RD_REQ_PORT, 1 }, { RD_REQ_GID_INDEX, 17 });
}
