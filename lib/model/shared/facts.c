/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/shared/facts.h"

#include <string.h>

#include "base/memory.h"

static const char *const area_names[RD_AREAS] = {
	[RD_AREA_DEVICE] = "device", [RD_AREA_LINK] = "link",	    [RD_AREA_FIRMWARE] = "firmware",
	[RD_AREA_MODULE] = "module", [RD_AREA_GID] = "gid",	    [RD_AREA_ADDRESS] = "address",
	[RD_AREA_ROUTE] = "route",   [RD_AREA_SETTING] = "setting", [RD_AREA_COUNTER] = "counter",
	[RD_AREA_HOST] = "host",
};

const char *rd_area_name(enum rd_area area)
{
	return area_names[area];
}

void rd_facts_add(struct rd_facts *facts, enum rd_area area, const char *subject, const char *field, const char *value)
{
	struct rd_fact fact = {
		.area = area, .subject = rd_dup(subject), .field = rd_dup(field), .value = rd_dup_if(value)
	};

	*RD_ADD(facts->v, facts->n, facts->cap) = fact;
}

int rd_fact_compare(const struct rd_fact *a, const struct rd_fact *b)
{
	return (int)a->area - (int)b->area ?: strverscmp(a->subject, b->subject) ?: strverscmp(a->field, b->field);
}

static int compare(const void *a, const void *b)
{
	return rd_fact_compare(a, b);
}

void rd_facts_sort(struct rd_facts *facts)
{
	if (facts->n > 0)
		qsort(facts->v, facts->n, sizeof(*facts->v), compare);
}

void rd_facts_deinit(struct rd_facts *facts)
{
	for (size_t i = 0; i < facts->n; i++)
		RD_FREE(facts->v[i].subject, facts->v[i].field, facts->v[i].value);
	free(facts->v);
	*facts = (struct rd_facts){ 0 };
}
