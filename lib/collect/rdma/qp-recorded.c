// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rdma/qp-recorded.h"

#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "base/memory.h"
#include "bpf/qp.h"
#include "collect/rdma/qp-event.h"

#define MAP RD_SOURCE_MAPS "/" RD_QP_MAP
#define OBJECT "recorder"
#define QPN_MASK 0xffffffu
#define ERRNO_MAX 4095
/* Of all maps: four full ones. Any program with CAP_BPF can create maps of this name. */
#define RECORDED_MAX (1u << 18)

struct take {
	struct rd_res *res;
	struct rd_errlist *errors;
	struct dev {
		uint64_t index; /* of the kernel */
		int at;		/* in res->devs */
	} * devs;		/* by index */
	size_t damaged;
	bool other; /* a map of another version */
	bool too_many;
};

static void add_note(const struct take *take, int code, const char *message, const char *hint)
{
	struct rd_err err = { 0 };

	rd_err_set(&err, code, OBJECT, "%s", message);
	rd_err_hint(&err, "%s", hint);
	rd_errlist_add(take->errors, &err);
}

static int compare_devs(const void *a, const void *b)
{
	const struct dev *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static void list_devs(struct take *take)
{
	const struct rd_res *res = take->res;

	take->devs = rd_alloc(res->n_devs + 1, sizeof(*take->devs));
	for (size_t d = 0; d < res->n_devs; d++)
		take->devs[d] = (struct dev){ res->devs[d].index, (int)d };
	qsort(take->devs, res->n_devs, sizeof(*take->devs), compare_devs);
}

static int find_dev(const struct take *take, uint32_t index)
{
	const struct dev *dev = rd_find_u64(take->devs, take->res->n_devs, sizeof(*dev), index);

	return dev ? dev->at : -1;
}

/* The attributes are those of a record of one call. */
static void copy_attributes(const struct rd_qp_value *value, struct rd_qp_recorded *ret)
{
	struct rd_qp_rec rec = { .known = value->known, .dlid = value->dlid };
	struct rd_qp_event ev = { 0 };

	memcpy(rec.wide, value->wide, sizeof(rec.wide));
	memcpy(rec.narrow, value->narrow, sizeof(rec.narrow));
	memcpy(rec.dgid, value->dgid, sizeof(rec.dgid));
	rd_qp_rec_attributes(&rec, &ev);
	RD_COPY(ret->state, ev.state);
	ret->has_dlid = ev.dlid.known == RD_OK;
	ret->seen = ev.seen;
	ret->attrs = (unsigned)__builtin_popcountll(value->known);
}

static void take_entry(struct take *take, const struct rd_qp_key *key, const struct rd_qp_value *value)
{
	struct rd_res *res = take->res;
	struct rd_qp_recorded recorded = { .dev = find_dev(take, key->dev), .lqpn = key->qpn };

	if (key->qpn > QPN_MASK || value->qpn != key->qpn || value->version != RD_QP_MAP_VERSION || value->err > 0 ||
	    value->err < -ERRNO_MAX) {
		take->damaged++;
		return;
	}
	if (recorded.dev < 0)
		return; /* a device that is not listed */
	if (res->n_recorded >= RECORDED_MAX) {
		take->too_many = true;
		return;
	}
	copy_attributes(value, &recorded);
	if (value->pid)
		RD_SET(recorded.pid, value->pid);
	if (value->known & RD_QP_HAS_TYPE && value->qp_type <= UINT8_MAX)
		RD_SET(recorded.type, (uint8_t)value->qp_type);
	if (value->event_time)
		RD_SET(recorded.event, value->event);
	recorded.event_ns = value->event_time;
	recorded.updated_ns = value->updated;
	recorded.err = value->err;
	recorded.state_ns = value->time;
	recorded.entered = value->known & RD_QP_ENTERED;
	*RD_ADD(res->recorded, res->n_recorded, res->cap_recorded) = recorded;
}

static bool is_head(const struct rd_qp_key *key)
{
	return key->dev == RD_QP_KEY_HEAD && key->qpn == RD_QP_KEY_HEAD;
}

/* Whether the map has a head of this version, which its recorder removes when it ends. */
static bool has_head(struct take *take, const uint8_t *entries, const struct rd_source_map *map)
{
	size_t size = sizeof(struct rd_qp_key) + sizeof(struct rd_qp_value);

	for (uint32_t i = 0; i < map->entries; i++) {
		struct rd_qp_value value;
		struct rd_qp_key key;

		memcpy(&key, entries + i * size, sizeof(key));
		memcpy(&value, entries + i * size + sizeof(key), sizeof(value));
		if (!is_head(&key))
			continue;
		take->other |= value.version != RD_QP_MAP_VERSION;
		return value.version == RD_QP_MAP_VERSION;
	}
	return false;
}

static void take_map(struct take *take, const uint8_t *entries, const struct rd_source_map *map)
{
	size_t size = sizeof(struct rd_qp_key) + sizeof(struct rd_qp_value);

	if (map->key_size != sizeof(struct rd_qp_key) || map->value_size != sizeof(struct rd_qp_value)) {
		take->other = true;
		return;
	}
	if (map->code)
		add_note(take, map->code <= ERRNO_MAX ? (int)map->code : EBADMSG,
			 "cannot read all entries of the BPF map " RD_QP_MAP, "");
	if (!has_head(take, entries, map))
		return;
	for (uint32_t i = 0; i < map->entries; i++) {
		struct rd_qp_value value;
		struct rd_qp_key key;

		memcpy(&key, entries + i * size, sizeof(key));
		memcpy(&value, entries + i * size + sizeof(key), sizeof(value));
		if (!is_head(&key))
			take_entry(take, &key, &value);
	}
}

/* By device and number; of several recorders the one that knows most of the queue pair first, as it saw more of its calls. */
static int compare(const void *a, const void *b)
{
	const struct rd_qp_recorded *x = a, *y = b;

	return RD_FIRST(RD_CMP(x->dev, y->dev), RD_CMP(x->lqpn, y->lqpn), RD_CMP(y->attrs, x->attrs),
			RD_CMP(y->updated_ns, x->updated_ns));
}

static void add_notes(const struct take *take)
{
	if (take->other)
		add_note(take, ENOTSUP,
			 "a recorder of another version of rdmadiag is running: what it knows is not used",
			 "stop it, and start rdmadiag qp-state --trace of this version");
	if (take->damaged)
		add_note(take, EBADMSG, "invalid entries in the BPF map " RD_QP_MAP " are skipped",
			 "bpftool map list name " RD_QP_MAP);
	if (take->too_many)
		add_note(take, E2BIG, "too many entries in the BPF maps " RD_QP_MAP ": some are not used",
			 "bpftool map list name " RD_QP_MAP);
}

/* The head at `at`, which goes to its entries; false: it is cut off, or they are. */
static bool next_map(const struct rd_bytes *maps, size_t *at, struct rd_source_map *ret)
{
	size_t one;

	if (maps->size - *at < sizeof(*ret))
		return false;
	memcpy(ret, maps->data + *at, sizeof(*ret));
	*at += sizeof(*ret);
	one = (size_t)ret->key_size + ret->value_size;
	return !one || ret->entries <= (maps->size - *at) / one;
}

void rd_qp_recorded_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors)
{
	struct take take = { .res = res, .errors = errors };

	list_devs(&take);
	for (size_t at = 0; at < maps->size;) {
		struct rd_source_map map;

		if (!next_map(maps, &at, &map)) {
			take.damaged++;
			break;
		}
		take_map(&take, maps->data + at, &map);
		at += ((size_t)map.key_size + map.value_size) * map.entries;
	}
	if (res->n_recorded)
		qsort(res->recorded, res->n_recorded, sizeof(*res->recorded), compare);
	add_notes(&take);
	free(take.devs);
}

void rd_collect_qp_recorded(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors)
{
	_cleanup_bytes_ struct rd_bytes maps = { 0 };
	struct rd_err err = { 0 };
	int r = rd_read_file(src, MAP, &maps, &err);

	if (r == -ENOENT || r == -EPERM || r == -EACCES)
		return;
	if (r < 0)
		rd_errlist_add(errors, &err);
	else
		rd_qp_recorded_take(&maps, res, errors);
}
