/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA netlink (NETLINK_RDMA, client nldev): devices, ports, and the resources that the kernel keeps account of. The formats
 * are those of rdma/rdma_netlink.h and of the kernel's drivers/infiniband/core/nldev.c. Nothing of it needs privileges, but
 * memory keys, which are not read.
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
	RD_WANT_PROCS = 1u << 17,  /* names, control groups and jobs of the processes that own what is listed */
	RD_WANT_LIMITS = 1u << 18, /* how many of each a device allows: a child process a device */
	RD_WANT_ALL = ((1u << RD_RES_KINDS) - 1) | RD_WANT_PORTS | RD_WANT_PROCS | RD_WANT_LIMITS,
};

/*
 * Devices with the counts of what they hold, always; and what `want` names, of `device` only or of all (NULL). A QP that its
 * device cannot be asked about ends the kernel's dump: the rest is then asked for by number. Such QPs, and those of the rest
 * that are at no port yet, have a query_errno and no state. What else is missing is said in rd_res_dev.gaps and `errors`.
 * -errno if there is no RDMA netlink at all, -ENODEV if there is no such device, -ENOMEM.
 */
int rd_collect_res(struct rd_source *src, unsigned want, const char *device, struct rd_res *ret,
		   struct rd_errlist *errors, struct rd_err *err);

/* Takes one answer to a dump (or to a request by number) of `kind` into `res`, for device `dev`. For rd_collect_res; a
 * fuzz target calls it, too. Returns 0 or -ENOMEM; what is damaged is left out and said in the device's gaps. */
int rd_nldev_take(const struct rd_bytes *answer, enum rd_res_kind kind, int dev, struct rd_res *res);

/* The processes of what has been listed: comm, cgroup and job, one look each. 0 or -ENOMEM. */
int rd_collect_res_procs(struct rd_source *src, struct rd_res *res);

#endif
