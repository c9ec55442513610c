/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/env/env-assign.h"

#include <string.h>

#include "analyse/env/envcheck-priv.h"
#include "analyse/shared/distance.h"
#include "base/number.h"

/* In NCCL's order, nearest first (src/graph/topo.cc, topoPathTypeStr). */
static const char *const levels[] = { "LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS" };

const char *rd_nccl_level_name(int level)
{
	return levels[level];
}

/* An exact name, or a number as in older releases (src/graph/paths.cc, ncclGetLevel). */
int rd_nccl_level_parse(const char *text)
{
	static const int old[] = { RD_LEVEL_LOC, RD_LEVEL_PIX, RD_LEVEL_PXB, RD_LEVEL_PHB, RD_LEVEL_SYS, RD_LEVEL_SYS };

	for (size_t i = 0; i < RD_ARRAY_SIZE(levels); i++)
		if (strcmp(text, levels[i]) == 0)
			return (int)i;
	if (*text >= '0' && *text <= '9') {
		uint64_t number;

		return old[rd_take_uint(&text, RD_AS_C, 5, &number) < 0 ? 5 : number];
	}
	return -1;
}

const char *rd_nccl_merge_level_parse(const char *text)
{
	static const char *const known[] = { "LOC", "PORT", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(known); i++)
		if (strncmp(text, known[i], strlen(known[i])) == 0)
			return known[i];
	return NULL;
}

/* No NIC is nearer than PIX. */
static enum rd_path path_of(int level)
{
	static const enum rd_path paths[] = {
		[RD_LEVEL_PIX] = RD_PATH_PIX, [RD_LEVEL_PXB] = RD_PATH_PXB, [RD_LEVEL_P2C] = RD_PATH_P2C,
		[RD_LEVEL_PXN] = RD_PATH_PXN, [RD_LEVEL_PHB] = RD_PATH_PHB, [RD_LEVEL_SYS] = RD_PATH_SYS,
	};

	return (size_t)level < RD_ARRAY_SIZE(paths) ? paths[level] : RD_PATH_UNKNOWN;
}

/* Reads an on/off variable as NCCL does: a value that is not a number leaves the default. */
static bool is_on(const struct rd_effects *effects, const char *name, bool standard, bool *any)
{
	const char *text = rd_effects_get(effects, name);
	long value = standard;

	if (text)
		rd_envcheck_read(RD_ENV_NCCL, text, standard, &value);
	*any |= text && (value != 0) != standard;
	return value != 0;
}

static void take_gdr(const struct rd_effects *effects, struct rd_nccl_settings *ret, bool *any)
{
	const char *text = rd_effects_get(effects, "NCCL_NET_GDR_LEVEL");
	int level = text ? rd_nccl_level_parse(text) : -1;

	if (!is_on(effects, "NCCL_NET_GDR_C2C", true, any))
		ret->gdr_level = RD_PATH_PXB;
	if (level < 0)
		return;
	*any |= path_of(level) != ret->gdr_level;
	ret->gdr_level = path_of(level);
}

static void take_merging(const struct rd_effects *effects, struct rd_nccl_settings *ret, bool *any)
{
	const char *text = rd_effects_get(effects, "NCCL_NET_MERGE_LEVEL");
	const char *level = text ? rd_nccl_merge_level_parse(text) : "PORT";

	ret->merge_vfs = is_on(effects, "NCCL_IB_MERGE_VFS", true, any);
	ret->merge = is_on(effects, "NCCL_IB_MERGE_NICS", true, any);
	if (!level || strcmp(level, "LOC") == 0)
		ret->merge = false;
	else if (strcmp(level, "PORT") != 0)
		ret->merge_level = path_of(rd_nccl_level_parse(level));
	*any |= !level || strcmp(level, "PORT") != 0;
}

static void take_devices(const struct rd_host *host, const struct rd_effects *effects, bool *allowed,
			 struct rd_nccl_settings *ret, bool *any)
{
	const char *text = rd_effects_get(effects, "NCCL_IB_HCA");
	struct rd_hca_list list;

	if (!text)
		return;
	rd_hca_list_parse(text, &list);
	for (size_t p = 0; p < host->n_ports; p++)
		allowed[p] = rd_hca_list_allows(&list, rd_ibdev_label(host, host->ports[p].ibdev), host->ports[p].num);
	rd_hca_list_deinit(&list);
	ret->allowed = allowed;
	*any = true;
}

bool rd_env_nccl_settings(const struct rd_host *host, const struct rd_effects *effects, bool *allowed,
			  struct rd_nccl_settings *ret)
{
	bool any = false;

	*ret = rd_nccl_defaults();
	/* Without RDMA there is no NIC to choose; that is reported elsewhere. */
	if (rd_envcheck_nccl_unused_by(effects, "NCCL_IB_HCA"))
		return false;
	take_devices(host, effects, allowed, ret, &any);
	take_merging(effects, ret, &any);
	take_gdr(effects, ret, &any);
	ret->pxn = !is_on(effects, "NCCL_PXN_DISABLE", false, &any);
	ret->pxn_c2c = is_on(effects, "NCCL_PXN_C2C", true, &any);
	return any;
}

void rd_env_assign(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_settings *settings,
		   struct rd_nicmap *ret)
{
	rd_distance_fill(host, ret);
	rd_nccl_fill(host, system, settings, ret);
}
