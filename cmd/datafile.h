/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that come with the program and can be extended where they lie (data/). */
#ifndef RD_CMD_DATAFILE_H
#define RD_CMD_DATAFILE_H

#include "source/source.h"

#define RD_DATA_PATH 4096

/*
 * Reads the table called `name`, always of this host: from the folder that $RDMADIAG_DATADIR names, unless this process has
 * privileges that whoever started it lacks (secure_getenv(3)); else from beside the program, which may be installed anywhere or not yet; else from where it was built to be. `path` (RD_DATA_PATH bytes)
 * says which it was. -errno with `err` filled.
 */
int rd_data_read(const char *name, char *path, struct rd_bytes *ret, struct rd_err *err);

/* Calls `fn` for each folder in which rd_data_read may look. */
void rd_data_folders(void (*fn)(const char *folder));

/* A file of this host that a user named, also by a relative path. -errno with `err` filled. */
int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err);

/* A bundle that a user named, as rd_source_bundle_open has it, of which `fn` reads all that is going to be read. Caller
 * closes it. */
int rd_open_local_bundle(const char *path, void (*fn)(struct rd_source *src, void *arg), struct rd_source **ret,
			 struct rd_err *err);

/* From now on all of these are read under the deadline of `guard`, which remains the caller's; NULL: without any. */
void rd_local_guard(struct rd_source *guard);

#endif
