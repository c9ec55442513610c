/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work done in a process of its own, so that what hangs, prints, exits or dies there takes nothing with it. */
#ifndef RD_SOURCE_CHILD_H
#define RD_SOURCE_CHILD_H

#include "source/shared/source.h"

/* Runs in the child, whose standard streams lead nowhere. 0 with `ret` filled, or -errno with `err` filled. */
typedef int rd_child_fn(void *arg, struct rd_bytes *ret, struct rd_err *err);

/*
 * Forks, lets `work` run there, and hands on what it returned. `what` is the object that errors name. -ETIMEDOUT when that
 * takes more than `limit_ms` milliseconds, -ECHILD where the child ended before it had answered, -EFBIG for an answer above
 * `limit_size` bytes. The child is never waited for. In a child that rd_child_start made there is no limit on the time: who
 * started that one can leave it, and both end.
 */
int rd_child_run(const char *what, rd_child_fn *work, void *arg, unsigned limit_ms, size_t limit_size,
		 struct rd_bytes *ret, struct rd_err *err);

/*
 * Forks: 1 in the caller, 0 in the child, -errno. Between them is a pipe, `*fd` the caller's end (to read from, and to
 * close) or the child's. The child dies with the caller, and holds none of its standard streams.
 */
int rd_child_start(const char *what, pid_t *child, int *fd, struct rd_err *err);

/* The same with a stream socket between them, both ends of which are for reading and writing. */
int rd_child_start_talk(const char *what, pid_t *child, int *fd, struct rd_err *err);

/* In a child: closes all descriptors but the standard streams and its end of what is between it and its parent. */
void rd_child_close_others(void);

/* Reads exactly `size` bytes. -ETIMEDOUT at the deadline (of rd_monotonic_ms), -ECHILD when the other end was closed before, -errno. */
int rd_child_read(int fd, int64_t deadline_ms, void *to, size_t size);

/* Whether a child that was not left yet, and has closed its end of the pipe, ended in rd_out_of_memory(). Waits 10 ms at most. */
bool rd_child_lacked_memory(pid_t child);

/* Kills a child if it can be killed, and never waits: what hangs in the kernel, also on its way out, is left behind. Those
 * left before are reaped as far as they have ended. */
void rd_child_leave(pid_t child);

/* What a child has been doing, out of procfs; or, while it waits for a child of its own, what that one has. */
struct rd_child_state {
	bool known;
	char state;	   /* as in /proc/PID/stat: R runs, S and D sleep, T is stopped */
	uint64_t cpu, ran; /* nanoseconds on a processor, and how often it was given one */
	uint64_t waited;   /* nanoseconds that it was ready and had none */
	char place[64];	   /* the kernel function that it sleeps in; empty: none, or not ours to know */
};
void rd_child_look(pid_t child, struct rd_child_state *ret);
/* The same of any process, by this one itself: without the opener of a child that has one (opener.h). */
void rd_process_look(pid_t pid, struct rd_child_state *ret);
/* Whether `ancestor` started it, or a process did that it had started. */
bool rd_process_descends(pid_t pid, pid_t ancestor);

/* Whether it slept at both looks, and neither ran nor could have run between them. */
bool rd_child_slept(const struct rd_child_state *before, const struct rd_child_state *now);
/* Whether it runs now, or ran or could have run between them. */
bool rd_child_ran(const struct rd_child_state *before, const struct rd_child_state *now);

/* CLOCK_MONOTONIC in milliseconds, on which deadlines are. */
int64_t rd_monotonic_ms(void);

#endif
