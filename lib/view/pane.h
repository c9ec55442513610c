/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A grid on the screen: which lines are shown, and the position of the cursor. */
#ifndef RD_VIEW_PANE_H
#define RD_VIEW_PANE_H

#include "view/grid.h"

#define RD_PANE_MARGIN 2 /* columns of the terminal before the grid: mark of a new or removed row */

/* A line of the pane: a row, or the heading of the group that begins with it. */
struct rd_pane_line {
	size_t row;
	bool heading;
};

struct rd_pane {
	struct rd_section *section; /* owned: the source of the grid */
	struct rd_grid grid;
	struct rd_pane_line *lines; /* those that match the filter */
	size_t n, n_rows;	    /* lines; rows among them, without those that were removed */
	char filter[64];
	bool only_faults; /* show only rows with a severity of warning or worse */
	int sort;	  /* column of the grid; -1: as reported */
	bool backwards;
	size_t top;    /* first line that is shown */
	size_t cursor; /* line */
	int left;      /* columns of the terminal scrolled away */
};

void rd_pane_init(struct rd_pane *pane);
void rd_pane_deinit(struct rd_pane *pane);

/* Takes ownership of the section. `reselected`: nothing is marked. The cursor stays on its row while that exists. */
void rd_pane_set(struct rd_pane *pane, struct rd_section *section, const struct rd_grid_style *style, bool reselected);

/* Call it after a change of filter, sort or backwards. */
void rd_pane_arrange(struct rd_pane *pane);

void rd_pane_sort_step(struct rd_pane *pane, int step);

/* Moves by lines; keeps the cursor on a row and within `room` lines of the screen. */
void rd_pane_move(struct rd_pane *pane, long by, size_t room);
void rd_pane_home(struct rd_pane *pane, size_t room);
void rd_pane_end(struct rd_pane *pane, size_t room);
/* Moves to the next row with a severity of warning or worse; after the last one, to the first. False: no row has. */
bool rd_pane_next_problem(struct rd_pane *pane, size_t room);
/* Scrolls sideways, limited to the width of the grid; `columns` is the width of the terminal. */
void rd_pane_shift(struct rd_pane *pane, int by, int columns);

/* The row under the cursor, or NULL. */
const struct rd_grid_row *rd_pane_row(const struct rd_pane *pane);

#endif
