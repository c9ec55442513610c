/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The selection of processes, shared with capture. */
#ifndef RD_CMD_JOB_H
#define RD_CMD_JOB_H

#include "analyse/qp/qp.h"
#include "cmd/cmd.h"

struct job_opts {
	struct rd_qp_filter filter; /* pids, comm, job */
	const char *cgroup;
	bool no_probe;
};

/* Of an option --pid, --job or --comm; `state` begins with struct job_opts. */
int job_take_filter(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err);

/*
 * Reads of `to` what job and check --user read: of the host, and of the processes that `opts` selects in `from`, which `to` records. Without a selection:
 * of those that `from`, if it is a bundle, has. -ESRCH with err filled: some process is not there.
 */
int job_record(const struct job_opts *opts, struct rd_source *from, struct rd_source *to, struct rd_err *err);

#endif
