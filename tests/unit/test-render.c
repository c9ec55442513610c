/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "render/render.h"
#include "report/shared/report.h"

#include <json-c/json.h>
#include <math.h>

enum { NAME, COUNT, BALANCE, SHARE, UP, SINCE, TAGS, EXTRA };

static const struct rd_column columns[] = {
	[NAME] = { .key = "name", .title = "NAME", .type = RD_T_STR },
	[COUNT] = { .key = "count", .title = "COUNT", .type = RD_T_UINT },
	[BALANCE] = { .key = "balance", .title = "BALANCE", .type = RD_T_INT },
	[SHARE] = { .key = "share_percent", .title = "SHARE", .type = RD_T_DOUBLE, .decimals = 2 },
	[UP] = { .key = "up", .title = "UP", .type = RD_T_BOOL },
	[SINCE] = { .key = "since", .title = "SINCE", .type = RD_T_TIME, .hidden = true },
	[TAGS] = { .key = "tags", .title = "TAGS", .type = RD_T_STRS },
	[EXTRA] = { .key = "extra", .type = RD_T_STR },
};
static const struct rd_column tag_columns[] = { { .key = "tag", .type = RD_T_STR } };
static const struct rd_column map_columns[] = { { .key = "key", .type = RD_T_STR },
						{ .key = "value", .type = RD_T_UINT } };

static struct rd_section *things(void)
{
	struct rd_section *section = rd_section_create("things", columns, RD_ARRAY_SIZE(columns));
	struct rd_section *tags = rd_section_create("tags", tag_columns, 1);
	struct rd_row *row;

	rd_row_set(rd_section_add(tags), 0, RD_STR("a"));
	rd_row_set(rd_section_add(tags), 0, RD_STR("b"));
	row = rd_section_add(section);
	rd_row_set(row, NAME, RD_STR("first"));
	rd_row_set(row, COUNT, RD_UINT(UINT64_MAX));
	rd_row_set(row, BALANCE, RD_INT(-5));
	rd_row_set(row, SHARE, RD_DOUBLE(12.5));
	rd_row_set(row, UP, RD_BOOL(true));
	rd_row_set(row, SINCE, RD_UINT(1700000000123456789u));
	rd_row_set(row, TAGS, RD_SUB(tags));
	rd_row_set(row, EXTRA, RD_STR("x y"));
	rd_section_add(section);
	return section;
}

static void section_destroyp(struct rd_section **section)
{
	rd_section_destroy(*section);
}

static void assert_table(const struct rd_section *section, struct rd_table_style style, const char *expected)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	assert_int_equal(rd_render_table(section, &style, &out, NULL), 0);
	assert_string_equal(out.data, expected);
}

TEST(unknown_is_a_dash_in_a_table_and_never_zero)
{
	_cleanup_(section_destroyp) struct rd_section *section = things();

	assert_table(section, (struct rd_table_style){ 0 },
		     "NAME                 COUNT BALANCE SHARE UP  TAGS\n"
		     "first 18446744073709551615      -5 12.50 yes a,b\n"
		     "-                        -       -     - -   -\n");
}

TEST(columns_can_be_chosen_added_and_left_without_headings)
{
	_cleanup_(section_destroyp) struct rd_section *section = things();

	assert_table(section, (struct rd_table_style){ .columns = "up,NAME" }, "UP  NAME\nyes first\n-   -\n");
	assert_table(section, (struct rd_table_style){ .columns = RD_ALL_COLUMNS, .raw = true },
		     "NAME COUNT BALANCE SHARE UP SINCE TAGS extra\n"
		     "first 18446744073709551615 -5 12.50 yes 2023-11-14\\x2022:13:20.123456 a,b x\\x20y\n"
		     "- - - - - - - -\n");
	assert_table(section, (struct rd_table_style){ .columns = "name,extra", .no_headings = true },
		     "first x y\n-     -\n");
	assert_table(section, (struct rd_table_style){ .columns = "+extra", .raw = true },
		     "NAME COUNT BALANCE SHARE UP TAGS extra\n"
		     "first 18446744073709551615 -5 12.50 yes a,b x\\x20y\n"
		     "- - - - - - -\n");
}

TEST(a_column_that_is_not_there_is_named_with_those_that_are)
{
	const struct rd_table_style style = { .columns = "name,size" }, empty = { .columns = "name," };
	_cleanup_(section_destroyp) struct rd_section *section = things();
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };

	assert_int_equal(rd_render_table(section, &style, &out, &err), -EINVAL);
	ASSERT_EACH(HAS(err.message, "'size'"), HAS(err.hint, "name,count,balance"));
	assert_int_equal(rd_render_table(section, &empty, &out, &err), -EINVAL);
	assert_int_equal(out.len, 0);
}

TEST(an_empty_table_keeps_its_headings)
{
	_cleanup_(section_destroyp) struct rd_section *section =
		rd_section_create("things", columns, RD_ARRAY_SIZE(columns));

	assert_table(section, (struct rd_table_style){ .columns = "name,up" }, "NAME UP\n");
	assert_table(section, (struct rd_table_style){ .columns = "name,up", .raw = true }, "NAME UP\n");
}

TEST(a_hostile_name_cannot_break_a_table)
{
	_cleanup_(section_destroyp) struct rd_section *section =
		rd_section_create("things", columns, RD_ARRAY_SIZE(columns));

	rd_row_set(rd_section_add(section), NAME, RD_STR("\033[31mred\nnext"));
	assert_table(section, (struct rd_table_style){ .columns = "name,up" },
		     "NAME                UP\n\\x1b[31mred\\x0anext -\n");
	assert_table(section, (struct rd_table_style){ .columns = "name", .raw = true },
		     "NAME\n\\x1b[31mred\\x0anext\n");
}

TEST(nothing_is_lost_on_a_narrow_terminal)
{
	_cleanup_(section_destroyp) struct rd_section *section =
		rd_section_create("things", columns, RD_ARRAY_SIZE(columns));
	const struct rd_table_style style = { .columns = "up,name", .width = 20 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	size_t letters = 0;

	rd_row_set(rd_section_add(section), NAME, RD_STR("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
	assert_int_equal(rd_render_table(section, &style, &out, NULL), 0);
	for (const char *p = out.data; *p; p++)
		letters += *p == 'x';
	assert_int_equal(letters, 40);
	for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 20);
}

TEST(colour_is_there_only_when_asked)
{
	_cleanup_(section_destroyp) struct rd_section *section = things();
	const struct rd_table_style colour = { .colour = true }, plain = { 0 };
	_cleanup_buf_ struct rd_buf with = { 0 }, without = { 0 };

	assert_int_equal(rd_render_table(section, &colour, &with, NULL), 0);
	assert_int_equal(rd_render_table(section, &plain, &without, NULL), 0);
	ASSERT_EACH(IS(strchr(with.data, '\033') != NULL, true), IS(strchr(without.data, '\033') == NULL, true));
}

TEST(a_value_of_another_type_stays_unknown)
{
	_cleanup_(section_destroyp) struct rd_section *section =
		rd_section_create("things", columns, RD_ARRAY_SIZE(columns));
	struct rd_row *row = rd_section_add(section);

	rd_row_set(row, NAME, RD_UINT(12345));
	rd_row_set(row, COUNT, RD_STR("text"));
	rd_row_set(row, 99, RD_UINT(1));
	assert_table(section, (struct rd_table_style){ .columns = "name,count" }, "NAME COUNT\n-        -\n");
}

TEST(a_json_line_has_every_key_and_null_for_unknown)
{
	_cleanup_(section_destroyp) struct rd_section *section = things();
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_row_set(&section->rows[1], SHARE, RD_DOUBLE(NAN));
	rd_render_json_row(section, 0, &out);
	rd_render_json_row(section, 1, &out);
	assert_string_equal(out.data,
			    "{\"name\":\"first\",\"count\":18446744073709551615,\"balance\":-5,"
			    "\"share_percent\":12.50,\"up\":true,\"since\":\"2023-11-14T22:13:20.123456Z\","
			    "\"tags\":[\"a\",\"b\"],\"extra\":\"x y\"}\n"
			    "{\"name\":null,\"count\":null,\"balance\":null,\"share_percent\":null,\"up\":null,"
			    "\"since\":null,\"tags\":null,\"extra\":null}\n");
}

TEST(json_from_hostile_names_is_valid_and_harmless)
{
	_cleanup_(section_destroyp) struct rd_section *section =
		rd_section_create("things", columns, RD_ARRAY_SIZE(columns));
	_cleanup_buf_ struct rd_buf out = { 0 };
	json_object *parsed, *name;

	rd_row_set(rd_section_add(section), NAME, RD_STR("\033\"\\\xff\xc2\x9b\177/ü\xe2\x80\xae\xf3\xa0\x80\x81"));
	rd_render_json_row(section, 0, &out);
	assert_non_null(strstr(out.data, "\"\\u001b\\\"\\\\\\\\xff\\u009b\\u007f/ü\\u202e\\udb40\\udc01\""));
	parsed = json_tokener_parse(out.data);
	assert_non_null(parsed);
	assert_true(json_object_object_get_ex(parsed, "name", &name));
	assert_string_equal(json_object_get_string(name), "\033\"\\\\xff\xc2\x9b\177/ü\xe2\x80\xae\xf3\xa0\x80\x81");
	json_object_put(parsed);
}

static const struct rd_column scalar_columns[] = {
	{ .key = "seconds", .type = RD_T_DOUBLE, .decimals = 1 },
	{ .key = "backends", .type = RD_T_MAP },
	{ .key = "origin", .type = RD_T_OBJECT },
};

static void fill_report(struct rd_report *report)
{
	struct rd_section *map = rd_section_create("backends", map_columns, RD_ARRAY_SIZE(map_columns));
	struct rd_section *origin = rd_section_create("origin", tag_columns, 1);
	struct rd_row *row;
	struct rd_err err;

	row = rd_section_add(map);
	rd_row_set(row, 0, RD_STR("fexit"));
	rd_row_set(row, 1, RD_UINT(7));
	rd_row_set(rd_section_add(origin), 0, RD_STR("t"));
	report->host = strdup("node1");
	report->time = 1700000000000001000u;
	report->source = "live";
	report->scalars = rd_section_create("scalars", scalar_columns, RD_ARRAY_SIZE(scalar_columns));
	row = rd_section_add(report->scalars);
	rd_row_set(row, 0, RD_DOUBLE(1));
	rd_row_set(row, 1, RD_SUB(map));
	rd_row_set(row, 2, RD_SUB(origin));
	rd_report_add(report, rd_section_create("things", tag_columns, 1));
	rd_err_set(&err, EACCES, "/sys/x", "cannot read");
	rd_errlist_add(&report->errors, &err);
	report->status = 3;
}

TEST(a_document_has_its_keys_in_the_promised_order)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "rdmadiag/x/1");
	fill_report(&report);
	rd_render_json_line(&report, "1.0", &out);
	assert_string_equal(out.data,
			    "{\"schema\":\"rdmadiag/x/1\",\"version\":\"1.0\",\"host\":\"node1\","
			    "\"time\":\"2023-11-14T22:13:20.000001Z\",\"source\":\"live\",\"seconds\":1.0,"
			    "\"backends\":{\"fexit\":7},\"origin\":{\"tag\":\"t\"},\"things\":[],"
			    "\"counts\":{\"critical\":0,\"warning\":0,\"unknown\":0,\"note\":0},\"findings\":[],"
			    "\"errors\":[{\"object\":\"/sys/x\",\"errno\":\"EACCES\",\"message\":\"cannot read\","
			    "\"hint\":null}],\"status\":3}\n");
}

TEST(zeros_are_written_as_other_numbers)
{
	static const struct rd_column zeros[] = {
		{ .key = "a", .type = RD_T_DOUBLE, .decimals = 1 },
		{ .key = "b", .type = RD_T_DOUBLE, .decimals = 3 },
		{ .key = "none", .type = RD_T_DOUBLE },
		{ .key = "many", .type = RD_T_DOUBLE, .decimals = 6 },
		{ .key = "below", .type = RD_T_DOUBLE, .decimals = 1 },
		{ .key = "share", .type = RD_T_SHARE, .decimals = 1 },
	};
	_cleanup_(rd_report_deinit) struct rd_report report;
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_report_init(&report, "rdmadiag/x/1");
	report.scalars = RD_SECTION("scalars", zeros);
	RD_ROW(report.scalars, RD_DOUBLE(0), RD_DOUBLE(0), RD_DOUBLE(0), RD_DOUBLE(0), RD_DOUBLE(-0.0), RD_DOUBLE(0));
	rd_render_json_line(&report, "1.0", &out);
	assert_non_null(
		strstr(out.data, "\"a\":0.0,\"b\":0.000,\"none\":0,\"many\":0.000000,\"below\":-0.0,\"share\":0.0000"));
}

TEST(a_bundle_says_when_it_was_read)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report;

	rd_report_init(&report, "rdmadiag/x/1");
	report.source = "bundle";
	RD_SET(report.read_at, 1700000000000000000u);
	rd_render_json(&report, "1.0", &out);
	ASSERT_HAS(out.data, "\"host\": null",
		   "\"source\": \"bundle\",\n  \"read_at\": \"2023-11-14T22:13:20.000000Z\"");
}
