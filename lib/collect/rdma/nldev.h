/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA netlink (NETLINK_RDMA, client nldev): devices, ports, and the resources that the kernel tracks. Formats:
 * rdma/rdma_netlink.h and the kernel's drivers/infiniband/core/nldev.c. Needs no privilege, except for memory keys, which are
 * not read.
 */
#ifndef RD_COLLECT_NLDEV_H
#define RD_COLLECT_NLDEV_H

#include "model/rdma/qp.h"
#include "source/shared/source.h"

enum rd_res_want {
	RD_WANT_QPS = 1u << RD_RES_QP,
	RD_WANT_CM_IDS = 1u << RD_RES_CM_ID,
	RD_WANT_CQS = 1u << RD_RES_CQ,
	RD_WANT_MRS = 1u << RD_RES_MR,
	RD_WANT_PDS = 1u << RD_RES_PD,
	RD_WANT_CTXS = 1u << RD_RES_CTX,
	RD_WANT_SRQS = 1u << RD_RES_SRQ,
	RD_WANT_PORTS = 1u << 16,
	RD_WANT_PROCS = 1u << 17,    /* names, cgroups and jobs of the processes that own listed objects */
	RD_WANT_LIMITS = 1u << 18,   /* limits of each device: one child process per device */
	RD_WANT_RECORDED = 1u << 19, /* what recorders of other processes keep: collect/rdma/qp-event.h */
	RD_WANT_ALL = ((1u << RD_RES_KINDS) - 1) | RD_WANT_PORTS | RD_WANT_PROCS | RD_WANT_LIMITS | RD_WANT_RECORDED,
};

/*
 * Reads devices with their resource counts, always; and the lists in `want`, of `device` or of all devices (NULL). A QP that
 * the device fails to query ends the kernel's dump: the rest is then queried by number. Such QPs, and those of the rest without a
 * port, have a query_errno and no state. Other gaps are recorded in rd_res_dev.gaps and `errors`.
 * -errno without RDMA netlink, -ENODEV without such a device.
 */
int rd_collect_res(struct rd_source *src, unsigned want, const char *device, struct rd_res *ret,
		   struct rd_errlist *errors, struct rd_err *err);

/* Decodes one reply to a dump (or to a query by number) of `kind` into `res`, for device `dev`. Called by rd_collect_res and a
 * fuzz target. Skips damaged entries and sets `damaged` in the gaps of the device. */
void rd_nldev_take(const struct rd_bytes *reply, enum rd_res_kind kind, int dev, struct rd_res *res);
/* The same of a long reply, whose memory is released as its entries are taken: it is as large as they are. */
void rd_nldev_consume(struct rd_bytes *reply, enum rd_res_kind kind, int dev, struct rd_res *res);

#endif
