/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Long values of the page of a row: nothing is lost, nothing is wider than the screen. */
#include "unit.h"

#include <locale.h>

#include "view/grid.h"

static const struct rd_column columns[] = {
	{ .key = "name", .title = "NAME", .type = RD_T_STR },
	{ .key = "value", .title = "VALUE", .type = RD_T_STR },
};
static const struct rd_column numbers[] = {
	{ .key = "name", .title = "NAME", .type = RD_T_STR },
	{ .key = "count", .title = "COUNT", .type = RD_T_UINT },
};

static const char text[] =
	"each time, queue pairs fail with completion status 12; "
	"/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed-and-a-word-that-is-longer-than-a-line, ü";

TEST(words_are_kept_and_lines_fit)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	for (int width = 30; width < 200; width += 7) {
		struct rd_section *section = rd_section_create("page", columns, 2), *wrapped;
		_cleanup_buf_ struct rd_buf all = { 0 };
		struct rd_row *row = rd_section_add(section);

		rd_row_set(row, 0, RD_STR("why"));
		rd_row_set(row, 1, RD_STR(text));
		row = rd_section_add(section);
		rd_row_set(row, 0, RD_STR("expected"));
		wrapped = rd_wrap_values(section, width);
		for (size_t i = 0; i < wrapped->n; i++) {
			const struct rd_cell *cells = wrapped->rows[i].cells;

			assert_true(rd_text_width("expected") + 1 + rd_text_width(cells[1].s) <= width);
			assert_string_equal(cells[0].s, i == 0 ? "why" : i + 1 == wrapped->n ? "expected" : "");
			if (i + 1 < wrapped->n)
				rd_buf_str(&all, cells[1].s);
		}
		assert_string_equal(wrapped->rows[wrapped->n - 1].cells[1].s, "-");
		/* But for the blanks at which it was wrapped. */
		for (const char *a = text, *b = all.data; *a || *b; a++) {
			if (*a == ' ' && *b != ' ')
				continue;
			assert_int_equal(*a, *b);
			b++;
		}
		rd_section_destroy(wrapped);
	}
}

TEST(other_tables_stay_as_they_are)
{
	struct rd_section *section = rd_section_create("page", numbers, 2);

	rd_row_set(rd_section_add(section), 0, RD_STR(text));
	assert_ptr_equal(rd_wrap_values(section, 30), section);
	rd_section_destroy(section);
}
