/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view.h"

#include <errno.h>
#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "base/end.h"
#include "base/environ.h"
#include "base/memory.h"
#include "base/text.h"
#include "render/render.h"
#include "view/curses.h"
#include "view/draw.h"
#include "view/terminal.h"
#include "view/wrap.h"

#define MARKED 3
#define SLICE_MS 50 /* of work between two keys */
#define ESCAPE 27

static void set_problem(struct rd_view *view, const struct rd_err *err)
{
	snprintf(view->problem, sizeof(view->problem), "%.120s: %.160s", err->object, err->message);
}

/* Of each column beyond the 80 of most terminals, a bar gets a quarter: there may be two, and texts that were cut. */
static unsigned wider_by(int columns)
{
	return columns > 80 ? (unsigned)(columns - 80) / 4 : 0;
}

static struct rd_grid_style style_of(const struct rd_view *view)
{
	return (struct rd_grid_style){
		.keys = view->ops->keys,
		.restless = view->ops->restless,
		.marked = view->ops->marked ? view->ops->marked : MARKED,
		.columns = view->ops->columns ? view->ops->columns(view->arg) : NULL,
		.group = view->ops->group ? view->ops->group(view->arg) : -1,
		.ranked = view->ops->worst_first,
		.ascii = view->ascii,
		.wider = wider_by(*rd_curses.COLS),
	};
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

static void show_page(struct rd_view *view, struct rd_view_page *page)
{
	struct rd_grid_style style = style_of(view);
	struct rd_grid_style top_style = { .group = -1, .ascii = style.ascii, .wider = style.wider };

	if (page->top)
		rd_pane_set(&view->top, RD_TAKE(page->top), &top_style, false);
	if (page->body)
		rd_pane_set(&view->body, RD_TAKE(page->body), &style, page->reselected);
	free(view->headline);
	/* It may have names of foreign hosts. */
	view->headline = page->headline ? rd_safe(page->headline) : NULL;
	free(view->alarm);
	view->alarm = RD_TAKE(page->alarm);
	view->alarm_severity = page->alarm_severity;
	if (view->detail_key)
		update_detail(view);
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
	else
		show_page(view, &page);
	free(page.headline);
	free(page.alarm);
	rd_section_destroy(page.top);
	rd_section_destroy(page.body);
}

/* "RULE port-state, SUBJECT mlx5_0/1": what identifies a row. */
static char *title_of(const struct rd_view *view, const struct rd_grid_row *row)
{
	const struct rd_section *section = view->body.section;
	struct rd_buf title = { 0 };

	rd_buf_str(&title, "");
	for (const int *key = view->ops->keys; *key >= 0; key++) {
		const struct rd_column *column = &section->columns[*key];

		rd_buf_printf(&title, "%s%s ", title.len ? ", " : "", column->title ? column->title : column->key);
		rd_render_cell(column, &rd_section_row(section, row->index)->cells[*key], &title);
	}
	return title.data;
}

static void open_row(struct rd_view *view)
{
	const struct rd_grid_row *row = rd_pane_row(&view->body);

	if (!view->ops->detail || view->detail_key || !row)
		return;
	view->detail_key = rd_dup(row->key);
	view->detail_title = title_of(view, row);
	update_detail(view);
}

static void close_row(struct rd_view *view)
{
	free(view->detail_key);
	free(view->detail_title);
	view->detail_key = view->detail_title = NULL;
	rd_pane_deinit(&view->detail);
}

static void type_filter(struct rd_view *view, int key)
{
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
}

/* Handles keys that move the cursor; false: other keys. */
static bool move_by_key(struct rd_view *view, int key)
{
	struct rd_pane *pane = rd_view_active(view);
	size_t room = rd_view_room(view);
	long page = room > 1 ? (long)room - 1 : 1;

	switch (key) {
	case KEY_UP:
		rd_pane_move(pane, -1, room);
		return true;
	case KEY_DOWN:
		rd_pane_move(pane, 1, room);
		return true;
	case KEY_PPAGE:
		rd_pane_move(pane, -page, room);
		return true;
	case KEY_NPAGE:
		rd_pane_move(pane, page, room);
		return true;
	case KEY_HOME:
		rd_pane_home(pane, room);
		return true;
	case KEY_END:
		rd_pane_end(pane, room);
		return true;
	case KEY_LEFT:
	case KEY_RIGHT:
		rd_pane_shift(pane, key == KEY_LEFT ? -8 : 8, *rd_curses.COLS);
		return true;
	}
	return false;
}

static void sort_step(struct rd_view *view, int step)
{
	struct rd_pane *pane = rd_view_active(view);

	rd_pane_sort_step(pane, step);
	rd_pane_arrange(pane);
}

static void show_next_problem(struct rd_view *view)
{
	close_row(view);
	view->problem[0] = '\0';
	if (!rd_pane_next_problem(&view->body, rd_view_room(view)))
		snprintf(view->problem, sizeof(view->problem), "no row is a warning or critical%s",
			 view->body.filter[0] ? " among those that match the filter" : "");
}

/* Handles keys of the view itself; false: other keys. */
static bool handle_own_key(struct rd_view *view, int key)
{
	struct rd_pane *pane = rd_view_active(view);

	switch (key) {
	case 'q':
		view->end = true;
		return true;
	case '?':
	case 'h':
		view->help = !view->help;
		return true;
	case '/':
		view->typing = true;
		return true;
	case 'p':
		view->paused = !view->paused;
		return true;
	case '!':
		view->body.only_faults = !view->body.only_faults;
		close_row(view);
		rd_pane_arrange(&view->body);
		return true;
	case 'n':
		if (view->ops->worst_first)
			show_next_problem(view);
		return view->ops->worst_first;
	case '<':
	case '>':
		sort_step(view, key == '<' ? -1 : 1);
		return true;
	case 'r':
		pane->backwards = !pane->backwards;
		rd_pane_arrange(pane);
		return true;
	case '\n':
	case '\r':
	case KEY_ENTER:
		open_row(view);
		return true;
	case ESCAPE:
	case KEY_BACKSPACE:
		close_row(view);
		return true;
	}
	return move_by_key(view, key);
}

static void handle_key(struct rd_view *view, int key)
{
	if (view->typing) {
		type_filter(view, key);
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

static void run_loop(struct rd_view *view)
{
	refresh_page(view);
	while (!view->end) {
		int due = view->ops->due(view->arg);

		if ((due <= 0 && !view->paused) || view->due) {
			refresh_page(view);
			if (view->end)
				break;
			due = view->ops->due(view->arg);
		}
		rd_view_draw(view);
		if (!rd_view_wait(ms_to_wait(view, due)))
			break;
		handle_keys(view);
	}
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
	struct rd_view view = { .ops = ops, .arg = arg, .colour = colour };
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
	rd_view_colours(&view);
	rd_curses.cbreak();
	rd_curses.noecho();
	rd_curses.curs_set(0);
	rd_curses.keypad(*rd_curses.stdscr, TRUE);
	rd_curses.nodelay(*rd_curses.stdscr, TRUE);
	rd_curses.set_escdelay(25);
	rd_view_catch_signals();
	run_loop(&view);
	restore_terminal();
	rd_view_release_signals();
	rd_curses.delscreen(screen);
	close_row(&view);
	rd_pane_deinit(&view.body);
	rd_pane_deinit(&view.top);
	free(view.headline);
	free(view.alarm);
	return 0;
}
