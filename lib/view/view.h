/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of a report on the whole terminal, kept up to date: a headline, a small table that stays put, a large one that
 * scrolls, sorts, filters and groups, and a page about the row that was chosen. Knows nothing but reports.
 */
#ifndef RD_VIEW_H
#define RD_VIEW_H

#include "base/err.h"
#include "report/shared/report.h"

/* What a look found; all owned by whoever holds it. */
struct rd_view_page {
	char *headline;
	struct rd_section *top;	 /* stays above the rest, at most half of the lines; NULL: none */
	struct rd_section *body; /* scrolls */
	bool anew;		 /* another choice of rows than before: that some are new means nothing */
};

struct rd_view_ops {
	/* Fills the page anew (the view owns it then). -errno with err filled: shown in the footer, what was there
	 * stays; 1: there is no more, end. */
	int (*look)(void *arg, struct rd_view_page *page, struct rd_err *err);
	/* Milliseconds until the next look is due. */
	int (*due)(void *arg);
	/* Columns of the body that tell one row from another; ended by -1. */
	const int *keys;
	/* Columns that always move, so that a change is not marked; ended by -1. NULL: none. */
	const int *restless;
	/* For how many looks a change stands out; 0: 3. A quick view needs more to make it some seconds. */
	uint16_t marked;

	/* All below may be NULL. */

	/* The column of the body whose value becomes a heading above the rows that share it; -1: none. Asked after each
	 * look and after each key that key() took. */
	int (*group)(void *arg);
	/* All there is to say about a row of the body that was last handed out: Enter opens it, each look makes it anew. */
	int (*detail)(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err);
	/* A key that the view has no use for. 1: taken, and another look is due at once; 0: not known. */
	int (*key)(void *arg, int key);
	/* Lines for the help page about keys of its own, ended by NULL. */
	const char *const *help;
};

/* Runs until q, a signal that asks for the end, or until look returns 1. Takes the terminal and gives it back. -ENOTTY
 * where there is none, -EOPNOTSUPP where it cannot place text; else 0 or -errno with err filled. */
int rd_view_run(const struct rd_view_ops *ops, void *arg, bool colour, struct rd_err *err);

#endif
