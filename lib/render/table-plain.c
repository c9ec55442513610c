/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables for files and pipes. libsmartcols would hold all of their text, several hundred bytes per row. */
#include "render/table-priv.h"

#include <string.h>
#include <wchar.h>

#include "base/memory.h"
#include "base/text.h"

/* Columns that the rest of a text takes, from its first byte that is not printable ASCII. Bytes that are not printable in this
 * locale take none. */
static size_t wide_width(const char *text, size_t size)
{
	mbstate_t state = { 0 };
	size_t width = 0;

	rd_charset_load();
	while (size > 0) {
		wchar_t c = 0;
		size_t n = mbrtowc(&c, text, size, &state);
		int columns = n > 0 && n <= size ? wcwidth(c) : 0;

		width += columns > 0 ? (size_t)columns : 0;
		if (n == 0 || n > size) {
			n = 1;
			state = (mbstate_t){ 0 };
		}
		text += n;
		size -= n;
	}
	return width;
}

/* Columns that an escaped text takes. */
static size_t text_width(const char *text, size_t size)
{
	size_t ascii = 0;

	while (ascii < size && text[ascii] >= 0x20 && text[ascii] < 0x7f)
		ascii++;
	return ascii == size ? size : ascii + wide_width(text + ascii, size - ascii);
}

static void set_text(struct rd_buf *text, const struct rd_section *section, const struct rd_row *row, size_t column)
{
	text->len = 0;
	rd_buf_str(text, "");
	rd_render_cell(&section->columns[column], &row->cells[column], text);
}

/* A column is as wide as its heading, shown or not. */
static void find_widths(const struct rd_section *section, const struct rd_table_columns *columns, size_t *widths)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < columns->n; i++) {
		const char *title = rd_column_title(&section->columns[columns->v[i]]);

		widths[i] = text_width(title, strlen(title));
	}
	for (size_t r = 0; r < section->n; r++) {
		const struct rd_row *row = rd_section_row(section, r);

		for (size_t i = 0; i < columns->n; i++) {
			size_t width;

			set_text(&text, section, row, columns->v[i]);
			width = text_width(text.data, text.len);
			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
}

static void add_blanks(struct rd_buf *out, size_t n)
{
	static const char blanks[] = "                                ";

	for (size_t part; n > 0; n -= part) {
		part = n < sizeof(blanks) - 1 ? n : sizeof(blanks) - 1;
		rd_buf_add(out, blanks, part);
	}
}

/* Adds text as cell `i` of a line. The last cell ends where its text ends. */
static void add_text(const struct rd_section *section, const struct rd_table_columns *columns, const size_t *widths,
		     size_t i, const char *text, size_t size, struct rd_buf *out)
{
	size_t width = text_width(text, size), blanks = widths[i] > width ? widths[i] - width : 0;
	bool right = rd_column_is_number(&section->columns[columns->v[i]]);

	if (right)
		add_blanks(out, blanks);
	rd_buf_add(out, text, size);
	if (!right && i + 1 < columns->n)
		add_blanks(out, blanks);
	rd_buf_str(out, i + 1 < columns->n ? " " : "\n");
}

void rd_table_plain(const struct rd_section *section, const struct rd_table_columns *columns, bool headings,
		    struct rd_buf *out)
{
	_cleanup_free_ size_t *widths = rd_alloc(columns->n, sizeof(*widths));
	_cleanup_buf_ struct rd_buf text = { 0 };

	find_widths(section, columns, widths);
	for (size_t i = 0; headings && i < columns->n; i++) {
		const char *title = rd_column_title(&section->columns[columns->v[i]]);

		add_text(section, columns, widths, i, title, strlen(title), out);
	}
	for (size_t r = 0; r < section->n; r++) {
		const struct rd_row *row = rd_section_row(section, r);

		for (size_t i = 0; i < columns->n; i++) {
			set_text(&text, section, row, columns->v[i]);
			add_text(section, columns, widths, i, text.data, text.len, out);
		}
	}
}
