/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions about queue pairs: their connections, their timeouts, and which flows share a link. */
#ifndef RD_MODEL_QP_PAIRS_H
#define RD_MODEL_QP_PAIRS_H

#include "model/host/host.h"
#include "model/rdma/qp-view.h"

/* One of the hosts to join. The caller owns everything. */
struct rd_join_host {
	const char *name;
	const struct rd_qp_views *views;
	const struct rd_host *host; /* for the GIDs of its devices */
	uint64_t time_ns;	    /* when it was captured */
};

enum rd_join_verdict {
	RD_JOIN_CONNECTED,
	RD_JOIN_HALF_OPEN,
	RD_JOIN_MISMATCH,
	RD_JOIN_AMBIGUOUS,
	RD_JOIN_NOT_VISIBLE,
	RD_JOIN_VERDICTS,
};
const char *rd_join_verdict_name(enum rd_join_verdict verdict); /* "connected", "half-open", … */

struct rd_qp_end {
	int host; /* index; -1: none */
	size_t qp;
};

struct rd_qp_pair {
	struct rd_qp_end a, b;
	enum rd_join_verdict verdict;
	char *reason; /* owned */
};

struct rd_qp_pairs {
	struct rd_qp_pair *v;
	size_t n, cap;
	size_t count[RD_JOIN_VERDICTS];
};
void rd_qp_pairs_deinit(struct rd_qp_pairs *pairs);

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

#endif
