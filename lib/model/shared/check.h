/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rule of topo-check, and what it says of a host. Rules are pure: everything they may know is in struct rd_check_input.
 * What could not be read is RD_SEV_UNKNOWN with the reason, never RD_SEV_OK.
 */
#ifndef RD_MODEL_CHECK_H
#define RD_MODEL_CHECK_H

#include "model/shared/finding.h"

struct rd_host;
struct rd_nicmap;
struct rd_port_views;
struct rd_system;
struct rd_netstate;
struct rd_klog;
struct rd_profile;
struct rd_res;
struct rd_spreads;
struct rd_symmetry;
struct rd_stalls;

/* Parts of a host that a rule takes to have been read whole. */
enum rd_part {
	RD_PART_PCI = 1 << 0,	    /* functions, what is above them, drivers */
	RD_PART_RDMA = 1 << 1,	    /* RDMA devices, ports, GIDs */
	RD_PART_NET = 1 << 2,	    /* interfaces, addresses, routes */
	RD_PART_NUMA = 1 << 3,	    /* nodes, sockets */
	RD_PART_MODULES = 1 << 4,   /* modules of the kernel, and what they say of themselves */
	RD_PART_PROGRAMS = 1 << 5,  /* device files, libraries, settings below /etc */
	RD_PART_PROCESSES = 1 << 6, /* other processes */
	RD_PART_QPS = 1 << 7,	    /* what RDMA netlink lists: queue pairs, and who owns them */
	RD_PART_HOST = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET |
		       RD_PART_NUMA, /* joined: what one lacks changes others */
	RD_PART_ALL = (1 << 8) - 1,
};

/* NULL: was not read; host and ports always were. */
struct rd_check_input {
	const struct rd_host *host;
	const struct rd_port_views *ports; /* what each port of `host` is for, and its GIDs */
	const struct rd_nicmap *map;
	const struct rd_system *system;
	const struct rd_netstate *net;
	const struct rd_klog *klog;
	const struct rd_profile *profile;      /* NULL: none was given */
	const struct rd_findings *differences; /* from the profile, as rd_profile_compare names them */
	const struct rd_findings *job_env;     /* what is wrong with the settings of all jobs */
	const struct rd_res *res;	       /* queue pairs and their owners */
	const struct rd_spreads *spreads;      /* how their flows spread */
	const struct rd_stalls *stalls;	       /* reads that gave no answer; NULL: nothing was read under a deadline */
	const struct rd_errlist *unread; /* all reads that failed otherwise than by saying that there is no such thing */
	const struct rd_symmetry *symmetry; /* what of this host is not as the rest of it */
	const struct rd_findings *moved;    /* counters that moved since an earlier look; NULL: there was none */
	bool exclusive;			    /* no other job should be on this host */
};

struct rd_check_out;

struct rd_check {
	const char *id;	   /* "acs-redirect" */
	const char *title; /* what is wrong when it does not pass */
	const char *why;   /* why that matters */
	const char *fix;   /* what to do */
	const char *needs; /* the facts it judges by, for --explain */
	bool quick;	   /* cheap enough for a job prologue */
	unsigned whole; /* enum rd_part, or-ed: where a read of these failed, a fault found by this rule is unknown instead */
	unsigned reads; /* further ones that it reads: where a read of either failed, it does not pass */
	void (*run)(const struct rd_check_input *in, struct rd_check_out *out);
};

#endif
