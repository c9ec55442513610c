/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libsmartcols, loaded on demand: tables for terminals. */
#ifndef RD_RENDER_LIBSMARTCOLS_H
#define RD_RENDER_LIBSMARTCOLS_H

#include <libsmartcols/libsmartcols.h>

#include "base/late.h"

#define RD_LIBSMARTCOLS_CALLS(x)                                                                                    \
	x(scols_cell_set_color) x(scols_column_get_header) x(scols_line_refer_data) x(scols_line_set_color)         \
		x(scols_new_table) x(scols_print_table_to_string) x(scols_table_enable_colors)                      \
			x(scols_table_enable_noencoding) x(scols_table_enable_noheadings) x(scols_table_new_column) \
				x(scols_table_new_line) x(scols_table_set_termforce) x(scols_table_set_termwidth)   \
					x(scols_unref_table)
RD_LATE_DECLARE(rd_libsmartcols, RD_LIBSMARTCOLS_CALLS);

#endif
