/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters that are evidence of why queue pairs fail or are slow, by their topics in the table of counters. */
#ifndef RD_ANALYSE_QP_COUNTERS_H
#define RD_ANALYSE_QP_COUNTERS_H

#include "analyse/shared/meaning.h"
#include "model/rdma/qp-evidence.h"

/* In the order of the table, which must outlive `ret`. Patterns are skipped: the names are names of files. */
void rd_qp_counters_find(const struct rd_meanings *meanings, struct rd_qp_counters *ret);

#endif
