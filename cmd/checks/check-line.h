/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of check. */
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

struct check_result {
	struct rd_stalls stalls; /* of the host or bundle, and of files named by options */
	struct checks checks;
	struct rd_findings moved; /* counters that changed, with --since */
	const char *no_rdma;	  /* why there is nothing to judge; static; NULL: RDMA is present */
	struct rd_err why;	  /* the same in full */
	int status;		  /* exit code; with --observe the report has 0 */
};
void check_result_deinit(struct check_result *result);

struct check_numbers {
	size_t results[RD_SEVERITIES]; /* findings that are neither muted nor consequences; notes count as passed */
	size_t muted;
	size_t ports, active; /* a device whose ports could not be listed counts as one, not active */
	bool at_least;	      /* there may be more ports: a read failed */
};
void check_count(const struct check_result *result, struct check_numbers *ret);

/* "RDMA CRITICAL - …|…": one line in the form of monitoring plugins, of at most 512 bytes before the performance data. */
void check_line(const struct check_result *result, const struct check_numbers *numbers, struct rd_buf *out);

/* The lines below it: faults with fixes, and unknown results. */
void check_details(const struct rd_ctx *ctx, const struct check_result *result, struct rd_buf *out);

/* Without RDMA there is nothing to judge: records why, and sets the status. */
void check_no_rdma(struct check_result *result);

/* Prints the line of a check that failed, for programs that read only that line. Not with --json. */
void check_failure(const struct rd_ctx *ctx, const struct rd_err *err);

#endif
