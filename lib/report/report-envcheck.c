/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report-envcheck.h"

#include <string.h>

#include "base/text.h"

#define QUOTED 400 /* bytes of a value that are repeated: a list of 50 ports fits */

enum var_column { VAR_NAME, VAR_VALUE, VAR_JUDGED, VAR_SELECTS, VAR_EFFECT, VAR_LIBRARY, VAR_VALUE_BYTES, VAR_COLUMNS };

static const struct rd_column var_columns[VAR_COLUMNS];

/* A password is not for a screen, and not for a document that is passed on. */
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

int rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects)
{
	struct rd_section *section = rd_section_create("variables", var_columns, VAR_COLUMNS);

	for (size_t i = 0; section && i < effects->n; i++) {
		const struct rd_effect *effect = &effects->v[i];
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, VAR_NAME, effect->name);
		add_value(row, effect);
		rd_row_str(row, VAR_JUDGED, rd_judged_name(effect->judged));
		rd_row_str(row, VAR_SELECTS, effect->selects);
		rd_row_str(row, VAR_EFFECT, effect->effect);
		rd_row_str(row, VAR_LIBRARY, effect->library);
	}
	return rd_report_add(report, section);
}

/* clang-format off */
static const struct rd_column var_columns[VAR_COLUMNS] = {
	[VAR_NAME] = { "name", "VARIABLE", RD_T_STR, "variable", 0, false },
	[VAR_VALUE] = { "value", "VALUE", RD_T_STR, "its value, the first 400 bytes of it", 0, false },
	[VAR_JUDGED] = { "judged", "JUDGED", RD_T_STR, "yes; no: only listed; unknown: no library reads it", 0, false },
	[VAR_SELECTS] = { "selects", "SELECTS", RD_T_STR, "ports or interfaces that it comes to on this host", 0, false },
	[VAR_EFFECT] = { "effect", "EFFECT", RD_T_STR, "what it comes to", 0, false },
	[VAR_LIBRARY] = { "library", "LIBRARY", RD_T_STR, "which library it is for", 0, true },
	[VAR_VALUE_BYTES] = { "value_bytes", "BYTES", RD_T_UINT, "length of its value", 0, true },
};
/* clang-format on */
