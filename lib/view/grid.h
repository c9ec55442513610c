/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section as text, row by row, with changes since the previous one, sorting and filtering. */
#ifndef RD_VIEW_GRID_H
#define RD_VIEW_GRID_H

#include "report/shared/report.h"

struct rd_grid_cell {
	char *text;   /* escaped */
	double value; /* of a number, for sorting; -infinity: unknown */
	uint16_t age; /* 0: not changed recently; else refreshes left to mark it */
};

struct rd_grid_row {
	struct rd_grid_cell *cells;
	char *key;
	char *group;  /* NULL: rows are not grouped */
	size_t rank;  /* of its group, which is sorted by it; 0: groups are sorted by name */
	size_t index; /* in the section, which has the order of the report */
	uint16_t fresh,
		gone; /* refreshes left to mark the row as new or removed; a removed row is shown while it is marked */
	enum rd_severity severity;
	bool over; /* as in struct rd_row */
};

struct rd_grid {
	size_t n_columns;
	const struct rd_column **columns; /* those shown */
	int *widths;			  /* columns of the terminal */
	bool *numbers;			  /* sorted by value, aligned to the right */
	bool *empty;			  /* no row has a value */
	/* Set by rd_grid_fit: width on the terminal, 0: left out; columns kept of the beginning of a name. */
	int *shown, *heads;
	int fitted; /* columns of the terminal; 0: not yet */
	struct rd_grid_row *rows;
	size_t n, n_gone; /* all; removed ones among them */
};

/* How to build a grid from a section. */
struct rd_grid_style {
	const int *keys, *restless; /* as in struct rd_view_ops */
	uint16_t marked;	    /* refreshes */
	const int *columns;	    /* as returned by columns() of struct rd_view_ops; NULL: those not hidden */
	int group;		    /* column of the section; -1: none */
	bool ranked;		    /* groups have the order of their first rows in the report */
	bool ascii;		    /* the terminal supports ASCII only */
	unsigned wider;		    /* columns that a bar has on a wide terminal, besides its own */
};

void rd_grid_deinit(struct rd_grid *grid);

/* Builds `grid` from the section; changes from `old` (may be NULL) are marked. */
void rd_grid_build(struct rd_grid *grid, const struct rd_section *section, const struct rd_grid_style *style,
		   const struct rd_grid *old);

/* Stable; groups first, numbers as numbers. `column` < 0: the order of the report. */
void rd_grid_sort(struct rd_grid *grid, int column, bool backwards);

/* Whether any cell of the row, or its group, contains the text, ignoring case. Empty text: true. */
bool rd_grid_matches(const struct rd_grid *grid, size_t row, const char *text);

/* Width of a text in columns of the terminal. */
int rd_text_width(const char *text);

#endif
