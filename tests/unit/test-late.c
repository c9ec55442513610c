/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that are loaded when they are needed: what an operator reads where one is not there. */
#include "unit.h"

#include "base/late.h"

#include <math.h>

static struct {
	double (*cos)(double);
	double (*sqrt)(double);
} table;

static int load(const char *soname, const char *second, struct rd_err *err)
{
	const char *const names[] = { "cos", second };
	const struct rd_library library = { .soname = soname, .without = "angles are not known", .package = "libfoo" };
	struct rd_late late = {
		.library = &library,
		.names = names,
		.n = RD_ARRAY_SIZE(names),
		.table = &table,
	};

	return rd_late_load(&late, "eth0", err);
}

TEST(a_library_that_is_not_there_is_named_with_what_to_install)
{
	struct rd_err err = { 0 };

	assert_int_equal(load("librdmadiag-nowhere.so.1", "sqrt", &err), -EOPNOTSUPP);
	assert_string_equal(err.object, "eth0");
	ASSERT_HAS(err.message, "angles are not known", "librdmadiag-nowhere.so.1");
	assert_string_equal(err.hint, "install libfoo");
}

TEST(a_library_without_one_of_the_functions_is_as_good_as_none)
{
	struct rd_err err = { 0 };

	assert_int_equal(load("libm.so.6", "no_such_function", &err), -EOPNOTSUPP);
	ASSERT_EACH(HAS(err.message, "no_such_function"), IS(table.cos == NULL, true));
}

/* A process may have given up the right to look between the two calls. */
TEST(why_a_library_is_not_there_is_found_out_once)
{
	static const char *const names[] = { "cos", "sqrt" };
	struct rd_library library = { .soname = "librdmadiag-nowhere.so.1",
				      .without = "angles are not known",
				      .package = "libfoo" };
	struct rd_late late = { .library = &library, .names = names, .n = 2, .table = &table };
	struct rd_err first = { 0 }, second = { 0 };

	assert_int_equal(rd_late_load(&late, "eth0", &first), -EOPNOTSUPP);
	library.soname = "libm.so.6";
	assert_int_equal(rd_late_load(&late, "eth1", &second), -EOPNOTSUPP);
	ASSERT_EACH(READS(second.message, first.message), READS(second.object, "eth1"));
}

TEST(functions_are_those_of_their_names)
{
	assert_int_equal(load("libm.so.6", "sqrt", NULL), 0);
	assert_true(table.cos(0) == 1);
	assert_true(table.sqrt(9) == 3);
	assert_int_equal(load("librdmadiag-nowhere.so.1", "sqrt", NULL), 0); /* it is there already */
}
