/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether processes run, or are stopped. */
#ifndef RD_COLLECT_PROC_STATE_H
#define RD_COLLECT_PROC_STATE_H

#include "model/rdma/qp.h"
#include "source/shared/source.h"

/* Fills rd_proc.state and .tracer from /proc/PID/status; unknown if the process has exited or is hidden from this user. 0 or -ENOMEM. */
int rd_collect_proc_state(struct rd_source *src, struct rd_proc *proc);

/* Decodes that file, as foreign input. */
void rd_proc_state_take(const char *text, struct rd_proc *proc);

#endif
