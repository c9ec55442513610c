/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes. A test is named by what a user would notice if it failed. */
#ifndef RD_UNIT_H
#define RD_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#define TEST(fn) cmocka_unit_test(fn)

/* Leaves a test out, with the reason, which cmocka does not take: tests/check.sh reads it. */
#define SKIP(why)                                  \
	do {                                       \
		print_message("# why: " why "\n"); \
		skip();                            \
	} while (0)

#endif
