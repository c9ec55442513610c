/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record of the tracing programs, and what the host knows of its process and its device. */
#ifndef RD_COLLECT_TRACE_EVENT_H
#define RD_COLLECT_TRACE_EVENT_H

#include "model/trace/event.h"
#include "source/shared/source.h"

/* What was learned so far: names of devices (kept after they have gone) and paths of cgroups. Bounded. */
struct rd_trace_facts;

/* `src` must outlive it. -ENOMEM. */
int rd_trace_facts_create(struct rd_source *src, struct rd_trace_facts **ret);
void rd_trace_facts_destroy(struct rd_trace_facts *facts);

/*
 * Decodes one record (struct rd_rec of bpf/record.h) as foreign input: every count is held against `size`. Fills what
 * the record says (links as recorded, frames as bare addresses, ids of functions below n_fns, else -1) and joins the
 * cgroup's path and the device's name. Caller deinits *ret. -EBADMSG, -ENOMEM.
 */
int rd_trace_event_decode(struct rd_trace_facts *facts, const void *data, size_t size, size_t n_fns,
			  struct rd_event *ret, struct rd_err *err);

/* Name of the RDMA device behind an uverbs character device (kernel dev_t: major << 20 | minor); NULL if there is none.
 * Valid until the facts are destroyed. */
const char *rd_trace_facts_ibdev(struct rd_trace_facts *facts, uint32_t dev);

/* Kernel dev_t of the uverbs device of an RDMA device; 0 if there is none. */
uint32_t rd_trace_facts_dev(struct rd_trace_facts *facts, const char *ibdev);

/* The id of a cgroup, given by its path below the unified hierarchy's mount ("/system.slice/x.service") or with the mount
 * before it. */
int rd_trace_facts_cgroup(struct rd_trace_facts *facts, const char *path, uint64_t *ret, struct rd_err *err);

/* Does the pid of an event name the same process in our /proc? Not so inside a container. */
bool rd_trace_facts_pids_ours(const struct rd_trace_facts *facts);

/* Names of the RDMA devices known so far, separated by commas, into `buf`; "none" if there are none. */
void rd_trace_facts_list(struct rd_trace_facts *facts, char *buf, size_t size);

#endif
