/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_AGAINST_H
#define RD_REPORT_AGAINST_H

#include "model/nicmap/against.h"
#include "report/shared/report.h"

/* What was compared, for the top of the document. */
struct rd_against_what {
	const char *file;
	const char *kind;     /* "log", "topology" */
	const char *run_host; /* as in the log; NULL: not in the log */
	const char *version;  /* NCCL's; NULL: not in the log */
};

/* Section against: a row per compared value. */
void rd_report_against(struct rd_report *report, const struct rd_against_what *what, const struct rd_against *against);

/* The same section with at most `most` rows, those that differ first, for a table; the caller frees it. */
struct rd_section *rd_report_against_table(const struct rd_against *against, size_t most, size_t *left_out);

#endif
