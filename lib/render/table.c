/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections as tables: by libsmartcols on a terminal, by our own code otherwise. */
#include <strings.h>
#include <time.h>
#include <wchar.h>

#include "render/libsmartcols.h"
#include "render/render.h"

/* Shared by the files that render tables. */

/* The columns to show, as indices into those of the section. */
struct rd_table_columns {
	const size_t *v;
	size_t n;
};

/* The heading of a column. */
static inline const char *rd_column_title(const struct rd_column *column)
{
	return column->title ?: column->key;
}

/* Numbers are aligned to the right. */
static inline bool rd_column_is_number(const struct rd_column *column)
{
	return column->type == RD_T_UINT || column->type == RD_T_INT || column->type == RD_T_DOUBLE ||
	       column->type == RD_T_SHARE;
}

static double clamp(double share)
{
	return share > 1 ? 1 : share >= 0 ? share : 0; /* NaN: 0 */
}

static void add_times(struct rd_buf *out, const char *text, int n)
{
	for (; n > 0; n--)
		rd_buf_str(out, text);
}

void rd_render_bar(double share, int width, bool ascii, struct rd_buf *out)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int n = (int)(clamp(share) * width * 8 + 0.5), whole = n / 8, part = n % 8;

	if (ascii) {
		whole = (n + 4) / 8;
		part = 0;
	}
	/* Any traffic is visible. */
	if (n == 0 && share > 0)
		part = ascii ? 0 : 1;
	add_times(out, ascii ? "#" : "█", whole);
	rd_buf_str(out, eighths[part]);
	add_times(out, " ", width - whole - (part > 0));
}

void rd_render_spark(const struct rd_section *shares, int width, bool ascii, struct rd_buf *out)
{
	static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii_levels[] = { "_", ".", "-", "~", "=", "+", "*", "#" };
	int n = shares->n < (size_t)width ? (int)shares->n : width;

	add_times(out, " ", width - n);
	for (int i = 0; i < n; i++) {
		const struct rd_cell *cell = &rd_section_row(shares, shares->n - n + i)->cells[0];
		int level = cell->known == RD_OK ? (int)(clamp(cell->d) * 7 + 0.5) : -1;

		/* The lowest level means no traffic. */
		if (level == 0 && cell->d > 0)
			level = 1;
		rd_buf_str(out, level < 0 ? " " : ascii ? ascii_levels[level] : levels[level]);
	}
}

/* Tables for files and pipes. libsmartcols would hold all of their text, several hundred bytes per row. */

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

/* Adds a table without colours and for any width, in two passes over the rows: widths, then text. It needs memory for one row, and
 * its bytes are those of libsmartcols. Not for sections without rows. */
static void rd_table_plain(const struct rd_section *section, const struct rd_table_columns *columns, bool headings,
			   struct rd_buf *out)
{
	_cleanup_free_ size_t *widths = rd_alloc(columns->n, sizeof(*widths));
	_cleanup_buf_ struct rd_buf text = { 0 };

	/* A column is as wide as its heading, shown or not. */
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

#define UNKNOWN "-"

RD_LATE_DEFINE(rd_libsmartcols, RD_LIBSMARTCOLS_CALLS, RD_LIBSMARTCOLS)

static void table_unrefp(struct libscols_table **table)
{
	rd_libsmartcols.scols_unref_table(*table);
}

static void time_text(uint64_t ns, struct rd_buf *out)
{
	time_t seconds = ns / 1000000000u;
	char text[48];
	struct tm tm;

	if (!localtime_r(&seconds, &tm)) {
		rd_buf_str(out, UNKNOWN);
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	rd_buf_printf(out, "%s.%06u", text, (unsigned)(ns % 1000000000u / 1000));
}

/* A section within a cell: the first column of its rows, for a map with the value. */
static void sub_text(const struct rd_section *sub, enum rd_type type, struct rd_buf *out)
{
	for (size_t i = 0; i < sub->n && sub->n_columns > 0; i++) {
		const struct rd_cell *cells = rd_section_row(sub, i)->cells;

		if (i > 0)
			rd_buf_str(out, ",");
		rd_render_cell(&sub->columns[0], &cells[0], out);
		if (type == RD_T_MAP && sub->n_columns > 1) {
			rd_buf_str(out, "=");
			rd_render_cell(&sub->columns[1], &cells[1], out);
		}
	}
}

void rd_render_cell(const struct rd_column *column, const struct rd_cell *cell, struct rd_buf *out)
{
	if (cell->known != RD_OK) {
		rd_buf_str(out, UNKNOWN);
		return;
	}
	switch (cell->type) {
	case RD_T_STR:
		if (strcmp(column->key, "fix") == 0) {
			/* On one line, for they are a line each. */
			for (const char *at = cell->s; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
				rd_buf_str(out, at > cell->s ? "; " : "");
				rd_buf_safe(out, at, strcspn(at, "\n"));
			}
		} else if (cell->s)
			rd_buf_safe(out, cell->s, strlen(cell->s));
		break;
	case RD_T_UINT:
		rd_buf_uint(out, cell->u);
		break;
	case RD_T_INT:
		rd_buf_printf(out, "%" PRId64, cell->i);
		break;
	case RD_T_DOUBLE:
		rd_buf_printf(out, "%.*f", column->decimals, cell->d);
		break;
	case RD_T_SHARE:
		rd_buf_printf(out, "%.*f%%", column->decimals, cell->d * 100);
		break;
	case RD_T_BOOL:
		rd_buf_str(out, cell->b ? "yes" : "no");
		break;
	case RD_T_TIME:
		time_text(cell->u, out);
		break;
	default:
		if (cell->sub)
			sub_text(cell->sub, cell->type, out);
	}
}

/* By its key, else by its heading; n_columns: neither. */
static size_t column_named(const struct rd_section *section, const char *name, size_t size)
{
	for (int heading = 0; heading < 2; heading++)
		for (size_t c = 0; c < section->n_columns; c++) {
			const char *own = heading ? section->columns[c].title : section->columns[c].key;

			if (own && strlen(own) == size && strncasecmp(own, name, size) == 0)
				return c;
		}
	return section->n_columns;
}

/* Selects the columns to show, as indices; `ret` has space for all columns, and one more per two bytes of -o. */
static int select_columns(const struct rd_section *section, const char *list, size_t *ret, size_t *n, struct rd_err *err)
{
	bool all = list && strcmp(list, RD_ALL_COLUMNS) == 0;

	*n = 0;
	if (!list || *list == '+' || all)
		for (size_t c = 0; c < section->n_columns; c++)
			if (all || (section->columns[c].title && !section->columns[c].hidden))
				ret[(*n)++] = c;
	if (!list || all)
		return 0;
	list += *list == '+';
	for (;;) {
		size_t size = strcspn(list, ","), c = column_named(section, list, size);

		if (c == section->n_columns) {
			_cleanup_buf_ struct rd_buf known = { 0 };

			for (size_t j = 0; j < section->n_columns; j++)
				rd_buf_printf(&known, "%s%s", j > 0 ? "," : "", section->columns[j].key);
			if (size == 0)
				rd_err_set(err, EINVAL, "--columns", "empty column name");
			else
				rd_err_set(err, EINVAL, "--columns", "unknown column '%.*s'", (int)size, list);
			return rd_err_hint(err, "columns: %s", known.data);
		}
		ret[(*n)++] = c;
		list += size;
		if (!*list)
			return 0;
		list++;
	}
}

static void raw_value(const char *text, struct rd_buf *out)
{
	if (!*text)
		rd_buf_str(out, "\"\"");
	for (; *text; text++)
		if (*text == ' ')
			rd_buf_str(out, "\\x20");
		else
			rd_buf_add(out, text, 1);
}

static void add_rows(struct libscols_table *table, const struct rd_section *section, const size_t *columns, size_t n)
{
	static const char *const colours[RD_SEVERITIES] = {
		[RD_SEV_WARNING] = "yellow", [RD_SEV_CRITICAL] = "red", [RD_SEV_UNKNOWN] = "magenta"
	};

	for (size_t r = 0; r < section->n; r++) {
		struct libscols_line *line = rd_libsmartcols.scols_table_new_line(table, NULL);
		const struct rd_row *row = rd_section_row(section, r);

		if (!line)
			rd_out_of_memory();
		if (colours[row->severity])
			rd_libsmartcols.scols_line_set_color(line, colours[row->severity]);
		for (size_t i = 0; i < n; i++) {
			_cleanup_buf_ struct rd_buf text = { 0 };

			set_text(&text, section, row, columns[i]);
			if (rd_libsmartcols.scols_line_refer_data(line, i, text.data) < 0)
				rd_out_of_memory();
			text.data = NULL; /* owned by the line */
		}
	}
}

/* libsmartcols prints nothing at all for a table without lines. */
static void render_empty(const struct rd_section *section, const struct rd_table_style *style, const size_t *columns,
			 size_t n, struct rd_buf *out)
{
	if (style->no_headings)
		return;
	for (size_t i = 0; i < n; i++)
		rd_buf_printf(out, style->colour ? "%s\033[1m%s\033[0m" : "%s%s", i > 0 ? " " : "",
			      rd_column_title(&section->columns[columns[i]]));
	rd_buf_str(out, "\n");
}

/* For a terminal: text that is wider is wrapped or shortened; colours. */
static void render_table(const struct rd_section *section, const struct rd_table_style *style, const size_t *columns,
			 size_t n, struct rd_buf *out)
{
	_cleanup_(table_unrefp) struct libscols_table *table = rd_libsmartcols.scols_new_table();
	_cleanup_free_ char *text = NULL;
	size_t size;

	rd_charset_load();
	if (!table)
		rd_out_of_memory();
	rd_libsmartcols.scols_table_enable_noheadings(table, style->no_headings);
	rd_libsmartcols.scols_table_enable_colors(table, style->colour);
	/* Text is escaped already, the same way everywhere. */
	rd_libsmartcols.scols_table_enable_noencoding(table, 1);
	rd_libsmartcols.scols_table_set_termforce(table,
						  style->width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	if (style->width > 0)
		rd_libsmartcols.scols_table_set_termwidth(table, style->width);
	for (size_t i = 0; i < n; i++) {
		const struct rd_column *column = &section->columns[columns[i]];
		int flags = rd_column_is_number(column) ? SCOLS_FL_RIGHT : 0;
		struct libscols_column *added;

		/* On a terminal long text is wrapped, not truncated. */
		if (style->width > 0 && ((column->type >= RD_T_OBJECT) || (column->type == RD_T_STR && i + 1 == n)))
			flags |= SCOLS_FL_WRAP;
		added = rd_libsmartcols.scols_table_new_column(table, rd_column_title(column), 0, flags);
		if (!added)
			rd_out_of_memory();
		if (style->colour)
			rd_libsmartcols.scols_cell_set_color(rd_libsmartcols.scols_column_get_header(added), "\033[1m");
	}
	add_rows(table, section, columns, n);
	if (rd_libsmartcols.scols_print_table_to_string(table, &text) < 0 || !text)
		return rd_out_of_memory();
	size = strlen(text);
	rd_buf_add(out, text, size);
	if (size == 0 || text[size - 1] != '\n')
		rd_buf_str(out, "\n");
}

int rd_render_table(const struct rd_section *section, const struct rd_table_style *style, struct rd_buf *out,
		    struct rd_err *err)
{
	size_t space = section->n_columns + 1 + (style->columns ? strlen(style->columns) / 2 + 1 : 0), n;
	_cleanup_free_ size_t *columns = rd_alloc(space, sizeof(*columns));
	int r = select_columns(section, style->columns, columns, &n, err);
	struct rd_err missing = { 0 };

	if (r < 0)
		return r;
	if (style->raw) {
		_cleanup_buf_ struct rd_buf text = { 0 };

		/* The headings, then the rows. */
		for (size_t j = style->no_headings; j <= section->n; j++) {
			const struct rd_row *row = j ? rd_section_row(section, j - 1) : NULL;

			for (size_t i = 0; i < n; i++) {
				if (row)
					set_text(&text, section, row, columns[i]);
				rd_buf_str(out, i > 0 ? " " : "");
				raw_value(row ? text.data : rd_column_title(&section->columns[columns[i]]), out);
			}
			rd_buf_str(out, "\n");
		}
	} else if (section->n == 0)
		render_empty(section, style, columns, n, out);
	else if ((!style->colour && style->width == 0) || rd_libsmartcols_load("table", &missing) < 0)
		rd_table_plain(section, &(struct rd_table_columns){ columns, n }, !style->no_headings, out);
	else
		render_table(section, style, columns, n, out);
	return 0;
}
