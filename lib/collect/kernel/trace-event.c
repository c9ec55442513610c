// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/kernel/trace-event.h"

#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "bpf/record.h"
#include "collect/kernel/moment.h"
#include "collect/kernel/request.h"
#include "collect/shared/cgroup.h"

#define DEVICES_MAX 1024 /* including removed ones */
#define REREAD_NS 1000000000ull

#define UVERBS_CLASS "/sys/class/infiniband_verbs"

struct device {
	uint32_t dev;
	char ibdev[64];
};

struct rd_trace_facts {
	struct rd_source *src;
	struct rd_cgroups *cgroups;
	struct device *devices; /* the latest name of each device number */
	size_t n_devices, cap_devices;
	uint64_t devices_read_ns; /* CLOCK_MONOTONIC; 0: never */
};

struct rd_trace_facts *rd_trace_facts_create(struct rd_source *src)
{
	struct rd_trace_facts *facts = rd_alloc(1, sizeof(*facts));

	facts->src = src;
	facts->cgroups = rd_cgroups_create(src);
	return facts;
}

void rd_trace_facts_destroy(struct rd_trace_facts *facts)
{
	if (!facts)
		return;
	rd_cgroups_destroy(facts->cgroups);
	RD_FREE(facts->devices, facts);
}

static void keep_device(struct rd_trace_facts *facts, uint32_t dev, const char *ibdev)
{
	struct device *d = NULL;

	for (size_t i = 0; i < facts->n_devices && !d; i++)
		if (facts->devices[i].dev == dev)
			d = &facts->devices[i];
	if (!d) {
		if (facts->n_devices == DEVICES_MAX)
			return;
		d = RD_ADD(facts->devices, facts->n_devices, facts->cap_devices);
		d->dev = dev;
	}
	snprintf(d->ibdev, sizeof(d->ibdev), "%s", ibdev);
}

/* Ignores devices that are not readable; they are shown without a name. */
static void read_devices(struct rd_trace_facts *facts)
{
	_cleanup_names_ struct rd_names names = { 0 };
	uint64_t now = facts->src->ops->now(facts->src, CLOCK_MONOTONIC);

	if (facts->devices_read_ns && now - facts->devices_read_ns < REREAD_NS)
		return;
	facts->devices_read_ns = now;
	if (rd_list_dir(facts->src, UVERBS_CLASS, &names, NULL))
		return;
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_free_ char *number = NULL, *ibdev = NULL;
		const char *at;
		uint32_t major, minor;

		if (strncmp(names.v[i], "uverbs", 6) ||
		    rd_read_textf(facts->src, &number, NULL, UVERBS_CLASS "/%s/dev", names.v[i]) ||
		    rd_read_textf(facts->src, &ibdev, NULL, UVERBS_CLASS "/%s/ibdev", names.v[i]))
			continue;
		at = number;
		if (rd_take_u32(&at, RD_DECIMAL, (1 << 12) - 1, &major) == 0 && *at++ == ':' &&
		    rd_parse_u32(at, RD_DECIMAL, (1 << 20) - 1, &minor) == 0)
			keep_device(facts, major << 20 | minor, ibdev);
	}
}

const char *rd_trace_facts_ibdev(struct rd_trace_facts *facts, uint32_t dev)
{
	if (!dev)
		return NULL;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < facts->n_devices; i++)
			if (facts->devices[i].dev == dev)
				return facts->devices[i].ibdev;
		if (!pass)
			read_devices(facts);
	}
	return NULL;
}

uint32_t rd_trace_facts_dev(struct rd_trace_facts *facts, const char *ibdev)
{
	read_devices(facts);
	for (size_t i = 0; i < facts->n_devices; i++)
		if (!strcmp(facts->devices[i].ibdev, ibdev))
			return facts->devices[i].dev;
	return 0;
}

void rd_trace_facts_list(struct rd_trace_facts *facts, char *buf, size_t size)
{
	size_t len = 0;

	read_devices(facts);
	snprintf(buf, size, "%s", facts->n_devices ? "" : "none");
	for (size_t i = 0; i < facts->n_devices && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s", i ? ", " : "", facts->devices[i].ibdev);
}

int rd_trace_facts_cgroup(struct rd_trace_facts *facts, const char *path, uint64_t *ret, struct rd_err *err)
{
	return rd_cgroups_id(facts->cgroups, path, ret, err);
}

static int fn_id(uint32_t fn, size_t n_fns)
{
	return fn < n_fns ? (int)fn : -1;
}

static void copy_chain(const struct rd_rec *rec, size_t n_fns, struct rd_event *ev)
{
	ev->chain = rd_alloc(rec->n_chain + 1u, sizeof(*ev->chain));
	ev->n_chain = rec->n_chain;
	for (size_t i = 0; i < ev->n_chain; i++)
		ev->chain[i] = (struct rd_link){
			.fn = fn_id(rec->chain[i].fn, n_fns),
			.err = rec->chain[i].err,
			.branch = rec->chain[i].flags & RD_LINK_BRANCH,
		};
}

static struct rd_frame *copy_frames(const uint8_t *data, size_t n)
{
	struct rd_frame *frames = rd_alloc(n + 1, sizeof(*frames));

	for (size_t i = 0; i < n; i++)
		memcpy(&frames[i].addr, data + i * sizeof(uint64_t), sizeof(uint64_t));
	return frames;
}

static void copy_scalars(const struct rd_rec *rec, size_t n_fns, struct rd_event *ev)
{
	ev->pid = rec->pid;
	ev->tid = rec->tid;
	ev->uid = rec->uid;
	memcpy(ev->comm, rec->comm, sizeof(ev->comm));
	ev->comm[sizeof(ev->comm) - 1] = '\0';
	ev->verb_key = rec->verb;
	ev->num_attrs = rec->num_attrs;
	ev->dev = rec->dev;
	ev->cgroup_id = rec->cgroup;
	ev->err = rec->err;
	ev->root = fn_id(rec->root, n_fns);
	ev->origin = fn_id(rec->origin, n_fns);
	ev->dropped = rec->dropped;
	/* 0: no number assigned yet; queue pair 0 itself belongs to the kernel. */
	if (rec->flags & RD_REC_QPN && rec->qpn)
		RD_SET(ev->qpn, rec->qpn);
	if (rec->flags & RD_REC_PORT)
		RD_SET(ev->port, rec->port);
}

/* What follows the fixed part: sizes in bytes. */
struct parts {
	size_t chain, kstack, ustack, moment, request;
};

static struct parts parts_of(const struct rd_rec *rec)
{
	return (struct parts){
		.chain = rec->n_chain * sizeof(rec->chain[0]),
		.kstack = rec->n_kstack * sizeof(uint64_t),
		.ustack = rec->n_ustack * sizeof(uint64_t),
		.moment = rec->n_moment ? sizeof(struct rd_rec_moment) : 0,
		.request = rec->n_request,
	};
}

/* Copies the fixed part and checks all counts against the size of the record. */
static int check_record(const void *data, size_t size, struct rd_rec *rec, struct rd_err *err)
{
	const size_t fixed = offsetof(struct rd_rec, chain);
	struct parts parts;

	memset(rec, 0, sizeof(*rec));
	if (size < fixed)
		return rd_err_set(err, EBADMSG, "event record", "%zu bytes, expected at least %zu", size, fixed);
	memcpy(rec, data, fixed);
	parts = parts_of(rec);
	if (rec->n_chain > RD_CHAIN_SLOTS || rec->n_kstack > RD_STACK_MAX || rec->n_ustack > RD_STACK_MAX ||
	    size < fixed + parts.chain + parts.kstack + parts.ustack + parts.moment + parts.request)
		return rd_err_set(
			err, EBADMSG, "event record",
			"%u functions, %u + %u stack frames and %u bytes of the request do not fit into %zu bytes",
			rec->n_chain, rec->n_kstack, rec->n_ustack, rec->n_request, size);
	if (rec->err >= 0)
		return rd_err_set(err, EBADMSG, "event record", "invalid errno %d", rec->err);
	memcpy(rec->chain, (const uint8_t *)data + fixed, rec->n_chain * sizeof(rec->chain[0]));
	return 0;
}

static char *dup_field(const char *text, size_t size)
{
	return *text ? rd_dup_part(text, size) : NULL;
}

/* Converts a CLOCK_MONOTONIC time of the kernel to CLOCK_REALTIME. */
static uint64_t real_time(struct rd_source *src, uint64_t monotonic)
{
	return src->ops->now(src, CLOCK_REALTIME) - src->ops->now(src, CLOCK_MONOTONIC) + monotonic;
}

int rd_trace_event_decode(struct rd_trace_facts *facts, const void *data, size_t size, const struct rd_fnset *set,
			  struct rd_event *ret, struct rd_err *err)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct parts parts;
	const uint8_t *at;
	struct rd_rec rec;
	const char *ibdev;
	int r = check_record(data, size, &rec, err);

	if (r)
		return r;
	copy_scalars(&rec, set->n_fns, &ev);
	ev.time_ns = real_time(facts->src, rec.time);
	ev.at_ns = rec.time;
	parts = parts_of(&rec);
	at = (const uint8_t *)data + offsetof(struct rd_rec, chain) + parts.chain;
	copy_chain(&rec, set->n_fns, &ev);
	ev.kstack = copy_frames(at, rec.n_kstack);
	ev.ustack = copy_frames(at + parts.kstack, rec.n_ustack);
	ev.n_kstack = rec.n_kstack;
	ev.n_ustack = rec.n_ustack;
	at += parts.kstack + parts.ustack;
	if (parts.moment)
		rd_moment_decode(at, &ev.moment);
	rd_request_decode(rec.verb, set, at + parts.moment, parts.request, &ev.request);

	ev.ibdev = dup_field(rec.ibdev, sizeof(rec.ibdev));
	if (!ev.ibdev && (ibdev = rd_trace_facts_ibdev(facts, rec.dev)))
		ev.ibdev = rd_dup(ibdev);
	ev.cgroup = rd_cgroups_path(facts->cgroups, rec.pid, rec.cgroup);
	*ret = ev;
	memset(&ev, 0, sizeof(ev));
	return 0;
}
