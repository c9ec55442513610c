/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SHELL_REGEX_COST_H
#define RD_SHELL_REGEX_COST_H

#include <stddef.h>

#define SHELL_REGEX_COST_MAX 500 /* closures of repetitions take the square of it */

/*
 * How many parts an extended regular expression has once repetitions are written out, as regcomp(3) of glibc does: "x+" becomes xx*,
 * "x{9}" nine of them, so that "x++++++++++++++++++++++++++++++" would take all memory. SHELL_REGEX_COST_MAX + 1: more than that, or
 * groups that are nested deeper than 32, or a back-reference.
 */
size_t shell_regex_cost(const char *text);

#endif
