/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches queue pairs of several hosts with their remote QPs. */
#ifndef RD_ANALYSE_JOIN_H
#define RD_ANALYSE_JOIN_H

#include "model/host/host.h"
#include "model/rdma/join.h"
#include "model/rdma/qp-view.h"

/* Of one job: 8,192 hosts with 512 queue pairs each. */
#define RD_JOIN_QPS_MAX (1u << 22)
#define RD_JOIN_HOSTS_MAX 8192

/*
 * Copies from a host what is matched, 40 bytes per queue pair; the host can be released then. `join` is zeroed but for its key.
 * `time_ns`: when the host was captured; 0: unknown. `host`: for the GIDs of its devices; may be NULL. 0; -EEXIST: a host of this
 * name was added before; -E2BIG: above the limits.
 */
int rd_join_add(struct rd_join *join, const char *name, uint64_t time_ns, const struct rd_qp_views *views,
		const struct rd_host *host);

/*
 * The remote QP of each connected queue pair is searched by its number; if the peer's GID is known (from rdma_cm, or a recorder),
 * only on the devices that have this GID. Queue pairs of iWARP, and those of XRC whose remote number is unknown, are searched by
 * the addresses and ports of their rdma_cm connection. Verdicts:
 *   connected         one remote QP is connected to this one, and neither has failed
 *   half-open         the remote QP is in RESET or INIT, or one has failed, or it is missing although all of its device were captured
 *   mismatch          the remote QP is connected elsewhere, or different path MTUs were recorded
 *   ambiguous         several candidates, and no GID selects one
 *   peer-not-visible  no other verdict is possible
 * Half-open needs proof: a GID, both addresses of rdma_cm, or matching numbers within one job; half-open and mismatch need
 * captures within a minute of each other. PSNs are not compared: captures are not simultaneous. Call it once, after the last
 * rd_join_add. Time: n log n in queue pairs, whatever they claim.
 */
void rd_join_match(struct rd_join *join, struct rd_join_pairs *ret);

/* One finding per verdict other than connected, those whose peer no longer exists first; names the first pairs. */
void rd_join_findings(const struct rd_join *join, const struct rd_join_pairs *pairs, struct rd_findings *findings);

#endif
