/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the shell, and how it runs commands. */
#ifndef RD_SHELL_H
#define RD_SHELL_H

#include <termios.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * A line of the shell: words, then a file for the output, or a command of sh that gets it.
 *
 *	WORD... [> FILE | >> FILE] [# comment]
 *	WORD... '|' COMMAND
 *
 * Words are separated by spaces and tabs. '...' and "..." keep what is in them, a backslash keeps the next character.
 */

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

/* The numbered findings of the latest command that printed some: "explain 2", "fix 2". */

#define SHELL_FINDINGS_MAX 1000
#define SHELL_FINDINGS_BYTES ((size_t)1 << 20)

struct shell_finding {
	unsigned number;
	char *text, *fix; /* lines, escaped; owned */
};

struct shell_findings {
	struct shell_finding *v;
	size_t n, cap;
	struct rd_buf pending; /* read from the command, and not complete */
};

/* Takes bytes that a command has written; a finding with the number 1 replaces what is known. */
void shell_findings_take(struct shell_findings *findings, const void *data, size_t size);

/* NULL: no such number. */
const struct shell_finding *shell_findings_get(const struct shell_findings *findings, unsigned number);

void shell_findings_deinit(struct shell_findings *findings);

/* Where the lines of the shell come from: somebody at a terminal, with completion and history, or a file. */

struct shell_reader {
	/* Candidates for the last word before the cursor, as `complete` prints them: "WORD\tDESCRIPTION\n" or ":file\n"; the caller frees
	 * the text. NULL: nothing can be completed there. */
	char *(*complete)(void *arg, const char *before);
	void *arg;
	bool edits;    /* readline is in use */
	char *history; /* file; owned. NULL: none */
	int new_lines; /* added to the history since the start */
};

enum shell_read {
	SHELL_READ_LINE,
	SHELL_READ_INTERRUPTED, /* Ctrl-C: what was typed is dropped */
	SHELL_READ_END,		/* end of the input, or a signal that ends the program */
};

/* `terminal`: loads readline, and the history. Without readline lines are read plainly. */
void shell_reader_open(struct shell_reader *reader, bool terminal);

/* The caller frees *ret. `prompt`: NULL: none. */
enum shell_read shell_reader_next(struct shell_reader *reader, const char *prompt, char **ret);

/* Writes the history. */
void shell_reader_close(struct shell_reader *reader);

struct shell {
	char *bundle; /* in use, as the user named it; owned. NULL: this host */
	struct shell_findings findings;
	char *source;	      /* the command line that printed the findings; owned, NULL: none */
	bool terminal;	      /* somebody types the lines; commands run in process groups of their own */
	struct termios modes; /* of the terminal, before a command */
};

#endif
