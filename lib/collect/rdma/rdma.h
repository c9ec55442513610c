/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RDMA devices and the resources that the kernel tracks, the processes that own them, and what recorders say of them. */
#ifndef RD_COLLECT_RDMA_H
#define RD_COLLECT_RDMA_H

#include "collect/shared/cgroup.h"
#include "model/rdma/job.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

/*
 * RDMA netlink (NETLINK_RDMA, client nldev): devices, ports, and the resources that the kernel tracks. Formats:
 * rdma/rdma_netlink.h and the kernel's drivers/infiniband/core/nldev.c. Needs no privilege, except for memory keys, which are
 * not read.
 */

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
	RD_WANT_RECORDED = 1u << 19, /* what recorders of other processes keep: rd_collect_qp_recorded */
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

/* Processes that own RDMA resources. What this user may not read of them stays unknown. */

/* Reads comm, cgroup and job of the processes that own listed objects, once each. */
void rd_collect_res_procs(struct rd_source *src, struct rd_res *res);

/* Fills rd_proc.devx_libs: libraries that create queue pairs which the kernel does not list. */
void rd_collect_proc_libs(struct rd_source *src, struct rd_proc *proc);

/* Fills rd_proc.peers: addresses that the process has TCP connections to. */
void rd_collect_proc_peers(struct rd_source *src, struct rd_proc *proc);

/* Fills rd_proc.start_ns of processes with queue pairs in SQE or ERR. Whether there are such queue pairs. */
bool rd_collect_failed_starts(struct rd_source *src, struct rd_res *res);

/* Fills rd_proc.state, .tracer and .frozen: whether the process runs, or is stopped. */
void rd_collect_proc_state(struct rd_source *src, struct rd_proc *proc);

/* Decode the files (RD_SOURCE_TCP, /proc/PID/status), as foreign input. */
void rd_proc_peers_take(const char *text, struct rd_proc_peers *ret);
void rd_proc_state_take(const char *text, struct rd_proc *proc);

/* The uverbs devices of the kernel. */
void rd_collect_job_kernel(struct rd_source *src, const struct rd_res *res, struct rd_job_kernel *ret);

/* One process, or with pid 0 what one would find that `self` starts (0: that any process of the host starts). -ESRCH: no such process. */
int rd_collect_job(struct rd_source *src, uint32_t pid, uint32_t self, struct rd_job_proc *ret);

/*
 * What a job of a user would find on the host. `user`: a name, a number, or UID:GID[,GID...], which works in recordings, too: users are not in
 * them. `system`: what starts jobs, with its limits. -ENOENT with err filled: no such user.
 */
int rd_collect_job_user(struct rd_source *src, const char *user, const struct rd_system *system,
			struct rd_job_proc *ret, struct rd_err *err);

/* Decodes the file (RD_SOURCE_JOB), as foreign input: lines of a key and its values. */
void rd_job_take(const char *text, struct rd_job_proc *proc);

/* What recorders of queue pairs (bpf/qp.h) say: their records, as events; and the map of one that runs, usually in another process. */

/*
 * Decodes one record; does not trust its contents. `cgroups` (may be NULL) resolves the cgroup of the process. The caller deinits *ret.
 * -EBADMSG with err filled; -ENOMEM.
 */
int rd_qp_event_decode(struct rd_source *src, struct rd_cgroups *cgroups, const void *data, size_t size,
		       struct rd_qp_event *ret, struct rd_err *err);

/* Appends an event to a file (RD_SOURCE_QP_EVENTS): its record, `raw`, and what analysis added. */
void rd_qp_event_pack(const struct rd_qp_event *event, const void *raw, struct rd_buf *out);

/* As rd_qp_event_decode, for the event at `*at`, and goes behind it. 1: decoded; 0: `*at` is the end; -EBADMSG. */
int rd_qp_event_next(struct rd_source *src, const uint8_t **at, const uint8_t *end, struct rd_qp_event *ret,
		     struct rd_err *err);

/*
 * Adds what the recorders of this host know of queue pairs of the devices in `res`. That none runs, or that this user must not read
 * their maps, is not an error; a map that cannot be used, or is incomplete, is one in `errors` (may be NULL).
 */
void rd_collect_qp_recorded(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* Decodes the bytes of the file; does not trust them. Called by the function above and a fuzz target. */
void rd_qp_recorded_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors);

/*
 * Takes what the drivers of the devices in `res` filled in when the kernel queried its queue pairs for the list, into rd_qp.context:
 * from RD_SOURCE_QUERIES, which there is while rd_source_live_set_queries is in effect, and in bundles. No such file is not an
 * error. Sets rd_res.probe if there is one, and rd_res_dev.fills.
 */
void rd_collect_qp_queries(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* Decodes the bytes of the file; does not trust them. Called by the function above and a fuzz target. */
void rd_qp_queries_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors);

/* What queue pairs run over, and what their device counted. */

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
