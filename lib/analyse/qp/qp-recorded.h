/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins what a recorder of another process keeps with the queue pairs that the kernel lists. */
#ifndef RD_ANALYSE_QP_RECORDED_H
#define RD_ANALYSE_QP_RECORDED_H

#include "model/rdma/qp-view.h"

/*
 * Fills the past of each view where nothing better is known: attributes, exact age, last errno and event. `now_ns`
 * (CLOCK_MONOTONIC): when the sample ended; 0: no ages. An entry that contradicts the list (another type, process, remote QP or state)
 * is of an earlier queue pair with this number, or outdated, and is not used.
 */
void rd_qp_apply_recorded(struct rd_qp_views *views, uint64_t now_ns);

#endif
