/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which NICs NCCL assigns to each accelerator under the given variables. Pure. */
#ifndef RD_ANALYSE_ENV_ASSIGN_H
#define RD_ANALYSE_ENV_ASSIGN_H

#include "analyse/env/envcheck.h"
#include "analyse/nccl/nccl.h"

/* Returns whether the variables change how NCCL selects NICs; if so, `ret` is filled. `allowed`: room for one flag per port, which
 * `ret` then points to. `effects` must be sorted. */
bool rd_env_nccl_settings(const struct rd_host *host, const struct rd_effects *effects, bool *allowed,
			  struct rd_nccl_settings *ret);

/* Levels of NCCL_NET_GDR_LEVEL and NCCL_NET_MERGE_LEVEL, numbered in NCCL's order; -1: invalid. */
enum rd_nccl_level {
	RD_LEVEL_LOC = 0,
	RD_LEVEL_PIX = 4,
	RD_LEVEL_PXB,
	RD_LEVEL_P2C,
	RD_LEVEL_PXN,
	RD_LEVEL_PHB,
	RD_LEVEL_SYS,
};
const char *rd_nccl_level_name(int level);
int rd_nccl_level_parse(const char *text);
/* For merging, NCCL compares only the start of the value. NULL: unknown, NCCL uses LOC. "PORT" is a level of its own. */
const char *rd_nccl_merge_level_parse(const char *text);

/* Fills a map with these settings in place of NCCL's defaults: only the NICs, paths and choices of NCCL. */
void rd_env_assign(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_settings *settings,
		   struct rd_nicmap *ret);

#endif
