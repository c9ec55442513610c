/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live view of report sections on the terminal: a headline, a small table at the top, a large one that scrolls, sorts, filters
 * and groups, and a page with details of the selected row. Depends on reports only.
 */
#ifndef RD_VIEW_H
#define RD_VIEW_H

#include "report/shared/report.h"

struct rd_view;

/* Contents of one refresh; the holder owns what it points to, except the view. */
struct rd_view_page {
	char *headline;
	char *alarm; /* the worst finding, below the headline; NULL: none */
	enum rd_severity alarm_severity;
	struct rd_section *top;	 /* above the rest, at most half of the lines; NULL: none */
	struct rd_section *body; /* scrolls */
	bool reselected;	 /* other rows were selected than before: new ones are not marked */
	struct rd_view *view;	 /* set by the view: for rd_view_busy */
};

struct rd_view_ops {
	/* Fills the page, whose contents the view then owns. -errno with err filled: the error is shown in the footer, the old
	 * page stays; 1: no more data, end. */
	int (*look)(void *arg, struct rd_view_page *page, struct rd_err *err);
	/* Milliseconds until the next refresh is due. */
	int (*due)(void *arg);
	/* Columns of the body that identify a row; ended by -1. */
	const int *keys;
	/* Columns that always change, and are not marked; ended by -1. NULL: none. */
	const int *restless;
	/* Number of refreshes for which a change is highlighted; 0: 3. A view with short intervals uses more. */
	uint16_t marked;

	/* The rest may be NULL. */

	/* The rows of the body come worst first, by their severity: groups have the order of their worst rows, and 'n' moves to
	 * the next row with a severity of warning or worse. */
	bool worst_first;
	/* The columns of the body that are shown, in this order; ended by -1. Called as group() is. NULL: those not hidden. */
	const int *(*columns)(void *arg);
	/* The column of the body whose value becomes a heading above the rows that share it; -1: none. Called after each
	 * refresh and after each key that key() handled. */
	int (*group)(void *arg);
	/* Details of a row of the current body: opened by Enter, recreated at each refresh. */
	int (*detail)(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err);
	/* Works while nothing is due, for `ms` at most. False: there was nothing to do. */
	bool (*meanwhile)(void *arg, unsigned ms);
	/* A key that the view does not handle. 1: handled, refresh at once; 0: unknown. */
	int (*key)(void *arg, int key);
	/* Lines of the help page for these keys, ended by NULL. */
	const char *const *help;
};

/*
 * To be called about ten times per second while look takes long: handles keys and draws. `progress` (may be NULL) is shown before the
 * headline. A key that refreshes at once calls look from here, which then must return the latest data. False: the view ends, look
 * should return.
 */
bool rd_view_busy(struct rd_view *view, const char *progress);

/* For `detail`: a page of lines, each with a name and a value; the caller owns it. */
struct rd_section *rd_view_page(void);
void rd_view_add_line(struct rd_section *page, const char *what, const char *value);
/* The same with all known values of a row, a line each; *ret: NULL, or a page, which gets these lines. Returns 0. */
int rd_view_values(void *arg, const struct rd_section *from, size_t row, struct rd_section **ret, struct rd_err *err);

/* Runs until q, a terminating signal, or until look returns 1. Takes over the terminal and restores it. -ENOTTY without a
 * terminal, -EOPNOTSUPP if it cannot position text; else 0 or -errno with err filled. */
int rd_view_run(const struct rd_view_ops *ops, void *arg, bool colour, struct rd_err *err);

/* Checks of the terminal, and waiting for a key or a terminating signal. */

/* 0 if text can be positioned on the terminal; else -ENOTTY or -EOPNOTSUPP with err filled. */
int rd_view_check_terminal(struct rd_err *err);

/* From now on the first terminating signal (SIGHUP, SIGINT, SIGQUIT, SIGTERM) ends the waiting; the second has its previous
 * effect. Call it after newterm: the previous handlers are those of ncurses. A SIGHUP that is ignored (nohup) stays ignored. */
void rd_view_catch_signals(void);
void rd_view_release_signals(void);

/* Waits up to `ms` milliseconds (-1: without limit) for input. False: a terminating signal came, or the terminal was closed. */
bool rd_view_wait(int ms);

#endif
