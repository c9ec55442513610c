/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes as users of RDMA. What this user may not read of them stays unknown. */
#ifndef RD_COLLECT_JOB_PROC_H
#define RD_COLLECT_JOB_PROC_H

#include "model/rdma/job.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

/* The uverbs devices of the kernel. */
void rd_collect_job_kernel(struct rd_source *src, const struct rd_res *res, struct rd_job_kernel *ret);

/* One process, or with pid 0 what one would find that `self` starts. -ESRCH: no such process. */
int rd_collect_job(struct rd_source *src, uint32_t pid, uint32_t self, struct rd_job_proc *ret);

/* Decodes the file (RD_SOURCE_JOB), as foreign input: lines of a key and its values. */
void rd_job_take(const char *text, struct rd_job_proc *proc);

#endif
