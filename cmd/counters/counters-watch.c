/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --watch: samples at intervals, printed, recorded, until a condition holds. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyse/counters/causes.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/record-file.h"
#include "counters.h"
#include "report/counters/report-counters.h"
#include "report/shared/finding.h"

/*
 * counters --record: a file that may grow for hours. A counter is written only when it differs from the last value in the file,
 * so memory and disk usage depend on events, not on time. Nothing ends a recording: removal of a device is marked, and samples
 * for which the disk has no space are lost and reported; once there is space again, the next sample is complete.
 */

/* Series of a file: far more than a host has, even if counters are bound and unbound all the time. */
#define SERIES_MAX 65536

struct track {
	struct rd_series series; /* its text is owned */
	uint64_t key;		 /* hash of device, port, interface, group and name */
	bool defined, written;	 /* in the file */
	bool known, moved;	 /* as last written */
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

static void counters_file_close(struct counters_file *file)
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
		rd_series_define(file->to.format, &track->series, &file->to.out);
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
static void add_point(struct counters_file *file, struct track *track, const struct rd_point *point)
{
	if (!rd_series_shows(file->to.format, point))
		return;
	define_track(file, track);
	rd_series_point(file->to.format, &track->series, point, &file->to.out);
}

static void add_counter(struct counters_file *file, const struct counters *c, size_t i)
{
	const struct rd_counter_value *value = &c->now.sample.values[i];
	const struct rd_delta *delta = &c->deltas[i];
	struct track *track = &file->tracks[file->of_counter[i]];
	bool known = value->known == RD_OK, has_delta = delta->kind != RD_DELTA_UNKNOWN;
	struct rd_point point = { .time_ns = c->now.sample.realtime_ns, .note = rd_delta_note_name(delta->note) };

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
	struct rd_point point = { .time_ns = c->now.sample.realtime_ns };
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
	rd_series_mark(file->to.format, time_ns, port ? port->ibdev : NULL, port ? port->port : 0, what, &file->to.out);
}

/* Adds the last sample. Write errors are reported. */
static void counters_file_add(struct counters_file *file, const struct counters_watch *w)
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

/* counters --until 'NAME>N': prints a line with the time for each increase of the counter; ends once the total exceeds N. */

struct counters_until {
	char *name; /* pattern */
	uint64_t more_than;
	bool per_second;
	bool announced; /* that it is waiting */
	uint64_t total; /* increase since the start, of all matching counters */
};

static int counters_until_create(const char *condition, struct counters_until **ret, struct rd_err *err)
{
	struct counters_until *until = rd_alloc(1, sizeof(*until));
	const char *sign = strchr(condition, '>'), *number = sign ? sign + 1 : NULL;
	bool equal = number && *number == '=', good = false;

	if (sign && sign > condition) {
		number += equal;
		number += strspn(number, " ");
		good = rd_take_uint(&number, RD_DECIMAL, UINT64_MAX, &until->more_than) == 0;
		until->per_second = good && strcmp(number, "/s") == 0;
	}
	if (!good || (*number && !until->per_second) || (equal && until->more_than == 0)) {
		free(until);
		rd_err_set(err, EINVAL, "--until", "invalid condition '%s'", condition);
		rd_err_hint(err, "use NAME>N, NAME>=N or NAME>N/s; for example --until 'link_downed>0'");
		return -EINVAL;
	}
	until->more_than -= equal;
	until->name = rd_text("%.*s", (int)(sign - condition), condition);
	rd_trim(until->name);
	*ret = until;
	return 0;
}

enum { TIME, IBDEV, PORT, NETDEV, GROUP, NAME, DELTA, TOTAL, REACHED, COLUMNS };

static const struct rd_column until_columns[COLUMNS] = {
	[TIME] = { "time", "TIME", RD_T_TIME, "time of the sample" },
	[IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[PORT] = { "port", "PORT", RD_T_UINT, "port number" },
	[NETDEV] = { "netdev", "NETDEV", RD_T_STR, "network interface", .hidden = true },
	[GROUP] = { "group", "GROUP", RD_T_STR, "source of the counter", .hidden = true },
	[NAME] = { "name", "NAME", RD_T_STR, "name of the counter" },
	[DELTA] = { "delta", "DELTA", RD_T_UINT, "increase since the previous sample" },
	[TOTAL] = { "total", "TOTAL", RD_T_UINT, "increase of all matching counters since the start" },
	[REACHED] = { "reached", "REACHED", RD_T_BOOL, "whether this ends the wait" },
};

static int print_increase(const struct counters_until *until, const struct counters_watch *w, size_t i, bool reached)
{
	const struct counters *c = w->c;
	const struct rd_counter *counter = &w->set->counters[i];
	const struct rd_counter_port *port = &w->set->ports[counter->port];
	struct rd_section *section = rd_section_create("until", until_columns, COLUMNS);
	struct rd_row *row = rd_section_add(section);
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_row_uint(row, TIME, c->now.sample.realtime_ns);
	rd_row_str(row, IBDEV, port->ibdev);
	if (port->port)
		rd_row_uint(row, PORT, port->port);
	rd_row_str(row, NETDEV, counter->netdev);
	rd_row_str(row, GROUP, rd_counter_group_name(counter->group));
	rd_row_str(row, NAME, counter->name);
	rd_row_uint(row, DELTA, c->deltas[i].v);
	rd_row_uint(row, TOTAL, until->total);
	rd_row_bool(row, REACHED, reached);
	if (c->ctx->globals.json) {
		rd_render_json_row(section, 0, &out);
	} else {
		char label[96];

		rd_counter_port_label(port, label, sizeof(label));
		rd_render_cell(&until_columns[TIME], &row->cells[TIME], &out);
		rd_buf_str(&out, " ");
		rd_buf_safe(&out, label, strlen(label));
		rd_buf_str(&out, " ");
		rd_buf_safe(&out, counter->name, strlen(counter->name));
		rd_buf_printf(&out, " +%" PRIu64 ", %" PRIu64 " in all%s\n", c->deltas[i].v, until->total,
			      reached ? ": reached" : "");
	}
	rd_section_destroy(section);
	return rd_out(&out);
}

static bool is_reached(const struct counters_until *until, uint64_t delta, double seconds)
{
	if (until->per_second)
		return seconds > 0 && (double)delta / seconds > (double)until->more_than;
	return until->total > until->more_than;
}

/* Counters of the port and of its driver with the same name count the same events: the first is used. */
static bool counted_before(const struct counters_watch *w, size_t i)
{
	const struct rd_counter *counter = &w->set->counters[i];

	for (size_t j = 0; j < i; j++) {
		const struct rd_counter *other = &w->set->counters[j];

		if (other->port == counter->port && other->group != counter->group && w->selected[j] &&
		    strcmp(other->name, counter->name) == 0)
			return true;
	}
	return false;
}

/* Prints the increases of the last interval. 1: the condition is met, 0: not yet, or -errno. */
static int counters_until_check(struct counters_until *until, const struct counters_watch *w, struct rd_err *err)
{
	const struct counters *c = w->c;
	size_t fit = 0;
	int reached = 0;

	for (size_t i = 0; i < w->set->n; i++) {
		const struct rd_delta *delta = &c->deltas[i];
		int r;

		if (!(w->selected[i] && fnmatch(until->name, w->set->counters[i].name, 0) == 0 && !counted_before(w, i)))
			continue;
		fit++;
		if (!w->interval || delta->kind == RD_DELTA_UNKNOWN || delta->v == 0)
			continue;
		until->total += delta->v;
		if (is_reached(until, delta->v, c->seconds))
			reached = 1;
		r = until->per_second && !reached ? 0 : print_increase(until, w, i, reached);
		if (r < 0)
			return r;
	}
	if (fit == 0 && w->set->n_ports > 0) {
		rd_err_set(err, ENOENT, until->name, "no counter has this name");
		rd_err_hint(err, "list counters with rdmadiag counters");
		return -ENOENT;
	}
	if (!until->announced)
		rd_warn(c->ctx, "waiting for %s: %zu matching counters", until->name, fit);
	until->announced = true;
	return reached;
}

/* Repeated sampling. Memory and open files are reused: there may be ten samples per second. */

#define DEFAULT_SECONDS 1.0
#define EVENTS_MAX 1000 /* far more than an operator reads */

void counters_watch_init(struct counters_watch *w, struct counters *c, double seconds)
{
	*w = (struct counters_watch){ .c = c };
	rd_ticks_init(&w->ticks, seconds > 0 ? seconds : DEFAULT_SECONDS);
}

void counters_watch_deinit(struct counters_watch *w)
{
	rd_rates_deinit(&w->rates);
	rd_findings_deinit(&w->findings);
	rd_findings_deinit(&w->events);
	rd_counter_sample_deinit(&w->first);
	free(w->selected);
	free(w->ports);
}

int counters_advance(struct counters_watch *w, struct rd_err *err)
{
	struct counters *c = w->c;
	int r;

	if (c->now.set)
		counters_keep_before(c);
	r = counters_sample(c, c->ctx->source, err);
	if (r < 0)
		return r;
	if (c->now.set != w->set) {
		/* Devices were added or removed: keeps the state of the remaining ones. */
		struct rd_rates rates;
		const struct rd_counter_sample *now = &w->c->now.sample;
		struct rd_counter_value *values;
		struct rd_counter_state *states;
		const struct rd_counter_set *set;

		rd_rates_init(&rates, w->c->now.set);
		if (w->set)
			rd_rates_carry(&rates, w->c->now.set, &w->rates, w->set);
		rd_rates_deinit(&w->rates);
		w->rates = rates;
		set = w->c->now.set;
		free(w->selected);
		free(w->ports);
		w->selected = rd_alloc(set->n + 1, sizeof(*w->selected));
		w->ports = rd_alloc(set->n_ports + 1, sizeof(*w->ports));
		for (size_t p = 0; p < set->n_ports; p++)
			w->ports[p] = counters_port_matches(w->c, &set->ports[p]);
		for (size_t i = 0; i < set->n; i++)
			w->selected[i] = w->ports[set->counters[i].port] && counters_match(w->c, &set->counters[i]);
		free(w->c->deltas);
		w->c->deltas = rd_alloc(w->c->now.set->n + 1, sizeof(*w->c->deltas));
		w->set = w->c->now.set;
		rd_counter_sample_fit(&w->first, w->c->now.set);
		values = w->first.values;
		states = w->first.states;
		memcpy(values, now->values, now->n * sizeof(*values));
		memcpy(states, now->states, now->n_ports * sizeof(*states));
		w->first.realtime_ns = now->realtime_ns;
		w->first.monotonic_ns = now->monotonic_ns;
		memcpy(w->first.boot_id, now->boot_id, sizeof(w->first.boot_id));
	}
	w->interval = c->before.set;
	if (w->interval && counters_need_meanings(c, err) < 0)
		return -err->code;
	if (w->interval) {
		const struct rd_counted before = { c->before.set, &c->before.sample },
					now = { c->now.set, &c->now.sample };

		rd_deltas(&before, &now, c->deltas);
		c->seconds = rd_moments_seconds(&before, &now);
		rd_rates_update(&w->rates, c->now.set, c->deltas, c->seconds);
		rd_findings_deinit(&w->findings);
		rd_rates_findings(&w->rates, c->now.set, &c->now.sample, &w->findings);
		for (size_t i = 0; i < w->findings.n && w->events.n < EVENTS_MAX; i++)
			rd_finding_copy(&w->events, &w->findings.v[i]);
	}
	return 0;
}

/* counters -i: rates of each interval, or changes; recordings; waiting. */

static const struct counters_opts *opts_of(const struct counters_watch *w)
{
	return w->c->ctx->state;
}

/* Counters to show for an interval: those selected that changed, or with --nonzero are not 0. */
static bool *shown_counters(const struct counters_watch *w)
{
	const struct counters_opts *opts = opts_of(w);
	bool *shown = rd_alloc(w->set->n + 1, sizeof(*shown));

	for (size_t i = 0; i < w->set->n; i++) {
		const struct rd_delta *delta = &w->c->deltas[i];
		const struct rd_counter_value *value = &w->c->now.sample.values[i];
		bool moved = (delta->kind != RD_DELTA_UNKNOWN && delta->v) ||
			     (delta->note != RD_NOTE_NONE && delta->note != RD_NOTE_UNREAD);

		shown[i] = w->selected[i] &&
			   (moved || (opts->nonzero && !opts->changed && value->known == RD_OK && value->v));
	}
	return shown;
}

static void print_time(const struct counters_watch *w, const struct rd_report *report)
{
	time_t seconds = (time_t)(report->time / 1000000000u);
	_cleanup_buf_ struct rd_buf out = { 0 };
	char text[32];
	struct tm tm;

	if (w->c->ctx->globals.rows_only || !localtime_r(&seconds, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	rd_buf_printf(&out, "\n%s.%03u, %.3f s", text, (unsigned)(report->time % 1000000000u / 1000000), w->c->seconds);
	if (w->ticks.missed)
		rd_buf_printf(&out, ", %" PRIu64 " intervals missed so far", w->ticks.missed);
	rd_buf_str(&out, "\n");
	rd_out(&out);
}

static int print_interval(const struct counters_watch *w)
{
	struct rd_ctx *ctx = w->c->ctx;
	const struct counters_opts *opts = opts_of(w);
	/* If counters were selected they are shown; otherwise the traffic of ports. */
	bool first_counters = opts->filter || opts->groups || opts->changed || opts->nonzero;
	_cleanup_free_ bool *shown = shown_counters(w);
	const struct rd_counters_shown counters = { .set = w->set,
						    .now = &w->c->now.sample,
						    .deltas = w->c->deltas,
						    .seconds = w->c->seconds,
						    .selected = shown };
	struct rd_report report;
	int r;

	rd_output_init(ctx, &report);
	report.time = w->c->now.sample.realtime_ns;
	if (first_counters)
		rd_report_add(&report, rd_counters_section(&counters));
	rd_report_add(&report, rd_rates_section(&w->rates, w->set, &w->c->now.sample, w->ports));
	if (!first_counters && w->c->ctx->globals.json)
		rd_report_add(&report, rd_counters_section(&counters));
	rd_report_add_findings(&report, &w->findings);
	if (rd_metrics_wanted(w->c->ctx))
		rd_report_counter_metrics(&report, w->set, &w->c->now.sample, w->selected);
	if (!ctx->globals.json && !ctx->globals.textfile)
		print_time(w, &report);
	if (!ctx->globals.json) {
		/* Between tables findings would scroll away: they are printed to standard error, too, with their time. */
		for (size_t i = 0; i < w->findings.n; i++) {
			const struct rd_finding *finding = &w->findings.v[i];

			rd_warn(w->c->ctx, "%s: %s: %s; before: %s", finding->subject, finding->title,
				finding->observed ? finding->observed : "", finding->expected ? finding->expected : "");
		}
	}
	r = rd_output_print(ctx, &report);
	rd_report_deinit(&report);
	return r;
}

/* The summary, from the first sample to the last: likely causes, and the number of missed intervals. */
static int finish(struct counters_watch *w, uint64_t looks)
{
	static const struct rd_column columns[] = {
		{ "seconds", "SECONDS", RD_T_DOUBLE, "seconds from the first sample to the last", 3, false },
		{ "looks", "LOOKS", RD_T_UINT, "number of intervals", 0, false },
		{ "missed", "MISSED", RD_T_UINT, "intervals missed because a sample took too long", 0, false },
	};
	struct counters *c = w->c;
	const struct rd_counted first = { w->set, &w->first }, last = { w->set, &c->now.sample };
	const struct counters_opts *opts = opts_of(w);
	struct rd_ctx *ctx = c->ctx;
	struct rd_report report;
	struct rd_row *row;
	double seconds = rd_moments_seconds(&first, &last);
	int r = 0;

	rd_deltas(&first, &last, c->deltas);
	rd_causes_deinit(&c->causes);
	rd_causes_find(&first, &last, c->deltas, seconds, &c->causes);
	ctx->schema = "rdmadiag/counters-summary/1";
	rd_output_init(ctx, &report);
	report.scalars = rd_section_create("summary", columns, RD_ARRAY_SIZE(columns));
	row = rd_section_add(report.scalars);
	rd_row_double(row, 0, seconds);
	rd_row_uint(row, 1, looks);
	rd_row_uint(row, 2, w->ticks.missed);
	rd_report_add_findings(&report, &w->events);
	rd_report_add_findings(&report, &c->causes.findings);
	if (opts->fail)
		report.status = rd_report_judge(&report);
	for (size_t i = 0; i < c->errors.n; i++)
		rd_errlist_add(&report.errors, &c->errors.v[i]);
	if (r < 0) {
		r = RD_EXIT_UNKNOWN;
	} else if (ctx->globals.json) {
		r = rd_output_print(ctx, &report);
	} else if (!ctx->globals.textfile) {
		_cleanup_buf_ struct rd_buf out = { 0 };

		rd_output_findings(ctx, &report, &out);
		rd_out_beside(ctx, &out);
		if (w->ticks.missed)
			rd_warn(ctx, "%" PRIu64 " intervals were missed: samples took too long", w->ticks.missed);
		r = report.status;
	}
	rd_report_deinit(&report);
	return r;
}

struct outputs {
	struct counters_file *file;
	struct counters_until *until;
};

static void outputs_deinit(struct outputs *to)
{
	counters_file_close(to->file);
	if (!to->until)
		return;
	free(to->until->name);
	free(to->until);
}

static int open_outputs(const struct counters_watch *w, struct outputs *to, struct rd_err *err)
{
	const struct counters_opts *opts = opts_of(w);
	int r = 0;

	if (opts->until)
		r = counters_until_create(opts->until, &to->until, err);
	if (!r && opts->record) {
		struct counters_file **ret = &to->file;
		struct counters_file *file = rd_alloc(1, sizeof(*file));

		r = record_file_open(w->c->ctx, opts->record, &file->to, err);
		if (r < 0)
			counters_file_close(file);
		else
			*ret = file;
	}
	return r;
}

/* Takes one sample and passes it on. 1: the condition of --until is met. */
static int run_interval(struct counters_watch *w, struct outputs *to, struct rd_err *err)
{
	struct rd_ctx *ctx = w->c->ctx;
	int r = counters_advance(w, err), reached = 0;

	if (!r && to->file)
		counters_file_add(to->file, w);
	if (!r && to->until)
		r = reached = counters_until_check(to->until, w, err);
	if (r < 0)
		return r;
	/* A recording and a wait print their own messages. */
	if (ctx->globals.textfile || (w->interval && !to->until && (!to->file || ctx->globals.json)))
		print_interval(w);
	return reached;
}

/* The reader closed the pipe, or nothing more can be written: main reports which. */
static bool output_failed(void)
{
	const struct rd_buf nothing = { 0 };

	return rd_out(&nothing) < 0;
}

static int run_intervals(struct counters_watch *w, struct outputs *to, uint64_t *looks, struct rd_err *err)
{
	const struct counters_opts *opts = opts_of(w);
	int r = 0;

	/* A short first interval would show only noise; waiting long for its start would look like a hang. */
	if (w->ticks.interval_ns <= 1000000000u && rd_ticks_wait(&w->ticks) < 0)
		return 0;
	r = run_interval(w, to, err);
	while (!r && !rd_ticks_stopped() && !output_failed() && (!opts->repeat.count || *looks < opts->repeat.count)) {
		if (rd_ticks_wait(&w->ticks) < 0)
			break;
		r = run_interval(w, to, err);
		*looks += w->interval;
	}
	return r;
}

int counters_watch(struct counters *c)
{
	const struct counters_opts *opts = c->ctx->state;
	_cleanup_(outputs_deinit) struct outputs to = { 0 };
	_cleanup_(counters_watch_deinit) struct counters_watch w;
	struct rd_err err = { 0 };
	uint64_t looks = 0;
	int r;

	counters_watch_init(&w, c, opts->repeat.seconds);
	r = open_outputs(&w, &to, &err);
	if (r == -EINVAL)
		return rd_fail_usage(c->ctx->cmd, &err);
	if (!r) {
		c->ctx->lines = true;
		rd_ticks_catch_signals();
		r = run_intervals(&w, &to, &looks, &err);
	}
	/* Ends the file: -errno with `err` filled if samples are missing in it. */
	if (r >= 0 && to.file && record_file_finish(&to.file->to, to.file->n, &err) < 0)
		r = -err.code;
	if (r < 0)
		return rd_fail(c->ctx, &err);
	if (to.until)
		return r == 1 ? RD_EXIT_OK : RD_EXIT_WARNING;
	return w.set ? finish(&w, looks) : RD_EXIT_OK;
}
