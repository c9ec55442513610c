/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many questions in flight: all are answered once, silent agents hold up nobody, nonsense is dropped and counted. */
#include "fake-mads.h"
#include "unit.h"

#include "collect/fabric/fabric.h"

#include <limits.h>

#define ASKS_MAX 20000

struct net {
	struct fake_mads fake;
	struct rd_sweep_limits limits;
	struct rd_sweep_query asks[ASKS_MAX];
	size_t n, lids;
	unsigned told[ASKS_MAX];
	int errors[ASKS_MAX];
	struct rd_sweep_stats stats;
};

static void setup(struct net *net)
{
	fake_mads_init(&net->fake);
	net->limits = (struct rd_sweep_limits){ .window = 64, .per_lid = 2, .timeout_ms = 100, .retries = 2 };
}

static void teardown(struct net *net)
{
	fake_mads_deinit(&net->fake);
}

/* An agent with some ports, each asked for five attributes. LIDs are counted from 1. */
static void add(struct net *net, unsigned ports)
{
	static const uint16_t attributes[] = { 0x12, 0x1d, 0x15, 0x16, 0x1c };
	size_t lid = net->lids++;

	for (unsigned p = 1; p <= ports; p++)
		for (size_t i = 0; i < RD_ARRAY_SIZE(attributes); i++)
			net->asks[net->n++] = (struct rd_sweep_query){
				.dest.lid = (uint16_t)(lid + 1),
				.mad_class = 4,
				.port_select = (uint8_t)p,
				.attribute = attributes[i],
				.lid = lid,
			};
}

static void done(void *arg, const struct rd_sweep_result *answer)
{
	struct net *net = arg;

	net->told[answer->query]++;
	net->errors[answer->query] = answer->error;
	assert_true((answer->mad != NULL) == (answer->error == 0 || answer->error == EREMOTEIO));
}

static int run(struct net *net)
{
	struct rd_sweep_callbacks calls = { .done = done, .arg = net };
	struct rd_err err = { 0 };
	int r = rd_sweep_run(&net->fake.mads, &net->limits, net->asks, net->n, net->lids, &calls, &net->stats, &err);

	for (size_t i = 0; i < net->n; i++)
		assert_int_equal(net->told[i], 1);
	assert_true(net->fake.most_in_flight <= net->limits.window);
	return r;
}

static size_t errors(const struct net *net, int code)
{
	size_t n = 0;

	for (size_t i = 0; i < net->n; i++)
		n += net->errors[i] == code;
	return n;
}

#define NET_TEST(name) TEST_BEGUN(name, struct net, net, setup, teardown)

NET_TEST(every_question_is_answered_once_whatever_the_order)
{
	net->fake.seed = 7;
	for (int i = 0; i < 100; i++)
		add(net, i % 10 ? 1 : 32);
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, 0), net->n), IS(net->stats.received, net->n), IS(net->stats.sent, net->n),
		    IS(net->stats.stray + net->stats.timeouts + net->stats.malformed, 0),
		    IS(net->stats.latency_min_ns <= net->stats.latency_median_ns, true),
		    IS(net->stats.latency_median_ns <= net->stats.latency_p99_ns, true),
		    IS(net->stats.latency_p99_ns <= net->stats.latency_max_ns, true));
	for (size_t i = 0; i < net->lids; i++)
		assert_true(net->fake.agents[i + 1].most_in_flight <= net->limits.per_lid);
}

NET_TEST(a_window_of_one_asks_one_after_the_other)
{
	net->limits.window = net->limits.per_lid = 1;
	for (int i = 0; i < 20; i++)
		add(net, 2);
	assert_int_equal(run(net), 0);
	assert_int_equal(net->stats.duration_ns, net->n * 244000);
}

NET_TEST(a_wide_window_takes_as_long_as_the_largest_agent)
{
	for (int i = 0; i < 50; i++)
		add(net, 1);
	add(net, 32);
	assert_int_equal(run(net), 0);
	/* 160 questions, two at a time, the first alone */
	assert_true(net->stats.duration_ns < 90 * UINT64_C(244000));
}

NET_TEST(fewer_silent_agents_than_the_window_hold_up_nobody)
{
	uint64_t start = net->fake.now;

	for (int i = 0; i < 300; i++)
		add(net, i % 30 ? 1 : 24);
	for (int i = 1; i <= 5; i++)
		net->fake.agents[i * 50].silent = UINT_MAX;
	assert_int_equal(run(net), 0);
	assert_int_equal(errors(net, ETIMEDOUT), 5);
	assert_int_equal(errors(net, 0) + errors(net, ETIMEDOUT) + errors(net, EHOSTDOWN), net->n);
	/* all that answer have done so before the first that does not is given up */
	assert_true(net->fake.last_answer < net->fake.first_failure);
	/* the time of one LID on top: three tries, of 100, 200 and 400 ms */
	assert_true(net->fake.now - start <= (net->fake.last_answer - start) + 700 * UINT64_C(1000000));
	ASSERT_EACH(IS(net->stats.timeouts, 15), IS(net->stats.retries, 10));
}

NET_TEST(many_silent_agents_cost_no_more_than_their_share_of_the_window)
{
	for (int i = 0; i < 400; i++) {
		add(net, 1);
		net->fake.agents[i + 1].silent = i < 200 ? UINT_MAX : 0;
	}
	assert_int_equal(run(net), 0);
	/* ceil(200 / 64) = 4 times three tries, and some ms for the others */
	assert_true(net->stats.duration_ns <= 4 * 700 * UINT64_C(1000000) + UINT64_C(20000000));
	assert_int_equal(errors(net, 0), 1000);
}

/* Tries of one length would all end before its answer. */
NET_TEST(a_slow_agent_is_waited_for)
{
	for (int i = 0; i < 10; i++)
		add(net, 2);
	net->fake.agents[3].latency_us = 310000;
	assert_int_equal(run(net), 0);
	assert_int_equal(errors(net, 0), net->n);
	assert_in_range(net->stats.latency_max_ns, 310000000, 311000000);
}

NET_TEST(a_lost_datagram_is_asked_for_again)
{
	for (int i = 0; i < 10; i++)
		add(net, 4);
	net->fake.agents[3].silent = 1;
	net->fake.agents[7].silent = 2;
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, 0), net->n), IS(net->stats.retries, 3), IS(net->stats.timeouts, 3));
}

NET_TEST(duplicates_and_late_answers_are_dropped_and_counted)
{
	for (int i = 0; i < 10; i++)
		add(net, 2);
	net->fake.agents[2].twice = true;
	net->fake.agents[5].late = true;
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, 0), net->n), IS(net->stats.received, net->n));
	/* the last copies may come when nobody listens any more */
	ASSERT_EACH(IS(net->stats.stray >= 10 && net->stats.stray <= 11, true), IS(net->stats.timeouts, 1));
}

NET_TEST(an_answer_that_comes_in_the_next_sweep_is_none_there)
{
	add(net, 1);
	net->n = 1;
	net->limits.retries = 0;
	net->fake.agents[1].late = true;
	assert_int_equal(run(net), 0);
	assert_int_equal(net->errors[0], ETIMEDOUT);

	net->asks[0].port_select = 2;
	net->told[0] = 0;
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(net->errors[0], 0), IS(net->stats.stray, 1), IS(net->stats.malformed, 0));
}

static void cut_short(struct rd_mad *mad)
{
	mad->size = 100;
}

static void another_class(struct rd_mad *mad)
{
	mad->data[1] = 3;
}

static void another_attribute(struct rd_mad *mad)
{
	mad->data[17] ^= 1;
}

static void another_port(struct rd_mad *mad)
{
	mad->data[65]++;
}

static void a_question(struct rd_mad *mad)
{
	mad->data[3] = 1;
}

static void another_version(struct rd_mad *mad)
{
	mad->data[0] = 2;
}

NET_TEST(nonsense_is_no_answer)
{
	static void (*const changes[])(struct rd_mad *) = { cut_short,	  another_class, another_attribute,
							    another_port, a_question,	 another_version };

	for (size_t i = 0; i < RD_ARRAY_SIZE(changes); i++) {
		add(net, 1);
		net->fake.agents[i + 1].change = changes[i];
	}
	add(net, 3);
	assert_int_equal(run(net), 0);
	/* Each of the five attributes of these agents is tried three times. */
	ASSERT_EACH(IS(net->stats.malformed, errors(net, EBADMSG) * 3),
		    IS(errors(net, EBADMSG), RD_ARRAY_SIZE(changes) * 5), IS(errors(net, 0), 15));
}

static unsigned nonsense_left;

static void nonsense_at_first(struct rd_mad *mad)
{
	if (nonsense_left == 0)
		return;
	nonsense_left--;
	mad->data[17] ^= 1;
}

NET_TEST(a_malformed_answer_is_asked_again)
{
	add(net, 1);
	add(net, 1);
	nonsense_left = 2;
	net->fake.agents[1].change = nonsense_at_first;
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, 0), 10), IS(net->stats.malformed, 2), IS(net->stats.retries, 2),
		    IS(net->stats.timeouts, 0), IS(net->stats.received, 12), IS(net->stats.latencies, 10));
}

/* Of three attributes in a row that are not answered, the first two cost themselves only. */
NET_TEST(an_attribute_that_is_silent_does_not_end_its_agent)
{
	add(net, 2);
	net->fake.agents[1].silent_attribute = 0x1d;
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, ETIMEDOUT), 2), IS(errors(net, 0), 8));
}

NET_TEST(an_agent_that_falls_silent_is_given_up)
{
	add(net, 8);
	net->limits.per_lid = 1;
	for (size_t i = 1; i < net->n; i++)
		net->asks[i].attribute = 0x1d;
	net->fake.agents[1].silent_attribute = 0x1d;
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, 0), 1), IS(errors(net, ETIMEDOUT), 3), IS(errors(net, EHOSTDOWN), net->n - 4));
}

static unsigned answered_before;

static void count_done(void *arg, const struct rd_sweep_result *answer)
{
	answered_before++;
	done(arg, answer);
}

static bool all_before_have_a_result(void *arg, size_t ask)
{
	struct net *net = arg;

	if (net->asks[ask].after)
		assert_int_equal(answered_before, ask);
	return true;
}

NET_TEST(a_question_can_wait_for_those_before_it)
{
	struct rd_sweep_callbacks calls = { .needed = all_before_have_a_result, .done = count_done, .arg = net };

	answered_before = 0;
	net->fake.seed = 3;
	net->limits.per_lid = 4;
	add(net, 8);
	net->asks[10].after = net->asks[25].after = true;
	net->fake.agents[1].silent = 1;
	assert_int_equal(rd_sweep_run(&net->fake.mads, &net->limits, net->asks, net->n, net->lids, &calls, &net->stats,
				      NULL),
			 0);
	ASSERT_EACH(IS(errors(net, 0), 40), IS(net->fake.most_in_flight > 1, true));
}

static void wrong_number(struct rd_mad *mad)
{
	mad->tid ^= 0x4000;
}

NET_TEST(an_answer_to_another_question_is_not_taken)
{
	add(net, 1);
	add(net, 1);
	net->fake.agents[1].change = wrong_number;
	/* The failure that the kernel owes us for the true question never comes in this fake: time ends it. */
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, 0), 5), IS(net->stats.stray, 3), IS(errors(net, ETIMEDOUT), 1));
}

static void refused(struct rd_mad *mad)
{
	mad->data[5] = 0x0c;
}

NET_TEST(a_refusal_is_an_answer_and_the_rest_is_asked)
{
	add(net, 2);
	net->fake.agents[1].change = refused;
	assert_int_equal(run(net), 0);
	ASSERT_EACH(IS(errors(net, EREMOTEIO), 10), IS(net->stats.refused, 10));
}

NET_TEST(a_port_that_goes_away_ends_all)
{
	for (int i = 0; i < 30; i++)
		add(net, 2);
	net->fake.fail_after = 100;
	assert_int_equal(run(net), -ENODEV);
	assert_true(errors(net, ENODEV) > 0);
	assert_int_equal(errors(net, ENODEV) + errors(net, 0), net->n);
}

static bool unwanted(void *arg, size_t ask)
{
	struct net *net = arg;

	return net->asks[ask].attribute != 0x15;
}

NET_TEST(the_caller_can_leave_questions_out)
{
	struct rd_sweep_callbacks calls = { .needed = unwanted, .done = done, .arg = net };

	add(net, 2);
	add(net, 2);
	assert_int_equal(rd_sweep_run(&net->fake.mads, &net->limits, net->asks, net->n, net->lids, &calls, &net->stats,
				      NULL),
			 0);
	ASSERT_EACH(IS(errors(net, ENODATA), 4), IS(errors(net, 0), 16));
}
