/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes. A test is named by what a user would notice if it failed. */
#ifndef RD_UNIT_H
#define RD_UNIT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

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

/* Leaves a test out, with the reason, which cmocka does not take: tests/check.sh reads it. */
#define SKIP(why)                                  \
	do {                                       \
		print_message("# why: " why "\n"); \
		skip();                            \
	} while (0)

#endif
