/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section as text, row by row, with what has changed since the last one. */
#ifndef RD_VIEW_GRID_H
#define RD_VIEW_GRID_H

#include "report/report.h"

#define RD_GRID_MARKED 3 /* looks for which a change stays marked */

struct rd_grid_cell {
	char *text;  /* escaped */
	uint8_t age; /* 0: not changed lately; else looks left to mark it */
};

struct rd_grid_row {
	struct rd_grid_cell *cells;
	char *key;
	uint8_t fresh, gone; /* likewise, of the row; a row that has gone is shown while it is marked */
};

struct rd_grid {
	size_t n_columns;
	const struct rd_column **columns; /* those shown */
	int *widths;
	bool *numbers;
	struct rd_grid_row *rows;
	size_t n;
};

void rd_grid_deinit(struct rd_grid *grid);

/* Makes `grid` of the section; `old` (may be NULL) gives the marks. 0 or -ENOMEM. */
int rd_grid_build(struct rd_grid *grid, const struct rd_section *section, const int *keys, const struct rd_grid *old);

/* Stable; numbers as numbers. `column` < 0: the order of the report. */
void rd_grid_sort(struct rd_grid *grid, int column, bool backwards);

/* Whether any cell of the row holds the text, whatever the case. Empty text: yes. */
bool rd_grid_matches(const struct rd_grid *grid, size_t row, const char *text);

#endif
