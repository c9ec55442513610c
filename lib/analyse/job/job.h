/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a process can use RDMA, whether it does, and what is in the way. Pure. */
#ifndef RD_ANALYSE_JOB_H
#define RD_ANALYSE_JOB_H

#include "base/err.h"
#include "model/host/host.h"
#include "model/rdma/job.h"
#include "model/rdma/qp-view.h"

/* A line of data/versions. */
struct rd_job_pair {
	enum rd_severity severity;
	const char *thread, *conditions, *text;
};

/* Versions that are known not to work together. */
struct rd_job_versions {
	struct rd_texts texts;
	struct rd_job_pair *v;
	size_t n, cap;
};

/* Adds a table in the format of data/versions. -EINVAL with the number of an invalid line, or -EFBIG, with `err` filled. */
int rd_job_versions_parse(const char *name, const char *text, size_t size, struct rd_job_versions *ret,
			  struct rd_err *err);
void rd_job_versions_deinit(struct rd_job_versions *versions);

/* What the judgement is based on. */
struct rd_job_input {
	const struct rd_host *host;
	const struct rd_job_kernel *kernel;
	const struct rd_system *system;		/* NULL: not read */
	const struct rd_qp_views *qps;		/* NULL: queue pairs could not be listed */
	const struct rd_job_versions *versions; /* NULL: not compared */
};

/* What it can, what its variables request, and the verdict. `view` is zeroed except for `proc`. */
void rd_job_judge(const struct rd_job_input *in, struct rd_job_view *view);

/* Several processes together: if they use few of the NICs that they could, their verdict becomes uneven. */
void rd_job_judge_whole(const struct rd_job_input *in, struct rd_job_view *views, size_t n);

/* What runs the process: "docker", "containerd", "CRI-O", "podman", "Kubernetes", "Slurm"; NULL: none of these. */
const char *rd_job_runtime(const struct rd_job_proc *proc);

/* What to do about an obstacle where the process runs, as in base/fix.h; NULL: nothing known. Caller frees. */
char *rd_job_fix(const struct rd_job_proc *proc, const char *id);

/* ---- shared by the files that judge processes */

/* Fills `can`, `able` and `obstacle`. */
void rd_job_judge_ability(const struct rd_job_input *in, struct rd_job_view *view);

/* Adds to `can` what is known of its versions. */
void rd_job_judge_versions(const struct rd_job_input *in, struct rd_job_view *view);

/* In a network namespace whose RDMA devices and queue pairs are not shown in the one of this program: not known to be in shared mode. */
bool rd_job_is_apart(const struct rd_job_input *in, const struct rd_job_proc *proc);

/* Whether one of its settings fits a shell pattern. */
bool rd_job_has_setting(const struct rd_job_proc *proc, const char *pattern);

/* Whether a library is mapped: the beginning of its file name, a shell pattern. */
bool rd_job_maps(const struct rd_job_proc *proc, const char *library);

#endif
