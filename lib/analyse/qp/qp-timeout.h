/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a queue pair retries until it fails. */
#ifndef RD_ANALYSE_QP_TIMEOUT_H
#define RD_ANALYSE_QP_TIMEOUT_H

#include "model/rdma/qp-pairs.h"

/*
 * InfiniBand Architecture Specification, volume 1, 9.7.6.1.3 (local ACK timeout: 4.096 us x 2^timeout; a device may let it run
 * up to four times as long), 9.7.5.2.8 and the table "Encoding for RNR NAK Timer Field" (a minimum). retry_cnt counts the
 * retransmissions after the first transmission: R takes R + 1 timeouts. timeout 0 and rnr_retry 7 mean forever.
 */
struct rd_giveup rd_qp_giveup(const struct rd_timeouts *in);

/* Seconds of a code of the RNR timer; 0 for an invalid code (above 31). */
double rd_rnr_timer_seconds(unsigned code);

#endif
