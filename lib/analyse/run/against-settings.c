/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's rules in the run: with its variables, and without what its release did not yet have. */
#include <stdlib.h>
#include <string.h>

#include "analyse/nccl/nccl.h"
#include "analyse/run/against-priv.h"
#include "analyse/shared/distance.h"
#include "base/memory.h"
#include "base/number.h"

/* Ports allowed by the run's NCCL_IB_HCA; all ports if it was not set, or processes had different values. */
static void fill_allowed(struct rd_against_state *st)
{
	const char *value = rd_run_var(st->run, "NCCL_IB_HCA");
	struct rd_hca_list list;

	st->allowed = rd_alloc(st->host->n_ports + 1, sizeof(*st->allowed));
	if (rd_run_var_varies(st->run, "NCCL_IB_HCA"))
		value = NULL;
	rd_hca_list_parse(value ? value : "", &list);
	for (size_t p = 0; p < st->host->n_ports; p++)
		st->allowed[p] = !value || rd_hca_list_allows(&list, rd_ibdev_label(st->host, st->host->ports[p].ibdev),
							      st->host->ports[p].num);
	rd_hca_list_deinit(&list);
}

static void set_flag(const struct rd_run_host *run, const char *name, bool on_means, bool *ret)
{
	const char *value = rd_run_var(run, name);

	if (value && !rd_run_var_varies(run, name))
		*ret = (rd_as_atoi(value) != 0) == on_means;
}

/* "PIX", or the number that older releases used. Levels nearer than PIX give RD_PATH_UNKNOWN. False: invalid level. */
static bool level_of(const char *value, enum rd_path *ret)
{
	static const enum rd_path numbered[] = { RD_PATH_UNKNOWN, RD_PATH_PIX, RD_PATH_PXB,
						 RD_PATH_PHB,	  RD_PATH_SYS, RD_PATH_SYS };
	static const char *const nearer[] = { "LOC", "NVL", "NVB", "C2C", "PORT" };

	if (*value >= '0' && *value <= '9') {
		size_t last = RD_ARRAY_SIZE(numbered) - 1;
		uint64_t number;

		*ret = numbered[rd_take_uint(&value, RD_DECIMAL, last, &number) < 0 ? last : number];
		return true;
	}
	for (enum rd_path path = RD_PATH_PIX; path <= RD_PATH_SYS; path++)
		if (path != RD_PATH_NODE && strcmp(value, rd_path_name(path)) == 0) {
			*ret = path;
			return true;
		}
	*ret = RD_PATH_UNKNOWN;
	for (size_t i = 0; i < RD_ARRAY_SIZE(nearer); i++)
		if (strcmp(value, nearer[i]) == 0)
			return true;
	return false;
}

static void apply_release(const struct rd_runlog *log, struct rd_nccl_settings *settings)
{
	static const struct {
		enum rd_nccl_change change;
		size_t flag;
	} flags[] = {
		{ RD_NCCL_PXN, offsetof(struct rd_nccl_settings, pxn) },
		{ RD_NCCL_MERGE_VFS, offsetof(struct rd_nccl_settings, merge_vfs) },
		{ RD_NCCL_MERGE_NICS, offsetof(struct rd_nccl_settings, merge) },
	};
	char *why = NULL;

	for (size_t i = 0; i < RD_ARRAY_SIZE(flags); i++)
		if (rd_nccl_lacks(log, flags[i].change, &why)) {
			*(bool *)((char *)settings + flags[i].flag) = false;
			free(why);
		}
	if (rd_nccl_lacks(log, RD_NCCL_C2C, &why)) {
		settings->gdr_level = RD_PATH_PXB;
		free(why);
	}
}

static void apply_variables(const struct rd_run_host *run, struct rd_nccl_settings *settings)
{
	const char *level = rd_run_var(run, "NCCL_NET_GDR_LEVEL"), *merge = rd_run_var(run, "NCCL_NET_MERGE_LEVEL");
	enum rd_path path;

	set_flag(run, "NCCL_IB_MERGE_VFS", true, &settings->merge_vfs);
	set_flag(run, "NCCL_IB_MERGE_NICS", true, &settings->merge);
	set_flag(run, "NCCL_PXN_DISABLE", false, &settings->pxn);
	set_flag(run, "NCCL_PXN_C2C", true, &settings->pxn_c2c);
	if (level && level_of(level, &path))
		settings->gdr_level = path;
	if (merge && level_of(merge, &path)) {
		settings->merge_level = path;
		settings->merge &= strcmp(merge, "LOC") != 0;
	}
}

void rd_against_recompute(struct rd_against_state *st, const struct rd_system *system)
{
	struct rd_nccl_settings settings = rd_nccl_defaults();

	fill_allowed(st);
	settings.allowed = st->allowed;
	apply_release(st->log, &settings);
	apply_variables(st->run, &settings);
	rd_distance_fill(st->host, &st->own);
	rd_nccl_fill(st->host, system, &settings, &st->own);
}
