/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that people write: a line each entry, words between blanks, comments and empty lines anywhere. */
#ifndef RD_LINES_H
#define RD_LINES_H

#include "base/err.h"
#include "base/text.h"

/* Ten thousand lines; sites have some hundred. */
#define RD_TABLE_BYTES ((size_t)1 << 20)

struct rd_lines {
	const char *name; /* the file's */
	bool continued;	  /* what begins with a blank goes on with the line above it; a comment does not go on */
	unsigned number;  /* where the line that came last begins, from 1 */
	/* for lines.c */
	unsigned last;
	char *rest;
};

/* Begins to read `size` bytes of text, of which `texts` keeps a copy: lines point into it. `name` must outlive `ret`. */
void rd_lines_init(struct rd_lines *ret, struct rd_texts *texts, const char *name, const char *text, size_t size);

/* The same for a table, which has RD_TABLE_BYTES at most: else -EFBIG with `err` filled. `what` it holds: "hints". */
int rd_lines_init_table(struct rd_lines *ret, struct rd_texts *texts, const char *what, const char *name,
			const char *text, size_t size, struct rd_err *err);

/* The next line that is neither empty nor a comment (#), freed of blanks and to be cut in place (rd_words); NULL: no more. */
char *rd_lines_next(struct rd_lines *lines);

/* An error in the line that came last. The message begins with "line N", and `fmt` goes on: ": no such name", " is no limit".
 * Returns -code. */
int rd_lines_err(const struct rd_lines *lines, struct rd_err *err, int code, const char *fmt, ...) RD_PRINTF(4, 5);

#endif
