/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that come with the program (data/), and what a site adds to them. */
#ifndef RD_CMD_TABLE_H
#define RD_CMD_TABLE_H

#include "source/shared/source.h"

struct rd_table_part {
	char *path;
	struct rd_bytes bytes;
};

/* The files that a table is made of: those that count most come first. */
struct rd_table {
	struct rd_table_part *v;
	size_t n, cap;
};

/*
 * Reads the table called `name`, always of this host: NAME.d/FILE.conf, later names first, and NAME of the folder that
 * $RDMADIAG_DATADIR names, unless this process has privileges that whoever started it lacks (secure_getenv(3)); the same of
 * /etc/rdmadiag; and behind these the table that came with the program, which lies beside it or where it was built to be, and
 * is in the program where no file is. A file that cannot be read is an error, and the others are in `ret` all the same; so is a
 * name of which there is nothing. Caller frees.
 */
void rd_table_read(const char *name, struct rd_table *ret, struct rd_errlist *errors);

/* The same where all of it is needed: -errno with `err` filled for the first file that cannot be read. */
int rd_table_read_all(const char *name, struct rd_table *ret, struct rd_err *err);

void rd_table_deinit(struct rd_table *table);

/* Reads what a user named: a file, or where there is none and the name is no path, KIND.d/NAME.conf of the site's folders. -errno
 * with `err` filled. */
int rd_table_read_named(const char *kind, const char *name, struct rd_bytes *ret, struct rd_err *err);

/* Calls `fn` for each folder in which files of these lie. */
void rd_table_folders(void (*fn)(const char *folder));

#endif
