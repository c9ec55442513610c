/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of check share. */
#ifndef RD_CMD_CHECK_LINE_H
#define RD_CMD_CHECK_LINE_H

#include "base/stall.h"
#include "checks.h"
#include "cmd/repeat.h"
#include "model/shared/finding.h"

struct check_opts {
	const char *since, *profile;
	double deadline; /* seconds */
	bool exclusive, observe;
	struct rd_repeat repeat;
};

struct check_look {
	struct rd_stalls stalls; /* of what is looked at, and of the files that options name */
	struct checks checks;
	struct rd_findings moved; /* of counters, with --since */
	const char *no_rdma;	  /* why there is nothing to judge; static; NULL: there is */
	struct rd_err why;	  /* the same at length */
	int status;		  /* what the look amounts to; with --observe the report has 0 */
};
void check_look_deinit(struct check_look *look);

struct check_numbers {
	size_t results[RD_SEVERITIES]; /* findings that stand by themselves; notes count as passed */
	size_t muted;
	size_t ports, active; /* of a device whose ports could not be listed: one, not active */
	bool at_least;	      /* there may be more ports: not all could be read */
};
void check_count(const struct check_look *look, struct check_numbers *ret);

/* "RDMA CRITICAL - …|…": one line in the form of monitoring plugins, of at most 512 bytes before the performance data. */
void check_line(const struct check_look *look, const struct check_numbers *numbers, struct rd_buf *out);

/* The lines below it: what is wrong and what to do, what could not be told. */
void check_details(const struct rd_ctx *ctx, const struct check_look *look, struct rd_buf *out);

/* Without RDMA there is nothing to judge: notes why, and sets the status. */
void check_no_rdma(struct check_look *look);

/* Prints the line of a check that could not be made, for who reads only that. Not with --json. */
void check_failure(const struct rd_ctx *ctx, const struct rd_err *err);

#endif
