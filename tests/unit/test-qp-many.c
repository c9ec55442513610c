/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tens of thousands of queue pairs: a reply is released as it is taken, and what is equal is kept once. */
#include "attributes.h"
#include "unit.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <unistd.h>

#include "base/buf.h"
#include "collect/rdma/rdma.h"
#include "model/rdma/qp-view.h"

#define MANY 10000

/* A reply as from a source that lists queue pairs 1 to MANY, a message each. */
static struct rd_bytes list_many(void)
{
	struct rd_buf reply = { 0 };
	struct rd_bytes ret;

	for (uint32_t i = 1; i <= MANY; i++) {
		struct rd_buf body = { 0 };
		struct nlmsghdr head = { .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET) };

		put_u32(&body, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
		put_u32(&body, RDMA_NLDEV_ATTR_RES_LQPN, i);
		put_u32(&body, RDMA_NLDEV_ATTR_RES_RQPN, i * 7);
		head.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + body.len);
		rd_buf_add(&reply, &head, sizeof(head));
		rd_buf_add(&reply, body.data, body.len);
		rd_buf_deinit(&body);
	}
	rd_bytes_copy(reply.data, reply.len, &ret);
	rd_buf_deinit(&reply);
	return ret;
}

TEST(a_long_reply_is_taken_whole_and_released)
{
	_cleanup_(rd_res_deinit) struct rd_res res = { .devs = calloc(1, sizeof(*res.devs)), .n_devs = 1 };
	_cleanup_bytes_ struct rd_bytes reply = list_many();
	static const uint8_t zeros[4096];

	res.devs[0].index = 3;
	rd_nldev_consume(&reply, RD_RES_QP, 0, &res);
	assert_int_equal(res.n_qps, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(res.qps[i].lqpn.v, i + 1);
		assert_int_equal(res.qps[i].rqpn.v, (i + 1) * 7);
	}
	assert_false(res.devs[0].gaps[RD_RES_QP].damaged);
	assert_memory_equal(reply.data + reply.size / 2, zeros, sizeof(zeros));
}

/* Only whole pages of what is not needed, and nothing before. */
TEST(what_is_needed_is_not_released)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 6 * page;
	_cleanup_free_ uint8_t *text = malloc(size);

	memset(text, 'x', size);
	for (size_t n = 0; n <= size; n += page / 2 + 1) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		rd_bytes_copy(text, size, &bytes);
		rd_bytes_release(&bytes, n);
		assert_memory_equal(bytes.data + n, text, size - n);
		assert_int_equal(bytes.data[size], 0);
		assert_int_equal(memchr(bytes.data, 0, size) != NULL, (uintptr_t)bytes.data % page + n >= 2 * page);
	}
}

TEST(queue_pairs_share_what_is_equal)
{
	struct rd_qp_verdict verdicts[2] = { { .kind = RD_QPV_OK }, { .kind = RD_QPV_IDLE } };
	_cleanup_(rd_res_deinit) struct rd_res res = { .qps = calloc(MANY, sizeof(*res.qps)), .n_qps = MANY };
	_cleanup_(rd_qp_views_deinit) struct rd_qp_views views;

	rd_qp_views_init(&views, &res);
	for (int i = 0; i < 2; i++) {
		verdicts[i].why = rd_qp_views_keep(&views, rd_dup(i ? "no packet" : "packets"));
		verdicts[i].fix = "";
	}
	assert_ptr_equal(rd_qp_views_keep(&views, rd_dup("packets")), verdicts[0].why);
	/* In turns, and one now and then that is its own. */
	for (size_t i = 0; i < MANY; i++) {
		struct rd_qp_past past = { .age_kind = i % 2 ? RD_AGE_EXACT : RD_AGE_AT_LEAST };

		if (i % 1000 == 500)
			RD_SET(past.age_seconds, (double)i);
		rd_qp_views_set_past(&views, i, &past);
		rd_qp_views_set_verdict(&views, i, &verdicts[i % 2]);
	}
	assert_true(views.n_owned < 2 + 2 + 2 + MANY / 1000 + 1);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(views.v[i].verdict->kind, i % 2 ? RD_QPV_IDLE : RD_QPV_OK);
		assert_int_equal(views.v[i].past->age_kind, i % 2 ? RD_AGE_EXACT : RD_AGE_AT_LEAST);
		assert_int_equal(views.v[i].past->age_seconds.known, i % 1000 == 500 ? RD_OK : RD_ABSENT);
		assert_int_equal(views.v[i].link->cm_id, -1);
	}
}
