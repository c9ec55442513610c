/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears whole or not at all: it is written under a temporary name beside it, flushed to the disk, and renamed;
 * then the folder is flushed. Signals wait until that is done or given up, so that none leaves half a file behind. (SIGXFSZ
 * is ignored by main: what is beyond the limit is an error, EFBIG.)
 */
#ifndef RD_NEW_FILE_H
#define RD_NEW_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <signal.h>
#include <sys/types.h>

struct rd_new_file {
	const char *path; /* the caller's */
	char *temporary;  /* NULL: there is none, or it has become `path` */
	int fd;		  /* to write to */
	int folder;
	bool replace;
	sigset_t before;
};

/* Whether rd_new_file_open would take the name, for asking before the work. -EINVAL where something other than a plain file
 * is there, which a rename would replace; without `replace` -EEXIST where anything is. */
int rd_new_file_check(const char *path, bool replace, struct rd_err *err);

/* Checks and begins. One at a time in a process. `file` is to be released in any case. -errno. */
int rd_new_file_open(struct rd_new_file *file, const char *path, bool replace, struct rd_err *err);

/* Gives the file its mode and its name; without `replace` -EEXIST if that was taken meanwhile. -errno. */
int rd_new_file_finish(struct rd_new_file *file, mode_t mode, struct rd_err *err);

/* Removes what was not finished. Signals that came arrive now. */
void rd_new_file_deinit(struct rd_new_file *file);

/* Removes the file that is being written, if there is one: for a process that is about to end in the midst of it.
 * Async-signal-safe. */
void rd_new_file_abandon(void);

/* Opens a file for reading and writing, makes it where there is none, and follows no link. A descriptor or -errno. */
int rd_open_for_update(const char *path, struct rd_err *err);

/* Puts a file with these contents in the place of what is at `path`. Readable for all, as umask allows. -errno. */
int rd_replace_file(const char *path, const struct rd_buf *contents, struct rd_err *err);

#endif
