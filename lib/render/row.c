// SPDX-License-Identifier: GPL-2.0-or-later
#include "render/row.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const struct rd_cell *rd_row_cell(const struct rd_row_view *v, const char *key)
{
	for (size_t i = 0; i < v->section->n_columns; i++)
		if (!strcmp(v->section->columns[i].key, key))
			return v->row->cells[i].known == RD_OK ? &v->row->cells[i] : NULL;
	return NULL;
}

const char *rd_row_text(const struct rd_row_view *v, const char *key)
{
	const struct rd_cell *c = rd_row_cell(v, key);

	return c ? c->s : NULL;
}

void rd_row_put(const struct rd_row_view *v, const char *sgr, const char *s)
{
	if (v->colour && sgr)
		rd_buf_printf(v->out, "\033[%sm", sgr);
	rd_buf_safe(v->out, s, strlen(s));
	if (v->colour && sgr)
		rd_buf_str(v->out, "\033[0m");
}

void rd_row_put_time(const struct rd_row_view *v)
{
	const struct rd_cell *c = rd_row_cell(v, "time");
	char clock[16], whole[32];
	struct tm tm;
	time_t t;

	if (!c)
		return;
	t = (time_t)(c->u / 1000000000u);
	if (!localtime_r(&t, &tm) || !strftime(clock, sizeof(clock), "%H:%M:%S", &tm))
		return;
	snprintf(whole, sizeof(whole), "%s.%06u ", clock, (unsigned)(c->u % 1000000000u / 1000));
	rd_row_put(v, RD_DIM, whole);
}
