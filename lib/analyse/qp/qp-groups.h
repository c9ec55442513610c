/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs counted by state, process, device, peer or job. */
#ifndef RD_ANALYSE_QP_GROUPS_H
#define RD_ANALYSE_QP_GROUPS_H

#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Groups the queue pairs for which `chosen` (n_qps entries; NULL: all) is true. By peer: connected types only; queue pairs with
 * an unknown peer form one group per device. */
void rd_qp_group_by(const struct rd_qp_views *views, const bool *chosen, enum rd_qp_by by, struct rd_qp_groups *ret);

/* Findings: dead and degraded paths. */
void rd_qp_groups_findings(const struct rd_res *res, const struct rd_qp_groups *groups, struct rd_findings *findings);

/* Counts listed objects by owner. The caller frees `ret->v`. */
void rd_res_count_holders(const struct rd_res *res, struct rd_res_holders *ret);

#endif
