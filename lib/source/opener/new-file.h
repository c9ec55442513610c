/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears complete or not at all: it is written without a name, or to replace one under a temporary name in the same
 * directory, synced, and linked or renamed; then the directory is synced. Signals are blocked until that is done or abandoned, so that none leaves a partial file behind.
 * (main ignores SIGXFSZ: a write beyond the limit is an error, EFBIG.)
 */
#ifndef RD_NEW_FILE_H
#define RD_NEW_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <signal.h>
#include <sys/types.h>

struct rd_new_file {
	const char *path; /* owned by the caller */
	char *temporary;  /* NULL: has no name (O_TMPFILE), is not created, or already renamed to `path` */
	int fd;		  /* to write to */
	int folder;
	bool replace;
	sigset_t before;
};

/* Whether rd_new_file_open would accept the path, to be called before the work. -EINVAL if it exists and is not a regular file,
 * because a rename would replace it; without `replace` -EEXIST if it exists. */
int rd_new_file_check(const char *path, bool replace, struct rd_err *err);

/* Checks the path and creates the temporary file. Only one at a time in a process. `file` must be released in any case. -errno. */
int rd_new_file_open(struct rd_new_file *file, const char *path, bool replace, struct rd_err *err);

/* Sets the mode and renames the file; without `replace` -EEXIST if the name was created meanwhile. -errno. */
int rd_new_file_finish(struct rd_new_file *file, mode_t mode, struct rd_err *err);

/* Removes an unfinished file. Blocked signals are delivered now. Does nothing if it was not opened. */
void rd_new_file_deinit(struct rd_new_file *file);

/* Removes the file that is being written, if any: for a process that is about to exit. Async-signal-safe. */
void rd_new_file_abandon(void);

/* Opens a file for reading and writing, creates it if it is missing, and follows no link. A descriptor or -errno. */
int rd_open_for_update(const char *path, struct rd_err *err);

/* Opens it, or notes why that fails, for rd_open_for_update after this process has dropped its privileges. `path` is kept. */
void rd_open_for_update_ahead(const char *path);

/* Writes a file with these contents and this mode, by the opener if there is one. Without `replace` -EEXIST if it exists. -errno. */
int rd_write_file(const char *path, bool replace, mode_t mode, const struct rd_buf *contents, struct rd_err *err);

/* Replaces the file at `path` by one with these contents, readable for all as far as umask allows. -errno. */
int rd_replace_file(const char *path, const struct rd_buf *contents, struct rd_err *err);

#endif
