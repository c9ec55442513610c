/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "collect/fabric/fabric.h"
#include "fake-mads.h"

static struct fake_mads fake;
static struct rd_mads *mads;

struct beats {
	size_t n, nodes;
	size_t stop_at; /* beats; 0: never */
	uint64_t last_ns, longest_ns;
};

static bool count_beat(void *arg, size_t nodes)
{
	struct beats *beats = arg;

	if (beats->n++ && fake.now - beats->last_ns > beats->longest_ns)
		beats->longest_ns = fake.now - beats->last_ns;
	beats->last_ns = fake.now;
	beats->nodes = nodes;
	return beats->n != beats->stop_at;
}

/* A switch with two cables to another one, and an adapter behind that. */
static void begin(struct beats *beats, unsigned latency_us)
{
	const struct rd_pulse pulse = { count_beat, beats };

	fake_mads_init(&fake);
	fake_node_add(&fake, RD_NODE_SWITCH, 4, 1);
	fake_node_add(&fake, RD_NODE_SWITCH, 4, 2);
	fake_node_add(&fake, RD_NODE_CA, 1, 3);
	fake_cable(&fake, 0, 1, 1, 1);
	fake_cable(&fake, 0, 2, 1, 2);
	fake_cable(&fake, 1, 3, 2, 1);
	for (size_t i = 0; i < FAKE_LIDS; i++)
		fake.agents[i].latency_us = latency_us;
	mads = rd_pulse_wrap(&fake.mads, &pulse);
}

static int walk_it(struct rd_walk *walk, struct rd_err *err)
{
	const struct rd_sweep_limits limits = { .window = 8, .per_lid = 2, .timeout_ms = 5000, .retries = 0 };

	return rd_walk_run(mads, &limits, walk, err);
}

static int tear_down(void **state)
{
	mads->ops->close(mads);
	fake_mads_deinit(&fake);
	return 0;
}

TEST_WITH(a_walk_shows_each_node_once_and_the_function_is_called_in_time, NULL, tear_down)
{
	struct beats beats = { 0 };
	_cleanup_(rd_walk_deinit) struct rd_walk walk = { 0 };

	begin(&beats, 400000);
	assert_int_equal(walk_it(&walk, NULL), 0);
	ASSERT_EACH(IS(walk.n, 3), IS(beats.nodes, 3), IS(beats.n > 10, true),
		    IS(beats.longest_ns <= (RD_PULSE_MS + 1) * UINT64_C(1000000), true));
}

TEST_WITH(a_walk_ends_within_half_a_second_when_the_user_ends_it, NULL, tear_down)
{
	struct beats beats = { .stop_at = 4 };
	struct rd_walk walk = { 0 };
	struct rd_err err = { 0 };
	uint64_t begun;

	begin(&beats, 4000000);
	begun = fake.now;
	assert_int_equal(walk_it(&walk, &err), -ECANCELED);
	assert_true(fake.now - begun < UINT64_C(500000000));
	/* Nor is anything read after that. */
	rd_walk_deinit(&walk);
	assert_int_equal(walk_it(&walk, &err), -ECANCELED);
	assert_int_equal(beats.n, 4);
	rd_walk_deinit(&walk);
}
