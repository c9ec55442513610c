/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of job. */
#ifndef RD_CMD_JOB_H
#define RD_CMD_JOB_H

#include "analyse/qp/qp-filter.h"
#include "cmd/cmd.h"
#include "model/host/host.h"
#include "model/rdma/job.h"

#define JOB_CHOSEN_MAX 256 /* processes: a child for each */

struct job_opts {
	struct rd_qp_filter filter; /* pids, comm, job */
	const char *cgroup;
	bool no_probe;
};

struct job_pids {
	uint32_t *v; /* 0: a process that is started here */
	size_t n, cap;
};

struct job_sample {
	struct rd_host host;
	struct rd_system system;
	struct rd_res res;
	struct rd_qp_views qps; /* of `res` above: do not move a sample */
	bool listed;		/* queue pairs could be listed */
	struct rd_job_kernel kernel;
	struct rd_job_proc *procs;
	struct rd_job_view *views;
	size_t n;
	struct rd_report report;
};

/* Reads and judges the processes; -ESRCH with `err` filled: there is none of them. Always deinit the sample. */
int job_load(struct rd_source *src, const struct job_pids *pids, struct job_sample *sample, struct rd_err *err);
void job_sample_deinit(struct job_sample *sample);

/* Runs a command, and returns its exit status; reports the worst verdict of it and what it started. */
int job_run_command(struct rd_ctx *ctx, char **argv);

#endif
