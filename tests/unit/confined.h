/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs something in a process that has confined itself, and tells what came of it. */
#ifndef RD_TEST_CONFINED_H
#define RD_TEST_CONFINED_H

#include <sys/types.h>

#include "confine/confine.h"

/* What the process found, in memory that is shared with it. */
struct found {
	int errors[64];
	long number;
	struct rd_confined confined;
	char text[256], status[4096]; /* rd_confined_text; /proc/self/status */
};
extern struct found *found;

/* `prepare` (may be NULL) runs before confining, `work` (may be NULL) after it; both as `uid` (0: as we are). The status as
 * waitpid has it: 0, or a signal, or how `work` exited. It is ended after a minute. */
int run_confined(uid_t uid, unsigned needs, const struct rd_confine_dir *folders, void (*prepare)(void),
		 void (*work)(void));

#endif
