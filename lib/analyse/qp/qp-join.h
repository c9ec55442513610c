/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches queue pairs of several hosts with their remote QPs. */
#ifndef RD_ANALYSE_QP_JOIN_H
#define RD_ANALYSE_QP_JOIN_H

#include "model/rdma/qp-pairs.h"
#include "model/shared/finding.h"

/*
 * The remote QP of each connected queue pair is searched by its number; if the peer's GID is known (from rdma_cm, or a recorder),
 * only on the devices that have this GID. Verdicts:
 *   connected         one remote QP is connected to this one, and neither has failed
 *   half-open         the remote QP is in RESET or INIT, or one has failed, or it is missing although all of its device were captured
 *   mismatch          the remote QP is connected elsewhere, or different path MTUs were recorded
 *   ambiguous         several candidates, and no GID selects one
 *   peer-not-visible  no other verdict is possible
 * Half-open needs proof: a GID, both addresses of rdma_cm, or matching numbers within one job; half-open and mismatch need
 * captures within a minute of each other (time_ns; 0: unknown). PSNs are not compared: captures are not simultaneous. */
void rd_qp_join(const struct rd_join_host *hosts, size_t n, struct rd_qp_pairs *ret);

/* One finding per verdict other than connected; names the first pairs. */
void rd_qp_join_findings(const struct rd_join_host *hosts, const struct rd_qp_pairs *pairs,
			 struct rd_findings *findings);

#endif
