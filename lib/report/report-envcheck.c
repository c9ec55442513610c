/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report-envcheck.h"

enum var_column { VAR_NAME, VAR_VALUE, VAR_SELECTS, VAR_COLUMNS };

static const struct rd_column var_columns[VAR_COLUMNS];

int rd_report_envcheck(struct rd_report *report, const struct rd_effects *effects)
{
	struct rd_section *section = rd_section_create("variables", var_columns, VAR_COLUMNS);

	for (size_t i = 0; section && i < effects->n; i++) {
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, VAR_NAME, effects->v[i].name);
		rd_row_str(row, VAR_VALUE, effects->v[i].value);
		rd_row_str(row, VAR_SELECTS, effects->v[i].selects);
	}
	return rd_report_add(report, section);
}

/* clang-format off */
static const struct rd_column var_columns[VAR_COLUMNS] = {
	[VAR_NAME] = { "name", "VARIABLE", RD_T_STR, "variable", 0, false },
	[VAR_VALUE] = { "value", "VALUE", RD_T_STR, "its value", 0, false },
	[VAR_SELECTS] = { "selects", "SELECTS", RD_T_STR, "ports or interfaces that it comes to on this host", 0, false },
};
/* clang-format on */
