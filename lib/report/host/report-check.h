/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_CHECK_H
#define RD_REPORT_CHECK_H

#include "model/shared/check.h"
#include "report/shared/report.h"

enum rd_check_column {
	RD_CHECK_RESULT,
	RD_CHECK_ID,
	RD_CHECK_SUBJECT,
	RD_CHECK_OBSERVED,
	RD_CHECK_EXPECTED,
	RD_CHECK_TITLE,
	RD_CHECK_WHY,
	RD_CHECK_FIX,
	RD_CHECK_COLUMNS
};
extern const struct rd_column rd_check_columns[RD_CHECK_COLUMNS];

/* Adds the section `checks` with the findings of severity `least` or worse, and a finding for each that is worse than a pass. */
void rd_report_checks(struct rd_report *report, const struct rd_findings *findings, enum rd_severity least);

/* A row of `checks` as a page: one line per column. */
struct rd_section *rd_report_check_detail(const struct rd_section *checks, size_t row);

/* Adds the section `rules`: the list of rules. */
void rd_report_rules(struct rd_report *report, const struct rd_check *const *checks, size_t n);

#endif
