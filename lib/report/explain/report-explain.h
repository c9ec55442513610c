/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain: the lines of a log that were recognized. */
#ifndef RD_REPORT_EXPLAIN_H
#define RD_REPORT_EXPLAIN_H

#include "base/buf.h"
#include "model/explain/explain.h"
#include "report/shared/report.h"

enum rd_explain_column {
	RD_EXPLAIN_SEVERITY,
	RD_EXPLAIN_ID,
	RD_EXPLAIN_COUNT,
	RD_EXPLAIN_FIRST,
	RD_EXPLAIN_FILE,
	RD_EXPLAIN_OBJECTS_TEXT,
	RD_EXPLAIN_MEANING,
	RD_EXPLAIN_TEXT,
	RD_EXPLAIN_SOURCE,
	RD_EXPLAIN_CONSEQUENCE,
	RD_EXPLAIN_HOST,
	RD_EXPLAIN_OBJECTS,
	RD_EXPLAIN_CODES,
	RD_EXPLAIN_NOW,
	RD_EXPLAIN_CAUSES,
	RD_EXPLAIN_NEXT,
	RD_EXPLAIN_COLUMNS,
};
extern const struct rd_column rd_explain_columns[RD_EXPLAIN_COLUMNS];

/* Adds the sections `lines` and `peers`, and how much was read. The log must outlive the report; its joins are set. */
void rd_report_explain(struct rd_report *report, const struct rd_log *log);

/* Adds all of it as text, what began first, escaped. `verbose`: also sources, and causes that this host excludes. */
void rd_report_explain_text(const struct rd_log *log, size_t files, bool verbose, struct rd_buf *out);

#endif
