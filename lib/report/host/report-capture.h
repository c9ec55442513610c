/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Report of a capture. */
#ifndef RD_REPORT_CAPTURE_H
#define RD_REPORT_CAPTURE_H

#include "report/shared/report.h"

enum rd_capture_column {
	RD_CAPTURE_FILE,
	RD_CAPTURE_SIZE,
	RD_CAPTURE_SAMPLES,
	RD_CAPTURE_REQUESTS,
	RD_CAPTURE_DENIED,
	RD_CAPTURE_LOG_DROPPED,
	RD_CAPTURE_SECONDS,
	RD_CAPTURE_COLUMNS,
};
extern const struct rd_column rd_capture_columns[RD_CAPTURE_COLUMNS];

struct rd_capture_facts {
	const char *file;
	uint64_t size, samples, requests, denied;
	RD_FIELD(uint64_t) log_dropped; /* lines of the kernel log; known if redacted */
	double seconds;
};

/* Adds the section `bundles` with one row. */
void rd_report_capture(struct rd_report *report, const struct rd_capture_facts *facts);

#endif
