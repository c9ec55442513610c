/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line of the shell: words, then a file for the output, or a command of sh that gets it.
 *
 *	WORD... [> FILE | >> FILE] [# comment]
 *	WORD... '|' COMMAND
 *
 * Words are separated by spaces and tabs. '...' and "..." keep what is in them, a backslash keeps the next character.
 */
#ifndef RD_SHELL_LINE_H
#define RD_SHELL_LINE_H

#include "base/base.h"
#include "base/err.h"

struct shell_line {
	char **words; /* owned; NULL-terminated */
	size_t n, cap;
	char *program; /* owned; the rest of the line behind a bar, for sh. NULL: none */
	char *file;    /* owned; NULL: none */
	bool append;
};

/* An empty line has no words. -EINVAL with `err` filled; then nothing is to be freed. */
int shell_line_parse(const char *text, struct shell_line *ret, struct rd_err *err);
void shell_line_deinit(struct shell_line *line);

/* The words before the cursor, for completion: of an incomplete text, in which quotes may be open. The last one is the one that is being
 * typed, and may be empty. Behind a bar or in front of a file *ret_command is false. */
void shell_line_typed(const char *text, struct shell_line *ret, bool *ret_command);

#endif
