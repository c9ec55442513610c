/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long it takes until a queue pair gives up. */
#ifndef RD_ANALYSE_QP_TIMEOUT_H
#define RD_ANALYSE_QP_TIMEOUT_H

#include "model/rdma/qp-pairs.h"

/*
 * InfiniBand Architecture Specification, volume 1, 9.7.6.1.3 (local ACK timeout: 4.096 us x 2^timeout; a device may let it run
 * up to four times as long), 9.7.5.2.8 and the table "Encoding for RNR NAK Timer Field" (a least time). retry_cnt counts what follows the first
 * send: with R it takes R + 1 timeouts. timeout 0 is for ever, and so is rnr_retry 7.
 */
struct rd_giveup rd_qp_giveup(const struct rd_timeouts *in);

/* Seconds of a code of the RNR timer; 0 for none that there is (above 31). */
double rd_rnr_timer_seconds(unsigned code);

#endif
