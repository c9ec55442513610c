/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that may own queue pairs which the kernel does not list. */
#ifndef RD_ANALYSE_QP_HIDDEN_H
#define RD_ANALYSE_QP_HIDDEN_H

#include "model/rdma/qp.h"
#include "model/shared/finding.h"

/* Sets `ret` (res->n_procs entries): whether the process has a device open through which programs can create queue pairs that the
 * kernel does not track. Needs the lists of contexts and queue pairs. */
void rd_qp_procs_that_may_hide(const struct rd_res *res, bool *ret);

/* Findings about such processes: with libraries that create queue pairs in that way (rd_proc.devx_libs), or without a listed queue pair
 * on such a device. There is no count: no source has it. */
void rd_qp_hidden_findings(const struct rd_res *res, struct rd_findings *findings);

#endif
