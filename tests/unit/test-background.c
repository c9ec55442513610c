/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A walk in pieces, and sweeps between them: each gets its own responses, neither waits for the other. */
#include "fake-mads.h"
#include "unit.h"

#include "collect/fabric/fabric.h"

#define HOSTS 30

struct scene {
	struct fake_mads fake;
	struct rd_background *background;
	struct rd_sweep_limits limits;
	struct rd_walk walk;
	struct rd_err err;
	unsigned responses; /* of sweeps */
};

/* A switch with hosts, of which each datagram takes a millisecond. */
static void setup(struct scene *s)
{
	unsigned leaf, host;

	fake_mads_init(&s->fake);
	s->limits = (struct rd_sweep_limits){ .window = 4, .per_lid = 2, .timeout_ms = 100, .retries = 1 };
	host = fake_node_add(&s->fake, 1, 1, 1);
	leaf = fake_node_add(&s->fake, 2, HOSTS, 100);
	fake_cable(&s->fake, host, 1, leaf, 1);
	for (unsigned i = 2; i <= HOSTS; i++)
		fake_cable(&s->fake, fake_node_add(&s->fake, 1, 1, (uint16_t)i), 1, leaf, i);
	for (unsigned i = 0; i < FAKE_LIDS; i++)
		s->fake.agents[i].latency_us = 1000;
	s->background = rd_background_open(&s->fake.mads);
}

static void teardown(struct scene *s)
{
	if (s->background)
		rd_background_close(s->background);
	rd_walk_deinit(&s->walk);
	fake_mads_deinit(&s->fake);
}

static int walk(void *arg, struct rd_mads *mads, struct rd_err *err)
{
	struct scene *s = arg;

	return rd_walk_run(mads, &s->limits, &s->walk, err);
}

static void count(void *arg, const struct rd_sweep_result *result)
{
	((struct scene *)arg)->responses += result->error == 0;
}

/* Queries the counters of all hosts. */
static void sweep(struct scene *s)
{
	const struct rd_sweep_callbacks callbacks = { .done = count, .arg = s };
	struct rd_sweep_query queries[HOSTS];
	struct rd_sweep_stats stats;

	for (unsigned i = 0; i < HOSTS; i++)
		queries[i] = (struct rd_sweep_query){
			.dest.lid = (uint16_t)(i + 1), .mad_class = 4, .port_select = 1, .attribute = 0x12, .lid = i
		};
	s->responses = 0;
	assert_int_equal(rd_sweep_run(rd_background_port(s->background), &s->limits, queries, HOSTS, HOSTS, &callbacks,
				      &stats, &s->err),
			 0);
	ASSERT_EACH(IS(s->responses, HOSTS), IS(stats.stray, 0), IS(stats.timeouts, 0));
}

#define SCENE_TEST(name) TEST_BEGUN(name, struct scene, s, setup, teardown)

SCENE_TEST(a_walk_in_pieces_finds_what_a_walk_finds)
{
	unsigned pieces = 0;

	assert_false(rd_background_begun(s->background));
	assert_int_equal(rd_background_begin(s->background, walk, s, &s->err), 0);
	while (!rd_background_continue(s->background, 2)) {
		assert_true(rd_background_begun(s->background));
		sweep(s);
		pieces++;
	}
	assert_int_equal(rd_background_finish(s->background, &s->err), 0);
	assert_false(rd_background_begun(s->background));
	ASSERT_EACH(IS(pieces > 5, true), IS(s->walk.n, HOSTS + 1));
	/* Its responses came during sweeps, and were not lost. */
	ASSERT_EACH(IS(s->walk.stats.retries, 0), IS(s->walk.stats.lost, 0));
	sweep(s);
}

SCENE_TEST(a_piece_is_no_longer_than_allowed)
{
	uint64_t before;

	s->fake.agents[100].silent_route = true;
	s->limits.timeout_ms = 2000;
	assert_int_equal(rd_background_begin(s->background, walk, s, &s->err), 0);
	for (unsigned i = 0; i < 5; i++) {
		before = s->fake.now;
		assert_false(rd_background_continue(s->background, 10));
		assert_true(s->fake.now - before <= 11000000);
	}
}

SCENE_TEST(what_is_ended_early_fails)
{
	assert_int_equal(rd_background_begin(s->background, walk, s, &s->err), 0);
	assert_false(rd_background_continue(s->background, 2));
	assert_int_equal(rd_background_finish(s->background, &s->err), -ECANCELED);
	assert_int_equal(s->err.code, ECANCELED);
	rd_walk_deinit(&s->walk);
	s->walk = (struct rd_walk){ 0 };
	/* Late responses to it belong to nothing. */
	sweep(s);
	assert_int_equal(rd_background_begin(s->background, walk, s, &s->err), 0);
	assert_true(rd_background_continue(s->background, 60000));
	assert_int_equal(rd_background_finish(s->background, &s->err), 0);
	assert_int_equal(s->walk.n, HOSTS + 1);
}

SCENE_TEST(what_was_not_continued_ends_with_the_port)
{
	assert_int_equal(rd_background_begin(s->background, walk, s, &s->err), 0);
	rd_background_close(s->background);
	s->background = NULL;
	assert_int_equal(s->walk.n, 0);
}

SCENE_TEST(a_port_that_fails_fails_the_walk)
{
	s->fake.fail_after = 20;
	assert_int_equal(rd_background_begin(s->background, walk, s, &s->err), 0);
	assert_true(rd_background_continue(s->background, 60000));
	assert_int_equal(rd_background_finish(s->background, &s->err), -ENODEV);
	assert_string_equal(s->err.message, "it is gone");
}
