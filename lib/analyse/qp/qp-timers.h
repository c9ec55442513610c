/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about the timers of queue pairs, and about what is unknown of their peers and timers, and why. */
#ifndef RD_ANALYSE_QP_TIMERS_H
#define RD_ANALYSE_QP_TIMERS_H

#include "model/rdma/qp-view.h"
#include "model/rdma/qp.h"
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

/* Sets `ret` (res->n_procs entries): whether the process has a device open through which programs can create queue pairs that the
 * kernel does not track. Needs the lists of contexts and queue pairs. */
void rd_qp_procs_that_may_hide(const struct rd_res *res, bool *ret);

/* Findings about such processes: with libraries that create queue pairs in that way (rd_proc.devx_libs), or without a listed queue pair
 * on such a device. There is no count: no source has it. */
void rd_qp_hidden_findings(const struct rd_res *res, struct rd_findings *findings);

/* Counts, for each process (`ret`: res->n_procs entries), the queue pairs of connected types for which `chosen` (NULL: all) is true
 * and whose peer is unknown. */
void rd_qp_count_unknown_peers(const struct rd_qp_views *views, const bool *chosen, size_t *ret);

/* Findings: the TCP connections of these processes (rd_proc.peers), as far as they were read. They never tell which queue pair is
 * connected to which host. */
void rd_qp_proc_peers_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

#endif
