/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_QP_PAIRS_H
#define RD_REPORT_QP_PAIRS_H

#include "model/rdma/qp-pairs.h"
#include "report/shared/report.h"

/* Adds section "pairs", whose ends are objects. */
void rd_report_pairs(struct rd_report *report, const struct rd_join_host *hosts, const struct rd_qp_pairs *pairs);

/* The same, flat, for a table; the caller destroys it. */
struct rd_section *rd_pairs_table(const struct rd_join_host *hosts, const struct rd_qp_pairs *pairs);

/* Section "timeouts"; the report takes it over. */
struct rd_section *rd_timeouts_section(void);

/* A row of it: `values`, and what follows. `qp` (of `res`) NULL: they were given, not observed. */
void rd_timeouts_add(struct rd_section *section, const struct rd_res *res, const struct rd_qp *qp,
		     const struct rd_timeouts *values, const struct rd_giveup *giveup);

/* Adds sections "entropy" and "collisions". */
void rd_report_spreads(struct rd_report *report, const struct rd_qp_views *views, const struct rd_spreads *spreads);

#endif
