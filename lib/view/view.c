/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view: drawing, keys. */
#include "view/view.h"

#include <langinfo.h>
#include <wchar.h>

#include "base/environ.h"
#include "render/render.h"
#include "view/curses.h"
#include "view/grid.h"

/* Drawing the view. */

struct rd_view {
	const struct rd_view_ops *ops;
	void *arg;
	struct rd_pane top, body, detail;
	char *headline, *alarm;
	enum rd_severity alarm_severity;
	const char *progress; /* of a look that takes long; NULL: none */
	char *detail_key;     /* of the row whose details are open; NULL: none */
	char *detail_title;   /* what identifies that row */
	char problem[300];    /* of the last refresh; "" for none */
	bool typing, help, paused, end, due, colour, ascii;
};

/* The pane that receives keys. */
static inline struct rd_pane *rd_view_active(struct rd_view *view)
{
	return view->detail_key ? &view->detail : &view->body;
}

#define FOOT_LINES 1
#define FIXED_MOST 3 /* columns that stay when a pane is scrolled sideways */

static const char *const help_lines[] = {
	"q        quit",
	"?        this help",
	"/        show only rows that contain a text; Enter applies, Escape clears it",
	"< >      sort by the column to the left or right; past the first or last column: original order",
	"r        reverse the sort order",
	"!        show only rows with a warning or a critical fault, or all",
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

/* Without colours faults are underlined. */
static attr_t severity_attr(const struct rd_view *view, enum rd_severity severity)
{
	if (severity < RD_SEV_UNKNOWN)
		return 0;
	return view->colour ? (attr_t)rd_curses.COLOR_PAIR(severity) : A_UNDERLINE;
}

/* What part of the screen a text may use. */
struct place {
	int left; /* columns scrolled away */
	int from; /* the first column that may be written to */
};

/* Writes text at column x of what is scrolled; what is off the screen is skipped, and ends in an ellipsis. Returns the width of the
 * text. */
static int put(const struct rd_view *view, int y, int x, const char *text, struct place place)
{
	int end = x - place.left + rd_text_width(text), columns = *rd_curses.COLS, width = 0;
	const wchar_t *ellipsis = view->ascii ? L"~" : L"…";
	size_t size = strlen(text);
	bool cut = end > columns && x - place.left < columns;

	while (size > 0) {
		wchar_t c[2] = { 0 };
		size_t n = mbrtowc(c, text, size, &(mbstate_t){ 0 });
		int w = n > 0 && n <= size ? wcwidth(c[0]) : -1, at = x + width - place.left;

		if (w <
		    0) { /* not a character of this locale: print its byte, which is printable because text is escaped */
			n = 1;
			w = 1;
			c[0] = (uint8_t)*text < 0x80 ? (wchar_t)*text : L'?';
		}
		if (at >= place.from && at + w <= columns - cut)
			rd_curses.mvaddnwstr(y, at, c, 1);
		width += w;
		text += n;
		size -= n;
	}
	if (cut && columns > 0)
		rd_curses.mvaddnwstr(y, columns - 1, ellipsis, 1);
	if (place.from > 0 && x - place.left < place.from && end > place.from)
		rd_curses.mvaddnwstr(y, place.from, ellipsis, 1);
	return width;
}

static const struct place whole_line = { 0, 0 };

/* The columns at the left that stay when a pane is scrolled: those up to the last that identifies a row, if that is one of the first,
 * else the first. At most half of the terminal. */
static size_t fixed_columns(const struct rd_view *view, const struct rd_pane *pane)
{
	size_t fixed = 1;
	int width;

	for (size_t c = 0; c < FIXED_MOST && c < pane->grid.n_columns; c++)
		for (const int *key = view->ops->keys; pane == &view->body && *key >= 0; key++)
			if (pane->grid.columns[c] == &pane->section->columns[*key])
				fixed = c + 1;
	do {
		width = RD_PANE_MARGIN;
		for (size_t c = 0; c < fixed && c < pane->grid.n_columns; c++)
			width += pane->grid.widths[c] + 1;
	} while (width > *rd_curses.COLS / 2 && --fixed > 0);
	return fixed;
}

/* Where the cells of a scrolled pane begin that do not stay. */
static int end_of_fixed(const struct rd_view *view, const struct rd_pane *pane)
{
	int x = RD_PANE_MARGIN;

	for (size_t c = 0, n = fixed_columns(view, pane); c < n; c++)
		x += pane->grid.widths[c] + 1;
	return x;
}

/* Returns the column of the terminal at which the next cell begins. */
static int put_cell(const struct rd_view *view, const struct rd_pane *pane, int y, int x, const char *text,
		    size_t column)
{
	struct place place = whole_line;
	_cleanup_buf_ struct rd_buf fitted = { 0 };
	/* Width of a column, 0: left out. A pane that was scrolled shows everything in full width. */
	int width = pane->left ? pane->grid.widths[column] : pane->grid.shown[column], pad;

	if (!width)
		return x;
	if (pane->left && column >= fixed_columns(view, pane))
		place = (struct place){ pane->left, end_of_fixed(view, pane) };
	if (!pane->left) {
		rd_grid_fitted(&pane->grid, column, text, view->ascii, &fitted);
		text = fitted.data;
	}
	pad = pane->grid.numbers[column] ? width - rd_text_width(text) : 0;
	put(view, y, x + (pad > 0 ? pad : 0), text, place);
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
	put(view, y, 0, row->gone ? "-" : row->fresh ? "+" : " ", whole_line);
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
			put(view, y + (int)i, 0, row->group, whole_line);
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

/* Whether the worst finding is shown: the page of a row needs the space. */
static bool shows_alarm(const struct rd_view *view)
{
	return view->alarm && !view->detail_key;
}

static int head_lines(const struct rd_view *view)
{
	return shows_alarm(view) ? 2 : 1;
}

/* Number of terminal lines for rows of the active pane. */
static size_t rd_view_room(const struct rd_view *view)
{
	size_t used = (size_t)head_lines(view) + FOOT_LINES + 1 + top_lines(view);

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
				put(view, y++, 2, parts[p].lines[i], whole_line);
}

static bool leaves_out_columns(const struct rd_pane *pane)
{
	for (size_t c = 0; c < pane->grid.n_columns; c++)
		if (pane->grid.fitted && !pane->grid.shown[c])
			return true;
	return pane->left > 0;
}

static void draw_footer(struct rd_view *view)
{
	const struct rd_pane *pane = rd_view_active(view);
	_cleanup_buf_ struct rd_buf text = { 0 };

	if (view->typing) {
		rd_buf_printf(&text, "/%s", pane->filter);
	} else if (view->problem[0]) {
		rd_buf_str(&text, view->problem);
	} else {
		/* "3 of 3", or which lines are on the screen. */
		size_t room = rd_view_room(view), last = pane->top + room < pane->n ? pane->top + room : pane->n;

		if (pane->n > room)
			rd_buf_printf(&text, "lines %zu-%zu of %zu", pane->top + 1, last, pane->n);
		else
			rd_buf_printf(&text, "%zu of %zu", pane->n_rows, pane->grid.n - pane->grid.n_gone);
		if (pane->filter[0])
			rd_buf_printf(&text, "  filter: %s", pane->filter);
		rd_buf_printf(&text, "%s%s   q quit  ? help%s%s%s  / filter  < > sort  p pause",
			      pane->only_faults ? "  FAULTS ONLY" : "", view->paused ? "  PAUSED" : "",
			      view->ops->worst_first ? "  n problem" : "",
			      view->detail_key	? "  Esc back" :
			      view->ops->detail ? "  Enter details" :
						  "",
			      leaves_out_columns(pane) ? view->ascii ? "  left, right: columns" : "  ← → columns" : "");
	}
	if (*rd_curses.LINES > 0 && text.data)
		put(view, *rd_curses.LINES - 1, 0, text.data, whole_line);
}

/* The rows that fit, and how many do not: the top table does not scroll. */
static void draw_top(const struct rd_view *view, int y, size_t lines)
{
	size_t room = lines - 1;
	char rest[48];

	draw_headings(view, &view->top, y);
	if (view->top.n > room) {
		snprintf(rest, sizeof(rest), "%*s%s %zu more", RD_PANE_MARGIN, "", view->ascii ? "..." : "…",
			 view->top.n - --room);
		put(view, y + (int)room + 1, 0, rest, whole_line);
	}
	draw_rows(view, &view->top, y + 1, room, false);
}

static void rd_view_draw(struct rd_view *view)
{
	struct rd_pane *pane = rd_view_active(view);
	size_t room = rd_view_room(view), above = top_lines(view);
	int x = 0, y = 0;

	rd_pane_move(pane, 0, room); /* the screen may have shrunk */
	rd_grid_fit(&view->top.grid, *rd_curses.COLS - RD_PANE_MARGIN);
	rd_grid_fit(&pane->grid, *rd_curses.COLS - RD_PANE_MARGIN);
	rd_curses.erase();
	if (view->progress)
		x = put(view, y, 0, view->progress, whole_line) + 2;
	if (view->detail_title)
		put(view, y, x, view->detail_title, whole_line);
	else if (view->headline)
		put(view, y, x, view->headline, whole_line);
	if (shows_alarm(view)) {
		attr_t attr = severity_attr(view, view->alarm_severity) | A_BOLD;

		rd_curses.attron(attr);
		put(view, 1, 0, view->alarm, whole_line);
		rd_curses.attroff(attr);
	}
	y += head_lines(view);
	if (above) {
		draw_top(view, y, above);
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

static const struct rd_column page_columns[] = {
	{ "what", "WHAT", RD_T_STR, "name of the value", 0, false },
	{ "value", "VALUE", RD_T_STR, "value", 0, false },
};

struct rd_section *rd_view_page(void)
{
	return RD_SECTION("values", page_columns);
}

void rd_view_add_line(struct rd_section *page, const char *what, const char *value)
{
	RD_ROW(page, RD_STR(what), RD_STR(value));
}

int rd_view_values(void *arg, const struct rd_section *from, size_t row, struct rd_section **ret, struct rd_err *err)
{
	(void)arg, (void)err;
	*ret = *ret ?: rd_view_page();
	for (size_t c = 0; c < from->n_columns; c++) {
		const struct rd_cell *cell = &rd_section_row(from, row)->cells[c];
		_cleanup_buf_ struct rd_buf text = { 0 };

		if (cell->known != RD_OK)
			continue;
		rd_render_cell(&from->columns[c], cell, &text);
		rd_view_add_line(*ret, from->columns[c].key, text.data);
	}
	return 0;
}

#define MARKED 3
#define SLICE_MS 50 /* of work between two keys */
#define ESCAPE 27

static void set_problem(struct rd_view *view, const struct rd_err *err)
{
	snprintf(view->problem, sizeof(view->problem), "%.120s: %.160s", err->object, err->message);
}

/* Updates the details of the opened row from the current body. The last details of a removed row stay. */
static void update_detail(struct rd_view *view)
{
	const struct rd_grid_style style = { .group = -1, .marked = MARKED, .ascii = view->ascii };
	const struct rd_grid *grid = &view->body.grid;
	struct rd_section *section = NULL;
	struct rd_err err = { 0 };
	size_t i = 0;

	while (i < grid->n && (grid->rows[i].gone || strcmp(grid->rows[i].key, view->detail_key) != 0))
		i++;
	if (i == grid->n) {
		snprintf(view->problem, sizeof(view->problem), "no longer present: showing the last known state");
		return;
	}
	if (view->ops->detail(view->arg, view->body.section, grid->rows[i].index, &section, &err) < 0 || !section)
		set_problem(view, &err);
	else
		rd_pane_set(&view->detail, rd_wrap_values(section, *rd_curses.COLS - RD_PANE_MARGIN), &style, false);
}

static void refresh_page(struct rd_view *view)
{
	struct rd_view_page page = { .view = view };
	struct rd_err err = { 0 };
	int r = view->ops->look(view->arg, &page, &err);

	view->due = false;
	view->problem[0] = '\0';
	if (r == 1)
		view->end = true;
	else if (r < 0)
		set_problem(view, &err);
	else {
		int columns = *rd_curses.COLS;
		struct rd_grid_style style = (struct rd_grid_style){
			.keys = view->ops->keys,
			.restless = view->ops->restless,
			.marked = view->ops->marked ?: MARKED,
			.columns = view->ops->columns ? view->ops->columns(view->arg) : NULL,
			.group = view->ops->group ? view->ops->group(view->arg) : -1,
			.ranked = view->ops->worst_first,
			.ascii = view->ascii,
			/* Of each column beyond the 80 of most terminals, a bar gets a quarter: there may be two, and texts
			 * that were cut. */
			.wider = columns > 80 ? (unsigned)(columns - 80) / 4 : 0,
		};
		struct rd_grid_style top_style = { .group = -1, .ascii = style.ascii, .wider = style.wider };

		if (page.top)
			rd_pane_set(&view->top, RD_TAKE(page.top), &top_style, false);
		if (page.body)
			rd_pane_set(&view->body, RD_TAKE(page.body), &style, page.reselected);
		free(view->headline);
		/* It may have names of foreign hosts. */
		view->headline = page.headline ? rd_safe(page.headline) : NULL;
		free(view->alarm);
		view->alarm = RD_TAKE(page.alarm);
		view->alarm_severity = page.alarm_severity;
		if (view->detail_key)
			update_detail(view);
	}
	RD_FREE(page.headline, page.alarm);
	rd_section_destroy(page.top);
	rd_section_destroy(page.body);
}

static void open_row(struct rd_view *view)
{
	const struct rd_grid_row *row = rd_pane_row(&view->body);
	struct rd_buf title = { 0 };
	const struct rd_section *section;

	if (!view->ops->detail || view->detail_key || !row)
		return;
	view->detail_key = rd_dup(row->key);
	/* "RULE port-state, SUBJECT mlx5_0/1": what identifies a row. */
	section = view->body.section;
	rd_buf_str(&title, "");
	for (const int *key = view->ops->keys; *key >= 0; key++) {
		const struct rd_column *column = &section->columns[*key];

		rd_buf_printf(&title, "%s%s ", title.len ? ", " : "", column->title ?: column->key);
		rd_render_cell(column, &rd_section_row(section, row->index)->cells[*key], &title);
	}
	view->detail_title = title.data;
	update_detail(view);
}

static void close_row(struct rd_view *view)
{
	RD_FREE(view->detail_key, view->detail_title);
	view->detail_key = view->detail_title = NULL;
	rd_pane_deinit(&view->detail);
}

/* Scrolls sideways, limited to the width of the grid; `columns` is the width of the terminal. */
static void shift_pane(struct rd_pane *pane, int by, int columns)
{
	int width = RD_PANE_MARGIN;

	for (size_t c = 0; c < pane->grid.n_columns; c++)
		width += pane->grid.widths[c] + (c > 0);
	pane->left += by;
	if (pane->left > width - columns)
		pane->left = width - columns;
	if (pane->left < 0)
		pane->left = 0;
}

/* Handles keys of the view itself; false: other keys. */
static bool handle_own_key(struct rd_view *view, int key)
{
	struct rd_pane *pane = rd_view_active(view);
	size_t room = rd_view_room(view);
	long page = room > 1 ? (long)room - 1 : 1;

	if (key == 'q') {
		view->end = true;
	} else if (key == '?' || key == 'h') {
		view->help = !view->help;
	} else if (key == '/') {
		view->typing = true;
	} else if (key == 'p') {
		view->paused = !view->paused;
	} else if (key == '!') {
		view->body.only_faults = !view->body.only_faults;
		close_row(view);
		rd_pane_arrange(&view->body);
	} else if (key == 'n' && view->ops->worst_first) {
		close_row(view);
		view->problem[0] = '\0';
		if (!rd_pane_next_problem(&view->body, rd_view_room(view)))
			snprintf(view->problem, sizeof(view->problem), "no row is a warning or critical%s",
				 view->body.filter[0] ? " among those that match the filter" : "");
	} else if (key == '<' || key == '>') {
		rd_pane_sort_step(pane, key == '<' ? -1 : 1);
		rd_pane_arrange(pane);
	} else if (key == 'r') {
		pane->backwards = !pane->backwards;
		rd_pane_arrange(pane);
	} else if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		open_row(view);
	} else if (key == ESCAPE || key == KEY_BACKSPACE) {
		close_row(view);
	} else if (key == KEY_UP || key == KEY_DOWN) {
		rd_pane_move(pane, key == KEY_UP ? -1 : 1, room);
	} else if (key == KEY_PPAGE || key == KEY_NPAGE) {
		rd_pane_move(pane, key == KEY_PPAGE ? -page : page, room);
	} else if (key == KEY_HOME) {
		rd_pane_home(pane, room);
	} else if (key == KEY_END) {
		rd_pane_end(pane, room);
	} else if (key == KEY_LEFT || key == KEY_RIGHT) {
		shift_pane(pane, key == KEY_LEFT ? -8 : 8, *rd_curses.COLS);
	} else {
		return false;
	}
	return true;
}

static void handle_key(struct rd_view *view, int key)
{
	if (view->typing) {
		struct rd_pane *pane = rd_view_active(view);
		size_t n = strlen(pane->filter);

		if (key == '\n' || key == '\r' || key == KEY_ENTER) {
			view->typing = false;
		} else if (key == ESCAPE) {
			view->typing = false;
			pane->filter[0] = '\0';
		} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && n > 0) {
			pane->filter[n - 1] = '\0';
		} else if (key >= ' ' && key < 127 && n + 1 < sizeof(pane->filter)) {
			pane->filter[n] = (char)key;
			pane->filter[n + 1] = '\0';
		}
		rd_pane_arrange(pane);
		return;
	}
	if (key == KEY_RESIZE) {
		if (view->detail_key)
			update_detail(view);
		return;
	}
	if (view->help && key != '?' && key != 'h' && key != 'q') {
		view->help = false;
		return;
	}
	if (!handle_own_key(view, key) && view->ops->key && view->ops->key(view->arg, key))
		view->due = true;
}

/* Handles all pending keys before drawing, so that a held arrow key does not lag. */
static void handle_keys(struct rd_view *view)
{
	int key;

	while (!view->end && (key = rd_curses.getch()) != ERR)
		handle_key(view, key);
}

bool rd_view_busy(struct rd_view *view, const char *progress)
{
	handle_keys(view);
	if (view->due && !view->end)
		refresh_page(view);
	if (!view->end && !rd_view_wait(0))
		view->end = true;
	if (view->end)
		return false;
	view->progress = progress;
	rd_view_draw(view);
	view->progress = NULL;
	return true;
}

/* How long to wait for a key: -1 without end. */
static int ms_to_wait(struct rd_view *view, int due)
{
	if (view->paused)
		return -1;
	if (due <= 0)
		return 0;
	if (view->ops->meanwhile && view->ops->meanwhile(view->arg, (unsigned)(due < SLICE_MS ? due : SLICE_MS)))
		return 0;
	return due;
}

/* Whether curses has taken over the terminal. */
static bool taken;

static void restore_terminal(void)
{
	if (taken)
		rd_curses.endwin();
	taken = false;
}

int rd_view_run(const struct rd_view_ops *ops, void *arg, bool colour, struct rd_err *err)
{
	struct rd_view view = { .ops = ops, .arg = arg };
	char **whole = rd_environ_hide();
	SCREEN *screen = NULL;
	int r = rd_view_check_terminal(err);

	rd_charset_load();
	if (!r)
		screen = rd_curses.newterm(NULL, stdout, stdin);
	rd_environ_show(whole);
	if (r < 0)
		return r;
	if (!screen)
		return rd_err_set(err, ENOMEM, "--live", "cannot initialize the terminal");
	taken = true;
	rd_at_end(restore_terminal);
	view.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	rd_pane_init(&view.top);
	rd_pane_init(&view.body);
	rd_pane_init(&view.detail);
	view.colour = colour && rd_curses.has_colors();
	if (view.colour) {
		rd_curses.start_color();
		rd_curses.use_default_colors();
		rd_curses.init_pair(RD_SEV_WARNING, COLOR_YELLOW, -1);
		rd_curses.init_pair(RD_SEV_CRITICAL, COLOR_RED, -1);
		rd_curses.init_pair(RD_SEV_UNKNOWN, COLOR_MAGENTA, -1);
	}
	rd_curses.cbreak();
	rd_curses.noecho();
	rd_curses.curs_set(0);
	rd_curses.keypad(*rd_curses.stdscr, TRUE);
	rd_curses.nodelay(*rd_curses.stdscr, TRUE);
	rd_curses.set_escdelay(25);
	rd_view_catch_signals();
	refresh_page(&view);
	while (!view.end) {
		int due = view.ops->due(view.arg);

		if ((due <= 0 && !view.paused) || view.due) {
			refresh_page(&view);
			if (view.end)
				break;
			due = view.ops->due(view.arg);
		}
		rd_view_draw(&view);
		if (!rd_view_wait(ms_to_wait(&view, due)))
			break;
		handle_keys(&view);
	}
	restore_terminal();
	rd_view_release_signals();
	rd_curses.delscreen(screen);
	close_row(&view);
	rd_pane_deinit(&view.body);
	rd_pane_deinit(&view.top);
	RD_FREE(view.headline, view.alarm);
	return 0;
}
