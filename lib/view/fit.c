/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/fit.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define NAME_MOST 20  /* to which a name is shortened before columns are left out */
#define NAME_LEAST 8  /* shorter names are all alike */
#define SHARE_WIDTH 6 /* "100.0%", without its bar */
#define NAMES_COMPARED 512

/* Bytes of the character at `text`, and its width in columns of the terminal; as rd_text_width counts. */
static size_t next_char(const char *text, size_t left, int *width)
{
	wchar_t c;
	size_t n = mbrtowc(&c, text, left, &(mbstate_t){ 0 });

	*width = n > 0 && n <= left ? wcwidth(c) : -1;
	if (*width >= 0)
		return n;
	*width = 1;
	return 1;
}

void rd_text_shorten(const char *text, int width, int head, bool ascii, struct rd_buf *out)
{
	size_t left = strlen(text), n;
	int total = rd_text_width(text), at = 0, w;

	if (total <= width) {
		rd_buf_str(out, text);
		return;
	}
	for (; left > 0; at += w, text += n, left -= n) {
		n = next_char(text, left, &w);
		if (at + w > head)
			break;
		rd_buf_add(out, text, n);
	}
	rd_buf_str(out, ascii ? "~" : "…");
	for (; left > 0 && total - at > width - 1 - head; at += w, text += n, left -= n)
		n = next_char(text, left, &w);
	rd_buf_add(out, text, left);
}

/* The last `width` columns. */
static const char *end_of(const char *text, int width)
{
	size_t left = strlen(text), n;

	for (int over = rd_text_width(text) - width, w; left > 0 && over > 0; over -= w, text += n, left -= n)
		n = next_char(text, left, &w);
	return text;
}

void rd_grid_fitted(const struct rd_grid *grid, size_t column, const char *text, bool ascii, struct rd_buf *out)
{
	rd_buf_str(out, "");
	if (grid->columns[column]->type == RD_T_SHARE)
		rd_buf_str(out, end_of(text, grid->shown[column]));
	else
		rd_text_shorten(text, grid->shown[column], grid->heads[column], ascii, out);
}

static int less(int a, int b)
{
	return a < b ? a : b;
}

/* The width to which a column can be narrowed, if names are shortened to `name`, and texts to half as much again. */
static int least_width(const struct rd_grid *grid, size_t c, int name)
{
	int title = (int)strlen(grid->columns[c]->title), least = grid->widths[c];

	if (grid->columns[c]->type == RD_T_SHARE)
		least = less(least, SHARE_WIDTH);
	else if (grid->columns[c]->fit != RD_FIT_WHOLE)
		least = less(least, grid->columns[c]->fit == RD_FIT_TEXT ? name * 3 / 2 : name);
	return least < title ? title : least;
}

static int sum_of(const struct rd_grid *grid, int name)
{
	int sum = -1; /* a blank between two columns */

	for (size_t c = 0; c < grid->n_columns; c++)
		if (grid->shown[c])
			sum += least_width(grid, c, name) + 1;
	return sum;
}

/* Leaves one column out; false: none is spare. */
static bool leave_out(struct rd_grid *grid)
{
	size_t which = grid->n_columns;
	int worst = 0;

	for (size_t c = 0; c < grid->n_columns; c++) {
		int spare = grid->columns[c]->spare;

		if (spare && grid->empty[c])
			spare += UINT8_MAX;
		if (grid->shown[c] && spare > worst) {
			worst = spare;
			which = c;
		}
	}
	if (which == grid->n_columns)
		return false;
	grid->shown[which] = 0;
	return true;
}

/* Widens names and texts evenly as far as they need it, then shares by their bars. */
static void widen(struct rd_grid *grid, int room)
{
	int before;

	do {
		before = room;
		for (size_t c = 0; c < grid->n_columns && room > 0; c++)
			if (grid->shown[c] && grid->shown[c] < grid->widths[c] &&
			    grid->columns[c]->fit != RD_FIT_WHOLE) {
				grid->shown[c]++;
				room--;
			}
	} while (room < before);
	for (size_t c = 0; c < grid->n_columns; c++)
		if (grid->shown[c] && grid->widths[c] - grid->shown[c] <= room) {
			room -= grid->widths[c] - grid->shown[c];
			grid->shown[c] = grid->widths[c];
		}
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Number of different names among those of the column, shortened with this head. */
static size_t count_different(const struct rd_grid *grid, size_t c, int head)
{
	char *names[NAMES_COMPARED] = { 0 };
	size_t n = 0, different = 0;

	for (size_t i = 0; i < grid->n && n < NAMES_COMPARED; i++) {
		struct rd_buf text = { 0 };

		if (grid->rows[i].index >= NAMES_COMPARED)
			continue;
		rd_buf_str(&text, "");
		rd_text_shorten(grid->rows[i].cells[c].text, grid->shown[c], head, true, &text);
		names[n++] = text.data;
	}
	qsort(names, n, sizeof(*names), compare_texts);
	for (size_t i = 0; i < n; i++)
		different += i == 0 || strcmp(names[i - 1], names[i]) != 0;
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	return different;
}

/* Names of one site differ at the beginning, in the middle or at the end. */
static int choose_head(const struct rd_grid *grid, size_t c)
{
	static const int percent[] = { 67, 50, 80, 33, 100, 0 };
	int room = grid->shown[c] - 1, best = 0;
	size_t most = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(percent); i++) {
		int head = room * percent[i] / 100;
		size_t n = count_different(grid, c, head);

		if (n > most) {
			most = n;
			best = head;
		}
	}
	return best;
}

void rd_grid_fit(struct rd_grid *grid, int columns)
{
	int name = columns / 4 > NAME_MOST ? NAME_MOST : columns / 4 < NAME_LEAST ? NAME_LEAST : columns / 4, room;

	if (grid->fitted == columns)
		return;
	grid->fitted = columns;
	room = columns + 1;
	for (size_t c = 0; c < grid->n_columns; c++) {
		grid->shown[c] = grid->heads[c] = grid->widths[c];
		room -= grid->widths[c] + 1;
	}
	if (room >= 0)
		return;
	while (sum_of(grid, name) > columns && leave_out(grid))
		;
	while (sum_of(grid, name) > columns && name > NAME_LEAST)
		name--;
	room = columns - sum_of(grid, name);
	for (size_t c = 0; c < grid->n_columns; c++)
		if (grid->shown[c])
			grid->shown[c] = least_width(grid, c, name);
	widen(grid, room);
	for (size_t c = 0; c < grid->n_columns; c++) {
		grid->heads[c] = grid->shown[c] - 1;
		if (grid->columns[c]->fit == RD_FIT_NAME && grid->shown[c] && grid->shown[c] < grid->widths[c])
			grid->heads[c] = choose_head(grid, c);
	}
}
