/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command that reads many bundles has done so far, on standard error: on a terminal as a line that is overwritten, elsewhere
 * as a line every ten seconds, so that a log shows that it lives. */
#ifndef RD_CMD_PROGRESS_H
#define RD_CMD_PROGRESS_H

#include "base/base.h"

/* Zeroed before the first call. */
struct rd_progress {
	int64_t began_ms, shown_ms; /* monotonic; 0: not yet */
	bool line;		    /* there is one on the terminal */
};

/* "rdmadiag: bundle 12 of 1000"; nothing in the first second. `done` counts from 1. */
void rd_progress_show(struct rd_progress *progress, const char *what, size_t done, size_t all);

/* Removes the line. */
void rd_progress_end(struct rd_progress *progress);

#endif
