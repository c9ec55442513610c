// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/shared/report-run.h"

#include <stdio.h>

static const struct rd_column backend_columns[2];

struct rd_section *rd_report_backends(const size_t per_backend[RD_BACKEND_COUNT])
{
	struct rd_section *section = rd_section_create("backends", backend_columns, RD_ARRAY_SIZE(backend_columns));

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++) {
		struct rd_row *row;

		if (!per_backend[b])
			continue;
		row = rd_section_add(section);
		rd_row_str(row, 0, rd_backend_name(b));
		rd_row_uint(row, 1, per_backend[b]);
	}
	return section;
}

void rd_row_errno(struct rd_row *row, size_t column, int err)
{
	const char *name = rd_errno_name(err);
	char digits[16];

	snprintf(digits, sizeof(digits), "%d", -err);
	rd_row_str(row, column, name ? name : digits);
}

static const struct rd_column backend_columns[2] = {
	{ "backend", "BACKEND", RD_T_STR, "backend that hooks the functions", 0, false },
	{ "functions", "FUNCTIONS", RD_T_UINT, "hooked functions", 0, false },
};
