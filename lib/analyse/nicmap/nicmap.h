/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_NICMAP_H
#define RD_ANALYSE_NICMAP_H

#include "model/host/system.h"
#include "model/nicmap/nicmap.h"

/* Draws all conclusions: GIDs, distances, roles, assignments and backups. `system` may be NULL, as in
 * rd_nccl_fill; `pes` as in rd_nvshmem_choose. `ret` is zeroed by the caller. */
void rd_nicmap_analyse(const struct rd_host *host, const struct rd_system *system, unsigned pes, struct rd_nicmap *ret);

#endif
