/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nicmap/nicmap.h"

const char *rd_path_name(enum rd_path path)
{
	static const char *const names[] = {
		[RD_PATH_PIX] = "PIX", [RD_PATH_PXB] = "PXB",	[RD_PATH_P2C] = "P2C", [RD_PATH_PXN] = "PXN",
		[RD_PATH_PHB] = "PHB", [RD_PATH_NODE] = "NODE", [RD_PATH_SYS] = "SYS",
	};

	return (size_t)path < RD_ARRAY_SIZE(names) ? names[path] : NULL;
}

static void nccl_nets_deinit(struct rd_nccl_nets *nets)
{
	for (size_t i = 0; i < nets->n; i++)
		RD_FREE(nets->v[i].ports, nets->v[i].name);
	RD_FREE(nets->v, nets->lost);
	*nets = (struct rd_nccl_nets){ 0 };
}

const char *rd_judged_name(enum rd_judged judged)
{
	static const char *const names[] = {
		[RD_JUDGED_NO] = "no",
		[RD_JUDGED_YES] = "yes",
		[RD_JUDGED_UNKNOWN] = "unknown",
	};

	return (size_t)judged < RD_ARRAY_SIZE(names) ? names[judged] : NULL;
}

static void choices_deinit(struct rd_choices *choices)
{
	for (size_t i = 0; i < choices->n; i++)
		RD_FREE(choices->v[i].ports, choices->v[i].why, choices->v[i].backup_why);
	RD_FREE(choices->v, choices->note);
	*choices = (struct rd_choices){ 0 };
}

void rd_env_deinit(struct rd_env *env)
{
	for (size_t i = 0; i < env->n; i++)
		free(env->v[i].value);
	free(env->v);
	*env = (struct rd_env){ 0 };
}

void rd_effects_deinit(struct rd_effects *effects)
{
	for (size_t i = 0; i < effects->n; i++)
		RD_FREE(effects->v[i].selects, effects->v[i].effect);
	for (size_t i = 0; i < effects->n_texts; i++)
		free(effects->texts[i]);
	RD_FREE(effects->texts, effects->v);
	*effects = (struct rd_effects){ 0 };
}

void rd_nicmap_deinit(struct rd_nicmap *map)
{
	rd_port_views_deinit(&map->ports);
	free(map->pairs);
	nccl_nets_deinit(&map->nccl_nets);
	choices_deinit(&map->nccl);
	choices_deinit(&map->nvshmem);
	rd_stacks_deinit(&map->stacks);
	rd_env_deinit(&map->env);
	rd_findings_deinit(&map->findings);
	rd_findings_deinit(&map->backup_findings);
	*map = (struct rd_nicmap){ 0 };
}
