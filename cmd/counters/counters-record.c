/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --record: a file of series that may grow for hours. */
#include <math.h>
#include <strings.h>
#include <sys/stat.h>

#include "counters.h"
#include "source/opener/opener.h"

/*
 * CSV, JSON Lines, or a trace that ui.perfetto.dev opens as counter tracks. A sample adds whole records, so a file that ends between
 * two samples is valid, except for the last line of a JSON trace, which the viewer does not require. A sample is written whole or not
 * at all; samples that do not fit on a full disk are dropped, reported and counted, and recording continues when there is space.
 *
 * A counter is written only when it differs from the last value in the file, so memory and disk usage depend on events, not on time. The
 * removal of a device is marked. After samples were lost, the next one is complete.
 */

enum format {
	CSV,	    /* .csv: RFC 4180, with a header line */
	JSONL,	    /* .jsonl, .ndjson: one object per line, with the columns of the CSV as keys */
	TRACE_JSON, /* .json: the trace event format, counters ("C") grouped by port, each port a process */
};

/* What files begin with; in JSON Lines the time follows, and then `jsonl_next`. */
static const char *const heads[] = {
	[CSV] = "time,ibdev,port,netdev,group,name,value,delta,per_second,at_least,note\n",
	[JSONL] = "{\"time\":\"",
	[TRACE_JSON] = "[{\"ph\":\"M\",\"name\":\"host\",\"pid\":0,\"args\":{\"name\":",
};
static const char jsonl_next[] = "\",\"ibdev\":";

enum { TIME, IBDEV, PORT, NETDEV, GROUP, NAME, VALUE, DELTA, PER_SECOND, AT_LEAST, NOTE, COLUMNS };

static const struct {
	const char *name;
	bool text; /* quoted in JSON */
} columns[COLUMNS] = {
	[TIME] = { "time", true },	    [IBDEV] = { "ibdev", true },  [PORT] = { "port", false },
	[NETDEV] = { "netdev", true },	    [GROUP] = { "group", true },  [NAME] = { "name", true },
	[VALUE] = { "value", false },	    [DELTA] = { "delta", false }, [PER_SECOND] = { "per_second", false },
	[AT_LEAST] = { "at_least", false }, [NOTE] = { "note", true },
};

struct point {
	bool known;
	bool moved;	/* since the previous sample */
	bool exact;	/* the value is `count`, else `value`: a gauge or a rate */
	uint64_t count; /* of a counter or a gauge */
	double value;	/* exact up to 2^53 */
	RD_FIELD(uint64_t) delta;
	RD_FIELD(double) per_second;
	bool at_least;	  /* `delta` is a lower bound */
	const char *note; /* NULL: none */
};

/* Series of a file: far more than a host has, even if counters are bound and unbound all the time. */
#define SERIES_MAX 65536
#define FIRST_PID 2 /* in a trace: of the port of the first series */

/* Its texts are owned; NULL: none. */
struct series {
	char *device, *netdev, *group, *name;
	unsigned port;	   /* 0: the device as a whole */
	uint64_t key;	   /* hash of these */
	size_t first;	   /* index of the first series of the same device and port */
	bool defined;	   /* in a trace, as that */
	bool written;	   /* in the file */
	struct point last; /* as written */
};

struct counters_file {
	struct rd_ctx *ctx;
	const char *path;
	enum format format;
	int fd;
	uint64_t size; /* whole records */
	bool headed, refused;
	uint64_t samples, lost, lost_in_all;
	struct rd_buf out; /* the current sample */
	struct series *series;
	size_t n, cap;
	const struct rd_counter_set *set;
	size_t *of_counter; /* series of each counter of the set; SIZE_MAX: none */
	size_t *of_port;    /* two per port: sent, received */
	bool *there;	    /* of each port: present in the previous sample */
};

/* ---- formats */

/* A JSON string, or null. */
static void add_json(struct rd_buf *out, const char *text)
{
	_cleanup_buf_ struct rd_buf safe = { 0 };

	if (!text) {
		rd_buf_str(out, "null");
		return;
	}
	rd_buf_safe(&safe, text, strlen(text));
	rd_buf_str(out, "\"");
	for (const char *s = safe.data; *s; s++)
		rd_buf_printf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	rd_buf_str(out, "\"");
}

#define NUMBER 32 /* bytes of one as text */

static const char *number_text(double value, char *buf)
{
	snprintf(buf, NUMBER, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.6g", value);
	return buf;
}

static const char *count_text(uint64_t count, char *buf)
{
	snprintf(buf, NUMBER, "%" PRIu64, count);
	return buf;
}

/* A row of CSV, or a line of JSON. What is unknown is an empty field, or null. */
static void add_row(struct counters_file *file, const struct series *series, const struct point *point, uint64_t time_ns)
{
	char time[RD_RFC3339_SIZE], port[NUMBER], value[NUMBER], delta[NUMBER], rate[NUMBER];
	static const char *const bools[][2] = { [CSV] = { "no", "yes" }, [JSONL] = { "false", "true" } };
	const char *cells[COLUMNS] = {
		[TIME] = time,
		[IBDEV] = series->device,
		[PORT] = count_text(series->port, port),
		[NETDEV] = series->netdev,
		[GROUP] = series->group,
		[NAME] = series->name,
		[NOTE] = point->note,
	};

	rd_rfc3339(time_ns, time);
	if (point->known && point->exact)
		cells[VALUE] = count_text(point->count, value);
	else if (point->known && isfinite(point->value))
		cells[VALUE] = number_text(point->value, value);
	if (point->delta.known == RD_OK) {
		cells[DELTA] = count_text(point->delta.v, delta);
		cells[AT_LEAST] = bools[file->format][point->at_least];
	}
	if (point->per_second.known == RD_OK)
		cells[PER_SECOND] = number_text(point->per_second.v, rate);
	for (size_t i = 0; i < COLUMNS; i++) {
		if (file->format == CSV)
			rd_buf_str(&file->out, i ? "," : "");
		else
			rd_buf_printf(&file->out, "%s\"%s\":", i ? "," : "{", columns[i].name);
		if (cells[i] && !columns[i].text)
			rd_buf_str(&file->out, cells[i]);
		else if (file->format == CSV)
			rd_buf_csv(&file->out, cells[i]);
		else
			add_json(&file->out, cells[i]);
	}
	rd_buf_str(&file->out, file->format == CSV ? "\n" : "}\n");
}

/* The value that a track shows; false: none. Totals are not shown next to rates. */
static bool shown_value(const struct point *point, double *ret)
{
	if (point->per_second.known == RD_OK)
		*ret = point->per_second.v;
	else if (point->known && !point->exact)
		*ret = point->value;
	else
		return false;
	return isfinite(*ret);
}

/* In a trace viewer, ports are processes, which are defined with their first point. */
static void add_trace_point(struct counters_file *file, const struct series *series, double value, uint64_t time_ns)
{
	_cleanup_free_ char *name = rd_text("%s %s", series->group, series->name);
	struct series *first = &file->series[series->first];
	char number[NUMBER];

	if (!first->defined) {
		_cleanup_free_ char *port = rd_text(first->port ? "%s/%u" : "%s", first->device, first->port);

		rd_buf_printf(&file->out, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%zu,\"args\":{\"name\":",
			      series->first + FIRST_PID);
		add_json(&file->out, port);
		rd_buf_str(&file->out, "}}");
		first->defined = true;
	}
	rd_buf_str(&file->out, ",\n{\"ph\":\"C\",\"name\":");
	add_json(&file->out, name);
	rd_buf_printf(&file->out, ",\"pid\":%zu,\"ts\":%.3f,\"args\":{\"value\":%s}}", series->first + FIRST_PID,
		      (double)(time_ns / 1000) + (double)(time_ns % 1000) / 1000, number_text(value, number));
}

/* `port` NULL: of the host. */
static void add_mark(struct counters_file *file, uint64_t time_ns, const struct rd_counter_port *port, const char *what)
{
	const struct series series = { .device = port ? port->ibdev : NULL,
				       .port = port ? port->port : 0,
				       .group = (char[]){ "event" },
				       .name = (char *)what };
	_cleanup_free_ char *name = rd_text(port ? "%2$s %1$s" : "%s", what, series.device);

	if (file->format != TRACE_JSON) {
		add_row(file, &series, &(struct point){ 0 }, time_ns);
		return;
	}
	rd_buf_str(&file->out, ",\n{\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"name\":");
	add_json(&file->out, name);
	rd_buf_printf(&file->out, ",\"ts\":%.3f}", (double)time_ns / 1000);
}

/* ---- the file */

static int find_format(const char *path, enum format *ret, struct rd_err *err)
{
	static const struct {
		const char *suffix;
		enum format format;
	} suffixes[] = { { ".csv", CSV }, { ".jsonl", JSONL }, { ".ndjson", JSONL }, { ".json", TRACE_JSON } };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot > path && i < RD_ARRAY_SIZE(suffixes); i++)
		if (strcasecmp(dot, suffixes[i].suffix) == 0) {
			*ret = suffixes[i].format;
			return 0;
		}
	rd_err_set(err, EINVAL, "--record", "unknown format of '%s'", path);
	return rd_err_hint(err, "use a name that ends in .csv, .jsonl or .json");
}

static bool begins(const char *data, size_t size, const char *head)
{
	return size >= strlen(head) && memcmp(data, head, strlen(head)) == 0;
}

/* Whether a file that begins with `data` is a recording. */
static bool is_recording(enum format format, const char *data, size_t size)
{
	size_t head = strlen(heads[format]);
	const char *next;

	if (!begins(data, size, heads[format]))
		return false;
	next = memchr(data + head, '"', size - head);
	return format != JSONL || (next && begins(next, size - (size_t)(next - data), jsonl_next));
}

/* Only an existing recording may be overwritten. */
static int check_contents(int fd, enum format format, const char *path, struct rd_err *err)
{
	char head[128];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return rd_err_set(err, errno, path, "cannot write");
	if (!S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "not a regular file");
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return rd_err_set(err, errno, path, "cannot read");
	if (n == 0 || is_recording(format, head, (size_t)n))
		return 0;
	rd_err_set(err, EEXIST, path, "not a recording in this format: not overwritten");
	return rd_err_hint(err, "use another file name");
}

int counters_file_open(struct rd_ctx *ctx, const char *path, struct counters_file **ret, struct rd_err *err)
{
	struct counters_file *file = rd_alloc(1, sizeof(*file));
	int r = find_format(path, &file->format, err);

	file->ctx = ctx;
	file->path = path;
	file->fd = r < 0 ? r : rd_open_for_update(path, err);
	r = file->fd < 0 ? file->fd : check_contents(file->fd, file->format, path, err);
	if (!r && ftruncate(file->fd, 0) < 0)
		r = rd_err_set(err, errno, path, "cannot write");
	if (r < 0)
		counters_file_close(file);
	else
		*ret = file;
	return r;
}

void counters_file_close(struct counters_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n; i++)
		RD_FREE(file->series[i].device, file->series[i].netdev, file->series[i].group, file->series[i].name);
	RD_FREE(file->series, file->of_counter, file->of_port, file->there);
	rd_buf_deinit(&file->out);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

static void begin_sample(struct counters_file *file, uint64_t time_ns)
{
	if (!file->headed) {
		_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

		rd_output_init(file->ctx, &report);
		if (file->format != JSONL)
			rd_buf_str(&file->out, heads[file->format]);
		if (file->format == TRACE_JSON) {
			add_json(&file->out, report.host);
			rd_buf_str(&file->out, "}}");
		}
		file->headed = true;
	}
	if (file->lost) {
		_cleanup_free_ char *lost =
			rd_text("%" PRIu64 " samples were lost: no space to write them", file->lost);

		add_mark(file, time_ns, NULL, lost);
	}
}

/* Writes the current sample; if that fails, truncates the file to its last whole one. */
static void write_sample(struct counters_file *file)
{
	int r = rd_write_all(file->fd, file->out.data, file->out.len);

	if (r < 0) {
		if (!file->refused)
			rd_warn(file->ctx, "%s: cannot write: %s; samples are dropped until writing succeeds",
				file->path, rd_errno_text(-r));
		file->lost++;
		file->lost_in_all++;
		if (ftruncate(file->fd, (off_t)file->size) < 0 || lseek(file->fd, (off_t)file->size, SEEK_SET) < 0)
			rd_verbose(file->ctx, "%s: cannot remove a partial sample: %s", file->path,
				   rd_errno_text(errno));
		file->headed = file->size > 0;
		for (size_t i = 0; i < file->n; i++)
			file->series[i].written = file->series[i].defined = false;
	} else {
		file->size += file->out.len;
		file->samples++;
		if (file->refused)
			rd_warn(file->ctx, "%s: recording continues; %" PRIu64 " samples were lost", file->path,
				file->lost);
		file->lost = 0;
	}
	file->refused = r < 0;
	file->out.len = 0;
}

/* ---- samples */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return rd_hash(hash, text ?: "", text ? strlen(text) + 1 : 1);
}

/* Index of the series with this name, created if missing. SIZE_MAX when there are too many. */
static size_t series_of(struct counters_file *file, const struct rd_counter_port *port, const char *netdev,
			const char *group, const char *name)
{
	uint64_t key =
		hash_text(hash_text(hash_text(hash_text(RD_HASH, port->ibdev), netdev), group), name) + port->port;
	size_t first = 0;

	for (size_t i = 0; i < file->n; i++)
		if (file->series[i].key == key)
			return i;
	if (file->n >= SERIES_MAX)
		return SIZE_MAX;
	while (first < file->n &&
	       (file->series[first].port != port->port || strcmp(file->series[first].device, port->ibdev) != 0))
		first++;
	*RD_ADD(file->series, file->n, file->cap) = (struct series){ .device = rd_dup(port->ibdev),
								     .netdev = rd_dup_if(netdev),
								     .group = rd_dup(group),
								     .name = rd_dup(name),
								     .port = port->port,
								     .key = key,
								     .first = first };
	return file->n - 1;
}

/* Adds a point unless it is as last written. A counter that stopped changing is written once more. */
static void add_point(struct counters_file *file, size_t at, const struct point *point, uint64_t time_ns)
{
	struct series *series = &file->series[at];
	const struct point *last = &series->last;
	double shown;

	if (series->written && last->known == point->known && last->moved == point->moved &&
	    (!point->known || (last->count == point->count && last->value == point->value)))
		return;
	series->written = true;
	series->last = *point;
	if (file->format != TRACE_JSON)
		add_row(file, series, point, time_ns);
	else if (shown_value(point, &shown))
		add_trace_point(file, series, shown, time_ns);
}

static void add_counter(struct counters_file *file, const struct counters *c, size_t i)
{
	const struct rd_counter_value *value = &c->now.sample.values[i];
	const struct rd_delta *delta = &c->deltas[i];
	bool has_delta = delta->kind != RD_DELTA_UNKNOWN, gauge = c->now.set->counters[i].overflow == RD_GAUGE;
	struct point point = { .known = value->known == RD_OK,
			       .moved = has_delta && delta->v,
			       .exact = !gauge,
			       .note = rd_delta_note_name(delta->note) };

	if (point.known) {
		point.count = value->v;
		point.value = gauge ? (double)value->v : 0;
	}
	if (has_delta && !gauge) {
		RD_SET(point.delta, delta->v);
		point.at_least = delta->kind == RD_DELTA_AT_LEAST;
		if (c->seconds > 0)
			RD_SET(point.per_second, (double)delta->v / c->seconds);
	}
	add_point(file, file->of_counter[i], &point, c->now.sample.realtime_ns);
}

static void add_rate(struct counters_file *file, size_t at, bool known, double value, uint64_t time_ns)
{
	if (at != SIZE_MAX)
		add_point(file, at, &(struct point){ .known = known, .moved = value != 0, .value = value }, time_ns);
}

/* Finds the series of a new set of counters. */
static void take_set(struct counters_file *file, const struct counters_watch *w)
{
	const struct rd_counter_set *set = w->c->now.set;

	RD_FREE(file->of_counter, file->of_port, file->there);
	file->of_counter = rd_alloc(set->n, sizeof(*file->of_counter));
	file->of_port = rd_alloc(2 * set->n_ports, sizeof(*file->of_port));
	file->there = rd_alloc(set->n_ports + 1, sizeof(*file->there));
	for (size_t p = 0; p < set->n_ports; p++) {
		const struct rd_counter_port *port = &set->ports[p];
		bool wanted = port->port && w->ports[p];

		file->there[p] = true;
		file->of_port[2 * p] = wanted ? series_of(file, port, NULL, "rate", "tx_gbps") : SIZE_MAX;
		file->of_port[2 * p + 1] = wanted ? series_of(file, port, NULL, "rate", "rx_gbps") : SIZE_MAX;
	}
	for (size_t i = 0; i < set->n; i++) {
		const struct rd_counter *counter = &set->counters[i];
		_cleanup_free_ char *name =
			rd_text(counter->group == RD_GROUP_QP ? "%s[%u]" : "%s", counter->name, counter->counter);

		file->of_counter[i] = w->selected[i] ? series_of(file, &set->ports[counter->port], counter->netdev,
								 rd_counter_group_name(counter->group), name) :
						       SIZE_MAX;
	}
	file->set = set;
}

/* Adds the last sample. Write errors are reported. */
void counters_file_add(struct counters_file *file, const struct counters_watch *w)
{
	const struct counters *c = w->c;
	uint64_t time_ns = c->now.sample.realtime_ns;

	if (file->set != c->now.set)
		take_set(file, w);
	begin_sample(file, time_ns);
	/* Marks ports that were removed, or are present again. */
	for (size_t p = 0; p < c->now.set->n_ports; p++) {
		bool *there = &file->there[p], now = c->now.sample.states[p].there;

		if (*there != now)
			add_mark(file, time_ns, &c->now.set->ports[p], now ? "there again" : "gone");
		*there = now;
	}
	for (size_t i = 0; i < w->findings.n; i++) {
		_cleanup_free_ char *text = rd_text("%s: %s", w->findings.v[i].subject, w->findings.v[i].title);

		add_mark(file, time_ns, NULL, text);
	}
	for (size_t p = 0; w->interval && p < w->rates.n; p++) {
		const struct rd_port_rate *rate = &w->rates.ports[p];

		add_rate(file, file->of_port[2 * p], rate->tx_gbps.known == RD_OK, rate->tx_gbps.v, time_ns);
		add_rate(file, file->of_port[2 * p + 1], rate->rx_gbps.known == RD_OK, rate->rx_gbps.v, time_ns);
	}
	for (size_t i = 0; i < c->now.set->n; i++)
		if (file->of_counter[i] != SIZE_MAX)
			add_counter(file, c, i);
	write_sample(file);
}

int counters_file_finish(struct counters_file *file, struct rd_err *err)
{
	rd_buf_str(&file->out, file->format == TRACE_JSON ? "]\n" : "");
	write_sample(file);
	file->samples -= !file->refused; /* the end of the file is not a sample */
	if (!file->refused && fsync(file->fd) < 0)
		return rd_err_set(err, errno, file->path, "cannot write");
	if (file->lost_in_all)
		return rd_err_set(err, ENOSPC, file->path, "%" PRIu64 " of %" PRIu64 " samples could not be written",
				  file->lost_in_all, file->lost_in_all + file->samples);
	rd_warn(file->ctx, "%s: %" PRIu64 " samples of %zu series, %" PRIu64 " bytes", file->path, file->samples,
		file->n, file->size);
	return 0;
}
