/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries of processes that create queue pairs which the kernel does not list. */
#ifndef RD_COLLECT_PROC_LIBS_H
#define RD_COLLECT_PROC_LIBS_H

#include "model/rdma/qp.h"
#include "source/shared/source.h"

/* Fills rd_proc.devx_libs; unknown if this user may not read them. 0 or -ENOMEM. */
int rd_collect_proc_libs(struct rd_source *src, struct rd_proc *proc);

#endif
