/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions about queue pairs: their timeouts, and which flows share a link. */
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

#endif
