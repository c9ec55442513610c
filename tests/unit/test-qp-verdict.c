/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp-host.h"

#include "analyse/qp/qp-verdict-priv.h"
#include "analyse/qp/qp.h"
#include "base/klog-form.h"

static void log_line(struct host *h, const char *text, uint64_t time_ns, uint8_t facility)
{
	h->lines[h->klog.n++] = (struct rd_krecord){
		.text = text, .form = rd_klog_form_of(text), .time_ns = time_ns, .facility = facility
	};
	h->judge.klog = &h->klog;
}

#define LOOK_TEST(name) TEST_BEGUN(name, struct host, h, host_init, host_deinit)

LOOK_TEST(one_look_tells_little)
{
	put(h, 1, RD_QPS_RTS);
	RD_SET(h->qps[0].sq_psn, 5);
	age(h, put(h, 2, RD_QPS_INIT), RD_AGE_AT_LEAST, 0, 0);
	h->qps[2] = (struct rd_qp){ .query_errno = EIO };
	h->res.n_qps = 3;
	put(h, 4, RD_QPS_RTS);
	RD_SET(h->qps[3].type, RD_QPT_UD);
	put(h, 5, RD_QPS_RTS); /* iWARP */
	judged(h, 0, "cannot-tell", "one sample");
	is(h->v[1].verdict, "cannot-tell", "stuck after 10 s");
	is(h->v[2].verdict, "cannot-tell", "EIO");
	is(h->v[3].verdict, "ok", "no connection");
	is(h->v[4].verdict, "cannot-tell", "reports no PSNs");
}

LOOK_TEST(stuck_is_what_takes_longer)
{
	age(h, put(h, 1, RD_QPS_INIT), RD_AGE_AT_LEAST, 10, 0);
	age(h, put(h, 2, RD_QPS_RTR), RD_AGE_EXACT, 9.9, 9.9);
	age(h, put(h, 3, RD_QPS_INIT), RD_AGE_INTERVAL, 9, 11);
	age(h, put(h, 4, RD_QPS_INIT), RD_AGE_EXACT, 12, 12);
	h->past[3].last_err = -ETIMEDOUT;
	judged(h, 0, "stuck", "at least 10.0 s");
	is(h->v[1].verdict, "ok", "connecting: in");
	is(h->v[2].verdict, "cannot-tell", "9.0 to 11.0 s");
	is(h->v[3].verdict, "stuck", "ETIMEDOUT");
}

LOOK_TEST(nothing_moves)
{
	put(h, 1, RD_QPS_RTS);
	put(h, 2, RD_QPS_RTS)->dev = 1;
	two_looks(h, 2);
	RD_SET(h->since[1].v[RD_QPC_RETRIES], 12);
	judged(h, 0, "idle", "no packet in 2.0 s");
	is(h->v[1].verdict, "retrying", "device-wide");
	/* Another that stands still: it could be either. */
	put(h, 3, RD_QPS_RTS)->dev = 1;
	RD_SET(h->past[2].psn_per_second, 0);
	judged(h, 1, "cannot-tell", "2 queue pairs");
	is(h->v[2].verdict, "cannot-tell", "2 queue pairs");
}

/* What is sent again may be what another lost, which goes on. */
LOOK_TEST(one_that_moves_may_be_meant)
{
	put(h, 1, RD_QPS_RTS);
	put(h, 2, RD_QPS_RTS);
	two_looks(h, 2);
	RD_SET(h->past[1].psn_per_second, 1000);
	judged(counted(h, "retries 12"), 0, "cannot-tell", "2 queue pairs");
	/* 12 timeouts for 2000 packets: it may be the one that lost them. */
	is(h->v[1].verdict, "cannot-tell", "of this or another queue pair");
	judged(counted(h, "sent 200000"), 1, "ok", "packets per second");
	/* One of UC is not: it never sends again. */
	RD_SET(h->qps[1].type, RD_QPT_UC);
	judged(h, 0, "retrying", "retransmitted 12 times");
	RD_SET(h->past[1].psn_per_second, 0);
	judged(h, 1, "idle", "UC");
}

LOOK_TEST(what_is_not_counted_is_not_nothing)
{
	put(h, 1, RD_QPS_RTS);
	two_looks(h, 2);
	h->since[0].v[RD_QPC_RETRIES].known = RD_ABSENT;
	judged(h, 0, "cannot-tell", "are not counted");
}

LOOK_TEST(one_packet_is_no_progress)
{
	put(h, 1, RD_QPS_RTS);
	two_looks(h, 2);
	RD_SET(h->past[0].psn_per_second, 0.5);
	judged(counted(h, "retries 12"), 0, "retrying", "12 times");
	RD_SET(h->past[0].psn_per_second, 5);
	h->since[0].v[RD_QPC_RETRIES].v = 1;
	judged(h, 0, "ok", "5 packets per second");
}

LOOK_TEST(exhausted_only_with_evidence)
{
	past_of(h, put(h, 1, RD_QPS_ERR))->fresh = true;
	two_looks(h, 1);
	judged(h, 0, "failed", "cause unknown");
	judged(counted(h, "exhausted 1"), 0, "retries-exhausted", "device-wide");
	/* It is kept when the counter has long stood still. */
	h->past[0].fresh = false;
	h->since[0].v[RD_QPC_EXHAUSTED].v = 0;
	judged(h, 0, "retries-exhausted", "device-wide");
}

LOOK_TEST(more_failed_than_gave_up)
{
	past_of(h, put(h, 1, RD_QPS_ERR))->fresh = true;
	past_of(h, put(h, 2, RD_QPS_ERR))->fresh = true;
	two_looks(h, 1);
	judged(counted(h, "exhausted 1"), 0, "failed", "cause unknown");
	is(h->v[1].verdict, "failed", "cause unknown");
}

LOOK_TEST(flushed_by_its_program)
{
	past_of(h, put(h, 1, RD_QPS_ERR))->moved_by_call = true;
	put(h, 2, RD_QPS_ERR);
	RD_SET(h->past[1].last_event, 3);
	judged(h, 0, "flushed", "its program");
	is(h->v[1].verdict, "failed", "QP_ACCESS_ERR");
}

LOOK_TEST(log_lines_find_their_queue_pair)
{
	put(h, 17, RD_QPS_ERR);
	put(h, 18, RD_QPS_ERR);
	put(h, 18, RD_QPS_ERR)->dev = 1;
	age(h, put(h, 0x1a2, RD_QPS_ERR), RD_AGE_INTERVAL, 5, 10);
	h->qps[3].dev = 1;
	log_line(h, "mlx5_1: QP 0x1a2 error: something old", 10 * S, 0);
	log_line(h, "infiniband mlx5_0: qp#17 make_send_cqe: non-flush error status = 12", 90 * S, 0);
	log_line(h, "mlx5_0: QP 18 written by a program: retry exceeded", 91 * S, 1);
	log_line(h, "mlx5_1/1: QP 18 error: local protection error (0x32 0x0 0x9)", 92 * S, 0);
	judged(h, 0, "retries-exhausted", "RETRY_EXC_ERR");
	is(h->v[1].verdict, "failed", "cause unknown");
	is(h->v[2].verdict, "failed", "local protection error");
	is(h->v[3].verdict, "failed", "cause unknown");
}

/* Numbers are reused: a line that is older than the process is about another queue pair. A newer one has the time of the failure, unless
 * another line has, too, or it was seen in ERR before. */
LOOK_TEST(lines_of_another_life)
{
	age(h, put(h, 17, RD_QPS_ERR), RD_AGE_AT_LEAST, 0, 0);
	h->qps[0].proc = 1;
	log_line(h, "mlx5_0: qp#17 make_send_cqe: non-flush error status = 12", 60 * S, 0);
	RD_SET(h->procs[1].start_ns, 61 * S);
	judged(h, 0, "failed", "in ERR for at least 0.0 s; cause unknown");
	h->procs[1].start_ns.v = 59 * S;
	judged(h, 0, "retries-exhausted", "in ERR for 40.0 s; kernel log: ");
	assert_int_equal(h->v[0].past->age_kind, RD_AGE_EXACT);
	age(h, &h->qps[0], RD_AGE_AT_LEAST, 50, 0);
	judged(h, 0, "retries-exhausted", "in ERR for at least 50.0 s; kernel log: ");
	age(h, &h->qps[0], RD_AGE_AT_LEAST, 0, 0);
	h->past[0].age_max_seconds.known = RD_ABSENT;
	h->lines[0].time_ns = 60 * S;
	log_line(h, "mlx5_0: qp#17 make_send_cqe: non-flush error status = 12", 70 * S, 0);
	judged(h, 0, "retries-exhausted", "in ERR for at least 0.0 s; kernel log: ");
}

TEST(numbers_as_drivers_write_them)
{
	static const struct {
		const char *text;
		size_t n;
		uint32_t first;
	} lines[] = {
		{ "QP 1234 error", 1, 1234 },
		{ "qp#17 moved", 1, 17 },
		{ "qpn 0x1a2: x", 1, 0x1a2 },
		{ "qp_num=5", 1, 5 },
		{ "QPN:0x12, QP 7", 2, 0x12 },
		{ "qp_id = 0xffffffff", 0, 0 },
		{ "qp error 7", 0, 0 },
		{ "a mqp 5", 0, 0 },
		{ "QP 1a2b", 1, 0x1a2b },
		{ "qp 99999999999999999999", 0, 0 },
		{ "qp", 0, 0 },
		{ "qp #", 0, 0 },
		{ "QP number 12", 0, 0 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(lines); i++) {
		uint32_t found[4] = { 0 };

		assert_int_equal(rd_klog_qps(lines[i].text, found, 4), lines[i].n);
		if (lines[i].n)
			assert_int_equal(found[0], lines[i].first);
	}
}

LOOK_TEST(remarks_are_one_a_device)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	put(h, 1, RD_QPS_ERR);
	put(h, 2, RD_QPS_ERR);
	put(h, 3, RD_QPS_ERR)->dev = 1;
	judge(h);
	rd_qp_verdict_findings(&h->views, NULL, &findings);
	assert_int_equal(findings.n, 2);
	assert_int_equal(findings.v[0].severity, RD_SEV_CRITICAL);
	assert_non_null(strstr(findings.v[0].subject, "2 queue pairs"));
	assert_non_null(findings.v[0].fix);
}

/* Held against what the kernel's rdma_calc_flow_label and rdma_flow_label_to_udp_sport give. */
TEST(source_port_as_the_kernel_has_it)
{
	assert_int_equal(rd_flow_label_of_qps(17, 17), 289);
	assert_int_equal(rd_udp_sport(0, 17, 17), 0xc000 | 289);
	assert_int_equal(rd_udp_sport(0xfffff, 1, 1), 0xc000 | (0x3fff ^ 0x3f));
	assert_int_equal(rd_flow_label_of_qps(0xffffff, 0xffffff), 0xfff1e);
}

/* bnxt_re leaves it to the device. */
TEST(source_port_of_each_driver)
{
	static const struct {
		uint32_t driver, label;
		bool has_lid;
		uint16_t port; /* 0: unknown */
	} cells[] = {
		{ RD_DRIVER_MLX5, 0, false, 0xc000 | 17 * 33 },
		{ RD_DRIVER_MLX5, 0xfffff, false, 0xc000 | (0x3fff ^ 0x3f) },
		{ RD_DRIVER_MLX5, 0, true, 0 },
		{ RD_DRIVER_IONIC, 0, false, 0xc000 | 17 * 33 },
		{ RD_DRIVER_RXE, 0, false, 0xc000 | 17 * 33 },
		{ RD_DRIVER_BNXT_RE, 0xfffff, false, 0 },
		{ 0, 0, false, 0 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cells); i++) {
		struct rd_qp_seen seen = { 0 };

		rd_qp_seen_add_sport(&seen, cells[i].driver, 17, 33, cells[i].has_lid);
		assert_int_equal(seen.udp_sport.known, RD_ABSENT);
		RD_SET(seen.flow_label, cells[i].label);
		rd_qp_seen_add_sport(&seen, cells[i].driver, 17, 33, cells[i].has_lid);
		assert_int_equal(seen.udp_sport.known, cells[i].port ? RD_OK : RD_ABSENT);
		assert_int_equal(seen.udp_sport.v, cells[i].port);
	}
}
