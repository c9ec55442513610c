/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong with a fabric: errors above their thresholds, counters that have stopped, links below what both ends can,
 * agents that do not answer, ports that came and went. */
#ifndef RD_ANALYSE_FABRIC_JUDGE_H
#define RD_ANALYSE_FABRIC_JUDGE_H

#include "base/err.h"
#include "model/fabric/fabric.h"
#include "model/shared/finding.h"

/* Thresholds of a counter; negative: none. */
struct rd_fabric_limit {
	double total, warning, critical; /* warning and critical: an hour */
};

struct rd_fabric_limits {
	struct rd_fabric_limit *v; /* rd_pma_n_counters of them, and XmitWaitPercent behind the last */
};

/* None. */
void rd_fabric_limits_init(struct rd_fabric_limits *limits);
void rd_fabric_limits_deinit(struct rd_fabric_limits *limits);

/* Takes in a table as data/fabric-thresholds describes it, on top of what is there. -EBADMSG with the line that is no good,
 * -EFBIG above a megabyte. */
int rd_fabric_limits_parse(const char *name, const char *text, size_t size, struct rd_fabric_limits *limits,
			   struct rd_err *err);

/* Says what is wrong. */
void rd_fabric_judge(const struct rd_fabric *fabric, const struct rd_fabric_limits *limits,
		     struct rd_findings *findings);

#endif
