/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/rfc3339.h"

/* Heads of files; for JSON Lines the start of each line, with the time between the two parts. */
static const char csv_heading[] = "time,ibdev,port,netdev,group,name,value,delta,per_second,at_least,note\n";
static const char trace_head[] = "[{\"ph\":\"M\",\"name\":\"host\",\"pid\":0,\"args\":{\"name\":";
static const char jsonl_time[] = "{\"time\":\"", jsonl_next[] = "\",\"ibdev\":";

int rd_series_format_of(const char *path, enum rd_series_format *ret)
{
	static const struct {
		const char *suffix;
		enum rd_series_format format;
	} suffixes[] = {
		{ ".csv", RD_SERIES_CSV },
		{ ".jsonl", RD_SERIES_JSONL },
		{ ".ndjson", RD_SERIES_JSONL },
		{ ".json", RD_SERIES_TRACE_JSON },
	};
	size_t size = strlen(path);

	for (size_t i = 0; i < RD_ARRAY_SIZE(suffixes); i++) {
		size_t n = strlen(suffixes[i].suffix);

		if (size <= n || strcasecmp(path + size - n, suffixes[i].suffix) != 0)
			continue;
		*ret = suffixes[i].format;
		return 0;
	}
	return -EINVAL;
}

/* Text with separators or quotes is quoted; control characters are escaped. */
static void add_csv(struct rd_buf *out, const char *text)
{
	struct rd_buf safe = { 0 };

	rd_buf_str(out, ",");
	if (!text)
		return;
	rd_buf_safe(&safe, text, strlen(text));
	if (!strpbrk(safe.data, ",\"")) {
		rd_buf_str(out, safe.data);
	} else {
		rd_buf_str(out, "\"");
		for (const char *s = safe.data; *s; s++)
			rd_buf_printf(out, *s == '"' ? "\"\"" : "%c", *s);
		rd_buf_str(out, "\"");
	}
	rd_buf_deinit(&safe);
}

/* A JSON string, or null. */
static void add_json(struct rd_buf *out, const char *text)
{
	struct rd_buf safe = { 0 };

	if (!text) {
		rd_buf_str(out, "null");
		return;
	}
	rd_buf_safe(&safe, text, strlen(text));
	rd_buf_str(out, "\"");
	for (const char *s = safe.data; *s; s++)
		rd_buf_printf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	rd_buf_str(out, "\"");
	rd_buf_deinit(&safe);
}

static void add_number(struct rd_buf *out, double value)
{
	rd_buf_printf(out, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.6g", value);
}

static void add_value(struct rd_buf *out, const struct rd_point *point, const char *unknown)
{
	if (point->count.known == RD_OK)
		rd_buf_printf(out, "%" PRIu64, point->count.v);
	else if (point->value.known == RD_OK && isfinite(point->value.v))
		add_number(out, point->value.v);
	else
		rd_buf_str(out, unknown);
}

static void csv_point(const struct rd_series *series, const struct rd_point *point, struct rd_buf *out)
{
	char time[RD_RFC3339_SIZE];

	rd_rfc3339(point->time_ns, time);
	rd_buf_str(out, time);
	add_csv(out, series->device);
	rd_buf_printf(out, ",%u", series->port);
	add_csv(out, series->netdev);
	add_csv(out, series->group);
	add_csv(out, series->name);
	rd_buf_str(out, ",");
	add_value(out, point, "");
	rd_buf_str(out, ",");
	if (point->delta.known == RD_OK)
		rd_buf_printf(out, "%" PRIu64, point->delta.v);
	rd_buf_str(out, ",");
	if (point->per_second.known == RD_OK)
		add_number(out, point->per_second.v);
	rd_buf_str(out, point->delta.known != RD_OK ? "," : point->at_least ? ",yes" : ",no");
	add_csv(out, point->note);
	rd_buf_str(out, "\n");
}

static void jsonl_point(const struct rd_series *series, const struct rd_point *point, struct rd_buf *out)
{
	char time[RD_RFC3339_SIZE];

	rd_rfc3339(point->time_ns, time);
	rd_buf_printf(out, "%s%s%s", jsonl_time, time, jsonl_next);
	add_json(out, series->device);
	rd_buf_printf(out, ",\"port\":%u,\"netdev\":", series->port);
	add_json(out, series->netdev);
	rd_buf_str(out, ",\"group\":");
	add_json(out, series->group);
	rd_buf_str(out, ",\"name\":");
	add_json(out, series->name);
	rd_buf_str(out, ",\"value\":");
	add_value(out, point, "null");
	rd_buf_str(out, ",\"delta\":");
	if (point->delta.known == RD_OK)
		rd_buf_printf(out, "%" PRIu64, point->delta.v);
	else
		rd_buf_str(out, "null");
	rd_buf_str(out, ",\"per_second\":");
	if (point->per_second.known == RD_OK)
		add_number(out, point->per_second.v);
	else
		rd_buf_str(out, "null");
	rd_buf_printf(out, ",\"at_least\":%s,\"note\":",
		      point->delta.known != RD_OK ? "null" :
		      point->at_least		  ? "true" :
						    "false");
	add_json(out, point->note);
	rd_buf_str(out, "}\n");
}

/* The value that a track shows; false: none. */
static bool shown_value(const struct rd_point *point, double *ret)
{
	if (point->per_second.known == RD_OK)
		*ret = point->per_second.v;
	else if (point->count.known == RD_OK)
		return false; /* totals are not shown next to rates */
	else if (point->value.known == RD_OK)
		*ret = point->value.v;
	else
		return false;
	return isfinite(*ret);
}

bool rd_series_shows(enum rd_series_format format, const struct rd_point *point)
{
	double value;

	return format == RD_SERIES_CSV || format == RD_SERIES_JSONL || shown_value(point, &value);
}

/* In a trace viewer, ports are processes; the pid is the id of their first series. */
static void trace_point(const struct rd_series *series, uint64_t first, const struct rd_point *point, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf name = { 0 };
	double value;

	if (!shown_value(point, &value))
		return;
	rd_buf_printf(&name, "%s %s", series->group, series->name);
	rd_buf_str(out, ",\n{\"ph\":\"C\",\"name\":");
	add_json(out, name.data);
	rd_buf_printf(out, ",\"pid\":%" PRIu64 ",\"ts\":%.3f,\"args\":{\"value\":", first,
		      (double)(point->time_ns / 1000) + (double)(point->time_ns % 1000) / 1000);
	add_number(out, value);
	rd_buf_str(out, "}}");
}

static void trace_define(const struct rd_series *series, uint64_t first, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf name = { 0 };

	if (first != series->id)
		return;
	rd_buf_printf(&name, series->port ? "%s/%u" : "%s", series->device, series->port);
	rd_buf_printf(out, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu64 ",\"args\":{\"name\":", first);
	add_json(out, name.data);
	rd_buf_str(out, "}}");
}

void rd_series_begin(enum rd_series_format format, const char *host, struct rd_buf *out)
{
	if (format == RD_SERIES_CSV) {
		rd_buf_str(out, csv_heading);
	} else if (format == RD_SERIES_TRACE_JSON) {
		rd_buf_str(out, trace_head);
		add_json(out, host);
		rd_buf_str(out, "}}");
	}
}

static bool begins(const void *data, size_t size, const char *head)
{
	return size >= strlen(head) && memcmp(data, head, strlen(head)) == 0;
}

static bool is_jsonl(const char *data, size_t size)
{
	const char *next = begins(data, size, jsonl_time) ?
				   memchr(data + strlen(jsonl_time), '"', size - strlen(jsonl_time)) :
				   NULL;

	return next && begins(next, size - (size_t)(next - data), jsonl_next);
}

bool rd_series_is(enum rd_series_format format, const void *data, size_t size)
{
	switch (format) {
	case RD_SERIES_CSV:
		return begins(data, size, csv_heading);
	case RD_SERIES_JSONL:
		return is_jsonl(data, size);
	case RD_SERIES_TRACE_JSON:
		return begins(data, size, trace_head);
	}
	return false;
}

void rd_series_define(enum rd_series_format format, const struct rd_series *series, struct rd_buf *out)
{
	if (format == RD_SERIES_TRACE_JSON)
		trace_define(series, series->first, out);
}

void rd_series_point(enum rd_series_format format, const struct rd_series *series, const struct rd_point *point,
		     struct rd_buf *out)
{
	switch (format) {
	case RD_SERIES_CSV:
		csv_point(series, point, out);
		break;
	case RD_SERIES_JSONL:
		jsonl_point(series, point, out);
		break;
	case RD_SERIES_TRACE_JSON:
		trace_point(series, series->first, point, out);
		break;
	}
}

void rd_series_mark(enum rd_series_format format, uint64_t time_ns, const char *device, unsigned port, const char *what,
		    struct rd_buf *out)
{
	const struct rd_series series = { .device = device, .port = port, .group = "event", .name = what };
	const struct rd_point point = { .time_ns = time_ns };
	_cleanup_buf_ struct rd_buf name = { 0 };

	rd_buf_printf(&name, device ? "%2$s %1$s" : "%s", what, device);
	if (format == RD_SERIES_CSV) {
		csv_point(&series, &point, out);
	} else if (format == RD_SERIES_JSONL) {
		jsonl_point(&series, &point, out);
	} else {
		rd_buf_str(out, ",\n{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"name\":");
		add_json(out, name.data);
		rd_buf_printf(out, ",\"ts\":%.3f}", (double)time_ns / 1000);
	}
}

void rd_series_end(enum rd_series_format format, struct rd_buf *out)
{
	if (format == RD_SERIES_TRACE_JSON)
		rd_buf_str(out, "]\n");
}
