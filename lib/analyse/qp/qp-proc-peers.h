/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes whose queue pairs have unknown peers, and the hosts that they have TCP connections to. */
#ifndef RD_ANALYSE_QP_PROC_PEERS_H
#define RD_ANALYSE_QP_PROC_PEERS_H

#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Counts, for each process (`ret`: res->n_procs entries), the queue pairs of connected types for which `chosen` (NULL: all) is true
 * and whose peer is unknown. */
void rd_qp_count_unknown_peers(const struct rd_qp_views *views, const bool *chosen, size_t *ret);

/* Findings: the TCP connections of these processes (rd_proc.peers), as far as they were read. They never tell which queue pair is
 * connected to which host. */
void rd_qp_proc_peers_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

#endif
