/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is concluded about queue pairs: filters, groups, the other end, when they give up. */
#include "qp-side.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyse/qp/qp-filter.h"
#include "analyse/qp/qp-groups.h"
#include "analyse/qp/qp-join.h"
#include "analyse/qp/qp-timeout.h"
#include "analyse/qp/qp.h"

static void join(struct two *two)
{
	const struct rd_join_host hosts[] = { { two->a.name, &two->a.views, &two->a.host, two->a.time_ns },
					      { two->b.name, &two->b.views, &two->b.host, two->b.time_ns } };

	rd_qp_join(hosts, 2, &two->pairs);
}

/* The only pair's verdict. */
static int verdict(struct two *two)
{
	join(two);
	assert_int_equal(two->pairs.n, 1);
	return (int)two->pairs.v[0].verdict;
}

static void two_that_point_to_each_other_are_connected_once(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 0);
	add_qp(&two->b, 33, 17, RD_QPS_RTR, 0);
	assert_int_equal(verdict(two), RD_JOIN_CONNECTED);
	assert_int_equal(two->pairs.v[0].b.host, 1);
}

static void one_whose_peer_is_nowhere_is_not_half_open(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 0);
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
}

static void one_whose_peer_is_of_another_host_is_not_half_open(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 9);
	add_qp(&two->b, 33, 17, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
}

static void one_whose_peer_is_gone_by_its_gid_is_half_open(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	RD_SET(two->b.res.devs[0].used[RD_RES_QP], 0);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	assert_int_equal(two->pairs.v[0].b.host, -1);
}

static void but_not_where_the_device_may_hide_it(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	RD_SET(two->b.res.devs[0].used[RD_RES_QP], 0);
	RD_SET(two->b.res.devs[0].driver_id, 1);
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
	assert_non_null(strstr(two->pairs.v[0].reason, "DEVX"));
}

static void nor_where_not_all_were_captured(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	RD_SET(two->b.res.devs[0].used[RD_RES_QP], 5);
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
}

static void one_whose_peer_is_in_init_is_half_open(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 0, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	assert_non_null(strstr(two->pairs.v[0].reason, "INIT"));
}

static void numbers_alone_do_not_prove_a_failed_pair(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 17, RD_QPS_RTS, 0);
	add_qp(&two->b, 17, 17, RD_QPS_ERR, 0);
	assert_int_equal(verdict(two), RD_JOIN_AMBIGUOUS);
}

static void a_gid_does(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 17, RD_QPS_RTS, 2);
	add_qp(&two->b, 17, 17, RD_QPS_ERR, 0);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
}

static void one_whose_peer_points_elsewhere_is_a_mismatch(void **state)
{
	struct two *two = *state;

	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 99, RD_QPS_RTS, 9);
	join(two);
	assert_int_equal(two->pairs.count[RD_JOIN_MISMATCH], 1);
	assert_int_equal(two->pairs.count[RD_JOIN_NOT_VISIBLE], 1);
}

/* RoCE NICs have each GID once for version 1 and once for version 2. */
static void a_gid_that_one_device_has_twice_is_no_doubt(void **state)
{
	struct two *two = *state;
	struct rd_port *port = &two->b.host.ports[0];

	port->gids = realloc(port->gids, 2 * sizeof(*port->gids));
	port->gids[port->n_gids++] = port->gids[0];
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 0, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
}

static void a_gid_that_two_hosts_have_is(void **state)
{
	struct two *two = *state;

	gid_of(two->a.host.ports[0].gids[0].raw, 2);
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 0, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_AMBIGUOUS);
}

/* Minutes apart, the connection may have been made, or ended, between the captures. */
static void captures_that_are_far_apart_prove_nothing(void **state)
{
	struct two *two = *state;

	two->a.time_ns = UINT64_C(1795322515000000000);
	two->b.time_ns = two->a.time_ns - UINT64_C(61000000000);
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 0, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_AMBIGUOUS);
	assert_non_null(strstr(two->pairs.v[0].reason, "61 s apart"));
	rd_qp_pairs_deinit(&two->pairs);
	two->b.time_ns += UINT64_C(2000000000);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
}

static void addresses_prove_a_pair(void **state)
{
	struct two *two = *state;

	cm_connect(&two->a, add_qp(&two->a, 17, 17, RD_QPS_RTS, 0), 1, 40000, 2, 7174);
	cm_connect(&two->b, add_qp(&two->b, 17, 17, RD_QPS_ERR, 0), 2, 7174, 1, 40000);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	rd_qp_pairs_deinit(&two->pairs);
	two->b.res.qps[0].state.v = RD_QPS_RTS;
	assert_int_equal(verdict(two), RD_JOIN_CONNECTED);
	assert_string_equal(two->pairs.v[0].reason, "QP numbers and addresses match");
}

static void and_disprove_one_of_the_same_numbers(void **state)
{
	struct two *two = *state;

	cm_connect(&two->a, add_qp(&two->a, 17, 17, RD_QPS_RTS, 0), 1, 40000, 3, 7174);
	cm_connect(&two->b, add_qp(&two->b, 17, 17, RD_QPS_RTS, 0), 2, 7174, 4, 40000);
	join(two);
	assert_int_equal(two->pairs.count[RD_JOIN_NOT_VISIBLE], 2);
}

static void several_that_fit_are_ambiguous(void **state)
{
	struct two *two = *state;

	two->b.res.devs = realloc(two->b.res.devs, 2 * sizeof(*two->b.res.devs));
	two->b.res.devs[1] = (struct rd_res_dev){ .name = strdup("rdma1") };
	two->b.res.n_devs = 2;
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 0);
	add_qp(&two->b, 33, 17, RD_QPS_RTS, 0);
	add_qp(&two->b, 33, 17, RD_QPS_RTS, 0)->dev = 1;
	join(two);
	assert_int_equal(two->pairs.count[RD_JOIN_CONNECTED], 0);
	assert_int_equal(two->pairs.count[RD_JOIN_AMBIGUOUS], 3);
}

static void a_timeout_is_that_of_the_specification(void **state)
{
	struct rd_timeouts in = { 0 };
	struct rd_giveup out;

	(void)state;
	RD_SET(in.timeout, 18);
	out = rd_qp_giveup(&in);
	assert_int_equal(out.ack_least.known, RD_ABSENT);
	RD_SET(in.retry_cnt, 7);
	out = rd_qp_giveup(&in);
	assert_true(fabs(out.ack_timeout.v - 1.073741824) < 1e-9);
	assert_true(fabs(out.ack_least.v - 8.589934592) < 1e-9);
	assert_true(fabs(out.ack_most.v - 34.359738368) < 1e-9);
	in.rxe = true;
	assert_true(rd_qp_giveup(&in).ack_for_ever);
	RD_SET(in.retry_cnt, 6);
	assert_false(rd_qp_giveup(&in).ack_for_ever);
	RD_SET(in.timeout, 0);
	out = rd_qp_giveup(&in);
	assert_true(out.ack_for_ever);
	assert_int_equal(out.ack_least.known, RD_ABSENT);
}

static void an_rnr_timer_is_that_of_the_table(void **state)
{
	static const double ms[32] = { 655.36, 0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,  0.32,
				       0.48,   0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24, 15.36,
				       20.48,  30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52 };
	struct rd_timeouts in = { 0 };

	(void)state;
	for (unsigned code = 0; code < 32; code++)
		assert_true(fabs(rd_rnr_timer_seconds(code) - ms[code] / 1000) < 1e-9);
	RD_SET(in.rnr_retry, 3);
	RD_SET(in.min_rnr_timer, 12);
	assert_true(fabs(rd_qp_giveup(&in).rnr_least.v - 0.00192) < 1e-9);
	RD_SET(in.rnr_retry, 7);
	assert_true(rd_qp_giveup(&in).rnr_for_ever);
	assert_int_equal(rd_qp_giveup(&in).rnr_least.known, RD_ABSENT);
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

static void filters_choose(void **state)
{
	struct side *a = &((struct two *)*state)->a;
	struct rd_qp_filter filter = { 0 };
	struct rd_err err = { 0 };

	a->res.procs = calloc(1, sizeof(*a->res.procs));
	a->res.n_procs = 1;
	a->res.procs[0] = (struct rd_proc){ .pid = 42, .comm = strdup("trainer"), .job = strdup("slurm:7.0") };
	add_qp(a, 17, 33, RD_QPS_RTS, 2)->proc = 0;
	RD_SET(a->res.qps[0].owner.pid, 42);
	add_qp(a, 18, 34, RD_QPS_ERR, 3);
	add_qp(a, 19, 35, RD_QPS_INIT, 0)->state.known = RD_ABSENT;
	assert_int_equal(matching(a, "state", "RTS"), 1);
	assert_int_equal(matching(a, "state", "rts,err"), 2);
	assert_int_equal(matching(a, "state", "!RTS"), 2);
	assert_int_equal(matching(a, "state", "^RTS,unknown"), 1);
	assert_int_equal(matching(a, "state", "unknown"), 1);
	assert_int_equal(matching(a, "type", "RC"), 3);
	assert_int_equal(matching(a, "type", "!RC"), 0);
	assert_int_equal(matching(a, "lqpn", "0x11,19"), 2);
	assert_int_equal(matching(a, "rqpn", "34"), 1);
	assert_int_equal(matching(a, "pid", "42"), 1);
	assert_int_equal(matching(a, "comm", "train*"), 1);
	assert_int_equal(matching(a, "job", "slurm:7"), 1);
	assert_int_equal(matching(a, "job", "slurm:70"), 0);
	assert_int_equal(matching(a, "peer", "10.0.0.2"), 1);
	assert_int_equal(matching(a, "peer", "::ffff:10.0.0.3"), 1);
	assert_int_equal(matching(a, "device", "rdma9,rdma0"), 3);
	assert_int_equal(rd_qp_filter_set(&filter, "state", "RTZ", &err), -EINVAL);
	assert_int_equal(rd_qp_filter_set(&filter, "state", "", &err), -EINVAL);
	assert_int_equal(rd_qp_filter_set(&filter, "lqpn", "1,,2", &err), -EINVAL);
	assert_int_equal(rd_qp_filter_set(&filter, "peer", "mlx5_0", &err), -EINVAL);
}

static void the_unit_of_health_is_the_path(void **state)
{
	struct side *a = &((struct two *)*state)->a;
	struct rd_findings findings = { 0 };
	struct rd_qp_groups groups;

	add_qp(a, 17, 33, RD_QPS_RTS, 2);
	add_qp(a, 18, 34, RD_QPS_ERR, 3);
	add_qp(a, 19, 35, RD_QPS_SQE, 3);
	add_qp(a, 20, 36, RD_QPS_ERR, 4);
	add_qp(a, 21, 37, RD_QPS_RTS, 4);
	add_qp(a, 22, 0, RD_QPS_INIT, 0);
	add_qp(a, 1, 0, RD_QPS_RTS, 0)->type.v = RD_QPT_GSI;
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 4);
	assert_int_equal(groups.without_peer, 1);
	assert_string_equal(groups.v[0].label, "10.0.0.3");
	assert_int_equal(groups.v[0].health, RD_HEALTH_DEAD);
	assert_string_equal(groups.v[1].label, "10.0.0.4");
	assert_int_equal(groups.v[1].health, RD_HEALTH_DEGRADED);
	assert_string_equal(groups.v[2].label, "10.0.0.2");
	assert_int_equal(groups.v[2].health, RD_HEALTH_OK);
	assert_null(groups.v[3].label);
	assert_int_equal(groups.v[3].health, RD_HEALTH_STARTING);
	rd_qp_groups_findings(&a->res, &groups, &findings);
	assert_int_equal(findings.n, 2);
	assert_int_equal(findings.v[0].severity, RD_SEV_CRITICAL);
	rd_findings_deinit(&findings);
	rd_qp_groups_deinit(&groups);
}

/* Of several peers, none may be cut off; and one that gets nothing through is not well. */
static void peers_that_are_not_known_are_never_dead(void **state)
{
	struct side *a = &((struct two *)*state)->a;
	struct rd_findings findings = { 0 };
	struct rd_qp_groups groups;

	add_qp(a, 17, 33, RD_QPS_ERR, 0);
	view_of(a, add_qp(a, 18, 34, RD_QPS_RTS, 2))->verdict.kind = RD_QPV_RETRYING;
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 2);
	assert_string_equal(groups.v[0].label, "10.0.0.2");
	assert_int_equal(groups.v[0].health, RD_HEALTH_DEGRADED);
	assert_null(groups.v[1].label);
	assert_int_equal(groups.v[1].health, RD_HEALTH_DEGRADED);
	rd_qp_groups_findings(&a->res, &groups, &findings);
	assert_int_equal(findings.n, 2);
	assert_int_equal(findings.v[1].severity, RD_SEV_WARNING);
	rd_findings_deinit(&findings);
	rd_qp_groups_deinit(&groups);
}

/* iWARP and InfiniBand: the address that rdma_cm connected to is no GID, but names the peer. */
static void peers_are_known_by_the_address_of_their_connection(void **state)
{
	struct side *a = &((struct two *)*state)->a;
	struct rd_qp_groups groups;

	free(a->res.devs[0].protocol);
	a->res.devs[0].protocol = strdup("ib");
	cm_connect(a, add_qp(a, 17, 33, RD_QPS_RTS, 0), 1, 40000, 2, 7174);
	rd_qp_group_by(&a->views, NULL, RD_BY_PEER, &groups);
	assert_int_equal(groups.n, 1);
	assert_string_equal(groups.v[0].label, "10.0.0.2");
	assert_int_equal(matching(a, "peer", "10.0.0.2"), 1);
	assert_int_equal(matching(a, "peer", "10.0.0.3"), 0);
	rd_qp_groups_deinit(&groups);
}

/* The connection of a process that has lost its queue pair names a number that is another's by now. */
static void a_connection_is_of_its_own_process(void **state)
{
	struct side *a = &((struct two *)*state)->a;
	struct rd_qp *qp = add_qp(a, 17, 33, RD_QPS_RTS, 0);
	struct rd_qp_link *link = &view_of(a, qp)->link;

	cm_connect(a, qp, 1, 40000, 2, 7174);
	link->cm_id = -1;
	RD_SET(a->res.cm_ids[0].lqpn, 17);
	RD_SET(a->res.cm_ids[0].owner.pid, 42);
	RD_SET(qp->owner.pid, 43);
	rd_qp_link(&a->views);
	assert_int_equal(link->cm_id, -1);
	assert_false(link->has_gid);
	qp->owner.pid.v = 42;
	rd_qp_link(&a->views);
	assert_int_equal(link->cm_id, 0);
	assert_true(link->has_gid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOIN_TEST(two_that_point_to_each_other_are_connected_once),
		JOIN_TEST(one_whose_peer_is_nowhere_is_not_half_open),
		JOIN_TEST(one_whose_peer_is_of_another_host_is_not_half_open),
		JOIN_TEST(one_whose_peer_is_gone_by_its_gid_is_half_open),
		JOIN_TEST(but_not_where_the_device_may_hide_it),
		JOIN_TEST(nor_where_not_all_were_captured),
		JOIN_TEST(one_whose_peer_is_in_init_is_half_open),
		JOIN_TEST(numbers_alone_do_not_prove_a_failed_pair),
		JOIN_TEST(a_gid_does),
		JOIN_TEST(one_whose_peer_points_elsewhere_is_a_mismatch),
		JOIN_TEST(a_gid_that_one_device_has_twice_is_no_doubt),
		JOIN_TEST(a_gid_that_two_hosts_have_is),
		JOIN_TEST(captures_that_are_far_apart_prove_nothing),
		JOIN_TEST(addresses_prove_a_pair),
		JOIN_TEST(and_disprove_one_of_the_same_numbers),
		JOIN_TEST(several_that_fit_are_ambiguous),
		TEST(a_timeout_is_that_of_the_specification),
		TEST(an_rnr_timer_is_that_of_the_table),
		JOIN_TEST(filters_choose),
		JOIN_TEST(the_unit_of_health_is_the_path),
		JOIN_TEST(peers_that_are_not_known_are_never_dead),
		JOIN_TEST(peers_are_known_by_the_address_of_their_connection),
		JOIN_TEST(a_connection_is_of_its_own_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
