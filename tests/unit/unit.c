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

static bool is_as_expected(const struct unit_value *value)
{
	if (!value->words)
		return value->is == value->expected;
	if (!value->text)
		return false;
	if (value->how == READS_ALL)
		return strcmp(value->text, value->words) == 0;
	return !strstr(value->text, value->words) == (value->how == READS_WITHOUT);
}

void unit_assert_each(const struct unit_value *values, const char *file, int line)
{
	static const char *const instead[] = { "", "with ", "without " };
	bool differ = false;

	for (; values->name; values++) {
		if (is_as_expected(values))
			continue;
		if (values->words)
			print_error("%s is \"%s\", not %s\"%s\"\n", values->name,
				    values->text ? values->text : "(null)", instead[values->how], values->words);
		else
			print_error("%s is %jd, not %jd\n", values->name, (intmax_t)values->is,
				    (intmax_t)values->expected);
		differ = true;
	}
	if (differ)
		_fail(file, line);
}

void unit_assert_has(const char *text, const char *const *parts, const char *file, int line)
{
	for (; *parts; parts++)
		if (!text || !strstr(text, *parts)) {
			print_error("\"%s\" is not in \"%s\"\n", *parts, text ? text : "(null)");
			_fail(file, line);
		}
}

__attribute__((weak)) int main(void)
{
	return unit_run(NULL, NULL) ? EXIT_FAILURE : EXIT_SUCCESS;
}
