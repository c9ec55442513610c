/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_QP_PAIRS_H
#define RD_REPORT_QP_PAIRS_H

#include "model/rdma/qp-pairs.h"
#include "report/shared/report.h"

/* Adds section "pairs", whose ends are objects. */
void rd_report_pairs(struct rd_report *report, const struct rd_join_host *hosts, const struct rd_qp_pairs *pairs);

/* The same as a flat table; the caller destroys it. */
struct rd_section *rd_pairs_table(const struct rd_join_host *hosts, const struct rd_qp_pairs *pairs);

/* Section "timeouts"; the report takes ownership. */
struct rd_section *rd_timeouts_section(void);

/* Adds a row: `values`, and the derived times. `qp` (of `res`) NULL: values of the command line. */
void rd_timeouts_add(struct rd_section *section, const struct rd_res *res, const struct rd_qp *qp,
		     const struct rd_timeouts *values, const struct rd_giveup *giveup);

/* Adds sections "entropy", "collisions" and "flows". */
void rd_report_spreads(struct rd_report *report, const struct rd_qp_views *views, const struct rd_spreads *spreads);

#endif
