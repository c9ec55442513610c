/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/share-read.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

bool rd_share_guid(const char *text, uint64_t *ret)
{
	return text && strncmp(text, "0x", 2) == 0 && rd_parse_uint(text + 2, RD_HEX, UINT64_MAX, ret) == 0;
}

void rd_share_link(const char *text, struct rd_share_row *row)
{
	uint64_t width;

	if (!text || rd_take_uint(&text, RD_DECIMAL, 12, &width) < 0 || strncmp(text, "x ", 2) != 0)
		return;
	for (unsigned speed = 1; speed < RD_SPEEDS; speed++)
		if (strcmp(text + 2, rd_link_speed_name(speed)) == 0) {
			row->width = (unsigned)width;
			row->speed = speed;
		}
}

unsigned rd_share_state_of(const char *text)
{
	unsigned state = RD_LINK_ACTIVE;

	while (state > 0 && (!text || !rd_link_state_name(state) || strcmp(text, rd_link_state_name(state)) != 0))
		state--;
	return state;
}

enum rd_node_kind rd_share_kind_of(const char *text)
{
	for (unsigned kind = RD_NODE_CA; text && kind <= RD_NODE_ROUTER; kind++)
		if (strcmp(text, rd_node_kind_name(kind)) == 0)
			return (enum rd_node_kind)kind;
	return RD_NODE_CA;
}

/* Where the text is, or belongs. */
static size_t *seen_at(const struct rd_share_files *files, const char *text)
{
	size_t at = (size_t)rd_hash(RD_HASH, text, strlen(text)) & (files->cap_seen - 1);

	while (files->seen[at] && strcmp(files->texts.v[files->seen[at] - 1], text) != 0)
		at = (at + 1) & (files->cap_seen - 1);
	return &files->seen[at];
}

static void grow_seen(struct rd_share_files *files)
{
	free(files->seen);
	files->cap_seen = files->cap_seen ? 2 * files->cap_seen : 1024;
	files->seen = rd_alloc(files->cap_seen, sizeof(*files->seen));
	for (size_t i = 0; i < files->texts.n; i++)
		*seen_at(files, files->texts.v[i]) = i + 1;
}

const char *rd_share_keep(struct rd_share_files *files, const char *text)
{
	size_t *seen;

	if (!text)
		return NULL;
	if (2 * (files->texts.n + 1) > files->cap_seen)
		grow_seen(files);
	seen = seen_at(files, text);
	if (!*seen) {
		rd_texts_keep(&files->texts, text, strlen(text));
		*seen = files->texts.n;
	}
	return files->texts.v[*seen - 1];
}

/* The name of a file is distinct for each time it is read, so compare pointers. */
static bool is_same(const struct rd_share *a, const struct rd_share *b)
{
	return a->index == b->index && a->of == b->of && a->file == b->file && strcmp(a->host, b->host) == 0;
}

/* Drops the rows of shares that were replaced. */
static void drop_replaced(struct rd_share_files *files)
{
	_cleanup_free_ size_t *moved = rd_alloc(files->n + 1, sizeof(*moved));
	size_t n = 0, rows = 0;

	for (size_t i = 0; i < files->n; i++) {
		moved[i] = files->v[i].replaced ? RD_NONE : n;
		if (files->v[i].replaced)
			rd_findings_deinit(&files->v[i].findings);
		else
			files->v[n++] = files->v[i];
	}
	if (n == files->n)
		return;
	files->n = n;
	for (size_t i = 0; i < files->n_rows; i++) {
		if (moved[files->rows[i].share] == RD_NONE)
			continue;
		files->rows[rows] = files->rows[i];
		files->rows[rows].share = moved[files->rows[i].share];
		rows++;
	}
	files->n_rows = rows;
}

void rd_share_replace(struct rd_share_files *files, struct rd_share *share)
{
	for (size_t i = 0; i < files->n; i++) {
		struct rd_share *old = &files->v[i];

		if (old != share && !old->replaced && is_same(old, share))
			*(old->time_ns > share->time_ns ? &share->replaced : &old->replaced) = true;
	}
}

struct rd_share *rd_share_begin(struct rd_share_files *files, const struct rd_share *share)
{
	struct rd_share begun = *share;
	size_t replaced = 0;

	if (files->sweeps++ >= RD_SHARE_SWEEPS_MAX)
		return NULL;
	rd_share_replace(files, &begun);
	for (size_t i = 0; i < files->n; i++)
		replaced += files->v[i].replaced ? files->v[i].found : 0;
	/* Not each time: a file may replace a share with every row. */
	if (2 * replaced > files->n_rows || files->n >= 2 * RD_SHARE_FILES_MAX)
		drop_replaced(files);
	if (files->n >= 2 * RD_SHARE_FILES_MAX)
		return NULL;
	rd_reserve(&files->v, &files->cap, files->n + 1, sizeof(*files->v));
	files->v[files->n] = begun;
	return &files->v[files->n++];
}

int rd_share_add(struct rd_share_files *files, const struct rd_share_row *row)
{
	if (files->n_rows >= 2 * RD_SHARE_ROWS_MAX)
		return -EFBIG;
	rd_reserve(&files->rows, &files->cap_rows, files->n_rows + 1, sizeof(*files->rows));
	files->rows[files->n_rows] = *row;
	files->rows[files->n_rows++].share = files->n - 1;
	files->v[files->n - 1].found++;
	return 0;
}

int rd_share_read(const char *name, const char *text, size_t size, struct rd_share_files *files, struct rd_err *err)
{
	size_t first = 0, before = files->n;
	int r;

	while (first < size && strchr(" \t\r\n", text[first]))
		first++;
	if (first < size && text[first] == '{')
		r = rd_share_read_json(name, text, size, files, err);
	else
		r = rd_share_read_csv(name, text, size, files, err);
	drop_replaced(files);
	if (r == -EFBIG || (!r && (files->n > RD_SHARE_FILES_MAX || files->n_rows > RD_SHARE_ROWS_MAX)))
		r = rd_err_set(err, EFBIG, name, "more than %d ports, %d shares or %d sweeps in all", RD_SHARE_ROWS_MAX,
			       RD_SHARE_FILES_MAX, RD_SHARE_SWEEPS_MAX);
	else if (!r && files->n == before)
		r = rd_err_set(err, ENODATA, name, "no sweep in this file");
	return r;
}
