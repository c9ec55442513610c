/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A grid that is looked at: what of it is shown, where the cursor stands. */
#ifndef RD_VIEW_PANE_H
#define RD_VIEW_PANE_H

#include "view/grid.h"

#define RD_PANE_MARGIN 2 /* columns of the terminal before the first of the grid: whether the row is new or gone */

/* A line of the pane: a row, or the heading of the group that begins with it. */
struct rd_pane_line {
	size_t row;
	bool heading;
};

struct rd_pane {
	struct rd_section *section; /* owned: what the grid was made of */
	struct rd_grid grid;
	struct rd_pane_line *lines; /* those that match the filter */
	size_t n, n_rows;	    /* lines; rows among them */
	char filter[64];
	int sort; /* column of the grid; -1: as reported */
	bool backwards;
	size_t top;    /* first line that is shown */
	size_t cursor; /* line */
	int left;      /* columns of the terminal scrolled away */
};

void rd_pane_init(struct rd_pane *pane);
void rd_pane_deinit(struct rd_pane *pane);

/* Takes the section over, also on failure. `anew`: nothing is marked. The cursor stays on the row that it is on, as long as that is there. 0 or
 * -ENOMEM: what was there stays. */
int rd_pane_set(struct rd_pane *pane, struct rd_section *section, const struct rd_grid_style *style, bool anew);

/* After filter, sort or backwards were changed. */
void rd_pane_arrange(struct rd_pane *pane);

void rd_pane_sort_step(struct rd_pane *pane, int step);

/* Moves by lines; keeps the cursor on a row and within `room` lines of the screen. */
void rd_pane_move(struct rd_pane *pane, long by, size_t room);
void rd_pane_home(struct rd_pane *pane, size_t room);
void rd_pane_end(struct rd_pane *pane, size_t room);
/* Moves sideways, as far as there is something to see on a terminal of so many columns. */
void rd_pane_shift(struct rd_pane *pane, int by, int columns);

/* The row under the cursor, or NULL. */
const struct rd_grid_row *rd_pane_row(const struct rd_pane *pane);

#endif
