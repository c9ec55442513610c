/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fits a grid into a narrow terminal. */
#ifndef RD_VIEW_FIT_H
#define RD_VIEW_FIT_H

#include "base/buf.h"
#include "view/grid.h"

/*
 * Sets the widths of the columns as shown (grid->shown) on `columns` columns of the terminal. If not everything fits, empty columns
 * and those that are spare are left out first, bars are dropped, names are shortened in the middle, and other long texts at the end:
 * see enum rd_fit. Of names, the part is kept that distinguishes most of them.
 */
void rd_grid_fit(struct rd_grid *grid, int columns);

/* Adds a text that is wider than `width` shortened to that: its first `head` columns, an ellipsis, and its end. */
void rd_text_shorten(const char *text, int width, int head, bool ascii, struct rd_buf *out);

/* The text of a cell, or a title, as fitted. */
void rd_grid_fitted(const struct rd_grid *grid, size_t column, const char *text, bool ascii, struct rd_buf *out);

#endif
