/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections whose rows are made when they are read. */
#include "unit.h"

#include "render/render.h"

enum { NAME, COUNT, TAGS, COLUMNS };

static const struct rd_column columns[COLUMNS] = {
	[NAME] = { .key = "name", .title = "NAME", .type = RD_T_STR },
	[COUNT] = { .key = "count", .title = "COUNT", .type = RD_T_UINT },
	[TAGS] = { .key = "tags", .title = "TAGS", .type = RD_T_STRS },
};
static const struct rd_column tag_columns[] = { { .key = "tag", .type = RD_T_STR } };

#define ROWS 5

struct facts {
	char *names[ROWS];
};

/* Row 2 has a count only. */
static void make(const void *arg, size_t i, struct rd_row *row)
{
	const struct facts *facts = arg;
	struct rd_section *tags;

	rd_row_set(row, COUNT, RD_UINT(i * 1000));
	rd_row_set(row, NAME, RD_BORROW(i == 2 ? NULL : facts->names[i]));
	if (i == 2)
		return;
	tags = rd_section_create("tags", tag_columns, 1);
	rd_row_set(rd_section_add(tags), 0, RD_STR(facts->names[i]));
	rd_row_set(row, TAGS, RD_SUB(tags));
	row->severity = i == 4 ? RD_SEV_WARNING : RD_SEV_OK;
}

static struct rd_section *made(void)
{
	static const char *const names[ROWS] = { "a", "long name", "none", "\x1b[2J", "日本" };
	struct facts *facts = rd_alloc(1, sizeof(*facts));

	for (size_t i = 0; i < ROWS; i++)
		facts->names[i] = (char *)names[i];
	return rd_section_create_made("things", columns, COLUMNS, ROWS, make, facts);
}

static struct rd_section *stored(void)
{
	struct rd_section *from = made(), *section = rd_section_create("things", columns, COLUMNS);

	for (size_t i = 0; i < ROWS; i++)
		make(from->arg, i, rd_section_add(section));
	rd_section_destroy(from);
	return section;
}

static char *as_table(const struct rd_section *section, struct rd_table_style style)
{
	struct rd_buf out = { 0 };

	assert_int_equal(rd_render_table(section, &style, &out, NULL), 0);
	return out.data;
}

/* Takes ownership of the section. */
static char *as_document(struct rd_section *section)
{
	struct rd_report report;
	struct rd_buf out = { 0 };

	rd_report_init(&report, "rdmadiag/test/1");
	rd_report_add(&report, section);
	rd_render_json(&report, "0", &out);
	rd_report_deinit(&report);
	return out.data;
}

static char *as_metrics(struct rd_section *section)
{
	struct rd_report report;
	struct rd_buf out = { 0 };

	rd_report_init(&report, "rdmadiag/test/1");
	rd_metrics_add_section(rd_metrics_family(&report.metrics, "things", RD_METRIC_GAUGE, NULL, "Things."), section,
			       COUNT, (const int[]){ NAME, -1 });
	rd_render_metrics(&report, "test", "0", RD_OPENMETRICS, &out);
	rd_report_deinit(&report);
	rd_section_destroy(section);
	return out.data;
}

static void assert_same(char *a, char *b)
{
	assert_string_equal(a, b);
	free(a);
	free(b);
}

TEST(made_rows_look_like_stored_rows)
{
	static const struct rd_table_style styles[] = { { 0 },		 { .no_headings = true },
							{ .raw = true }, { .columns = "count,name" },
							{ .width = 20 }, { .width = 20, .colour = true } };

	for (size_t i = 0; i < RD_ARRAY_SIZE(styles); i++) {
		struct rd_section *a = made(), *b = stored();

		assert_same(as_table(a, styles[i]), as_table(b, styles[i]));
		rd_section_destroy(a);
		rd_section_destroy(b);
	}
	assert_same(as_document(made()), as_document(stored()));
	assert_same(as_metrics(made()), as_metrics(stored()));
}

TEST(a_cell_of_the_row_before_is_not_in_the_next)
{
	struct rd_section *section = made();

	assert_int_equal(rd_section_row(section, 4)->severity, RD_SEV_WARNING);
	assert_int_equal(rd_section_row(section, 2)->cells[NAME].known, RD_ABSENT);
	assert_int_equal(rd_section_row(section, 2)->cells[TAGS].known, RD_ABSENT);
	assert_int_not_equal(rd_section_row(section, 2)->severity, RD_SEV_WARNING);
	rd_section_destroy(section);
}

TEST(stored_rows_outlive_what_they_were_made_from)
{
	struct facts *facts = rd_alloc(1, sizeof(*facts));
	struct rd_section *section;
	char *name = rd_dup("mlx5_0");

	for (size_t i = 0; i < ROWS; i++)
		facts->names[i] = name;
	section = rd_section_create_made("things", columns, COLUMNS, ROWS, make, facts);
	rd_section_store(section);
	memset(name, '?', strlen(name));
	free(name);
	assert_int_equal(section->n, ROWS);
	for (size_t i = 0; i < ROWS; i++)
		if (i != 2)
			assert_string_equal(rd_section_row(section, i)->cells[NAME].s, "mlx5_0");
	rd_row_set(&section->rows[0], NAME, RD_STR("other"));
	rd_section_destroy(section);
}

static struct rd_buf pieces;

static void take(const struct rd_buf *buf)
{
	rd_buf_add(&pieces, buf->data, buf->len);
}

/* Output that is written in pieces is the same as output that is not, and its buffer stays small. */
TEST(pieces_of_output_are_complete_and_in_order)
{
	_cleanup_buf_ struct rd_buf out = { .take = take }, whole = { 0 };

	for (int i = 0; i < 50000; i++) {
		rd_buf_printf(&out, "%d %s\n", i, i % 7 ? "x" : "a longer line");
		rd_buf_printf(&whole, "%d %s\n", i, i % 7 ? "x" : "a longer line");
	}
	for (size_t i = 0; i < 3 * RD_BUF_PIECE; i++) {
		rd_buf_add(&out, "y", 1);
		rd_buf_add(&whole, "y", 1);
	}
	assert_true(out.cap <= 2 * RD_BUF_PIECE);
	take(&out);
	assert_int_equal(pieces.len, whole.len);
	assert_memory_equal(pieces.data, whole.data, whole.len);
	rd_buf_deinit(&pieces);
}
