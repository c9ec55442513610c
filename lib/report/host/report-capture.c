/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/host/report-capture.h"
#include "report/shared/report-field.h"

void rd_report_capture(struct rd_report *report, const struct rd_capture_facts *facts)
{
	struct rd_section *section = rd_section_create("bundles", rd_capture_columns, RD_CAPTURE_COLUMNS);
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, RD_CAPTURE_FILE, facts->file);
	rd_row_uint(row, RD_CAPTURE_SIZE, facts->size);
	rd_row_uint(row, RD_CAPTURE_SAMPLES, facts->samples);
	rd_row_uint(row, RD_CAPTURE_REQUESTS, facts->requests);
	rd_row_uint(row, RD_CAPTURE_DENIED, facts->denied);
	RD_ROW_UINT(row, RD_CAPTURE_LOG_DROPPED, facts->log_dropped);
	rd_row_double(row, RD_CAPTURE_SECONDS, facts->seconds);
	rd_report_add(report, section);
}

const struct rd_column rd_capture_columns[RD_CAPTURE_COLUMNS] = {
	[RD_CAPTURE_FILE] = { .key = "file", .title = "FILE", .type = RD_T_STR, .help = "file name of the bundle" },
	[RD_CAPTURE_SIZE] = { .key = "size_bytes",
			      .title = "BYTES",
			      .type = RD_T_UINT,
			      .help = "size of the bundle in bytes" },
	[RD_CAPTURE_SAMPLES] = { .key = "samples",
				 .title = "SAMPLES",
				 .type = RD_T_UINT,
				 .help = "number of samples of the host" },
	[RD_CAPTURE_REQUESTS] = { .key = "requests",
				  .title = "FACTS",
				  .type = RD_T_UINT,
				  .help = "recorded reads in all samples" },
	[RD_CAPTURE_DENIED] = { .key = "denied",
				.title = "DENIED",
				.type = RD_T_UINT,
				.help = "reads refused for lack of privilege" },
	[RD_CAPTURE_LOG_DROPPED] = { .key = "log_lines_dropped",
				     .title = "LOG DROPPED",
				     .type = RD_T_UINT,
				     .help = "lines of the kernel log removed by --redact" },
	[RD_CAPTURE_SECONDS] = { .key = "seconds",
				 .title = "SECONDS",
				 .type = RD_T_DOUBLE,
				 .help = "duration of the capture",
				 .decimals = 2 },
};
