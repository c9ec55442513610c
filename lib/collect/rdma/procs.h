/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that own RDMA resources. What this user may not read of them stays unknown. */
#ifndef RD_COLLECT_PROCS_H
#define RD_COLLECT_PROCS_H

#include "model/rdma/job.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

/* Reads comm, cgroup and job of the processes that own listed objects, once each. */
void rd_collect_res_procs(struct rd_source *src, struct rd_res *res);

/* Fills rd_proc.devx_libs: libraries that create queue pairs which the kernel does not list. */
void rd_collect_proc_libs(struct rd_source *src, struct rd_proc *proc);

/* Fills rd_proc.peers: addresses that the process has TCP connections to. */
void rd_collect_proc_peers(struct rd_source *src, struct rd_proc *proc);

/* Fills rd_proc.start_ns of processes with queue pairs in SQE or ERR. Whether there are such queue pairs. */
bool rd_collect_failed_starts(struct rd_source *src, struct rd_res *res);

/* Fills rd_proc.state, .tracer and .frozen: whether the process runs, or is stopped. */
void rd_collect_proc_state(struct rd_source *src, struct rd_proc *proc);

/* Decode the files (RD_SOURCE_TCP, /proc/PID/status), as foreign input. */
void rd_proc_peers_take(const char *text, struct rd_proc_peers *ret);
void rd_proc_state_take(const char *text, struct rd_proc *proc);

/* The uverbs devices of the kernel. */
void rd_collect_job_kernel(struct rd_source *src, const struct rd_res *res, struct rd_job_kernel *ret);

/* One process, or with pid 0 what one would find that `self` starts. -ESRCH: no such process. */
int rd_collect_job(struct rd_source *src, uint32_t pid, uint32_t self, struct rd_job_proc *ret);

/* Decodes the file (RD_SOURCE_JOB), as foreign input: lines of a key and its values. */
void rd_job_take(const char *text, struct rd_job_proc *proc);

#endif
