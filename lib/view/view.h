/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section of a report on the whole terminal, kept up to date. Knows nothing but reports. */
#ifndef RD_VIEW_H
#define RD_VIEW_H

#include "base/err.h"
#include "report/report.h"

struct rd_view_ops {
	/* Makes the section anew (the view owns it) and a headline (malloc'ed). -errno with err filled: shown in the
	 * footer, what was there stays; 1: there is no more, end. */
	int (*look)(void *arg, struct rd_section **section, char **headline, struct rd_err *err);
	/* Milliseconds until the next look is due. */
	int (*due)(void *arg);
	/* Columns that tell one row from another; ended by -1. */
	const int *keys;
};

/* Runs until q, or until look returns 1. Takes the terminal and gives it back. -ENOTTY where there is none; else 0
 * or -errno with err filled. */
int rd_view_run(const struct rd_view_ops *ops, void *arg, bool colour, struct rd_err *err);

#endif
