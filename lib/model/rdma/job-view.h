/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions about a process as a user of RDMA: whether it can, whether RDMA was requested, what carries its traffic. */
#ifndef RD_MODEL_JOB_VIEW_H
#define RD_MODEL_JOB_VIEW_H

#include "model/rdma/job.h"
#include "model/shared/finding.h"

enum rd_job_asked { RD_JOB_ASKED_NOTHING, RD_JOB_ASKED_RDMA, RD_JOB_ASKED_TCP };

enum rd_job_verdict {
	RD_JOB_CANNOT_TELL,
	RD_JOB_IDLE,
	RD_JOB_HOST, /* shared memory, and what else stays inside the host */
	RD_JOB_RDMA,
	RD_JOB_TCP,
	RD_JOB_MIXED,
	RD_JOB_UNEVEN,
};

/* "cannot-tell", "idle", … */
const char *rd_job_verdict_name(enum rd_job_verdict verdict);

/* A port that carries queue pairs of the process. */
struct rd_job_nic {
	const char *ibdev; /* of rd_res */
	uint32_t port;
	size_t qps, peers; /* connected queue pairs; different known peers */
	uint8_t (*gids)[16];
	size_t cap_gids;
};

/* What a process sends over TCP to other hosts. */
struct rd_job_sockets {
	bool known;
	uint64_t connections, bytes, to_qp_peers; /* bytes: both directions, since each connection began */
	uint64_t local_bytes;			  /* between processes of this host */
};

struct rd_job_view {
	const struct rd_job_proc *proc;
	enum rd_job_asked asked;
	const char *asked_by; /* NAME=VALUE, of the process; NULL: none */
	enum rd_job_verdict verdict;
	enum rd_severity severity;
	RD_FIELD(bool) able;		   /* some device can be used */
	struct rd_findings can;		   /* what was judged, in the order of what a process needs */
	const struct rd_finding *obstacle; /* in `can`; NULL: none */
	char *reason, *fix;
	const char *runtime; /* what runs it, by its control group: "docker", "Kubernetes" …; static; NULL: none that is known */
	struct rd_job_nic *nics;
	size_t n_nics, cap_nics;
	size_t contexts; /* device files of RDMA devices that it has open */
	struct rd_job_sockets sockets;
};
void rd_job_view_deinit(struct rd_job_view *view);

#endif
