/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_QP_PAIRS_H
#define RD_REPORT_QP_PAIRS_H

#include "model/rdma/join.h"
#include "model/rdma/qp-pairs.h"
#include "report/shared/report.h"

/* Adds section "pairs", whose ends are objects. `join` and `pairs` must outlive the report. */
void rd_report_pairs(struct rd_report *report, const struct rd_join *join, const struct rd_join_pairs *pairs);

/* `n` of the pairs as a flat table, those in `shown`, or the first ones if that is NULL; the caller destroys it. The others must
 * outlive it. */
struct rd_section *rd_pairs_table(const struct rd_join *join, const struct rd_join_pairs *pairs, const uint32_t *shown,
				  size_t n);

/* Section "timeouts"; the report takes ownership. */
struct rd_section *rd_timeouts_section(void);

/* Adds a row: `values` of queue pair `i`, and the derived times. `views` NULL: values of the command line. */
void rd_timeouts_add(struct rd_section *section, const struct rd_qp_views *views, size_t i,
		     const struct rd_timeouts *values, const struct rd_giveup *giveup);

/* Adds sections "entropy", "collisions" and "flows". */
void rd_report_spreads(struct rd_report *report, const struct rd_qp_views *views, const struct rd_spreads *spreads);

#endif
