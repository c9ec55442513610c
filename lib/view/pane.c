/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/pane.h"

#include <string.h>

#include "base/memory.h"

void rd_pane_init(struct rd_pane *pane)
{
	*pane = (struct rd_pane){ .sort = -1 };
}

void rd_pane_deinit(struct rd_pane *pane)
{
	rd_grid_deinit(&pane->grid);
	rd_section_destroy(pane->section);
	free(pane->lines);
	*pane = (struct rd_pane){ .sort = -1 };
}

const struct rd_grid_row *rd_pane_row(const struct rd_pane *pane)
{
	return pane->cursor < pane->n ? &pane->grid.rows[pane->lines[pane->cursor].row] : NULL;
}

static bool begins_group(const struct rd_pane *pane, size_t row, const char *group)
{
	const char *own = pane->grid.rows[row].group;

	return own && (!group || strcmp(own, group) != 0);
}

static void fill_lines(struct rd_pane *pane)
{
	struct rd_pane_line *lines = rd_alloc(2 * pane->grid.n + 1, sizeof(*lines));
	const char *group = NULL;

	free(pane->lines);
	pane->lines = lines;
	pane->n = pane->n_rows = 0;
	for (size_t i = 0; i < pane->grid.n; i++) {
		if (!rd_grid_matches(&pane->grid, i, pane->filter) ||
		    (pane->only_faults && pane->grid.rows[i].severity < RD_SEV_WARNING))
			continue;
		if (begins_group(pane, i, group))
			lines[pane->n++] = (struct rd_pane_line){ .row = i, .heading = true };
		group = pane->grid.rows[i].group;
		lines[pane->n++] = (struct rd_pane_line){ .row = i };
		pane->n_rows += !pane->grid.rows[i].gone;
	}
}

/* Moves the cursor to the row with this key, else leaves it on its line. */
static void find_cursor(struct rd_pane *pane, const char *key)
{
	for (size_t i = 0; key && i < pane->n; i++)
		if (!pane->lines[i].heading && strcmp(pane->grid.rows[pane->lines[i].row].key, key) == 0) {
			/* Scroll by the same amount, so that the row stays in place on the screen. */
			pane->top = i + pane->top > pane->cursor ? i + pane->top - pane->cursor : 0;
			pane->cursor = i;
			return;
		}
	if (pane->cursor >= pane->n)
		pane->cursor = pane->n ? pane->n - 1 : 0;
}

void rd_pane_arrange(struct rd_pane *pane)
{
	const struct rd_grid_row *row = rd_pane_row(pane);
	_cleanup_free_ char *key = row && pane->cursor > 0 ? rd_dup(row->key) : NULL;

	rd_grid_sort(&pane->grid, pane->sort, pane->backwards);
	fill_lines(pane);
	find_cursor(pane, key);
}

void rd_pane_set(struct rd_pane *pane, struct rd_section *section, const struct rd_grid_style *style, bool reselected)
{
	const struct rd_grid_row *row = rd_pane_row(pane);
	/* A cursor on the first row stays there, whichever row that is. */
	_cleanup_free_ char *key = row && pane->cursor > 1 ? rd_dup(row->key) : NULL;
	struct rd_grid grid = { 0 };

	rd_grid_build(&grid, section, style, pane->grid.n_columns && !reselected ? &pane->grid : NULL);
	rd_grid_deinit(&pane->grid);
	rd_section_destroy(pane->section);
	pane->grid = grid;
	pane->section = section;
	if (pane->sort >= (int)grid.n_columns)
		pane->sort = -1;
	rd_grid_sort(&pane->grid, pane->sort, pane->backwards);
	fill_lines(pane);
	find_cursor(pane, key);
}

void rd_pane_sort_step(struct rd_pane *pane, int step)
{
	do {
		pane->sort += step;
		if (pane->sort < -1)
			pane->sort = (int)pane->grid.n_columns - 1;
		if (pane->sort >= (int)pane->grid.n_columns)
			pane->sort = -1;
		/* Not by a column that a narrow terminal leaves out. */
	} while (pane->sort >= 0 && pane->grid.fitted && !pane->left && !pane->grid.shown[pane->sort]);
}

/* Keeps a heading with its rows, and the cursor off headings. */
static void clamp_cursor(struct rd_pane *pane, long direction, size_t room)
{
	if (pane->n == 0) {
		pane->cursor = pane->top = 0;
		return;
	}
	if (pane->cursor >= pane->n)
		pane->cursor = pane->n - 1;
	if (pane->lines[pane->cursor].heading)
		pane->cursor += direction < 0 && pane->cursor > 0 ? -1 : 1;
	if (pane->top > pane->cursor)
		pane->top = pane->cursor;
	if (pane->top > 0 && pane->top == pane->cursor && pane->lines[pane->top - 1].heading)
		pane->top--;
	if (room > 0 && pane->cursor >= pane->top + room)
		pane->top = pane->cursor - room + 1;
	if (pane->top + room > pane->n)
		pane->top = pane->n > room ? pane->n - room : 0;
}

void rd_pane_move(struct rd_pane *pane, long by, size_t room)
{
	if (by < 0 && (size_t)-by > pane->cursor)
		pane->cursor = 0;
	else
		pane->cursor += by;
	clamp_cursor(pane, by, room);
}

void rd_pane_home(struct rd_pane *pane, size_t room)
{
	pane->cursor = pane->top = 0;
	pane->left = 0;
	clamp_cursor(pane, 1, room);
}

void rd_pane_end(struct rd_pane *pane, size_t room)
{
	pane->cursor = pane->n;
	clamp_cursor(pane, 1, room);
}

bool rd_pane_next_problem(struct rd_pane *pane, size_t room)
{
	for (size_t i = 1; i <= pane->n; i++) {
		size_t at = (pane->cursor + i) % pane->n;
		const struct rd_grid_row *row = &pane->grid.rows[pane->lines[at].row];

		if (pane->lines[at].heading || row->gone || row->severity < RD_SEV_WARNING)
			continue;
		pane->cursor = at;
		clamp_cursor(pane, 1, room);
		return true;
	}
	return false;
}

void rd_pane_shift(struct rd_pane *pane, int by, int columns)
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
