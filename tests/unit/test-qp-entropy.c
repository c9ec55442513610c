/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How flows of queue pairs spread over equal-cost links. */
#include "qp-side.h"

#include <math.h>

#include "analyse/qp/qp.h"

JOIN_TEST(what_is_not_in_the_spread_is_said)
{
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_spreads spreads;

	add_qp(a, 17, 33, RD_QPS_RTS, 2);
	rd_qp_spread(&a->views, NULL, 4, &spreads);
	rd_qp_spread_findings(&a->res, &spreads, &findings);
	assert_int_equal(findings.n, 0);
	rd_spreads_deinit(&spreads);
	add_qp(a, 18, 34, RD_QPS_RTS, 0);
	add_qp(a, 19, 0, RD_QPS_RTS, 0)->rqpn.known = RD_ABSENT;
	add_qp(a, 20, 36, RD_QPS_ERR, 2);
	add_qp(a, 21, 37, RD_QPS_INIT, 2);
	rd_qp_spread(&a->views, NULL, 4, &spreads);
	assert_int_equal(spreads.v[0].flows, 2);
	rd_qp_spread_findings(&a->res, &spreads, &findings);
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].observed,
			       "1 with unknown remote QP; assumed to go to one peer: 1 with unknown peer"));
	rd_spreads_deinit(&spreads);
}

JOIN_TEST(flows_of_one_five_tuple_are_named)
{
	struct side *a = &two->a;
	_cleanup_(rd_spreads_deinit) struct rd_spreads spreads;

	/* The same numbers make the same port; another peer makes another tuple. */
	assert_int_equal(rd_udp_sport(0, 17, 33), rd_udp_sport(0, 33, 17));
	add_qp(a, 17, 33, RD_QPS_RTS, 2);
	add_qp(a, 33, 17, RD_QPS_RTS, 2);
	add_qp(a, 17, 33, RD_QPS_RTS, 3);
	add_qp(a, 19, 35, RD_QPS_RTS, 0);
	rd_qp_spread(&a->views, NULL, 4, &spreads);
	assert_int_equal(spreads.n, 3);
	ASSERT_EACH(IS(spreads.v[0].flows, 4), IS(spreads.v[0].tuples, 3), IS(spreads.v[0].tuples_qp, 4),
		    IS(spreads.v[1].flows, 2), IS(spreads.v[1].tuples, 1));
	assert_true(fabs(spreads.v[1].mean - 1) < 1e-9);
	assert_true(spreads.v[1].mean_qp < 0.99);
	assert_int_equal(spreads.n_collisions, 1);
	assert_int_equal(spreads.collisions[0].flows, 2);
	assert_non_null(strstr(spreads.collisions[0].lqpns, "33"));
}

/* What was not recorded may be otherwise. */
JOIN_TEST(an_assumed_port_proves_no_collision)
{
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_spreads spreads;

	for (int recorded = 0; recorded < 2; recorded++) {
		struct rd_qp *qps[] = { add_qp(a, 17, 33, RD_QPS_RTS, 2), add_qp(a, 33, 17, RD_QPS_RTS, 2) };

		for (size_t i = 0; recorded && i < 2; i++)
			RD_SET(seen_of(a, qps[i])->flow_label, 0);
		rd_qp_spread(&a->views, NULL, 4, &spreads);
		rd_qp_spread_findings(&a->res, &spreads, &findings);
		assert_int_equal(findings.n, 1 + recorded);
		assert_int_equal(findings.v[recorded].severity, recorded ? RD_SEV_WARNING : RD_SEV_UNKNOWN);
		rd_spreads_deinit(&spreads);
		a->res.n_qps = 0;
	}
}

/* Two addresses of this host, as of two containers that share a device: their packets differ in the source. */
JOIN_TEST(flows_from_two_addresses_have_two_tuples)
{
	struct side *a = &two->a;
	_cleanup_(rd_spreads_deinit) struct rd_spreads spreads;

	for (uint32_t i = 0; i < 2; i++) {
		struct rd_qp_seen *seen = seen_of(a, add_qp(a, 17 + i, 33, RD_QPS_RTS, 2));

		RD_SET(seen->flow_label, 0xfc001);
		seen->has_sgid = true;
		gid_of(seen->sgid, (uint8_t)(8 + i));
	}
	rd_qp_spread(&a->views, NULL, 4, &spreads);
	assert_int_equal(spreads.n_collisions, 0);
	assert_int_equal(spreads.v[0].tuples, 2);
}

/* A label that the application has set decides; one that a recorder saw to be 0 leaves it to the numbers. */
JOIN_TEST(a_flow_label_makes_the_port)
{
	struct side *a = &two->a;
	_cleanup_(rd_spreads_deinit) struct rd_spreads spreads;

	for (uint32_t i = 0; i < 3; i++) {
		struct rd_qp *qp = add_qp(a, 17 + i, 33, RD_QPS_RTS, 2);

		if (i > 0)
			RD_SET(seen_of(a, qp)->flow_label, i == 1 ? 0 : 0xfc001);
	}
	rd_qp_spread(&a->views, NULL, 4, &spreads);
	assert_int_equal(spreads.n_flows, 3);
	ASSERT_EACH(IS(spreads.flows[0].from, RD_SPORT_ASSUMED), IS(spreads.flows[0].udp_sport, 0xc000 | (17 * 33)),
		    IS(spreads.flows[1].from, RD_SPORT_NUMBERS), IS(spreads.flows[2].from, RD_SPORT_LABEL),
		    IS(spreads.flows[2].udp_sport, 0xc000 | (0x0001 ^ 0x3f)));
}

JOIN_TEST(many_flows_spread_evenly)
{
	struct side *a = &two->a;
	_cleanup_(rd_spreads_deinit) struct rd_spreads spreads;

	for (uint32_t i = 0; i < 4000; i++)
		add_qp(a, 1000 + i * 7, 5000 + i * 13, RD_QPS_RTS, 2);
	rd_qp_spread(&a->views, NULL, 8, &spreads);
	assert_true(spreads.v[0].tuples > 3000);
	assert_true(spreads.v[0].mean > 1.0 / 8 && spreads.v[0].mean < 0.15);
	assert_true(spreads.v[0].worst >= spreads.v[0].mean && spreads.v[0].worst < 0.17);
}
