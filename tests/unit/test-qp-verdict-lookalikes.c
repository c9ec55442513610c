/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts by somebody who did not write the rules: healthy hosts that look broken, broken ones that look healthy. */
#include "qp-host.h"

#include <sys/socket.h>

#include "analyse/qp/qp.h"

struct ports {
	struct rd_res_port ports[3];
	struct rd_qp_port more[3];
	struct rd_qp_gid gids[4];
	struct rd_qp_ports all;
};

static const uint8_t gid_1[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 1 };

/* Ports 1 and 2 of the first device; 10.9.0.1 is on port 1. */
static void set_ports(struct host *h, struct ports *p, unsigned n)
{
	*p = (struct ports){ 0 };
	h->devs[0].protocol = (char *)"roce";
	h->devs[0].n_ports = n;
	for (unsigned i = 0; i < n; i++) {
		p->ports[i] = (struct rd_res_port){ .num = i + 1, .netdev = (char *)(i ? "v1" : "v0") };
		RD_SET(p->ports[i].state, 4);
		p->more[i] = (struct rd_qp_port){ .num = i + 1, .at = i, .gids_complete = true };
	}
	p->gids[0] = (struct rd_qp_gid){ .port = 1, .here = true };
	memcpy(p->gids[0].raw, gid_1, 16);
	p->all = (struct rd_qp_ports){ .v = p->more, .n = n, .gids = p->gids, .n_gids = 1 };
	h->res.ports = p->ports;
	h->res.n_ports = n;
	h->judge.ports = &p->all;
}

/* Two samples of soft-RoCE with `n` ports, of which the first is in `state`. */
static void start_ports(struct host *h, double seconds, struct ports *p, unsigned n, uint8_t state)
{
	start_soft(h, seconds);
	set_ports(h, p, n);
	p->ports[0].state.v = state;
}

static void connect_qp(struct host *h, size_t i, uint32_t rqpn, const uint8_t *to)
{
	RD_SET(h->qps[i].rqpn, rqpn);
	h->past[i].seen = rd_alloc(1, sizeof(struct rd_qp_seen));
	h->past[i].seen->has_sgid = h->past[i].seen->has_dgid = true;
	memcpy(h->past[i].seen->sgid, gid_1, 16);
	memcpy(h->past[i].seen->dgid, to, 16);
}

TEST(what_an_interval_shows)
{
	static const struct qp_case soft[] = {
		{ "healthy: a keepalive whose ACK was late once", 60, "rts 0.0167", "retries 1", "!retrying", NULL },
		{ "healthy: sent before the first sample, ACKed after a timeout, 59 s without another", 60, "rts 0",
		  "retries 1", "!retrying", NULL },
		/* Ports do not count packets that stay within the device; those that they count are of others. */
		{ "healthy: packets that are not counted", 2, "rts 5000", "sent 3, retries 1", "!retrying", NULL },
		/* The first message after a pause found no receive work request, shortly before the sample. */
		{ "healthy: a remote receiver that wakes", 2, "rts 0", "rnr 1", "cannot-tell", "received one RNR NAK" },
		{ "healthy: a receiver that wakes", 2, "rts 0", "rnr-sent 1", "cannot-tell", "sent one RNR NAK" },
		{ "broken: a receiver without work requests", 2, "rts 0", "rnr-sent 2", "no-receives",
		  "sent 2 RNR NAKs" },
	};
	static const struct qp_case hard[] = {
		/* Too few to be sure of, and no "no action needed". */
		{ "broken: 4 of 20 packets lost", 2, "rts 10", "sent 20, got 20, naks 4", "!ok", NULL },
		{ "healthy: one packet every two seconds", 2, "rts 0.5", "sent 1, got 1", "idle", "did not retransmit" },
		{ "healthy: three of many packets, in 10 ms", 0.01, "rts 1000000", "sent 10000, got 10000, naks 3",
		  "ok", "packets per second" },
	};

	judge_cases(soft, RD_ARRAY_SIZE(soft), start_soft);
	judge_cases(hard, RD_ARRAY_SIZE(hard), start);
}

/* Healthy: a receive-only QP in RTR that has received before, of a server that also has clients in RTS. */
HOST_TEST(receiver_that_pauses)
{
	start_soft(h, 2);
	add(h, 17, RD_QPS_RTR, 0)->proc = 1;
	age(h, &h->qps[0], RD_AGE_AT_LEAST, 60, 0);
	RD_SET(h->past[0].best_per_second, 50000);
	add(h, 18, RD_QPS_RTS, 100)->proc = 1;
	judged_not(h, 0, "stuck");
}

/* Healthy: the other port of a dual-port device lost its link. */
HOST_TEST(other_port_went_down)
{
	struct ports p;

	start_ports(h, 60, &p, 2, 4);
	RD_SET(p.ports[1].state, 1);
	listed(h, "rts 0");
	judge(counted(h, "link-downed 1"));
	assert_null(strstr(h->v[0].verdict->fix, "cable"));
}

/* Healthy: both ends on one device; packets loop back in it, with or without a link. */
HOST_TEST(loopback_without_a_link)
{
	struct ports p;

	start_ports(h, 2, &p, 1, 1);
	RD_SET(h->devs[0].driver_id, RD_DRIVER_RXE);
	listed(h, "rts 0, rts 0");
	connect_qp(h, 0, 18, gid_1);
	connect_qp(h, 1, 17, gid_1);
	judged_not(h, 0, "cut-off");
}

/* Healthy: it migrated to port 2; the recorder has the GID of its first path. */
HOST_TEST(migrated_to_another_port)
{
	static const uint8_t far[16] = { [10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 77 };
	struct ports p;

	start_ports(h, 2, &p, 2, 1);
	listed(h, "rts 0");
	RD_SET(h->qps[0].port, 2);
	RD_SET(h->qps[0].path_mig, 0);
	connect_qp(h, 0, 18, far);
	judged_not(h, 0, "cut-off");
}

/* Healthy: 8 busy queue pairs with adaptive routing, on mlx5: no finding, nothing slow. */
HOST_TEST(adaptive_routing_busy)
{
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };

	start_soft(h, 60);
	h->devs[0].name = (char *)"mlx5_0";
	RD_SET(h->devs[0].driver_id, RD_DRIVER_MLX5);
	for (uint32_t i = 0; i < 8; i++)
		add(h, 17 + i, RD_QPS_RTS, 100000);
	judge(counted(h, "sent 24000000, got 24000000, out-of-order 2000000, retries 3"));
	rd_qp_verdict_findings(&h->views, NULL, &findings);
	assert_int_equal(findings.n, 0);
}

/* Two samples of a track. */
static void sample(struct rd_qp_track *track, struct host *h, uint64_t ns)
{
	for (size_t i = 0; i < h->res.n_qps; i++)
		h->past[i] = (struct rd_qp_past){ 0 };
	rd_qp_track_sample(track, &h->views, ns, ns);
}

static void set_psns(struct host *h, uint32_t sq, uint32_t rq)
{
	RD_SET(h->qps[0].sq_psn, sq);
	RD_SET(h->qps[0].rq_psn, rq);
}

/* Broken: between the samples it connected, or connected to another remote QP, so its PSNs jumped; its peer never answered. */
TEST(connected_to_nobody)
{
	static const struct {
		const char *name;
		uint8_t state;
		uint32_t rqpn, psn, rqpn_then; /* rqpn 0: not connected yet */
	} cases[] = { { "connected", RD_QPS_INIT, 0, 0, 18 }, { "connected again", RD_QPS_RTS, 18, 1000, 99 } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct rd_qp_track *track = rd_qp_track_create();
		struct host h;

		start_soft(&h, 2);
		add(&h, 17, cases[i].state, 0);
		if (cases[i].rqpn)
			RD_SET(h.qps[0].rqpn, cases[i].rqpn);
		set_psns(&h, cases[i].psn, cases[i].psn);
		sample(track, &h, 100 * S);
		RD_SET(h.qps[0].state, RD_QPS_RTS);
		RD_SET(h.qps[0].rqpn, cases[i].rqpn_then);
		set_psns(&h, 0x3a1b2c, 0x123456);
		sample(track, &h, 102 * S);
		judge(&h);
		is_in(cases[i].name, h.v[0].verdict, "!ok", NULL);
		rd_qp_track_destroy(track);
		host_deinit(&h);
	}
}

/* One queue pair on a link of so many Gbit/s, whose PSN fell from one sample to the next. */
static void start_fallen(struct host *h, struct rd_qp_track *track, struct ports *p, double gbps)
{
	start_ports(h, 2, p, 1, 4);
	RD_SET(p->more[0].rate_gbps, gbps);
	listed(h, "rts 0");
	RD_SET(h->qps[0].sq_psn, 50000);
	sample(track, h, 100 * S);
	RD_SET(h->qps[0].sq_psn, 49000);
	sample(track, h, 102 * S);
}

/* Healthy: at 400 Gbit/s, a PSN wraps every 1.4 s, and may seem to have fallen a little: no packet, and the device retransmits for
 * another one. Broken: in 0.1 s, or on a slow link, it cannot have wrapped. */
HOST_TEST(psns_that_wrap)
{
	struct rd_qp_track *track = rd_qp_track_create();
	struct ports p;

	start_fallen(h, track, &p, 400);
	judged(counted(h, "retries 3"), 0, "cannot-tell", "its PSN fell in 2.0 s");
	assert_non_null(strstr(h->v[0].verdict->fix, "-i 0.1"));
	RD_SET(h->past[0].psn_per_second, 0);
	h->judge.seconds = 0.1;
	judged(h, 0, "retrying", "retransmitted 3 times");
	h->judge.seconds = 2;
	p.more[0].rate_gbps.v = 10;
	judged(h, 0, "retrying", "retransmitted 3 times");
	p.more[0].rate_gbps.known = RD_ABSENT;
	judged(h, 0, "cannot-tell", "its PSN fell");
	/* A receiver in RTR does not wait for RTS. */
	age(h, &h->qps[0], RD_AGE_AT_LEAST, 60, 0);
	RD_SET(h->qps[0].state, RD_QPS_RTR);
	h->qps[0].proc = 1;
	add(h, 18, RD_QPS_RTS, 100)->proc = 1;
	judged(h, 0, "cannot-tell", "in RTR; its PSN fell");
	rd_qp_track_destroy(track);
}

/* Broken: UC needs no ACK to send, so packets prove nothing about a port that is down. */
HOST_TEST(uc_through_a_port_that_is_down)
{
	struct ports p;

	start_ports(h, 2, &p, 1, 1);
	add(h, 17, RD_QPS_RTS, 1000)->type.v = RD_QPT_UC;
	judged_not(h, 0, "ok");
}

/* Healthy: its peer is on the same device, which needs no link for that: in another network namespace; an address that another device
 * has, too; in no list. */
HOST_TEST(loopback_that_is_not_proven)
{
	struct ports p;

	start_ports(h, 2, &p, 1, 1);
	listed(h, "rts 1000");
	connect_qp(h, 0, 99, gid_1);
	p.gids[0].here = false;
	for (int i = 0; i < 2; i++) {
		judged(h, 0, "cannot-tell", "port rxe0/1 is DOWN");
		p.gids[0].here = true;
		p.gids[1] = p.gids[0];
		p.gids[1].dev = 1;
		p.all.n_gids = 2;
	}
	h->past[0].psn_per_second.v = 0;
	judged_not(h, 0, "cut-off");
	h->past[0].psn_per_second.v = 1000;
	h->past[0].seen->has_dgid = false;
	RD_SET(h->devs[0].used[RD_RES_QP], 2);
	h->devs[0].listed[RD_RES_QP] = 1;
	judged_not(h, 0, "cut-off");
	RD_SET(h->qps[0].type, RD_QPT_UD);
	judged_not(h, 0, "cut-off");
}

/* Broken: from one port of its device to the other one, over a link that is down. */
HOST_TEST(to_the_other_port)
{
	struct ports p;

	start_ports(h, 60, &p, 2, 1);
	p.gids[1] = p.gids[0];
	p.gids[1].raw[15] = 2;
	p.gids[1].port = 2;
	p.all.n_gids = 2;
	listed(h, "rts 1000");
	add(h, 18, RD_QPS_RTS, 1000)->port.v = 2;
	connect_qp(h, 0, 18, p.gids[1].raw);
	connect_qp(h, 1, 17, gid_1);
	judged_not(h, 0, "ok");
}

/* Broken: without a subnet manager, a port of InfiniBand stays in INIT after its link came back, and discards all data packets. */
HOST_TEST(a_port_without_a_subnet_manager)
{
	struct ports p;

	start_ports(h, 60, &p, 1, 2);
	h->devs[0].protocol = (char *)"ib";
	listed(h, "rts 1000");
	RD_SET(h->qps[0].rqpn, 99);
	judged(h, 0, "cut-off", "port rxe0/1 is INIT");
	/* Healthy: iWARP without an IPv4 address. */
	h->devs[0].protocol = (char *)"iw";
	judged(h, 0, "ok", "1000 packets");
}

/* Healthy: packets are shorter than the path MTU, so a link that is not fully used suffices for more than a PSN counts. */
HOST_TEST(short_packets_that_wrap)
{
	struct rd_qp_track *track = rd_qp_track_create();
	struct ports p;

	start_fallen(h, track, &p, 25);
	judged(counted(h, "sent 16776216, got 400000, retries 2"), 0, "cannot-tell", "its PSN fell");
	rd_qp_track_destroy(track);
}

static bool has(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

/* Broken: its peer is dead, but the ACK timeout (NCCL: 4.3 s) is longer than the interval. Nobody knows that nothing is posted. */
HOST_TEST(dead_peer_before_the_first_timeout)
{
	start(h, 1);
	listed(h, "rts 0");
	judged(h, 0, "idle", "no packet in 1.0 s");
	assert_false(has(h->v[0].verdict->fix, "no work request is outstanding"));
	assert_true(has(h->v[0].verdict->fix, "-i "));
}

/* Broken: half of the queue pairs of a job wait for a peer that is dead, in RTR; not a packet, and no process in RTS. */
HOST_TEST(a_job_that_never_connects)
{
	start(h, 2);
	for (uint32_t i = 0; i < 4; i++)
		age(h, add(h, 17 + i, RD_QPS_RTR, 0), RD_AGE_AT_LEAST, 60, 0);
	judge(h);
	for (size_t i = 0; i < 4; i++) {
		assert_string_not_equal(rd_qp_verdicts[h->v[i].verdict->kind].name, "ok");
		assert_string_not_equal(rd_qp_verdicts[h->v[i].verdict->kind].name, "receiving");
	}
}

/* Broken: the queue pair failed long before the first look; what its device counts now is of others. */
HOST_TEST(failed_before_the_first_look)
{
	start(h, 2);
	age(h, put(h, 17, RD_QPS_ERR), RD_AGE_AT_LEAST, 30, 0);
	listed(h, "rts 0");
	judged(counted(h, "exhausted 1"), 0, "failed", "in ERR");
}

/* Failed for another reason: what its device counted is of one that its program has destroyed since, or of one in a container. */
HOST_TEST(another_that_is_gone_gave_up)
{
	size_t gone[2] = { 1, 0 };

	start(h, 2);
	past_of(h, put(h, 17, RD_QPS_ERR))->fresh = true;
	counted(h, "exhausted 1");
	h->views.gone = gone;
	judge(h);
	h->views.gone = NULL;
	is(h->v[0].verdict, "failed", "cause unknown");
	RD_SET(h->devs[0].used[RD_RES_QP], 2);
	h->devs[0].listed[RD_RES_QP] = 1;
	judged(h, 0, "failed", "cause unknown");
	/* Both gave up. */
	judged(counted(h, "exhausted 2"), 0, "retries-exhausted", "transport retry count");
}

/* Datagrams are not retransmitted. */
HOST_TEST(a_datagram_queue_pair_does_not_give_up)
{
	start(h, 2);
	past_of(h, put(h, 17, RD_QPS_ERR))->fresh = true;
	RD_SET(h->qps[0].type, RD_QPT_UD);
	judged(counted(h, "exhausted 1"), 0, "failed", "cause unknown");
}

/* Healthy: IPoIB drops packets while its ring is full; the program of the only connection has nothing to receive. */
HOST_TEST(ipoib_drops_beside_an_idle_queue_pair)
{
	start_soft(h, 2);
	listed(h, "rts 0");
	put(h, 18, RD_QPS_RTS)->type.v = RD_QPT_UD;
	h->qps[1].owner.kernel = (char *)"ib_ipoib";
	judged_not(counted(h, "rnr-sent 100"), 0, "no-receives");
	judged_not(h, 0, "idle");
	/* Queue pairs of management are on every port, and no reason to doubt. */
	h->qps[1].owner.kernel = (char *)"ib_core";
	judged(h, 0, "no-receives", "posts no receive");
}

/* Healthy: a program has opened more datagram queue pairs than it uses. */
HOST_TEST(spare_datagram_queue_pairs)
{
	start(h, 2);
	age(h, add(h, 17, RD_QPS_INIT, 0), RD_AGE_AT_LEAST, 600, 0);
	RD_SET(h->qps[0].type, RD_QPT_UD);
	judged(h, 0, "cannot-tell", "no connection");
	RD_SET(h->qps[0].type, RD_QPT_RC);
	judged(h, 0, "stuck", "no modify_qp call");
}

/* Healthy: a server that no client has connected to yet. Broken: one of a job's connections. */
HOST_TEST(server_that_waits)
{
	start(h, 2);
	age(h, add(h, 17, RD_QPS_INIT, 0), RD_AGE_AT_LEAST, 600, 0);
	h->qps[0].proc = 0;
	add(h, 18, RD_QPS_INIT, 0)->proc = 1;
	judged(h, 0, "cannot-tell", "waits for a client");
	h->qps[1].proc = 0;
	judged(h, 0, "stuck", "no modify_qp call");
	h->qps[1].proc = 1;
	past_of(h, &h->qps[0])->last_err = ETIMEDOUT;
	judged(h, 0, "stuck", "ETIMEDOUT");
}

/* Healthy: a DC target, of UCX or NVSHMEM, and receivers of datagrams and raw packets. Broken: one that was refused to be moved. */
HOST_TEST(receivers_without_a_connection)
{
	static const uint8_t types[] = { RD_QPT_DRIVER, RD_QPT_UD, RD_QPT_RAW_PACKET };

	start(h, 2);
	age(h, add(h, 17, RD_QPS_RTR, 0), RD_AGE_AT_LEAST, 600, 0);
	for (size_t i = 0; i < sizeof(types); i++) {
		RD_SET(h->qps[0].type, types[i]);
		judged(h, 0, "ok", "it can receive");
	}
	past_of(h, &h->qps[0])->last_err = EINVAL;
	judged(h, 0, "stuck", "EINVAL");
}

/* Broken at the other end: it is the responder that sends RNR NAKs, and moves nothing; a UD queue pair beside it is no reason to
 * accuse the wrong program. */
HOST_TEST(rnr_beside_a_datagram_queue_pair)
{
	start(h, 2);
	listed(h, "rts 0");
	RD_SET(put(h, 18, RD_QPS_RTS)->type, RD_QPT_UD);
	judged_not(counted(h, "rnr-sent 100"), 0, "idle");
	is(h->v[1].verdict, "ok", "no connection");
}

/* Healthy: ACKs that come later than the timeout are received again as duplicates: nothing was lost on the way here. */
HOST_TEST(late_acks_are_no_loss_of_data)
{
	start(h, 2);
	listed(h, "rts 120");
	judge(counted(h, "sent 250, got 250, duplicates 6"));
	assert_false(has(h->v[0].verdict->why, "packets lost or"));
	assert_true(has(h->v[0].verdict->why, "duplicate"));
}

/* Healthy: 64 queue pairs of which one works; the others wait for their turn, and nothing is retransmitted. */
HOST_TEST(one_of_many_works)
{
	start(h, 2);
	listed(h, "rts 100000");
	counted(h, "sent 200000");
	for (uint32_t i = 1; i < 8; i++)
		add(h, 17 + i, RD_QPS_RTS, 0);
	judged(h, 0, "ok", "packets per second");
	for (size_t i = 1; i < 8; i++)
		is(h->v[i].verdict, "idle", "no packet");
}

/* Healthy: a queue pair of a device that retransmits for another device's peer; and one whose device counts nothing. */
HOST_TEST(neighbour_device_retransmits)
{
	start(h, 2);
	listed(h, "rts 0");
	add(h, 18, RD_QPS_RTS, 0)->dev = 1;
	judged(counted(h, "retries 30"), 0, "retrying", "device-wide");
	is(h->v[1].verdict, "idle", "did not retransmit");
}

/* Healthy: what was retransmitted belongs to another one, whose program ended between the samples. */
HOST_TEST(another_one_is_gone)
{
	start(h, 2);
	listed(h, "rts 0");
	counted(h, "retries 12");
	h->views.gone = rd_alloc(3, sizeof(*h->views.gone));
	h->views.gone[0] = 1;
	judged(h, 0, "cannot-tell", "2 queue pairs");
}
