/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers over time as a file that grows: CSV, JSON Lines, or a trace that ui.perfetto.dev opens as counter tracks. Bytes
 * only: who writes them decides what to do about a full disk. Every call adds whole records, so a file that ends between
 * two calls is a good file, but for the last line of a JSON trace, which that viewer does not miss.
 */
#ifndef RD_SERIES_H
#define RD_SERIES_H

#include "base/buf.h"

enum rd_series_format {
	RD_SERIES_CSV,	      /* .csv: RFC 4180, with one heading */
	RD_SERIES_JSONL,      /* .jsonl, .ndjson: an object a line, its keys the columns of the CSV */
	RD_SERIES_TRACE_JSON, /* .json: the trace event format, counters ("C") below a process for each port */
	RD_SERIES_PERFETTO,   /* .perfetto-trace, .pftrace: Perfetto's protocol buffers, track events */
};

/* By the end of a file's name; -EINVAL for one that says nothing. */
int rd_series_format_of(const char *path, enum rd_series_format *ret);

/* What is followed. Text may be NULL, but not `name`, `group`, `device`. */
struct rd_series {
	uint64_t id;	/* another for each series of a file; from 2 on */
	uint64_t first; /* the id of the first series of the same device and port */
	const char *device, *netdev, *group, *name, *unit;
	unsigned port; /* 0: the device as a whole */
};

struct rd_point {
	uint64_t time_ns;	  /* since the epoch */
	RD_FIELD(double) value;	  /* exact up to 2^53 */
	RD_FIELD(uint64_t) count; /* the same of a counter, exact; then `value` is not looked at */
	RD_FIELD(uint64_t) delta;
	RD_FIELD(double) per_second;
	bool at_least;	  /* more than `delta` may have happened */
	const char *note; /* NULL: nothing to note */
};

/* The beginning of a file. */
void rd_series_begin(enum rd_series_format format, const char *host, uint64_t time_ns, struct rd_buf *out);

/* Whether a file that begins so (with RD_SERIES_HEAD bytes, or all it has) is one that was written in this format. */
#define RD_SERIES_HEAD 128
bool rd_series_is(enum rd_series_format format, const void *data, size_t size);

/* Once for each series, before its points; the first of a device and port before the others of it. */
void rd_series_define(enum rd_series_format format, const struct rd_series *series, struct rd_buf *out);

/* Whether a point shows up in such a file: a track has no place for what is not known, or for totals. */
bool rd_series_shows(enum rd_series_format format, const struct rd_point *point);

/* A track shows what moves: per_second where it is known, else the value. */
void rd_series_point(enum rd_series_format format, const struct rd_series *series, const struct rd_point *point,
		     struct rd_buf *out);

/* Something that happened to a port, or (`device` NULL) to the recording itself. */
void rd_series_mark(enum rd_series_format format, uint64_t time_ns, const char *device, unsigned port, const char *what,
		    struct rd_buf *out);

/* The end of a file. */
void rd_series_end(enum rd_series_format format, struct rd_buf *out);

#endif
