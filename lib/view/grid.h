/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section as text, row by row, with what has changed since the last one; which rows are shown, and in what order. */
#ifndef RD_VIEW_GRID_H
#define RD_VIEW_GRID_H

#include "report/shared/report.h"

struct rd_grid_cell {
	char *text;   /* escaped */
	double value; /* of a number, for sorting; -infinity: not known */
	uint16_t age; /* 0: not changed lately; else looks left to mark it */
};

struct rd_grid_row {
	struct rd_grid_cell *cells;
	char *key;
	char *group;	      /* NULL: rows are not grouped */
	size_t index;	      /* in the section it was made of, and the order of the report */
	uint16_t fresh, gone; /* looks left, of the row; a row that has gone is shown while it is marked */
	enum rd_severity severity;
};

struct rd_grid {
	size_t n_columns;
	const struct rd_column **columns; /* those shown */
	int *widths;			  /* columns of the terminal */
	bool *numbers;			  /* sorted by value, aligned to the right */
	struct rd_grid_row *rows;
	size_t n;
};

/* How to make a grid of a section. */
struct rd_grid_style {
	const int *keys, *restless; /* as in struct rd_view_ops */
	uint16_t marked;	    /* looks */
	int group;		    /* column of the section; -1: none */
	bool ascii;		    /* the terminal takes nothing else */
};

void rd_grid_deinit(struct rd_grid *grid);

/* Makes `grid` of the section; `old` (may be NULL) gives the marks. 0 or -ENOMEM. */
int rd_grid_build(struct rd_grid *grid, const struct rd_section *section, const struct rd_grid_style *style,
		  const struct rd_grid *old);

/* Stable; groups first, numbers as numbers. `column` < 0: the order of the report. */
void rd_grid_sort(struct rd_grid *grid, int column, bool backwards);

/* Whether any cell of the row, or its group, holds the text, whatever the case. Empty text: yes. */
bool rd_grid_matches(const struct rd_grid *grid, size_t row, const char *text);

/* Columns of the terminal that a text takes. */
int rd_text_width(const char *text);

#endif
