/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the lines of the shell come from: somebody at a terminal, with completion and history, or a file. */
#ifndef RD_SHELL_READER_H
#define RD_SHELL_READER_H

#include "base/base.h"

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

#endif
