/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How processes continue over another NIC when one fails: what they have for it, and what happened. */
#ifndef RD_MODEL_QP_FAILOVER_H
#define RD_MODEL_QP_FAILOVER_H

#include "base/base.h"

enum rd_failover_kind {
	RD_FAILOVER_DIED,  /* retries were exhausted, or traffic moved while they went on */
	RD_FAILOVER_MOVED, /* another NIC of the process has the traffic */
	RD_FAILOVER_BACK,  /* the port has a link again, or queue pairs were rebuilt */
	RD_FAILOVER_STAYS, /* it is back, and the traffic stays where it moved to */
};

struct rd_failover_event {
	enum rd_failover_kind kind;
	char ibdev[64], to[64]; /* the NIC that failed; the one that has its traffic, "": none */
	uint32_t pid, lqpn;	/* lqpn: of the first one */
	size_t qps;		/* of the process and the NIC, to one peer, or to peers that are unknown */
	bool has_peer;
	uint8_t peer[16];
	RD_FIELD(double) detected, detected_max; /* seconds after the last packet: at least, at most */
	RD_FIELD(double) least, most;		 /* the same by timeout and retry_cnt */
	RD_FIELD(double) after;		    /* seconds between the last packet and the first one elsewhere, at most */
	RD_FIELD(double) gbps, gbps_before; /* of the NIC that has the traffic now, and of the one that had it */
	RD_FIELD(bool) expected_backup;	    /* nic-map names it as the backup */
	RD_FIELD(bool) rebuilt;		    /* there are new queue pairs on the NIC that failed */
	char *text;			    /* a sentence; owned */
};

struct rd_failover_events {
	struct rd_failover_event *v;
	size_t n, cap;
};

/* A NIC of a process, before anything fails. */
struct rd_failover_path {
	int dev, proc, backup;	      /* indices into rd_res; backup -1: none, or unknown which */
	size_t qps, unusable;	      /* queue pairs */
	size_t others;		      /* NICs of the process */
	RD_FIELD(size_t) peers;	      /* different ones */
	RD_FIELD(double) least, most; /* seconds until a dead path is detected, of the slowest queue pair */
	bool for_ever;		      /* one of them never detects it */
	RD_FIELD(bool) expected_backup;
	const char *shared; /* with the backup: "card", or as in nic-map; static; NULL: unknown */
};

struct rd_failover_paths {
	struct rd_failover_path *v; /* by process, then device */
	size_t n, cap;
};

#endif
