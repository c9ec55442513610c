/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is the matter with each queue pair, and why one can say so. */
#ifndef RD_ANALYSE_QP_VERDICT_H
#define RD_ANALYSE_QP_VERDICT_H

#include "model/host/klog.h"
#include "model/rdma/qp-evidence.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

#define RD_QP_STUCK_SECONDS 10.0

struct rd_qp_judge {
	double stuck_seconds; /* in INIT or RTR for longer: stuck */
	/* What each device (rd_res.n_devs) counted since the look before; NULL: this is the first look. */
	const struct rd_qp_counts *since;
	double seconds;		    /* between the two looks */
	const struct rd_klog *klog; /* NULL: not read */
	uint64_t mono_ns;	    /* now */
};

/*
 * Fills the verdict of each view from what was collected and its past: what is the matter (enum rd_qp_verdict_kind), why one can
 * say so, what to do next. Evidence of counters is of a whole device: the reason says so.
 */
void rd_qp_judge(struct rd_qp_views *views, const struct rd_qp_judge *judge);

/* One finding for each device and verdict that is worth one, among those for which `chosen` (NULL: all) is true. */
void rd_qp_verdict_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* What a verdict is worth; unknown where it is none, or could not be told. */
enum rd_severity rd_qp_verdict_severity(enum rd_qp_verdict_kind kind);

#endif
