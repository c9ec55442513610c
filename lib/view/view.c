/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "view/grid.h"

#define HEAD_LINES 2
#define FOOT_LINES 1
#define DUE_MAX 600000

struct view {
	const struct rd_view_ops *ops;
	void *arg;
	struct rd_grid grid;
	char *headline;
	char problem[300]; /* of the last refresh; "" for none */
	char filter[64];
	bool typing, help, paused, backwards, end;
	int sort; /* column; -1: as reported */
	size_t top;
	int left; /* columns of the terminal scrolled away */
};

static const char *const help_lines[] = {
	"q        quit",
	"?        this help",
	"/        show only rows that hold a text; Enter keeps it, Escape drops it",
	"< >      sort by the column to the left or right; over the edge: as reported",
	"r        sort the other way round",
	"p        pause",
	"arrows, PgUp, PgDn, Home, End   scroll",
	"",
	"A changed value is bold; + a new row, - one that has gone.",
};

static void refresh_data(struct view *view)
{
	struct rd_section *section = NULL;
	struct rd_grid grid = { 0 };
	char *headline = NULL;
	struct rd_err err = { 0 };
	int r = view->ops->look(view->arg, &section, &headline, &err);

	view->problem[0] = '\0';
	if (r == 1) {
		view->end = true;
	} else if (r < 0 || !section) {
		snprintf(view->problem, sizeof(view->problem), "%.120s: %.160s", err.object, err.message);
	} else if (rd_grid_build(&grid, section, view->ops->keys, view->grid.n_columns ? &view->grid : NULL) < 0) {
		rd_grid_deinit(&grid);
		snprintf(view->problem, sizeof(view->problem), "no memory");
	} else {
		rd_grid_deinit(&view->grid);
		view->grid = grid;
		rd_grid_sort(&view->grid, view->sort, view->backwards);
		free(view->headline);
		view->headline = headline;
		headline = NULL;
	}
	free(headline);
	rd_section_destroy(section);
}

/* What would lie left of the screen or beyond its right edge is cut. */
static void put(const struct view *view, int y, int x, const char *text, int size)
{
	x -= view->left;
	if (x < 0) {
		text += -x < size ? -x : size;
		size += x;
		x = 0;
	}
	if (size > COLS - x)
		size = COLS - x;
	if (size > 0)
		mvaddnstr(y, x, text, size);
}

static void put_cell(const struct view *view, int y, int x, const char *text, int width, bool right)
{
	int size = (int)strlen(text);

	put(view, y, right ? x + width - size : x, text, size);
}

static void draw_headings(const struct view *view)
{
	const struct rd_grid *grid = &view->grid;
	int x = 2;

	attron(A_REVERSE);
	mvhline(1, 0, ' ', COLS);
	for (size_t c = 0; c < grid->n_columns; c++) {
		if ((int)c == view->sort)
			attron(A_BOLD);
		put_cell(view, 1, x, grid->columns[c]->title, grid->widths[c], grid->numbers[c]);
		attroff(A_BOLD);
		x += grid->widths[c] + 1;
	}
	attroff(A_REVERSE);
}

static void draw_row(const struct view *view, const struct rd_grid_row *row, int y)
{
	int x = 2;

	if (row->gone)
		attron(A_DIM);
	put(view, y, 0, row->gone ? "-" : row->fresh ? "+" : " ", 1);
	for (size_t c = 0; c < view->grid.n_columns; c++) {
		bool marked = row->cells[c].age > 0 || row->fresh > 0;

		if (marked)
			attron(A_BOLD);
		put_cell(view, y, x, row->cells[c].text, view->grid.widths[c], view->grid.numbers[c]);
		if (marked)
			attroff(A_BOLD);
		x += view->grid.widths[c] + 1;
	}
	attroff(A_DIM);
}

static size_t count_matching(const struct view *view)
{
	size_t n = 0;

	for (size_t i = 0; i < view->grid.n; i++)
		n += rd_grid_matches(&view->grid, i, view->filter);
	return n;
}

static size_t body_lines(void)
{
	return LINES > HEAD_LINES + FOOT_LINES ? (size_t)(LINES - HEAD_LINES - FOOT_LINES) : 0;
}

static void draw_body(const struct view *view)
{
	size_t seen = 0, drawn = 0;

	for (size_t i = 0; i < view->grid.n && drawn < body_lines(); i++) {
		if (!rd_grid_matches(&view->grid, i, view->filter) || seen++ < view->top)
			continue;
		draw_row(view, &view->grid.rows[i], HEAD_LINES + (int)drawn++);
	}
}

static void draw_help(void)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(help_lines) && i < body_lines(); i++)
		mvaddnstr(HEAD_LINES + (int)i, 2, help_lines[i], COLS - 2);
}

static void draw_footer(const struct view *view)
{
	char text[400];

	if (view->typing)
		snprintf(text, sizeof(text), "/%s", view->filter);
	else if (view->problem[0])
		snprintf(text, sizeof(text), "%s", view->problem);
	else
		snprintf(text, sizeof(text), "%zu of %zu%s%s%s   q quit  ? help  / filter  < > sort  p pause",
			 count_matching(view), view->grid.n, view->filter[0] ? "  filter: " : "", view->filter,
			 view->paused ? "  PAUSED" : "");
	if (LINES > 0)
		mvaddnstr(LINES - 1, 0, text, COLS - 1);
}

static void draw(struct view *view)
{
	size_t rows = count_matching(view), room = body_lines();

	if (view->top + room > rows)
		view->top = rows > room ? rows - room : 0;
	erase();
	if (view->headline)
		mvaddnstr(0, 0, view->headline, COLS - 1);
	draw_headings(view);
	if (view->help)
		draw_help();
	else
		draw_body(view);
	draw_footer(view);
	refresh();
}

static void type_filter(struct view *view, int key)
{
	size_t n = strlen(view->filter);

	if (key == '\n' || key == '\r' || key == KEY_ENTER)
		view->typing = false;
	else if (key == 27) {
		view->typing = false;
		view->filter[0] = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && n > 0)
		view->filter[n - 1] = '\0';
	else if (key >= ' ' && key < 127 && n + 1 < sizeof(view->filter)) {
		view->filter[n] = (char)key;
		view->filter[n + 1] = '\0';
	}
}

static void sort_by(struct view *view, int step)
{
	view->sort += step;
	if (view->sort < -1)
		view->sort = (int)view->grid.n_columns - 1;
	if (view->sort >= (int)view->grid.n_columns)
		view->sort = -1;
	if (view->sort < 0 && !view->paused)
		refresh_data(view); /* back to the order of the report */
	else
		rd_grid_sort(&view->grid, view->sort, view->backwards);
}

static void scroll_by(struct view *view, int key)
{
	size_t page = body_lines();

	switch (key) {
	case KEY_UP:
		view->top -= view->top > 0;
		break;
	case KEY_DOWN:
		view->top++;
		break;
	case KEY_PPAGE:
		view->top -= view->top < page ? view->top : page;
		break;
	case KEY_NPAGE:
		view->top += page;
		break;
	case KEY_HOME:
		view->top = 0;
		view->left = 0;
		break;
	case KEY_END:
		view->top = view->grid.n;
		break;
	case KEY_LEFT:
		view->left = view->left > 8 ? view->left - 8 : 0;
		break;
	case KEY_RIGHT:
		view->left += 8;
		break;
	}
}

static void take_key(struct view *view, int key)
{
	if (view->typing) {
		type_filter(view, key);
		return;
	}
	switch (key) {
	case 'q':
		view->end = true;
		break;
	case '?':
	case 'h':
		view->help = !view->help;
		break;
	case '/':
		view->typing = true;
		break;
	case 'p':
		view->paused = !view->paused;
		break;
	case '<':
		sort_by(view, -1);
		break;
	case '>':
		sort_by(view, 1);
		break;
	case 'r':
		view->backwards = !view->backwards;
		rd_grid_sort(&view->grid, view->sort, view->backwards);
		break;
	default:
		if (view->help && key != KEY_RESIZE)
			view->help = false;
		scroll_by(view, key);
	}
}

static void loop(struct view *view)
{
	refresh_data(view);
	while (!view->end) {
		int due = view->ops->due(view->arg), key;

		if (due <= 0 && !view->paused) {
			refresh_data(view);
			if (view->end)
				break;
			due = view->ops->due(view->arg);
		}
		draw(view);
		timeout(view->paused ? -1 : due < 1 ? 1 : due > DUE_MAX ? DUE_MAX : due);
		key = getch();
		if (key != ERR)
			take_key(view, key);
	}
}

int rd_view_run(const struct rd_view_ops *ops, void *arg, bool colour, struct rd_err *err)
{
	struct view view = { .ops = ops, .arg = arg, .sort = -1 };
	SCREEN *screen;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return rd_err_set(err, ENOTTY, "--live", "needs a terminal for input and output");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return rd_err_set(err, ENOTTY, "TERM", "the terminal is of no kind that is known");
	if (colour && has_colors()) {
		start_color();
		use_default_colors();
	}
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	loop(&view);
	endwin();
	delscreen(screen);
	rd_grid_deinit(&view.grid);
	free(view.headline);
	return 0;
}
