/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is concluded about queue pairs: filters, groups, the other end, when they give up. */
#include "qp-side.h"

#include <math.h>

#include "analyse/qp/qp-verdict.h"
#include "analyse/qp/qp.h"

TEST(a_timeout_is_that_of_the_specification)
{
	struct rd_timeouts in = { 0 };
	struct rd_giveup out;

	RD_SET(in.timeout, 18);
	out = rd_qp_giveup(in);
	assert_int_equal(out.ack_least.known, RD_ABSENT);
	RD_SET(in.retry_cnt, 7);
	out = rd_qp_giveup(in);
	assert_true(fabs(out.ack_timeout.v - 1.073741824) < 1e-9);
	assert_true(fabs(out.ack_least.v - 8.589934592) < 1e-9);
	assert_true(fabs(out.ack_most.v - 34.359738368) < 1e-9);
	in.rxe = true;
	assert_true(rd_qp_giveup(in).ack_for_ever);
	RD_SET(in.retry_cnt, 6);
	assert_false(rd_qp_giveup(in).ack_for_ever);
	RD_SET(in.timeout, 0);
	out = rd_qp_giveup(in);
	assert_true(out.ack_for_ever);
	assert_int_equal(out.ack_least.known, RD_ABSENT);
}

TEST(an_rnr_timer_is_that_of_the_table)
{
	static const double ms[32] = { 655.36, 0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,  0.32,
				       0.48,   0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24, 15.36,
				       20.48,  30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52 };
	struct rd_timeouts in = { 0 };

	for (unsigned code = 0; code < 32; code++)
		assert_true(fabs(rd_rnr_timer_seconds(code) - ms[code] / 1000) < 1e-9);
	RD_SET(in.rnr_retry, 3);
	RD_SET(in.min_rnr_timer, 12);
	assert_true(fabs(rd_qp_giveup(in).rnr_least.v - 0.00192) < 1e-9);
	RD_SET(in.rnr_retry, 7);
	assert_true(rd_qp_giveup(in).rnr_for_ever);
	assert_int_equal(rd_qp_giveup(in).rnr_least.known, RD_ABSENT);
}

static size_t matching(const struct side *side, const char *option, const char *arg)
{
	struct rd_qp_filter filter = { 0 };
	size_t n = 0;

	assert_int_equal(rd_qp_filter_set(&filter, option, arg, NULL), 0);
	for (size_t i = 0; i < side->res.n_qps; i++)
		n += rd_qp_filter_matches(&filter, &side->views, i);
	return n;
}

JOIN_TEST(filters_choose)
{
	struct side *a = &two->a;
	struct rd_qp_filter filter = { 0 };
	struct rd_err err = { 0 };

	a->res.procs = calloc(1, sizeof(*a->res.procs));
	a->res.n_procs = 1;
	a->res.procs[0] = (struct rd_proc){ .pid = 42, .comm = strdup("trainer"), .job = strdup("slurm:7.0") };
	add_qp(a, 17, 33, RD_QPS_RTS, 2)->proc = 0;
	RD_SET(a->res.qps[0].owner.pid, 42);
	add_qp(a, 18, 34, RD_QPS_ERR, 3);
	add_qp(a, 19, 35, RD_QPS_INIT, 0)->state.known = RD_ABSENT;
	ASSERT_EACH(IS(matching(a, "state", "RTS"), 1), IS(matching(a, "state", "rts,err"), 2),
		    IS(matching(a, "state", "!RTS"), 2), IS(matching(a, "state", "^RTS,unknown"), 1),
		    IS(matching(a, "state", "unknown"), 1), IS(matching(a, "type", "RC"), 3),
		    IS(matching(a, "type", "!RC"), 0), IS(matching(a, "lqpn", "0x11,19"), 2),
		    IS(matching(a, "rqpn", "34"), 1), IS(matching(a, "pid", "42"), 1),
		    IS(matching(a, "comm", "train*"), 1), IS(matching(a, "job", "slurm:7"), 1),
		    IS(matching(a, "job", "slurm:70"), 0), IS(matching(a, "peer", "10.0.0.2"), 1),
		    IS(matching(a, "peer", "::ffff:10.0.0.3"), 1), IS(matching(a, "device", "rdma9,rdma0"), 3));
	assert_int_equal(rd_qp_filter_set(&filter, "state", "RTZ", &err), -EINVAL);
	assert_int_equal(rd_qp_filter_set(&filter, "state", "", &err), -EINVAL);
	assert_int_equal(rd_qp_filter_set(&filter, "lqpn", "1,,2", &err), -EINVAL);
	assert_int_equal(rd_qp_filter_set(&filter, "peer", "mlx5_0", &err), -EINVAL);
}

JOIN_TEST(the_unit_of_health_is_the_path)
{
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_qp_groups_deinit) struct rd_qp_groups groups;

	add_qp(a, 17, 33, RD_QPS_RTS, 2);
	add_qp(a, 18, 34, RD_QPS_ERR, 3);
	add_qp(a, 19, 35, RD_QPS_SQE, 3);
	add_qp(a, 20, 36, RD_QPS_ERR, 4);
	add_qp(a, 21, 37, RD_QPS_RTS, 4);
	add_qp(a, 22, 0, RD_QPS_INIT, 0);
	add_qp(a, 1, 0, RD_QPS_RTS, 0)->type.v = RD_QPT_GSI;
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 4);
	ASSERT_EACH(IS(groups.without_peer, 1), READS(groups.v[0].label, "10.0.0.3"),
		    IS(groups.v[0].health, RD_HEALTH_DEAD), READS(groups.v[1].label, "10.0.0.4"),
		    IS(groups.v[1].health, RD_HEALTH_DEGRADED), READS(groups.v[2].label, "10.0.0.2"),
		    IS(groups.v[2].health, RD_HEALTH_OK));
	assert_null(groups.v[3].label);
	assert_int_equal(groups.v[3].health, RD_HEALTH_STARTING);
	rd_qp_groups_findings(&a->res, &groups, &findings);
	assert_int_equal(findings.n, 2);
	assert_int_equal(findings.v[0].severity, RD_SEV_CRITICAL);
}

static const struct rd_qp_verdict closed = { .kind = RD_QPV_FLUSHED }, slow = { .kind = RD_QPV_SLOW };

/* A program that closes its connections moves them to ERR: the path may be as good as before. */
JOIN_TEST(what_a_program_closed_is_no_dead_path)
{
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_qp_groups_deinit) struct rd_qp_groups groups;

	view_of(a, add_qp(a, 17, 33, RD_QPS_ERR, 2))->verdict = &closed;
	view_of(a, add_qp(a, 18, 34, RD_QPS_ERR, 3))->verdict = &closed;
	add_qp(a, 19, 35, RD_QPS_RTS, 3);
	view_of(a, add_qp(a, 20, 36, RD_QPS_ERR, 4))->verdict = &closed;
	add_qp(a, 21, 37, RD_QPS_ERR, 4);
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 3);
	ASSERT_EACH(READS(groups.v[0].label, "10.0.0.2"), IS(groups.v[0].health, RD_HEALTH_UNKNOWN),
		    READS(groups.v[1].label, "10.0.0.4"), IS(groups.v[1].health, RD_HEALTH_DEAD),
		    READS(groups.v[2].label, "10.0.0.3"), IS(groups.v[2].health, RD_HEALTH_OK));
	rd_qp_groups_findings(&a->res, &groups, &findings);
	assert_int_equal(findings.n, 1);
}

/* What is wrong is in the evidence, and in what to run. */
JOIN_TEST(what_degrades_a_path_is_counted)
{
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_qp_groups_deinit) struct rd_qp_groups groups;

	view_of(a, add_qp(a, 17, 33, RD_QPS_RTS, 0))->verdict = &slow;
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	rd_qp_groups_findings(&a->res, &groups, &findings);
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(findings.v[0].observed, "1 cut off, slow"));
	assert_null(strstr(findings.v[0].fix, "--state ERR"));
}

/* Of several peers, none may be cut off; and one that gets nothing through is not well. */
JOIN_TEST(peers_that_are_not_known_are_never_dead)
{
	const struct rd_qp_verdict retrying = { .kind = RD_QPV_RETRYING };
	struct side *a = &two->a;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_qp_groups_deinit) struct rd_qp_groups groups;

	add_qp(a, 17, 33, RD_QPS_ERR, 0);
	view_of(a, add_qp(a, 18, 34, RD_QPS_RTS, 2))->verdict = &retrying;
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 2);
	assert_string_equal(groups.v[0].label, "10.0.0.2");
	assert_int_equal(groups.v[0].health, RD_HEALTH_DEGRADED);
	assert_int_equal(groups.v[0].worst, rd_qp_verdicts[RD_QPV_RETRYING].finding.severity);
	assert_int_equal(groups.v[1].worst, rd_qp_verdicts[RD_QPV_NONE].finding.severity);
	assert_null(groups.v[1].label);
	assert_int_equal(groups.v[1].health, RD_HEALTH_DEGRADED);
	rd_qp_groups_findings(&a->res, &groups, &findings);
	assert_int_equal(findings.n, 2);
	assert_int_equal(findings.v[1].severity, RD_SEV_WARNING);
}

/* iWARP and InfiniBand: the address that rdma_cm connected to is no GID, but names the peer. */
JOIN_TEST(peers_are_known_by_the_address_of_their_connection)
{
	struct side *a = &two->a;
	_cleanup_(rd_qp_groups_deinit) struct rd_qp_groups groups;

	free(a->res.devs[0].protocol);
	a->res.devs[0].protocol = strdup("ib");
	cm_connect(a, add_qp(a, 17, 33, RD_QPS_RTS, 0), 1, 40000, 2, 7174);
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 1);
	ASSERT_EACH(READS(groups.v[0].label, "10.0.0.2"), IS(matching(a, "peer", "10.0.0.2"), 1),
		    IS(matching(a, "peer", "10.0.0.3"), 0));
}

/* The connection of a process that has lost its queue pair names a number that is another's by now. */
JOIN_TEST(a_connection_is_of_its_own_process)
{
	struct side *a = &two->a;
	struct rd_qp *qp = add_qp(a, 17, 33, RD_QPS_RTS, 0);
	const struct rd_qp_view *view = view_of(a, qp);

	cm_connect(a, qp, 1, 40000, 2, 7174);
	link_of(a, qp)->cm_id = -1;
	RD_SET(a->res.cm_ids[0].lqpn, 17);
	RD_SET(a->res.cm_ids[0].owner.pid, 42);
	RD_SET(qp->owner.pid, 43);
	rd_qp_link(&a->views);
	assert_int_equal(view->link->cm_id, -1);
	assert_false(view->link->has_gid);
	qp->owner.pid.v = 42;
	rd_qp_link(&a->views);
	assert_int_equal(view->link->cm_id, 0);
	assert_true(view->link->has_gid);
}

/* What the driver fills in of 17: its peer is 10.0.0.2. A connection's address comes first, and what was recorded before both. */
JOIN_TEST(a_query_names_the_peer_unless_something_earlier_does)
{
	struct side *a = &two->a;
	struct rd_qp *qp = add_qp(a, 17, 33, RD_QPS_RTS, 0);
	struct rd_qp_view *view = view_of(a, qp);
	struct rd_qp_context *context = rd_qp_need_context(qp);
	struct rd_qp_seen attrs;

	context->queried = true;
	context->attrs.has_dgid = true;
	gid_of(context->attrs.dgid, 2);
	RD_SET(context->attrs.timeout, 14);
	RD_SET(context->attrs.retry_cnt, 7);
	rd_qp_link(&a->views);
	assert_int_equal(rd_qp_peer_source(&a->res, view), RD_PEER_KERNEL_QUERY);
	assert_int_equal(rd_qp_timeout_source(view), RD_PEER_KERNEL_QUERY);
	assert_int_equal(matching(a, "peer", "10.0.0.2"), 1);
	context->queried = false;
	assert_int_equal(rd_qp_peer_source(&a->res, view), RD_PEER_DRIVER);
	cm_connect(a, qp, 1, 40000, 3, 7174);
	set_peer(a, qp, 3);
	assert_int_equal(rd_qp_peer_source(&a->res, view), RD_PEER_RDMA_CM);
	assert_int_equal(matching(a, "peer", "10.0.0.3"), 1);
	RD_SET(seen_of(a, qp)->timeout, 18);
	attrs = rd_qp_attributes(view);
	ASSERT_EACH(IS(attrs.timeout.v, 18), IS(attrs.retry_cnt.v, 7), IS(attrs.rnr_retry.known, RD_ABSENT));
	assert_int_equal(rd_qp_timeout_source(view), RD_PEER_RECORDER);
}

/* A number that is not listed may still be in use: by a queue pair that the kernel does not track, or in the rest of a list. */
JOIN_TEST(a_number_that_is_not_listed_is_named_with_what_may_hide_it)
{
	struct side *a = &two->a;
	struct rd_qp_filter filter = { 0 };
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
	struct rd_err err = { 0 };

	add_qp(a, 17, 33, RD_QPS_RTS, 0);
	assert_int_equal(rd_qp_filter_set(&filter, "lqpn", "17,18,19", NULL), 0);
	assert_int_equal(rd_qp_filter_missing(&filter, &a->res, &errors, &err), 2);
	assert_int_equal(errors.n, 2);
	ASSERT_EACH(READS(errors.v[0].object, "queue pair 18"), READS(errors.v[0].message, "not listed on rdma0"),
		    READS(err.object, "queue pair 19"));
	RD_SET(a->res.devs[0].driver_id, RD_DRIVER_MLX5);
	rd_qp_filter_missing(&filter, &a->res, NULL, &err);
	assert_non_null(strstr(err.message, "DEVX"));
	a->res.devs[0].gaps[RD_RES_QP].code = EIO;
	rd_qp_filter_missing(&filter, &a->res, NULL, &err);
	assert_non_null(strstr(err.message, "incomplete"));
	/* What is on a device that is not selected does not count. */
	filter.devices = "other";
	assert_int_equal(rd_qp_filter_missing(&filter, &a->res, NULL, &err), 3);
}
