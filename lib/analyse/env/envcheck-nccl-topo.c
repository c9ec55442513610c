/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NCCL's distance levels, merged NICs and topology files (src/graph/paths.cc, topo.cc, xml.h). */
#include <string.h>
#include <strings.h>

#include "analyse/env/env-assign.h"
#include "analyse/env/envcheck-priv.h"
#include "analyse/nccl/nccl.h"
#include "analyse/shared/distance.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define MERGED_MAX 8 /* NCCL_NET_MAX_DEVS_PER_NIC */

static int level_of(enum rd_path path)
{
	switch (path) {
	case RD_PATH_PIX:
		return RD_LEVEL_PIX;
	case RD_PATH_PXB:
		return RD_LEVEL_PXB;
	case RD_PATH_PHB:
		return RD_LEVEL_PHB;
	case RD_PATH_SYS:
	case RD_PATH_NODE:
		return RD_LEVEL_SYS;
	default:
		return -1;
	}
}

/* The distance level of the nearest NIC in use; -1: unknown. */
static int nearest_level(struct rd_check_env *check, size_t gpu)
{
	int best = -1;

	for (size_t p = 0; p < check->host->n_ports; p++) {
		int level;

		if (!rd_envcheck_uses(check, p))
			continue;
		level = level_of(rd_distance_nccl(check->host, (int)gpu, check->host->ports[p].ibdev));
		if (level >= 0 && (best < 0 || level < best))
			best = level;
	}
	return best;
}

static void check_gdr_level(struct rd_check_env *check, int level)
{
	_cleanup_env_list_ struct rd_env_list lost = { 0 };
	size_t within = 0, known = 0;

	for (size_t g = 0; g < check->host->n_gpus; g++) {
		int nearest = nearest_level(check, g);
		_cleanup_free_ char *name = rd_text("GPU%u", check->host->gpus[g].index);

		if (nearest < 0)
			continue;
		known++;
		within += nearest <= level;
		if (nearest > level && nearest <= RD_LEVEL_P2C)
			rd_env_list_add(&lost, name, strlen(name));
	}
	if (known)
		rd_envcheck_effect(check, "%zu of %zu GPUs have their nearest NIC within this distance", within, known);
	if (!lost.n && level > RD_LEVEL_LOC)
		return;
	rd_envcheck_finding(check, RD_SEV_WARNING, "env-gdr-off", "GPUDirect RDMA is disabled for the nearest NICs",
			    "data is copied through host memory, at a fraction of the rate",
			    lost.n ? rd_env_list_take(&lost) : rd_text("all"), rd_text("PXB, or unset"));
}

void rd_envcheck_level(struct rd_check_env *check)
{
	bool gdr = strcmp(check->effect->name, "NCCL_NET_GDR_LEVEL") == 0;
	int level = rd_nccl_level_parse(check->effect->value);

	if (level < 0) {
		rd_envcheck_unknown_value(check, NULL, rd_text("LOC, NVL, PIX, PXB, PXN, PHB or SYS, in upper case"));
		return;
	}
	if (gdr) {
		rd_envcheck_effect(check,
				   "GPUDirect RDMA, if the driver supports it, where GPU and NIC are %s or nearer%s",
				   rd_nccl_level_name(level),
				   level == RD_LEVEL_P2C || level == RD_LEVEL_PXB ? " (as by default)" : "");
		check_gdr_level(check, level);
		return;
	}
	if (level == RD_LEVEL_LOC)
		rd_envcheck_effect(check, "no direct traffic between GPUs: data goes through host memory");
	else
		rd_envcheck_effect(check, "direct traffic between GPUs that are %s or nearer",
				   rd_nccl_level_name(level));
}

void rd_envcheck_merge_level(struct rd_check_env *check)
{
	const char *level = rd_nccl_merge_level_parse(check->effect->value);

	if (!level) {
		rd_envcheck_unknown_value(check, NULL, rd_text("LOC, PORT, PIX, PXB, PXN, PHB or SYS"));
		rd_envcheck_effect(check, "a release that does not know the value merges no NICs");
		return;
	}
	if (strcmp(level, "LOC") == 0)
		rd_envcheck_effect(check, "NICs are not merged");
	else if (strcmp(level, "PORT") == 0)
		rd_envcheck_effect(check, "ports of one card are merged into one NIC (the default)");
	else
		rd_envcheck_effect(check, "NICs that are %s or nearer to each other are merged into one, up to %d",
				   level, MERGED_MAX);
}

void rd_envcheck_merge_policy(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	bool rail = strcasecmp(value, "RAIL") == 0;

	if (!rail && strcasecmp(value, "ALL") != 0) {
		rd_envcheck_unknown_value(check, NULL, rd_text("ALL or RAIL"));
		return;
	}
	rd_envcheck_effect(check, rail ? "only NICs of the same rail are merged: NCCL_IB_HCA must name the rails" :
					 "NICs are merged regardless of their rail (the default)");
}

static bool is_active(const struct rd_host *host, const struct rd_hca_entry *entry)
{
	for (size_t p = 0; p < host->n_ports; p++)
		if (rd_port_active(&host->ports[p]) &&
		    strcmp(rd_ibdev_label(host, host->ports[p].ibdev), entry->name) == 0 &&
		    (entry->port == -1 || entry->port == (int)host->ports[p].num))
			return true;
	return false;
}

/* One group, "mlx5_0,mlx5_1": all of its NICs must be active. */
static void check_group(struct rd_check_env *check, const char *text, size_t size, struct rd_env_list *missing)
{
	_cleanup_free_ char *copy = rd_dup_part(text, size);
	struct rd_hca_list list;

	rd_hca_list_parse_most(copy, MERGED_MAX, &list);
	for (size_t i = 0; i < list.n; i++)
		if (!is_active(check->host, &list.v[i]))
			rd_env_list_add(missing, list.v[i].name, strlen(list.v[i].name));
	rd_hca_list_deinit(&list);
}

void rd_envcheck_force_merge(struct rd_check_env *check)
{
	_cleanup_env_list_ struct rd_env_list missing = { 0 };
	const char *at = check->effect->value;
	size_t groups = 0;

	while (*at) {
		size_t size = strcspn(at, ";");

		groups += size > 0;
		if (size > 0)
			check_group(check, at, size, &missing);
		at += size + (at[size] == ';');
	}
	rd_envcheck_effect(check, "%zu group%s of NICs, each merged into one", groups, groups == 1 ? "" : "s");
	if (!missing.n)
		return;
	rd_envcheck_finding(check, RD_SEV_CRITICAL, "env-no-device", "No such active device",
			    "NCCL fails: Only matched N devices", rd_env_list_take(&missing), NULL);
}

/* The path is that of the process, perhaps in a container: the file is not opened here. */
void rd_envcheck_topo_file(struct rd_check_env *check)
{
	if (!*check->effect->value)
		rd_envcheck_effect(check, "empty file name, which cannot be opened: NCCL detects the topology as usual");
	else
		rd_envcheck_effect(
			check, "NCCL loads this file first and does not detect what the file contains; if it cannot "
			       "open the file, it logs that at NCCL_DEBUG=INFO only (the file was not checked)");
}

void rd_envcheck_netdevs_policy(struct rd_check_env *check)
{
	const char *value = check->effect->value;
	int most = strncasecmp(value, "MAX:", 4) == 0 ? rd_as_atoi(value + 4) : 0;

	if (strcasecmp(value, "AUTO") == 0)
		rd_envcheck_effect(check, "GPUs near the same NICs divide these NICs among them (the default)");
	else if (strcasecmp(value, "ALL") == 0)
		rd_envcheck_effect(check, "each GPU uses all NICs that are as near and as fast as its best one");
	else if (most > 0)
		rd_envcheck_effect(check, "each GPU uses up to %d of the NICs near it", most);
	else
		rd_envcheck_unknown_value(check, NULL, rd_text("AUTO, ALL or MAX:N"));
}
