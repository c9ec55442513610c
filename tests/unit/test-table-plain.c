/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables for pipes, against libsmartcols, which renders those for terminals. */
#include "unit.h"

#include "render/render.h"

#include <libsmartcols/libsmartcols.h>
#include <locale.h>

#define COLUMNS 4

static const struct rd_column columns[COLUMNS] = {
	{ .key = "name", .title = "NAME", .type = RD_T_STR },
	{ .key = "count", .title = "COUNT", .type = RD_T_UINT },
	{ .key = "wide", .title = "größe", .type = RD_T_STR },
	{ .key = "last", .title = "LAST", .type = RD_T_STR },
};

/* For tables without headings: with libsmartcols 2.38 a column is at least as wide as the heading it does not show, with 2.41 not. */
static const struct rd_column narrow[COLUMNS] = {
	{ .key = "name", .title = "x", .type = RD_T_STR },
	{ .key = "count", .title = "x", .type = RD_T_UINT },
	{ .key = "wide", .title = "x", .type = RD_T_STR },
	{ .key = "last", .title = "x", .type = RD_T_STR },
};

/* Text that is wide, has no width, is escaped, or is empty. */
static const char *const pieces[] = { "a",	   "mlx5_0",	       " ",	   "é",	   "日本",
				      "e\xcc\x81", "\xf0\x9f\x98\x80", "\x1b[31m", "\xff", "\xe2\x80\x8b",
				      "\t",	   "\xc2\xa0",	       "x=1,y=2" };

static char *random_text(const char *first)
{
	struct rd_buf text = { 0 };

	rd_buf_str(&text, first);
	for (int n = rand() % 4; n > 0; n--)
		rd_buf_str(&text, pieces[rand() % RD_ARRAY_SIZE(pieces)]);
	return text.data;
}

static struct rd_section *random_section(bool headings)
{
	struct rd_section *section = rd_section_create("random", headings ? columns : narrow, COLUMNS);

	for (int n = 1 + rand() % 4; n > 0; n--) {
		struct rd_row *row = rd_section_add(section);

		for (size_t c = 0; c < COLUMNS; c++) {
			_cleanup_free_ char *text = random_text(headings ? "" : "x");

			if (columns[c].type == RD_T_UINT && rand() % 3)
				rd_row_set(row, c, RD_UINT((uint64_t)rand() >> rand() % 31));
			else if (columns[c].type == RD_T_STR && rand() % 5)
				rd_row_set(row, c, RD_STR(text));
		}
	}
	return section;
}

/* As libsmartcols prints the cells of these columns to a pipe, without the last newline. */
static char *by_libsmartcols(const struct rd_section *section, const size_t *shown, size_t n, bool headings)
{
	struct libscols_table *table = scols_new_table();
	char *ret = NULL;

	scols_table_enable_noheadings(table, !headings);
	scols_table_enable_noencoding(table, 1);
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; i < n; i++)
		scols_table_new_column(table, section->columns[shown[i]].title, 0,
				       columns[shown[i]].type == RD_T_UINT ? SCOLS_FL_RIGHT : 0);
	for (size_t r = 0; r < section->n; r++) {
		struct libscols_line *line = scols_table_new_line(table, NULL);

		for (size_t i = 0; i < n; i++) {
			_cleanup_buf_ struct rd_buf text = { 0 };

			rd_buf_str(&text, "");
			rd_render_cell(&columns[shown[i]], &section->rows[r].cells[shown[i]], &text);
			scols_line_set_data(line, i, text.data);
		}
	}
	assert_int_equal(scols_print_table_to_string(table, &ret), 0);
	scols_unref_table(table);
	return ret;
}

static void compare_once(void)
{
	static const size_t orders[][COLUMNS] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 } };
	const size_t *shown = orders[rand() % RD_ARRAY_SIZE(orders)];
	size_t n = 1 + (size_t)rand() % COLUMNS;
	bool headings = rand() % 2;
	struct rd_section *section = random_section(headings);
	struct rd_table_style style = { .no_headings = !headings };
	_cleanup_buf_ struct rd_buf out = { 0 }, list = { 0 };
	_cleanup_free_ char *expected = by_libsmartcols(section, shown, n, headings);
	size_t size = strlen(expected);

	for (size_t i = 0; i < n; i++)
		rd_buf_printf(&list, "%s%s", i ? "," : "", columns[shown[i]].key);
	style.columns = list.data;
	assert_int_equal(rd_render_table(section, &style, &out, NULL), 0);
	if (strncmp(out.data, expected, size) != 0 || strcmp(out.data + size, "\n") != 0)
		fail_msg("%s:\n[%s]\nlibsmartcols:\n[%s]", list.data, out.data, expected);
	rd_section_destroy(section);
}

TEST(bytes_are_those_of_libsmartcols)
{
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	srand(20240607);
	for (int i = 0; i < 3000; i++)
		compare_once();
}

/* libsmartcols 2.38 may never end here: it ignores that mbrtowc() fails for every byte of such a text. */
TEST(text_that_the_locale_does_not_know_takes_no_columns)
{
	struct rd_section *section = rd_section_create("names", columns, COLUMNS);
	struct rd_table_style style = { .columns = "name,last" };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_row *row = rd_section_add(section);

	assert_non_null(setlocale(LC_CTYPE, "C"));
	rd_row_set(row, 0, RD_STR("日本"));
	rd_row_set(row, 3, RD_STR("x"));
	assert_int_equal(rd_render_table(section, &style, &out, NULL), 0);
	assert_string_equal(out.data, "NAME LAST\n日本     x\n");
	rd_section_destroy(section);
}
