/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric-record.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/fabric/fabric-rates.h"

int fabric_record_open(struct rd_ctx *ctx, const char *path, struct fabric_record *record, struct rd_err *err)
{
	*record = (struct fabric_record){ 0 };
	return record_file_open(ctx, path, &record->to, err);
}

void fabric_record_close(struct fabric_record *record)
{
	for (size_t i = 0; i < record->n; i++) {
		free(record->ports[i].device);
		free(record->ports[i].tracks);
	}
	free(record->ports);
	record_file_close(&record->to);
	*record = (struct fabric_record){ .to.fd = -1 };
}

static uint64_t key_of(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return rd_hash(rd_hash(RD_HASH, &fabric->nodes[port->node].guid, sizeof(uint64_t)), &port->number,
		       sizeof(port->number));
}

static int by_key(const void *a, const void *b)
{
	const struct fabric_recorded *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void add_port(struct fabric_record *record, const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	struct fabric_recorded *new;

	rd_reserve(&record->ports, &record->cap, record->n + 1, sizeof(*record->ports));
	new = &record->ports[record->n];
	*new = (struct fabric_recorded){
		.key = key_of(fabric, port),
		.id = record->n,
		.first = RD_NONE,
		.device = rd_text("%s 0x%016" PRIx64, rd_fabric_name(node), node->guid),
		.tracks = rd_alloc(record->n_values + 1, sizeof(*new->tracks)),
	};
	record->n++;
}

/* Adds ports that were not in an earlier sweep. */
static void add_new_ports(struct fabric_record *record, const struct rd_fabric *fabric)
{
	size_t known = record->n;

	record->n_values = fabric->n_values;
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].selected &&
		    !rd_find_u64(record->ports, known, sizeof(*record->ports), key_of(fabric, &fabric->ports[i])))
			add_port(record, fabric, &fabric->ports[i]);
	if (record->n > known)
		qsort(record->ports, record->n, sizeof(*record->ports), by_key);
}

static struct rd_series series_of(const struct fabric_record *record, const struct fabric_recorded *to, unsigned port,
				  size_t counter)
{
	uint64_t base = RECORD_FIRST_ID + (uint64_t)to->id * record->n_values;

	return (struct rd_series){
		.id = base + counter,
		.first = base + (to->first == RD_NONE ? counter : to->first),
		.device = to->device,
		.group = "fabric",
		.name = rd_pma_counters[counter].name,
		.port = port,
	};
}

static void add_point(struct fabric_record *record, struct fabric_recorded *to, const struct rd_fabric *fabric,
		      const struct rd_fabric_port *port, size_t counter, uint64_t time_ns)
{
	struct fabric_track *track = &to->tracks[counter];
	struct rd_point point = { .time_ns = time_ns };
	struct rd_pma_value value = { 0 };
	bool known = port->fresh && rd_fabric_value(fabric, port, counter, &value);
	struct rd_series series;
	uint64_t delta = 0;
	double seconds = 0;
	bool has_delta = known && rd_fabric_delta(fabric, port, counter, &delta, &seconds);

	if (!known && !track->written)
		return; /* no value so far */
	if (track->written && track->known == known && track->value == value.v && track->increased == (delta > 0))
		return;
	*track = (struct fabric_track){ track->defined, true, known, delta > 0, value.v };
	if (known) {
		RD_SET(point.count, value.v);
		point.at_least = rd_pma_saturated(&value);
	} else {
		point.note = "not read";
	}
	if (has_delta) {
		RD_SET(point.delta, delta);
		RD_SET(point.per_second, (double)delta / seconds);
	}
	if (!rd_series_shows(record->to.format, &point))
		return;
	if (to->first == RD_NONE)
		to->first = counter;
	series = series_of(record, to, port->number, counter);
	if (!track->defined) {
		rd_series_define(record->to.format, &series, &record->to.out);
		track->defined = true;
		record->series++;
	}
	rd_series_point(record->to.format, &series, &point, &record->to.out);
}

static void mark_presence(struct fabric_record *record, struct fabric_recorded *to, const struct rd_fabric_port *port,
			  uint64_t time_ns)
{
	static const char *const words[] = {
		[RD_PORT_PRESENT] = "present again", [RD_PORT_NEW] = "new",   [RD_PORT_REPLACED] = "replaced",
		[RD_PORT_MOVED] = "LID changed",     [RD_PORT_GONE] = "gone", [RD_PORT_UNREACHED] = "not reached",
	};

	if (to->presence != port->presence && (port->presence != RD_PORT_PRESENT || to->presence == RD_PORT_GONE))
		rd_series_mark(record->to.format, time_ns, to->device, port->number, words[port->presence],
			       &record->to.out);
	to->presence = port->presence;
}

void fabric_record_add(struct fabric_record *record, const struct rd_fabric *fabric, uint64_t time_ns)
{
	add_new_ports(record, fabric);
	record_file_begin(&record->to, time_ns);
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];
		struct fabric_recorded *to =
			rd_find_u64(record->ports, record->n, sizeof(*record->ports), key_of(fabric, port));

		if (!to)
			continue;
		mark_presence(record, to, port, time_ns);
		for (size_t k = 0; k < record->n_values; k++)
			add_point(record, to, fabric, port, k, time_ns);
	}
	if (record_file_write(&record->to))
		return;
	for (size_t i = 0; i < record->n; i++) {
		record->ports[i].first = RD_NONE;
		memset(record->ports[i].tracks, 0, record->n_values * sizeof(*record->ports[i].tracks));
	}
}

int fabric_record_finish(struct fabric_record *record, struct rd_err *err)
{
	return record_file_finish(&record->to, record->series, err);
}
