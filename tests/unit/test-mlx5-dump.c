/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of a device's own context of a queue pair, and which dumps are not believed. */
#include "attributes.h"
#include "mlx5-image.h"
#include "tests/source-parts.h"

#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>

#include "base/buf.h"
#include "collect/rdma/nldev-priv.h"
#include "source/redact/redact.h"
#include "source/shared/mlx5-dump.h"
#include "source/shared/scrub.h"

static struct rd_res_dev roce = { .index = 3, .name = (char *)"mlx5_0", .protocol = (char *)"roce" };
static struct rd_res_dev ib = { .index = 3, .name = (char *)"mlx5_0", .protocol = (char *)"ib" };

/* Queue pair 17 as the kernel lists it. */
static struct rd_qp listed(enum rd_qp_type type, enum rd_qp_state qp_state)
{
	struct rd_qp qp = { .proc = -1 };

	RD_SET(qp.lqpn, 17);
	RD_SET(qp.port, 1);
	RD_SET(qp.type, type);
	RD_SET(qp.state, qp_state);
	if (type == RD_QPT_RC || type == RD_QPT_UC)
		RD_SET(qp.rqpn, 18);
	return qp;
}

static bool take(const uint8_t *image, bool reply, const struct rd_res_dev *dev, struct rd_qp *qp)
{
	uint8_t dump[1024];
	size_t size = make_dump(dump, image, reply);

	return rd_mlx5_take_context(dump, size, dev, qp);
}

static void assert_whole(const struct rd_qp_context *context)
{
	static const uint8_t gid[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2 };

	assert_true(context->dumped);
	assert_int_equal(context->attrs.timeout.v, 18);
	assert_int_equal(context->attrs.retry_cnt.v, 6);
	assert_int_equal(context->attrs.rnr_retry.v, 5);
	assert_int_equal(context->attrs.min_rnr_timer.v, 12);
	assert_int_equal(context->attrs.path_mtu.v, 4096);
	assert_int_equal(context->attrs.udp_sport.v, 0xc123);
	assert_int_equal(context->attrs.flow_label.v, 0xabcde);
	assert_int_equal(context->attrs.hop_limit.v, 64);
	assert_int_equal(context->attrs.dest_qpn.v, 18);
	assert_int_equal(context->cur_retry_cnt.v, 2);
	assert_int_equal(context->cur_rnr_retry.v, 3);
	assert_int_equal(context->last_acked_psn.v, 0x123450);
	assert_true(context->attrs.has_dgid);
	assert_memory_equal(context->attrs.dgid, gid, 16);
	assert_int_equal(context->dlid.known, RD_ABSENT);
}

static void each_field_is_read_where_the_kernel_publishes_it(void **state)
{
	uint8_t image[QPC_BYTES];

	(void)state;
	make_qpc(image);
	for (int reply = 0; reply <= 1; reply++) {
		struct rd_qp qp = listed(RD_QPT_RC, RD_QPS_RTS);

		assert_true(take(image, reply, &roce, &qp));
		assert_whole(qp.context);
		rd_qp_deinit(&qp);
	}
	/* Fields that nothing shows yet. */
	assert_int_equal(rd_mlx5_get(image, RD_MLX5_NEXT_SEND_PSN), 0x123456);
	assert_int_equal(rd_mlx5_get(image, RD_MLX5_NEXT_RCV_PSN), 0x654321);
	assert_int_equal(rd_mlx5_get(image, RD_MLX5_SRC_ADDR_INDEX), 3);
	assert_int_equal(rd_mlx5_get(image, RD_MLX5_TCLASS), 106);
	assert_int_equal(rd_mlx5_get(image, RD_MLX5_SL), 3);
}

/* A bit beside a field changes nothing else: every field alone, all others being ones and being zeros. */
static void fields_do_not_overlap(void **state)
{
	static const struct {
		enum rd_mlx5_qpc_field field;
		const char *name;
		bool path;
	} all[] = { { RD_MLX5_STATE, "state", false },
		    { RD_MLX5_ST, "st", false },
		    { RD_MLX5_MTU, "mtu", false },
		    { RD_MLX5_REMOTE_QPN, "remote_qpn", false },
		    { RD_MLX5_RETRY_COUNT, "retry_count", false },
		    { RD_MLX5_RNR_RETRY, "rnr_retry", false },
		    { RD_MLX5_CUR_RNR_RETRY, "cur_rnr_retry", false },
		    { RD_MLX5_CUR_RETRY_COUNT, "cur_retry_count", false },
		    { RD_MLX5_NEXT_SEND_PSN, "next_send_psn", false },
		    { RD_MLX5_LAST_ACKED_PSN, "last_acked_psn", false },
		    { RD_MLX5_MIN_RNR_NAK, "min_rnr_nak", false },
		    { RD_MLX5_NEXT_RCV_PSN, "next_rcv_psn", false },
		    { RD_MLX5_GRH, "grh", true },
		    { RD_MLX5_RLID, "rlid", true },
		    { RD_MLX5_ACK_TIMEOUT, "ack_timeout", true },
		    { RD_MLX5_SRC_ADDR_INDEX, "src_addr_index", true },
		    { RD_MLX5_HOP_LIMIT, "hop_limit", true },
		    { RD_MLX5_TCLASS, "tclass", true },
		    { RD_MLX5_FLOW_LABEL, "flow_label", true },
		    { RD_MLX5_UDP_SPORT, "udp_sport", true },
		    { RD_MLX5_SL, "sl", true } };

	(void)state;
	assert_int_equal(RD_ARRAY_SIZE(all), RD_MLX5_QPC_FIELDS);
	for (int ones = 0; ones <= 1; ones++)
		for (size_t i = 0; i < RD_ARRAY_SIZE(all); i++) {
			uint8_t image[QPC_BYTES];
			unsigned bits;

			part_at(all[i].path ? ads : qpc, all[i].name, &bits);
			memset(image, ones ? 0xff : 0, sizeof(image));
			(all[i].path ? set_path : set_qpc)(image, all[i].name, ones ? 0 : UINT32_MAX);
			assert_int_equal(rd_mlx5_get(image, all[i].field), ones ? 0 : (UINT64_C(1) << bits) - 1);
			for (size_t k = 0; k < RD_ARRAY_SIZE(all); k++)
				if (k != i)
					assert_true(!!rd_mlx5_get(image, all[k].field) == ones);
		}
}

/* It changed its state between the list and the dump, it is another queue pair, or the layout is another one. */
static void a_dump_that_contradicts_the_kernel_is_not_used(void **state)
{
	static const struct {
		const char *field;
		uint32_t value;
	} others[] = { { "state", 6 }, { "state", 2 }, { "state", 15 }, { "st", 1 }, { "remote_qpn", 19 } };
	struct rd_qp qp = listed(RD_QPT_RC, RD_QPS_RTS), other = listed(RD_QPT_RC, RD_QPS_RTS);
	uint8_t image[QPC_BYTES];

	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(others); i++) {
		make_qpc(image);
		set_qpc(image, others[i].field, others[i].value);
		assert_false(take(image, true, &roce, &qp));
		assert_null(qp.context);
	}
	make_qpc(image);
	other.lqpn.v = 16;
	assert_false(take(image, true, &roce, &other));
	/* The reply of a command that failed. */
	memset(image, 0, sizeof(image));
	assert_false(take(image, false, &roce, &qp));
	assert_null(qp.context);
}

static void states_are_those_of_the_driver(void **state)
{
	static const enum rd_qp_state states[] = { RD_QPS_RESET, RD_QPS_INIT, RD_QPS_RTR, RD_QPS_RTS,
						   RD_QPS_SQE,	 RD_QPS_SQD,  RD_QPS_ERR, RD_QPS_SQD };
	uint8_t image[QPC_BYTES];

	(void)state;
	for (uint32_t i = 0; i < RD_ARRAY_SIZE(states); i++) {
		struct rd_qp qp = listed(RD_QPT_RC, states[i]);

		make_qpc(image);
		set_qpc(image, "state", i);
		/* Before RTR, a peer would be that of an earlier connection. */
		assert_int_equal(take(image, true, &roce, &qp), states[i] >= RD_QPS_RTR);
		rd_qp_deinit(&qp);
	}
}

static void what_is_not_set_yet_is_unknown(void **state)
{
	struct rd_qp rtr = listed(RD_QPT_RC, RD_QPS_RTR), err = listed(RD_QPT_RC, RD_QPS_ERR),
		     uc = listed(RD_QPT_UC, RD_QPS_RTS), xrc = listed(RD_QPT_XRC_TGT, RD_QPS_RTS);
	uint8_t image[QPC_BYTES];

	(void)state;
	make_qpc(image);
	set_path(image, "ack_timeout", 0);
	set_qpc(image, "state", 2);
	assert_true(take(image, true, &roce, &rtr));
	assert_true(rtr.context->attrs.has_dgid);
	assert_int_equal(rtr.context->attrs.min_rnr_timer.v, 12);
	assert_int_equal(rtr.context->attrs.timeout.known, RD_ABSENT);
	assert_int_equal(rtr.context->cur_retry_cnt.known, RD_ABSENT);
	set_qpc(image, "state", 6);
	assert_true(take(image, true, &roce, &err));
	assert_int_equal(err.context->attrs.timeout.known, RD_ABSENT);
	set_path(image, "ack_timeout", 14);
	assert_true(take(image, true, &roce, &err));
	assert_int_equal(err.context->attrs.timeout.v, 14);
	set_qpc(image, "state", 3);
	set_qpc(image, "st", 1);
	assert_true(take(image, true, &roce, &uc));
	assert_int_equal(uc.context->attrs.timeout.known, RD_ABSENT);
	assert_int_equal(uc.context->attrs.min_rnr_timer.known, RD_ABSENT);
	set_qpc(image, "st", 3);
	assert_true(take(image, true, &roce, &xrc));
	assert_int_equal(xrc.context->attrs.timeout.known, RD_ABSENT);
	rd_qp_deinit(&rtr);
	rd_qp_deinit(&err);
	rd_qp_deinit(&uc);
	rd_qp_deinit(&xrc);
}

static void impossible_values_are_unknown(void **state)
{
	static const uint8_t none[16], multicast[16] = { 0xff, 0x0e };
	struct rd_qp qp = listed(RD_QPT_RC, RD_QPS_RTS), again = listed(RD_QPT_RC, RD_QPS_RTS);
	uint8_t image[QPC_BYTES];

	(void)state;
	make_qpc(image);
	set_qpc(image, "mtu", 7);
	set_path(image, "udp_sport", 0);
	set_gid(image, none);
	assert_true(take(image, true, &roce, &qp));
	assert_int_equal(qp.context->attrs.path_mtu.known, RD_ABSENT);
	assert_int_equal(qp.context->attrs.udp_sport.known, RD_ABSENT);
	assert_false(qp.context->attrs.has_dgid);
	set_qpc(image, "mtu", 0);
	set_gid(image, multicast);
	assert_true(take(image, true, &roce, &again));
	assert_int_equal(again.context->attrs.path_mtu.known, RD_ABSENT);
	assert_false(again.context->attrs.has_dgid);
	rd_qp_deinit(&qp);
	rd_qp_deinit(&again);
}

static void on_infiniband_the_peer_has_a_lid(void **state)
{
	struct rd_qp qp = listed(RD_QPT_RC, RD_QPS_RTS), routed = listed(RD_QPT_RC, RD_QPS_RTS),
		     group = listed(RD_QPT_RC, RD_QPS_RTS);
	uint8_t image[QPC_BYTES];

	(void)state;
	make_qpc(image);
	assert_true(take(image, true, &ib, &qp));
	assert_int_equal(qp.context->dlid.v, 0x21);
	assert_false(qp.context->attrs.has_dgid);
	assert_int_equal(qp.context->attrs.udp_sport.known, RD_ABSENT);
	assert_int_equal(qp.context->attrs.flow_label.known, RD_ABSENT);
	set_path(image, "grh", 1);
	assert_true(take(image, true, &ib, &routed));
	assert_true(routed.context->attrs.has_dgid);
	set_path(image, "rlid", 0xc000);
	assert_true(take(image, true, &ib, &group));
	assert_int_equal(group.context->dlid.known, RD_ABSENT);
	rd_qp_deinit(&qp);
	rd_qp_deinit(&routed);
	rd_qp_deinit(&group);
}

static void a_dump_cut_short_anywhere_is_not_used(void **state)
{
	struct rd_qp qp = listed(RD_QPT_RC, RD_QPS_RTS);
	uint8_t image[QPC_BYTES], dump[1024];
	size_t size;

	(void)state;
	make_qpc(image);
	size = make_dump(dump, image, true);
	for (size_t n = 0; n + 4 < size; n++) {
		uint8_t *cut = malloc(n + 1); /* so that reading beyond it is noticed */

		memcpy(cut, dump, n);
		assert_false(rd_mlx5_take_context(cut, n, &roce, &qp));
		free(cut);
	}
	/* Segments without a length, or with a wrong one. */
	memset(dump, 0, 4);
	assert_false(rd_mlx5_take_context(dump, size, &roce, &qp));
	memset(dump, 0xff, 2);
	assert_false(rd_mlx5_take_context(dump, size, &roce, &qp));
}

/* A kernel that dumps queue pair 17, or refuses. */
struct kernel {
	struct rd_source src;
	struct source_parts ops;
	int code;
	unsigned requests;
};

static int answer(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		  struct rd_err *err)
{
	struct kernel *kernel = (struct kernel *)src;
	struct rd_buf body = { 0 }, out = { 0 };
	struct nlmsghdr head;
	uint8_t image[QPC_BYTES], dump[1024];
	uint32_t index = 3;

	(void)protocol;
	(void)size;
	memcpy(&head, request, sizeof(head));
	assert_int_equal(RDMA_NL_GET_OP(head.nlmsg_type), RDMA_NLDEV_CMD_RES_QP_GET_RAW);
	kernel->requests++;
	if (kernel->code)
		return rd_err_set(err, kernel->code, "netlink", "no");
	make_qpc(image);
	put(&body, RDMA_NLDEV_ATTR_DEV_INDEX, &index, 4);
	put(&body, RDMA_NLDEV_ATTR_RES_RAW, dump, make_dump(dump, image, true));
	head.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + body.len);
	rd_buf_add(&out, &head, sizeof(head));
	rd_buf_add(&out, body.data, body.len);
	rd_buf_deinit(&body);
	*ret = (struct rd_bytes){ (uint8_t *)out.data, out.len };
	return 0;
}

/* Three queue pairs: 17 in RTS, 20 in INIT, 21 in RTS. */
static void dump(struct kernel *kernel, struct rd_res *res, uint32_t driver, const bool *wanted)
{
	kernel->ops = (struct source_parts){ .ops.get = parts_get, .ops.name = "live", .netlink = answer };
	kernel->src.ops = &kernel->ops.ops;
	*res = (struct rd_res){ .devs = calloc(1, sizeof(*res->devs)), .n_devs = 1, .n_qps = 3 };
	res->qps = calloc(3, sizeof(*res->qps));
	res->devs[0].index = 3;
	res->devs[0].name = strdup("mlx5_0");
	res->devs[0].protocol = strdup("roce");
	RD_SET(res->devs[0].driver_id, driver);
	for (uint32_t i = 0; i < 3; i++)
		res->qps[i] = listed(RD_QPT_RC, i == 1 ? RD_QPS_INIT : RD_QPS_RTS);
	res->qps[1].lqpn.v = 20;
	res->qps[2].lqpn.v = 21;
	rd_collect_qp_dumps(&kernel->src, res, wanted, NULL);
}

static void connected_queue_pairs_are_dumped_one_by_one(void **state)
{
	static const bool first[] = { true, true, false };
	struct kernel kernel = { 0 }, one = { 0 };
	struct rd_res res;

	(void)state;
	dump(&kernel, &res, RD_DRIVER_MLX5, NULL);
	assert_int_equal(kernel.requests, 2);
	assert_int_equal(res.devs[0].dumps.requested, 2);
	assert_int_equal(res.devs[0].dumps.used, 1);
	assert_whole(res.qps[0].context);
	assert_null(res.qps[1].context);
	/* The kernel returned the dump of another queue pair. */
	assert_null(res.qps[2].context);
	rd_res_deinit(&res);
	dump(&one, &res, RD_DRIVER_MLX5, first);
	assert_int_equal(one.requests, 1);
	rd_res_deinit(&res);
}

static void a_device_that_refuses_is_not_queried_again(void **state)
{
	static const int codes[] = { EPERM, EOPNOTSUPP, EINVAL };
	struct kernel gone = { .code = ENOENT }, soft = { 0 };
	struct rd_res res;

	(void)state;
	for (size_t i = 0; i < RD_ARRAY_SIZE(codes); i++) {
		struct kernel kernel = { .code = codes[i] };

		dump(&kernel, &res, RD_DRIVER_MLX5, NULL);
		assert_int_equal(kernel.requests, 1);
		assert_int_equal(res.devs[0].dumps.code, codes[i]);
		assert_int_equal(res.devs[0].dumps.used, 0);
		rd_res_deinit(&res);
	}
	/* One that has ended says nothing about the others. */
	dump(&gone, &res, RD_DRIVER_MLX5, NULL);
	assert_int_equal(gone.requests, 2);
	rd_res_deinit(&res);
	/* A driver whose layout is not known is not queried at all. */
	dump(&soft, &res, RD_DRIVER_RXE, NULL);
	assert_int_equal(soft.requests, 0);
	rd_res_deinit(&res);
}

/* The peer's GID and MAC address; the rest of the dump is still that of the same queue pair. A dump that is not understood may have
 * an address anywhere. */
static void addresses_in_a_dump_are_redacted(void **state)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	uint8_t image[QPC_BYTES], dump[1024], mac[6] = { 2, 0xc9, 3, 0xa1, 0xb2, 0xc3 };
	struct nlmsghdr head = { .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET_RAW) };
	const uint8_t peer[4] = { 10, 0, 0, 2 };
	size_t size;

	(void)state;
	make_qpc(image);
	set_path(image, "rmac_47_32", 0x02c9);
	set_path(image, "rmac_31_0", 0x03a1b2c3);
	size = make_dump(dump, image, true);
	for (int cut = 0; cut <= 1; cut++) {
		_cleanup_buf_ struct rd_buf out = { 0 };
		uint32_t qpn = 0;
		uint8_t *raw;
		size_t at;

		rd_buf_add(&out, &head, sizeof(head));
		put(&out, RDMA_NLDEV_ATTR_RES_RAW, dump, cut ? size - 100 : size);
		head.nlmsg_len = (uint32_t)out.len;
		memcpy(out.data, &head, sizeof(head));
		assert_non_null(memmem(out.data, out.len, peer, 4));
		rd_redact_messages(&redact, "rdma", (uint8_t *)out.data, out.len);
		assert_null(memmem(out.data, out.len, peer, 4));
		assert_null(memmem(out.data, out.len, mac, 6));
		raw = (uint8_t *)out.data + NLMSG_HDRLEN + NLA_HDRLEN;
		at = rd_mlx5_find_qpc(raw, size, &qpn);
		assert_int_equal(qpn, cut ? 0 : 17);
		if (!cut)
			assert_int_equal(rd_mlx5_get(raw + at, RD_MLX5_REMOTE_QPN), 18);
	}
}

/* Keys and physical addresses are behind what is read; nothing of a dump that is not understood is recorded. */
static void keys_are_not_recorded(void **state)
{
	struct rd_qp qp = listed(RD_QPT_RC, RD_QPS_RTS);
	struct nlmsghdr head = { .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET_RAW) };
	uint8_t image[QPC_BYTES], dump[1024];
	unsigned bits, key = part_at(qpc, "q_key", &bits) / 8, dc = part_at(qpc, "dc_access_key", &bits) / 8;
	size_t size;

	(void)state;
	make_qpc(image);
	memcpy(image + key, "KEY1", 4);
	memcpy(image + dc, "KEY2KEY3", 8);
	for (int cut = 0; cut <= 1; cut++) {
		struct rd_buf out = { 0 };
		struct rd_bytes bytes;

		size = make_dump(dump, image, true);
		if (cut)
			put_bits(dump, 0, 16, 0); /* a segment without a length */
		rd_buf_add(&out, &head, sizeof(head));
		put(&out, RDMA_NLDEV_ATTR_RES_RAW, dump, size);
		head.nlmsg_len = (uint32_t)out.len;
		memcpy(out.data, &head, sizeof(head));
		assert_non_null(memmem(out.data, out.len, "KEY", 3));
		bytes = (struct rd_bytes){ (uint8_t *)out.data, out.len };
		rd_scrub_messages(NETLINK_RDMA, &bytes);
		assert_null(memmem(out.data, out.len, "KEY", 3));
		assert_int_equal(rd_mlx5_take_context((uint8_t *)out.data + 20, size, &roce, &qp), !cut);
		rd_buf_deinit(&out);
	}
	assert_whole(qp.context);
	rd_qp_deinit(&qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_field_is_read_where_the_kernel_publishes_it),
		TEST(fields_do_not_overlap),
		TEST(a_dump_that_contradicts_the_kernel_is_not_used),
		TEST(states_are_those_of_the_driver),
		TEST(what_is_not_set_yet_is_unknown),
		TEST(impossible_values_are_unknown),
		TEST(on_infiniband_the_peer_has_a_lid),
		TEST(a_dump_cut_short_anywhere_is_not_used),
		TEST(connected_queue_pairs_are_dumped_one_by_one),
		TEST(a_device_that_refuses_is_not_queried_again),
		TEST(addresses_in_a_dump_are_redacted),
		TEST(keys_are_not_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
