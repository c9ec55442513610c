/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures: what one contains, and changes between two. */
#ifndef RD_REPORT_CAPTURE_H
#define RD_REPORT_CAPTURE_H

#include "model/shared/facts.h"
#include "report/shared/report.h"

#define RD_CAPTURE_COLUMNS 7
#define RD_DIFF_COLUMNS 6
extern const struct rd_column rd_capture_columns[RD_CAPTURE_COLUMNS], rd_diff_columns[RD_DIFF_COLUMNS];

struct rd_capture_facts {
	const char *file;
	uint64_t size, samples, requests, denied; /* no samples: a black box, of which only the name is known */
	RD_FIELD(uint64_t) log_dropped;		  /* lines of the kernel log; known if redacted */
	double seconds;
};

/* Adds the section `bundles` with one row. */
void rd_report_capture(struct rd_report *report, const struct rd_capture_facts *facts);

/* Adds the section `changes`, and to the top of the document host and time of the capture that the host is compared with (0:
 * unknown). */
void rd_report_changes(struct rd_report *report, const char *host, uint64_t time, const struct rd_changes *changes);

#endif
