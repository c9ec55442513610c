/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by topo-check and check: the facts that rules judge, and the findings. */
#ifndef RD_CMD_CHECKS_H
#define RD_CMD_CHECKS_H

#include "check/shared/check.h"
#include "cmd/cmd.h"
#include "model/host/profile.h"
#include "model/host/system.h"
#include "model/nicmap/nicmap.h"
#include "model/rdma/qp-view.h"
#include "model/trace/event.h"
#include "report/host/report-check.h"

struct checks {
	struct rd_host host;
	struct rd_nicmap map;
	struct rd_system system;
	struct rd_netstate net;
	struct rd_klog klog;
	struct rd_recent recent;
	struct rd_res res;
	struct rd_findings job_env, user;
	struct rd_profile profile;
	struct rd_findings differences;
	struct rd_spreads spreads;
	struct rd_symmetry symmetry;
	struct rd_check_input in;
	struct rd_errlist unread;  /* failed reads, except those of missing objects */
	struct rd_selection shown; /* the devices whose results are shown and counted */
	size_t hidden;		   /* results about other devices */
	struct rd_findings findings;
	struct rd_report report; /* refers to `findings` */
};

/* Reads `source`. `pid`: the process whose limits are judged; 0: those of job launchers. `checks` is zeroed first, and is to be
 * released in any case. -errno with err filled. */
int checks_load(const struct rd_ctx *ctx, struct rd_source *source, int pid, struct checks *checks, struct rd_err *err);
/* Reads the profile at `path` on this host, and compares the loaded facts with it. -errno with err filled. */
int checks_take_profile(struct checks *checks, const char *path, struct rd_err *err);
/* Judges what a job of this user would find (see rd_collect_job_user). -errno with err filled. */
int checks_take_user(struct rd_source *source, const char *user, struct checks *checks, struct rd_err *err);
void checks_deinit(struct checks *checks);

/* Reads everything that checks_load reads; for recordings. */
int checks_record(struct rd_source *source, struct rd_err *err);
/* `user`: also what checks_take_user reads; NULL: nothing. */
int checks_record_with(struct rd_source *source, int pid, const char *user, struct rd_err *err);

/*
 * Runs the chosen rules, fills the report with the results to show, and sets its status: any failure 2; else any warning 1, unless
 * `least` is above it; else 3 if a rule that the profile requires (with `all_required`: any rule) is unknown, or a failed
 * read may hide a fault; else 0.
 */
void checks_conclude(struct checks *checks, const bool *chosen, enum rd_severity least, bool all_required);

/* What check concludes from them. */
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

#endif
