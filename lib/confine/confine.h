/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that drops its privileges before it parses untrusted data. Files that it still needs are open already, or recorded by
 * another process (source/opener/opener.h).
 */
#ifndef RD_CONFINE_H
#define RD_CONFINE_H

#include "base/buf.h"
#include "base/err.h"

/* What remains allowed besides working on memory and open descriptors. Or-ed together. */
enum rd_confine_need {
	RD_CONFINE_CHILDREN = 1, /* start processes, which are confined in the same way, watch and kill them */
	RD_CONFINE_TERMINAL = 2, /* set up a terminal */
	RD_CONFINE_READ = 4,	 /* open files for reading below the given directories */
	RD_CONFINE_VERBS = 8,	 /* with RD_CONFINE_READ: open existing files for writing, and use RDMA devices */
	RD_CONFINE_UID = 16,	 /* stay root, though without capabilities, to open files that only root can open */
	RD_CONFINE_THREADS = 32, /* start threads, to which the same applies */
	RD_CONFINE_PROGRAM = 64, /* execute another program, whose files and system calls are those of the user */
};

struct rd_confine_dir {
	const char *path; /* files below it may be read; a file: only that. NULL: end of the list */
	bool write;	  /* with RD_CONFINE_VERBS: existing files and devices may be written to */
};

/* The mechanisms in force, besides those that always are. A mechanism that this kernel lacks is skipped; its errno is the reason. */
struct rd_confined {
	bool active;
	bool uid_dropped;	    /* the process ran as root, and now runs as uid 65534 */
	int uid, landlock, seccomp; /* 0: in force, or nothing to drop; otherwise the errno of the failure */
	unsigned landlock_abi;
};

/*
 * Permanently drops: root's uid and all groups (if it had them), all capabilities, new privileges through execve, files
 * (landlock) and system calls (seccomp) that `needs` does not include. `dirs` (may be NULL) may be read with
 * RD_CONFINE_READ; without landlock any file may be read that the user can read. Open descriptors stay. Call it
 * before threads are started. -errno with `err` filled if privileges could not be dropped; then the process must not
 * continue.
 */
int rd_confine(unsigned needs, const struct rd_confine_dir *dirs, struct rd_err *err);

/* Of this process. */
const struct rd_confined *rd_confined(void);

/* "uid 65534, no capabilities, no new privileges, landlock ABI 3, seccomp"; missing mechanisms with the reason. */
void rd_confined_text(const struct rd_confined *confined, struct rd_buf *out);

#endif
