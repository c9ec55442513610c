/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section as text: a grid with changes, sorting and filtering, fitted into the terminal, and scrolled. */
#include "view/grid.h"

#include <math.h>
#include <wchar.h>

#include "render/render.h"

/* Two of each, with names and numbers, fit into 80 columns. */
#define BAR_WIDTH 8
#define SPARK_WIDTH 12

void rd_grid_deinit(struct rd_grid *grid)
{
	for (size_t i = 0; i < grid->n; i++) {
		for (size_t c = 0; grid->rows[i].cells && c < grid->n_columns; c++)
			free(grid->rows[i].cells[c].text);
		RD_FREE(grid->rows[i].cells, grid->rows[i].key, grid->rows[i].group);
	}
	RD_FREE(grid->rows, grid->columns, grid->widths, grid->numbers, grid->empty, grid->shown, grid->heads);
	*grid = (struct rd_grid){ 0 };
}

size_t rd_text_next(const char *text, size_t left, int *width)
{
	wchar_t c;
	size_t n;

	*width = 1;
	if (*text >= ' ' && *text <= '~')
		return 1;
	n = mbrtowc(&c, text, left, &(mbstate_t){ 0 });
	*width = n > 0 && n <= left ? wcwidth(c) : -1;
	if (*width >= 0)
		return n;
	*width = 1;
	return 1;
}

int rd_text_width(const char *text)
{
	size_t left = strlen(text), n;
	int width = 0, w;

	for (; left > 0; text += n, left -= n, width += w)
		n = rd_text_next(text, left, &w);
	return width;
}

static double cell_value(const struct rd_cell *cell)
{
	if (cell->known != RD_OK)
		return -INFINITY;
	return cell->type == RD_T_UINT				     ? (double)cell->u :
	       cell->type == RD_T_INT				     ? (double)cell->i :
	       cell->type == RD_T_DOUBLE || cell->type == RD_T_SHARE ? cell->d :
								       -INFINITY;
}

#define SCALED_FROM 10000 /* smaller numbers are read as they are */

static char *cell_text(const struct rd_column *column, const struct rd_cell *cell, const struct rd_grid_style *style)
{
	struct rd_buf text = { 0 };

	rd_buf_str(&text, "");
	if (column->scaled && fabs(cell_value(cell)) >= SCALED_FROM && cell->known == RD_OK) {
		/* Three or four digits: "7.5 M", "186.9 k". */
		double value = cell_value(cell);
		static const char units[] = " kMGTPE";
		size_t unit = 0;

		while (fabs(value) >= 999.95 && units[unit + 1]) {
			value /= 1000;
			unit++;
		}
		rd_buf_printf(&text, "%.1f %c", value, units[unit]);
	} else {
		/* Views have bars and sparklines; other cells are rendered as in a table. */
		if (column->type == RD_T_SHARE && cell->known == RD_OK) {
			rd_render_bar(cell->d, BAR_WIDTH + style->wider, style->ascii, &text);
			rd_buf_printf(&text, " %5.1f%%", cell->d * 100);
		} else if (column->type == RD_T_SPARK && cell->known == RD_OK && cell->sub) {
			rd_render_spark(cell->sub, SPARK_WIDTH, style->ascii, &text);
		} else {
			rd_render_cell(column, cell, &text);
		}
	}
	return text.data;
}

static void add_column(struct rd_grid *grid, const struct rd_column *column)
{
	grid->columns[grid->n_columns] = column;
	grid->empty[grid->n_columns] = true;
	grid->widths[grid->n_columns] = (int)strlen(column->title);
	grid->numbers[grid->n_columns++] = column->type == RD_T_UINT || column->type == RD_T_INT ||
					   column->type == RD_T_DOUBLE || column->type == RD_T_SHARE;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp((*(const struct rd_grid_row *const *)a)->key, (*(const struct rd_grid_row *const *)b)->key);
}

/* Of a grid, or of none (NULL); caller frees. */
static const struct rd_grid_row **rows_by_key(const struct rd_grid *grid, size_t n)
{
	const struct rd_grid_row **rows = rd_alloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		rows[i] = &grid->rows[i];
	qsort(rows, n, sizeof(*rows), compare_keys);
	return rows;
}

static const struct rd_grid_row *find_key(const struct rd_grid_row *const *rows, size_t n, const char *key)
{
	const struct rd_grid_row *wanted = &(struct rd_grid_row){ .key = (char *)key };
	const struct rd_grid_row *const *found = bsearch(&wanted, rows, n, sizeof(*rows), compare_keys);

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

	return RD_FIRST(strcmp(a->group ?: "", b->group ?: ""), !a->gone != !b->gone ? (a->gone ? 1 : -1) : 0,
			RD_CMP(a->index, b->index));
}

void rd_grid_build(struct rd_grid *grid, const struct rd_section *section, const struct rd_grid_style *style,
		   const struct rd_grid *old)
{
	size_t n_old = old ? old->n : 0, most = section->n + n_old;
	_cleanup_free_ const struct rd_grid_row **by_key = rows_by_key(old, n_old);

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
	grid->rows = rd_alloc(most + 1, sizeof(*grid->rows));
	for (size_t i = 0; i < section->n; i++) {
		const struct rd_row *from = rd_section_row(section, i);
		struct rd_grid_row *row = &grid->rows[grid->n++];
		const struct rd_grid_row *before;
		struct rd_buf key = { 0 };

		rd_buf_str(&key, "");
		for (const int *keys = style->keys; keys && *keys >= 0; keys++) {
			if ((size_t)*keys < section->n_columns)
				rd_render_cell(&section->columns[*keys], &from->cells[*keys], &key);
			rd_buf_add(&key, "\n", 1);
		}
		*row = (struct rd_grid_row){ .cells = rd_alloc(grid->n_columns + 1, sizeof(*row->cells)),
					     .key = key.data,
					     .index = i,
					     .severity = from->severity,
					     .over = from->over };
		if (style->group >= 0)
			row->group = cell_text(&section->columns[style->group], &from->cells[style->group],
					       &(struct rd_grid_style){ .ascii = true });
		before = find_key(by_key, n_old, row->key);
		if (before && before->gone)
			before = NULL;
		row->fresh = old && old->n_columns ? before ? fade(before->fresh) : style->marked : 0;
		for (size_t j = 0; j < grid->n_columns; j++) {
			struct rd_grid_cell *cell = &row->cells[j];
			size_t column = grid->columns[j] - section->columns;
			int width;

			cell->text = cell_text(grid->columns[j], &from->cells[column], style);
			cell->value = cell_value(&from->cells[column]);
			grid->empty[j] &= from->cells[column].known != RD_OK;
			if (before && j < old->n_columns && grid->columns[j] == old->columns[j] &&
			    !is_among(style->restless, column))
				cell->age = strcmp(before->cells[j].text, cell->text) != 0 ||
							    (grid->columns[j]->scaled &&
							     before->cells[j].value != cell->value) ?
						    style->marked :
						    fade(before->cells[j].age);
			width = rd_text_width(cell->text);
			grid->widths[j] = width > grid->widths[j] ? width : grid->widths[j];
		}
	}
	if (old && same_columns(grid, old)) {
		/* Removed rows stay for a few refreshes, marked. */
		_cleanup_free_ const struct rd_grid_row **now = rows_by_key(grid, section->n);

		for (size_t k = 0; k < old->n; k++) {
			const struct rd_grid_row *before = &old->rows[k];
			struct rd_grid_row *row;

			if (before->gone == 1 || find_key(now, section->n, before->key))
				continue;
			row = &grid->rows[grid->n++];
			row->index = before->index;
			row->gone = before->gone ? fade(before->gone) : style->marked;
			grid->n_gone++;
			row->key = rd_dup(before->key);
			row->group = rd_dup_if(before->group);
			row->cells = rd_alloc(grid->n_columns + 1, sizeof(*row->cells));
			for (size_t m = 0; m < grid->n_columns; m++) {
				row->cells[m].value = before->cells[m].value;
				row->cells[m].text = rd_dup(before->cells[m].text);
			}
		}
	}
	if (style->ranked) {
		_cleanup_free_ struct rd_grid_row **rows = rd_alloc(grid->n + 1, sizeof(*rows));
		const struct rd_grid_row *first = NULL;

		for (size_t q = 0; q < grid->n; q++)
			rows[q] = &grid->rows[q];
		qsort(rows, grid->n, sizeof(*rows), compare_groups);
		for (size_t q = 0; q < grid->n; q++) {
			if (!rows[q]->group)
				continue;
			if (!first || strcmp(first->group, rows[q]->group) != 0)
				first = rows[q];
			rows[q]->rank = first->index + 1;
		}
	}
}

/* Argument of compare_rows, passed by qsort_r. */
struct order {
	int column;
	bool number, backwards;
};

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct rd_grid_row *a = pa, *b = pb;
	const struct order *order = arg;
	int r = RD_CMP(a->rank, b->rank);

	if (!r && a->group && b->group)
		r = strcmp(a->group, b->group);
	if (r)
		return r;
	if (order->column >= 0) {
		const struct rd_grid_cell *x = &a->cells[order->column], *y = &b->cells[order->column];

		r = order->number ? RD_CMP(x->value, y->value) : strcmp(x->text, y->text);
	}
	return r ? order->backwards ? -r : r : RD_CMP(a->index, b->index);
}

/* Stable; groups first, numbers as numbers. `column` < 0: the order of the report. */
static void rd_grid_sort(struct rd_grid *grid, int column, bool backwards)
{
	struct order order = { .column = column, .backwards = backwards };

	if (column >= 0 && (size_t)column >= grid->n_columns)
		return;
	order.number = column >= 0 && grid->numbers[column];
	qsort_r(grid->rows, grid->n, sizeof(*grid->rows), compare_rows, &order);
}

/* Whether any cell of the row, or its group, contains the text, ignoring case. Empty text: true. */
static bool rd_grid_matches(const struct rd_grid *grid, size_t row, const char *text)
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

#define NAME_MOST 20  /* to which a name is shortened before columns are left out */
#define NAME_LEAST 8  /* shorter names are all alike */
#define SHARE_WIDTH 6 /* "100.0%", without its bar */
#define NAMES_READ 512
#define NAMES_COMPARED 64

/* See rd_text_shorten. `rest`: gets what is left out; NULL: not wanted. */
static void shorten(const char *text, int width, int head, const char *ellipsis, struct rd_buf *out, struct rd_buf *rest)
{
	int total = rd_text_width(text), at = 0, first, end, tail, w;
	size_t left = total > width ? strlen(text) : 0, n;
	bool kept = true;

	if (total <= width)
		rd_buf_str(out, text);
	if (head < 0 && total + head < width)
		head = 0;
	first = head < 0 ? -head : 0;
	end = head < 0 ? first + width - 2 : head;
	tail = head < 0 ? 0 : width - 1 - head;
	for (; left > 0; at += w, text += n, left -= n) {
		bool before = kept;

		n = rd_text_next(text, left, &w);
		kept = (at >= first && at + w <= end) || total - at <= tail;
		if (before && !kept)
			rd_buf_str(out, ellipsis);
		if (kept || rest)
			rd_buf_add(kept ? out : rest, text, n);
	}
}

void rd_text_shorten(const char *text, int width, int head, bool ascii, struct rd_buf *out)
{
	shorten(text, width, head, ascii ? "~" : "…", out, NULL);
}

/* The last `width` columns. */
static const char *end_of(const char *text, int width)
{
	size_t left = strlen(text), n;

	for (int over = rd_text_width(text) - width, w; left > 0 && over > 0; over -= w, text += n, left -= n)
		n = rd_text_next(text, left, &w);
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

static size_t count_different(uint64_t *hashes, size_t n)
{
	size_t different = 0;

	qsort(hashes, n, sizeof(*hashes), rd_compare_u64);
	for (size_t i = 0; i < n; i++)
		different += i == 0 || hashes[i] != hashes[i - 1];
	return different;
}

/* How much of the names is left: how many of them are different, and among equals, how many leave out the same. */
static size_t rate_head(const char *const *names, size_t n, int width, int head)
{
	uint64_t shown[NAMES_COMPARED] = { 0 }, left_out[NAMES_COMPARED] = { 0 };
	_cleanup_buf_ struct rd_buf text = { 0 }, rest = { 0 };

	for (size_t i = 0; i < n; i++) {
		text.len = rest.len = 0;
		shorten(names[i], width, head, "~", &text, &rest);
		shown[i] = rd_hash(RD_HASH, text.data, text.len);
		left_out[i] = rd_hash(RD_HASH, rest.data, rest.len);
	}
	return count_different(shown, n) * NAMES_COMPARED + n - count_different(left_out, n);
}

/* Names of one site differ at the beginning, in the middle or at the end. */
static int choose_head(const struct rd_grid *grid, size_t c)
{
	static const int percent[] = { 67, 50, 80, 33, 100, 0 };
	const char *names[NAMES_READ] = { 0 };
	int room = grid->shown[c] - 1, best = 0;
	size_t n = 0, different = 0, most = 0;

	for (size_t i = 0; i < grid->n && n < NAMES_READ; i++)
		if (grid->rows[i].index < NAMES_READ && rd_text_width(grid->rows[i].cells[c].text) > grid->shown[c])
			names[n++] = grid->rows[i].cells[c].text;
	qsort(names, n, sizeof(*names), rd_compare_texts);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(names[i], names[different - 1]) != 0)
			names[different++] = names[i];
	/* Some of many, from all of the list. */
	n = less((int)different, NAMES_COMPARED);
	for (size_t i = 0; i < n; i++)
		names[i] = names[i * different / n];
	/* The usual ones, then all others: with one ellipsis, then with two. */
	for (int i = -(int)RD_ARRAY_SIZE(percent); i <= grid->widths[c]; i++) {
		int head = i < 0 ? room * percent[i + (int)RD_ARRAY_SIZE(percent)] / 100 : i <= room ? i : room - i - 1;
		size_t rating = rate_head(names, n, grid->shown[c], head);

		if (rating > most) {
			most = rating;
			best = head;
		}
		/* All are different, and the same is left out of all. */
		if (rating == n * NAMES_COMPARED + n - 1)
			break;
	}
	return best;
}

void rd_grid_fit(struct rd_grid *grid, int columns)
{
	int name = columns / 4 > NAME_MOST ? NAME_MOST : columns / 4 < NAME_LEAST ? NAME_LEAST : columns / 4, room;
	int before;

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
	/* Widens names and texts evenly as far as they need it, then shares by their bars. */
	do {
		before = room;
		for (size_t j = 0; j < grid->n_columns && room > 0; j++)
			if (grid->shown[j] && grid->shown[j] < grid->widths[j] &&
			    grid->columns[j]->fit != RD_FIT_WHOLE) {
				grid->shown[j]++;
				room--;
			}
	} while (room < before);
	for (size_t j = 0; j < grid->n_columns; j++)
		if (grid->shown[j] && grid->widths[j] - grid->shown[j] <= room) {
			room -= grid->widths[j] - grid->shown[j];
			grid->shown[j] = grid->widths[j];
		}
	for (size_t c = 0; c < grid->n_columns; c++) {
		grid->heads[c] = grid->shown[c] - 1;
		if (grid->columns[c]->fit == RD_FIT_NAME && grid->shown[c] && grid->shown[c] < grid->widths[c])
			grid->heads[c] = choose_head(grid, c);
	}
}

#define LEAST_WIDTH 16 /* columns of the terminal for a value */

/* Bytes of `text` that fit into `width` columns of the terminal: up to the last blank in them, or within a word that is longer. */
static size_t fitting(const char *text, int width)
{
	size_t size = strlen(text), blank = 0, n;

	for (size_t at = 0; at < size; at += n) {
		int w;

		n = rd_text_next(text + at, size - at, &w);
		width -= w;
		if (width < 0)
			return blank ?: at ?: n;
		if (text[at] == ' ')
			blank = at;
	}
	return size;
}

static void add_wrapped(struct rd_section *to, const char *name, const char *value, int width)
{
	do {
		size_t size = fitting(value, width);
		_cleanup_free_ char *part = rd_dup_part(value, size);

		RD_ROW(to, RD_STR(name), RD_STR(part));
		name = "";
		value += size;
		value += strspn(value, " ");
	} while (*value);
}

struct rd_section *rd_wrap_values(struct rd_section *section, int columns)
{
	struct rd_section *wrapped;
	int width = columns;

	if (!(section->n_columns == 2 && section->columns[0].type == RD_T_STR && section->columns[1].type == RD_T_STR))
		return section;
	for (size_t i = 0; i < section->n; i++) {
		_cleanup_buf_ struct rd_buf name = { 0 };

		rd_render_cell(&section->columns[0], &rd_section_row(section, i)->cells[0], &name);
		if (name.data && columns - 1 - rd_text_width(name.data) < width)
			width = columns - 1 - rd_text_width(name.data);
	}
	if (width < LEAST_WIDTH)
		width = LEAST_WIDTH;
	wrapped = rd_section_create(section->key, section->columns, 2);
	for (size_t i = 0; i < section->n; i++) {
		const struct rd_row *row = rd_section_row(section, i);
		_cleanup_buf_ struct rd_buf value = { 0 };

		rd_render_cell(&section->columns[1], &row->cells[1], &value);
		add_wrapped(wrapped, row->cells[0].known == RD_OK ? row->cells[0].s : NULL, value.data ?: "", width);
	}
	rd_section_destroy(section);
	return wrapped;
}

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

static void fill_lines(struct rd_pane *pane)
{
	struct rd_pane_line *lines = rd_alloc(2 * pane->grid.n + 1, sizeof(*lines));
	const char *group = NULL, *own;

	free(pane->lines);
	pane->lines = lines;
	pane->n = pane->n_rows = 0;
	for (size_t i = 0; i < pane->grid.n; i++) {
		if (!rd_grid_matches(&pane->grid, i, pane->filter) ||
		    (pane->only_faults && pane->grid.rows[i].severity < RD_SEV_WARNING))
			continue;
		own = pane->grid.rows[i].group;
		if (own && (!group || strcmp(own, group) != 0))
			lines[pane->n++] = (struct rd_pane_line){ .row = i, .heading = true };
		group = own;
		lines[pane->n++] = (struct rd_pane_line){ .row = i };
		pane->n_rows += !pane->grid.rows[i].gone;
	}
}

/* Sorts and filters, and moves the cursor to the row with this key, else leaves it on its line. */
static void arrange(struct rd_pane *pane, const char *key)
{
	rd_grid_sort(&pane->grid, pane->sort, pane->backwards);
	fill_lines(pane);
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

	arrange(pane, key);
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
	arrange(pane, key);
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
