/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed between two looks at a host. */
#ifndef RD_REPORT_DIFF_H
#define RD_REPORT_DIFF_H

#include "report/shared/report.h"

enum rd_diff_column {
	RD_DIFF_AREA,
	RD_DIFF_SUBJECT,
	RD_DIFF_FIELD,
	RD_DIFF_BEFORE,
	RD_DIFF_AFTER,
	RD_DIFF_WEIGHT,
	RD_DIFF_COLUMNS,
};
extern const struct rd_column rd_diff_columns[RD_DIFF_COLUMNS];

/* An empty section `changes`; */
struct rd_section *rd_report_diff(void);

/* Adds a change. `before`, `after`: NULL where there was or is none. */
void rd_report_diff_add(struct rd_section *section, const char *area, const char *subject, const char *field,
			const char *before, const char *after, unsigned weight);

/* Sets the document's `before`: which look at the host it is held against. */
void rd_report_diff_base(struct rd_report *report, const char *host, uint64_t time);

#endif
