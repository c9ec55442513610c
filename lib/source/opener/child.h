/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work in a separate process, so that code that hangs, prints, exits or crashes there does not affect this one. */
#ifndef RD_SOURCE_CHILD_H
#define RD_SOURCE_CHILD_H

#include "source/shared/source.h"

/* Runs in the child, whose standard streams are /dev/null. 0 with `ret` filled, or -errno with `err` filled. */
typedef int rd_child_fn(void *arg, struct rd_bytes *ret, struct rd_err *err);

/*
 * Forks, runs `work` in the child, and returns its result. `what`: the object of error messages. -ETIMEDOUT if it
 * takes more than `limit_ms` milliseconds, -ECHILD if the child ended before it replied, -EFBIG for a reply above
 * `limit_size` bytes. The child is never waited for. In a child of rd_child_start there is no time limit: its parent can abandon
 * it, and both end.
 */
int rd_child_run(const char *what, rd_child_fn *work, void *arg, unsigned limit_ms, size_t limit_size,
		 struct rd_bytes *ret, struct rd_err *err);

/*
 * Forks: 1 in the caller, 0 in the child, -errno. They are connected by a pipe, or, if both `talk`, by a stream
 * socket; `*fd` is the caller's end (to read from, and to close) or the child's. The child dies with the caller, and does not keep its standard streams open.
 */
int rd_child_start(const char *what, bool talk, pid_t *child, int *fd, struct rd_err *err);

/* In a child: closes all descriptors except the standard streams and its connection to the parent. */
void rd_child_close_others(void);

/* Reads exactly `size` bytes. -ETIMEDOUT at the deadline (of rd_monotonic_ms), -ECHILD if the other end was closed before, -errno. */
int rd_child_read(int fd, int64_t deadline_ms, void *to, size_t size);

/* Whether a child that is not abandoned, and has closed its end of the pipe, ended in rd_out_of_memory(). Waits at most 10 ms. */
bool rd_child_lacked_memory(pid_t child);

/* Kills a child if possible, and never waits: a child that hangs in the kernel, also while it exits, is left behind. Also reaps
 * earlier abandoned children that have ended. */
void rd_child_leave(pid_t child);

/* Before this process ends: reaps what was left and has ended, so that init need not. Waits at most 10 ms. */
void rd_child_reap(void);

/* The state of a child, from procfs; or, while it waits for its own child, the state of that one. */
struct rd_child_state {
	bool known;
	char state;	   /* as in /proc/PID/stat: R runs, S and D sleep, T is stopped */
	uint64_t cpu, ran; /* nanoseconds on a CPU, and how often it was scheduled */
	uint64_t waited;   /* nanoseconds that it was runnable without a CPU */
	char place[64];	   /* the kernel function in which it sleeps; empty: none, or not readable */
};
void rd_child_look(pid_t child, struct rd_child_state *ret);

/* Whether `pid` is a descendant of `ancestor`. */
bool rd_process_descends(pid_t pid, pid_t ancestor);

/* Whether it slept at both times, and was not scheduled or runnable between them. */
bool rd_child_slept(const struct rd_child_state *before, const struct rd_child_state *now);
/* Whether it runs now, or was scheduled or runnable between them. */
bool rd_child_ran(const struct rd_child_state *before, const struct rd_child_state *now);

/* A clock of clock_gettime(2) in nanoseconds. */
uint64_t rd_clock_ns(int clock);

/* CLOCK_MONOTONIC in milliseconds, the clock of deadlines. */
int64_t rd_monotonic_ms(void);

#endif
