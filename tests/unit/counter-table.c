/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counter-table.h"

#include "unit.h"

void counter_table_read(struct rd_meanings *ret)
{
	static char text[1 << 20];
	struct rd_errlist notes = { 0 };
	FILE *file = fopen("data/counters", "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, sizeof(text), file);
	fclose(file);
	assert_in_range(n, 1, sizeof(text) - 1);
	assert_int_equal(rd_meanings_parse("data/counters", text, n, ret, &notes, NULL), 0);
	assert_int_equal(notes.n, 0);
}
