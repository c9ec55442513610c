/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of what RDMA netlink answers: also of a dump that breaks off, and of one that lies. */
#include "attributes.h"
#include "tests/source-parts.h"
#include "unit.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "analyse/qp/qp.h"
#include "base/buf.h"
#include "collect/rdma/rdma.h"

/* A kernel with one device, some of whose queue pairs cannot be queried. */
struct kernel {
	struct rd_source src;
	struct source_parts ops;
	uint32_t qps[16]; /* numbers, ascending */
	size_t n, per_message;
	uint32_t sick;	   /* that cannot be queried; 0: none */
	uint32_t in_reset; /* at no port; 0: none */
	bool only_lists;   /* a request for one is refused */
	uint64_t counted;  /* what the summary says */
	uint64_t leaving;  /* that are counted, and end before the list is asked for */
	bool cut;	   /* entries lie about their length */
	uint32_t driver;   /* enum rd_driver; 0: unknown */
	const char *release;
	unsigned asked_by_number;
	struct rd_buf out;
};

static void put_message(struct rd_buf *out, unsigned type, const struct rd_buf *body)
{
	struct nlmsghdr head = { .nlmsg_len = (uint32_t)(NLMSG_HDRLEN + body->len), .nlmsg_type = (uint16_t)type };

	rd_buf_add(out, &head, sizeof(head));
	rd_buf_add(out, body->data, body->len);
}

static void put_device(struct rd_buf *body)
{
	put_u32(body, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	put(body, RDMA_NLDEV_ATTR_DEV_NAME, "rdma0", 6);
	put_u32(body, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
}

static void put_qp(struct rd_buf *out, uint32_t lqpn)
{
	uint8_t rc = RD_QPT_RC, rts = RD_QPS_RTS;

	put_u32(out, RDMA_NLDEV_ATTR_RES_LQPN, lqpn);
	put_u32(out, RDMA_NLDEV_ATTR_RES_RQPN, lqpn + 100);
	put_u32(out, RDMA_NLDEV_ATTR_RES_PID, 4711);
	put(out, RDMA_NLDEV_ATTR_RES_TYPE, &rc, 1);
	put(out, RDMA_NLDEV_ATTR_RES_STATE, &rts, 1);
}

/* As the kernel dumps: what stands in the message that is being filled when it fails is lost. */
static void dump_qps(struct kernel *kernel)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr body;
	} end = { { sizeof(end), NLMSG_ERROR, 0, 0, 0 }, { .error = -EIO } };

	for (size_t i = 0; i < kernel->n; i += kernel->per_message) {
		struct rd_buf body = { 0 }, table = { 0 };
		bool sick = false;

		for (size_t k = i; k < i + kernel->per_message && k < kernel->n; k++) {
			struct rd_buf entry = { 0 };

			put_qp(&entry, kernel->qps[k]);
			if (kernel->cut)
				((struct nlattr *)entry.data)->nla_len = 200;
			put(&table, RDMA_NLDEV_ATTR_RES_QP_ENTRY, entry.data, entry.len);
			rd_buf_deinit(&entry);
			sick |= kernel->qps[k] == kernel->sick;
		}
		put_device(&body);
		put(&body, RDMA_NLDEV_ATTR_RES_QP, table.data, table.len);
		if (!sick)
			put_message(&kernel->out, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET), &body);
		rd_buf_deinit(&body);
		rd_buf_deinit(&table);
		if (sick) {
			rd_buf_add(&kernel->out, &end, sizeof(end));
			return;
		}
	}
}

static uint32_t number_at(const void *request, size_t attr)
{
	uint32_t number;

	memcpy(&number, (const uint8_t *)request + NLMSG_HDRLEN + attr * NLA_ALIGN(NLA_HDRLEN + 4) + NLA_HDRLEN, 4);
	return number;
}

/* The request names device, port and number; the kernel refuses one without a port. */
static int one_qp(struct kernel *kernel, const void *request, size_t size)
{
	struct rd_buf body = { 0 };
	uint32_t lqpn;

	if (kernel->only_lists || size != NLMSG_HDRLEN + 3 * NLA_ALIGN(NLA_HDRLEN + 4) || number_at(request, 1) != 1)
		return -EINVAL;
	lqpn = number_at(request, 2);
	kernel->asked_by_number++;
	for (size_t i = 0; i < kernel->n; i++) {
		if (kernel->qps[i] != lqpn)
			continue;
		if (lqpn == kernel->in_reset)
			return -EAGAIN;
		if (lqpn == kernel->sick)
			return -EIO;
		put_device(&body);
		put_qp(&body, lqpn);
		put_message(&kernel->out, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET), &body);
		rd_buf_deinit(&body);
		return 0;
	}
	return -ENOENT;
}

static void count(struct kernel *kernel, struct rd_buf *body)
{
	_cleanup_buf_ struct rd_buf entry = { 0 }, table = { 0 };

	put(&entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp", 3);
	put(&entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, &kernel->counted, 8);
	put(&table, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, entry.data, entry.len);
	put(body, RDMA_NLDEV_ATTR_RES_SUMMARY, table.data, table.len);
	rd_buf_deinit(&table);
}

static int answer(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		  struct rd_err *err)
{
	struct kernel *kernel = (struct kernel *)src;
	struct rd_buf body = { 0 };
	struct nlmsghdr head;
	int r = 0;

	assert_int_equal(protocol, NETLINK_RDMA);
	assert_true(size >= sizeof(head));
	memcpy(&head, request, sizeof(head));
	kernel->out = (struct rd_buf){ 0 };
	rd_buf_str(&kernel->out, "");
	put_device(&body);
	switch (RDMA_NL_GET_OP(head.nlmsg_type)) {
	case RDMA_NLDEV_CMD_GET:
		put_message(&kernel->out, head.nlmsg_type, &body);
		break;
	case RDMA_NLDEV_CMD_RES_GET:
		count(kernel, &body);
		put_message(&kernel->out, head.nlmsg_type, &body);
		break;
	case RDMA_NLDEV_CMD_GET_CHARDEV:
		put_u32(&body, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, kernel->driver);
		put_message(&kernel->out, head.nlmsg_type, &body);
		break;
	case RDMA_NLDEV_CMD_RES_QP_GET:
		kernel->counted -= kernel->leaving;
		kernel->leaving = 0;
		if (head.nlmsg_flags & NLM_F_DUMP)
			dump_qps(kernel);
		else
			r = one_qp(kernel, request, size);
		break;
	default:
		r = -EOPNOTSUPP;
	}
	rd_buf_deinit(&body);
	if (r < 0) {
		rd_buf_deinit(&kernel->out);
		return rd_err_set(err, -r, "netlink", "no");
	}
	*ret = (struct rd_bytes){ (uint8_t *)kernel->out.data, kernel->out.len };
	return 0;
}

static int inode(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err)
{
	*ret = 1;
	if (op == RD_OP_INO && ((struct kernel *)src)->driver)
		return 0;
	return rd_err_set(err, ENOENT, path, "no");
}

static int read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	const char *release = ((struct kernel *)src)->release;

	if (release && strcmp(path, "/proc/sys/kernel/osrelease") == 0)
		return rd_bytes_copy(release, strlen(release), ret);
	return rd_err_set(err, ENOENT, path, "no");
}

static int list_dir(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err)
{
	*ret = (struct rd_texts){ 0 };
	return 0;
}

static struct kernel kernel_of(size_t n)
{
	struct kernel kernel = { .ops = { .ops = { .name = "live", .get = parts_get },
					  .netlink = answer,
					  .read_file = read_file,
					  .stat = inode,
					  .list_dir = list_dir },
				 .n = n,
				 .per_message = 4,
				 .counted = n };

	for (size_t i = 0; i < n; i++)
		kernel.qps[i] = 17 + (uint32_t)i * 3;
	return kernel;
}

static void list(struct kernel *kernel, struct rd_res *res)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };

	kernel->src.ops = &kernel->ops.ops;
	*res = (struct rd_res){ 0 };
	assert_int_equal(rd_collect_res(&kernel->src, RD_WANT_QPS, NULL, res, &errors, NULL), 0);
}

/* Lists, and requires one finding, whose text contains the words. */
static void finds(struct kernel *kernel, struct rd_res *res, const char *id, const char *words)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	list(kernel, res);
	rd_res_findings(res, &findings);
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].id, id);
	assert_non_null(strstr(findings.v[0].observed, words));
}

TEST(all_queue_pairs_are_listed)
{
	struct kernel kernel = kernel_of(10);
	_cleanup_(rd_res_deinit) struct rd_res res;

	list(&kernel, &res);
	assert_int_equal(res.n_devs, 1);
	assert_string_equal(res.devs[0].name, "rdma0");
	assert_int_equal(res.n_qps, 10);
	ASSERT_EACH(IS(res.devs[0].used[RD_RES_QP].v, 10), IS(res.devs[0].listed[RD_RES_QP], 10),
		    IS(res.qps[9].lqpn.v, 44), IS(res.qps[9].rqpn.v, 144), IS(res.qps[9].state.v, RD_QPS_RTS),
		    IS(res.qps[9].sq_psn.known, RD_ABSENT), IS(kernel.asked_by_number, 0));
}

/* Before Linux 6.12 siw does not write the state: the kernel sends what was in its memory. */
TEST(a_state_that_the_driver_does_not_write_is_unknown)
{
	static const struct {
		uint32_t driver;
		const char *release;
		enum rd_known known;
	} cells[] = {
		{ RD_DRIVER_SIW, "6.1.0-57-amd64", RD_ABSENT },
		{ RD_DRIVER_SIW, "6.12.118+deb13-amd64", RD_OK },
		{ RD_DRIVER_SIW, "7.2.12", RD_OK },
		{ RD_DRIVER_SIW, NULL, RD_ABSENT },
		{ RD_DRIVER_RXE, "6.1.0-57-amd64", RD_OK },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cells); i++) {
		struct kernel kernel = kernel_of(3);
		_cleanup_(rd_res_deinit) struct rd_res res;

		kernel.driver = cells[i].driver;
		kernel.release = cells[i].release;
		list(&kernel, &res);
		assert_int_equal(res.n_qps, 3);
		assert_int_equal(res.qps[2].state.known, cells[i].known);
	}
}

/* The second of three messages has one that cannot be queried: it and the third are missing from the dump. */
TEST(one_that_cannot_be_queried_hides_no_other)
{
	struct kernel kernel = kernel_of(10);
	_cleanup_(rd_res_deinit) struct rd_res res;

	kernel.sick = 32;
	finds(&kernel, &res, "qp-query-failed", "");
	assert_int_equal(res.n_qps, 10);
	assert_int_equal(res.devs[0].gaps[RD_RES_QP].code, EIO);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(res.qps[i].lqpn.v, kernel.qps[i]);
		assert_int_equal(res.qps[i].query_errno, kernel.qps[i] == 32 ? EIO : 0);
		assert_int_equal(res.qps[i].state.known, kernel.qps[i] == 32 ? RD_ABSENT : RD_OK);
	}
	/* It ends with the last one that the kernel counts. */
	assert_true(kernel.asked_by_number < 64);
}

TEST(even_where_the_first_message_fails)
{
	struct kernel kernel = kernel_of(3);
	_cleanup_(rd_res_deinit) struct rd_res res;

	kernel.sick = 17;
	list(&kernel, &res);
	assert_int_equal(res.n_qps, 3);
	assert_int_equal(res.qps[0].query_errno, EIO);
}

/* The kernel shows by number what is at a port: of the others it is known that they are there. */
TEST(those_at_no_port_are_listed_without_a_state)
{
	struct kernel kernel = kernel_of(10);
	struct rd_res res;

	kernel.sick = 32;
	kernel.in_reset = 41;
	finds(&kernel, &res, "qp-query-failed", "1 queue pairs: Input/output error; the kernel does not report 1 more");
	assert_int_equal(res.n_qps, 10);
	assert_int_equal(res.qps[8].lqpn.v, 41);
	ASSERT_EACH(IS(res.qps[8].query_errno, EAGAIN), IS(res.qps[8].state.known, RD_ABSENT));
	rd_res_deinit(&res);
	/* And of these it can be. */
	kernel.in_reset = kernel.sick;
	finds(&kernel, &res, "qp-query-failed", "one of 1 queue pairs that have not reached INIT: Input/output error");
	rd_res_deinit(&res);
}

/* A kernel that refuses to be asked by number has said nothing about any of them. */
TEST(no_queue_pair_is_made_up)
{
	struct kernel kernel = kernel_of(10);
	_cleanup_(rd_res_deinit) struct rd_res res;

	kernel.sick = 32;
	kernel.only_lists = true;
	finds(&kernel, &res, "qps-not-listed", "4 of 10");
	assert_int_equal(res.n_qps, 4);
}

TEST(what_other_namespaces_have_is_said)
{
	struct kernel kernel = kernel_of(2);
	_cleanup_(rd_res_deinit) struct rd_res res;

	kernel.counted = 7;
	finds(&kernel, &res, "qps-not-listed", "2 of 7");
}

/* On a busy host some always end between the count and the list. */
TEST(what_has_just_gone_is_not_missing)
{
	struct kernel kernel = kernel_of(2);
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_res_deinit) struct rd_res res;

	kernel.counted = 3;
	kernel.leaving = 1;
	list(&kernel, &res);
	rd_res_findings(&res, &findings);
	assert_int_equal(findings.n, 0);
}

TEST(a_damaged_answer_is_said)
{
	struct kernel kernel = kernel_of(4);
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_res_deinit) struct rd_res res;

	kernel.cut = true;
	list(&kernel, &res);
	assert_int_equal(res.n_qps, 0);
	assert_true(res.devs[0].gaps[RD_RES_QP].damaged);
	rd_res_findings(&res, &findings);
	assert_int_equal(findings.n, 1);
}

TEST(a_device_that_is_not_there_is_an_error)
{
	struct kernel kernel = kernel_of(1);
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	struct rd_err err = { 0 };

	kernel.src.ops = &kernel.ops.ops;
	assert_int_equal(rd_collect_res(&kernel.src, RD_WANT_QPS, "rdma1", &res, NULL, &err), -ENODEV);
	assert_string_equal(err.object, "rdma1");
}
