/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/grid.h"

#include <math.h>
#include <string.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/memory.h"
#include "render/render.h"

/* Two of each, with names and numbers, fit into 80 columns. */
#define BAR_WIDTH 8
#define SPARK_WIDTH 12

static void row_deinit(struct rd_grid_row *row, size_t n)
{
	for (size_t c = 0; row->cells && c < n; c++)
		free(row->cells[c].text);
	free(row->cells);
	free(row->key);
	free(row->group);
}

void rd_grid_deinit(struct rd_grid *grid)
{
	for (size_t i = 0; i < grid->n; i++)
		row_deinit(&grid->rows[i], grid->n_columns);
	free(grid->rows);
	free(grid->columns);
	free(grid->widths);
	free(grid->numbers);
	free(grid->empty);
	free(grid->shown);
	free(grid->heads);
	*grid = (struct rd_grid){ 0 };
}

int rd_text_width(const char *text)
{
	size_t left = strlen(text);
	int width = 0;

	while (left > 0) {
		wchar_t c;
		size_t n = mbrtowc(&c, text, left, &(mbstate_t){ 0 });
		int w = n > 0 && n <= left ? wcwidth(c) : -1;

		width += w >= 0 ? w : 1;
		n = w >= 0 ? n : 1;
		text += n;
		left -= n;
	}
	return width;
}

/* Views have bars and sparklines; other cells are rendered as in a table. */
static void add_cell(const struct rd_column *column, const struct rd_cell *cell, const struct rd_grid_style *style,
		     struct rd_buf *out)
{
	if (column->type == RD_T_SHARE && cell->known == RD_OK) {
		rd_render_bar(cell->d, BAR_WIDTH + style->wider, style->ascii, out);
		rd_buf_printf(out, " %5.1f%%", cell->d * 100);
	} else if (column->type == RD_T_SPARK && cell->known == RD_OK && cell->sub) {
		rd_render_spark(cell->sub, SPARK_WIDTH, style->ascii, out);
	} else {
		rd_render_cell(column, cell, out);
	}
}

static double cell_value(const struct rd_cell *cell)
{
	if (cell->known != RD_OK)
		return -INFINITY;
	switch (cell->type) {
	case RD_T_UINT:
		return (double)cell->u;
	case RD_T_INT:
		return (double)cell->i;
	case RD_T_DOUBLE:
	case RD_T_SHARE:
		return cell->d;
	default:
		return -INFINITY;
	}
}

/* Three or four digits: "7.5 M", "186.9 k". */
static void add_scaled(double value, struct rd_buf *out)
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;

	while (fabs(value) >= 999.95 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	rd_buf_printf(out, "%.1f %c", value, units[unit]);
}

#define SCALED_FROM 10000 /* smaller numbers are read as they are */

static char *cell_text(const struct rd_column *column, const struct rd_cell *cell, const struct rd_grid_style *style)
{
	struct rd_buf text = { 0 };

	rd_buf_str(&text, "");
	if (column->scaled && fabs(cell_value(cell)) >= SCALED_FROM && cell->known == RD_OK)
		add_scaled(cell_value(cell), &text);
	else
		add_cell(column, cell, style, &text);
	return text.data;
}

static char *key_of(const struct rd_section *section, const struct rd_row *row, const int *keys)
{
	struct rd_buf key = { 0 };

	rd_buf_str(&key, "");
	for (; keys && *keys >= 0; keys++) {
		if ((size_t)*keys < section->n_columns)
			rd_render_cell(&section->columns[*keys], &row->cells[*keys], &key);
		rd_buf_add(&key, "\n", 1);
	}
	return key.data;
}

static void add_column(struct rd_grid *grid, const struct rd_column *column)
{
	grid->columns[grid->n_columns] = column;
	grid->empty[grid->n_columns] = true;
	grid->widths[grid->n_columns] = (int)strlen(column->title);
	grid->numbers[grid->n_columns++] = column->type == RD_T_UINT || column->type == RD_T_INT ||
					   column->type == RD_T_DOUBLE || column->type == RD_T_SHARE;
}

static void select_columns(struct rd_grid *grid, const struct rd_section *section, const struct rd_grid_style *style)
{
	grid->columns = rd_alloc(section->n_columns + 1, sizeof(*grid->columns));
	grid->widths = rd_alloc(section->n_columns + 1, sizeof(*grid->widths));
	grid->numbers = rd_alloc(section->n_columns + 1, sizeof(*grid->numbers));
	grid->empty = rd_alloc(section->n_columns + 1, sizeof(*grid->empty));
	grid->shown = rd_alloc(section->n_columns + 1, sizeof(*grid->shown));
	grid->heads = rd_alloc(section->n_columns + 1, sizeof(*grid->heads));
	/* The column that groups rows is shown as a heading. */
	for (const int *c = style->columns; c && *c >= 0 && grid->n_columns < section->n_columns; c++)
		if (*c != style->group)
			add_column(grid, &section->columns[*c]);
	for (size_t c = 0; !style->columns && c < section->n_columns; c++)
		if (section->columns[c].title && !section->columns[c].hidden && (int)c != style->group)
			add_column(grid, &section->columns[c]);
}

/* The rows of a grid by their keys. */
struct rd_key_index {
	const struct rd_grid_row **rows;
	size_t n;
};

static void key_index_deinit(struct rd_key_index *index)
{
	free(index->rows);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp((*(const struct rd_grid_row *const *)a)->key, (*(const struct rd_grid_row *const *)b)->key);
}

static void key_index_build(struct rd_key_index *index, const struct rd_grid *grid)
{
	index->n = grid ? grid->n : 0;
	index->rows = rd_alloc(index->n + 1, sizeof(*index->rows));
	for (size_t i = 0; i < index->n; i++)
		index->rows[i] = &grid->rows[i];
	qsort(index->rows, index->n, sizeof(*index->rows), compare_keys);
}

static const struct rd_grid_row *key_index_find(const struct rd_key_index *index, const char *key)
{
	struct rd_grid_row wanted = { .key = (char *)key };
	const struct rd_grid_row *p = &wanted;
	const struct rd_grid_row **found = bsearch(&p, index->rows, index->n, sizeof(*index->rows), compare_keys);

	return found ? *found : NULL;
}

static bool is_among(const int *list, size_t column)
{
	for (; list && *list >= 0; list++)
		if ((size_t)*list == column)
			return true;
	return false;
}

static uint16_t fade(uint16_t refreshes)
{
	return refreshes ? refreshes - 1 : 0;
}

static void fill_row(struct rd_grid *grid, struct rd_grid_row *row, const struct rd_section *section,
		     const struct rd_grid_style *style, const struct rd_grid *old, const struct rd_key_index *index)
{
	const struct rd_row *from = rd_section_row(section, row->index);
	const struct rd_grid_style heading = { .ascii = true };
	const struct rd_grid_row *before;

	row->cells = rd_alloc(grid->n_columns + 1, sizeof(*row->cells));
	row->key = key_of(section, from, style->keys);
	row->severity = from->severity;
	row->over = from->over;
	if (style->group >= 0)
		row->group = cell_text(&section->columns[style->group], &from->cells[style->group], &heading);
	before = key_index_find(index, row->key);
	if (before && before->gone)
		before = NULL;
	row->fresh = old && old->n_columns ? before ? fade(before->fresh) : style->marked : 0;
	for (size_t c = 0; c < grid->n_columns; c++) {
		struct rd_grid_cell *cell = &row->cells[c];
		size_t column = grid->columns[c] - section->columns;
		int width;

		cell->text = cell_text(grid->columns[c], &from->cells[column], style);
		cell->value = cell_value(&from->cells[column]);
		grid->empty[c] &= from->cells[column].known != RD_OK;
		if (before && c < old->n_columns && grid->columns[c] == old->columns[c] &&
		    !is_among(style->restless, column))
			cell->age =
				strcmp(before->cells[c].text, cell->text) != 0 ||
						(grid->columns[c]->scaled && before->cells[c].value != cell->value) ?
					style->marked :
					fade(before->cells[c].age);
		width = rd_text_width(cell->text);
		grid->widths[c] = width > grid->widths[c] ? width : grid->widths[c];
	}
}

/* Removed rows stay for a few refreshes, marked. */
static void keep_removed(struct rd_grid *grid, const struct rd_grid *old, uint16_t marked)
{
	_cleanup_(key_index_deinit) struct rd_key_index now = { 0 };

	key_index_build(&now, grid);
	for (size_t i = 0; i < old->n; i++) {
		const struct rd_grid_row *before = &old->rows[i];
		struct rd_grid_row *row;

		if (before->gone == 1 || key_index_find(&now, before->key))
			continue;
		row = &grid->rows[grid->n++];
		row->index = before->index;
		row->gone = before->gone ? fade(before->gone) : marked;
		grid->n_gone++;
		row->key = rd_dup(before->key);
		row->group = rd_dup_if(before->group);
		row->cells = rd_alloc(grid->n_columns + 1, sizeof(*row->cells));
		for (size_t c = 0; c < grid->n_columns; c++) {
			row->cells[c].value = before->cells[c].value;
			row->cells[c].text = rd_dup(before->cells[c].text);
		}
	}
}

static bool same_columns(const struct rd_grid *a, const struct rd_grid *b)
{
	if (a->n_columns != b->n_columns)
		return false;
	for (size_t c = 0; c < a->n_columns; c++)
		if (a->columns[c] != b->columns[c])
			return false;
	return true;
}

/* Rows that were removed come last in their group. */
static int compare_groups(const void *pa, const void *pb)
{
	const struct rd_grid_row *a = *(struct rd_grid_row *const *)pa, *b = *(struct rd_grid_row *const *)pb;

	return RD_FIRST(strcmp(a->group ? a->group : "", b->group ? b->group : ""),
			!a->gone != !b->gone ? (a->gone ? 1 : -1) : 0, RD_CMP(a->index, b->index));
}

static void rank_groups(struct rd_grid *grid)
{
	_cleanup_free_ struct rd_grid_row **rows = rd_alloc(grid->n + 1, sizeof(*rows));
	const struct rd_grid_row *first = NULL;

	for (size_t i = 0; i < grid->n; i++)
		rows[i] = &grid->rows[i];
	qsort(rows, grid->n, sizeof(*rows), compare_groups);
	for (size_t i = 0; i < grid->n; i++) {
		if (!rows[i]->group)
			continue;
		if (!first || strcmp(first->group, rows[i]->group) != 0)
			first = rows[i];
		rows[i]->rank = first->index + 1;
	}
}

void rd_grid_build(struct rd_grid *grid, const struct rd_section *section, const struct rd_grid_style *style,
		   const struct rd_grid *old)
{
	_cleanup_(key_index_deinit) struct rd_key_index index = { 0 };
	size_t most = section->n + (old ? old->n : 0);

	select_columns(grid, section, style);
	key_index_build(&index, old);
	grid->rows = rd_alloc(most + 1, sizeof(*grid->rows));
	for (size_t i = 0; i < section->n; i++) {
		grid->rows[i].index = i;
		grid->n++;
		fill_row(grid, &grid->rows[i], section, style, old, &index);
	}
	if (old && same_columns(grid, old))
		keep_removed(grid, old, style->marked);
	if (style->ranked)
		rank_groups(grid);
}

/* Argument of compare_rows, passed by qsort_r. */
struct order {
	int column;
	bool number, backwards;
};

static int compare_cells(const struct rd_grid_cell *a, const struct rd_grid_cell *b, bool number)
{
	return number ? (a->value > b->value) - (a->value < b->value) : strcmp(a->text, b->text);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct rd_grid_row *a = pa, *b = pb;
	const struct order *order = arg;
	int r = (a->rank > b->rank) - (a->rank < b->rank);

	if (!r && a->group && b->group)
		r = strcmp(a->group, b->group);
	if (r)
		return r;
	if (order->column >= 0)
		r = compare_cells(&a->cells[order->column], &b->cells[order->column], order->number);
	if (r)
		return order->backwards ? -r : r;
	return (a->index > b->index) - (a->index < b->index);
}

void rd_grid_sort(struct rd_grid *grid, int column, bool backwards)
{
	struct order order = { .column = column, .backwards = backwards };

	if (column >= 0 && (size_t)column >= grid->n_columns)
		return;
	order.number = column >= 0 && grid->numbers[column];
	qsort_r(grid->rows, grid->n, sizeof(*grid->rows), compare_rows, &order);
}

bool rd_grid_matches(const struct rd_grid *grid, size_t row, const char *text)
{
	if (!*text)
		return true;
	if (grid->rows[row].group && strcasestr(grid->rows[row].group, text))
		return true;
	for (size_t c = 0; c < grid->n_columns; c++)
		if (strcasestr(grid->rows[row].cells[c].text, text))
			return true;
	return false;
}
