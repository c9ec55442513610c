/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rule of topo-check, and what it says of a host. Rules are pure: everything they may know is in struct rd_check_input.
 * What could not be read is RD_SEV_UNKNOWN with the reason, never RD_SEV_OK.
 */
#ifndef RD_MODEL_CHECK_H
#define RD_MODEL_CHECK_H

#include "model/finding.h"

struct rd_host;
struct rd_nicmap;
struct rd_system;
struct rd_netstate;
struct rd_klog;
struct rd_profile;
struct rd_res;
struct rd_spreads;
struct rd_symmetry;
struct rd_errlist;

/* NULL: was not read. */
struct rd_check_input {
	const struct rd_host *host;
	const struct rd_nicmap *map;
	const struct rd_system *system;
	const struct rd_netstate *net;
	const struct rd_klog *klog;
	const struct rd_profile *profile;      /* NULL: none was given */
	const struct rd_findings *differences; /* from the profile, as rd_profile_compare names them */
	const struct rd_findings *job_env;     /* what is wrong with the settings of all jobs */
	const struct rd_res *res;	       /* queue pairs and their owners */
	const struct rd_spreads *spreads;      /* how their flows spread */
	const struct rd_errlist *stalls;       /* reads that gave no answer; NULL: nothing was read under a deadline */
	const struct rd_symmetry *symmetry;    /* what of this host is not as the rest of it */
	const struct rd_findings *moved;       /* counters that moved since an earlier look; NULL: there was none */
	bool exclusive;			       /* no other job should be on this host */
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

#endif
