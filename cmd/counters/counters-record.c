/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --record: a file of series that may grow for hours. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/rfc3339.h"
#include "base/text.h"
#include "counters.h"
#include "source/opener/new-file.h"

/*
 * Series: CSV, JSON Lines, or a trace that ui.perfetto.dev opens as counter tracks. Every call adds whole records to `out`, so a
 * file that ends between two calls is valid, except for the last line of a JSON trace, which the viewer does not require.
 */

enum series_format {
	SERIES_CSV,	   /* .csv: RFC 4180, with a header line */
	SERIES_JSONL,	   /* .jsonl, .ndjson: one object per line, with the columns of the CSV as keys */
	SERIES_TRACE_JSON, /* .json: the trace event format, counters ("C") grouped by port, each port a process */
};

/* One series. Text may be NULL, except `name`, `group` and `device`. */
struct series {
	uint64_t id;	/* unique per series of a file; from 2 on */
	uint64_t first; /* the id of the first series of the same device and port */
	const char *device, *netdev, *group, *name;
	unsigned port; /* 0: the device as a whole */
};

struct point {
	uint64_t time_ns;	  /* since the epoch */
	RD_FIELD(double) value;	  /* exact up to 2^53 */
	RD_FIELD(uint64_t) count; /* the exact value of a counter; `value` is then ignored */
	RD_FIELD(uint64_t) delta;
	RD_FIELD(double) per_second;
	bool at_least;	  /* `delta` is a lower bound */
	const char *note; /* NULL: none */
};

/* Heads of files; for JSON Lines the start of each line, with the time between the two parts. */
static const char csv_heading[] = "time,ibdev,port,netdev,group,name,value,delta,per_second,at_least,note\n";
static const char trace_head[] = "[{\"ph\":\"M\",\"name\":\"host\",\"pid\":0,\"args\":{\"name\":";
static const char jsonl_time[] = "{\"time\":\"", jsonl_next[] = "\",\"ibdev\":";

static int series_format_of(const char *path, enum series_format *ret)
{
	static const struct {
		const char *suffix;
		enum series_format format;
	} suffixes[] = {
		{ ".csv", SERIES_CSV },
		{ ".jsonl", SERIES_JSONL },
		{ ".ndjson", SERIES_JSONL },
		{ ".json", SERIES_TRACE_JSON },
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

static void add_value(struct rd_buf *out, const struct point *point, const char *unknown)
{
	if (point->count.known == RD_OK)
		rd_buf_printf(out, "%" PRIu64, point->count.v);
	else if (point->value.known == RD_OK && isfinite(point->value.v))
		add_number(out, point->value.v);
	else
		rd_buf_str(out, unknown);
}

static void csv_point(const struct series *series, const struct point *point, struct rd_buf *out)
{
	char time[RD_RFC3339_SIZE];

	rd_rfc3339(point->time_ns, time);
	rd_buf_printf(out, "%s,", time);
	rd_buf_csv(out, series->device);
	rd_buf_printf(out, ",%u,", series->port);
	rd_buf_csv(out, series->netdev);
	rd_buf_str(out, ",");
	rd_buf_csv(out, series->group);
	rd_buf_str(out, ",");
	rd_buf_csv(out, series->name);
	rd_buf_str(out, ",");
	add_value(out, point, "");
	rd_buf_str(out, ",");
	if (point->delta.known == RD_OK)
		rd_buf_printf(out, "%" PRIu64, point->delta.v);
	rd_buf_str(out, ",");
	if (point->per_second.known == RD_OK)
		add_number(out, point->per_second.v);
	rd_buf_str(out, point->delta.known != RD_OK ? ",," : point->at_least ? ",yes," : ",no,");
	rd_buf_csv(out, point->note);
	rd_buf_str(out, "\n");
}

static void jsonl_point(const struct series *series, const struct point *point, struct rd_buf *out)
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
static bool shown_value(const struct point *point, double *ret)
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

static bool series_shows(enum series_format format, const struct point *point)
{
	double value;

	return format == SERIES_CSV || format == SERIES_JSONL || shown_value(point, &value);
}

/* In a trace viewer, ports are processes; the pid is the id of their first series. */
static void trace_point(const struct series *series, uint64_t first, const struct point *point, struct rd_buf *out)
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

static void trace_define(const struct series *series, uint64_t first, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf name = { 0 };

	if (first != series->id)
		return;
	rd_buf_printf(&name, series->port ? "%s/%u" : "%s", series->device, series->port);
	rd_buf_printf(out, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu64 ",\"args\":{\"name\":", first);
	add_json(out, name.data);
	rd_buf_str(out, "}}");
}

static void series_begin(enum series_format format, const char *host, struct rd_buf *out)
{
	if (format == SERIES_CSV) {
		rd_buf_str(out, csv_heading);
	} else if (format == SERIES_TRACE_JSON) {
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

#define SERIES_HEAD 128 /* bytes of a file that show its format */
static bool series_is(enum series_format format, const void *data, size_t size)
{
	switch (format) {
	case SERIES_CSV:
		return begins(data, size, csv_heading);
	case SERIES_JSONL:
		return is_jsonl(data, size);
	case SERIES_TRACE_JSON:
		return begins(data, size, trace_head);
	}
	return false;
}

static void series_define(enum series_format format, const struct series *series, struct rd_buf *out)
{
	if (format == SERIES_TRACE_JSON)
		trace_define(series, series->first, out);
}

static void series_point(enum series_format format, const struct series *series, const struct point *point,
			 struct rd_buf *out)
{
	switch (format) {
	case SERIES_CSV:
		csv_point(series, point, out);
		break;
	case SERIES_JSONL:
		jsonl_point(series, point, out);
		break;
	case SERIES_TRACE_JSON:
		trace_point(series, series->first, point, out);
		break;
	}
}

static void series_mark(enum series_format format, uint64_t time_ns, const char *device, unsigned port,
			const char *what, struct rd_buf *out)
{
	const struct series series = { .device = device, .port = port, .group = "event", .name = what };
	const struct point point = { .time_ns = time_ns };
	_cleanup_buf_ struct rd_buf name = { 0 };

	rd_buf_printf(&name, device ? "%2$s %1$s" : "%s", what, device);
	if (format == SERIES_CSV) {
		csv_point(&series, &point, out);
	} else if (format == SERIES_JSONL) {
		jsonl_point(&series, &point, out);
	} else {
		rd_buf_str(out, ",\n{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"name\":");
		add_json(out, name.data);
		rd_buf_printf(out, ",\"ts\":%.3f}", (double)time_ns / 1000);
	}
}

static void series_end(enum series_format format, struct rd_buf *out)
{
	if (format == SERIES_TRACE_JSON)
		rd_buf_str(out, "]\n");
}

/*
 * The file: a sample is written whole or not at all; samples that do not fit on a full disk are dropped, reported and counted, and
 * recording continues when there is space.
 */

#define RECORD_FIRST_ID 2 /* of a series */

struct record_file {
	struct rd_ctx *ctx;
	const char *path;
	enum series_format format;
	int fd;
	uint64_t size; /* whole records */
	bool headed, refused;
	uint64_t samples, lost, lost_in_all;
	struct rd_buf out; /* the current sample */
};

/* Only an existing recording may be overwritten. */
static int check_contents(int fd, enum series_format format, const char *path, struct rd_err *err)
{
	char head[SERIES_HEAD];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return rd_err_set(err, errno, path, "cannot write");
	if (!S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "not a regular file");
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return rd_err_set(err, errno, path, "cannot read");
	if (n == 0 || series_is(format, head, (size_t)n))
		return 0;
	rd_err_set(err, EEXIST, path, "not a recording in this format: not overwritten");
	rd_err_hint(err, "use another file name");
	return -EEXIST;
}

static int record_file_open(struct rd_ctx *ctx, const char *path, struct record_file *file, struct rd_err *err)
{
	enum series_format format = 0;
	int r;

	*file = (struct record_file){ .ctx = ctx, .path = path, .fd = -1 };
	if (series_format_of(path, &format) < 0) {
		rd_err_set(err, EINVAL, "--record", "unknown format of '%s'", path);
		rd_err_hint(err, "use a name that ends in .csv, .jsonl or .json");
		return -EINVAL;
	}
	file->format = format;
	file->fd = rd_open_for_update(path, err);
	if (file->fd < 0)
		return file->fd;
	r = check_contents(file->fd, format, path, err);
	if (!r && ftruncate(file->fd, 0) < 0)
		r = rd_err_set(err, errno, path, "cannot write");
	return r;
}

static void record_file_close(struct record_file *file)
{
	rd_buf_deinit(&file->out);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static void record_file_begin(struct record_file *file, uint64_t time_ns)
{
	struct rd_buf head = { 0 };
	char lost[64];

	if (!file->headed) {
		struct rd_report report;

		rd_output_init(file->ctx, &report);
		series_begin(file->format, report.host, &head);
		rd_report_deinit(&report);
		rd_buf_add(&head, file->out.data, file->out.len);
		rd_buf_deinit(&file->out);
		file->out = head;
		file->headed = true;
	}
	if (file->lost == 0)
		return;
	snprintf(lost, sizeof(lost), "%" PRIu64 " samples were lost: no space to write them", file->lost);
	series_mark(file->format, time_ns, NULL, 0, lost, &file->out);
}

/* Truncates the file to its last whole sample. */
static void write_failed(struct record_file *file, int code)
{
	if (!file->refused)
		rd_warn(file->ctx, "%s: cannot write: %s; samples are dropped until writing succeeds", file->path,
			rd_errno_text(code));
	file->refused = true;
	file->lost++;
	file->lost_in_all++;
	if (ftruncate(file->fd, (off_t)file->size) < 0 || lseek(file->fd, (off_t)file->size, SEEK_SET) < 0)
		rd_verbose(file->ctx, "%s: cannot remove a partial sample: %s", file->path, rd_errno_text(errno));
	file->headed = file->size > 0;
}

static bool record_file_write(struct record_file *file)
{
	int r = rd_write_all(file->fd, file->out.data, file->out.len);

	if (r < 0) {
		write_failed(file, -r);
	} else {
		file->size += file->out.len;
		file->samples++;
		if (file->refused)
			rd_warn(file->ctx, "%s: recording continues; %" PRIu64 " samples were lost", file->path,
				file->lost);
		file->refused = false;
		file->lost = 0;
	}
	file->out.len = 0;
	return r >= 0;
}

static int record_file_finish(struct record_file *file, size_t series, struct rd_err *err)
{
	series_end(file->format, &file->out);
	record_file_write(file);
	file->samples -= !file->refused; /* the end of the file is not a sample */
	if (!file->refused && fsync(file->fd) < 0)
		return rd_err_set(err, errno, file->path, "cannot write");
	if (file->lost_in_all)
		return rd_err_set(err, ENOSPC, file->path, "%" PRIu64 " of %" PRIu64 " samples could not be written",
				  file->lost_in_all, file->lost_in_all + file->samples);
	rd_warn(file->ctx, "%s: %" PRIu64 " samples of %zu series, %" PRIu64 " bytes", file->path, file->samples,
		series, file->size);
	return 0;
}

/*
 * Counters: one is written only when it differs from the last value in the file, so memory and disk usage depend on events, not on
 * time. The removal of a device is marked. After samples were lost, the next one is complete.
 */

/* Series of a file: far more than a host has, even if counters are bound and unbound all the time. */
#define SERIES_MAX 65536

struct track {
	struct series series;  /* its text is owned */
	uint64_t key;	       /* hash of device, port, interface, group and name */
	bool defined, written; /* in the file */
	bool known, moved;     /* as last written */
	uint64_t count;
	double value;
};

struct counters_file {
	struct record_file to;
	struct track *tracks;
	size_t n, cap;
	const struct rd_counter_set *set;
	size_t *of_counter; /* track of each counter of the set; SIZE_MAX: none */
	size_t *of_port;    /* two per port: sent, received */
	bool *there;	    /* of each port: present in the previous sample */
};

void counters_file_close(struct counters_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n; i++) {
		free((char *)file->tracks[i].series.device);
		free((char *)file->tracks[i].series.netdev);
		free((char *)file->tracks[i].series.group);
		free((char *)file->tracks[i].series.name);
	}
	free(file->tracks);
	free(file->of_counter);
	free(file->of_port);
	free(file->there);
	record_file_close(&file->to);
	free(file);
}

int counters_file_open(struct rd_ctx *ctx, const char *path, struct counters_file **ret, struct rd_err *err)
{
	struct counters_file *file = rd_alloc(1, sizeof(*file));
	int r = record_file_open(ctx, path, &file->to, err);

	if (r < 0)
		counters_file_close(file);
	else
		*ret = file;
	return r;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return rd_hash(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* Index of the track with this name, created if missing. SIZE_MAX when there are too many. */
static size_t track_of(struct counters_file *file, const struct rd_counter_port *port, const char *netdev,
		       const char *group, const char *name)
{
	uint64_t key =
		hash_text(hash_text(hash_text(hash_text(RD_HASH, port->ibdev), netdev), group), name) + port->port;
	struct track *track;

	for (size_t i = 0; i < file->n; i++)
		if (file->tracks[i].key == key)
			return i;
	if (file->n >= SERIES_MAX)
		return SIZE_MAX;
	rd_reserve(&file->tracks, &file->cap, file->n + 1, sizeof(*file->tracks));
	track = &file->tracks[file->n];
	*track = (struct track){ .key = key, .series = { .id = file->n + RECORD_FIRST_ID, .port = port->port } };
	track->series.first = track->series.id;
	track->series.device = rd_dup(port->ibdev);
	track->series.netdev = rd_dup_if(netdev);
	track->series.group = rd_dup(group);
	track->series.name = rd_dup(name);
	for (size_t i = 0; i < file->n; i++)
		if (file->tracks[i].series.port == port->port &&
		    strcmp(file->tracks[i].series.device, port->ibdev) == 0) {
			track->series.first = file->tracks[i].series.first;
			break;
		}
	return file->n++;
}

static const char *name_of(const struct rd_counter *counter, char *buf, size_t size)
{
	if (counter->group != RD_GROUP_QP)
		return counter->name;
	snprintf(buf, size, "%s[%u]", counter->name, counter->counter);
	return buf;
}

static void define_track(struct counters_file *file, struct track *track)
{
	struct track *first = &file->tracks[track->series.first - RECORD_FIRST_ID];

	if (first != track && !first->defined)
		define_track(file, first);
	if (!track->defined)
		series_define(file->to.format, &track->series, &file->to.out);
	track->defined = true;
}

/* Whether the state differs from what was last written; stores it. A counter that stopped changing is written once more. */
static bool update_track(struct track *track, bool known, uint64_t count, double value, bool moved)
{
	bool same = track->written && track->known == known && track->moved == moved &&
		    (!known || (track->count == count && track->value == value));

	track->written = true;
	track->known = known;
	track->moved = moved;
	track->count = count;
	track->value = value;
	return !same;
}

/* In a trace, tracks are defined with their first point. */
static void add_point(struct counters_file *file, struct track *track, const struct point *point)
{
	if (!series_shows(file->to.format, point))
		return;
	define_track(file, track);
	series_point(file->to.format, &track->series, point, &file->to.out);
}

static void add_counter(struct counters_file *file, const struct counters *c, size_t i)
{
	const struct rd_counter_value *value = &c->now.sample.values[i];
	const struct rd_delta *delta = &c->deltas[i];
	struct track *track = &file->tracks[file->of_counter[i]];
	bool known = value->known == RD_OK, has_delta = delta->kind != RD_DELTA_UNKNOWN;
	struct point point = { .time_ns = c->now.sample.realtime_ns, .note = rd_delta_note_name(delta->note) };

	if (!update_track(track, known, known ? value->v : 0, 0, has_delta && delta->v))
		return;
	if (known && c->now.set->counters[i].overflow == RD_GAUGE)
		RD_SET(point.value, (double)value->v);
	else if (known)
		RD_SET(point.count, value->v);
	if (has_delta && c->now.set->counters[i].overflow != RD_GAUGE) {
		RD_SET(point.delta, delta->v);
		point.at_least = delta->kind == RD_DELTA_AT_LEAST;
		if (c->seconds > 0)
			RD_SET(point.per_second, (double)delta->v / c->seconds);
	}
	add_point(file, track, &point);
}

static void add_rate(struct counters_file *file, const struct counters *c, size_t at, bool known, double value)
{
	struct point point = { .time_ns = c->now.sample.realtime_ns };
	struct track *track;

	if (at == SIZE_MAX)
		return;
	track = &file->tracks[at];
	if (!update_track(track, known, 0, value, value != 0))
		return;
	if (known)
		RD_SET(point.value, value);
	add_point(file, track, &point);
}

static void mark_event(struct counters_file *file, uint64_t time_ns, const struct rd_counter_port *port,
		       const char *what)
{
	series_mark(file->to.format, time_ns, port ? port->ibdev : NULL, port ? port->port : 0, what, &file->to.out);
}

/* Adds the last sample. Write errors are reported. */
void counters_file_add(struct counters_file *file, const struct counters_watch *w)
{
	const struct counters *c = w->c;

	if (file->set != c->now.set) {
		/* Maps a new set of counters to the tracks of the file. */
		free(file->of_counter);
		free(file->of_port);
		free(file->there);
		file->of_counter = rd_alloc(c->now.set->n, sizeof(*file->of_counter));
		file->of_port = rd_alloc(2 * c->now.set->n_ports, sizeof(*file->of_port));
		file->there = rd_alloc(c->now.set->n_ports + 1, sizeof(*file->there));
		for (size_t p = 0; p < c->now.set->n_ports; p++) {
			const struct rd_counter_port *port = &c->now.set->ports[p];
			bool wanted = port->port && w->ports[p];

			file->there[p] = true;
			file->of_port[2 * p] = wanted ? track_of(file, port, NULL, "rate", "tx_gbps") : SIZE_MAX;
			file->of_port[2 * p + 1] = wanted ? track_of(file, port, NULL, "rate", "rx_gbps") : SIZE_MAX;
		}
		for (size_t i = 0; i < c->now.set->n; i++) {
			const struct rd_counter *counter = &c->now.set->counters[i];
			char name[256];

			file->of_counter[i] = w->selected[i] ?
						      track_of(file, &c->now.set->ports[counter->port], counter->netdev,
							       rd_counter_group_name(counter->group),
							       name_of(counter, name, sizeof(name))) :
						      SIZE_MAX;
		}
		file->set = c->now.set;
	}
	record_file_begin(&file->to, c->now.sample.realtime_ns);
	/* Marks ports that were removed, or are present again. */
	for (size_t p = 0; p < c->now.set->n_ports; p++) {
		bool *there = &file->there[p], now = c->now.sample.states[p].there;

		if (*there != now)
			mark_event(file, c->now.sample.realtime_ns, &c->now.set->ports[p], now ? "there again" : "gone");
		*there = now;
	}
	for (size_t i = 0; i < w->findings.n; i++) {
		_cleanup_free_ char *text = rd_text("%s: %s", w->findings.v[i].subject, w->findings.v[i].title);

		mark_event(file, c->now.sample.realtime_ns, NULL, text);
	}
	for (size_t p = 0; w->interval && p < w->rates.n; p++) {
		const struct rd_port_rate *rate = &w->rates.ports[p];

		add_rate(file, c, file->of_port[2 * p], rate->tx_gbps.known == RD_OK, rate->tx_gbps.v);
		add_rate(file, c, file->of_port[2 * p + 1], rate->rx_gbps.known == RD_OK, rate->rx_gbps.v);
	}
	for (size_t i = 0; i < c->now.set->n; i++)
		if (file->of_counter[i] != SIZE_MAX)
			add_counter(file, c, i);
	if (!record_file_write(&file->to))
		for (size_t i = 0; i < file->n; i++)
			file->tracks[i].written = file->tracks[i].defined = false;
}

int counters_file_finish(struct counters_file *file, struct rd_err *err)
{
	return record_file_finish(&file->to, file->n, err);
}
