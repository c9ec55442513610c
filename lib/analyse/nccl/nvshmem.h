/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_NVSHMEM_H
#define RD_ANALYSE_NVSHMEM_H

#include "model/nicmap/nicmap.h"

/*
 * Predicts the ports that NVSHMEM assigns to each PE (process) of this host, by its two passes (src/host/topo/topo.cpp, 3.x):
 * first the nearest pairs, where PIX and PXB are equal; then a PE whose NIC has at least two more users than an equally good
 * one moves to that one. `pes`: PEs on this host; PE i uses accelerator i (modulo their number); 0: one per accelerator. With
 * fewer PEs than NICs, each gets several. `allowed` as in struct rd_nccl_settings.
 */
void rd_nvshmem_choose(const struct rd_host *host, const struct rd_nicmap *map, unsigned pes, const bool *allowed,
		       struct rd_choices *ret);

#endif
