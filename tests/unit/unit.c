/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

static struct entry {
	unsigned line;
	struct CMUnitTest test;
} entries[64];
static size_t n_entries;

void unit_add(unsigned line, struct CMUnitTest test)
{
	if (n_entries == RD_ARRAY_SIZE(entries))
		abort();
	entries[n_entries++] = (struct entry){ line, test };
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

int unit_run(int (*setup)(void **state), int (*teardown)(void **state))
{
	struct CMUnitTest tests[RD_ARRAY_SIZE(entries)];

	rd_sort(entries, n_entries, sizeof(*entries), compare);
	for (size_t i = 0; i < n_entries; i++)
		tests[i] = entries[i].test;
	return _cmocka_run_group_tests(program_invocation_short_name, tests, n_entries, setup, teardown);
}

__attribute__((weak)) int main(void)
{
	return unit_run(NULL, NULL) ? EXIT_FAILURE : EXIT_SUCCESS;
}
