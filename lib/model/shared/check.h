/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rule of topo-check. Rules are pure: their only input is struct rd_check_input. A fact that could not be read gives
 * RD_SEV_UNKNOWN with the reason, never RD_SEV_OK.
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
struct rd_recent;

/* Parts of a host that a rule requires to be read completely. */
enum rd_part {
	RD_PART_PCI = 1 << 0,	    /* functions, upstream bridges, drivers */
	RD_PART_RDMA = 1 << 1,	    /* RDMA devices, ports, GIDs */
	RD_PART_NET = 1 << 2,	    /* interfaces, addresses, routes */
	RD_PART_NUMA = 1 << 3,	    /* nodes, sockets */
	RD_PART_MODULES = 1 << 4,   /* kernel modules, and their properties */
	RD_PART_PROGRAMS = 1 << 5,  /* device files, libraries, settings below /etc */
	RD_PART_PROCESSES = 1 << 6, /* other processes */
	RD_PART_QPS = 1 << 7,	    /* from RDMA netlink: queue pairs and their owners */
	RD_PART_HOST = RD_PART_PCI | RD_PART_RDMA | RD_PART_NET |
		       RD_PART_NUMA, /* joined: a gap in one part affects the others */
	RD_PART_ALL = (1 << 8) - 1,
};

/* NULL: not read; host and ports are always read. */
struct rd_check_input {
	const struct rd_host *host;
	const struct rd_port_views *ports; /* role and GIDs of each port of `host` */
	const struct rd_nicmap *map;
	const struct rd_system *system;
	const struct rd_netstate *net;
	const struct rd_klog *klog;
	const struct rd_profile *profile;      /* NULL: none given */
	const struct rd_findings *differences; /* from the profile, by rd_profile_compare */
	const struct rd_findings *job_env;     /* faults in the settings of all jobs */
	const struct rd_res *res;	       /* queue pairs and their owners */
	const struct rd_recent *recent;	       /* failed calls of the last hour */
	const struct rd_spreads *spreads;      /* spread of their flows over links */
	const struct rd_stalls *stalls;	       /* reads that stalled; NULL: nothing was read with a deadline */
	const struct rd_errlist *unread;       /* all failed reads, except those of objects that do not exist */
	const struct rd_symmetry *symmetry;    /* differences within this host */
	const struct rd_findings *moved; /* counters that increased since an earlier sample; NULL: no earlier sample */
	const struct rd_findings *user;	 /* what jobs of a user need for RDMA, judged; NULL: no user was named */
	bool exclusive;			 /* no other job should be on this host */
};

struct rd_check_out;

/* What a rule judges one by one, and how it is named: "mlx5_0/1", a PCI address, "GPU3". */
enum rd_each { RD_EACH_PORT, RD_EACH_PCI, RD_EACH_GPU };

struct rd_check {
	const char *id;	   /* "acs-redirect" */
	const char *title; /* the fault that it detects */
	const char *why;   /* consequence of the fault */
	const char *fix;   /* commands and advice */
	const char *needs; /* the facts that it uses, for --explain */
	bool thorough;	   /* too much for a job prologue */
	struct {
		unsigned whole; /* enum rd_part, ORed: if a read of these failed, a fault found by this rule becomes unknown */
		unsigned reads; /* further parts: if a read of `whole` or `reads` failed, the rule does not pass */
	} parts;
	void (*run)(const struct rd_check_input *in, struct rd_check_out *out); /* NULL: only `each` */
	struct {
		enum rd_each what;
		bool (*applies)(const struct rd_host *host, size_t i); /* NULL: to all of them */
		void (*judge)(const struct rd_check_input *in, size_t i, const char *name, struct rd_check_out *out);
		const char *skip; /* if it judged none; NULL: "does not apply to this host" */
	} each;			  /* with rd_check_each; unused if `run` does without */
	const void *with;	  /* for a `run` that several rules have: what differs; NULL: nothing */
};

#endif
