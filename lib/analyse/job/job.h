/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a process can use RDMA, whether it does, and what is in the way. Pure. */
#ifndef RD_ANALYSE_JOB_H
#define RD_ANALYSE_JOB_H

#include "model/host/host.h"
#include "model/rdma/job.h"
#include "model/rdma/qp-view.h"

/* What the judgement is based on. */
struct rd_job_input {
	const struct rd_host *host;
	const struct rd_job_kernel *kernel;
	const struct rd_system *system; /* NULL: not read */
	const struct rd_qp_views *qps;	/* NULL: queue pairs could not be listed */
};

/* What it can, what its variables request, and the verdict. `view` is zeroed except for `proc`. */
void rd_job_judge(const struct rd_job_input *in, struct rd_job_view *view);

/* Several processes together: if they use few of the NICs that they could, their verdict becomes uneven. */
void rd_job_judge_whole(const struct rd_job_input *in, struct rd_job_view *views, size_t n);

/* What runs the process: "docker", "containerd", "CRI-O", "podman", "Kubernetes", "Slurm"; NULL: none of these. */
const char *rd_job_runtime(const struct rd_job_proc *proc);

/* What to do about an obstacle where the process runs, as in base/fix.h; NULL: nothing known. Caller frees. */
char *rd_job_fix(const struct rd_job_proc *proc, const char *id);

#endif
