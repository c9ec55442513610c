/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/series-proto.h"

#include <string.h>

/* Field numbers of these .proto files. */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK_DESCRIPTOR = 60,
	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_DOUBLE = 44,
};

#define TYPE_INSTANT 3
#define TYPE_COUNTER 4
#define BUILTIN_REALTIME 1
#define BUILTIN_BOOTTIME 6
#define WIRE_VARINT 0
#define WIRE_64 1
#define WIRE_BYTES 2
#define SEQUENCE 1 /* there is one writer */
#define MARKS 1	   /* the track of events */
/* Offset of track ids of ports, above those of series. */
#define PORT_TRACK ((uint64_t)1 << 32)

static void add_varint(struct rd_buf *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
		n++;
	} while (value);
	rd_buf_add(out, bytes, n);
}

static void add_uint(struct rd_buf *out, unsigned field, uint64_t value)
{
	add_varint(out, field << 3 | WIRE_VARINT);
	add_varint(out, value);
}

static void add_bytes(struct rd_buf *out, unsigned field, const void *data, size_t size)
{
	add_varint(out, field << 3 | WIRE_BYTES);
	add_varint(out, size);
	rd_buf_add(out, data, size);
}

/* Little endian, as the format is. */
static void add_double(struct rd_buf *out, unsigned field, double value)
{
	uint64_t bits;
	uint8_t bytes[8];

	memcpy(&bits, &value, sizeof(bits));
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(bits >> (8 * i));
	add_varint(out, field << 3 | WIRE_64);
	rd_buf_add(out, bytes, sizeof(bytes));
}

/* Takes ownership of `inner`. */
static void add_message(struct rd_buf *out, unsigned field, struct rd_buf *inner)
{
	add_bytes(out, field, inner->data, inner->len);
	rd_buf_deinit(inner);
}

static void add_packet(struct rd_buf *out, unsigned field, struct rd_buf *body, uint64_t time_ns)
{
	struct rd_buf packet = { 0 };

	if (time_ns)
		add_uint(&packet, PACKET_TIMESTAMP, time_ns);
	add_uint(&packet, PACKET_SEQUENCE, SEQUENCE);
	add_message(&packet, field, body);
	add_message(out, TRACE_PACKET, &packet);
}

static void add_clock(struct rd_buf *out, uint64_t id, uint64_t time_ns)
{
	struct rd_buf clock = { 0 };

	add_uint(&clock, CLOCK_ID, id);
	add_uint(&clock, CLOCK_TIMESTAMP, time_ns);
	add_message(out, SNAPSHOT_CLOCK, &clock);
}

static void add_track(struct rd_buf *out, uint64_t uuid, uint64_t parent, const char *name, bool counter)
{
	struct rd_buf track = { 0 }, empty = { 0 }, safe = { 0 };

	rd_buf_safe(&safe, name, strlen(name));
	add_uint(&track, TRACK_UUID, uuid);
	add_bytes(&track, TRACK_NAME, safe.data, safe.len);
	if (parent)
		add_uint(&track, TRACK_PARENT, parent);
	if (counter) {
		rd_buf_str(&empty, "");
		add_message(&track, TRACK_COUNTER, &empty);
	}
	rd_buf_deinit(&safe);
	add_packet(out, PACKET_TRACK_DESCRIPTOR, &track, 0);
}

void rd_proto_begin(uint64_t time_ns, struct rd_buf *out)
{
	struct rd_buf snapshot = { 0 };

	add_clock(&snapshot, BUILTIN_BOOTTIME, time_ns);
	add_clock(&snapshot, BUILTIN_REALTIME, time_ns);
	add_packet(out, PACKET_CLOCK_SNAPSHOT, &snapshot, time_ns);
	add_track(out, MARKS, 0, "events", false);
}

/* The time at the start of the first packet; 0: none. */
static uint64_t first_time(const uint8_t *data, size_t size)
{
	uint64_t time_ns = 0;

	if (size < 3 || data[0] != (TRACE_PACKET << 3 | WIRE_BYTES) || data[2] != (PACKET_TIMESTAMP << 3 | WIRE_VARINT))
		return 0;
	for (size_t i = 3; i < size && i < 12; i++) {
		time_ns |= (uint64_t)(data[i] & 0x7f) << 7 * (i - 3);
		if (data[i] < 0x80)
			return time_ns;
	}
	return 0;
}

bool rd_proto_is(const uint8_t *data, size_t size)
{
	uint64_t time_ns = first_time(data, size);
	_cleanup_buf_ struct rd_buf head = { 0 };

	if (!time_ns)
		return false;
	rd_proto_begin(time_ns, &head);
	return !head.failed && size >= head.len && memcmp(data, head.data, head.len) == 0;
}

void rd_proto_define(const struct rd_series *series, struct rd_buf *out)
{
	_cleanup_buf_ struct rd_buf name = { 0 };

	if (series->first == series->id) {
		rd_buf_printf(&name, series->port ? "%s/%u" : "%s", series->device, series->port);
		add_track(out, PORT_TRACK + series->first, 0, name.data, false);
		name.len = 0;
	}
	rd_buf_printf(&name, "%s %s", series->group, series->name);
	add_track(out, series->id, PORT_TRACK + series->first, name.data, true);
}

void rd_proto_point(uint64_t track, uint64_t time_ns, double value, struct rd_buf *out)
{
	struct rd_buf event = { 0 };

	add_uint(&event, EVENT_TYPE, TYPE_COUNTER);
	add_uint(&event, EVENT_TRACK, track);
	add_double(&event, EVENT_DOUBLE, value);
	add_packet(out, PACKET_TRACK_EVENT, &event, time_ns);
}

void rd_proto_mark(uint64_t time_ns, const char *what, struct rd_buf *out)
{
	struct rd_buf event = { 0 }, safe = { 0 };

	rd_buf_safe(&safe, what, strlen(what));
	add_uint(&event, EVENT_TYPE, TYPE_INSTANT);
	add_uint(&event, EVENT_TRACK, MARKS);
	add_bytes(&event, EVENT_NAME, safe.data, safe.len);
	rd_buf_deinit(&safe);
	add_packet(out, PACKET_TRACK_EVENT, &event, time_ns);
}
