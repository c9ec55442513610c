/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that render tables. */
#ifndef RD_RENDER_TABLE_PRIV_H
#define RD_RENDER_TABLE_PRIV_H

#include "render/render.h"

/* The columns to show, as indices into those of the section. */
struct rd_table_columns {
	const size_t *v;
	size_t n;
};

/* The heading of a column. */
static inline const char *rd_column_title(const struct rd_column *column)
{
	return column->title ? column->title : column->key;
}

/* Numbers are aligned to the right. */
static inline bool rd_column_is_number(const struct rd_column *column)
{
	return column->type == RD_T_UINT || column->type == RD_T_INT || column->type == RD_T_DOUBLE ||
	       column->type == RD_T_SHARE;
}

/* Adds a table without colours and for any width, in two passes over the rows: widths, then text. It needs memory for one row, and
 * its bytes are those of libsmartcols. Not for sections without rows. */
void rd_table_plain(const struct rd_section *section, const struct rd_table_columns *columns, bool headings,
		    struct rd_buf *out);

#endif
