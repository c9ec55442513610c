/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that follow NCCL's rules. */
#ifndef RD_ANALYSE_NCCL_PRIV_H
#define RD_ANALYSE_NCCL_PRIV_H

#include "analyse/nccl/nccl.h"
#include "analyse/shared/gpudirect.h"

/* GB/s, as NCCL has it for what is no bottleneck (src/graph/topo.h). */
#define RD_NCCL_LOC_BW 5000.0f

/* Which NICs NCCL makes of the ports: it passes over those that are down, excluded or of neither InfiniBand nor Ethernet. */
void rd_nccl_nets_find(const struct rd_host *host, const struct rd_nccl_settings *settings, struct rd_nccl_nets *ret);

/* A way between an accelerator and a NIC. */
struct rd_nccl_path {
	enum rd_path type;
	float bw; /* GB/s */
	int via;  /* of PXN: the other accelerator; else -1 */
};

/* They differ by direction: only what an accelerator sends may go over another one. [gpu * nets->n + net]; owned. */
struct rd_nccl_paths {
	struct rd_nccl_path *to_net, *to_gpu;
	struct rd_offer *offers; /* one an accelerator */
};
void rd_nccl_paths_find(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_nets *nets,
			const struct rd_nccl_settings *settings, struct rd_nccl_paths *ret);
void rd_nccl_paths_deinit(struct rd_nccl_paths *paths);

/* GB/s between two NUMA nodes. */
float rd_nccl_between_cpus(const struct rd_host *host);

/* Whether NCCL lets the NIC reach the accelerator's memory, which is offered: by distance. */
bool rd_nccl_near_enough(const struct rd_nccl_settings *settings, const struct rd_nccl_paths *paths, size_t n_nets,
			 size_t gpu, size_t net);

/* The nearest NICs of an accelerator, and the other way round: those with the widest path, and of these the nearest.
 * Returns how many, their indices in `ret`, which has room for all. */
size_t rd_nccl_local_nets(const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu, size_t *ret);
size_t rd_nccl_local_gpus(const struct rd_nccl_paths *paths, size_t n_nets, size_t n_gpus, size_t net, size_t *ret);
/* Which of the NICs nearest to it an accelerator takes for its channel; `locals`: scratch for all accelerators and NICs.
 * SIZE_MAX: it has none. */
size_t rd_nccl_net_of(const struct rd_host *host, const struct rd_nccl_paths *paths, size_t n_nets, size_t gpu,
		      size_t channel, size_t *locals);

#endif
