/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the objects of a host that the subject of a finding names: PCI functions, RDMA devices, interfaces. Pure. */
#ifndef RD_DIAGNOSE_OBJECTS_H
#define RD_DIAGNOSE_OBJECTS_H

#include "model/host/host.h"

/* Object numbers, ascending and unique: PCI functions by index, then RDMA devices, then interfaces. */
struct rd_objects {
	size_t *v;
	size_t n, cap;
};
void rd_objects_deinit(struct rd_objects *objects);

/* All object names of a host, sorted. `host` must outlive it. */
struct rd_object_names {
	const struct rd_host *host;
	struct rd_object_name *v;
	size_t n, cap;
	size_t longest; /* bytes */
};
/* The caller deinits `ret`. */
void rd_object_names_of(const struct rd_host *host, struct rd_object_names *ret);
void rd_object_names_deinit(struct rd_object_names *names);

/* Adds the objects that the text names, and related ones: for a device, its PCI function and its interfaces; for an interface, the
 * devices on it. */
void rd_objects_find(const struct rd_object_names *names, const char *text, struct rd_objects *ret);

/* Whether both contain the same object. */
bool rd_objects_share(const struct rd_objects *a, const struct rd_objects *b);
bool rd_objects_have(const struct rd_objects *objects, size_t object);

#endif
