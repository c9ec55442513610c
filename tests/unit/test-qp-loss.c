/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on queue pairs that have packets: hosts that lose them, and healthy ones that could be taken for such. */
#include "qp-host.h"

#include "analyse/qp/qp.h"

/* A pair of soft-RoCE devices, of which the first has one queue pair with `rate` packets per second. */
static void busy(struct host *h, double rate)
{
	start_soft(h, 1);
	add(h, 17, RD_QPS_RTS, rate);
	RD_SET(h->since[0].v[RD_QPC_SENT], (uint64_t)rate);
	RD_SET(h->since[0].v[RD_QPC_GOT], (uint64_t)rate);
}

static size_t count_findings(const struct host *h, const char *id, const char *observed)
{
	struct rd_findings findings = { 0 };
	size_t n = 0;

	rd_qp_verdict_findings(&h->views, NULL, &findings);
	for (size_t i = 0; i < findings.n; i++)
		n += strcmp(findings.v[i].id, id) == 0 && strstr(findings.v[i].observed, observed);
	rd_findings_deinit(&findings);
	return n;
}

HOST_TEST(loss_is_not_ok)
{
	busy(h, 1000);
	counted(h, "naks 20, retries 10");
	judged(h, 0, "slow", "3.0 % of packets retransmitted: 30 NAKs and ACK timeouts, 1000 packets sent by rxe0");
	assert_int_equal(count_findings(h, "qp-slow", "3.0 %"), 1);
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
	judged(counted(h, "naks 190"), 0, "slow", "20 % of packets retransmitted");
}

/* The remote end sees it, too; and the end that only receives. */
HOST_TEST(loss_is_seen_by_the_responder)
{
	busy(h, 1000);
	RD_SET(h->devs[0].driver_id, RD_DRIVER_RXE);
	judged(counted(h, "out-of-order 8, duplicates 2"), 0, "slow", "0.8 % of packets lost: 8 out of sequence");
	RD_SET(h->qps[0].state, RD_QPS_RTR);
	judged(h, 0, "slow", "0.8 % of packets lost: 8 out of sequence");
}

/* With adaptive routing, packets arrive out of sequence, and none is lost: no warning, but no "ok" either. */
HOST_TEST(packets_that_are_reordered_are_not_lost)
{
	busy(h, 1000);
	judged(counted(h, "out-of-order 300"), 0, "cannot-tell",
	       "30 % of packets out of sequence: 300 lost on the way or reordered by adaptive routing");
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
	/* What else is counted is not hidden by it. */
	judged(counted(h, "duplicates 20"), 0, "slow", "2.0 % of packets received again");
}

HOST_TEST(several_queue_pairs_share_the_evidence)
{
	busy(h, 1000);
	listed(h, "rts 10");
	judged(counted(h, "naks 50"), 0, "cannot-tell", "device-wide");
	is(h->v[1].verdict, "cannot-tell", "device-wide");
	assert_int_equal(count_findings(h, "qps-retransmit", "5.0 % of packets retransmitted"), 1);
}

/* An idle queue pair receives no NAKs; but its packets may be those that time out. */
HOST_TEST(an_idle_one_beside_it)
{
	busy(h, 1000);
	listed(h, "rts 0");
	judged(counted(h, "naks 50"), 0, "slow", "5.0 %");
	judged(counted(h, "naks 0, retries 50"), 0, "cannot-tell", "of this or another");
	is(h->v[1].verdict, "cannot-tell", "retransmitted in that time");
}

/* Healthy: a handful of losses of a busy host, by share and by chance. */
TEST(few_losses_are_harmless)
{
	static const struct {
		uint64_t events, packets;
		const char *verdict;
	} cases[] = {
		{ 1, 10, "ok" },	 { 4, 400, "cannot-tell" }, { 5, 100, "slow" },		{ 12, 100000000, "ok" },
		{ 1000, 1000000, "ok" }, { 1070, 1000000, "slow" }, { 10000, 100000000, "ok" }, { 10, 1000, "slow" },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct host h;

		busy(&h, (double)cases[i].packets);
		RD_SET(h.since[0].v[RD_QPC_RETRIES], cases[i].events);
		judged(&h, 0, cases[i].verdict, "packets per second");
		assert_int_equal(count_findings(&h, "qps-retransmit", ""), 0);
		host_deinit(&h);
	}
}

/* Broken: the first ACK timeout to a peer that is dead; what was sent before it is no progress. */
HOST_TEST(nothing_is_acknowledged)
{
	busy(h, 10);
	counted(h, "retries 1, got 0");
	judged(h, 0, "retrying", "received no packet in 1.0 s, no ACK either, and counted 1 ACK timeout (device-wide)");
	assert_non_null(strstr(h->v[0].verdict->fix, "does the remote QP, and its process, still exist?"));
	/* Which of two? */
	listed(h, "rts 0");
	judged(h, 0, "cannot-tell", "received no packet");
	assert_string_not_equal(rd_qp_verdicts[h->v[1].verdict->kind].name, "ok");
}

/* Healthy: packets that were received may be its ACKs; none are due before the first timeout; a device may not count. UC has
 * none, and sends to a peer that is dead just as well. */
HOST_TEST(something_may_be_acknowledged)
{
	busy(h, 10);
	judged(counted(h, "retries 1, got 1"), 0, "ok", "10 packets per second");
	judged(counted(h, "got 0, retries 0"), 0, "ok", "10 packets per second");
	counted(h, "retries 1");
	h->since[0].v[RD_QPC_GOT].known = RD_ABSENT;
	judged(h, 0, "ok", "10 packets per second");
	counted(h, "got 0");
	RD_SET(h->qps[0].type, RD_QPT_UC);
	judged(h, 0, "cannot-tell", "10 packets per second; UC has no ACKs");
}

/* Healthy: what another device lost; what was counted before a reset, or not at all. */
HOST_TEST(losses_of_others_are_not_its_own)
{
	busy(h, 1000);
	RD_SET(h->since[1].v[RD_QPC_NAKS], 500);
	RD_SET(h->since[1].v[RD_QPC_SENT], 1000);
	judged(h, 0, "ok", "packets per second");
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
	for (int i = 0; i < RD_QPC_N; i++)
		h->since[0].v[i].known = RD_ABSENT;
	judged(h, 0, "ok", "packets per second");
}

/* A device that may have queue pairs which are not listed: its packets are unknown without a counter, and so is the share. */
HOST_TEST(no_share_without_a_count_of_packets)
{
	busy(h, 1000);
	h->devs[0].name = (char *)"mlx5_0";
	h->since[0].v[RD_QPC_SENT].known = RD_ABSENT;
	judged(counted(h, "naks 50"), 0, "cannot-tell", "does not count packets");
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
	/* Of soft-RoCE, all are listed. */
	h->devs[0].name = (char *)"rxe0";
	judged(h, 0, "slow", "5.0 %");
	/* The kernel counts more than it lists. */
	RD_SET(h->devs[0].used[RD_RES_QP], 2);
	h->devs[0].listed[RD_RES_QP] = 1;
	judged(h, 0, "cannot-tell", "of this or another");
}

HOST_TEST(receivers_in_rtr)
{
	busy(h, 1000);
	RD_SET(h->qps[0].state, RD_QPS_RTR);
	age(h, &h->qps[0], RD_AGE_AT_LEAST, 100, 0);
	judged(h, 0, "receiving", "1000 packets per second");
	/* A single packet is one received. */
	RD_SET(h->past[0].psn_per_second, 1);
	judged(h, 0, "receiving", "receives 1 packets");
	/* Without packets, it may be a QP that only receives. */
	RD_SET(h->past[0].psn_per_second, 0);
	judged(h, 0, "cannot-tell", "only receives");
	/* Its process moves queue pairs to RTS: not this one. */
	h->qps[0].proc = 1;
	add(h, 18, RD_QPS_RTS, 0)->proc = 0;
	judged(h, 0, "cannot-tell", "only receives");
	h->qps[1].proc = 1;
	judged(h, 0, "stuck", "where other queue pairs of its process are");
	/* UC receivers stay there. */
	RD_SET(h->qps[0].type, RD_QPT_UC);
	judged(h, 0, "cannot-tell", "only receives");
}

HOST_TEST(nothing_posted)
{
	busy(h, 0);
	RD_SET(h->qps[0].owner.pid, 235);
	judged(counted(h, "rnr-sent 40"), 0, "no-receives", "the program of this QP");
	assert_non_null(strstr(h->v[0].verdict->fix, "gdb -p 235"));
	/* A UD queue pair of a program may be the one that has none. */
	add(h, 19, RD_QPS_RTS, 0)->type.v = RD_QPT_UD;
	judged(h, 0, "cannot-tell", "of this or of another");
	h->qps[1].owner.kernel = (char *)"ib_core";
	judged(h, 0, "no-receives", "the program of this QP");
	judged(counted(h, "rnr-sent 0, rnr 40"), 0, "no-receives", "the remote QP is not ready");
}

/* With packets, RNR NAKs are a receiver that is too slow. */
HOST_TEST(receiver_too_slow)
{
	busy(h, 1000);
	judged(counted(h, "rnr 40"), 0, "slow", "4.0 % of packets refused: 40 RNR NAKs received");
	judged(counted(h, "rnr 0, rnr-sent 40"), 0, "slow", "40 RNR NAKs sent");
}

/* A receiver that is too slow, as soft-RoCE counts it: each RNR NAK makes a NAK for the packets behind the refused one, and what is
 * retransmitted then counts as a timeout. Nothing is lost. Broken: lost packets, beside a few RNR NAKs. */
HOST_TEST(rnr_naks_are_no_loss)
{
	busy(h, 1000);
	RD_SET(h->devs[0].driver_id, RD_DRIVER_RXE);
	judged(counted(h, "rnr 40, naks 40, retries 44"), 0, "slow", "4.0 % of packets refused: 40 RNR NAKs received");
	assert_non_null(strstr(h->v[0].verdict->fix, "posts no receive work requests"));
	judged(counted(h, "naks 240"), 0, "slow", "% of packets retransmitted: 204 NAKs and ACK timeouts");
	assert_non_null(strstr(h->v[0].verdict->fix, "find where packets are lost"));
	for (int i = 0; i < RD_QPC_SENT; i++)
		RD_SET(h->since[0].v[i], 0);
	judged(counted(h, "rnr-sent 40, out-of-order 40"), 0, "slow", "4.0 % of packets refused: 40 RNR NAKs sent");
	judged(counted(h, "out-of-order 240"), 0, "slow", "20 % of packets lost: 200 out of sequence");
}

/* A peer that died, beside a healthy queue pair: the only one without packets is named. */
HOST_TEST(dead_peer_beside_a_busy_one)
{
	busy(h, 1000000);
	listed(h, "rts 0");
	judged(counted(h, "retries 15"), 0, "ok", "packets per second");
	is(h->v[1].verdict, "retrying", "retransmitted 15 times");
	assert_non_null(strstr(h->v[1].verdict->fix, "does the remote QP, and its process, still exist?"));
	assert_int_equal(count_findings(h, "qp-retrying", ""), 1);
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
}

/* Few packets of one may all be retransmissions; those of the busy one are not. */
HOST_TEST(a_dead_peer_whose_packets_are_retransmissions)
{
	busy(h, 250);
	listed(h, "rts 4");
	counted(h, "retries 14");
	judged(h, 1, "cannot-tell", "not more than were retransmitted by this or another queue pair: 5.6 %");
	assert_non_null(strstr(h->v[1].verdict->fix, "does the remote QP, and its process, still exist?"));
	is(h->v[0].verdict, "cannot-tell", "; of this or another queue pair: 5.6 %");
	h->past[1].psn_per_second.v = 15;
	judged(h, 1, "cannot-tell", "; of this or another queue pair");
}

/* Healthy: an idle queue pair, beside a busy one that the timeouts are of: its path loses packets, as NAKs show; a few timeouts are
 * harmless; ACKs that are lost; another one failed or ended. Nor can it have as many timeouts, or as few. */
HOST_TEST(idle_beside_one_that_times_out)
{
	busy(h, 1000000);
	listed(h, "rts 0");
	judged(counted(h, "retries 15, naks 3"), 1, "cannot-tell", "retransmitted in that time");
	h->since[0].v[RD_QPC_NAKS].known = RD_ABSENT;
	judged(h, 1, "cannot-tell", "retransmitted in that time");
	judged(counted(h, "naks 0, retries 3"), 1, "cannot-tell", "retransmitted in that time");
	judged(counted(h, "retries 15, sent 2000"), 1, "cannot-tell", "retransmitted in that time");
	counted(h, "sent 1000000");
	h->views.gone = rd_alloc(3, sizeof(*h->views.gone));
	h->views.gone[0] = 1;
	judged(h, 1, "cannot-tell", "retransmitted in that time");
	h->views.gone[0] = 0;
	h->past[1].seen = rd_alloc(1, sizeof(struct rd_qp_seen));
	for (uint8_t timeout = 0; timeout < 25; timeout++) {
		RD_SET(h->past[1].seen->timeout, timeout);
		judge(h);
		/* 67 ms: up to 15 in a second; 33 ms, or 17 ms, with a device that waits twice or four times as long. */
		assert_string_equal(rd_qp_verdicts[h->v[1].verdict->kind].name,
				    timeout >= 12 && timeout <= 14 ? "retrying" : "cannot-tell");
	}
}

/* Broken: the ACKs of the one without packets are lost, so that its peer sends the same again. Healthy: one late ACK; those of another
 * one, which has packets; UC has none. */
HOST_TEST(only_duplicates_are_received)
{
	busy(h, 0);
	counted(h, "duplicates 12");
	judged(h, 0, "cannot-tell", "no new packet in 1.0 s; rxe0 received 12 duplicate requests");
	assert_non_null(strstr(h->v[0].verdict->fix, "ACKs are lost"));
	RD_SET(h->qps[0].type, RD_QPT_UC);
	judged(h, 0, "idle", "UC queue pairs do not retransmit");
	RD_SET(h->qps[0].type, RD_QPT_RC);
	judged(counted(h, "duplicates 1"), 0, "idle", "did not retransmit");
	counted(h, "duplicates 12");
	listed(h, "rts 100000");
	judged(h, 0, "idle", "did not retransmit");
	/* Too many for a healthy path: of either. */
	judged(counted(h, "got 100"), 0, "cannot-tell", "no new packet in 1.0 s; rxe0 received 12 duplicate requests");
	judged(h, 1, "cannot-tell", "of this or another queue pair: 12 % of packets received again");
	judged(counted(h, "got 1000000"), 0, "idle", "did not retransmit");
}

/* Which one it is, is not known: the finding names all that it can be, those without packets first, and no single one. */
HOST_TEST(one_of_several)
{
	struct rd_findings findings = { 0 };

	busy(h, 1000000);
	listed(h, "rts 0, rts 0");
	judged(counted(h, "retries 15"), 1, "cannot-tell", "retransmitted in that time");
	rd_qp_verdict_findings(&h->views, NULL, &findings);
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].subject, "rxe0, one of 2 queue pairs");
	ASSERT_HAS(findings.v[0].observed, "rxe0 retransmitted 15 times in 1.0 s", "without packets: qpn 18, 19");
	assert_null(strstr(findings.v[0].observed, "17"));
	rd_findings_deinit(&findings);
	/* Also if one of them is selected, but not if none is. */
	findings = (struct rd_findings){ 0 };
	rd_qp_verdict_findings(&h->views, (bool[]){ false, true, false }, &findings);
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].subject, "rxe0, one of 2 queue pairs");
	rd_findings_deinit(&findings);
	findings = (struct rd_findings){ 0 };
	rd_qp_verdict_findings(&h->views, (bool[]){ true, false, false }, &findings);
	assert_int_equal(findings.n, 0);
	/* Lost packets of those with packets: any of three. */
	past_of(h, &h->qps[2])->psn_per_second.v = 1000;
	judge(counted(h, "sent 2000"));
	findings = (struct rd_findings){ 0 };
	rd_qp_verdict_findings(&h->views, NULL, &findings);
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.v[0].subject, "rxe0, one of 3 queue pairs");
	assert_non_null(strstr(findings.v[0].observed, "without packets: qpn 18; with packets: qpn 17, 19"));
	assert_null(strstr(findings.v[0].fix, "--lqpn"));
	rd_findings_deinit(&findings);
	/* All are without packets; and receivers that are not ready. */
	h->past[0].psn_per_second.v = h->past[2].psn_per_second.v = 0;
	judge(h);
	assert_int_equal(count_findings(h, "qps-retransmit", "without packets: qpn 17, 18, 19"), 1);
	judge(counted(h, "rnr 30"));
	assert_int_equal(count_findings(h, "qps-retransmit", "rxe0 received 30 RNR NAKs"), 1);
}

/* Healthy: many are idle while others transfer, and lose a harmless few; or what is counted has its cause in one that is named. */
HOST_TEST(none_of_several)
{
	busy(h, 1000000);
	listed(h, "rts 0, rts 0");
	judge(counted(h, "retries 3"));
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
	judge(counted(h, "retries 15, naks 80"));
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
	h->past[0].psn_per_second.v = 0;
	RD_SET(h->qps[0].state, RD_QPS_ERR);
	h->past[0].fresh = true;
	judge(h);
	assert_int_equal(count_findings(h, "qps-retransmit", ""), 0);
}

/* Samples closer than the ACK timeout: between two of them nothing is retransmitted, and it is not idle all the same. The second time
 * without a packet is of the same request. Healthy: long ago; of another one; once, in an interval that has a packet. */
HOST_TEST(between_two_retransmissions)
{
	busy(h, 0);
	judged(counted(h, "retries 1"), 0, "cannot-tell", "retransmitted once");
	assert_int_equal(h->v[0].verdict->retried, 1);
	h->past[0].retried = 1;
	RD_SET(h->past[0].retried_seconds, 5);
	judged(h, 0, "retrying", "rxe0 retransmitted 2 times after the last packet, without progress");
	assert_int_equal(h->v[0].verdict->retried, 2);
	judged(counted(h, "retries 0"), 0, "cannot-tell", "rxe0 retransmitted 1 time before, after the last packet");
	assert_int_equal(h->v[0].verdict->retried, 0);
	h->past[0].retried_seconds.v = 21;
	judged(h, 0, "idle", "did not retransmit");
	judged(counted(h, "retries 1"), 0, "cannot-tell", "retransmitted once");
	h->past[0].psn_per_second.v = 1;
	judge(h);
	assert_int_equal(h->v[0].verdict->retried, 0);
	h->past[0].psn_per_second.v = 0;
	h->past[0].retried_seconds.v = 5;
	listed(h, "rts 0");
	judged(h, 0, "cannot-tell", "for this or another");
	is(h->v[1].verdict, "cannot-tell", "retransmitted once");
	assert_int_equal(h->v[1].verdict->retried, 0);
}

/* What was lost before is remembered until so many packets flow without loss that it is over: a slow job, whose path loses packets,
 * is not ok in one interval and slow in the next. Its peer, which sent nothing, saw none of it. */
HOST_TEST(loss_is_over_only_once_packets_show_it)
{
	struct rd_qp_doubt doubts[2] = { 0 };

	busy(h, 20);
	h->judge.doubts = doubts;
	judged(h, 0, "ok", "20 packets per second");
	h->judge.seconds = 2;
	counted(h, "naks 5");
	judged(h, 0, "slow", "25 % of packets retransmitted: 5 NAKs and ACK timeouts, 20 packets sent by rxe0 in 2.0 s");
	h->judge.seconds = 1;
	judged(counted(h, "naks 0, sent 19"), 0, "cannot-tell",
	       "20 packets per second; too few to show that a loss is over: 25 % of packets retransmitted: 5 NAKs and ACK timeouts, "
	       "20 packets sent by rxe0 in 2.0 s");
	RD_SET(h->qps[0].state, RD_QPS_RTR);
	judged(counted(h, "sent 0"), 0, "receiving", "20 packets per second");
	RD_SET(h->qps[0].state, RD_QPS_RTS);
	judge(counted(h, "sent 1"));
	assert_string_equal(h->v[0].verdict->why, "20 packets per second");
	/* A few that nothing proves yet, likewise; and those of another device are not its own. */
	judged(counted(h, "naks 2, sent 200"), 0, "cannot-tell", "too few to judge");
	judged(counted(h, "naks 0"), 0, "cannot-tell", "too few to show that a loss is over: 1.0 % of packets");
	h->judge.doubts[1] = doubts[0];
	doubts[0] = (struct rd_qp_doubt){ 0 };
	judged(h, 0, "ok", "20 packets per second");
}

/* Where packets are not counted, and the list is not complete, time tells that a loss is over. */
HOST_TEST(loss_ends_where_packets_are_not_counted)
{
	struct rd_qp_doubt doubts[2] = { 0 };

	busy(h, 20);
	h->judge.doubts = doubts;
	h->judge.seconds = 2;
	h->since[0].v[RD_QPC_SENT].known = h->since[0].v[RD_QPC_GOT].known = RD_ABSENT;
	judged(counted(h, "naks 5"), 0, "slow", "12 % of packets");
	h->judge.seconds = 1;
	counted(h, "naks 0");
	RD_SET(h->devs[0].used[RD_RES_QP], 2);
	h->devs[0].listed[RD_RES_QP] = 1;
	judged(h, 0, "cannot-tell", "too few to show that a loss is over");
	judged(h, 0, "ok", "20 packets per second");
}

/* One that its program closed since the sample before can have lost the packets, too. */
HOST_TEST(one_that_was_closed_may_be_meant)
{
	struct rd_qp *closed;

	busy(h, 1000);
	judged(counted(h, "naks 30"), 0, "slow", "3.0 %");
	closed = put(h, 18, RD_QPS_ERR);
	past_of(h, closed)->moved_by_call = past_of(h, closed)->fresh = true;
	judged(h, 0, "cannot-tell", "of this or another");
	past_of(h, closed)->fresh = false;
	judged(h, 0, "slow", "3.0 %");
}

/* One in RTR sends nothing that could be retransmitted. */
HOST_TEST(receivers_are_not_meant_by_what_requesters_lose)
{
	busy(h, 1000);
	listed(h, "rts 1000, rtr 1000");
	/* Two out of order are not enough to judge: 19 cannot tell. */
	judged(counted(h, "naks 30, out-of-order 2, got 300"), 2, "cannot-tell", "too few to judge");
	assert_int_equal(count_findings(h, "qps-retransmit", "; with packets: qpn 17, 18"), 1);
	assert_int_equal(count_findings(h, "qps-retransmit", "19"), 0);
}

/* Healthy: a program that computes between transfers. Its rate is mentioned, and decides nothing. */
HOST_TEST(a_rate_that_fell)
{
	busy(h, 1000);
	RD_SET(h->past[0].best_per_second, 3999);
	judge(h);
	assert_string_equal(h->v[0].verdict->why, "1000 packets per second");
	RD_SET(h->past[0].best_per_second, 50000);
	judged(h, 0, "ok", "1000 packets per second (50000 before)");
	judged(counted(h, "naks 30"), 0, "slow", "1000 packets per second (50000 before)");
}
