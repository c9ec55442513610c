/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the program (data/), and additions of the site. */
#ifndef RD_CMD_TABLE_H
#define RD_CMD_TABLE_H

#include "source/shared/source.h"

struct rd_table_part {
	char *path;
	struct rd_bytes bytes;
};

/* The files of a table, by precedence: the first overrides the others. */
struct rd_table {
	struct rd_table_part *v;
	size_t n, cap;
};

/*
 * Reads the table `name`, always of this host: NAME.d/FILE.conf, later names first, and NAME in the directory
 * $RDMADIAG_DATADIR, unless this process has privileges that its caller lacks (secure_getenv(3)); the same in /etc/rdmadiag;
 * last the table of the program, from a directory relative to the program or from RD_DATADIR, or the copy compiled in if there
 * is no file. A file that cannot be read is an error, and the others are still in `ret`; a name without any file is an error,
 * too. Caller frees.
 */
void rd_table_read(const char *name, struct rd_table *ret, struct rd_errlist *errors);

/* The same, failing with -errno and `err` filled for the first file that cannot be read. */
int rd_table_read_all(const char *name, struct rd_table *ret, struct rd_err *err);

void rd_table_deinit(struct rd_table *table);

/* Reads a file given by the user; if it does not exist and the name is not a path, KIND.d/NAME.conf in the site's directories.
 * -errno with `err` filled. */
int rd_table_read_named(const char *kind, const char *name, struct rd_bytes *ret, struct rd_err *err);

/* Reads all tables, and the profiles of the site that have one of these names, so that a recording has them. `forms`: also those of explain,
 * which are far larger than all others. */
void rd_tables_read_ahead(const char *const *names, size_t n, bool forms);

#endif
