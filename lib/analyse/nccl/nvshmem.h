/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_NVSHMEM_H
#define RD_ANALYSE_NVSHMEM_H

#include "model/nicmap/nicmap.h"

/*
 * Which ports NVSHMEM gives each process (PE) of this host, by its two passes (src/host/topo/topo.cpp, 3.x): the nearest
 * pairs first, where PIX and PXB are equal; then whoever shares its NIC with two more users than another as good moves
 * there. `pes`: processes on this host, of which number i uses accelerator i (modulo their number); 0: one for each
 * accelerator. With fewer processes than NICs each gets as many as there are for it. `allowed` as in struct rd_nccl_settings.
 */
void rd_nvshmem_choose(const struct rd_host *host, const struct rd_nicmap *map, unsigned pes, const bool *allowed,
		       struct rd_choices *ret);

#endif
