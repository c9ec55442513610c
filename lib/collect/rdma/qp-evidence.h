/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_QP_EVIDENCE_H
#define RD_COLLECT_QP_EVIDENCE_H

#include "model/rdma/qp-evidence.h"
#include "source/shared/source.h"

/* From /sys/class/infiniband/DEV/ports/N/hw_counters and counters. Missing counters stay absent, without an error. */
void rd_collect_qp_counts(struct rd_source *src, const char *ibdev, unsigned n_ports,
			  const struct rd_qp_counters *counters, struct rd_qp_counts *ret);

#endif
