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

/* The command ib_uverbs_TYPE with these members. */
#define COMMAND(type, ...) &(const struct ib_uverbs_##type){ __VA_ARGS__ }, sizeof(struct ib_uverbs_##type)
#define BY_COMMAND(number, ...) by_invoke_write(IB_USER_VERBS_CMD_##number, COMMAND(__VA_ARGS__))
#define BY_EXTENDED(number, ...) \
	by_invoke_write(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##number, COMMAND(__VA_ARGS__))
#define BY_WRITE(handler, ...) by_write(handler, COMMAND(__VA_ARGS__))
#define BY_IOCTL(object, method, req) decode_ioctl(ioctl_key(UVERBS_OBJECT_##object, UVERBS_METHOD_##method), req)

TEST(memory_is_registered_by_each_interface_alike)
{
#define REGISTERED                                                                                              \
	reg_mr, .response = 1, .start = 0x7f0012345678, .length = 1ull << 33, .hca_va = 0x1000, .pd_handle = 2, \
		.access_flags = 7
	const struct request_field expected[] = FIELDS({ RD_REQ_ADDRESS, 0x7f0012345678 },
						       { RD_REQ_LENGTH, 1ull << 33 }, { RD_REQ_IOVA, 0x1000 },
						       { RD_REQ_H_PD, 2 }, { RD_REQ_ACCESS, 7 });
	struct rd_rec_request req = { 0 };

	request_assert(BY_COMMAND(REG_MR, REGISTERED), expected);
	request_assert(BY_WRITE("ib_uverbs_reg_mr", REGISTERED), expected);
	add_handle(&req, REG_MR_HANDLE, 0);
	add_handle(&req, REG_MR_PD_HANDLE, 2);
	add_handle(&req, REG_MR_DMA_HANDLE, 77);
	add_attr(&req, REG_MR_IOVA, 8, 0x1000);
	add_attr(&req, REG_MR_ADDR, 8, 0x7f0012345678);
	add_attr(&req, REG_MR_LENGTH, 8, 1ull << 33);
	add_attr(&req, REG_MR_ACCESS_FLAGS, 4, 7);
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
	ASSERT_FIELDS(BY_IOCTL(MR, REG_DMABUF_MR, &req), { RD_REQ_H_PD, 2 }, { RD_REQ_LENGTH, 8192 },
		      { RD_REQ_IOVA, 0x10000 }, { RD_REQ_FD, 17 }, { RD_REQ_ACCESS, 15 });
	req = (struct rd_rec_request){ 0 };
	add_handle(&req, REG_MR_PD_HANDLE, 2);
	add_attr(&req, REG_MR_LENGTH, 8, 8192);
	add_attr(&req, REG_MR_FD, 0, 17);
	ASSERT_FIELDS(decode_ioctl(ioctl_key(UVERBS_OBJECT_MR, METHOD_REG_MR), &req), { RD_REQ_H_PD, 2 },
		      { RD_REQ_LENGTH, 8192 }, { RD_REQ_FD, 17 });
}

TEST(regions_and_windows)
{
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(REREG_MR, rereg_mr, .response = 1, .mr_handle = 3, .flags = 5, .start = 0x2000,
				 .length = 100, .hca_va = 0x3000, .pd_handle = 4, .access_flags = 6),
		      { RD_REQ_H_MR, 3 }, { RD_REQ_REREG, 5 }, { RD_REQ_ADDRESS, 0x2000 }, { RD_REQ_LENGTH, 100 },
		      { RD_REQ_IOVA, 0x3000 }, { RD_REQ_H_PD, 4 }, { RD_REQ_ACCESS, 6 });
	ASSERT_FIELDS(BY_COMMAND(ALLOC_MW, alloc_mw, .response = 1, .pd_handle = 3, .mw_type = 2), { RD_REQ_H_PD, 3 },
		      { RD_REQ_MW_TYPE, 2 });
	add_handle(&req, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 9);
	add_attr(&req, UVERBS_ATTR_ADVISE_MR_ADVICE, 8, 1);
	ASSERT_FIELDS(BY_IOCTL(MR, ADVISE_MR, &req), { RD_REQ_H_PD, 9 });
}

TEST(completion_queues)
{
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(CREATE_CQ, create_cq, .response = 1, .user_handle = 2, .cqe = 256, .comp_vector = 3,
				 .comp_channel = 12),
		      { RD_REQ_CQE, 256 }, { RD_REQ_COMP_VECTOR, 3 }, { RD_REQ_FD, 12 });
	ASSERT_FIELDS(BY_EXTENDED(CREATE_CQ, ex_create_cq, .user_handle = 2, .cqe = 257, .comp_vector = 4,
				  .comp_channel = -1, .comp_mask = 5, .flags = 2),
		      { RD_REQ_CQE, 257 }, { RD_REQ_COMP_VECTOR, 4 }, { RD_REQ_FD, 0xffffffff }, { RD_REQ_FLAGS, 2 });
	ASSERT_FIELDS(BY_COMMAND(REQ_NOTIFY_CQ, req_notify_cq, .cq_handle = 9, .solicited_only = 1), { RD_REQ_H_CQ, 9 });
	ASSERT_FIELDS(BY_COMMAND(RESIZE_CQ, resize_cq, .response = 1, .cq_handle = 8, .cqe = 1024), { RD_REQ_H_CQ, 8 },
		      { RD_REQ_CQE, 1024 });
	add_handle(&req, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_CQE, 4, 258);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 0x7f0000000000);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 63);
	add_handle(&req, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 12);
	add_attr(&req, UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 1);
	ASSERT_FIELDS(BY_IOCTL(CQ, CQ_CREATE, &req), { RD_REQ_CQE, 258 }, { RD_REQ_COMP_VECTOR, 63 }, { RD_REQ_FD, 12 },
		      { RD_REQ_FLAGS, 1 });
}

TEST(shared_receive_queues)
{
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(CREATE_SRQ, create_srq, .response = 1, .user_handle = 2, .pd_handle = 3, .max_wr = 4,
				 .max_sge = 5, .srq_limit = 6),
		      { RD_REQ_H_PD, 3 }, { RD_REQ_SRQ_WR, 4 }, { RD_REQ_SRQ_SGE, 5 }, { RD_REQ_SRQ_LIMIT, 6 });
	ASSERT_FIELDS(BY_COMMAND(CREATE_XSRQ, create_xsrq, .response = 1, .user_handle = 2, .srq_type = 1,
				 .pd_handle = 3, .max_wr = 4, .max_sge = 5, .srq_limit = 6, .xrcd_handle = 7,
				 .cq_handle = 8),
		      { RD_REQ_H_PD, 3 }, { RD_REQ_SRQ_WR, 4 }, { RD_REQ_SRQ_SGE, 5 }, { RD_REQ_SRQ_LIMIT, 6 },
		      { RD_REQ_H_XRCD, 7 }, { RD_REQ_H_CQ, 8 }, { RD_REQ_SRQ_TYPE, 1 });
	ASSERT_FIELDS(BY_COMMAND(MODIFY_SRQ, modify_srq, .srq_handle = 2, .attr_mask = 3, .max_wr = 100,
				 .srq_limit = 50),
		      { RD_REQ_H_SRQ, 2 }, { RD_REQ_SRQ_MASK, 3 }, { RD_REQ_SRQ_WR, 100 }, { RD_REQ_SRQ_LIMIT, 50 });
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
	ASSERT_FIELDS(BY_IOCTL(SRQ, SRQ_CREATE, &req), { RD_REQ_H_PD, 3 }, { RD_REQ_H_XRCD, 7 }, { RD_REQ_H_CQ, 8 },
		      { RD_REQ_SRQ_WR, 10 }, { RD_REQ_SRQ_SGE, 11 }, { RD_REQ_SRQ_LIMIT, 12 },
		      { RD_REQ_SRQ_TYPE, IB_UVERBS_SRQT_TM });
}

TEST(a_queue_pair_is_created_by_each_interface)
{
#define QP_MEMBERS                                                                                                     \
	.user_handle = 2, .pd_handle = 3, .send_cq_handle = 4, .recv_cq_handle = 5, .srq_handle = 6, .max_send_wr = 7, \
	.max_recv_wr = 8, .max_send_sge = 9, .max_recv_sge = 10, .max_inline_data = 11, .sq_sig_all = 1,               \
	.qp_type = IB_UVERBS_QPT_UD, .is_srq = 1
#define EXTENDED_QP ex_create_qp, QP_MEMBERS, .comp_mask = 1, .create_flags = 12
	const struct ib_uverbs_qp_cap cap = { 7, 8, 9, 10, 11 };
	struct request_field expected[] = FIELDS({ RD_REQ_H_PD, 3 }, { RD_REQ_H_CQ, 4 }, { RD_REQ_H_RECV_CQ, 5 },
						 { RD_REQ_H_SRQ, 6 }, { RD_REQ_SEND_WR, 7 }, { RD_REQ_RECV_WR, 8 },
						 { RD_REQ_SEND_SGE, 9 }, { RD_REQ_RECV_SGE, 10 }, { RD_REQ_INLINE, 11 },
						 { RD_REQ_QP_TYPE, 4 }, { RD_REQ_IS_SRQ, 1 }, REQUEST_END);
	struct rd_rec_request req = { 0 };

	request_assert(BY_COMMAND(CREATE_QP, create_qp, .response = 1, QP_MEMBERS), expected);
	request_assert(BY_WRITE("ib_uverbs_create_qp", create_qp, .response = 1, QP_MEMBERS), expected);
	expected[11] = (struct request_field){ RD_REQ_FLAGS, 12 };
	request_assert(BY_EXTENDED(CREATE_QP, EXTENDED_QP), expected);
	request_assert(BY_WRITE("ib_uverbs_ex_create_qp.isra.0", EXTENDED_QP), expected);
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
	request_assert(BY_IOCTL(QP, QP_CREATE, &req), expected);
}

#define MODIFIED_QP                                                                                                \
	.dest = { .dgid = { 0xfe, 0x80, [13] = 1, [15] = 2 },                                                      \
		  .flow_label = 1,                                                                                 \
		  .dlid = 2,                                                                                       \
		  .sgid_index = 3,                                                                                 \
		  .hop_limit = 4,                                                                                  \
		  .traffic_class = 5,                                                                              \
		  .sl = 6,                                                                                         \
		  .src_path_bits = 7,                                                                              \
		  .static_rate = 8,                                                                                \
		  .is_global = 1,                                                                                  \
		  .port_num = 10 },                                                                                \
	.alt_dest = { .dgid = { 0xee, 0xee, 0xee, [15] = 0xee }, .dlid = 11, .sgid_index = 12, .port_num = 13 },   \
	.qp_handle = 14, .attr_mask = 0x12345, .qkey = 16, .rq_psn = 17, .sq_psn = 18, .dest_qp_num = 19,          \
	.qp_access_flags = 20, .pkey_index = 0x1516, .alt_pkey_index = 0x1617, .qp_state = 23, .cur_qp_state = 24, \
	.path_mtu = 25, .path_mig_state = 26, .en_sqd_async_notify = 27, .max_rd_atomic = 28,                      \
	.max_dest_rd_atomic = 29, .min_rnr_timer = 30, .port_num = 31, .timeout = 32, .retry_cnt = 33,             \
	.rnr_retry = 34, .alt_port_num = 35, .alt_timeout = 36

static const struct request_field modified[] = FIELDS(
	{ RD_REQ_H_QP, 14 }, { RD_REQ_MASK, 0x12345 }, { RD_REQ_STATE, 23 }, { RD_REQ_CUR_STATE, 24 },
	{ RD_REQ_PATH_MTU, 25 }, { RD_REQ_QKEY, 16 }, { RD_REQ_DEST_QPN, 19 }, { RD_REQ_PKEY_INDEX, 0x1516 },
	{ RD_REQ_RD_ATOMIC, 28 }, { RD_REQ_DEST_RD_ATOMIC, 29 }, { RD_REQ_MIN_RNR_TIMER, 30 }, { RD_REQ_TIMEOUT, 32 },
	{ RD_REQ_RETRY_CNT, 33 }, { RD_REQ_RNR_RETRY, 34 }, { RD_REQ_PORT, 31 }, { RD_REQ_QP_ACCESS, 20 },
	{ RD_REQ_ALT_PORT, 35 }, { RD_REQ_ALT_TIMEOUT, 36 }, { RD_REQ_ALT_PKEY_INDEX, 0x1617 }, { RD_REQ_AV_PORT, 10 },
	{ RD_REQ_AV_GLOBAL, 1 }, { RD_REQ_SGID_INDEX, 3 }, { RD_REQ_DLID, 2 }, { RD_REQ_ALT_AV_PORT, 13 });

static void assert_gid(struct rd_request r, const char *address)
{
	uint8_t gid[16];

	assert_int_equal(inet_pton(AF_INET6, address, gid), 1);
	assert_true(r.has_gid);
	assert_memory_equal(r.gid, gid, 16);
}

TEST(a_queue_pair_is_modified_with_masks_timeouts_and_path)
{
	struct rd_request r = BY_COMMAND(MODIFY_QP, modify_qp, MODIFIED_QP);

	request_assert(r, modified);
	assert_gid(r, "fe80::1:2");
	r = BY_EXTENDED(MODIFY_QP, ex_modify_qp, .base = { MODIFIED_QP }, .rate_limit = 40);
	request_assert(r, modified);
	assert_gid(r, "fe80::1:2");
}

TEST(addresses_and_multicast_groups)
{
	struct rd_request r;

	r = BY_COMMAND(
		CREATE_AH, create_ah, .response = 1, .user_handle = 2, .pd_handle = 3,
		.attr = { .grh = { .dgid = { 0xfe, 0x80, [15] = 3 }, .flow_label = 4, .sgid_index = 5, .hop_limit = 6 },
			  .dlid = 7,
			  .sl = 8,
			  .is_global = 1,
			  .port_num = 9 });
	ASSERT_FIELDS(r, { RD_REQ_H_PD, 3 }, { RD_REQ_AV_PORT, 9 }, { RD_REQ_AV_GLOBAL, 1 }, { RD_REQ_SGID_INDEX, 5 },
		      { RD_REQ_DLID, 7 });
	assert_gid(r, "fe80::3");
	r = BY_COMMAND(ATTACH_MCAST, attach_mcast, .gid = { 0xff, 0x12, [15] = 4 }, .qp_handle = 2, .mlid = 0xc001);
	ASSERT_FIELDS(r, { RD_REQ_H_QP, 2 }, { RD_REQ_MLID, 0xc001 });
	assert_gid(r, "ff12::4");
	r = BY_COMMAND(DETACH_MCAST, detach_mcast, .gid = { 0xff, 0x12, [15] = 5 }, .qp_handle = 3, .mlid = 0xc002);
	ASSERT_FIELDS(r, { RD_REQ_H_QP, 3 }, { RD_REQ_MLID, 0xc002 });
	assert_gid(r, "ff12::5");
}

TEST(what_is_destroyed_is_named_by_its_handle)
{
	ASSERT_FIELDS(BY_COMMAND(DEREG_MR, dereg_mr, .mr_handle = 5), { RD_REQ_H_MR, 5 });
	ASSERT_FIELDS(BY_COMMAND(DEALLOC_MW, dealloc_mw, .mw_handle = 6), { RD_REQ_H_MW, 6 });
	ASSERT_FIELDS(BY_COMMAND(DEALLOC_PD, dealloc_pd, .pd_handle = 7), { RD_REQ_H_PD, 7 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_AH, destroy_ah, .ah_handle = 8), { RD_REQ_H_AH, 8 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_QP, destroy_qp, .response = 1, .qp_handle = 9, .reserved = 2),
		      { RD_REQ_H_QP, 9 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_CQ, destroy_cq, .response = 1, .cq_handle = 10), { RD_REQ_H_CQ, 10 });
	ASSERT_FIELDS(BY_COMMAND(DESTROY_SRQ, destroy_srq, .response = 1, .srq_handle = 11), { RD_REQ_H_SRQ, 11 });
	ASSERT_FIELDS(BY_COMMAND(CLOSE_XRCD, close_xrcd, .xrcd_handle = 12), { RD_REQ_H_XRCD, 12 });
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
	struct rd_rec_request req = { 0 };

	ASSERT_FIELDS(BY_COMMAND(QUERY_PORT, query_port, .response = 1, .port_num = 3), { RD_REQ_PORT, 3 });
	ASSERT_FIELDS(BY_COMMAND(QUERY_QP, query_qp, .response = 1, .qp_handle = 4, .attr_mask = 5), { RD_REQ_H_QP, 4 });
	ASSERT_FIELDS(BY_COMMAND(QUERY_SRQ, query_srq, .response = 1, .srq_handle = 6), { RD_REQ_H_SRQ, 6 });
	add_attr(&req, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 0xff02);
	ASSERT_FIELDS(BY_IOCTL(DEVICE, QUERY_PORT, &req), { RD_REQ_PORT, 2 });
	req = (struct rd_rec_request){ 0 };
	add_attr(&req, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 4, 1);
	add_attr(&req, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 4, 17);
	ASSERT_FIELDS(BY_IOCTL(DEVICE, QUERY_GID_ENTRY, &req), { RD_REQ_PORT, 1 }, { RD_REQ_GID_INDEX, 17 });
}
