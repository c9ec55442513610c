/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders a report as bytes. Independent of models; of the terminal it knows only width and colour support. */
#ifndef RD_RENDER_H
#define RD_RENDER_H

#include "base/buf.h"
#include "report/shared/report.h"

#define RD_ALL_COLUMNS "*"

struct rd_table_style {
	const char *columns; /* -o: "NAME,NAME" (these), "+NAME" (also these), "*" (all); NULL: those not hidden */
	bool no_headings;    /* -n */
	bool raw;	     /* --raw: values separated by single blanks, blanks inside escaped */
	bool colour;
	int width; /* of the terminal; 0: unlimited */
};

/* Adds the section as a table. -EINVAL with `err` filled if style->columns names an unknown column. Foreign text is escaped
 * here. Empty tables keep their header. */
int rd_render_table(const struct rd_section *section, const struct rd_table_style *style, struct rd_buf *out,
		    struct rd_err *err);

struct rd_finding_style {
	bool colour;
	bool verbose;		/* all subjects of a rule, consequences in detail, muted findings */
	bool why;		/* include why it matters */
	bool gaps;		/* an empty line between findings */
	enum rd_severity least; /* findings below this severity are omitted */
};

/* Adds findings as text, in their order: "critical: mlx5_3/1: title; observed; expected: value [id]", below it the fix and the
 * consequences. Adjacent findings with the same id and severity are grouped. Foreign text is escaped here. */
void rd_render_findings(const struct rd_findings *findings, const struct rd_finding_style *style, struct rd_buf *out);

/* Adds what to do about a fault (base/fix.h): the commands, then the advice. */
void rd_render_fix(const char *fix, struct rd_buf *out);

/* From now on rd_render_findings numbers what it prints, "[1] critical: ...", and passes the number, all that is known about it, and what
 * to do about it (both are lines, escaped) to `take`. Numbers start from 1, and again after each restart: for each report. */
typedef void rd_take_finding(unsigned number, const char *text, const char *fix);
void rd_render_number_findings(rd_take_finding *take);
void rd_render_restart_numbers(void);

/* Adds the headline with the performance data, and the notes below an empty line; nothing if the report has none. */
void rd_render_headline(const struct rd_report *report, struct rd_buf *out);
void rd_render_notes(const struct rd_report *report, struct rd_buf *out);

/* Adds the results of rules: faults, then notes, then unknown results by reason; with style->verbose also what passed. Below
 * performance data "|" becomes "/": another bar would start more of it. */
void rd_render_results(const struct rd_report *report, const struct rd_finding_style *style, struct rd_buf *out);

/* Adds one cell as in a table, escaped; "-" if unknown. */
void rd_render_cell(const struct rd_column *column, const struct rd_cell *cell, struct rd_buf *out);

/* Adds the whole report as one JSON document, keys in the order of CLI.md, ending in a newline. `version` is the
 * program's. */
void rd_render_json(const struct rd_report *report, const char *version, struct rd_buf *out);

/* Adds one row as a JSON object on one line: an event of a stream. */
void rd_render_json_row(const struct rd_section *section, size_t row, struct rd_buf *out);

/* Adds the report as one line: the last of a stream. */
void rd_render_json_line(const struct rd_report *report, const char *version, struct rd_buf *out);

/* Adds a bar of `width` columns, filled to `share` (clamped to 0..1), padded with blanks: in eighths of a column, or with '#' if
 * the terminal supports ASCII only. */
void rd_render_bar(double share, int width, bool ascii, struct rd_buf *out);

/* Adds the last `width` values of the section as a sparkline, one column per value, padded on the left; unknown values are
 * blanks. */
void rd_render_spark(const struct rd_section *shares, int width, bool ascii, struct rd_buf *out);

enum rd_metrics_format {
	RD_OPENMETRICS,	    /* OpenMetrics 1.0 text */
	RD_PROMETHEUS_TEXT, /* Prometheus' text format 0.0.4, which node_exporter's textfile collector reads */
};

/* Adds the metrics of the report as a page, after those common to all pages; families without samples are omitted. */
void rd_render_metrics(const struct rd_report *report, const char *command, const char *version,
		       enum rd_metrics_format format, struct rd_buf *out);

/* ---- renders an event of trace-errno as text */

/*
 * Adds a row of a section with the keys of an event (time, verb, errno, chain …), as lines:
 *
 *     14:03:07.123456 ibv_reg_mr: EFAULT (Bad address)  trainer[812] rxe0 qpn 17 job slurm:42.0
 *         ib_umem_get           [ib_core]    EFAULT  <- origin
 *      -> ib_uverbs_reg_mr      [ib_uverbs]  EFAULT
 *      -> ib_uverbs_ioctl       [ib_uverbs]  EFAULT
 *         hint: …
 *
 * then the stacks, if any. The hint is wrapped to `width` columns (0: 80). Keys that the section lacks are
 * omitted.
 */
void rd_render_event(const struct rd_section *section, size_t row, bool colour, int width, struct rd_buf *out);

/*
 * Renders a row with the keys of a recorded event (time, kind, old_state …) as one line, and the attributes set by the call as
 * a second one:
 *
 *     14:03:07.123456 rxe0 qpn 17 RC: INIT -> RTR in 38 us  trainer[812]
 *         mtu 1024  rqpn 18  peer ::ffff:10.9.0.2  sgid 1  sport 49170  hops 64  tclass 0  rq_psn 101
 *
 * Missing keys and unknown values are left out.
 */
void rd_render_qp_event(const struct rd_section *section, size_t row, bool colour, struct rd_buf *out);

/*
 * Adds the rows of a section with the keys of a meaning (name, driver, unit …), as lines:
 *
 *     symbol_error (any driver)
 *       errors on the physical link
 *       counts packets; 16 bits, saturates at 65535; cause; may be added up over ports
 */
void rd_render_meanings(const struct rd_section *section, struct rd_buf *out);

#endif
