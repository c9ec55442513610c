/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/grid.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "render/render.h"

static void row_deinit(struct rd_grid_row *row, size_t n)
{
	for (size_t c = 0; row->cells && c < n; c++)
		free(row->cells[c].text);
	free(row->cells);
	free(row->key);
}

void rd_grid_deinit(struct rd_grid *grid)
{
	for (size_t i = 0; i < grid->n; i++)
		row_deinit(&grid->rows[i], grid->n_columns);
	free(grid->rows);
	free(grid->columns);
	free(grid->widths);
	free(grid->numbers);
	*grid = (struct rd_grid){ 0 };
}

static char *cell_text(const struct rd_column *column, const struct rd_cell *cell)
{
	struct rd_buf text = { 0 };

	rd_buf_str(&text, "");
	rd_render_cell(column, cell, &text);
	if (text.failed)
		rd_buf_deinit(&text);
	return text.data;
}

static char *key_of(const struct rd_section *section, const struct rd_row *row, const int *keys)
{
	struct rd_buf key = { 0 };

	rd_buf_str(&key, "");
	for (; *keys >= 0; keys++) {
		if ((size_t)*keys < section->n_columns)
			rd_render_cell(&section->columns[*keys], &row->cells[*keys], &key);
		rd_buf_add(&key, "\n", 1);
	}
	if (key.failed)
		rd_buf_deinit(&key);
	return key.data;
}

static int choose_columns(struct rd_grid *grid, const struct rd_section *section)
{
	grid->columns = calloc(section->n_columns + 1, sizeof(*grid->columns));
	grid->widths = calloc(section->n_columns + 1, sizeof(*grid->widths));
	grid->numbers = calloc(section->n_columns + 1, sizeof(*grid->numbers));
	if (!grid->columns || !grid->widths || !grid->numbers)
		return -ENOMEM;
	for (size_t c = 0; c < section->n_columns; c++) {
		const struct rd_column *column = &section->columns[c];

		if (!column->title || column->hidden)
			continue;
		grid->columns[grid->n_columns] = column;
		grid->widths[grid->n_columns] = (int)strlen(column->title);
		grid->numbers[grid->n_columns++] = column->type == RD_T_UINT || column->type == RD_T_INT ||
						   column->type == RD_T_DOUBLE;
	}
	return 0;
}

static const struct rd_grid_row *find_row(const struct rd_grid *grid, const char *key)
{
	for (size_t i = 0; grid && i < grid->n; i++)
		if (strcmp(grid->rows[i].key, key) == 0)
			return &grid->rows[i];
	return NULL;
}

static int fill_row(struct rd_grid *grid, struct rd_grid_row *row, const struct rd_section *section, size_t index,
		    const int *keys, const struct rd_grid *old)
{
	const struct rd_grid_row *before;

	row->cells = calloc(grid->n_columns + 1, sizeof(*row->cells));
	row->key = key_of(section, &section->rows[index], keys);
	if (!row->cells || !row->key)
		return -ENOMEM;
	before = find_row(old, row->key);
	if (before && before->gone)
		before = NULL;
	row->fresh = old && old->n_columns ? before ? before->fresh - (before->fresh > 0) : RD_GRID_MARKED : 0;
	for (size_t c = 0; c < grid->n_columns; c++) {
		struct rd_grid_cell *cell = &row->cells[c];
		int width;

		cell->text =
			cell_text(grid->columns[c], &section->rows[index].cells[grid->columns[c] - section->columns]);
		if (!cell->text)
			return -ENOMEM;
		if (before && c < old->n_columns)
			cell->age = strcmp(before->cells[c].text, cell->text) != 0 ?
					    RD_GRID_MARKED :
					    before->cells[c].age - (before->cells[c].age > 0);
		width = (int)strlen(cell->text);
		grid->widths[c] = width > grid->widths[c] ? width : grid->widths[c];
	}
	return 0;
}

/* A row that has gone stays for a few looks, marked. */
static int keep_gone(struct rd_grid *grid, const struct rd_grid *old)
{
	for (size_t i = 0; i < old->n; i++) {
		const struct rd_grid_row *before = &old->rows[i];
		struct rd_grid_row *row;

		if (before->gone == 1 || find_row(grid, before->key))
			continue;
		row = &grid->rows[grid->n++];
		row->gone = before->gone ? before->gone - 1 : RD_GRID_MARKED;
		row->key = strdup(before->key);
		row->cells = calloc(grid->n_columns + 1, sizeof(*row->cells));
		if (!row->key || !row->cells)
			return -ENOMEM;
		for (size_t c = 0; c < grid->n_columns; c++) {
			row->cells[c].text = strdup(before->cells[c].text);
			if (!row->cells[c].text)
				return -ENOMEM;
		}
	}
	return 0;
}

int rd_grid_build(struct rd_grid *grid, const struct rd_section *section, const int *keys, const struct rd_grid *old)
{
	size_t most = section->n + (old ? old->n : 0);
	int r = choose_columns(grid, section);

	if (!r) {
		grid->rows = calloc(most + 1, sizeof(*grid->rows));
		r = grid->rows ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !r && i < section->n; i++) {
		grid->n++;
		r = fill_row(grid, &grid->rows[i], section, i, keys, old);
	}
	if (!r && old && old->n_columns == grid->n_columns)
		r = keep_gone(grid, old);
	return r;
}

static int compare_rows(const struct rd_grid *grid, const struct rd_grid_row *a, const struct rd_grid_row *b, int column)
{
	const char *ta = a->cells[column].text, *tb = b->cells[column].text;
	double da, db;

	if (!grid->numbers[column])
		return strcmp(ta, tb);
	da = strtod(ta, NULL);
	db = strtod(tb, NULL);
	return da < db ? -1 : da > db;
}

void rd_grid_sort(struct rd_grid *grid, int column, bool backwards)
{
	if (column < 0 || (size_t)column >= grid->n_columns)
		return;
	for (size_t i = 1; i < grid->n; i++)
		for (size_t j = i; j > 0; j--) {
			struct rd_grid_row held = grid->rows[j];
			int r = compare_rows(grid, &grid->rows[j - 1], &grid->rows[j], column);

			if (backwards ? r >= 0 : r <= 0)
				break;
			grid->rows[j] = grid->rows[j - 1];
			grid->rows[j - 1] = held;
		}
}

bool rd_grid_matches(const struct rd_grid *grid, size_t row, const char *text)
{
	if (!*text)
		return true;
	for (size_t c = 0; c < grid->n_columns; c++)
		if (strcasestr(grid->rows[row].cells[c].text, text))
			return true;
	return false;
}
