/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a device counts of packets sent again: evidence of why queue pairs fail, but of the device as a whole. */
#ifndef RD_MODEL_QP_EVIDENCE_H
#define RD_MODEL_QP_EVIDENCE_H

#include "base/base.h"

enum rd_qp_count {
	RD_QPC_RETRIES,	      /* packets, or timeouts that made it send them again */
	RD_QPC_EXHAUSTED,     /* queue pairs that gave up sending again */
	RD_QPC_RNR,	      /* answers that the receiver is not ready */
	RD_QPC_RNR_EXHAUSTED, /* queue pairs that gave up waiting for it */
	RD_QPC_N,
};

/* A counter of the driver that counts one of them. */
struct rd_qp_counter {
	enum rd_qp_count what;
	const char *name; /* not owned */
};

/* Of each kind the first that a port has counts for it. */
struct rd_qp_counters {
	struct rd_qp_counter *v;
	size_t n, cap;
};
void rd_qp_counters_deinit(struct rd_qp_counters *counters);

/* Sums over a device's ports; absent: it counts no such thing, or does not tell. */
struct rd_qp_counts {
	RD_FIELD(uint64_t) v[RD_QPC_N];
};

#endif
