/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which queue pairs are asked for. */
#ifndef RD_ANALYSE_QP_FILTER_H
#define RD_ANALYSE_QP_FILTER_H

#include "base/err.h"
#include "model/rdma/qp-view.h"

#define RD_QP_FILTER_MAX 64 /* numbers in a list */

/* Which of a few kinds: a bit for each, and one for "unknown". */
struct rd_qp_kinds {
	uint32_t bits; /* 0: all */
	bool negated;
};

struct rd_qp_numbers {
	uint32_t v[RD_QP_FILTER_MAX];
	size_t n; /* 0: all */
};

/* Text is the caller's, and stays where it is. */
struct rd_qp_filter {
	const char *devices; /* names, by commas; NULL: all */
	const char *comm;    /* a shell pattern, likewise for `job` */
	const char *job;     /* "slurm:42" also takes its steps */
	struct rd_qp_kinds states, types;
	struct rd_qp_numbers pids, lqpns, rqpns;
	bool has_peer;
	uint8_t peer[16]; /* a GID; an IPv4 address as ::ffff:a.b.c.d */
};

/*
 * Takes what an option says: "device", "pid", "comm", "job", "state", "type", "lqpn", "rqpn", "peer". Lists are separated by
 * commas; states and types are negated by a leading ! or ^; numbers may be hexadecimal by 0x. -EINVAL with `err` filled.
 */
int rd_qp_filter_set(struct rd_qp_filter *filter, const char *option, const char *arg, struct rd_err *err);

/* Whether queue pair `i` is asked for. A field that is not known matches no positive question. */
bool rd_qp_filter_matches(const struct rd_qp_filter *filter, const struct rd_qp_views *views, size_t i);

#endif
