/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes between two captures of a host. */
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

/* Creates an empty section `changes`. */
struct rd_section *rd_report_diff(void);

/* Adds a change. `before`, `after`: NULL if there was, or is, no value. */
void rd_report_diff_add(struct rd_section *section, const char *area, const char *subject, const char *field,
			const char *before, const char *after, unsigned weight);

/* Sets `before_host` and `before_time` of the document: the capture that the host is compared with. */
void rd_report_diff_base(struct rd_report *report, const char *host, uint64_t time);

#endif
