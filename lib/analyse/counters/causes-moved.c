/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Increases of the counters of a port, by topic. */
#include "analyse/counters/causes-priv.h"

#include <ctype.h>
#include <string.h>

int rd_priority_of(const char *name)
{
	const char *at = strstr(name, "pri");

	while (at && *at && !isdigit((unsigned char)*at))
		at++;
	if (!at || *at < '0' || *at > '7' || isdigit((unsigned char)at[1]))
		return -1;
	return *at - '0';
}

static void add_evidence(struct rd_moved_topic *topic, uint32_t counter, const struct rd_delta *delta)
{
	struct rd_evidence evidence = { counter, delta->v, delta->kind == RD_DELTA_AT_LEAST };
	size_t at = topic->n;

	if (delta->v > topic->most)
		topic->most = delta->v;
	/* The largest first; if there is no space, the smallest is left out. */
	while (at > 0 && topic->evidence[at - 1].delta < evidence.delta)
		at--;
	if (at == RD_ARRAY_SIZE(topic->evidence))
		return;
	if (topic->n < RD_ARRAY_SIZE(topic->evidence))
		topic->n++;
	memmove(&topic->evidence[at + 1], &topic->evidence[at], (topic->n - at - 1) * sizeof(evidence));
	topic->evidence[at] = evidence;
}

/* Bits per unit; 0: not a unit of data. */
static unsigned bits_of(const char *unit)
{
	return strcmp(unit, "4-octets") == 0 ? 32 : strcmp(unit, "bytes") == 0 ? 8 : strcmp(unit, "bits") == 0 ? 1 : 0;
}

/* Several counters may count the same data: the largest is used; parts of a total are added up. */
static void add_load(uint64_t *to, uint64_t value, const struct rd_meaning *about)
{
	*to = about->parts > 1 ? *to + value : value > *to ? value : *to;
}

static void take_load(struct rd_moved *moved, const struct rd_counter *counter, uint64_t delta)
{
	const struct rd_meaning *about = counter->about;
	unsigned bits = bits_of(about->unit);
	bool of_rdma = counter->group <= RD_GROUP_OPTIONAL;
	int priority = about->topic == RD_TOPIC_PRIORITY_DATA ? rd_priority_of(counter->name) : -1;

	if ((about->topic == RD_TOPIC_DATA_GOT || about->topic == RD_TOPIC_LINE_GOT) && bits &&
	    delta < UINT64_MAX / bits)
		add_load(&moved->bits_in, delta * bits, about);
	if (about->topic == RD_TOPIC_DATA_SENT && bits == 32)
		moved->words_out = delta;
	if (about->topic == RD_TOPIC_PACKETS_GOT && of_rdma)
		add_load(&moved->packets_in, delta, about);
	if (about->topic == RD_TOPIC_PACKETS_SENT && of_rdma)
		add_load(&moved->packets_out, delta, about);
	if (priority >= 0)
		moved->bytes_of[priority] += delta;
}

static enum rd_topic judged_as(enum rd_topic topic)
{
	return topic == RD_TOPIC_RNR_GOT    ? RD_TOPIC_RNR :
	       topic == RD_TOPIC_CNP_ALL    ? RD_TOPIC_CNP :
	       topic == RD_TOPIC_REPLY_LOST ? RD_TOPIC_LOST :
					      topic;
}

static void take_one(struct rd_moved *moved, const struct rd_counter *counter, uint32_t index,
		     const struct rd_delta *delta)
{
	enum rd_topic topic;
	int priority;

	if (!counter->about)
		return;
	if (counter->meaning && counter->meaning->role == RD_ROLE_LOAD) {
		take_load(moved, counter, delta->v);
		return;
	}
	topic = judged_as(counter->about->topic);
	add_evidence(&moved->topics[topic], index, delta);
	priority = topic == RD_TOPIC_PAUSE_SENT || topic == RD_TOPIC_PAUSE_GOT ? rd_priority_of(counter->name) : -1;
	if (priority >= 0)
		moved->pause_of[priority] += delta->v;
}

void rd_moved_gather(const struct rd_moment *now, const struct rd_delta *deltas, double seconds, size_t *at,
		     struct rd_moved *moved)
{
	const struct rd_counter_set *set = now->set;
	uint32_t port = set->counters[*at].port;

	moved->port = port;
	moved->of = &set->ports[port];
	moved->seconds = seconds;
	for (; *at < set->n && set->counters[*at].port == port; ++*at) {
		const struct rd_counter *counter = &set->counters[*at];
		const struct rd_delta *delta = &deltas[*at];

		if (delta->note >= RD_NOTE_REBOOT && delta->note <= RD_NOTE_GONE && delta->note != RD_NOTE_NEW)
			moved->note = delta->note;
		moved->reset |= delta->note == RD_NOTE_RESET;
		if (delta->v == 0 && rd_counter_saturated(counter, &now->sample->values[*at]))
			add_evidence(&moved->saturated, (uint32_t)*at,
				     &(struct rd_delta){ now->sample->values[*at].v, RD_DELTA_AT_LEAST, 0 });
		/* Queue pairs bound to a counter are included in the counters of the port. */
		if (delta->kind == RD_DELTA_UNKNOWN || counter->group == RD_GROUP_QP)
			continue;
		moved->compared = true;
		if (delta->v == 0 && counter->about && counter->about->topic == RD_TOPIC_BIT_ERROR)
			moved->no_symbols |= strcmp(counter->about->unit, "symbols") == 0;
		if (delta->v)
			take_one(moved, counter, (uint32_t)*at, delta);
	}
}
