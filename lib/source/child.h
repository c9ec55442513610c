/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work done in a process of its own, so that a library that hangs, prints, exits or dies takes nothing with it. */
#ifndef RD_SOURCE_CHILD_H
#define RD_SOURCE_CHILD_H

#include "source/source.h"

/* Runs in the child, whose standard streams lead nowhere. 0 with `ret` filled, or -errno with `err` filled. */
typedef int rd_child_fn(void *arg, struct rd_bytes *ret, struct rd_err *err);

/*
 * Forks, lets `work` run there, and hands on what it returned. `what` is the object that errors name. -ETIMEDOUT when that
 * takes more than `limit_ms` milliseconds (the child is killed, and left behind if it cannot die), -ECHILD where the child
 * ended before it had answered, -EFBIG for an answer above `limit_size` bytes.
 */
int rd_child_run(const char *what, rd_child_fn *work, void *arg, unsigned limit_ms, size_t limit_size,
		 struct rd_bytes *ret, struct rd_err *err);

/* CLOCK_MONOTONIC in milliseconds, on which deadlines are. */
int64_t rd_monotonic_ms(void);

/* Exactly `size` bytes of what a child writes into a pipe or socket. -ETIMEDOUT at the deadline, -ECHILD when the other end
 * was closed before, -errno. */
int rd_child_read(int fd, int64_t deadline_ms, void *to, size_t size);

#endif
