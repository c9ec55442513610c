/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_QP_PORTS_H
#define RD_COLLECT_QP_PORTS_H

#include "model/rdma/qp.h"
#include "source/shared/source.h"

/*
 * Interfaces and GIDs of the ports in `res->ports`, from sysfs. Without `all_gids`, a GID table is read up to 16 empty entries in a
 * row. What cannot be read stays unknown, without an error. `ret` is zeroed by the caller, and must be deinitialised.
 */
void rd_collect_qp_ports(struct rd_source *src, const struct rd_res *res, bool all_gids, struct rd_qp_ports *ret);

/* Fills rd_qp_port.rate_gbps. */
void rd_collect_qp_rates(struct rd_source *src, const struct rd_res *res, struct rd_qp_ports *ports);

/* Bytes that the ports of a device sent and received so far: as it counts them, else their interfaces, which carry other traffic, too.
 * Below 0: unknown of one. */
double rd_collect_dev_bytes(struct rd_source *src, const struct rd_res *res, int dev);

/* From /sys/class/infiniband/DEV/ports/N/hw_counters and counters. Missing counters stay absent, without an error. */
void rd_collect_qp_counts(struct rd_source *src, const char *ibdev, unsigned n_ports,
			  const struct rd_qp_counters *counters, struct rd_qp_counts *ret);

#endif
