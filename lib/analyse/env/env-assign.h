/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What NCCL gives each accelerator with the variables that are set. Pure. */
#ifndef RD_ANALYSE_ENV_ASSIGN_H
#define RD_ANALYSE_ENV_ASSIGN_H

#include "analyse/env/envcheck.h"
#include "analyse/nccl/nccl.h"

/* Whether the variables change anything of NCCL's rules for NICs; then `ret` is how. `allowed`: room for a flag a port, which
 * `ret` points to. `effects` are in order. */
bool rd_env_nccl_settings(const struct rd_host *host, const struct rd_effects *effects, bool *allowed,
			  struct rd_nccl_settings *ret);

/* The same as numbers of levels in NCCL's order, of NCCL_NET_GDR_LEVEL and NCCL_NET_MERGE_LEVEL; -1: not understood. */
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
/* Of merging a beginning is enough, and what is unknown is NULL: NCCL takes LOC. "PORT" is a level of its own. */
const char *rd_nccl_merge_level_parse(const char *text);

/* Another map, with these settings in place of NCCL's own: NICs, paths and choices of NCCL alone. */
void rd_env_assign(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_settings *settings,
		   struct rd_nicmap *ret);

#endif
