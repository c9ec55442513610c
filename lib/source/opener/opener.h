/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes: one that parses untrusted data without privileges (confine/confine.h), and the opener, which keeps the privileges,
 * parses no file, and serves only requests that were declared before the first untrusted byte was read: it opens the
 * files of the command line, renames finished files into place, and reads this host if the command requires it.
 *
 * First the permitted files are declared by rd_opener_name; then rd_opener_start forks the opener; then the caller confines itself.
 * From then on rd_source_live_open, rd_source_bundle_open and rd_new_file_open use it, as do the functions below.
 */
#ifndef RD_SOURCE_OPENER_H
#define RD_SOURCE_OPENER_H

#include "source/opener/child.h"
#include "source/shared/source.h"

enum rd_opener_use {
	RD_OPENER_INPUT,    /* a file or directory to read */
	RD_OPENER_FOLDER,   /* a directory to list, with its files, but not its subdirectories */
	RD_OPENER_OUTPUT,   /* a file to create, replace or update */
	RD_OPENER_NEW_FILE, /* a file to create that does not exist yet */
	RD_OPENER_BUNDLE, /* the working directory, in which one bundle may be created with the default name of capture */
	RD_OPENER_PROCESS, /* "/proc/PID" of a process whose environment and mappings may be read */
};

/* `path` may be relative to the working directory. */
void rd_opener_name(enum rd_opener_use use, const char *path);

/* `host`: facts of this host may be requested. -errno with `err` filled. */
int rd_opener_start(bool host, struct rd_err *err);

/* Ends the opener, and waits at most 100 ms for it, so that no process is left for init to reap. */
void rd_opener_end(void);

/* Whether this process has an opener. */
bool rd_opener_used(void);

/* Opens an input for reading. Returns a descriptor or -errno. Without an opener this process opens it. */
int rd_opener_open(const char *path);

/* Reads an input that is a directory, in the format of rd_bundle_walk. -errno. */
int rd_opener_walk(const char *path, struct rd_bytes *ret);

/* A source of this host, limited to the permitted facts. Caller closes it. */
struct rd_source *rd_opener_source(void);

/*
 * Starts another opener for a child that may be abandoned: a read that hangs there hangs only for that child. The caller passes the
 * descriptor to the child it forks next, which calls rd_opener_take, and closes its own copy. `pid` for rd_opener_look. -errno.
 */
int rd_opener_fork(pid_t *pid, struct rd_err *err);
void rd_opener_take(int fd);
void rd_opener_leave(pid_t pid); /* kills it if possible, and abandons it together with its child */

/* Like rd_process_look. */
void rd_opener_look(pid_t pid, struct rd_child_state *ret);

#endif
