/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts to compare between two captures of a host: plain text, identified by area, subject and field. */
#ifndef RD_FACTS_H
#define RD_FACTS_H

#include "base/base.h"

/* Of changes with the same weight, the first area comes first. */
enum rd_area {
	RD_AREA_MODULE, /* kernel and modules */
	RD_AREA_DEVICE, /* presence of RDMA devices, interfaces, PCI functions */
	RD_AREA_LINK,	/* ports, interfaces, PCI links */
	RD_AREA_FIRMWARE,
	RD_AREA_GID,
	RD_AREA_ADDRESS,
	RD_AREA_ROUTE,
	RD_AREA_SETTING,
	RD_AREA_COUNTER,
	RD_AREA_HOST,
	RD_AREAS,
};

/* "device", "link" …: the JSON word. */
const char *rd_area_name(enum rd_area area);

struct rd_fact {
	enum rd_area area;
	char *subject, *field, *value; /* owned; value NULL: could not be read */
};

struct rd_facts {
	struct rd_fact *v; /* sorted by area, subject, field after rd_facts_sort */
	size_t n, cap;
	bool partial[RD_AREAS]; /* not all objects of the area could be listed */
};

/* Copies the texts. */
void rd_facts_add(struct rd_facts *facts, enum rd_area area, const char *subject, const char *field, const char *value);
void rd_facts_sort(struct rd_facts *facts);
void rd_facts_deinit(struct rd_facts *facts);

/* Order: area, subject, field; numbers within names by value ("eth2" before "eth10"). */
int rd_fact_compare(const struct rd_fact *a, const struct rd_fact *b);

/* Differences of two lists. */
struct rd_change {
	const struct rd_fact *before, *after; /* into the two lists; NULL: absent there */
	unsigned weight;		      /* significance, 1 to 100 */
};

struct rd_changes {
	struct rd_change *v; /* owned; highest weight first */
	size_t n, cap;
};

#endif
