/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process whose user stacks a test resolves. */
#ifndef RD_TRACED_H
#define RD_TRACED_H

#include <linux/types.h>

#include "unit.h"

#include "bpf/record.h"
#include "trace/symbols/ustack.h"

/* Calls itself `depth` times, and waits there. */
int traced_below(int depth);
/* One that has all that we have mapped, and waits in traced_below(depth). */
pid_t traced_start(int depth);
void traced_end(pid_t pid);

/* What the programs in the kernel would copy of it now. */
struct rd_rec_user *traced_copy(pid_t pid);
uint64_t *traced_pc(struct rd_rec_user *user);

/* Skips the test if there is no libdw. */
struct rd_ustack *traced_ustack(void);

/* An event of the process with a copy of `user`, resolved; the caller deinits it. */
struct rd_event traced_resolve(struct rd_ustack *us, pid_t pid, const struct rd_rec_user *user, int wanted);
/* Index of the first frame in a function; the number of frames: in none. */
size_t traced_find(const struct rd_event *ev, const char *function);

#endif
