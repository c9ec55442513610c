/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/counters/delta.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"

static uint64_t max_of(unsigned bits)
{
	return bits >= 64 || bits == 0 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static struct rd_delta saturating_delta(unsigned bits, uint64_t before, uint64_t now)
{
	uint64_t end = max_of(bits);

	/* The width in the table is wrong. */
	if (now > end || before > end)
		return (struct rd_delta){ now >= before ? now - before : now, RD_DELTA_AT_LEAST, RD_NOTE_NONE };
	if (now < before)
		return (struct rd_delta){ now, RD_DELTA_AT_LEAST, RD_NOTE_RESET };
	if (now == end)
		return (struct rd_delta){ now - before, RD_DELTA_AT_LEAST, RD_NOTE_SATURATED };
	return (struct rd_delta){ now - before, RD_DELTA_EXACT, RD_NOTE_NONE };
}

static struct rd_delta wrapping_delta(unsigned bits, uint64_t before, uint64_t now, uint64_t most)
{
	uint64_t end = max_of(bits), delta;
	enum rd_delta_note note;

	if (now > end || before > end)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NONE };
	delta = (now - before) & end;
	note = now < before ? RD_NOTE_WRAPPED : RD_NOTE_NONE;
	/* One more wrap would have been `end` + 1 more events. */
	if (most <= end)
		return delta > most ? (struct rd_delta){ now, RD_DELTA_AT_LEAST, RD_NOTE_RESET } :
				      (struct rd_delta){ delta, RD_DELTA_EXACT, note };
	if (end != UINT64_MAX && most - delta > end)
		return (struct rd_delta){ delta, RD_DELTA_AT_LEAST, note ? note : RD_NOTE_TURNS };
	return (struct rd_delta){ delta, RD_DELTA_EXACT, note };
}

struct rd_delta rd_delta_of(enum rd_overflow overflow, unsigned bits, uint64_t before, uint64_t now, uint64_t most)
{
	switch (overflow) {
	case RD_SATURATES:
		return saturating_delta(bits, before, now);
	case RD_WRAPS:
		return wrapping_delta(bits, before, now, most);
	case RD_GAUGE:
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NONE };
	case RD_64BIT:
		if (now < before)
			return (struct rd_delta){ now, RD_DELTA_AT_LEAST, RD_NOTE_RESET };
		return (struct rd_delta){ now - before, RD_DELTA_EXACT, RD_NOTE_NONE };
	case RD_OVERFLOW_UNKNOWN:
		break;
	}
	/* It may be a gauge, may have wrapped or may have been reset. */
	if (now < before)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NONE };
	return (struct rd_delta){ now - before, RD_DELTA_EXACT, RD_NOTE_NONE };
}

double rd_moments_seconds(const struct rd_moment *before, const struct rd_moment *now)
{
	const struct rd_counter_sample *a = before->sample, *b = now->sample;

	if (a->boot_id[0] && strcmp(a->boot_id, b->boot_id) == 0 && a->monotonic_ns && b->monotonic_ns > a->monotonic_ns)
		return (double)(b->monotonic_ns - a->monotonic_ns) / 1e9;
	return a->realtime_ns && b->realtime_ns > a->realtime_ns ? (double)(b->realtime_ns - a->realtime_ns) / 1e9 : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? rd_hash(hash, text, strlen(text) + 1) : rd_hash(hash, "", 1);
}

static uint64_t hash_counter(const struct rd_counter_set *set, const struct rd_counter *counter)
{
	const struct rd_counter_port *port = &set->ports[counter->port];
	uint64_t hash = hash_text(hash_text(RD_HASH, port->ibdev), counter->name);

	hash = rd_hash(hash, &port->port, sizeof(port->port));
	hash = rd_hash(hash, &counter->group, sizeof(counter->group));
	return rd_hash(hash_text(hash, counter->netdev), &counter->counter, sizeof(counter->counter));
}

static bool same_port(const struct rd_counter_port *a, const struct rd_counter_port *b)
{
	return a->port == b->port && same_text(a->ibdev, b->ibdev);
}

static bool same_counter(const struct rd_counter_set *a, const struct rd_counter *ca, const struct rd_counter_set *b,
			 const struct rd_counter *cb)
{
	return ca->group == cb->group && ca->counter == cb->counter && strcmp(ca->name, cb->name) == 0 &&
	       same_text(ca->netdev, cb->netdev) && same_port(&a->ports[ca->port], &b->ports[cb->port]);
}

static void map_counters(const struct rd_counter_set *set, struct rd_map *map)
{
	for (size_t i = 0; i < set->n; i++)
		rd_map_put(map, hash_counter(set, &set->counters[i]), i);
}

/* Index in `before`, whose counters are in `map`; -1: not found. */
static ptrdiff_t find_counter(const struct rd_map *map, const struct rd_counter_set *before,
			      const struct rd_counter_set *now, size_t i)
{
	uint64_t hash = hash_counter(now, &now->counters[i]);
	size_t candidate;

	for (size_t probe = 0; (candidate = rd_map_next(map, hash, &probe)) != RD_MAP_END;)
		if (same_counter(before, &before->counters[candidate], now, &now->counters[i]))
			return (ptrdiff_t)candidate;
	return -1;
}

/* Why the counters of a port cannot be compared; RD_NOTE_NONE: they can. */
static enum rd_delta_note port_note(const struct rd_moment *before, const struct rd_moment *now, uint32_t port)
{
	const struct rd_counter_port *of = &now->set->ports[port], *was = NULL;
	const struct rd_counter_state *state = &now->sample->states[port], *old = NULL;

	for (size_t i = 0; !was && i < before->set->n_ports; i++)
		if (same_port(&before->set->ports[i], of)) {
			was = &before->set->ports[i];
			old = &before->sample->states[i];
		}
	if (!state->there)
		return RD_NOTE_GONE;
	if (before->sample->boot_id[0] && now->sample->boot_id[0] &&
	    strcmp(before->sample->boot_id, now->sample->boot_id) != 0)
		return RD_NOTE_REBOOT;
	if (!was || !old->there)
		return RD_NOTE_NEW;
	if (was->guid && of->guid && strcmp(was->guid, of->guid) != 0)
		return RD_NOTE_REPLACED;
	if (old->instance && state->instance && old->instance != state->instance)
		return RD_NOTE_RELOADED;
	return RD_NOTE_NONE;
}

/* The largest number of events a port can have had in the time between. */
static uint64_t max_events_in(const struct rd_moment *before, const struct rd_moment *now)
{
	double seconds = rd_moments_seconds(before, now), most = seconds * RD_EVENTS_PER_SECOND;

	return seconds <= 0 || most >= 1.8e19 ? UINT64_MAX : (uint64_t)most;
}

static struct rd_delta delta_at(const struct rd_counter *counter, const struct rd_counter_value *before,
				const struct rd_counter_value *now, enum rd_delta_note note, uint64_t most)
{
	if (note != RD_NOTE_NONE)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, note };
	if (!before)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_NEW };
	if (before->known != RD_OK || now->known != RD_OK)
		return (struct rd_delta){ 0, RD_DELTA_UNKNOWN, RD_NOTE_UNREAD };
	return rd_delta_of(counter->overflow, counter->bits, before->v, now->v, most);
}

/* What happened to a port between two moments. */
struct span {
	enum rd_delta_note note;
	uint64_t packets[2]; /* sent and received, from 64-bit counters; UINT64_MAX: unknown */
};

/* A packet causes at most so many events of one kind (a read request causes one for each response that is missing). */
#define EVENTS_PER_PACKET 4

/* The largest number of events a wrapping counter can have counted: bounded by the packets of the port, if these are known.
 * Flushed work requests need no packet. */
static uint64_t max_events_of(const struct rd_counter *counter, const struct span *span, uint64_t by_time)
{
	uint64_t most;

	/* A link changes at most a thousand times per second. */
	if (counter->group == RD_GROUP_NETDEV)
		return by_time == UINT64_MAX ? by_time : by_time / (uint64_t)(RD_EVENTS_PER_SECOND / 1000);
	if (counter->meaning && counter->meaning->role == RD_ROLE_FOLLOWS)
		return by_time;
	if (span->packets[0] > UINT32_MAX * UINT64_C(1024) || span->packets[1] > UINT32_MAX * UINT64_C(1024))
		return by_time;
	most = (span->packets[0] + span->packets[1]) * EVENTS_PER_PACKET;
	return most < by_time ? most : by_time;
}

static void note_packets(struct span *span, const struct rd_counter *counter, const struct rd_delta *delta)
{
	if (counter->group != RD_GROUP_PORT || delta->kind != RD_DELTA_EXACT)
		return;
	if (counter->about && counter->about->topic == RD_TOPIC_PACKETS_SENT)
		span->packets[0] = delta->v;
	else if (counter->about && counter->about->topic == RD_TOPIC_PACKETS_GOT)
		span->packets[1] = delta->v;
}

void rd_deltas(const struct rd_moment *before, const struct rd_moment *now, struct rd_delta *ret)
{
	_cleanup_free_ struct span *spans = rd_alloc(now->set->n_ports + 1, sizeof(*spans));
	uint64_t by_time = max_events_in(before, now);
	bool same_set = before->set == now->set;
	struct rd_map map = { 0 };

	if (!same_set)
		map_counters(before->set, &map);
	for (size_t i = 0; i < now->set->n_ports; i++)
		spans[i] = (struct span){ port_note(before, now, (uint32_t)i), { UINT64_MAX, UINT64_MAX } };
	for (size_t i = 0; i < now->set->n; i++) {
		const struct rd_counter *counter = &now->set->counters[i];
		ptrdiff_t at = same_set ? (ptrdiff_t)i : find_counter(&map, before->set, now->set, i);
		struct span *span = &spans[counter->port];

		/* The counters of the port precede those of the driver. */
		ret[i] = delta_at(counter, at < 0 ? NULL : &before->sample->values[at], &now->sample->values[i],
				  span->note, max_events_of(counter, span, by_time));
		note_packets(span, counter, &ret[i]);
	}
	rd_map_deinit(&map);
}
