/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Mooncake, NIXL over UCX, and libfabric take on a host, by their own rules; tests/rules/STACKS.md names the function
 * that each rule was read from. Pure. */
#ifndef RD_ANALYSE_STACKS_H
#define RD_ANALYSE_STACKS_H

#include "model/nicmap/nicmap.h"

/* Fills map->stacks; roles and GIDs have been found before. */
void rd_stacks_fill(const struct rd_host *host, struct rd_nicmap *map);

/* Adds their variables to map->env, which has those of NCCL, NVSHMEM and UCX: none twice. Of "nixl" there are none besides
 * UCX's. */
void rd_stack_env_fill(struct rd_nicmap *map);

/* What selects NICs and is no variable, or holds for a process only: lines for a person, below the variables of `library`. */
struct rd_buf;
void rd_stack_env_notes(const struct rd_nicmap *map, const char *library, struct rd_buf *ret);

/* Of a host that has EFA only: what makes libfabric fail rather than fall back to TCP. */
void rd_stack_env_efa(const struct rd_host *host, struct rd_env *ret);

#endif
