/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes records of the BPF programs, and adds what the host reports about process and device. */
#ifndef RD_COLLECT_TRACE_EVENT_H
#define RD_COLLECT_TRACE_EVENT_H

#include "model/trace/event.h"
#include "model/trace/fnset.h"
#include "source/shared/source.h"

/* Cache: names of devices (kept after their removal) and paths of cgroups. Bounded. */
struct rd_trace_facts;

/* `src` must outlive it. */
struct rd_trace_facts *rd_trace_facts_create(struct rd_source *src);
void rd_trace_facts_destroy(struct rd_trace_facts *facts);

/*
 * Decodes one record (struct rd_rec of bpf/record.h) as untrusted input: every count is checked against `size`. Fills
 * the fields of the record (links as recorded, frames as addresses, ids of functions of `set`, else -1), and adds the path of the
 * cgroup and the name of the device. The caller frees *ret with rd_event_deinit. -EBADMSG.
 */
int rd_trace_event_decode(struct rd_trace_facts *facts, const void *data, size_t size, const struct rd_fnset *set,
			  struct rd_event *ret, struct rd_err *err);

/* Name of the RDMA device behind an uverbs character device (kernel dev_t: major << 20 | minor); NULL if there is none.
 * Valid until the facts are destroyed. */
const char *rd_trace_facts_ibdev(struct rd_trace_facts *facts, uint32_t dev);

/* Kernel dev_t of the uverbs device of an RDMA device; 0 if there is none. */
uint32_t rd_trace_facts_dev(struct rd_trace_facts *facts, const char *ibdev);

/* The id of a cgroup, given by its path below the mount point of the unified hierarchy ("/system.slice/x.service"), with or without
 * the mount point. */
int rd_trace_facts_cgroup(struct rd_trace_facts *facts, const char *path, uint64_t *ret, struct rd_err *err);

/* Writes the names of all known RDMA devices to `buf`, separated by commas; "none" if there are none. */
void rd_trace_facts_list(struct rd_trace_facts *facts, char *buf, size_t size);

#endif
