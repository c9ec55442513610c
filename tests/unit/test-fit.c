/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <locale.h>

#include "view/grid.h"

enum { NAME, PORT, ERRORS, NOTHING, USED, CABLE, COLUMNS };

static const struct rd_column columns[COLUMNS] = {
	[NAME] = { .key = "name", .title = "NAME", .type = RD_T_STR, .fit = RD_FIT_NAME },
	[PORT] = { .key = "port", .title = "PORT", .type = RD_T_UINT },
	[ERRORS] = { .key = "errors", .title = "ERRORS", .type = RD_T_STR, .fit = RD_FIT_TEXT },
	[NOTHING] = { .key = "nothing", .title = "NOTHING", .type = RD_T_STR, .spare = 1 },
	[USED] = { .key = "used", .title = "USED", .type = RD_T_SHARE, .decimals = 1, .spare = 2 },
	[CABLE] = { .key = "cable", .title = "CABLE", .type = RD_T_STR, .fit = RD_FIT_NAME, .spare = 3 },
};

static struct rd_section *section;
static struct rd_grid grid;

/* Switches that are named as UFM does. */
static void build(const char *form)
{
	static const int keys[] = { NAME, -1 };
	const struct rd_grid_style style = { .group = -1, .keys = keys };
	char text[64];

	section = rd_section_create("ports", columns, COLUMNS);
	for (unsigned i = 0; i < 20; i++) {
		struct rd_row *row = rd_section_add(section);

		snprintf(text, sizeof(text), form, i);
		rd_row_set(row, NAME, RD_STR(text));
		rd_row_set(row, PORT, RD_UINT(i));
		rd_row_set(row, ERRORS,
			   RD_STR(i ? "SymbolErrorCounter 77" :
				      "SymbolErrorCounter 77 (+2), PortRcvErrors 123456 (+5)"));
		rd_row_set(row, USED, RD_DOUBLE(0.5));
		snprintf(text, sizeof(text), form, 50 + i);
		rd_row_set(row, CABLE, RD_STR(text));
	}
	rd_grid_build(&grid, section, &style, NULL);
}

static int tear_down(void **state)
{
	rd_grid_deinit(&grid);
	rd_section_destroy(section);
	section = NULL;
	return 0;
}

static int shown_width(void)
{
	int width = -1;

	for (size_t c = 0; c < grid.n_columns; c++)
		width += grid.shown[c] ? grid.shown[c] + 1 : 0;
	return width;
}

static const char *fitted(size_t row, size_t column)
{
	static char text[256];
	struct rd_buf out = { 0 };

	rd_grid_fitted(&grid, column, grid.rows[row].cells[column].text, false, &out);
	snprintf(text, sizeof(text), "%s", out.data);
	assert_true(rd_text_width(text) <= grid.shown[column]);
	rd_buf_deinit(&out);
	return text;
}

static void assert_short(const char *text, int width, int head, const char *expected)
{
	_cleanup_(rd_buf_deinit) struct rd_buf out = { 0 };

	rd_text_shorten(text, width, head, false, &out);
	assert_string_equal(out.data, expected);
}

TEST_WITH(a_text_is_shortened_by_columns_of_the_terminal, NULL, tear_down)
{
	assert_short("MF0;SLG04-15:MQM8700/U1", 23, 9, "MF0;SLG04-15:MQM8700/U1");
	assert_short("MF0;SLG04-15:MQM8700/U1", 16, 12, "MF0;SLG04-15…/U1");
	assert_short("abcdefgh", 5, 4, "abcd…");
	assert_short("abcdefgh", 5, 0, "…efgh");
	assert_short("abcdefgh", 1, 0, "…");
	assert_short("Größe-Straße", 8, 4, "Größ…aße");
	/* Two columns each: none is cut in half. */
	assert_short("数据中心交换机", 8, 3, "数…换机");
	assert_short("\xff\xff\xff\xff", 3, 1, "\xff…\xff");
	assert_short("MF0;SLG04-15:MQM8700/U1", 8, -6, "…G04-15…");
	assert_short("MF0;SLG04-15:MQM8700/U1", 12, -11, "…5:MQM8700/…");
	assert_short("MF0;SLG04-15:MQM8700/U1", 12, -12, "…:MQM8700/U1");
	assert_short("MF0;SLG04-15:MQM8700/U1", 12, -20, "…:MQM8700/U1");
	assert_short("数据中心交换机", 8, -3, "…中心…");
}

TEST_WITH(everything_is_shown_where_it_fits, NULL, tear_down)
{
	build("MF0;SLG04-%02u:MQM8700/U1");
	rd_grid_fit(&grid, 200);
	for (size_t c = 0; c < grid.n_columns; c++)
		assert_int_equal(grid.shown[c], grid.widths[c]);
	assert_string_equal(fitted(3, NAME), "MF0;SLG04-03:MQM8700/U1");
}

TEST_WITH(errors_and_different_names_stay_on_80_columns, NULL, tear_down)
{
	build("MF0;SLG04-%02u:MQM8700/U1");
	rd_grid_fit(&grid, 78);
	assert_true(shown_width() <= 78);
	assert_int_equal(grid.shown[NOTHING], 0); /* empty: the first to go */
	ASSERT_EACH(IS(grid.shown[CABLE], 0), IS(grid.shown[USED] > 0, true));
	assert_non_null(strstr(fitted(3, NAME), "SLG04-03"));
	assert_string_equal(fitted(3, ERRORS), "SymbolErrorCounter 77");
	assert_non_null(strstr(fitted(0, ERRORS), "SymbolErrorCounter 77 (+2)"));
	assert_string_equal(fitted(3, PORT), "3");
	rd_grid_fit(&grid, 30);
	assert_true(shown_width() <= 30);
	assert_true(grid.shown[NAME] > 0 && grid.shown[PORT] > 0 && grid.shown[ERRORS] > 0);
	assert_int_equal(grid.shown[USED], 0);
	/* Wider again. */
	rd_grid_fit(&grid, 200);
	assert_true(grid.shown[CABLE] > 0);
}

TEST_WITH(rows_are_not_sorted_by_a_column_that_is_left_out, NULL, tear_down)
{
	struct rd_pane pane;

	build("MF0;SLG04-%02u:MQM8700/U1");
	rd_pane_init(&pane);
	pane.grid = grid;
	rd_grid_fit(&pane.grid, 30);
	for (int i = 0; i < 3; i++)
		rd_pane_sort_step(&pane, 1);
	assert_int_equal(pane.sort, ERRORS);
	rd_pane_sort_step(&pane, 1);
	assert_int_equal(pane.sort, -1);
	rd_pane_sort_step(&pane, -1);
	assert_int_equal(pane.sort, ERRORS);
}

TEST_WITH(names_that_differ_at_their_end_keep_it, NULL, tear_down)
{
	char first[64];

	build("a-very-long-prefix-of-this-site-and-cluster-%03u");
	rd_grid_fit(&grid, 60);
	assert_true(grid.shown[NAME] < grid.widths[NAME]);
	snprintf(first, sizeof(first), "%s", fitted(0, NAME));
	assert_string_not_equal(fitted(1, NAME), first);
	rd_grid_deinit(&grid);
	rd_section_destroy(section);
	build("%03u-rack-with-a-very-long-suffix-of-this-site");
	rd_grid_fit(&grid, 60);
	snprintf(first, sizeof(first), "%s", fitted(0, NAME));
	assert_string_not_equal(fitted(1, NAME), first);
}

TEST_WITH(names_lose_what_all_of_them_have, NULL, tear_down)
{
	/* Between what is the same in all, at the beginning and at the end. */
	build("MF0;SLG04-%02u:MQM8700/U1");
	rd_grid_fit(&grid, 38);
	assert_int_equal(grid.shown[NAME], 11);
	assert_string_equal(fitted(3, NAME), "…;SLG04-03…");
	rd_grid_deinit(&grid);
	rd_section_destroy(section);
	/* Both numbers stay, though one of them would do. */
	build("rack%1$02u-of-a-long-row-node%1$02u-mlx5_0");
	rd_grid_fit(&grid, 60);
	assert_string_equal(fitted(3, NAME), "rack03-of…e03-mlx5_0");
}

TEST_WITH(a_share_loses_its_bar_and_keeps_its_number, NULL, tear_down)
{
	build("MF0;SLG04-%02u:MQM8700/U1");
	rd_grid_fit(&grid, 70);
	assert_true(grid.shown[USED] < grid.widths[USED]);
	assert_string_equal(fitted(3, USED), " 50.0%");
}

int main(void)
{
	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 1;
	return unit_run(NULL, NULL);
}
