/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section as text, row by row, with changes since the previous one, sorting and filtering. */
#ifndef RD_VIEW_GRID_H
#define RD_VIEW_GRID_H

#include "base/buf.h"
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
	/* Set by rd_grid_fit: width on the terminal, 0: left out; `head` of rd_text_shorten. */
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

/* Bytes of the character at `text`, and its width in columns of the terminal. One byte, one column, if it is not a character of this locale. */
size_t rd_text_next(const char *text, size_t left, int *width);

/* Width of a text in columns of the terminal. */
int rd_text_width(const char *text);

/* Wraps long values of a page with the details of a row. */

/* Of a section with two columns of text, names and values: the same with values wrapped between words, so that the rows fit into
 * `columns` columns of the terminal. Takes ownership; returns other sections as they are. */
struct rd_section *rd_wrap_values(struct rd_section *section, int columns);

/* Fits a grid into a narrow terminal. */

/*
 * Sets the widths of the columns as shown (grid->shown) on `columns` columns of the terminal. If not everything fits, empty columns
 * and those that are spare are left out first, bars are dropped, names are shortened in what they have in common, and other long texts
 * at the end: see enum rd_fit.
 */
void rd_grid_fit(struct rd_grid *grid, int columns);

/* Adds a text that is wider than `width` shortened to that: its first `head` columns, an ellipsis, and its end; if `head` is negative,
 * an ellipsis instead of so many columns, what follows, and another ellipsis. */
void rd_text_shorten(const char *text, int width, int head, bool ascii, struct rd_buf *out);

/* The text of a cell, or a title, as fitted. */
void rd_grid_fitted(const struct rd_grid *grid, size_t column, const char *text, bool ascii, struct rd_buf *out);

/* A grid on the screen: which lines are shown, and the position of the cursor. */

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

/* The row under the cursor, or NULL. */
const struct rd_grid_row *rd_pane_row(const struct rd_pane *pane);

#endif
