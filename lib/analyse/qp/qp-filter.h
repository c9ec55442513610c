/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selection of queue pairs. */
#ifndef RD_ANALYSE_QP_FILTER_H
#define RD_ANALYSE_QP_FILTER_H

#include "base/err.h"
#include "model/rdma/qp-view.h"

#define RD_QP_FILTER_MAX 64 /* numbers in a list */

/* A set of states or types: a bit for each, and one for "unknown". */
struct rd_qp_kinds {
	uint32_t bits; /* 0: all */
	bool negated;
};

struct rd_qp_numbers {
	uint32_t v[RD_QP_FILTER_MAX];
	size_t n; /* 0: all */
};

/* The caller owns the text, which must stay in place. */
struct rd_qp_filter {
	const char *devices; /* names, separated by commas; NULL: all */
	const char *comm;    /* a shell pattern, as is `job` */
	const char *job;     /* "slurm:42" includes its steps */
	struct rd_qp_kinds states, types;
	struct rd_qp_numbers pids, lqpns, rqpns;
	bool has_peer;
	uint8_t peer[16]; /* a GID; an IPv4 address as ::ffff:a.b.c.d */
};

/*
 * Parses the argument of an option: "device", "pid", "comm", "job", "state", "type", "lqpn", "rqpn", "peer". Lists are separated
 * by commas; a leading ! or ^ negates states and types; numbers with 0x are hexadecimal. -EINVAL with `err` filled.
 */
int rd_qp_filter_set(struct rd_qp_filter *filter, const char *option, const char *arg, struct rd_err *err);

/* Whether queue pair `i` matches. An unknown field matches only negated sets. */
bool rd_qp_filter_matches(const struct rd_qp_filter *filter, const struct rd_qp_views *views, size_t i);

/* Whether a job (NULL: none) matches a shell pattern. A step is part of its job: "slurm:42.0" of "slurm:42". */
bool rd_qp_job_matches(const char *pattern, const char *job);

/*
 * Adds an error (ENOENT) for each number of --lqpn that the kernel lists on none of the selected devices, whatever the other
 * filters select, and copies the last one to `err`. Both may be NULL. Returns how many are not listed.
 */
size_t rd_qp_filter_missing(const struct rd_qp_filter *filter, const struct rd_res *res, struct rd_errlist *errors,
			    struct rd_err *err);

#endif
