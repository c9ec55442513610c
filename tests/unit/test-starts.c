// SPDX-License-Identifier: GPL-2.0-or-later
#include "unit.h"

#include "analyse/trace/trace.h"

#define SECOND UINT64_C(1000000000)

static struct rd_module modules[] = { { .name = "ib_core" } };
static struct rd_fn fns[] = { { .name = "ib_umem_get" }, { .name = "other" } };
static const struct rd_fnset set = { .modules = modules, .n_modules = 1, .fns = fns, .n_fns = 2 };
static struct rd_starts starts;

static struct rd_event failure(uint64_t started, uint64_t at)
{
	struct rd_event ev = { .comm = "trainer",
			       .uid = 7,
			       .err = -12,
			       .verb = (char *)"ibv_reg_mr",
			       .at_ns = at * SECOND,
			       .time_ns = (1000 + at) * SECOND };

	ev.moment.started_ns = started * SECOND;
	ev.request.known[RD_REQ_LENGTH] = ev.request.known[RD_REQ_ADDRESS] = true;
	ev.request.v[RD_REQ_LENGTH] = 4096;
	ev.request.v[RD_REQ_ADDRESS] = at;
	return ev;
}

static struct rd_crash_loop *add(const struct rd_event *ev)
{
	return rd_starts_add(&starts, ev, &set);
}

static int empty(void **state)
{
	memset(&starts, 0, sizeof(starts));
	return 0;
}

TEST_WITH(the_same_failure_of_each_start_is_a_loop, empty, NULL)
{
	const struct rd_crash_loop *loop = NULL;

	for (uint64_t i = 1; i <= 7; i++) {
		struct rd_event ev = failure(10 * i, 10 * i + 1);

		loop = add(&ev);
		assert_int_equal(rd_crash_loop_is(loop), i >= 3);
		/* Again in the same start. */
		ev.at_ns++;
		assert_ptr_equal(add(&ev), loop);
	}
	ASSERT_EACH(IS(loop->where.count, 7), IS(loop->starts, 7), IS(loop->first, 1011 * SECOND),
		    IS(loop->last, 1071 * SECOND), READS(loop->where.function, "ib_umem_get"),
		    READS(loop->where.verb, "ibv_reg_mr"), READS(loop->comm, "trainer"));
}

/* All were started before the first of them failed. */
TEST_WITH(processes_of_one_job_are_one_start, empty, NULL)
{
	for (uint64_t i = 0; i < 8; i++) {
		struct rd_event ev = failure(10 + i % 2, 20 + i);

		assert_false(rd_crash_loop_is(add(&ev)));
	}
}

TEST_WITH(other_values_are_another_failure, empty, NULL)
{
	for (uint64_t i = 1; i <= 7; i++) {
		struct rd_event ev = failure(10 * i, 10 * i + 1);

		ev.request.v[RD_REQ_LENGTH] = i;
		assert_false(rd_crash_loop_is(add(&ev)));
	}
}

TEST_WITH(another_job_is_another_program, empty, NULL)
{
	char name[] = "slurm:1";

	for (uint64_t i = 1; i <= 7; i++) {
		struct rd_event ev = failure(10 * i, 10 * i + 1);

		name[6] = (char)('0' + i);
		ev.job = name;
		assert_false(rd_crash_loop_is(add(&ev)));
	}
}

TEST_WITH(starts_that_fail_elsewhere_count, empty, NULL)
{
	const struct rd_crash_loop *loop = NULL;

	for (uint64_t i = 1; i <= 9; i++) {
		struct rd_event ev = failure(10 * i, 10 * i + 1);

		ev.origin = i % 3 ? 1 : 0;
		loop = add(&ev);
	}
	ASSERT_EACH(IS(loop->where.count, 3), IS(loop->starts, 7), IS(rd_crash_loop_is(loop), false));
}

TEST_WITH(long_ago_is_forgotten, empty, NULL)
{
	for (uint64_t i = 1; i <= 7; i++) {
		struct rd_event ev = failure(1000 * i, 1000 * i + 1);

		assert_false(rd_crash_loop_is(add(&ev)));
	}
}

TEST_WITH(many_programs_are_bounded, empty, NULL)
{
	const struct rd_crash_loop *loop = NULL;

	for (uint64_t i = 0; i < 1000; i++) {
		struct rd_event ev = failure(10 + i, 10 + i);

		ev.uid = (uint32_t)i;
		add(&ev);
	}
	/* Those seen last are known. */
	for (uint64_t i = 1; i <= 3; i++) {
		struct rd_event ev = failure(1100 + 2 * i, 1101 + 2 * i);

		ev.uid = 999;
		loop = add(&ev);
	}
	assert_int_equal(loop->where.count, 4);
}

TEST_WITH(an_unknown_start_is_not_counted, empty, NULL)
{
	struct rd_event ev = failure(0, 5);

	assert_null(add(&ev));
}
