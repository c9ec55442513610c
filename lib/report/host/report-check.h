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
	RD_CHECK_ADVICE,
	RD_CHECK_COLUMNS
};
extern const struct rd_column rd_check_columns[RD_CHECK_COLUMNS];

/* Adds the section `checks` with the findings of severity `least` or worse, and a finding for each that is worse than a pass.
 * `findings` become the results of the report, which refers to them. */
void rd_report_checks(struct rd_report *report, const struct rd_findings *findings, enum rd_severity least);

/* "topo-check of node-1: 1 critical, 2 warnings, 9 unknown; 61 passed, 14 not applicable". `hidden`: number of results about other
 * devices than the selected ones; NULL: none was selected. */
void rd_report_topo_headline(struct rd_report *report, const size_t *hidden);

struct rd_check_numbers {
	size_t results[RD_SEVERITIES]; /* findings that are neither muted nor consequences; notes count as passed */
	size_t muted;
	size_t ports, active; /* a device whose ports could not be listed counts as one, not active */
	bool at_least;	      /* there may be more ports: a read failed */
};

/* Fills headline and performance data with the line of check, "RDMA CRITICAL - …|…", as monitoring plugins print it: at most
 * 512 bytes before the performance data, escaped. `unread`: failed reads. `no_rdma`: why there is nothing to judge, or NULL. */
void rd_report_check_line(struct rd_report *report, const struct rd_host *host, const struct rd_check_numbers *numbers,
			  const struct rd_errlist *unread, const char *no_rdma);

/* Fills the headline with the line of a check that failed. */
void rd_report_check_failure(struct rd_report *report, const struct rd_err *err);

/* Adds the families check_results and check_ports. */
void rd_report_check_metrics(struct rd_report *report, const struct rd_check_numbers *numbers);

/* A row of `checks` as a page: one line per column. */
struct rd_section *rd_report_check_detail(const struct rd_section *checks, size_t row);

/* Adds the section `rules`: the list of rules. */
void rd_report_rules(struct rd_report *report, const struct rd_check *const *checks, size_t n);

#endif
