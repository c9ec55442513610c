/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queue pairs of two hosts, matched. */
#include "qp-side.h"

#include "analyse/join/join.h"

static void add(struct rd_join *join, const struct side *side)
{
	assert_int_equal(rd_join_add(join, side->name, side->time_ns, &side->views, &side->host), 0);
}

/* Joins both hosts, also a second time. */
static const struct rd_join_pairs *join(struct two *two)
{
	rd_join_pairs_deinit(&two->pairs);
	rd_join_deinit(&two->join);
	add(&two->join, &two->a);
	add(&two->join, &two->b);
	rd_join_match(&two->join, &two->pairs);
	free(two->reason);
	two->reason = two->pairs.n ? rd_join_reason(&two->join, &two->pairs.v[0]) : NULL;
	return &two->pairs;
}

/* Of the remote end of the first pair; -1: none. */
static int host_of_b(const struct two *two)
{
	uint32_t b = two->pairs.v[0].b;

	return b == RD_JOIN_NONE ? -1 : two->join.qps[b].host;
}

/* The only pair's verdict. */
static int verdict(struct two *two)
{
	assert_int_equal(join(two)->n, 1);
	return (int)two->pairs.v[0].verdict;
}

/* "LQPN RQPN STATE PEER, …": queue pairs of one host; PEER as in add_qp. */
static void add_qps(struct side *side, const char *text)
{
	for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',') {
		unsigned lqpn, rqpn, peer, state = 0;
		char word[8];

		assert_int_equal(sscanf(at, "%u %u %7s %u", &lqpn, &rqpn, word, &peer), 4);
		while (state < RD_QPS_N && strcasecmp(rd_qp_state_name(state), word) != 0)
			state++;
		assert_true(state < RD_QPS_N);
		add_qp(side, lqpn, rqpn, state, (uint8_t)peer);
	}
}

TEST(what_numbers_and_gids_prove)
{
	enum { LISTED = -1 };
	static const struct {
		const char *name, *a, *b;
		int used; /* queue pairs of the second host's device, as its kernel counts them */
		enum rd_join_verdict verdict;
		const char *reason; /* a part of it; NULL: any */
		int host;	    /* of the remote end; -1: none; 0: any */
		uint32_t driver;
	} cases[] = {
		{ "they point to each other", "17 33 rts 0", "33 17 rtr 0", LISTED, RD_JOIN_CONNECTED, NULL, 1 },
		{ "the peer is nowhere", "17 33 rts 0", "", LISTED, RD_JOIN_NOT_VISIBLE },
		{ "the peer is of another host", "17 33 rts 9", "33 17 init 0", LISTED, RD_JOIN_NOT_VISIBLE },
		{ "the peer is gone, by its GID", "17 33 rts 2", "", 0, RD_JOIN_HALF_OPEN, NULL, -1 },
		{ "the device may hide it", "17 33 rts 2", "", 0, RD_JOIN_NOT_VISIBLE, "DEVX", 0, 1 },
		{ "not all were captured", "17 33 rts 2", "", 5, RD_JOIN_NOT_VISIBLE },
		{ "the peer is in INIT", "17 33 rts 2", "33 0 init 0", LISTED, RD_JOIN_HALF_OPEN, "INIT" },
		{ "numbers alone prove no failed pair", "17 17 rts 0", "17 17 err 0", LISTED, RD_JOIN_AMBIGUOUS },
		{ "a GID does", "17 17 rts 2", "17 17 err 0", LISTED, RD_JOIN_HALF_OPEN },
		{ "two of one number on one device", "17 33 rts 2", "33 0 init 0, 33 0 init 0", LISTED,
		  RD_JOIN_AMBIGUOUS, "2 queue pairs of the peer's device have that number" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		_cleanup_(two_deinit) struct two two = { 0 };
		int is;

		two_init(&two);
		add_qps(&two.a, cases[i].a);
		add_qps(&two.b, cases[i].b);
		if (cases[i].used != LISTED)
			RD_SET(two.b.res.devs[0].used[RD_RES_QP], (uint64_t)cases[i].used);
		if (cases[i].driver)
			RD_SET(two.b.res.devs[0].driver_id, cases[i].driver);
		is = verdict(&two);
		if (is != (int)cases[i].verdict || (cases[i].host && host_of_b(&two) != cases[i].host) ||
		    (cases[i].reason && !strstr(two.reason, cases[i].reason)))
			fail_msg("%s: %d with host %d: %s", cases[i].name, is, host_of_b(&two), two.reason);
	}
}

JOIN_TEST(one_whose_peer_points_elsewhere_is_a_mismatch)
{
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 99, RD_QPS_RTS, 9);
	assert_int_equal(join(two)->count[RD_JOIN_MISMATCH], 1);
	assert_int_equal(two->pairs.count[RD_JOIN_NOT_VISIBLE], 1);
}

/* RoCE NICs have each GID once for version 1 and once for version 2. */
JOIN_TEST(a_gid_that_one_device_has_twice_is_no_doubt)
{
	struct rd_port *port = &two->b.host.ports[0];

	port->gids = realloc(port->gids, 2 * sizeof(*port->gids));
	port->gids[port->n_gids++] = port->gids[0];
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 0, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
}

JOIN_TEST(a_gid_that_two_hosts_have_is)
{
	gid_of(two->a.host.ports[0].gids[0].raw, 2);
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 0, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_AMBIGUOUS);
}

/* Minutes apart, the connection may have been made, or ended, between the captures. */
JOIN_TEST(captures_that_are_far_apart_prove_nothing)
{
	two->a.time_ns = UINT64_C(1795322515000000000);
	two->b.time_ns = two->a.time_ns - UINT64_C(61000000000);
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->b, 33, 0, RD_QPS_INIT, 0);
	assert_int_equal(verdict(two), RD_JOIN_AMBIGUOUS);
	assert_non_null(strstr(two->reason, "61 s apart"));
	two->b.time_ns += UINT64_C(2000000000);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
}

JOIN_TEST(addresses_prove_a_pair)
{
	cm_connect(&two->a, add_qp(&two->a, 17, 17, RD_QPS_RTS, 0), 1, 40000, 2, 7174);
	cm_connect(&two->b, add_qp(&two->b, 17, 17, RD_QPS_ERR, 0), 2, 7174, 1, 40000);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	two->b.res.qps[0].state.v = RD_QPS_RTS;
	assert_int_equal(verdict(two), RD_JOIN_CONNECTED);
	assert_string_equal(two->reason, "QP numbers and addresses match");
}

JOIN_TEST(and_disprove_one_of_the_same_numbers)
{
	cm_connect(&two->a, add_qp(&two->a, 17, 17, RD_QPS_RTS, 0), 1, 40000, 3, 7174);
	cm_connect(&two->b, add_qp(&two->b, 17, 17, RD_QPS_RTS, 0), 2, 7174, 4, 40000);
	assert_int_equal(join(two)->count[RD_JOIN_NOT_VISIBLE], 2);
}

JOIN_TEST(and_so_do_ports)
{
	cm_connect(&two->a, add_qp(&two->a, 17, 17, RD_QPS_RTS, 0), 1, 40000, 2, 7174);
	cm_connect(&two->b, add_qp(&two->b, 17, 17, RD_QPS_RTS, 0), 2, 7174, 1, 40001);
	assert_int_equal(join(two)->count[RD_JOIN_NOT_VISIBLE], 2);
	set_peer(&two->a, &two->a.res.qps[0], 2);
	assert_int_equal(join(two)->v[0].verdict, RD_JOIN_MISMATCH);
	assert_string_equal(two->reason, "the remote QP is connected to a QP 17 at another address");
}

JOIN_TEST(several_that_fit_are_ambiguous)
{
	two->b.res.devs = realloc(two->b.res.devs, 2 * sizeof(*two->b.res.devs));
	two->b.res.devs[1] = (struct rd_res_dev){ .name = strdup("rdma1") };
	two->b.res.n_devs = 2;
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 0);
	add_qp(&two->b, 33, 17, RD_QPS_RTS, 0);
	add_qp(&two->b, 33, 17, RD_QPS_RTS, 0)->dev = 1;
	assert_int_equal(join(two)->count[RD_JOIN_CONNECTED], 0);
	assert_int_equal(two->pairs.count[RD_JOIN_AMBIGUOUS], 3);
}

/* What an SRE has to know first. */
JOIN_TEST(a_peer_that_is_gone_is_named_first)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	add_qp(&two->a, 16, 99, RD_QPS_RTS, 9);
	add_qp(&two->a, 17, 33, RD_QPS_RTS, 2);
	add_qp(&two->a, 18, 34, RD_QPS_RTS, 2);
	add_qp(&two->b, 34, 0, RD_QPS_INIT, 0);
	assert_int_equal(join(two)->count[RD_JOIN_HALF_OPEN], 2);
	assert_int_equal(two->pairs.n_gone, 1);
	rd_join_findings(&two->join, &two->pairs, &findings);
	assert_int_equal(findings.n, 3);
	ASSERT_EACH(READS(findings.v[0].id, "qp-peer-gone"), READS(findings.v[0].subject, "host1 rdma0 QP 17"));
	assert_string_equal(findings.v[0].observed,
			    "peer QP 33 no longer exists on host2 rdma0; RTS here (1 of 3 pairs)");
	assert_non_null(strstr(findings.v[0].fix, "host2"));
	ASSERT_EACH(READS(findings.v[1].id, "qp-half-open"), READS(findings.v[1].observed, "1 of 3 pairs"));
}

JOIN_TEST(a_host_is_added_once)
{
	add(&two->join, &two->a);
	assert_int_equal(rd_join_add(&two->join, two->a.name, 0, &two->a.views, NULL), -EEXIST);
	assert_int_equal(two->join.n_hosts, 1);
}

JOIN_TEST(steps_of_one_job_are_one_job)
{
	add_qp(&two->a, 17, 17, RD_QPS_RTS, 0)->proc = 0;
	add_qp(&two->b, 17, 17, RD_QPS_ERR, 0)->proc = 0;
	for (int i = 0; i < 2; i++) {
		struct rd_res *res = i ? &two->b.res : &two->a.res;

		res->procs = calloc(1, sizeof(*res->procs));
		res->n_procs = 1;
		res->procs[0].job = strdup(i ? "slurm:4711.1" : "slurm:4711.batch");
	}
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	two->b.res.procs[0].job[10] = '2';
	assert_int_equal(verdict(two), RD_JOIN_AMBIGUOUS);
}

/* XRC: the kernel reports no remote numbers; a recorder does. */
static void xrc(struct side *side, struct rd_qp *qp, enum rd_qp_type type, uint32_t number)
{
	RD_SET(qp->type, type);
	qp->rqpn.known = RD_ABSENT;
	if (!number)
		return;
	RD_SET(seen_of(side, qp)->dest_qpn, number);
}

JOIN_TEST(an_xrc_initiator_is_connected_to_a_target)
{
	xrc(&two->a, add_qp(&two->a, 17, 0, RD_QPS_RTS, 2), RD_QPT_XRC_INI, 33);
	xrc(&two->b, add_qp(&two->b, 33, 0, RD_QPS_RTR, 1), RD_QPT_XRC_TGT, 17);
	assert_int_equal(verdict(two), RD_JOIN_CONNECTED);
	assert_string_equal(two->reason, "QP numbers and GIDs match");
}

JOIN_TEST(two_xrc_initiators_are_not_connected)
{
	xrc(&two->a, add_qp(&two->a, 17, 0, RD_QPS_RTS, 2), RD_QPT_XRC_INI, 33);
	xrc(&two->b, add_qp(&two->b, 33, 0, RD_QPS_RTS, 1), RD_QPT_XRC_INI, 17);
	assert_int_equal(join(two)->count[RD_JOIN_CONNECTED], 0);
}

JOIN_TEST(xrc_without_numbers_is_paired_by_addresses)
{
	struct rd_qp *a, *b;

	a = add_qp(&two->a, 17, 0, RD_QPS_RTS, 0);
	b = add_qp(&two->b, 33, 0, RD_QPS_RTR, 0);
	xrc(&two->a, a, RD_QPT_XRC_INI, 0);
	xrc(&two->b, b, RD_QPT_XRC_TGT, 0);
	assert_int_equal(join(two)->n, 0);
	cm_connect(&two->a, a, 1, 40000, 2, 7174);
	cm_connect(&two->b, b, 2, 7174, 1, 40000);
	assert_int_equal(verdict(two), RD_JOIN_CONNECTED);
	assert_string_equal(two->reason, "addresses and ports match");
	b->state.v = RD_QPS_ERR;
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	/* One end has a recorder, the other has none. */
	b->state.v = RD_QPS_RTR;
	RD_SET(seen_of(&two->a, a)->dest_qpn, 33);
	set_peer(&two->a, a, 2);
	assert_int_equal(verdict(two), RD_JOIN_CONNECTED);
	seen_of(&two->a, a)->dest_qpn.v = 34;
	assert_int_equal(two->pairs.count[RD_JOIN_CONNECTED], 1);
	assert_int_equal(join(two)->count[RD_JOIN_CONNECTED], 0);
}

/* Kernels before 5.14 do not track XRC: that none is listed proves nothing. */
JOIN_TEST(a_missing_xrc_target_is_gone_only_where_xrc_is_listed)
{
	xrc(&two->a, add_qp(&two->a, 17, 0, RD_QPS_RTS, 2), RD_QPT_XRC_INI, 33);
	RD_SET(two->b.res.devs[0].used[RD_RES_QP], 0);
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
	assert_non_null(strstr(two->reason, "XRC"));
	xrc(&two->b, add_qp(&two->b, 40, 0, RD_QPS_INIT, 0), RD_QPT_XRC_TGT, 0);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	assert_string_equal(two->reason, "peer QP 33 no longer exists on host2 rdma0; RTS here");
}

JOIN_TEST(an_xrc_target_of_another_initiator_is_a_mismatch)
{
	xrc(&two->a, add_qp(&two->a, 17, 0, RD_QPS_RTS, 2), RD_QPT_XRC_INI, 33);
	xrc(&two->b, add_qp(&two->b, 33, 0, RD_QPS_RTR, 9), RD_QPT_XRC_TGT, 18);
	assert_int_equal(join(two)->count[RD_JOIN_MISMATCH], 1);
	assert_string_equal(two->reason, "the remote QP is connected to QP 18, not to QP 17");
}

/* iWARP: no remote numbers (what the kernel reports as such is meaningless), GIDs made of a MAC. */
static void make_iwarp(struct side *side, uint8_t n)
{
	struct rd_netdev *netdev = rd_host_add_netdev(&side->host);
	struct rd_port *port = &side->host.ports[0];

	free(side->res.devs[0].protocol);
	side->res.devs[0].protocol = strdup("iw");
	memset(port->gids[0].raw, 0x5a, 16);
	netdev->addrs = calloc(1, sizeof(*netdev->addrs));
	netdev->n_addrs = 1;
	netdev->addrs[0] = (struct rd_addr){ .raw = { 10, 0, 0, n } };
	port->netdevs = calloc(1, sizeof(*port->netdevs));
	port->n_netdevs = 1;
}

JOIN_TEST(iwarp_is_paired_by_addresses_and_ports)
{
	struct rd_qp *a, *b;

	make_iwarp(&two->a, 1);
	make_iwarp(&two->b, 2);
	a = add_qp(&two->a, 17, 99, RD_QPS_RTS, 0);
	b = add_qp(&two->b, 5, 98, RD_QPS_RTS, 0);
	cm_connect(&two->a, a, 1, 40000, 2, 7174);
	cm_connect(&two->b, b, 2, 7174, 1, 40000);
	assert_int_equal(verdict(two), RD_JOIN_CONNECTED);
	assert_string_equal(two->reason, "addresses and ports match");
	b->state.v = RD_QPS_ERR;
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	/* Another connection between the same hosts is another one. */
	two->b.res.cm_ids[0].dst.port = 40001;
	b->state.v = RD_QPS_RTS;
	assert_int_equal(join(two)->n, 2);
	assert_int_equal(two->pairs.count[RD_JOIN_HALF_OPEN], 2);
	assert_string_equal(two->reason, "peer connection 10.0.0.2:7174 no longer exists on host2 rdma0; RTS here");
}

JOIN_TEST(an_iwarp_peer_is_gone_only_if_all_connections_are_known)
{
	make_iwarp(&two->a, 1);
	make_iwarp(&two->b, 2);
	cm_connect(&two->a, add_qp(&two->a, 17, 0, RD_QPS_RTS, 0), 1, 40000, 2, 7174);
	RD_SET(two->b.res.devs[0].used[RD_RES_QP], 0);
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
	RD_SET(two->b.res.devs[0].used[RD_RES_CM_ID], 0);
	assert_int_equal(verdict(two), RD_JOIN_HALF_OPEN);
	/* This one may be it. */
	add_qp(&two->b, 5, 0, RD_QPS_RTS, 0);
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
	two->a.res.cm_ids[0].dst.ip[3] = 9;
	assert_int_equal(verdict(two), RD_JOIN_NOT_VISIBLE);
	assert_string_equal(two->reason, "no captured host has the peer's address");
}

JOIN_TEST(iwarp_addresses_of_two_hosts_are_ambiguous)
{
	make_iwarp(&two->a, 2);
	make_iwarp(&two->b, 2);
	cm_connect(&two->a, add_qp(&two->a, 17, 0, RD_QPS_RTS, 0), 1, 40000, 2, 7174);
	assert_int_equal(verdict(two), RD_JOIN_AMBIGUOUS);
	assert_string_equal(two->reason, "2 devices have the peer's address");
}

/* 127.0.0.1 is another host on each host. */
JOIN_TEST(loopback_does_not_connect_two_hosts)
{
	make_iwarp(&two->a, 1);
	make_iwarp(&two->b, 2);
	cm_connect(&two->a, add_qp(&two->a, 17, 0, RD_QPS_RTS, 0), 1, 40000, 1, 7174);
	cm_connect(&two->b, add_qp(&two->b, 5, 0, RD_QPS_RTS, 0), 1, 7174, 1, 40000);
	for (int i = 0; i < 2; i++) {
		struct rd_cm_id *cm_id = i ? two->b.res.cm_ids : two->a.res.cm_ids;

		memcpy(cm_id->src.ip, "\x7f\0\0\1", 4);
		memcpy(cm_id->dst.ip, "\x7f\0\0\1", 4);
	}
	assert_int_equal(join(two)->count[RD_JOIN_NOT_VISIBLE], 2);
}

/* Every host numbers its queue pairs alike, all of them have the GID of a bridge, and nothing tells them apart: still linear. */
JOIN_TEST(many_that_look_alike_are_ambiguous_in_time)
{
	enum { HOSTS = 300, QPS = 300 };

	for (uint32_t i = 0; i < QPS; i++)
		add_qp(&two->a, 17 + i, 17 + i, RD_QPS_RTS, i % 3 ? 1 : 0);
	for (unsigned h = 0; h < HOSTS; h++) {
		snprintf(two->a.name, sizeof(two->a.name), "host%u", h);
		add(&two->join, &two->a);
	}
	rd_join_match(&two->join, &two->pairs);
	assert_int_equal(two->pairs.n, HOSTS * QPS);
	assert_int_equal(two->pairs.count[RD_JOIN_AMBIGUOUS], HOSTS * QPS);
}
