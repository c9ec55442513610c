/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said of timers, and of peers and timers that are unknown. */
#include "qp-side.h"

#include "analyse/qp/qp.h"

/* A queue pair whose driver fills in these values. */
static struct rd_qp_context *queried(struct side *side, uint32_t lqpn, uint8_t timeout, uint8_t rnr_retry,
				     uint8_t min_rnr)
{
	struct rd_qp_context *context = rd_qp_need_context(add_qp(side, lqpn, 33, RD_QPS_RTS, 0));

	context->queried = true;
	RD_SET(context->attrs.timeout, timeout);
	RD_SET(context->attrs.rnr_retry, rnr_retry);
	RD_SET(context->attrs.min_rnr_timer, min_rnr);
	return context;
}

static const struct rd_finding *find(const struct rd_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->v[i].id, id) == 0)
			return &findings->v[i];
	return NULL;
}

JOIN_TEST(timers_that_are_off_or_longest_are_found)
{
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	queried(a, 17, 18, 6, 12);
	add_qp(a, 18, 34, RD_QPS_RTS, 0);
	rd_qp_link(&a->views);
	rd_qp_timer_findings(&a->views, NULL, &findings);
	assert_int_equal(findings.n, 0);
	queried(a, 19, 0, 7, 0);
	rd_qp_link(&a->views);
	rd_qp_timer_findings(&a->views, NULL, &findings);
	assert_int_equal(findings.n, 3);
	assert_int_equal(find(&findings, "ack-timer-off")->severity, RD_SEV_WARNING);
	assert_string_equal(find(&findings, "ack-timer-off")->observed,
			    "timeout 0 on 1 of 2 queue pairs, first: rdma0 qpn 19");
	/* Both are common: a healthy host stays healthy. */
	assert_int_equal(find(&findings, "rnr-timer-longest")->severity, RD_SEV_NOTE);
	assert_int_equal(find(&findings, "rnr-retry-forever")->severity, RD_SEV_NOTE);
}

/* A queue pair that only receives has no timeout yet, nor has one that failed before RTS. */
JOIN_TEST(a_timer_that_does_not_run_is_not_judged)
{
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	queried(a, 17, 0, 7, 12);
	RD_SET(a->res.qps[0].state, RD_QPS_RTR);
	queried(a, 18, 0, 7, 0);
	RD_SET(a->res.qps[1].type, RD_QPT_UC);
	/* The initiator of XRC receives no requests. */
	queried(a, 19, 18, 6, 0);
	RD_SET(a->res.qps[2].type, RD_QPT_XRC_INI);
	rd_qp_link(&a->views);
	rd_qp_timer_findings(&a->views, NULL, &findings);
	assert_int_equal(findings.n, 0);
	assert_false(rd_qp_timeout_findings(&a->views, NULL, &findings));
	assert_int_equal(findings.n, 0);
}

JOIN_TEST(unknown_timeouts_are_told_with_the_reason)
{
	static const struct {
		unsigned fills;
		enum rd_probe probe;
		const char *why;
	} reasons[] = { { 0, RD_PROBE_ON, "does not fill it in" },
			{ RD_FILLS_PEER | RD_FILLS_TIMEOUT, RD_PROBE_NONE, "not recorded" },
			{ RD_FILLS_PEER | RD_FILLS_TIMEOUT, RD_PROBE_OFF, "--no-probe" },
			{ RD_FILLS_PEER | RD_FILLS_TIMEOUT, RD_PROBE_DENIED, "CAP_PERFMON" },
			{ RD_FILLS_PEER | RD_FILLS_TIMEOUT, RD_PROBE_FAILED, "on this host" },
			{ RD_FILLS_PEER | RD_FILLS_TIMEOUT, RD_PROBE_ON, "missed" } };
	struct side *a = &two->a;

	add_qp(a, 17, 33, RD_QPS_RTS, 0);
	rd_qp_link(&a->views);
	for (size_t i = 0; i < RD_ARRAY_SIZE(reasons); i++) {
		struct rd_findings findings = { 0 };

		a->res.devs[0].fills = reasons[i].fills;
		a->res.probe = reasons[i].probe;
		assert_true(rd_qp_timeout_findings(&a->views, NULL, &findings));
		rd_qp_peer_findings(&a->views, NULL, &findings);
		assert_int_equal(findings.n, 2);
		assert_int_equal(find(&findings, "timeouts-unknown")->severity, RD_SEV_UNKNOWN);
		assert_int_equal(find(&findings, "peer-unknown")->severity, RD_SEV_NOTE);
		for (size_t f = 0; f < findings.n; f++)
			assert_non_null(strstr(findings.v[f].observed, reasons[i].why));
		rd_findings_deinit(&findings);
	}
}

JOIN_TEST(one_that_is_known_makes_a_table)
{
	static const bool first[] = { true, false, false }, last[] = { false, false, true };
	struct side *a = &two->a;
	struct rd_findings findings = { 0 };

	queried(a, 17, 14, 7, 12);
	add_qp(a, 18, 34, RD_QPS_RTS, 2);
	add_qp(a, 19, 0, RD_QPS_ERR, 0);
	rd_qp_link(&a->views);
	assert_false(rd_qp_timeout_findings(&a->views, NULL, &findings));
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].observed, "1 of 2 queue pairs"));
	rd_findings_deinit(&findings);
	assert_false(rd_qp_timeout_findings(&a->views, first, &findings));
	/* The peer of 18 is known, and 19 failed before it had one. */
	rd_qp_peer_findings(&a->views, last, &findings);
	assert_int_equal(findings.n, 0);
	rd_qp_peer_findings(&a->views, NULL, &findings);
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].observed, "1 of 2 queue pairs"));
	rd_findings_deinit(&findings);
}
