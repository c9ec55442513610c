/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attributes of a host by which `diff`, `nic-map --compare` and profiles compare: one table. Pure. */
#ifndef RD_MODEL_ATTRIBUTES_H
#define RD_MODEL_ATTRIBUTES_H

#include "model/host/netstate.h"
#include "model/host/system.h"
#include "model/shared/facts.h"

/* What an attribute of the model belongs to. */
enum rd_object {
	RD_OBJECT_FILE, /* none: the text of a file (collect/snapshot) */
	RD_OBJECT_HOST,
	RD_OBJECT_SYSTEM,
	RD_OBJECT_PROCESS, /* starts jobs */
	RD_OBJECT_PCI,	   /* NICs, accelerators, and the bridges above */
	RD_OBJECT_NETIF,   /* interfaces on RDMA ports, and above or below one that is */
	RD_OBJECT_PORT,	   /* of RDMA devices */
	RD_OBJECTS,
};

struct rd_attribute {
	enum rd_area area;	     /* RD_AREAS: any */
	unsigned weight;	     /* in `diff`, 1 to 100 */
	const char *subject, *field; /* patterns, see fnmatch(3); NULL: any */
	enum {
		RD_ALONE,
		RD_BETWEEN,	/* also compared between hosts that should be alike */
		RD_WITH_PROFILE /* and with a profile */
	} use;
	enum rd_object of;
	/* The text; "": the object has none; NULL: unknown. Caller frees. No function: a member of the object. */
	char *(*text)(const void *object);
	size_t size, value, known; /* of the member: size (0: a text), offsets */
};

/* The first row of the table for such a fact; there is one for any. */
const struct rd_attribute *rd_attribute_find(enum rd_area area, const char *subject, const char *field);
/* The next row about `of` after `last`, NULL: the first; NULL: there is none. */
const struct rd_attribute *rd_attribute_next(enum rd_object of, const struct rd_attribute *last);
/* The text of an attribute, as above. */
char *rd_attribute_text(const struct rd_attribute *attribute, const void *object);

/* Adds the attributes of the model; unknown ones without text. */
void rd_attributes_facts(const struct rd_host *host, const struct rd_system *system, const struct rd_netstate *net,
			 struct rd_facts *ret);

#endif
