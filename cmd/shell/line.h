/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of the shell: words, then filters of the output, then a file for it.
 *
 *	WORD... [| include RE | exclude RE | count]... [> FILE | >> FILE] [# comment]
 *
 * Words are separated by spaces and tabs. '...' and "..." keep what is in them, a backslash keeps the next character.
 */
#ifndef RD_SHELL_LINE_H
#define RD_SHELL_LINE_H

#include <regex.h>

#include "base/base.h"
#include "base/err.h"

enum shell_filter_kind { SHELL_INCLUDE, SHELL_EXCLUDE, SHELL_COUNT };

struct shell_filter {
	enum shell_filter_kind kind;
	regex_t regex; /* not of COUNT */
};

struct shell_line {
	char **words; /* owned; NULL-terminated */
	size_t n, cap;
	struct shell_filter *filters;
	size_t n_filters, cap_filters;
	char *file; /* owned; NULL: none */
	bool append;
};

/* An empty line has no words. -EINVAL with `err` filled; then nothing is to be freed. */
int shell_line_parse(const char *text, struct shell_line *ret, struct rd_err *err);
void shell_line_deinit(struct shell_line *line);

/* The words before the cursor, for completion: of an incomplete text, in which quotes may be open. The last one is the one that is being
 * typed, and may be empty. Words of filters and files are left out: then *ret_command is false. */
void shell_line_typed(const char *text, struct shell_line *ret, bool *ret_command);

#endif
