/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Crash loops: programs that start again and fail in the same way. */
#ifndef RD_ANALYSE_STARTS_H
#define RD_ANALYSE_STARTS_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"

#define RD_PROGRAMS 128	      /* those seen longest ago are forgotten */
#define RD_LOOPS_OF_PROGRAM 4 /* kinds of failures, likewise */
#define RD_LOOP_STARTS 3      /* that fail in the same way make a loop */

/* A job's program, or, outside of jobs, a program of a user. */
struct rd_program {
	uint64_t key;	  /* 0: unused */
	uint64_t starts;  /* in which a call failed */
	uint64_t last_ns; /* CLOCK_MONOTONIC: of its last failure */
	struct rd_crash_loop v[RD_LOOPS_OF_PROGRAM];
};

struct rd_starts {
	struct rd_program v[RD_PROGRAMS];
};

/* Fills the texts of `ret`, but not its count. */
void rd_failure_count_name(const struct rd_event *event, const struct rd_fnset *set, struct rd_failure_count *ret);

/*
 * Takes a failure that is not benign; event->job and ->verb are set. A process is another start if it started after the last
 * failure of the one before: the processes of a parallel job are one. Returns the kind of failure, owned by `starts`; NULL: the start
 * of the process is unknown. It is a loop if rd_crash_loop_is.
 */
struct rd_crash_loop *rd_starts_add(struct rd_starts *starts, const struct rd_event *event, const struct rd_fnset *set);

bool rd_crash_loop_is(const struct rd_crash_loop *loop);

#endif
