/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes. A test is named by what a user would notice if it failed. */
#ifndef RD_UNIT_H
#define RD_UNIT_H

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/text.h"

/*
 * TEST(name) stands before the body of a test, which unit_run then finds. A test may have a fixture: `setup` and `teardown` run
 * before and after it (NULL: none), and set and release what `*state` points to.
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                       \
	static void name(void **state);                                                        \
	static __attribute__((constructor)) void add_##name(void)                              \
	{                                                                                      \
		unit_add(__LINE__, (struct CMUnitTest){ #name, name, setup, teardown, NULL }); \
	}                                                                                      \
	static void name(void **state)

/* The same; the body has `var`, which points to the TYPE that `setup` made. */
#define TEST_OF(name, type, var, setup, teardown) \
	static void name##_with(type *var);       \
	TEST_WITH(name, setup, teardown)          \
	{                                         \
		name##_with(*state);              \
	}                                         \
	static void name##_with(type *var)

/* Here `var` points to a TYPE on the stack that begins as `init`; `deinit` is called with it in the end. */
#define TEST_ON(name, type, var, init, deinit)                         \
	static void name##_with(type *var);                            \
	TEST(name)                                                     \
	{                                                              \
		__attribute__((cleanup(deinit))) type on_stack = init; \
		name##_with(&on_stack);                                \
	}                                                              \
	static void name##_with(type *var)

/* The same, where `begin` is called with it before the body, and `end` after. */
#define TEST_BEGUN(name, type, var, begin, end)                      \
	static void name##_with(type *var);                          \
	TEST(name)                                                   \
	{                                                            \
		__attribute__((cleanup(end))) type on_stack = { 0 }; \
		begin(&on_stack);                                    \
		name##_with(&on_stack);                              \
	}                                                            \
	static void name##_with(type *var)

void unit_add(unsigned line, struct CMUnitTest test);
/* Runs the tests of the program in the order of their lines, and `setup` and `teardown` (NULL: none) around them all; the number of
 * those that failed. A program without a main function of its own does only that. */
int unit_run(int (*setup)(void **state), int (*teardown)(void **state));

/* Compares values one by one: ASSERT_EACH(IS(ev.pid, 77), READS(ev.comm, "train"), HAS(ev.why, "memory")). A failure says which of
 * them is another. All are read before the first is compared, in no order: one that guards another, as a count does an index,
 * stands before, by itself. */
struct unit_value {
	const char *name;
	uintmax_t is, expected;
	const char *text, *words; /* words NULL: a number */
	enum { READS_ALL, READS_PART, READS_WITHOUT } how;
};
/* "| 0" refuses what has a fraction. */
#define IS(number, expected)                                                                           \
	{                                                                                              \
#number, (uintmax_t)((number) | 0), (uintmax_t)((expected) | 0), NULL, NULL, READS_ALL \
	}
#define READS(text, words)                          \
	{                                           \
#text, 0, 0, text, words, READS_ALL \
	}
/* The words are in the text, or not. */
#define HAS(text, words)                             \
	{                                            \
#text, 0, 0, text, words, READS_PART \
	}
#define LACKS(text, words)                              \
	{                                               \
#text, 0, 0, text, words, READS_WITHOUT \
	}
#define ASSERT_EACH(...) \
	unit_assert_each((const struct unit_value[]){ __VA_ARGS__, { .name = NULL } }, __FILE__, __LINE__)
void unit_assert_each(const struct unit_value *values, const char *file, int line);

/* Each of these parts is in the text, which a failure shows. */
#define ASSERT_HAS(text, ...) unit_assert_has(text, (const char *const[]){ __VA_ARGS__, NULL }, __FILE__, __LINE__)
void unit_assert_has(const char *text, const char *const *parts, const char *file, int line);

/* Leaves a test out, with the reason, which cmocka does not take: tests/check.sh reads it. */
#define SKIP(why)                                  \
	do {                                       \
		print_message("# why: " why "\n"); \
		skip();                            \
	} while (0)

#endif
