/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time series as a file that grows: CSV, JSON Lines, or a trace that ui.perfetto.dev opens as counter tracks. Produces bytes
 * only: the caller writes them, and handles a full disk. Every call adds whole records, so a file that ends between two calls
 * is valid, except for the last line of a JSON trace, which the viewer does not require.
 */
#ifndef RD_SERIES_H
#define RD_SERIES_H

#include "base/buf.h"

enum rd_series_format {
	RD_SERIES_CSV,	      /* .csv: RFC 4180, with a header line */
	RD_SERIES_JSONL,      /* .jsonl, .ndjson: one object per line, with the columns of the CSV as keys */
	RD_SERIES_TRACE_JSON, /* .json: the trace event format, counters ("C") grouped by port, each port a process */
};

/* The format, by the suffix of a file name; -EINVAL for an unknown one. */
int rd_series_format_of(const char *path, enum rd_series_format *ret);

/* One series. Text may be NULL, except `name`, `group` and `device`. */
struct rd_series {
	uint64_t id;	/* unique per series of a file; from 2 on */
	uint64_t first; /* the id of the first series of the same device and port */
	const char *device, *netdev, *group, *name;
	unsigned port; /* 0: the device as a whole */
};

struct rd_point {
	uint64_t time_ns;	  /* since the epoch */
	RD_FIELD(double) value;	  /* exact up to 2^53 */
	RD_FIELD(uint64_t) count; /* the exact value of a counter; `value` is then ignored */
	RD_FIELD(uint64_t) delta;
	RD_FIELD(double) per_second;
	bool at_least;	  /* `delta` is a lower bound */
	const char *note; /* NULL: none */
};

/* Adds the head of a file. */
void rd_series_begin(enum rd_series_format format, const char *host, struct rd_buf *out);

/* Whether a file with this head (RD_SERIES_HEAD bytes, or the whole file) was written in this format. */
#define RD_SERIES_HEAD 128
bool rd_series_is(enum rd_series_format format, const void *data, size_t size);

/* Call it once per series, before its points; for the first series of a device and port before the others. */
void rd_series_define(enum rd_series_format format, const struct rd_series *series, struct rd_buf *out);

/* Whether the format shows the point: tracks have neither unknown values nor totals. */
bool rd_series_shows(enum rd_series_format format, const struct rd_point *point);

/* Adds a point. A track shows per_second if known, else the value. */
void rd_series_point(enum rd_series_format format, const struct rd_series *series, const struct rd_point *point,
		     struct rd_buf *out);

/* Adds an event of a port, or (`device` NULL) of the recording itself. */
void rd_series_mark(enum rd_series_format format, uint64_t time_ns, const char *device, unsigned port, const char *what,
		    struct rd_buf *out);

/* Adds the end of a file. */
void rd_series_end(enum rd_series_format format, struct rd_buf *out);

#endif
