/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/wrap.h"

#include <string.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/memory.h"
#include "render/render.h"
#include "view/grid.h"

#define LEAST_WIDTH 16 /* columns of the terminal for a value */

/* Bytes of `text` that fit into `width` columns of the terminal: up to the last blank in them, or within a word that is longer. */
static size_t fitting(const char *text, int width)
{
	size_t size = strlen(text), at = 0, blank = 0;
	int used = 0;

	while (at < size) {
		wchar_t c;
		size_t n = mbrtowc(&c, text + at, size - at, &(mbstate_t){ 0 });
		int w = n > 0 && n <= size - at ? wcwidth(c) : -1;

		if (w < 0)
			n = w = 1;
		if (used + w > width)
			return blank ? blank : at ? at : n;
		if (text[at] == ' ')
			blank = at;
		used += w;
		at += n;
	}
	return size;
}

static void add_wrapped(struct rd_section *to, const char *name, const char *value, int width)
{
	do {
		size_t size = fitting(value, width);
		_cleanup_free_ char *part = rd_dup_part(value, size);
		struct rd_row *row = rd_section_add(to);

		rd_row_str(row, 0, name);
		rd_row_str(row, 1, part);
		name = "";
		value += size;
		value += strspn(value, " ");
	} while (*value);
}

static bool has_values(const struct rd_section *section)
{
	return section->n_columns == 2 && section->columns[0].type == RD_T_STR && section->columns[1].type == RD_T_STR;
}

struct rd_section *rd_wrap_values(struct rd_section *section, int columns)
{
	struct rd_section *wrapped;
	int width = columns;

	if (!has_values(section))
		return section;
	for (size_t i = 0; i < section->n; i++) {
		_cleanup_buf_ struct rd_buf name = { 0 };

		rd_render_cell(&section->columns[0], &rd_section_row(section, i)->cells[0], &name);
		if (name.data && columns - 1 - rd_text_width(name.data) < width)
			width = columns - 1 - rd_text_width(name.data);
	}
	if (width < LEAST_WIDTH)
		width = LEAST_WIDTH;
	wrapped = rd_section_create(section->key, section->columns, 2);
	for (size_t i = 0; i < section->n; i++) {
		const struct rd_row *row = rd_section_row(section, i);
		_cleanup_buf_ struct rd_buf value = { 0 };

		rd_render_cell(&section->columns[1], &row->cells[1], &value);
		add_wrapped(wrapped, row->cells[0].known == RD_OK ? row->cells[0].s : NULL,
			    value.data ? value.data : "", width);
	}
	rd_section_destroy(section);
	return wrapped;
}
