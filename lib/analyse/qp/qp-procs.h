/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that may own queue pairs which the kernel does not list, and those whose queue pairs have unknown peers. */
#ifndef RD_ANALYSE_QP_PROCS_H
#define RD_ANALYSE_QP_PROCS_H

#include "model/rdma/qp-view.h"
#include "model/rdma/qp.h"
#include "model/shared/finding.h"

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
