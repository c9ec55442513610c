/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What qp-state --live shows of one sample. */
#ifndef RD_CMD_QP_PAGE_H
#define RD_CMD_QP_PAGE_H

#include "qp.h"
#include "view/view.h"

#define QP_PAGE_COLUMNS 32

/* The rows of one page, and which of their columns are shown, for `columns` of struct rd_view_ops. */
struct qp_page {
	bool grouped; /* --by: rows are groups, else queue pairs */
	enum rd_qp_by by;
	int columns[QP_PAGE_COLUMNS + 1];
};

/* Fills body and headline of `page`. Worst verdict first; of two queue pairs with equal ones, that which is in its state for longer.
 * `recording`: "" or what the headline says about a recorder. */
void qp_page_fill(struct qp_page *shown, struct qp_sample *sample, const char *recording, struct rd_view_page *page);

#endif
