/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deltas: for any pair of samples and any manner of overflow, right or unknown, and never more than happened. */
#include "unit.h"

#include "analyse/counters/counters.h"

/* A counter of the real world, and what it shows. */
struct real {
	enum rd_overflow overflow;
	unsigned bits;
	unsigned __int128 count; /* since it was 0 the last time */
};

static uint64_t end_of(unsigned bits)
{
	return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t shown(const struct real *real)
{
	unsigned __int128 end = end_of(real->bits);

	if (real->overflow == RD_WRAPS)
		return (uint64_t)(real->count & end);
	return (uint64_t)(real->count > end ? end : real->count);
}

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Numbers of all sizes, the edges more often than chance would have it. */
static uint64_t some(unsigned bits)
{
	switch (next() % 5) {
	case 0:
		return next() % 3;
	case 1:
		return end_of(bits) - next() % 3;
	case 2:
		return next() & end_of(bits);
	case 3:
		return next() & end_of((unsigned)(next() % bits) + 1);
	default:
		return end_of((unsigned)(next() % bits) + 1);
	}
}

static void check(const struct rd_delta *delta, uint64_t truth, const char *what, unsigned bits)
{
	bool right = delta->kind == RD_DELTA_UNKNOWN || (delta->kind == RD_DELTA_EXACT && delta->v == truth) ||
		     (delta->kind == RD_DELTA_AT_LEAST && delta->v <= truth);

	if (!right)
		fail_msg("%s of %u bits: truth %llu, said %d %llu (%d)", what, bits, (unsigned long long)truth,
			 delta->kind, (unsigned long long)delta->v, delta->note);
}

/* Whatever happens between the samples, within what `most` allows. */
TEST(deltas_are_right_or_unknown)
{
	static const enum rd_overflow overflows[] = { RD_SATURATES, RD_WRAPS, RD_64BIT };
	static const unsigned widths[] = { 4, 8, 16, 32, 48, 64 };

	for (int i = 0; i < 400000; i++) {
		struct real real = { .overflow = overflows[next() % 3], .bits = widths[next() % 6] };
		uint64_t before, truth, most;
		bool reset = next() % 4 == 0;
		struct rd_delta delta;

		if (real.overflow == RD_64BIT)
			real.bits = 64;
		real.count = some(real.bits == 64 ? 63 : real.bits);
		before = shown(&real);
		truth = some(real.bits >= 60 ? 60 : real.bits + 2);
		most = next() % 2 ? UINT64_MAX : truth + next() % 1000;
		/* Nobody can reset one that wraps; see rd_delta_of. */
		if (reset && real.overflow != RD_WRAPS) {
			uint64_t after = truth ? next() % truth : 0;

			real.count = after;
		} else {
			real.count += truth;
			reset = false;
		}
		/* Without a bound, one that wraps is right but for whole turns. */
		delta = rd_delta_of(real.overflow, real.bits, before, shown(&real), most);
		/* A reset behind which the counter passed its old value looks like none: a lower bound all the same. */
		if (reset && delta.kind == RD_DELTA_EXACT && delta.v <= truth)
			continue;
		check(&delta, truth, rd_overflow_name(real.overflow), real.bits);
	}
}

TEST(what_two_values_say)
{
	enum { ANY = -1 };
	static const struct {
		const char *name;
		enum rd_overflow overflow;
		unsigned bits;
		uint64_t before, now, most;
		int kind, note;
		int64_t v;
	} cases[] = {
		{ "fell, of unknown width", RD_OVERFLOW_UNKNOWN, 0, 10, 5, UINT64_MAX, RD_DELTA_UNKNOWN, ANY, ANY },
		{ "an index of 15 is not at its end", RD_OVERFLOW_UNKNOWN, 0, 15, 15, UINT64_MAX, RD_DELTA_EXACT,
		  RD_NOTE_NONE, ANY },
		{ "rose, of unknown width", RD_OVERFLOW_UNKNOWN, 0, 10, 255, UINT64_MAX, RD_DELTA_EXACT, ANY, ANY },
		{ "a gauge", RD_GAUGE, 0, 10, 12, UINT64_MAX, RD_DELTA_UNKNOWN, ANY, ANY },
		{ "saturated", RD_SATURATES, 8, 250, 255, UINT64_MAX, RD_DELTA_AT_LEAST, RD_NOTE_SATURATED, 5 },
		{ "was saturated", RD_SATURATES, 8, 255, 255, UINT64_MAX, RD_DELTA_AT_LEAST, ANY, 0 },
		{ "was saturated, and was reset", RD_SATURATES, 8, 255, 3, UINT64_MAX, ANY, RD_NOTE_RESET, 3 },
		/* Of a device without extended counters, which have 64 bits. */
		{ "a short counter at its end", RD_64BIT, 64, UINT32_MAX, UINT32_MAX, UINT64_MAX, RD_DELTA_AT_LEAST,
		  RD_NOTE_SATURATED, ANY },
		{ "no short counter", RD_64BIT, 64, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX, RD_DELTA_EXACT, ANY, 1 },
		{ "wrapped", RD_WRAPS, 32, 0xfffffff0u, 16, 1000000, RD_DELTA_EXACT, RD_NOTE_WRAPPED, 32 },
		{ "may have gone round several times in an hour", RD_WRAPS, 32, 5, 16,
		  (uint64_t)(3600 * RD_EVENTS_PER_SECOND), RD_DELTA_AT_LEAST, RD_NOTE_TURNS, 11 },
		{ "no time to wrap", RD_WRAPS, 32, 1000, 16, 10, ANY, RD_NOTE_RESET, ANY },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(cases); i++) {
		struct rd_delta delta =
			rd_delta_of(cases[i].overflow, cases[i].bits, cases[i].before, cases[i].now, cases[i].most);

		if ((cases[i].kind != ANY && (int)delta.kind != cases[i].kind) ||
		    (cases[i].note != ANY && (int)delta.note != cases[i].note) ||
		    (cases[i].v != ANY && delta.v != (uint64_t)cases[i].v))
			fail_msg("%s: %d %llu (%d)", cases[i].name, delta.kind, (unsigned long long)delta.v, delta.note);
	}
}

/* Two hosts of one port and one counter. */
struct scene {
	struct rd_counter_set sets[2];
	struct rd_counter_sample samples[2];
};

static void scene_init(struct scene *scene)
{
	*scene = (struct scene){ 0 };
	for (int i = 0; i < 2; i++) {
		struct rd_counter_port *port = rd_counter_set_add_port(&scene->sets[i]);
		struct rd_counter *counter;

		port->ibdev = strdup("mlx5_0");
		port->port = 1;
		port->guid = strdup("0011:2233:4455:6677");
		counter = rd_counter_set_add(&scene->sets[i], 0, RD_GROUP_PORT, "port_rcv_packets");
		counter->overflow = RD_64BIT;
		counter->bits = 64;
		rd_counter_sample_fit(&scene->samples[i], &scene->sets[i]);
		scene->samples[i].values[0] = (struct rd_counter_value){ .v = 100 + (unsigned)i * 7, .known = RD_OK };
		scene->samples[i].states[0].there = true;
		scene->samples[i].states[0].instance = 42;
		scene->samples[i].monotonic_ns = 1000000000u * (1 + (unsigned)i);
		scene->samples[i].realtime_ns = scene->samples[i].monotonic_ns + 1700000000u * UINT64_C(1000000000);
		strcpy(scene->samples[i].boot_id, "a");
	}
}

static struct rd_delta scene_delta(struct scene *scene)
{
	const struct rd_counted before = { &scene->sets[0], &scene->samples[0] };
	const struct rd_counted now = { &scene->sets[1], &scene->samples[1] };
	struct rd_delta ret;

	rd_deltas(&before, &now, &ret);
	for (int i = 0; i < 2; i++) {
		rd_counter_set_deinit(&scene->sets[i]);
		rd_counter_sample_deinit(&scene->samples[i]);
	}
	return ret;
}

/* A counter of 16 bits can have gone round in an hour, unless so few packets bound it; work requests that are flushed need no
 * packets. */
TEST(packets_bound_what_is_counted_of_packets)
{
	static const struct rd_meaning sent = { .topic = RD_TOPIC_PACKETS_SENT },
				       got = { .topic = RD_TOPIC_PACKETS_GOT };
	static const struct rd_meaning cause = { .role = RD_ROLE_CAUSE }, follows = { .role = RD_ROLE_FOLLOWS };
	_cleanup_(rd_counter_set_deinit) struct rd_counter_set set = { 0 };
	struct rd_counter_sample samples[2] = { 0 };
	const struct rd_counted before = { &set, &samples[0] }, now = { &set, &samples[1] };
	struct rd_delta deltas[4];

	rd_counter_set_add_port(&set)->port = 1;
	for (int i = 0; i < 4; i++) {
		struct rd_counter *counter = rd_counter_set_add(&set, 0, i < 2 ? RD_GROUP_PORT : RD_GROUP_HW, "x");

		counter->overflow = i < 2 ? RD_64BIT : RD_WRAPS;
		counter->bits = i < 2 ? 64 : 16;
	}
	set.counters[0].about = &sent;
	set.counters[1].about = &got;
	set.counters[2].meaning = &cause;
	set.counters[3].meaning = &follows;
	for (unsigned s = 0; s < 2; s++) {
		rd_counter_sample_fit(&samples[s], &set);
		for (unsigned i = 0; i < 4; i++)
			samples[s].values[i] = (struct rd_counter_value){ .v = 7 * s, .known = RD_OK };
		samples[s].states[0].there = true;
		samples[s].monotonic_ns = UINT64_C(3600000000000) * s + 1;
		samples[s].realtime_ns = samples[s].monotonic_ns;
	}
	rd_deltas(&before, &now, deltas);
	ASSERT_EACH(IS(deltas[2].kind, RD_DELTA_EXACT), IS(deltas[2].v, 7), IS(deltas[3].kind, RD_DELTA_AT_LEAST));
	for (int s = 0; s < 2; s++)
		rd_counter_sample_deinit(&samples[s]);
}

TEST(what_became_of_a_device_is_told_apart)
{
	struct scene scene;
	struct rd_delta delta;

	scene_init(&scene);
	delta = scene_delta(&scene);
	ASSERT_EACH(IS(delta.kind, RD_DELTA_EXACT), IS(delta.v, 7));

	scene_init(&scene);
	strcpy(scene.samples[1].boot_id, "b");
	delta = scene_delta(&scene);
	ASSERT_EACH(IS(delta.kind, RD_DELTA_UNKNOWN), IS(delta.note, RD_NOTE_REBOOT));

	scene_init(&scene);
	scene.sets[1].ports[0].guid[0] = '9';
	assert_int_equal(scene_delta(&scene).note, RD_NOTE_REPLACED);

	scene_init(&scene);
	scene.samples[1].states[0].instance = 43;
	assert_int_equal(scene_delta(&scene).note, RD_NOTE_RELOADED);

	scene_init(&scene);
	scene.samples[1].states[0].there = false;
	assert_int_equal(scene_delta(&scene).note, RD_NOTE_GONE);

	scene_init(&scene);
	scene.samples[0].values[0].known = RD_DENIED;
	assert_int_equal(scene_delta(&scene).note, RD_NOTE_UNREAD);

	scene_init(&scene);
	scene.sets[0].counters[0].name[0] = 'x';
	delta = scene_delta(&scene);
	ASSERT_EACH(IS(delta.note, RD_NOTE_NEW), IS(delta.kind, RD_DELTA_UNKNOWN));
}
