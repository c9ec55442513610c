/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/draw.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "view/curses.h"
#include "view/fit.h"

#define HEAD_LINES 1
#define FOOT_LINES 1

static const char *const help_lines[] = {
	"q        quit",
	"?        this help",
	"/        show only rows that contain a text; Enter applies, Escape clears it",
	"< >      sort by the column to the left or right; past the first or last column: original order",
	"r        reverse the sort order",
	"p        pause",
	"Enter    show details of the row under the cursor, if there are any; Escape: back",
	"arrows, PgUp, PgDn, Home, End   move",
};

static const char *const help_problems[] = {
	"n        next row with a warning or a critical fault",
};

static const char *const help_end[] = {
	"",
	"Bold: changed value; +: new row; -: removed row.",
};

void rd_view_colours(struct rd_view *view)
{
	if (!view->colour || !rd_curses.has_colors()) {
		view->colour = false;
		return;
	}
	rd_curses.start_color();
	rd_curses.use_default_colors();
	rd_curses.init_pair(RD_SEV_WARNING, COLOR_YELLOW, -1);
	rd_curses.init_pair(RD_SEV_CRITICAL, COLOR_RED, -1);
	rd_curses.init_pair(RD_SEV_UNKNOWN, COLOR_MAGENTA, -1);
}

/* Without colours faults are underlined. */
static attr_t severity_attr(const struct rd_view *view, enum rd_severity severity)
{
	if (severity < RD_SEV_UNKNOWN)
		return 0;
	return view->colour ? (attr_t)rd_curses.COLOR_PAIR(severity) : A_UNDERLINE;
}

/* Writes text at column x, scrolled by `left` columns; columns off the screen are skipped. Returns the width of the text. */
static int put(int y, int x, const char *text, int left)
{
	size_t size = strlen(text);
	int width = 0;

	while (size > 0) {
		wchar_t c[2] = { 0 };
		size_t n = mbrtowc(c, text, size, &(mbstate_t){ 0 });
		int w = n > 0 && n <= size ? wcwidth(c[0]) : -1;

		if (w <
		    0) { /* not a character of this locale: print its byte, which is printable because text is escaped */
			n = 1;
			w = 1;
			c[0] = (uint8_t)*text < 0x80 ? (wchar_t)*text : L'?';
		}
		if (x + width - left >= 0 && x + width - left + w <= *rd_curses.COLS)
			rd_curses.mvaddnwstr(y, x + width - left, c, 1);
		width += w;
		text += n;
		size -= n;
	}
	return width;
}

/* Width of a column, 0: left out. A pane that was scrolled shows everything in full width. */
static int width_of(const struct rd_pane *pane, size_t column)
{
	return pane->left ? pane->grid.widths[column] : pane->grid.shown[column];
}

/* Returns the column of the terminal at which the next cell begins. */
static int put_cell(const struct rd_view *view, const struct rd_pane *pane, int y, int x, const char *text,
		    size_t column)
{
	_cleanup_buf_ struct rd_buf fitted = { 0 };
	int width = width_of(pane, column), pad;

	if (!width)
		return x;
	if (!pane->left) {
		rd_grid_fitted(&pane->grid, column, text, view->ascii, &fitted);
		text = fitted.data;
	}
	pad = pane->grid.numbers[column] ? width - rd_text_width(text) : 0;
	put(y, x + (pad > 0 ? pad : 0), text, pane->left);
	return x + width + 1;
}

static void draw_headings(const struct rd_view *view, const struct rd_pane *pane, int y)
{
	const struct rd_grid *grid = &pane->grid;
	int x = RD_PANE_MARGIN;

	rd_curses.attron(A_REVERSE);
	rd_curses.mvhline(y, 0, ' ', *rd_curses.COLS);
	for (size_t c = 0; c < grid->n_columns; c++) {
		if ((int)c == pane->sort)
			rd_curses.attron(A_BOLD | A_UNDERLINE);
		x = put_cell(view, pane, y, x, grid->columns[c]->title, c);
		rd_curses.attroff(A_BOLD | A_UNDERLINE);
	}
	rd_curses.attroff(A_REVERSE);
}

static void draw_row(const struct rd_view *view, const struct rd_pane *pane, const struct rd_grid_row *row, int y,
		     bool cursor)
{
	attr_t whole = severity_attr(view, row->severity) | (row->gone || row->over ? A_DIM : 0) |
		       (cursor ? A_REVERSE : 0);
	int x = RD_PANE_MARGIN;

	rd_curses.attron(whole);
	if (cursor)
		rd_curses.mvhline(y, 0, ' ', *rd_curses.COLS);
	put(y, 0, row->gone ? "-" : row->fresh ? "+" : " ", 0);
	for (size_t c = 0; c < pane->grid.n_columns; c++) {
		bool marked = row->cells[c].age > 0 || row->fresh > 0;

		if (marked)
			rd_curses.attron(A_BOLD);
		x = put_cell(view, pane, y, x, row->cells[c].text, c);
		if (marked)
			rd_curses.attroff(A_BOLD);
	}
	rd_curses.attroff(whole);
}

static void draw_rows(const struct rd_view *view, const struct rd_pane *pane, int y, size_t room, bool cursor)
{
	for (size_t i = 0; i < room && pane->top + i < pane->n; i++) {
		const struct rd_pane_line *line = &pane->lines[pane->top + i];
		const struct rd_grid_row *row = &pane->grid.rows[line->row];

		if (line->heading) {
			rd_curses.attron(A_BOLD | A_UNDERLINE);
			put(y + (int)i, 0, row->group, 0);
			rd_curses.attroff(A_BOLD | A_UNDERLINE);
		} else {
			draw_row(view, pane, row, y + (int)i, cursor && pane->top + i == pane->cursor);
		}
	}
}

/* Number of lines of the top table with its heading; 0: none, or the details of a row are open. */
static size_t top_lines(const struct rd_view *view)
{
	size_t most = *rd_curses.LINES > 6 ? (size_t)*rd_curses.LINES / 2 - 1 : 0, n = view->top.n + 1;

	if (!view->top.n || view->detail_key || most < 2)
		return 0;
	return n < most ? n : most;
}

size_t rd_view_room(const struct rd_view *view)
{
	size_t used = HEAD_LINES + FOOT_LINES + 1 + top_lines(view);

	return *rd_curses.LINES > (int)used ? (size_t)*rd_curses.LINES - used : 0;
}

static void draw_help(const struct rd_view *view, int y)
{
	const struct {
		const char *const *lines;
		size_t n;
	} parts[] = {
		{ help_lines, RD_ARRAY_SIZE(help_lines) },
		{ help_problems, view->ops->worst_first ? RD_ARRAY_SIZE(help_problems) : 0 },
		{ view->ops->help, SIZE_MAX },
		{ help_end, RD_ARRAY_SIZE(help_end) },
	};

	for (size_t p = 0; p < RD_ARRAY_SIZE(parts); p++)
		for (size_t i = 0; parts[p].lines && i < parts[p].n && parts[p].lines[i]; i++)
			if (y < *rd_curses.LINES - FOOT_LINES)
				put(y++, 2, parts[p].lines[i], 0);
}

static void draw_footer(struct rd_view *view)
{
	const struct rd_pane *pane = rd_view_active(view);
	char text[400];

	if (view->typing)
		snprintf(text, sizeof(text), "/%s", pane->filter);
	else if (view->problem[0])
		snprintf(text, sizeof(text), "%s", view->problem);
	else
		snprintf(text, sizeof(text), "%zu of %zu%s%s%s   q quit  ? help%s  / filter  < > sort  p pause%s",
			 pane->n_rows, pane->grid.n - pane->grid.n_gone, pane->filter[0] ? "  filter: " : "",
			 pane->filter, view->paused ? "  PAUSED" : "", view->ops->worst_first ? "  n problem" : "",
			 view->detail_key  ? "  Esc back" :
			 view->ops->detail ? "  Enter details" :
					     "");
	if (*rd_curses.LINES > 0)
		put(*rd_curses.LINES - 1, 0, text, 0);
}

void rd_view_draw(struct rd_view *view)
{
	struct rd_pane *pane = rd_view_active(view);
	size_t room = rd_view_room(view), above = top_lines(view);
	int x = 0, y = 0;

	rd_pane_move(pane, 0, room); /* the screen may have shrunk */
	rd_grid_fit(&view->top.grid, *rd_curses.COLS - RD_PANE_MARGIN);
	rd_grid_fit(&pane->grid, *rd_curses.COLS - RD_PANE_MARGIN);
	rd_curses.erase();
	if (view->progress)
		x = put(y, 0, view->progress, 0) + 2;
	if (view->headline)
		put(y, x, view->headline, 0);
	y += HEAD_LINES;
	if (above) {
		draw_headings(view, &view->top, y);
		draw_rows(view, &view->top, y + 1, above - 1, false);
		y += (int)above;
	}
	draw_headings(view, pane, y++);
	if (view->help)
		draw_help(view, y);
	else
		draw_rows(view, pane, y, room, pane->n > 1);
	draw_footer(view);
	rd_curses.refresh();
}
