/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes: one that parses untrusted data without privileges (confine/confine.h), and the opener, which keeps the privileges and
 * parses no file of others. It opens nothing that is requested: it records what the command reads of this host, always the same, and writes
 * the files that the command line names. What is to be read was opened before (input.h).
 *
 * First the files to be written are declared by rd_opener_name; then rd_opener_start forks the opener; then the caller confines itself.
 * From then on rd_source_live_open returns what was recorded, and rd_write_file uses the opener.
 */
#ifndef RD_SOURCE_OPENER_H
#define RD_SOURCE_OPENER_H

#include <signal.h>
#include <sys/types.h>

#include "source/shared/source.h"

enum rd_opener_use {
	RD_OPENER_OUTPUT,   /* a file to create or replace */
	RD_OPENER_NEW_FILE, /* a file to create that does not exist yet */
	RD_OPENER_BUNDLE, /* the working directory, in which one bundle may be created with the default name of capture */
};

/* `path` may be relative to the working directory. */
void rd_opener_name(enum rd_opener_use use, const char *path);

/* What is recorded; or-ed together. */
#define RD_OPENER_OWN 1u  /* tables of the program, and of the site */
#define RD_OPENER_HOST 2u /* facts of this host */

/* Called in the opener: appends the parts (rd_source_guard_pack). `limit_ms`: for all of it; 0: none. */
typedef void rd_opener_record_fn(unsigned parts, unsigned limit_ms, struct rd_buf *out);

/* `facts` is kept until the process ends: all that rd_source_live_open returns reads it. -errno with `err` filled. */
int rd_opener_start(rd_opener_record_fn *record, struct rd_source *facts, struct rd_err *err);

/* Ends the opener, and waits at most 100 ms for it, so that no process is left for init to reap. */
void rd_opener_end(void);

/* Whether this process has an opener. */
bool rd_opener_used(void);

/* Has the opener record. -errno. */
int rd_opener_record(unsigned parts, unsigned limit_ms, struct rd_bytes *ret, struct rd_err *err);

/* A source of what was recorded. Caller closes it. */
struct rd_source *rd_opener_source(void);

/*
 * ---- files to be written
 *
 * A file that appears complete or not at all: it is written without a name, or to replace one under a temporary name in the same
 * directory, synced, and linked or renamed; then the directory is synced. Signals are blocked until that is done or abandoned, so that none leaves a partial file behind.
 * (main ignores SIGXFSZ: a write beyond the limit is an error, EFBIG.)
 */
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
