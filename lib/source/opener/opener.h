/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes: one that parses what others wrote and may do next to nothing (confine/confine.h), and the opener, which keeps
 * the privileges, looks into no file, and does for the other what was settled before the first foreign byte was read: opens the
 * files that the command line names, gives finished files their names, reads this host where the command is about it.
 *
 * First whatever may be asked for is named; then rd_opener_start forks the opener; then the caller confines itself. From then
 * on rd_source_live_open, rd_source_bundle_open and rd_new_file_open go through it, as do the functions below.
 */
#ifndef RD_SOURCE_OPENER_H
#define RD_SOURCE_OPENER_H

#include "source/opener/child.h"
#include "source/shared/question.h"

enum rd_opener_use {
	RD_OPENER_INPUT,    /* a file or folder to read */
	RD_OPENER_FOLDER,   /* which may be listed, and whose files may be read, not what is in its folders */
	RD_OPENER_OUTPUT,   /* a file to make, to replace, or to write on */
	RD_OPENER_NEW_FILE, /* a file to make that is not there yet */
	RD_OPENER_BUNDLE, /* the working directory, in which one bundle may be made under the name that capture gives it */
	RD_OPENER_PROCESS, /* "/proc/PID" of a process whose environment and mappings may be read */
};

/* `path` may be relative to the working directory. */
void rd_opener_name(enum rd_opener_use use, const char *path);

/* `host`: facts of this host may be asked for. -errno with `err` filled. */
int rd_opener_start(bool host, struct rd_err *err);

/* Ends it, and waits for that, 100 ms at most: it is to leave no process behind that somebody else has to wait for. */
void rd_opener_end(void);

/* Whether this process has an opener. */
bool rd_opener_used(void);

/* An input, opened for reading (`below`: "", or a path below it without links on it). Returns a descriptor or -errno. Without an
 * opener it is opened in place, `below` being "". */
int rd_opener_open(const char *path, const char *below);

/* An input that is a folder: what is in it, as rd_bundle_walk has it. -errno. */
int rd_opener_walk(const char *path, struct rd_bytes *ret);

/* An output, opened for reading and writing, made if it is not there. -errno. */
int rd_opener_update(const char *path, struct rd_err *err);

/* See new-file.h. One at a time; the first returns a descriptor. */
int rd_opener_check(const char *path, bool replace, struct rd_err *err);
int rd_opener_create(const char *path, bool replace, struct rd_err *err);
int rd_opener_finish(mode_t mode, struct rd_err *err);
void rd_opener_abandon(void);

/* This host, or what of it may be read. Caller closes it. */
int rd_opener_source(struct rd_source **ret, struct rd_err *err);

/*
 * Another opener for a child that may be left: what hangs there hangs for that child only. The caller hands the descriptor to
 * the child it forks next, which calls rd_opener_take, and closes it. `pid` for rd_opener_look. -errno.
 */
int rd_opener_fork(pid_t *pid, struct rd_err *err);
void rd_opener_take(int fd);
void rd_opener_leave(pid_t pid); /* ends it, unless it cannot be ended; the child is left, too */

/* As rd_process_look. */
void rd_opener_look(pid_t pid, struct rd_child_state *ret);

#endif
