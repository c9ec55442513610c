/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain: the lines of a log that were recognized. */
#ifndef RD_REPORT_EXPLAIN_H
#define RD_REPORT_EXPLAIN_H

#include "base/buf.h"
#include "model/explain/explain.h"
#include "report/shared/report.h"

#define RD_EXPLAIN_COLUMNS 16
extern const struct rd_column rd_explain_columns[RD_EXPLAIN_COLUMNS];

/* Adds the sections `lines` and `peers`, and how much was read. The log must outlive the report; its joins are set. */
void rd_report_explain(struct rd_report *report, const struct rd_log *log);

/* Adds all of it as text, what began first, escaped. `verbose`: also sources, and causes that this host excludes. */
void rd_report_explain_text(const struct rd_log *log, size_t files, bool verbose, struct rd_buf *out);

#endif
