/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the timers of queue pairs, and about what is unknown of their peers and timers, and why. */
#ifndef RD_ANALYSE_QP_TIMERS_H
#define RD_ANALYSE_QP_TIMERS_H

#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Of the queue pairs selected by `chosen` (NULL: all): timers that are off, or longest; retries without end. One finding per
 * device. */
void rd_qp_timer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* A note if the peer of connected queue pairs is unknown: how many, why, and how to learn it. */
void rd_qp_peer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* A finding if the local ACK timeout of queue pairs that have one is unknown. Returns whether it is known of none of them. */
bool rd_qp_timeout_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

#endif
