/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hand-written tables: one entry per line, words separated by spaces, comments and empty lines anywhere. */
#ifndef RD_LINES_H
#define RD_LINES_H

#include "base/err.h"
#include "base/text.h"

/* Ten thousand lines; sites have a few hundred. */
#define RD_TABLE_BYTES ((size_t)1 << 20)

struct rd_lines {
	const char *name; /* the file's */
	bool continued;	  /* a line that begins with a space continues the line above it, unless that is a comment */
	unsigned number;  /* number of the first line of the current entry, from 1 */
	/* for lines.c */
	unsigned last;
	char *rest;
};

/* Begins to read `size` bytes of text; `texts` keeps a copy, and lines point into it. `name` must outlive `ret`. */
void rd_lines_init(struct rd_lines *ret, struct rd_texts *texts, const char *name, const char *text, size_t size);

/* The same for a table of at most RD_TABLE_BYTES: else -EFBIG with `err` filled. `what` it contains: "hints". */
int rd_lines_init_table(struct rd_lines *ret, struct rd_texts *texts, const char *what, const char *name,
			const char *text, size_t size, struct rd_err *err);

/* The next line that is neither empty nor a comment (#), trimmed; may be split in place (rd_words). NULL: end. */
char *rd_lines_next(struct rd_lines *lines);

/* An error in the current line. The message is "line N" followed by `fmt`: ": no such name". Returns -code. */
int rd_lines_err(const struct rd_lines *lines, struct rd_err *err, int code, const char *fmt, ...) RD_PRINTF(4, 5);

#endif
