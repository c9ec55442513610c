/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs of several hosts, matched with those at the other end. */
#ifndef RD_ANALYSE_QP_JOIN_H
#define RD_ANALYSE_QP_JOIN_H

#include "model/rdma/qp-pairs.h"
#include "model/shared/finding.h"

/*
 * Each connected-type queue pair that names a peer is looked for by the number at the other end; where its peer's GID is known
 * (from rdma_cm, or a recorder), only on the devices that have that GID. What is concluded:
 *   connected         one queue pair points back, and neither has failed
 *   half-open         the peer's is in RESET or INIT, or one has failed, or it is gone although all of its device's were captured
 *   mismatch          the peer's points elsewhere, or both were seen with different path MTUs
 *   ambiguous         several could be it, and no GID decides
 *   peer-not-visible  all that can be said otherwise
 * Half-open is said with proof only: a GID, both addresses of rdma_cm, or numbers that point to each other within one job; and
 * captures within a minute of each other (time_ns; 0: not known). PSNs decide nothing, as captures are not simultaneous. */
void rd_qp_join(const struct rd_join_host *hosts, size_t n, struct rd_qp_pairs *ret);

/* A finding for each verdict that is no good, with the first pairs named. */
void rd_qp_join_findings(const struct rd_join_host *hosts, const struct rd_qp_pairs *pairs,
			 struct rd_findings *findings);

#endif
