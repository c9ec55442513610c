/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric-record.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/fabric/fabric.h"

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

/* Octets of a MAD on the link that data counters count, in their unit of four: LRH, BTH, DETH, 256 octets and ICRC. */
#define MAD_DATA ((8 + 12 + 8 + 256 + 4) / 4)
/* SMPs of a walk to one adapter: NodeInfo, NodeDescription, PortInfo, extended speeds, NodeInfo by LID; each tried three times. */
#define WALK_MADS 15

/* The adapter's port at an end of the link, to whose LID all of our MADs on the link go; NULL: others can pass, too. */
static const struct rd_fabric_port *adapter_at(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &fabric->ports[port->peer];
	const struct rd_fabric_port *self = fabric->self == RD_NONE ? NULL : &fabric->ports[fabric->self];

	if (port == self || peer == self || !self)
		return NULL;
	if (fabric->nodes[port->node].kind == RD_NODE_CA)
		return port;
	return peer && fabric->nodes[peer->node].kind == RD_NODE_CA ? peer : NULL;
}

/* Adds our own MADs of the latest sweep, and of a walk before it, that can have passed the port; returns those since the reading
 * before its values. */
static uint64_t count_own(const struct fabric_record *record, struct fabric_recorded *to,
			  const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *adapter = adapter_at(fabric, port);
	bool walked = fabric->discovered_ns != record->discovered_ns;
	uint64_t start = to->passed, own;

	if (adapter)
		to->passed += adapter->mads + (walked ? WALK_MADS : 0);
	else
		to->passed += fabric->sweep.sent + (walked ? fabric->walk.sent : 0);
	own = to->passed - to->passed_before;
	if (port->fresh)
		to->passed_before = start;
	return own;
}

static bool is_traffic(size_t counter)
{
	return rd_pma_counters[counter].kind == RD_PMA_DATA || rd_pma_counters[counter].kind == RD_PMA_PACKETS;
}

/* Whether an increase is more than our own MADs. */
static bool has_moved(size_t counter, uint64_t delta, uint64_t own)
{
	if (!is_traffic(counter))
		return delta > 0;
	return delta > (rd_pma_counters[counter].kind == RD_PMA_DATA ? own * MAD_DATA : own);
}

/* What is to be written of a counter. */
struct change {
	bool known, has_delta, moved;
	struct rd_pma_value value;
	uint64_t delta;
	double seconds;
};

static bool is_written(const struct fabric_track *track, const struct change *change, size_t counter)
{
	if (!change->known)
		return track->written && track->known;
	if (change->moved)
		return true;
	if (!track->written)
		return change->value.v > 0 && !is_traffic(counter);
	if (!track->known || track->increased || change->value.v < track->value)
		return true;
	return change->value.v != track->value && !is_traffic(counter);
}

static void write_point(struct fabric_record *record, struct fabric_recorded *to, unsigned port, size_t counter,
			const struct change *change, uint64_t time_ns)
{
	struct fabric_track *track = &to->tracks[counter];
	struct rd_point point = { .time_ns = time_ns };
	struct rd_series series;

	*track = (struct fabric_track){ track->defined, true, change->known, change->moved, change->value.v };
	if (change->known) {
		RD_SET(point.count, change->value.v);
		point.at_least = rd_pma_saturated(&change->value);
	} else {
		point.note = "not read";
	}
	if (change->has_delta) {
		RD_SET(point.delta, change->delta);
		RD_SET(point.per_second, (double)change->delta / change->seconds);
	}
	if (!rd_series_shows(record->to.format, &point))
		return;
	if (to->first == RD_NONE)
		to->first = counter;
	series = series_of(record, to, port, counter);
	if (!track->defined) {
		rd_series_define(record->to.format, &series, &record->to.out);
		track->defined = true;
		record->series++;
	}
	rd_series_point(record->to.format, &series, &point, &record->to.out);
}

static void add_point(struct fabric_record *record, struct fabric_recorded *to, const struct rd_fabric *fabric,
		      const struct rd_fabric_port *port, size_t counter, uint64_t own, uint64_t time_ns)
{
	struct change change = { 0 };

	change.known = rd_fabric_value(fabric, port, counter, &change.value);
	/* A counter that a sweep by need left out is not missing. */
	if (!change.known && !port->error)
		return;
	change.has_delta = change.known && rd_fabric_delta(fabric, port, counter, &change.delta, &change.seconds);
	change.moved = change.has_delta && has_moved(counter, change.delta, own);
	if (is_written(&to->tracks[counter], &change, counter))
		write_point(record, to, port->number, counter, &change, time_ns);
}

/* Marks whether the port was read. Traces, which show rates, do not need the first event of each port. */
static void mark_reading(struct fabric_record *record, struct fabric_recorded *to, const struct rd_fabric_port *port,
			 uint64_t time_ns)
{
	struct rd_point total = { .time_ns = time_ns };
	bool was_told = to->told != UNTOLD;

	if (!port->selected || port->presence == RD_PORT_GONE || (was_told && (to->told == TOLD_READ) == port->fresh))
		return;
	to->told = port->fresh ? TOLD_READ : TOLD_UNREAD;
	RD_SET(total.count, 0);
	if (was_told || !port->fresh || rd_series_shows(record->to.format, &total))
		rd_series_mark(record->to.format, time_ns, to->device, port->number, port->fresh ? "read" : "not read",
			       &record->to.out);
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
		uint64_t own;

		if (!to)
			continue;
		own = count_own(record, to, fabric, port);
		mark_presence(record, to, port, time_ns);
		mark_reading(record, to, port, time_ns);
		for (size_t k = 0; port->fresh && k < record->n_values; k++)
			add_point(record, to, fabric, port, k, own, time_ns);
	}
	record->discovered_ns = fabric->discovered_ns;
	if (record_file_write(&record->to))
		return;
	for (size_t i = 0; i < record->n; i++) {
		record->ports[i].first = RD_NONE;
		record->ports[i].told = UNTOLD;
		memset(record->ports[i].tracks, 0, record->n_values * sizeof(*record->ports[i].tracks));
	}
}

int fabric_record_finish(struct fabric_record *record, struct rd_err *err)
{
	return record_file_finish(&record->to, record->series, err);
}
