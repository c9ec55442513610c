/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of this host that a command reads besides its facts: tables, profiles, bundles. */
#ifndef RD_CMD_DATAFILE_H
#define RD_CMD_DATAFILE_H

#include "analyse/shared/meaning.h"
#include "model/host/profile.h"
#include "source/shared/source.h"

/* This host, under the deadline of rd_local_guard if one is set; otherwise opened for this call: the caller closes `opened`.
 * -errno with `err` filled. */
int rd_local_host(struct rd_source **opened, struct rd_source **ret, struct rd_err *err);

/* A file of this host given by the user, also by a relative path; "-": standard input, if that was read. -errno with `err` filled. */
int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err);

/* A bundle given by the user, as of rd_source_bundle_open; `fn` reads everything that will be read of it. Caller closes it. */
int rd_open_local_bundle(const char *path, void (*fn)(struct rd_source *src, void *arg), struct rd_source **ret,
			 struct rd_err *err);

/* From now on all of these are read under the deadline of `guard`, which the caller keeps; NULL: without deadline. */
void rd_local_guard(struct rd_source *guard);

/* ---- the table of counters */

/* Invalid lines and unreadable files are added to `errors`; -errno with `err` filled if a file could not be read. */
int rd_read_meanings(struct rd_meanings *ret, struct rd_errlist *errors, struct rd_err *err);

/* Reads the profile at `path` on this host, and checks that all rules that it ignores exist. `ret` is zeroed first, and must be
 * released in any case. -errno with err filled. */
int rd_profile_load(const char *path, struct rd_profile *ret, struct rd_err *err);

/* ---- tables of the program (data/), and additions of the site */

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
