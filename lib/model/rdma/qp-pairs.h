/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions about queue pairs: their timeouts, which flows share a link, and what happens when a NIC fails. */
#ifndef RD_MODEL_QP_PAIRS_H
#define RD_MODEL_QP_PAIRS_H

#include "model/rdma/qp-view.h"

/* As encoded in struct ibv_qp_attr. Absent values make all values derived from them absent. */
struct rd_timeouts {
	RD_FIELD(uint8_t) timeout;	 /* 5 bits */
	RD_FIELD(uint8_t) retry_cnt;	 /* 3 bits */
	RD_FIELD(uint8_t) rnr_retry;	 /* 3 bits */
	RD_FIELD(uint8_t) min_rnr_timer; /* 5 bits; that of the remote QP applies */
	bool rxe;			 /* soft-RoCE retries forever with retry_cnt 7 */
};

/* How long a queue pair retries, in seconds; absent if it retries forever, or if values are absent. */
struct rd_giveup {
	RD_FIELD(double) ack_timeout, ack_least, ack_most; /* one timeout; until RETRY_EXC_ERR */
	bool ack_for_ever;
	RD_FIELD(double) rnr_timer, rnr_least; /* one wait; until RNR_RETRY_EXC_ERR */
	bool rnr_for_ever;
	const char *note; /* static; NULL: none */
};

/* The flows of one NIC, or from one NIC to one peer, and how N equal-cost links would share them. */
struct rd_spread {
	int dev;
	bool has_peer; /* to this peer; else all flows of the NIC */
	uint8_t peer_gid[16];
	size_t flows, tuples, tuples_qp; /* queue pairs; distinct five-tuples; the same with the destination QP */
	/* The share of the most loaded link, 0 to 1: mean over many hashes, and with the worst hash. */
	double mean, worst, mean_qp, worst_qp;
};

/* Flows with the same five-tuple: on one link with any hash. */
struct rd_collision {
	int dev;
	bool has_peer;
	uint8_t peer_gid[16];
	uint16_t udp_sport;
	size_t flows;
	char *lqpns; /* "17,18,…"; owned */
};

/* Origin of a flow's UDP source port. */
enum rd_sport_from {
	RD_SPORT_ASSUMED, /* both QP numbers: not recorded whether a flow label is set */
	RD_SPORT_NUMBERS, /* both QP numbers: recorded that no flow label is set */
	RD_SPORT_LABEL,	  /* the recorded flow label */
};
const char *rd_sport_from_name(enum rd_sport_from from); /* "assumed", "numbers", "label" */

struct rd_flow {
	size_t qp; /* index into rd_res.qps */
	uint16_t udp_sport;
	enum rd_sport_from from;
};

struct rd_spreads {
	unsigned links;
	struct rd_spread *v; /* per NIC: first all its flows, then per peer */
	size_t n, cap;
	struct rd_collision *collisions;
	size_t n_collisions, cap_collisions;
	struct rd_flow *flows; /* in the order of queue pairs */
	size_t n_flows;
	size_t not_roce;     /* connected queue pairs of devices that are not RoCE */
	size_t no_remote_qp; /* those with an unknown remote QP number */
	size_t unknown_peer; /* flows with an unknown peer, assumed to go to one */
};
void rd_spreads_deinit(struct rd_spreads *spreads);

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
	size_t qps; /* of those that died, to one peer, or to peers that are unknown; or have the traffic; 0: neither */
	bool has_peer;
	uint8_t peer[16];
	RD_FIELD(double) detected;	    /* of a path that died: seconds after the last packet, at least */
	double detected_max;		    /* the same, at most */
	RD_FIELD(double) least, most;	    /* the same by timeout and retry_cnt */
	RD_FIELD(double) after;		    /* seconds between the last packet and the first one elsewhere, at most */
	RD_FIELD(double) gbps, gbps_before; /* of the NIC that has the traffic now, and of the one that had it */
	RD_FIELD(bool) expected_backup;	    /* nic-map names it as the backup */
	bool rebuilt;			    /* there are new queue pairs on the NIC that failed */
	char text[400];			    /* a sentence */
};

/* A NIC of a process, before anything fails. */
struct rd_failover_path {
	int proc, dev, backup;	      /* indices into rd_res; backup -1: none, or unknown which */
	size_t qps, unusable;	      /* queue pairs */
	const char *why;	      /* the first one that is unusable is; of the views; NULL: none is */
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
