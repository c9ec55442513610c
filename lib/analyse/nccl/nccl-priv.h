/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that implement NCCL's rules. */
#ifndef RD_ANALYSE_NCCL_PRIV_H
#define RD_ANALYSE_NCCL_PRIV_H

#include "analyse/nccl/nccl.h"

/* GB/s: NCCL's value for a path without a bottleneck (src/graph/topo.h). */
#define RD_NCCL_LOC_BW 5000.0f

/* How NICs can access the memory of an accelerator. */
struct rd_offer {
	RD_FIELD(bool) offered;
	const char *why; /* by which mechanism, or why not, or why unknown; static */
};

/* A path between an accelerator and a NIC. */
struct rd_nccl_path {
	enum rd_path type;
	float bw; /* GB/s */
	int via;  /* PXN: the other accelerator; else -1 */
};

/* Paths differ by direction: only data that an accelerator sends may pass through another one. [gpu * nets->n + net]; owned. */
struct rd_nccl_paths {
	struct rd_nccl_path *to_net, *to_gpu;
	struct rd_offer *offers; /* one per accelerator */
};
void rd_nccl_paths_find(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_nets *nets,
			const struct rd_nccl_settings *settings, struct rd_nccl_paths *ret);
void rd_nccl_paths_deinit(struct rd_nccl_paths *paths);

/* GB/s between two NUMA nodes. */
float rd_nccl_between_cpus(const struct rd_host *host);

/* Whether the distance allows GPUDirect RDMA between the NIC and the accelerator, if the driver supports it. */
bool rd_nccl_near_enough(const struct rd_nccl_settings *settings, const struct rd_nccl_paths *paths, size_t n_nets,
			 size_t gpu, size_t net);

/* The local NICs of an accelerator, and the local accelerators of a NIC: those with the most bandwidth, and among these the
 * nearest. Returns their number; `ret` receives the indices and must have room for all. */
size_t rd_nccl_local_nets(const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu, size_t *ret);
size_t rd_nccl_local_gpus(const struct rd_nccl_paths *paths, size_t n_nets, size_t n_gpus, size_t net, size_t *ret);
/* The local NIC that an accelerator uses for this channel; `locals`: scratch for all accelerators and NICs. SIZE_MAX: none. */
size_t rd_nccl_net_of(const struct rd_host *host, const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu,
		      size_t channel, size_t *locals);

#endif
