/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failing over, as it can be observed from outside: queue pairs die on one NIC, and their process continues over another. */
#ifndef RD_ANALYSE_QP_FAILOVER_H
#define RD_ANALYSE_QP_FAILOVER_H

#include "model/nicmap/nicmap.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

struct rd_failover;

struct rd_failover *rd_failover_create(void);
void rd_failover_destroy(struct rd_failover *failover);

/* A sample of queue pairs that were judged, and what is known of their NICs. */
struct rd_failover_sample {
	const struct rd_qp_views *views;
	const double *gbps; /* of each device (rd_res.n_devs), both directions; below 0: unknown. For rd_failover_update */
	/* From the beginning; without names of devices: unknown. */
	const struct rd_host *host;
	const struct rd_nicmap *map;
	uint64_t mono_ns;
	/* For rd_failover_before. A route from a GID of this host to a peer: 1, 0: there is none; -1: unknown. The environment of a process,
	 * `*size` bytes that the caller frees; NULL: unknown. */
	int (*route)(void *arg, const struct rd_gid *own, const uint8_t peer[16]);
	char *(*environ)(void *arg, uint32_t pid, size_t *size);
	void *arg;
};

/* What happened since the sample before: `*n` events, valid until the next call. A path is a pair of a NIC and a peer; it counts as dead only with evidence: retry count
 * exceeded, retransmissions without a packet, or a port without a link. Traffic that moves without that is none of this. */
const struct rd_failover_event *rd_failover_update(struct rd_failover *failover,
						   const struct rd_failover_sample *sample, size_t *n);

/* One finding for each process and NIC that failed so far. */
void rd_failover_findings(const struct rd_failover *failover, struct rd_findings *findings);

/* What each process would fail over with: `ret`, and findings about what is missing. Of one sample. */
void rd_failover_before(const struct rd_failover_sample *sample, const bool *chosen, struct rd_failover_paths *ret,
			struct rd_findings *findings);

#endif
