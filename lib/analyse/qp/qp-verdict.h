/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on each queue pair, and the evidence for it. */
#ifndef RD_ANALYSE_QP_VERDICT_H
#define RD_ANALYSE_QP_VERDICT_H

#include "model/host/klog.h"
#include "model/host/netstate.h"
#include "model/rdma/qp-evidence.h"
#include "model/rdma/qp-ports.h"
#include "model/rdma/qp-view.h"
#include "model/shared/finding.h"

#define RD_QP_STUCK_SECONDS 10.0

struct rd_qp_judge {
	double stuck_seconds; /* in INIT or RTR for longer: stuck */
	/* What each device (rd_res.n_devs) counted since the previous sample; NULL: this is the first sample. */
	const struct rd_qp_counts *since;
	double seconds;			 /* between the two samples */
	const struct rd_klog *klog;	 /* NULL: not read */
	uint64_t mono_ns;		 /* now */
	const struct rd_qp_ports *ports; /* NULL: not read */
	const struct rd_netstate *net;	 /* its neighbours; NULL: not read */
};

/*
 * Fills the verdict of each view from its state and its past: kind (enum rd_qp_verdict_kind), reason, next step. Counters are
 * evidence of a whole device: the reason then contains "device-wide".
 */
void rd_qp_judge(struct rd_qp_views *views, const struct rd_qp_judge *judge);

/* Whether the GID tables were read far enough: the source GID of each queue pair was found, or its table is complete. */
bool rd_qp_ports_suffice(const struct rd_qp_views *views, const struct rd_qp_ports *ports);

/* One finding per device and verdict with a severity of warning or worse, of the queue pairs selected by `chosen` (NULL: all). */
void rd_qp_verdict_findings(const struct rd_qp_views *views, const bool *chosen, struct rd_findings *findings);

/* Severity of a verdict; unknown where there is no verdict, or it cannot be determined. */
enum rd_severity rd_qp_verdict_severity(enum rd_qp_verdict_kind kind);

#endif
