/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "cmd/repeat.h"

#define MS 1000000ull

TEST(ticks_stand_at_whole_multiples)
{
	struct rd_ticks ticks;

	rd_ticks_init(&ticks, 0.5);
	assert_int_equal(rd_ticks_next(&ticks, 10123 * MS), 10500 * MS);
	/* A look that took 300 ms shifts nothing. */
	assert_int_equal(rd_ticks_next(&ticks, 10800 * MS), 11000 * MS);
	assert_int_equal(rd_ticks_next(&ticks, 11001 * MS), 11500 * MS);
	assert_int_equal(ticks.missed, 0);
}

TEST(missed_ticks_are_counted)
{
	struct rd_ticks ticks;

	rd_ticks_init(&ticks, 1);
	rd_ticks_next(&ticks, 5500 * MS);
	assert_int_equal(rd_ticks_next(&ticks, 9200 * MS), 10000 * MS);
	assert_int_equal(ticks.missed, 3); /* 7, 8, 9 */
}

TEST(a_clock_that_was_set_is_no_missed_tick)
{
	struct rd_ticks ticks;

	rd_ticks_init(&ticks, 1);
	rd_ticks_next(&ticks, 5000000 * MS);
	assert_int_equal(rd_ticks_next(&ticks, 9000000 * MS), 9001000 * MS);
	assert_int_equal(rd_ticks_next(&ticks, 1000 * MS), 2000 * MS);
	assert_int_equal(ticks.missed, 0);
	/* Set back by a few seconds, too, it is waited for the next second and not for the old one. */
	rd_ticks_next(&ticks, 100000 * MS);
	assert_true(rd_ticks_next(&ticks, 95100 * MS) <= 97000 * MS);
}
