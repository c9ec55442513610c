/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predicts the NICs and GIDs that Mooncake, NIXL over UCX, and libfabric use on a host; tests/rules/STACKS.md lists the function
 * that each rule was read from. Pure. */
#ifndef RD_ANALYSE_STACKS_H
#define RD_ANALYSE_STACKS_H

#include "model/nicmap/nicmap.h"

/* Fills map->stacks; roles and GIDs must have been determined before. */
void rd_stacks_fill(const struct rd_host *host, struct rd_nicmap *map);

/* Adds the variables of these stacks to map->env, which already has those of NCCL, NVSHMEM and UCX, without duplicates. "nixl" has
 * no variables besides UCX's. */
void rd_stack_env_fill(struct rd_nicmap *map);

/* Notes below the variables of `library`, for people: settings that are not variables, or that apply to one process only. */
struct rd_buf;
void rd_stack_env_notes(const struct rd_nicmap *map, const char *library, struct rd_buf *ret);

/* For a host that has only EFA: the variable that makes libfabric fail instead of falling back to TCP. */
void rd_stack_env_efa(const struct rd_host *host, struct rd_env *ret);

#endif
