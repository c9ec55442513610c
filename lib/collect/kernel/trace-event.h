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

/* ---- the parts of a record */

/* Converts the struct rd_rec_moment of bpf/record.h at `data` (of its size, not necessarily aligned). Values out of range are
 * unknown. */
void rd_moment_decode(const void *data, struct rd_moment *ret);

/* ---- the request, which the BPF programs copied from user memory */

/* Where a field of a request stands. */
struct rd_req_place {
	uint8_t field; /* enum rd_req_field */
	uint8_t size;  /* bytes; 16: the GID; 0: end of the list */
	uint16_t at;   /* byte offset in a command; attribute id of an ioctl */
	uint16_t in;   /* ioctl: offset in the data of an attribute that is a struct; else 0 */
	bool pointed;  /* ioctl: the attribute is such a struct */
};
#define RD_REQ_GID 0xff /* field of a place: the GID */
#define RD_REQ_SRC 0xfe /* a struct sockaddr, size as for the others */
#define RD_REQ_DST 0xfd

/*
 * Decodes the struct rd_rec_request in `data` (untrusted: every count and offset is checked against `size`). `key` is the verb of
 * the record, `set` names write handlers (may be NULL). A request that is cut short or of an unknown layout leaves fields unknown.
 */
void rd_request_decode(uint64_t key, const struct rd_fnset *set, const void *data, size_t size, struct rd_request *ret);

/* The layout of a verb, including write handlers of `set`. NULL: unknown. */
const struct rd_req_place *rd_request_layout(uint64_t key, const struct rd_fnset *set);

/* The verbs with a known layout, except write handlers, in no order. False after the last. */
bool rd_request_layout_at(size_t i, uint64_t *key);

#endif
