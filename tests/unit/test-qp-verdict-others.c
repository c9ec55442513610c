/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Situations that the rules of verdicts were not written for: broken ones that look healthy, healthy ones that look broken. */
#include "qp-host.h"

#include "analyse/qp/qp.h"

/* Two samples; the first device has counted nothing, and can count everything. */
static void start(struct host *h, double seconds)
{
	host_init(h);
	h->judge.since = h->since;
	h->judge.seconds = seconds;
	for (size_t d = 0; d < 2; d++)
		for (int i = 0; i < RD_QPC_N; i++)
			RD_SET(h->since[d].v[i], 0);
}

static struct rd_qp *add(struct host *h, uint32_t lqpn, uint8_t state, double rate)
{
	struct rd_qp *qp = put(h, lqpn, state);

	RD_SET(past_of(h, qp)->psn_per_second, rate);
	return qp;
}

static void count(struct host *h, enum rd_qp_count what, uint64_t n)
{
	RD_SET(h->since[0].v[what], n);
}

static bool has(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

/* Broken: its peer is dead, but the ACK timeout (NCCL: 4.3 s) is longer than the interval. Nobody knows that nothing is posted. */
static void dead_peer_before_the_first_timeout(void **state)
{
	struct host h;

	start(&h, 1);
	add(&h, 17, RD_QPS_RTS, 0);
	judge(&h);
	is(h.v[0].verdict, "idle", "no packet in 1.0 s");
	assert_false(has(h.v[0].verdict->fix, "no work request is outstanding"));
	assert_true(has(h.v[0].verdict->fix, "-i "));
	host_deinit(&h);
}

/* Broken: 4 of 20 packets lost are too few to be sure of, and no "no action needed". */
static void slow_job_that_loses_packets(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 10);
	count(&h, RD_QPC_SENT, 20);
	count(&h, RD_QPC_GOT, 20);
	count(&h, RD_QPC_NAKS, 4);
	judge(&h);
	assert_string_not_equal(rd_qp_verdict_name(h.v[0].verdict->kind), "ok");
	host_deinit(&h);
}

/* Broken: half of the queue pairs of a job wait for a peer that is dead, in RTR; not a packet, and no process in RTS. */
static void a_job_that_never_connects(void **state)
{
	struct host h;

	start(&h, 2);
	for (uint32_t i = 0; i < 4; i++)
		age(&h, add(&h, 17 + i, RD_QPS_RTR, 0), RD_AGE_AT_LEAST, 60, 0);
	judge(&h);
	for (size_t i = 0; i < 4; i++) {
		assert_string_not_equal(rd_qp_verdict_name(h.v[i].verdict->kind), "ok");
		assert_string_not_equal(rd_qp_verdict_name(h.v[i].verdict->kind), "receiving");
	}
	host_deinit(&h);
}

/* Broken: the queue pair failed long before the first look; what its device counts now is of others. */
static void failed_before_the_first_look(void **state)
{
	struct host h;

	start(&h, 2);
	age(&h, put(&h, 17, RD_QPS_ERR), RD_AGE_AT_LEAST, 30, 0);
	add(&h, 18, RD_QPS_RTS, 0);
	count(&h, RD_QPC_EXHAUSTED, 1);
	judge(&h);
	is(h.v[0].verdict, "failed", "in ERR");
	host_deinit(&h);
}

/* Broken at the other end: it is the responder that sends RNR NAKs, and moves nothing; a UD queue pair beside it is no reason to
 * accuse the wrong program. */
static void rnr_beside_a_datagram_queue_pair(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 0);
	RD_SET(put(&h, 18, RD_QPS_RTS)->type, RD_QPT_UD);
	count(&h, RD_QPC_RNR_SENT, 100);
	judge(&h);
	assert_string_not_equal(rd_qp_verdict_name(h.v[0].verdict->kind), "idle");
	is(h.v[1].verdict, "ok", "no connection");
	host_deinit(&h);
}

/* Healthy: a heartbeat, one packet every two seconds. */
static void heartbeat(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 0.5);
	count(&h, RD_QPC_SENT, 1);
	count(&h, RD_QPC_GOT, 1);
	judge(&h);
	is(h.v[0].verdict, "idle", "did not retransmit");
	host_deinit(&h);
}

/* Healthy: ACKs that come later than the timeout are received again as duplicates: nothing was lost on the way here. */
static void late_acks_are_no_loss_of_data(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 120);
	count(&h, RD_QPC_SENT, 250);
	count(&h, RD_QPC_GOT, 250);
	count(&h, RD_QPC_DUPLICATES, 6);
	judge(&h);
	assert_false(has(h.v[0].verdict->why, "packets lost or"));
	assert_true(has(h.v[0].verdict->why, "duplicate"));
	host_deinit(&h);
}

/* Healthy: 64 queue pairs of which one works; the others wait for their turn, and nothing is retransmitted. */
static void one_of_many_works(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 100000);
	count(&h, RD_QPC_SENT, 200000);
	for (uint32_t i = 1; i < 8; i++)
		add(&h, 17 + i, RD_QPS_RTS, 0);
	judge(&h);
	is(h.v[0].verdict, "ok", "packets per second");
	for (size_t i = 1; i < 8; i++)
		is(h.v[i].verdict, "idle", "no packet");
	host_deinit(&h);
}

/* Healthy: a queue pair of a device that retransmits for another device's peer; and one whose device counts nothing. */
static void neighbour_device_retransmits(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 0);
	add(&h, 18, RD_QPS_RTS, 0)->dev = 1;
	count(&h, RD_QPC_RETRIES, 30);
	judge(&h);
	is(h.v[0].verdict, "retrying", "device-wide");
	is(h.v[1].verdict, "idle", "did not retransmit");
	host_deinit(&h);
}

/* Healthy: what was retransmitted belongs to another one, whose program ended between the samples. */
static void another_one_is_gone(void **state)
{
	struct host h;

	start(&h, 2);
	add(&h, 17, RD_QPS_RTS, 0);
	count(&h, RD_QPC_RETRIES, 12);
	h.views.gone = rd_alloc(3, sizeof(*h.views.gone));
	h.views.gone[0] = 1;
	judge(&h);
	is(h.v[0].verdict, "cannot-tell", "2 queue pairs");
	host_deinit(&h);
}

/* Healthy: two samples 10 ms apart; three packets retransmitted of many are no loss to speak of. */
static void samples_that_follow_at_once(void **state)
{
	struct host h;

	start(&h, 0.01);
	add(&h, 17, RD_QPS_RTS, 1000000);
	count(&h, RD_QPC_SENT, 10000);
	count(&h, RD_QPC_GOT, 10000);
	count(&h, RD_QPC_NAKS, 3);
	judge(&h);
	is(h.v[0].verdict, "ok", "packets per second");
	host_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dead_peer_before_the_first_timeout), TEST(slow_job_that_loses_packets),
		TEST(a_job_that_never_connects),	  TEST(failed_before_the_first_look),
		TEST(rnr_beside_a_datagram_queue_pair),	  TEST(heartbeat),
		TEST(late_acks_are_no_loss_of_data),	  TEST(one_of_many_works),
		TEST(neighbour_device_retransmits),	  TEST(another_one_is_gone),
		TEST(samples_that_follow_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
