/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A row as lines of text: shared by renderers of events. */
#ifndef RD_RENDER_ROW_H
#define RD_RENDER_ROW_H

#include "base/buf.h"
#include "report/shared/report.h"

/* SGR parameters. */
#define RD_BOLD "1"
#define RD_DIM "2"
#define RD_RED "1;31"
#define RD_CYAN "36"
#define RD_YELLOW "33"

struct rd_row_view {
	const struct rd_section *section;
	const struct rd_row *row;
	bool colour;
	int width; /* of the terminal; 0: unknown */
	struct rd_buf *out;
};

/* The cell of the column with this key; NULL: no such column, or unknown. */
const struct rd_cell *rd_row_cell(const struct rd_row_view *view, const char *key);
const char *rd_row_text(const struct rd_row_view *view, const char *key);

/* Adds text, escaped, in these colours (NULL: none). */
void rd_row_put(const struct rd_row_view *view, const char *sgr, const char *text);

/* Adds the key "time" as "14:03:07.123456 ", local time; nothing if unknown. */
void rd_row_put_time(const struct rd_row_view *view);

#endif
