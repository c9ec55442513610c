/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that do not run, so that their queue pairs transfer nothing. */
#ifndef RD_ANALYSE_QP_STOPPED_H
#define RD_ANALYSE_QP_STOPPED_H

#include "model/rdma/qp-view.h"

/* Which processes may be the reason why a connected queue pair has no packets: rd_proc.state of these is used (`ret`: res->n_procs
 * entries). `seconds`: between the two samples; 0: one sample only. */
void rd_qp_procs_that_may_stop(const struct rd_qp_views *views, double seconds, bool *ret);

#endif
