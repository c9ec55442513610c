/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rule of topo-check, and what it says of a host. Rules are pure: everything they may know is in struct rd_check_input.
 * What could not be read is RD_UNKNOWN with the reason, never RD_PASS.
 */
#ifndef RD_MODEL_CHECK_H
#define RD_MODEL_CHECK_H

#include "base/base.h"

struct rd_host;
struct rd_nicmap;
struct rd_system;
struct rd_netstate;
struct rd_klog;
struct rd_profile;
struct rd_remarks;
struct rd_res;
struct rd_spreads;
struct rd_errlist;
struct rd_remarks;

/* From the best to the worst, as far as order matters. */
enum rd_result {
	RD_SKIP = 0, /* there is nothing here that it could be about */
	RD_PASS,
	RD_UNKNOWN,
	RD_WARN, /* slows, or will break later */
	RD_FAIL, /* breaks jobs */
};
const char *rd_result_name(enum rd_result result); /* "pass" … */

/* NULL: was not read. */
struct rd_check_input {
	const struct rd_host *host;
	const struct rd_nicmap *map;
	const struct rd_system *system;
	const struct rd_netstate *net;
	const struct rd_klog *klog;
	const struct rd_profile *profile;     /* NULL: none was given */
	const struct rd_remarks *differences; /* from the profile, as rd_profile_compare names them */
	const struct rd_remarks *job_env;     /* what is wrong with the settings of all jobs */
	const struct rd_res *res;	      /* queue pairs and their owners */
	const struct rd_spreads *spreads;     /* how their flows spread */
	const struct rd_errlist *stalls;      /* reads that gave no answer; NULL: nothing was read under a deadline */
	const struct rd_remarks *moved;	      /* counters that moved since an earlier look; NULL: there was none */
	bool exclusive;			      /* no other job should be on this host */
};

struct rd_check_out;

struct rd_check {
	const char *id;	   /* "acs-redirect" */
	const char *title; /* what is wrong when it does not pass */
	const char *why;   /* why that matters */
	const char *fix;   /* what to do */
	const char *needs; /* the facts it judges by, for --explain */
	bool quick;	   /* cheap enough for a job prologue */
	bool by_absence;   /* finds fault with what is not there: where a read gave no answer it cannot tell */
	void (*run)(const struct rd_check_input *in, struct rd_check_out *out);
};

/* One thing that a rule has to say. A rule that found nothing wrong says so once, for all it looked at. */
struct rd_verdict {
	const struct rd_check *check;
	enum rd_result result;
	char *subject;		   /* owned */
	char *observed, *expected; /* owned; NULL: nothing to say. Of UNKNOWN and SKIP: observed is the reason */
	char *fix;		   /* owned; NULL: the rule's */
};

struct rd_verdicts {
	struct rd_verdict *v;
	size_t n, cap;
	bool failed; /* out of memory: some are missing */
};
void rd_verdicts_deinit(struct rd_verdicts *verdicts);

/* The worst first; equal ones in the order of the table. */
void rd_verdicts_sort(struct rd_verdicts *verdicts);

#endif
