/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters --record: a file that may grow for hours. A counter is written only when it differs from the last value in the file,
 * so memory and disk usage depend on events, not on time. Nothing ends a recording: removal of a device is marked, and samples
 * for which the disk has no space are lost and reported; once there is space again, the next sample is complete.
 */
#include "counters-watch.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/record-file.h"

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

static void track_deinit(struct track *track)
{
	free((char *)track->series.device);
	free((char *)track->series.netdev);
	free((char *)track->series.group);
	free((char *)track->series.name);
}

void counters_file_close(struct counters_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n; i++)
		track_deinit(&file->tracks[i]);
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
	int r;

	r = record_file_open(ctx, path, &file->to, err);
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

/* Maps a new set of counters to the tracks of the file. */
static void take_set(struct counters_file *file, const struct rd_counter_set *set, const bool *selected,
		     const bool *ports)
{
	free(file->of_counter);
	free(file->of_port);
	free(file->there);
	file->of_counter = rd_alloc(set->n, sizeof(*file->of_counter));
	file->of_port = rd_alloc(2 * set->n_ports, sizeof(*file->of_port));
	file->there = rd_alloc(set->n_ports + 1, sizeof(*file->there));
	for (size_t p = 0; p < set->n_ports; p++) {
		const struct rd_counter_port *port = &set->ports[p];
		bool wanted = port->port && ports[p];

		file->there[p] = true;
		file->of_port[2 * p] = wanted ? track_of(file, port, NULL, "rate", "tx_gbps") : SIZE_MAX;
		file->of_port[2 * p + 1] = wanted ? track_of(file, port, NULL, "rate", "rx_gbps") : SIZE_MAX;
	}
	for (size_t i = 0; i < set->n; i++) {
		const struct rd_counter *counter = &set->counters[i];
		char name[256];

		file->of_counter[i] = selected[i] ? track_of(file, &set->ports[counter->port], counter->netdev,
							     rd_counter_group_name(counter->group),
							     name_of(counter, name, sizeof(name))) :
						    SIZE_MAX;
	}
	file->set = set;
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

static void mark_finding(struct counters_file *file, uint64_t time_ns, const struct rd_finding *finding)
{
	_cleanup_free_ char *text = rd_text("%s: %s", finding->subject, finding->title);

	mark_event(file, time_ns, NULL, text);
}

/* Marks ports that were removed, or are present again. */
static void mark_ports(struct counters_file *file, const struct counters *c)
{
	for (size_t p = 0; p < c->now.set->n_ports; p++) {
		bool *there = &file->there[p], now = c->now.sample.states[p].there;

		if (*there != now)
			mark_event(file, c->now.sample.realtime_ns, &c->now.set->ports[p], now ? "there again" : "gone");
		*there = now;
	}
}

void counters_file_add(struct counters_file *file, const struct counters_watch *w)
{
	const struct counters *c = w->c;

	if (file->set != c->now.set)
		take_set(file, c->now.set, w->selected, w->ports);
	record_file_begin(&file->to, c->now.sample.realtime_ns);
	mark_ports(file, c);
	for (size_t i = 0; i < w->findings.n; i++)
		mark_finding(file, c->now.sample.realtime_ns, &w->findings.v[i]);
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
