/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report as bytes. Knows no model, and no terminal beyond its width and whether it takes colour. */
#ifndef RD_RENDER_H
#define RD_RENDER_H

#include "base/buf.h"
#include "report/shared/report.h"

#define RD_ALL_COLUMNS "*"

struct rd_table_style {
	const char *columns; /* -o: "NAME,NAME" (these), "+NAME" (these too), "*" (all); NULL: those that are not hidden */
	bool no_headings;    /* -n */
	bool raw;	     /* --raw: values separated by single blanks, blanks inside escaped */
	bool colour;
	int width; /* of the terminal; 0: as wide as it gets */
};

/* Adds the section as a table. -EINVAL with `err` filled if style->columns names a column that it does not have. Foreign
 * text is escaped here. Tables keep their columns when empty. */
int rd_render_table(const struct rd_section *section, const struct rd_table_style *style, struct rd_buf *out,
		    struct rd_err *err);

struct rd_finding_style {
	bool colour;
	bool verbose;		/* all subjects of a rule, consequences at length, what is muted */
	bool why;		/* why it matters, too */
	bool gaps;		/* an empty line between findings */
	enum rd_severity least; /* what is below this is left out */
};

/* Adds findings as text, in their order: "critical: mlx5_3/1: what is wrong; observed; wanted: expected [id]", below it what
 * to do and what follows from it. Neighbours of one id and severity stand together. Foreign text is escaped here. */
void rd_render_findings(const struct rd_findings *findings, const struct rd_finding_style *style, struct rd_buf *out);

/* Adds one cell as it stands in a table, escaped; "-" for what is not known. */
void rd_render_cell(const struct rd_column *column, const struct rd_cell *cell, struct rd_buf *out);

/* Adds the whole report as one JSON document, keys in the order of CLI.md, ending in a newline. `version` is the
 * program's. */
void rd_render_json(const struct rd_report *report, const char *version, struct rd_buf *out);

/* Adds one row as a JSON object on a line of its own: a stream's event. */
void rd_render_json_row(const struct rd_section *section, size_t row, struct rd_buf *out);

/* Adds the report as one line: a stream's last. */
void rd_render_json_line(const struct rd_report *report, const char *version, struct rd_buf *out);

/* Adds a bar of `width` columns that is filled by `share` (0 to 1; what lies outside is cut), padded with blanks: in
 * eighths of a column, or of '#' where the terminal takes ASCII only. */
void rd_render_bar(double share, int width, bool ascii, struct rd_buf *out);

/* Adds the last `width` values of a sparkline's section, a column each, padded at the left; a value that is not known is a
 * blank. */
void rd_render_spark(const struct rd_section *shares, int width, bool ascii, struct rd_buf *out);

enum rd_metrics_format {
	RD_OPENMETRICS,	    /* OpenMetrics 1.0 text */
	RD_PROMETHEUS_TEXT, /* Prometheus' text format 0.0.4, which node_exporter's textfile collector reads */
};

/* Adds the report's metrics as a page, after those that every page has; families without samples are left out. */
void rd_render_metrics(const struct rd_report *report, const char *command, const char *version,
		       enum rd_metrics_format format, struct rd_buf *out);

#endif
