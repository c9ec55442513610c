/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What drivers add to the kernel's list of queue pairs: shown by name, and believed only where the name is known. */
#include "attributes.h"
#include "unit.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "base/buf.h"
#include "collect/rdma/rdma.h"

static void put_name(struct rd_buf *out, const char *name)
{
	put(out, RDMA_NLDEV_ATTR_DRIVER_STRING, name, strlen(name) + 1);
}

/* Lists queue pair 17 of a device of this driver and protocol, with the nest, and what the kernel sends besides. */
static void list_of(struct rd_res *res, const char *protocol, uint32_t driver, enum rd_qp_state qp_state,
		    const struct rd_buf *nest)
{
	_cleanup_buf_ struct rd_buf body = { 0 }, reply = { 0 };
	struct nlmsghdr head = { .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET) };
	uint8_t rc = RD_QPT_RC, state = (uint8_t)qp_state, armed = 2;
	struct rd_bytes bytes;

	*res = (struct rd_res){ .devs = calloc(1, sizeof(*res->devs)), .n_devs = 1 };
	res->devs[0].index = 3;
	res->devs[0].protocol = strdup(protocol);
	RD_SET(res->devs[0].driver_id, driver);
	put_u32(&body, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	put_u32(&body, RDMA_NLDEV_ATTR_RES_LQPN, 17);
	put(&body, RDMA_NLDEV_ATTR_RES_TYPE, &rc, 1);
	put(&body, RDMA_NLDEV_ATTR_RES_STATE, &state, 1);
	put_u32(&body, RDMA_NLDEV_ATTR_RES_RQPN, 18);
	put_u32(&body, RDMA_NLDEV_ATTR_RES_SQ_PSN, 19);
	put_u32(&body, RDMA_NLDEV_ATTR_RES_RQ_PSN, 20);
	put(&body, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, &armed, 1);
	put(&body, RDMA_NLDEV_ATTR_DRIVER | NLA_F_NESTED, nest->data, nest->len);
	head.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + body.len);
	rd_buf_add(&reply, &head, sizeof(head));
	rd_buf_add(&reply, body.data, body.len);
	bytes = (struct rd_bytes){ (uint8_t *)reply.data, reply.len };
	rd_nldev_take(&bytes, RD_RES_QP, 0, res);
	assert_int_equal(res->n_qps, 1);
	rd_buf_deinit(&reply);
}

static void list(struct rd_res *res, uint32_t driver, enum rd_qp_state qp_state, const struct rd_buf *nest)
{
	list_of(res, "roce", driver, qp_state, nest);
}

/* What drivers do not write is in the list all the same. */
TEST(what_the_driver_did_not_write_is_unknown)
{
	static const struct {
		const char *protocol;
		uint32_t driver;
		enum rd_known numbers, migration;
	} cells[] = {
		{ "ib", RD_DRIVER_MLX5, RD_OK, RD_OK },		 { "roce", RD_DRIVER_RXE, RD_OK, RD_OK },
		{ "roce", RD_DRIVER_BNXT_RE, RD_OK, RD_ABSENT }, { "roce", RD_DRIVER_HNS, RD_OK, RD_ABSENT },
		{ "roce", RD_DRIVER_ERDMA, RD_OK, RD_ABSENT },	 { "iw", RD_DRIVER_ERDMA, RD_ABSENT, RD_ABSENT },
		{ "iw", RD_DRIVER_IRDMA, RD_ABSENT, RD_ABSENT },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cells); i++) {
		_cleanup_(rd_res_deinit) struct rd_res res;
		const struct rd_qp *qp;

		list_of(&res, cells[i].protocol, cells[i].driver, RD_QPS_RTS, &(struct rd_buf){ 0 });
		qp = &res.qps[0];
		ASSERT_EACH(IS(qp->state.known, RD_OK), IS(qp->rqpn.known, cells[i].numbers),
			    IS(qp->sq_psn.known, cells[i].numbers), IS(qp->rq_psn.known, cells[i].numbers),
			    IS(qp->path_mig.known, cells[i].migration));
	}
}

static void put_timeout(struct rd_buf *nest, uint32_t value)
{
	put_name(nest, "timeout");
	put_u32(nest, RDMA_NLDEV_ATTR_DRIVER_U32, value);
}

TEST(each_entry_is_shown_as_the_driver_would_have_it_printed)
{
	static const char expected[] = "owner\0user\0sq_max_wqe\000128\0hwq\0000xffff888000000000\0low\0-5\0lower\0-6";
	uint64_t address = 0xffff888000000000;
	uint8_t hex = RDMA_NLDEV_PRINT_TYPE_HEX;
	int64_t lower = -6;
	_cleanup_(rd_buf_deinit) struct rd_buf nest = { 0 };
	_cleanup_(rd_res_deinit) struct rd_res res;

	put_name(&nest, "owner");
	put_name(&nest, "user");
	put_name(&nest, "sq_max_wqe");
	put_u32(&nest, RDMA_NLDEV_ATTR_DRIVER_U32, 128);
	put_name(&nest, "hwq");
	put(&nest, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE, &hex, 1);
	put(&nest, RDMA_NLDEV_ATTR_PAD, "", 0);
	put(&nest, RDMA_NLDEV_ATTR_DRIVER_U64, &address, 8);
	put_name(&nest, "low");
	put_u32(&nest, RDMA_NLDEV_ATTR_DRIVER_S32, (uint32_t)-5);
	put_name(&nest, "lower");
	put(&nest, RDMA_NLDEV_ATTR_DRIVER_S64, &lower, 8);
	list(&res, 12, RD_QPS_RTS, &nest);
	assert_non_null(res.qps[0].context);
	assert_false(res.qps[0].context->queried);
	assert_int_equal(res.qps[0].context->driver_size, sizeof(expected));
	assert_memory_equal(res.qps[0].context->driver, expected, sizeof(expected));
	assert_int_equal(res.qps[0].context->attrs.timeout.known, RD_ABSENT);
}

/* Another driver's "timeout" may be anything; so may one that is set later, and one that no code can be. */
TEST(the_timeout_of_one_driver_is_known)
{
	static const struct {
		uint32_t driver, value;
		enum rd_qp_state qp_state;
		bool known;
	} cases[] = { { RD_DRIVER_BNXT_RE, 14, RD_QPS_RTS, true },
		      { RD_DRIVER_BNXT_RE, 0, RD_QPS_RTS, true },
		      { RD_DRIVER_BNXT_RE, 14, RD_QPS_SQD, true },
		      { RD_DRIVER_BNXT_RE, 14, RD_QPS_RTR, false },
		      { RD_DRIVER_BNXT_RE, 14, RD_QPS_ERR, false },
		      { RD_DRIVER_BNXT_RE, 32, RD_QPS_RTS, false },
		      { 12, 14, RD_QPS_RTS, false } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct rd_buf nest = { 0 };
		struct rd_res res;

		put_timeout(&nest, cases[i].value);
		list(&res, cases[i].driver, cases[i].qp_state, &nest);
		assert_int_equal(res.qps[0].context->attrs.timeout.known, cases[i].known ? RD_OK : RD_ABSENT);
		if (cases[i].known)
			assert_int_equal(res.qps[0].context->attrs.timeout.v, cases[i].value);
		rd_res_deinit(&res);
		rd_buf_deinit(&nest);
	}
}

/* Values without a name, names without a value, text without an end: what is sound around them is kept. */
TEST(entries_that_make_no_sense_are_left_out)
{
	static const char expected[] = "good\0001";
	_cleanup_buf_ struct rd_buf nest = { 0 }, empty = { 0 };
	struct rd_res res;

	put_u32(&nest, RDMA_NLDEV_ATTR_DRIVER_U32, 7);
	put(&nest, RDMA_NLDEV_ATTR_DRIVER_STRING, "no end", 6);
	put_name(&nest, "odd");
	put(&nest, RDMA_NLDEV_ATTR_DRIVER_U32, "abc", 3);
	put_name(&nest, "unknown");
	put_u32(&nest, RDMA_NLDEV_ATTR_RES_PID, 7);
	put_name(&nest, "good");
	put_u32(&nest, RDMA_NLDEV_ATTR_DRIVER_U32, 1);
	put_name(&nest, "last");
	list(&res, 12, RD_QPS_RTS, &nest);
	assert_int_equal(res.qps[0].context->driver_size, sizeof(expected));
	assert_memory_equal(res.qps[0].context->driver, expected, sizeof(expected));
	rd_res_deinit(&res);
	rd_buf_str(&empty, "");
	list(&res, 12, RD_QPS_RTS, &empty);
	assert_null(res.qps[0].context);
	rd_res_deinit(&res);
	rd_buf_deinit(&empty);
}
