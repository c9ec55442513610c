/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How evenly RoCE v2 flows spread over equal-cost links. */
#ifndef RD_ANALYSE_QP_ENTROPY_H
#define RD_ANALYSE_QP_ENTROPY_H

#include "model/rdma/qp-view.h"
#include "model/rdma/qp.h"
#include "model/shared/finding.h"

/*
 * A flow is a connected queue pair. Its five-tuple: the two addresses, UDP, port 4791, and the source port (as recorded, else
 * by the kernel's rule, see below). Switches do not publish their hash, so many good hashes model it: the share of the fullest
 * of `links` links is given as the mean and the maximum over them. Flows with the same five-tuple share a link with any hash of
 * the five-tuple only. Only queue pairs for which `chosen` (NULL: all) is true.
 */
void rd_qp_spread(const struct rd_qp_views *views, const bool *chosen, unsigned links, struct rd_spreads *ret);

/* Findings: colliding flows, and flows left out. */
void rd_qp_spread_findings(const struct rd_res *res, const struct rd_spreads *spreads, struct rd_findings *findings);

#endif
