/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that gives up what it may do before it parses what others wrote. What it still needs it has opened before, or
 * asks another process for (source/opener/opener.h).
 */
#ifndef RD_CONFINE_H
#define RD_CONFINE_H

#include "base/buf.h"
#include "base/err.h"

/* What stays allowed beyond working on memory and on what is open. Or-ed together. */
enum rd_confine_need {
	RD_CONFINE_CHILDREN = 1, /* to start processes, which are confined in the same way, to watch and to kill them */
	RD_CONFINE_TERMINAL = 2, /* to set up a terminal */
	RD_CONFINE_READ = 4,	 /* to open files for reading below the folders that are given */
	RD_CONFINE_VERBS = 8,	 /* with RD_CONFINE_READ: to open what is there for writing, and to ask RDMA devices */
	RD_CONFINE_UID = 16, /* to stay root, though without capabilities: there is to be opened what is root's alone */
};

struct rd_confine_folder {
	const char *path; /* what is below it may be read; a file: it alone. NULL: the end of the list */
	bool write;	  /* with RD_CONFINE_VERBS: files and devices that are there may be written to */
};

/* What is in force, beside what always is. A mechanism that this kernel lacks is left out; its errno says why. */
struct rd_confined {
	bool active;
	bool uid_dropped; /* the process was root's and is nobody's */
	int uid, landlock,
		seccomp; /* 0: in force, or there was nothing to give up; otherwise the errno that hindered it */
	unsigned landlock_abi;
};

/*
 * Gives up, for good: root's uid and all groups (if it had them), all capabilities, new privileges by executing, files
 * (landlock) and system calls (seccomp) that `needs` does not name. `folders` (may be NULL) are those that may be read with
 * RD_CONFINE_READ; where there is no landlock, any file may be read that the user may. Open descriptors stay. To be called
 * before there are threads. -errno with `err` filled where privileges that there were could not be given up; then the
 * process must not go on.
 */
int rd_confine(unsigned needs, const struct rd_confine_folder *folders, struct rd_err *err);

/* Of this process. */
const struct rd_confined *rd_confined(void);

/* "uid 65534, no capabilities, no new privileges, landlock ABI 3, seccomp"; what is missing with its reason. */
void rd_confined_text(const struct rd_confined *confined, struct rd_buf *out);

#endif
