/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of packets, losses and retransmissions: evidence of why queue pairs fail or are slow, but for the whole device. */
#ifndef RD_MODEL_QP_EVIDENCE_H
#define RD_MODEL_QP_EVIDENCE_H

#include "base/base.h"

enum rd_qp_count {
	RD_QPC_RETRIES,	      /* retransmitted packets, or timeouts that caused retransmissions */
	RD_QPC_EXHAUSTED,     /* transport retry count exceeded */
	RD_QPC_RNR,	      /* RNR NAKs received */
	RD_QPC_RNR_EXHAUSTED, /* RNR retry count exceeded */
	RD_QPC_NAKS,	     /* requester: NAKs for PSN sequence errors received, each of which causes retransmission */
	RD_QPC_OUT_OF_ORDER, /* responder: packets received out of sequence */
	RD_QPC_DUPLICATES,   /* responder: requests received again: the ACK was lost, or late */
	RD_QPC_RNR_SENT,     /* responder: packets that found no receive work request */
	RD_QPC_SENT,	     /* packets */
	RD_QPC_GOT,
	RD_QPC_LINK_DOWNED, /* times that the link went down */
	RD_QPC_N,
};

/* A driver counter of one of these. */
struct rd_qp_counter {
	enum rd_qp_count what;
	const char *name; /* not owned */
};

/* Per kind, the first counter that a port has is used. */
struct rd_qp_counters {
	struct rd_qp_counter *v;
	size_t n, cap;
};
void rd_qp_counters_deinit(struct rd_qp_counters *counters);

/* Sums over the ports of a device; absent: no such counter, or not readable. */
struct rd_qp_counts {
	RD_FIELD(uint64_t) v[RD_QPC_N];
};

#endif
