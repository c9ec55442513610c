/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/nicmap/report-nicmap.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

#define QUOTED 400 /* bytes of a value that are shown: enough for a list of 50 ports */

enum var_column { VAR_NAME, VAR_VALUE, VAR_JUDGED, VAR_SELECTS, VAR_EFFECT, VAR_LIBRARY, VAR_VALUE_BYTES, VAR_COLUMNS };

enum as_column { AS_GPU, AS_NICS, AS_WITHOUT, AS_GPUDIRECT, AS_WHY, AS_COLUMNS };

static const struct rd_column var_columns[VAR_COLUMNS];
static const struct rd_column as_columns[AS_COLUMNS];

/* Values of such variables are not printed. */
static bool is_secret(const char *name)
{
	static const char *const words[] = { "PASSWORD", "PASSWD", "SECRET", "TOKEN", "CREDENTIAL" };

	for (size_t i = 0; i < RD_ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

static void add_value(struct rd_row *row, const struct rd_effect *effect)
{
	size_t size = strlen(effect->value);
	_cleanup_free_ char *cut = size > QUOTED ? rd_text("%.*s...", QUOTED, effect->value) : NULL;

	rd_row_uint(row, VAR_VALUE_BYTES, size);
	rd_row_str(row, VAR_VALUE, is_secret(effect->name) ? "(not shown)" : cut ? cut : effect->value);
}

void rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects)
{
	struct rd_section *section = rd_section_create("variables", var_columns, VAR_COLUMNS);

	for (size_t i = 0; i < effects->n; i++) {
		const struct rd_effect *effect = &effects->v[i];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, VAR_NAME, effect->name);
		add_value(row, effect);
		rd_row_str(row, VAR_JUDGED, rd_judged_name(effect->judged));
		rd_row_str(row, VAR_SELECTS, effect->selects);
		rd_row_str(row, VAR_EFFECT, effect->effect);
		rd_row_str(row, VAR_LIBRARY, effect->library);
	}
	rd_report_add(report, section);
}

/* "mlx5_0,mlx5_1"; "-": none. Caller frees. */
static char *nics_of(const struct rd_host *host, const struct rd_choices *choices, size_t i)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t p = 0; i < choices->n && p < choices->v[i].n_ports; p++) {
		char label[128];

		rd_port_label(host, &host->ports[choices->v[i].ports[p]], label, sizeof(label));
		rd_buf_printf(&text, "%s%s", text.len ? "," : "", label);
	}
	if (!text.len)
		rd_buf_str(&text, "-");
	return RD_TAKE(text.data);
}

/* Whether GPUDirect is used between an accelerator and its first NIC: 1, 0; -1: unknown. */
static int gpudirect_of(const struct rd_host *host, const struct rd_nicmap *map, size_t gpu)
{
	const struct rd_choice *choice = gpu < map->nccl.n ? &map->nccl.v[gpu] : NULL;
	const struct rd_pair *pair;

	if (!choice || choice->n_ports == 0)
		return -1;
	pair = rd_nicmap_pair(map, gpu, (size_t)host->ports[choice->ports[0]].ibdev);
	return pair->gpudirect.known == RD_OK ? pair->gpudirect.v : -1;
}

void rd_report_env_assignments(struct rd_report *report, const struct rd_host *host, const struct rd_nicmap *with,
			       const struct rd_nicmap *without, size_t *differ)
{
	struct rd_section *section = rd_section_create("assignments", as_columns, AS_COLUMNS);

	*differ = 0;
	for (size_t g = 0; g < with->nccl.n; g++) {
		_cleanup_free_ char *now = nics_of(host, &with->nccl, g), *other = nics_of(host, &without->nccl, g);
		int direct = gpudirect_of(host, with, g);
		struct rd_row *row = rd_section_add(section);

		*differ += strcmp(now, other) != 0 || direct != gpudirect_of(host, without, g);
		rd_row_uint(row, AS_GPU, host->gpus[g].index);
		rd_row_str(row, AS_NICS, now);
		rd_row_str(row, AS_WITHOUT, other);
		if (direct >= 0)
			rd_row_bool(row, AS_GPUDIRECT, direct);
		rd_row_str(row, AS_WHY, with->nccl.v[g].why);
	}
	rd_report_add(report, section);
}

/* clang-format off */
static const struct rd_column as_columns[AS_COLUMNS] = {
	[AS_GPU] = { "gpu", "GPU", RD_T_UINT, "accelerator", 0, false },
	[AS_NICS] = { "nics", "NCCL", RD_T_STR, "NICs that NCCL selects for it with these variables", 0, false },
	[AS_WITHOUT] = { "nics_without", "WITHOUT", RD_T_STR, "NICs that NCCL selects without any variable", 0, false },
	[AS_GPUDIRECT] = { "gpudirect", "GPUDIRECT", RD_T_BOOL, "the first NIC accesses the accelerator's memory directly", 0, false },
	[AS_WHY] = { "reason", "REASON", RD_T_STR, "why these NICs", 0, false },
};

static const struct rd_column var_columns[VAR_COLUMNS] = {
	[VAR_NAME] = { "name", "VARIABLE", RD_T_STR, "variable", 0, false },
	[VAR_VALUE] = { "value", "VALUE", RD_T_STR, "value, at most 400 bytes of it", 0, false },
	[VAR_JUDGED] = { "judged", "JUDGED", RD_T_STR, "yes: checked; no: only listed; unknown: no library reads it", 0, false },
	[VAR_SELECTS] = { "selects", "SELECTS", RD_T_STR, "ports or interfaces that it selects on this host", 0, false },
	[VAR_EFFECT] = { "effect", "EFFECT", RD_T_STR, "effect on this host", 0, false },
	[VAR_LIBRARY] = { "library", "LIBRARY", RD_T_STR, "library that reads it", 0, true },
	[VAR_VALUE_BYTES] = { "value_bytes", "BYTES", RD_T_UINT, "length of the value", 0, true },
};
/* clang-format on */
