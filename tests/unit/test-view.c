/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <locale.h>

#include "render/render.h"
#include "view/grid.h"

enum { NAME, PEER, COUNT, USED };

static const struct rd_column columns[] = {
	[NAME] = { .key = "name", .title = "NAME", .type = RD_T_STR },
	[PEER] = { .key = "peer", .title = "PEER", .type = RD_T_STR },
	[COUNT] = { .key = "count", .title = "COUNT", .type = RD_T_UINT },
	[USED] = { .key = "used", .title = "USED", .type = RD_T_SHARE, .decimals = 1 },
};
static const int keys[] = { NAME, -1 };
static const struct rd_grid_style plain = { .keys = keys, .marked = 2, .group = -1 };

struct item {
	const char *name, *peer;
	uint64_t count;
	double used;
};

static struct rd_section *section_of(const struct item *items, size_t n)
{
	struct rd_section *section = rd_section_create("things", columns, RD_ARRAY_SIZE(columns));

	for (size_t i = 0; i < n; i++) {
		struct rd_row *row = rd_section_add(section);

		rd_row_set(row, NAME, RD_STR(items[i].name));
		rd_row_set(row, PEER, RD_STR(items[i].peer));
		rd_row_set(row, COUNT, RD_UINT(items[i].count));
		rd_row_set(row, USED, RD_DOUBLE(items[i].used));
	}
	return section;
}

/* Arranges, and requires the names in this order, headings in brackets. */
static void assert_lines(struct rd_pane *pane, const char *expected)
{
	char text[256] = "";

	rd_pane_arrange(pane);
	for (size_t i = 0; i < pane->n; i++) {
		const struct rd_grid_row *row = &pane->grid.rows[pane->lines[i].row];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), pane->lines[i].heading ? "[%s]" : "%s ",
			 pane->lines[i].heading ? row->group : row->cells[0].text);
	}
	assert_string_equal(text, expected);
}

static const struct item abc[] = { { "a", "x", 9, 0.5 }, { "b", "y", 100, 0.01 }, { "c", "x", 20, 1 } };

#define PANE_TEST(name) TEST_BEGUN(name, struct rd_pane, pane, rd_pane_init, rd_pane_deinit)

PANE_TEST(rows_sort_by_number_both_ways_and_back)
{
	rd_pane_set(pane, section_of(abc, 3), &plain, false);
	pane->sort = COUNT;
	assert_lines(pane, "a c b ");
	pane->backwards = true;
	assert_lines(pane, "b c a ");
	pane->sort = USED;
	assert_lines(pane, "c a b ");
	pane->sort = -1;
	assert_lines(pane, "a b c ");
}

PANE_TEST(groups_have_headings_and_the_cursor_steps_over_them)
{
	struct rd_grid_style style = plain;

	style.group = PEER;
	rd_pane_set(pane, section_of(abc, 3), &style, false);
	assert_lines(pane, "[x]a c [y]b ");
	rd_pane_home(pane, 10);
	assert_string_equal(rd_pane_row(pane)->cells[0].text, "a");
	rd_pane_move(pane, 2, 10);
	assert_string_equal(rd_pane_row(pane)->cells[0].text, "b");
	rd_pane_move(pane, -1, 10);
	assert_string_equal(rd_pane_row(pane)->cells[0].text, "c");
	rd_pane_end(pane, 10);
	assert_string_equal(rd_pane_row(pane)->cells[0].text, "b");
}

PANE_TEST(a_filter_leaves_what_matches_and_the_cursor_stays_on_its_row)
{
	const struct item more[] = { { "0", "x", 1, 0 }, { "a", "x", 9, 0 }, { "b", "y", 100, 0 }, { "c", "x", 20, 0 } };

	rd_pane_set(pane, section_of(abc, 3), &plain, false);
	rd_pane_move(pane, 2, 10);
	assert_string_equal(rd_pane_row(pane)->cells[0].text, "c");
	rd_pane_set(pane, section_of(more, 4), &plain, false);
	assert_string_equal(rd_pane_row(pane)->cells[0].text, "c");
	strcpy(pane->filter, "X");
	assert_lines(pane, "0 a c ");
	assert_int_equal(pane->n_rows, 3);
	assert_string_equal(rd_pane_row(pane)->cells[0].text, "c");
	strcpy(pane->filter, "nothing");
	rd_pane_arrange(pane);
	rd_pane_move(pane, 1, 10);
	assert_null(rd_pane_row(pane));
}

static const struct rd_grid_row *named(const struct rd_pane *pane, const char *name)
{
	for (size_t i = 0; i < pane->grid.n; i++)
		if (strcmp(pane->grid.rows[i].cells[0].text, name) == 0)
			return &pane->grid.rows[i];
	return NULL;
}

PANE_TEST(what_changed_came_and_went_stands_out_for_some_looks)
{
	const struct item next[] = { { "a", "x", 10, 0.6 }, { "c", "x", 20, 1 }, { "d", "x", 1, 0 } };
	static const int restless[] = { USED, -1 };
	struct rd_grid_style style = plain;

	style.restless = restless;
	rd_pane_set(pane, section_of(abc, 3), &style, false);
	assert_int_equal(named(pane, "a")->fresh, 0); /* all is new at first, so nothing is */
	rd_pane_set(pane, section_of(next, 3), &style, false);
	ASSERT_EACH(IS(named(pane, "a")->cells[COUNT].age, 2), IS(named(pane, "a")->cells[USED].age, 0),
		    IS(named(pane, "c")->cells[COUNT].age, 0), IS(named(pane, "b")->gone, 2),
		    IS(named(pane, "d")->fresh, 2));
	rd_pane_set(pane, section_of(next, 3), &style, false);
	ASSERT_EACH(IS(named(pane, "a")->cells[COUNT].age, 1), IS(named(pane, "b")->gone, 1));
	rd_pane_set(pane, section_of(next, 3), &style, false);
	ASSERT_EACH(IS(named(pane, "a")->cells[COUNT].age, 0), IS(named(pane, "b") == NULL, true));
}

/* c is critical, b and d are warnings; worst first. */
static struct rd_section *worst_first(void)
{
	static const struct item items[] = {
		{ "c", "z", 1, 0 }, { "b", "y", 2, 0 }, { "d", "z", 3, 0 }, { "u", "x", 4, 0 }, { "a", "y", 5, 0 },
	};
	static const enum rd_severity severities[] = { RD_SEV_CRITICAL, RD_SEV_WARNING, RD_SEV_WARNING, RD_SEV_UNKNOWN,
						       RD_SEV_OK };
	struct rd_section *section = section_of(items, RD_ARRAY_SIZE(items));

	for (size_t i = 0; i < section->n; i++)
		section->rows[i].severity = severities[i];
	return section;
}

PANE_TEST(groups_have_the_order_of_their_worst_rows)
{
	struct rd_grid_style style = plain;

	style.group = PEER;
	rd_pane_set(pane, worst_first(), &style, false);
	assert_lines(pane, "[x]u [y]b a [z]c d ");
	style.ranked = true;
	rd_pane_set(pane, worst_first(), &style, false);
	assert_lines(pane, "[z]c d [y]b a [x]u ");
	pane->sort = 0;
	pane->backwards = true;
	assert_lines(pane, "[z]d c [y]b a [x]u ");
}

static void next_problem(struct rd_pane *pane, const char *expected)
{
	assert_true(rd_pane_next_problem(pane, 3));
	assert_string_equal(rd_pane_row(pane)->cells[0].text, expected);
	assert_true(pane->cursor >= pane->top && pane->cursor < pane->top + 3);
}

PANE_TEST(the_next_problem_is_found_around_the_end_and_below_headings)
{
	struct rd_grid_style style = plain;

	style.group = PEER;
	assert_false(rd_pane_next_problem(pane, 3));
	rd_pane_set(pane, worst_first(), &style, false);
	rd_pane_home(pane, 3);
	next_problem(pane, "b");
	next_problem(pane, "c");
	next_problem(pane, "d");
	next_problem(pane, "b");
	strcpy(pane->filter, "d");
	rd_pane_arrange(pane);
	next_problem(pane, "d");
	next_problem(pane, "d"); /* the only one */
	strcpy(pane->filter, "u");
	rd_pane_arrange(pane);
	assert_false(rd_pane_next_problem(pane, 3));
}

PANE_TEST(removed_rows_are_neither_counted_nor_problems)
{
	const struct item healthy[] = { { "a", "x", 1, 0 } };

	rd_pane_set(pane, worst_first(), &plain, false);
	assert_int_equal(pane->n_rows, 5);
	rd_pane_set(pane, section_of(healthy, 1), &plain, false);
	ASSERT_EACH(IS(pane->grid.n, 5), IS(pane->grid.n_gone, 4), IS(pane->n_rows, 1));
	assert_false(rd_pane_next_problem(pane, 3));
}

PANE_TEST(columns_are_shown_in_the_order_given)
{
	static const int order[] = { COUNT, PEER, NAME, -1 };
	struct rd_grid_style style = plain;

	style.columns = order;
	style.group = PEER;
	rd_pane_set(pane, section_of(abc, 3), &style, false);
	assert_int_equal(pane->grid.n_columns, 2);
	assert_ptr_equal(pane->grid.columns[0], &columns[COUNT]);
	assert_ptr_equal(pane->grid.columns[1], &columns[NAME]);
	ASSERT_EACH(READS(pane->grid.rows[0].cells[0].text, "9"), READS(pane->grid.rows[0].cells[1].text, "a"),
		    READS(pane->grid.rows[0].key, "a\n"));
}

PANE_TEST(the_screen_follows_the_cursor_through_many_rows)
{
	static char names[10000][8];
	static struct item many[10000];

	for (size_t i = 0; i < 10000; i++) {
		snprintf(names[i], sizeof(names[i]), "n%05zu", i);
		many[i] = (struct item){ names[i], "x", i, 0 };
	}
	for (int look = 0; look < 3; look++)
		rd_pane_set(pane, section_of(many, 10000), &plain, false);
	rd_pane_end(pane, 20);
	ASSERT_EACH(IS(pane->top, 9980), READS(rd_pane_row(pane)->cells[0].text, "n09999"));
	rd_pane_move(pane, -20, 20);
	assert_int_equal(pane->top, 9979);
	rd_pane_move(pane, 0, 5); /* a smaller terminal */
	assert_true(pane->cursor >= pane->top && pane->cursor < pane->top + 5);
	rd_pane_home(pane, 5);
	assert_int_equal(pane->top, 0);
}

TEST(bars_and_sparklines_have_their_width)
{
	static const struct rd_column share[] = { { .key = "share", .type = RD_T_SHARE } };
	struct rd_section *spark = rd_section_create("spark", share, 1);
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_row_set(rd_section_add(spark), 0, RD_DOUBLE(0));
	rd_section_add(spark);
	rd_row_set(rd_section_add(spark), 0, RD_DOUBLE(1e-9));
	rd_row_set(rd_section_add(spark), 0, RD_DOUBLE(7));
	rd_render_spark(spark, 6, true, &out);
	assert_string_equal(out.data, "  _ .#");
	out.len = 0;
	rd_render_spark(spark, 2, false, &out);
	assert_string_equal(out.data, "▂█");
	for (double used = -1; used < 2; used += 0.01) {
		out.len = 0;
		rd_render_bar(used, 10, false, &out);
		assert_int_equal(rd_text_width(out.data), 10);
		out.len = 0;
		rd_render_bar(used, 10, true, &out);
		assert_int_equal(strlen(out.data), 10);
	}
	out.len = 0;
	rd_render_bar(0.5, 4, true, &out);
	assert_string_equal(out.data, "##  ");
	rd_section_destroy(spark);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	return unit_run(NULL, NULL);
}
