/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests, and the counters that they return. */
#include "collect/counters/counters-priv.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

struct rd_counter_read *rd_counter_read_begin(struct rd_counter_reader *reader, enum rd_counter_how how, uint32_t port,
					      const char *object)
{
	struct rd_counter_read *read = RD_ADD(reader->reads, reader->n_reads, reader->cap_reads);

	*read = (struct rd_counter_read){
		.how = how, .port = port, .first = (uint32_t)reader->set.n, .object = rd_dup(object)
	};
	return read;
}

void rd_counter_read_deinit(struct rd_counter_read *read)
{
	RD_FREE(read->object, read->slots);
}

void rd_counter_read_end(struct rd_counter_reader *reader)
{
	if (reader->reads[reader->n_reads - 1].n == 0)
		rd_counter_read_deinit(&reader->reads[--reader->n_reads]);
}

void rd_counter_read_add(struct rd_counter_reader *reader, enum rd_counter_group group, const char *name,
			 const char *netdev)
{
	struct rd_counter_read *read = &reader->reads[reader->n_reads - 1];
	struct rd_counter *counter;

	reader->too_many |= reader->set.n >= RD_COUNTERS_MAX;
	if (reader->too_many)
		return;
	counter = rd_counter_set_add(&reader->set, read->port, group, name);
	counter->netdev = rd_dup_if(netdev);
	read->n++;
}

struct rd_counter_value *rd_counter_slot(struct rd_counter_reader *reader, const struct rd_counter_read *read,
					 struct rd_counter_sample *sample, const char *name, uint32_t *hint)
{
	for (uint32_t i = 0; i < read->n; i++) {
		uint32_t at = (*hint + i) % read->n;

		if (strcmp(reader->set.counters[read->first + at].name, name) != 0)
			continue;
		*hint = at + 1;
		return &sample->values[read->first + at];
	}
	return NULL;
}

void rd_counter_read_failed(const struct rd_counter_read *read, struct rd_counter_sample *sample, int code)
{
	for (uint32_t i = 0; i < read->n; i++)
		sample->values[read->first + i] =
			(struct rd_counter_value){ .known = code == EACCES || code == EPERM ? RD_DENIED : RD_ABSENT,
						   .code = code };
}
