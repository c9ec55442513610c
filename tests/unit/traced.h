/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process whose user stacks a test resolves. */
#ifndef RD_TRACED_H
#define RD_TRACED_H

#include "unit.h"

#include "trace/symbols/ustack.h"

/* One that has all that we have mapped, and waits. */
pid_t traced_start(void);
void traced_end(pid_t pid);

/* Skips the test if there is no libdw. */
struct rd_ustack *traced_ustack(void);
void traced_free_frames(struct rd_frame *frames, size_t n);

#endif
