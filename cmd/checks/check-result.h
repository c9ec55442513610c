/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of check. */
#ifndef RD_CMD_CHECK_RESULT_H
#define RD_CMD_CHECK_RESULT_H

#include "base/stall.h"
#include "checks.h"
#include "cmd/repeat.h"
#include "report/host/report-check.h"

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
	const char *no_rdma;	  /* why there is nothing to judge, in `why`; NULL: RDMA is present */
	struct rd_err why;	  /* the same in full */
	int status;		  /* exit code; with --observe the report has 0 */
};
void check_result_deinit(struct check_result *result);

void check_count(const struct check_result *result, struct rd_check_numbers *ret);

/* Without RDMA there is nothing to judge: records why, and sets the status. */
void check_no_rdma(const struct rd_ctx *ctx, struct check_result *result);

#endif
