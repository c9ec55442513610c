/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How evenly RoCE v2 flows would be spread over equal-cost links. */
#ifndef RD_ANALYSE_QP_ENTROPY_H
#define RD_ANALYSE_QP_ENTROPY_H

#include "model/rdma/qp-pairs.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/*
 * A flow is a connected queue pair; its five-tuple is made of the two addresses, UDP, port 4791, and the source port: as a
 * recorder saw it, else by the kernel's rule (udp-sport.h). No switch tells its hash, so a number of good ones stands for
 * it: the share of the fullest of `links` links is the mean, and the worst, over all of them. Flows of one five-tuple are on
 * one link by any hash that takes nothing else. Of those for which `chosen` (NULL: all) is true.
 */
void rd_qp_spread(const struct rd_qp_views *views, const bool *chosen, unsigned links, struct rd_spreads *ret);

/* Flows that meet, named. */
void rd_qp_spread_findings(const struct rd_res *res, const struct rd_spreads *spreads, struct rd_findings *findings);

#endif
