/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/render.h"
#include "view/view.h"

static const struct rd_column columns[] = {
	{ "what", "WHAT", RD_T_STR, "name of the value", 0, false },
	{ "value", "VALUE", RD_T_STR, "value", 0, false },
};

struct rd_section *rd_view_page(void)
{
	return rd_section_create("values", columns, RD_ARRAY_SIZE(columns));
}

void rd_view_add_line(struct rd_section *page, const char *what, const char *value)
{
	struct rd_row *line = rd_section_add(page);

	rd_row_str(line, 0, what);
	rd_row_str(line, 1, value);
}

void rd_view_add_values(struct rd_section *page, const struct rd_section *from, size_t row)
{
	for (size_t c = 0; c < from->n_columns; c++) {
		const struct rd_cell *cell = &rd_section_row(from, row)->cells[c];
		_cleanup_buf_ struct rd_buf text = { 0 };

		if (cell->known != RD_OK)
			continue;
		rd_render_cell(&from->columns[c], cell, &text);
		rd_view_add_line(page, from->columns[c].key, text.data);
	}
}
