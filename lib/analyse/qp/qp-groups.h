/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs counted by what they have in common. */
#ifndef RD_ANALYSE_QP_GROUPS_H
#define RD_ANALYSE_QP_GROUPS_H

#include "model/rdma/qp-groups.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

/* Groups those for which `chosen` (n_qps entries; NULL: all) is true. By peer, connected types only, and those whose peer is
 * not known in one group a device. */
void rd_qp_group_by(const struct rd_qp_views *views, const bool *chosen, enum rd_qp_by by, struct rd_qp_groups *ret);

/* Dead and degraded paths. */
void rd_qp_groups_findings(const struct rd_res *res, const struct rd_qp_groups *groups, struct rd_findings *findings);

/* Who holds what, of what was listed. `ret->v` is freed by the caller. */
void rd_res_hold(const struct rd_res *res, struct rd_res_holders *ret);

#endif
