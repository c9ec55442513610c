/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the timers of queue pairs, and about what is unknown of their peers and timers, and why. */
#ifndef RD_ANALYSE_QP_TIMERS_H
#define RD_ANALYSE_QP_TIMERS_H

#include "model/rdma/qp-pairs.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Of the queue pairs selected by `chosen` (NULL: all): timers that are off, or longest; retries without end. One finding per
 * device. */
void rd_qp_timer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* A note if the peer of connected queue pairs is unknown: how many, why, and how to learn it. */
void rd_qp_peer_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* A finding if the local ACK timeout of queue pairs that have one is unknown. Returns whether it is known of none of them. */
bool rd_qp_timeout_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/*
 * InfiniBand Architecture Specification, volume 1, 9.7.6.1.3 (local ACK timeout: 4.096 us x 2^timeout; a device may let it run
 * up to four times as long), 9.7.5.2.8 and the table "Encoding for RNR NAK Timer Field" (a minimum). retry_cnt counts the
 * retransmissions after the first transmission: R takes R + 1 timeouts. timeout 0 and rnr_retry 7 mean forever.
 */
struct rd_giveup rd_qp_giveup(const struct rd_timeouts *in);

/* Seconds of a code of the RNR timer; 0 for an invalid code (above 31). */
double rd_rnr_timer_seconds(unsigned code);

#endif
