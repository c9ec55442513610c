/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process finds of RDMA, and what it uses. The virtual files are described in source.h, at RD_SOURCE_JOB. */
#ifndef RD_SOURCE_PROC_JOB_H
#define RD_SOURCE_PROC_JOB_H

#include "base/buf.h"
#include "source/shared/source.h"

int rd_proc_job_read(const char *path, struct rd_bytes *ret, struct rd_err *err);

/* While such a file is made. */
struct rd_proc_job {
	const char *process; /* "1234", "self" */
	bool self;
	struct rd_buf out;
	uint64_t *inodes; /* of its sockets, sorted */
	size_t n_inodes, cap_inodes;
	unsigned n_tcp;
	int root; /* O_PATH */
};

/* A line "error PART ENAME": this part could not be read. */
void rd_proc_job_error(struct rd_proc_job *job, const char *part, int code);

/* Adds lines for what is to be read in its network namespace, which this process, a child, enters. */
void rd_proc_job_network(struct rd_proc_job *job);

/* Adds lines "lib PATH" and "shm NAME" for a text in the format of /proc/PID/maps. */
void rd_proc_job_maps(struct rd_proc_job *job, const char *text);

#endif
