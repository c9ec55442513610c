/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wraps long values of a page with the details of a row. */
#ifndef RD_VIEW_WRAP_H
#define RD_VIEW_WRAP_H

#include "report/shared/report.h"

/* Of a section with two columns of text, names and values: the same with values wrapped between words, so that the rows fit into
 * `columns` columns of the terminal. Takes ownership; returns other sections as they are. */
struct rd_section *rd_wrap_values(struct rd_section *section, int columns);

#endif
