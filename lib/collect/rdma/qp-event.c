/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes what BPF programs say of queue pairs, as foreign input: those of the recorder, and those that look at queries. */
#include "collect/rdma/rdma.h"

#include <linux/types.h>
#include <time.h>

#include "bpf/qp.h"

/* enum ib_mtu */
#define MTU_FIRST 1
#define MTU_LAST 5
#define MTU_BYTES(mtu) (128u << (mtu))

#define QPN_MASK 0xffffffu /* queue pair numbers and PSNs have 24 bits */

/* enum rdma_ah_attr_type, rdma_ah_attr.ah_flags */
#define AH_IB 1
#define AH_ROCE 2
#define AH_FLAG_GRH 1

static bool has_field(const struct rd_qp_rec *rec, enum rd_qp_attr_field field)
{
	return rec->known & 1ull << field;
}

static uint8_t narrow(const struct rd_qp_rec *rec, enum rd_qp_attr_field field)
{
	return rec->narrow[field - RD_QPA_ENUMS];
}

#define SET_NARROW(field, at)                           \
	do {                                            \
		if (has_field(rec, at))                 \
			RD_SET(field, narrow(rec, at)); \
	} while (0)

#define SET_WIDE(field, at, mask_)                              \
	do {                                                    \
		if (has_field(rec, at))                         \
			RD_SET(field, rec->wide[at] & (mask_)); \
	} while (0)

/* The destination GID is valid if the path has a GRH, which RoCE always has. */
static void copy_path(const struct rd_qp_rec *rec, struct rd_qp_event *ev)
{
	static const uint8_t none[16];
	bool roce = has_field(rec, RD_QPA_AH_TYPE) && rec->wide[RD_QPA_AH_TYPE] == AH_ROCE;
	bool ib = has_field(rec, RD_QPA_AH_TYPE) && rec->wide[RD_QPA_AH_TYPE] == AH_IB;

	SET_NARROW(ev->seen.sl, RD_QPA_SL);
	if (ib && rec->known & RD_QP_HAS_DLID)
		RD_SET(ev->dlid, rec->dlid);
	if (!roce && !(has_field(rec, RD_QPA_AH_FLAGS) && narrow(rec, RD_QPA_AH_FLAGS) & AH_FLAG_GRH))
		return;
	SET_NARROW(ev->seen.sgid_index, RD_QPA_SGID_INDEX);
	SET_NARROW(ev->seen.hop_limit, RD_QPA_HOP_LIMIT);
	SET_NARROW(ev->seen.traffic_class, RD_QPA_TRAFFIC_CLASS);
	SET_WIDE(ev->seen.flow_label, RD_QPA_FLOW_LABEL, 0xfffff);
	if (rec->known & RD_QP_HAS_DGID && memcmp(rec->dgid, none, sizeof(none)) != 0) {
		ev->seen.has_dgid = true;
		memcpy(ev->seen.dgid, rec->dgid, sizeof(ev->seen.dgid));
	}
}

/* What a record of RD_QP_ROLE_MODIFY says of the call; each value is bounded. */
static void take_attributes(const struct rd_qp_rec *rec, struct rd_qp_event *ev)
{
	struct rd_qp_seen *seen = &ev->seen;

	ev->mask = rec->mask;
	ev->err = rec->ret;
	ev->duration_ns = rec->duration;
	if (has_field(rec, RD_QPA_STATE) && rec->wide[RD_QPA_STATE] < RD_QPS_N)
		RD_SET(ev->state, (uint8_t)rec->wide[RD_QPA_STATE]);
	if (has_field(rec, RD_QPA_CUR_STATE) && rec->wide[RD_QPA_CUR_STATE] < RD_QPS_N)
		RD_SET(ev->before, (uint8_t)rec->wide[RD_QPA_CUR_STATE]);
	if (has_field(rec, RD_QPA_PATH_MTU) && rec->wide[RD_QPA_PATH_MTU] >= MTU_FIRST &&
	    rec->wide[RD_QPA_PATH_MTU] <= MTU_LAST)
		RD_SET(seen->path_mtu, (uint16_t)MTU_BYTES(rec->wide[RD_QPA_PATH_MTU]));
	SET_WIDE(seen->dest_qpn, RD_QPA_DEST_QPN, QPN_MASK);
	SET_WIDE(ev->rq_psn, RD_QPA_RQ_PSN, QPN_MASK);
	SET_WIDE(ev->sq_psn, RD_QPA_SQ_PSN, QPN_MASK);
	SET_NARROW(ev->port, RD_QPA_PORT);
	SET_NARROW(seen->timeout, RD_QPA_TIMEOUT);
	SET_NARROW(seen->retry_cnt, RD_QPA_RETRY_CNT);
	SET_NARROW(seen->rnr_retry, RD_QPA_RNR_RETRY);
	SET_NARROW(seen->min_rnr_timer, RD_QPA_MIN_RNR_TIMER);
	SET_NARROW(seen->max_rd_atomic, RD_QPA_MAX_RD_ATOMIC);
	SET_NARROW(seen->max_dest_rd_atomic, RD_QPA_MAX_DEST_RD_ATOMIC);
	copy_path(rec, ev);
}

static void copy_text(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

int rd_qp_event_decode(struct rd_source *src, struct rd_cgroups *cgroups, const void *data, size_t size,
		       struct rd_qp_event *ret, struct rd_err *err)
{
	static const uint8_t whats[RD_QP_ROLE_COUNT] = {
		[RD_QP_ROLE_MODIFY] = RD_QP_MODIFIED,	[RD_QP_ROLE_CREATE] = RD_QP_CREATED,
		[RD_QP_ROLE_DESTROY] = RD_QP_DESTROYED, [RD_QP_ROLE_EVENT] = RD_QP_ASYNC,
		[RD_QP_ROLE_DISPATCH] = RD_QP_DEVICE,
	};
	struct rd_qp_event ev = { 0 };
	struct rd_qp_rec rec;

	if (size < sizeof(rec))
		return rd_err_set(err, EBADMSG, "record of a queue pair", "%zu bytes, expected %zu", size, sizeof(rec));
	memcpy(&rec, data, sizeof(rec));
	ev.what = rec.role < RD_QP_ROLE_COUNT ? whats[rec.role] : 0;
	if (!ev.what || rec.ret < -4095)
		return rd_err_set(err, EBADMSG, "record of a queue pair", "invalid kind %u or errno %d", rec.role,
				  rec.ret);
	ev.mono_ns = rec.time;
	/* The kernel stamps records with CLOCK_MONOTONIC. */
	ev.time_ns = src->ops->now(src, CLOCK_REALTIME) - src->ops->now(src, CLOCK_MONOTONIC) + rec.time;
	copy_text(ev.comm, rec.comm, sizeof(ev.comm));
	copy_text(ev.ibdev, rec.ibdev, sizeof(ev.ibdev));
	ev.pid = rec.pid;
	ev.tid = rec.tid;
	if (rec.known & RD_QP_HAS_QPN)
		RD_SET(ev.lqpn, rec.qpn & QPN_MASK);
	if (rec.known & RD_QP_HAS_TYPE && rec.qp_type <= UINT8_MAX)
		RD_SET(ev.type, (uint8_t)rec.qp_type);
	if (ev.what == RD_QP_MODIFIED)
		take_attributes(&rec, &ev);
	if (ev.what == RD_QP_ASYNC || ev.what == RD_QP_DEVICE)
		RD_SET(ev.code, rec.event);
	if (ev.what == RD_QP_DEVICE && rec.qpn && rec.qpn <= UINT8_MAX)
		RD_SET(ev.port, rec.qpn);
	if (cgroups && rec.pid)
		ev.cgroup = rd_cgroups_path(cgroups, rec.pid, rec.cgroup);
	*ret = ev;
	return 0;
}

/* An event in a file: its record, and what the record does not say. */
struct packed {
	uint64_t time_ns;
	double age, age_max;	/* seconds; below 0: unknown */
	int32_t before, sport;	/* below 0: unknown */
	uint32_t age_kind, pad; /* enum rd_age_kind */
	struct rd_qp_rec rec;
};

#define OR_NEGATIVE(field) ((field).known == RD_OK ? (field).v : -1)
#define SET_UNLESS_NEGATIVE(field, value)                              \
	do {                                                           \
		if ((value) >= 0)                                      \
			RD_SET(field, (__typeof__((field).v))(value)); \
	} while (0)

void rd_qp_event_pack(const struct rd_qp_event *ev, const void *raw, struct rd_buf *out)
{
	struct packed p = { .time_ns = ev->time_ns,
			    .age = OR_NEGATIVE(ev->age_seconds),
			    .age_max = OR_NEGATIVE(ev->age_max_seconds),
			    .before = OR_NEGATIVE(ev->before),
			    .sport = OR_NEGATIVE(ev->seen.udp_sport),
			    .age_kind = ev->age_kind };

	memcpy(&p.rec, raw, sizeof(p.rec));
	rd_buf_add(out, &p, sizeof(p));
}

int rd_qp_event_next(struct rd_source *src, const uint8_t **at, const uint8_t *end, struct rd_qp_event *ret,
		     struct rd_err *err)
{
	struct packed p;
	int r;

	if (*at == end)
		return 0;
	if ((size_t)(end - *at) < sizeof(p))
		return rd_err_set(err, EBADMSG, "recorded queue pairs", "an event is cut short");
	memcpy(&p, *at, sizeof(p));
	*at += sizeof(p);
	if (p.before >= RD_QPS_N || p.age_kind > RD_AGE_INTERVAL || !(p.age < 1e12 && p.age_max < 1e12))
		return rd_err_set(err, EBADMSG, "recorded queue pairs", "damaged, or written by another version");
	r = rd_qp_event_decode(src, NULL, &p.rec, sizeof(p.rec), ret, err);
	if (r)
		return r;
	ret->time_ns = p.time_ns;
	ret->age_kind = (enum rd_age_kind)p.age_kind;
	SET_UNLESS_NEGATIVE(ret->age_seconds, p.age);
	SET_UNLESS_NEGATIVE(ret->age_max_seconds, p.age_max);
	SET_UNLESS_NEGATIVE(ret->before, p.before);
	SET_UNLESS_NEGATIVE(ret->seen.udp_sport, p.sport);
	return 1;
}

#define MAP RD_SOURCE_MAPS "/" RD_QP_MAP
#define OBJECT "recorder"
#define ERRNO_MAX 4095
/* Of all maps: four full ones. Any program with CAP_BPF can create maps of this name. */
#define RECORDED_MAX (1u << 18)

struct take {
	struct rd_res *res;
	struct rd_errlist *errors;
	struct dev {
		uint64_t index; /* of the kernel; first: for rd_find_u64 */
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

static void list_devs(struct take *take)
{
	const struct rd_res *res = take->res;

	take->devs = rd_alloc(res->n_devs + 1, sizeof(*take->devs));
	for (size_t d = 0; d < res->n_devs; d++)
		take->devs[d] = (struct dev){ res->devs[d].index, (int)d };
	qsort(take->devs, res->n_devs, sizeof(*take->devs), rd_compare_u64);
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
	take_attributes(&rec, &ev);
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

static void each_map(struct take *take, const struct rd_bytes *maps,
		     void (*fn)(struct take *take, const uint8_t *entries, const struct rd_source_map *map))
{
	for (size_t at = 0; at < maps->size;) {
		struct rd_source_map map = { 0 };
		size_t one, left = maps->size - at;
		bool whole = left >= sizeof(map);

		memcpy(&map, maps->data + at, whole ? sizeof(map) : left);
		at += sizeof(map);
		one = (size_t)map.key_size + map.value_size;
		/* The head is cut off, or its entries are. */
		if (!whole || (one && map.entries > (maps->size - at) / one)) {
			take->damaged++;
			break;
		}
		fn(take, maps->data + at, &map);
		at += one * map.entries;
	}
}

void rd_qp_recorded_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors)
{
	struct take take = { .res = res, .errors = errors };

	list_devs(&take);
	each_map(&take, maps, take_map);
	rd_sort(res->recorded, res->n_recorded, sizeof(*res->recorded), compare);
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

/* ---- what drivers fill in for the query that the kernel makes for its list */

#define BIT(n) (1ull << (n))
#define TYPE(type) (1u << RD_QPT_##type)
#define STATE(state) (1u << RD_QPS_##state)

/* Members of struct ib_qp_attr, as in rd_query_value.qp.known. */
#define ROUTE                                                                                           \
	(BIT(RD_QPA_AH_TYPE) | BIT(RD_QPA_AH_FLAGS) | BIT(RD_QPA_FLOW_LABEL) | BIT(RD_QPA_SGID_INDEX) | \
	 BIT(RD_QPA_HOP_LIMIT) | BIT(RD_QPA_TRAFFIC_CLASS))
#define PEER (ROUTE | RD_QP_HAS_DGID)
#define LID RD_QP_HAS_DLID
#define MTU BIT(RD_QPA_PATH_MTU)
#define TIMEOUT BIT(RD_QPA_TIMEOUT)
#define RETRIES (BIT(RD_QPA_RETRY_CNT) | BIT(RD_QPA_RNR_RETRY))
#define RNR_TIMER BIT(RD_QPA_MIN_RNR_TIMER)
#define ALTERNATE RD_QUERY_HAS_ALT

/* Before RTR there is no peer, and drivers write zeros or nothing. */
#define CONNECTED (STATE(RTR) | STATE(RTS) | STATE(SQD) | STATE(SQE) | STATE(ERR))

/*
 * The kernel does not clear what it passes to a driver, so a member that the driver does not write holds what was there before,
 * mostly of another queue pair. Known are only those that these functions write with attr_mask 0, as the program set them, in all
 * kernels that list such queue pairs; doc/qp-state.md has what was left out, and why. A driver without a row fills in nothing that is
 * used.
 */
static const struct written {
	enum rd_driver driver;
	uint32_t types;
	uint32_t states;
	uint64_t members;
} written[] = {
	/* hw/mlx5/qp.c: mlx5_ib_query_qp clears all; query_qp_attr, to_rdma_ah_attr. DCT, raw packet: zeros. */
	{ RD_DRIVER_MLX5, TYPE(RC) | TYPE(UC) | TYPE(XRC_INI) | TYPE(XRC_TGT), CONNECTED,
	  PEER | LID | MTU | TIMEOUT | RETRIES | RNR_TIMER | ALTERNATE },
	/* hw/mlx4/qp.c: mlx4_ib_query_qp, to_rdma_ah_attr. In RESET only the state. */
	{ RD_DRIVER_MLX4, TYPE(RC) | TYPE(UC) | TYPE(XRC_INI) | TYPE(XRC_TGT), CONNECTED,
	  (PEER & ~BIT(RD_QPA_SGID_INDEX)) | LID | MTU | TIMEOUT | RETRIES | RNR_TIMER | ALTERNATE },
	/* hw/bnxt_re/ib_verbs.c: bnxt_re_query_qp, bnxt_re_modify_qp. */
	{ RD_DRIVER_BNXT_RE, TYPE(RC), CONNECTED,
	  (PEER & ~(BIT(RD_QPA_FLOW_LABEL) | BIT(RD_QPA_TRAFFIC_CLASS))) | MTU | TIMEOUT | RETRIES | RNR_TIMER },
	/* hw/irdma/verbs.c: irdma_query_qp clears all. */
	{ RD_DRIVER_IRDMA, TYPE(RC), CONNECTED, MTU | RETRIES },
	/* hw/ionic/ionic_controlpath.c: ionic_query_qp clears all; ionic_query_qp_cmd. UC cannot be connected. */
	{ RD_DRIVER_IONIC, TYPE(RC), CONNECTED, MTU | TIMEOUT | RETRIES | RNR_TIMER },
	/* hw/erdma/erdma_verbs.c: erdma_query_qp, erdma_av_to_attr. */
	{ RD_DRIVER_ERDMA, TYPE(RC), CONNECTED, PEER },
	/* hw/hns/hns_roce_hw_v2.c: hns_roce_v2_query_qp clears all; hns_roce_v2_set_path, hns_roce_v2_set_opt_fields. */
	{ RD_DRIVER_HNS, TYPE(RC), CONNECTED, (PEER & ~BIT(RD_QPA_TRAFFIC_CLASS)) | MTU },
	/* hw/ocrdma/ocrdma_verbs.c: ocrdma_query_qp; ocrdma_hw.c: ocrdma_set_av_params. */
	{ RD_DRIVER_OCRDMA, TYPE(RC) | TYPE(UC), CONNECTED, ROUTE | TIMEOUT | RETRIES },
	/* hw/qedr/verbs.c: qedr_query_qp clears all. */
	{ RD_DRIVER_QEDR, TYPE(RC), CONNECTED, ROUTE | MTU | RETRIES | RNR_TIMER },
	/* sw/rdmavt/qp.c: rvt_query_qp, rvt_modify_qp. */
	{ RD_DRIVER_HFI1, TYPE(RC) | TYPE(UC), CONNECTED, MTU | TIMEOUT | RETRIES | RNR_TIMER },
	/* sw/rxe/rxe_verbs.c: rxe_query_qp; rxe_qp.c: rxe_qp_to_attr, which copies all that was set; rxe_av.c: rxe_av_to_attr. */
	{ RD_DRIVER_RXE, TYPE(RC) | TYPE(UC), CONNECTED, PEER | MTU | TIMEOUT | RETRIES | RNR_TIMER | ALTERNATE },
};

static uint64_t written_by(const struct rd_res_dev *dev, const struct rd_qp *qp)
{
	uint64_t members = 0;

	/* Drivers of both kinds leave what iWARP does not have. */
	if (dev->driver_id.known != RD_OK || qp->type.known != RD_OK || qp->state.known != RD_OK || qp->type.v > 31 ||
	    qp->state.v > 31 || !dev->protocol || strcmp(dev->protocol, "iw") == 0)
		return 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(written); i++)
		if (written[i].driver == dev->driver_id.v && written[i].types & 1u << qp->type.v &&
		    written[i].states & 1u << qp->state.v)
			members |= written[i].members;
	return members;
}

/* What has no meaning for a queue pair of that type in that state, though a driver writes it. */
static uint64_t meaningful(const struct rd_qp *qp, const struct rd_query_value *value)
{
	bool acknowledged = qp->type.v == RD_QPT_RC || qp->type.v == RD_QPT_XRC_INI;
	bool responds = qp->type.v == RD_QPT_RC || qp->type.v == RD_QPT_XRC_TGT;
	const uint8_t *narrow = value->qp.narrow;
	uint8_t timeout = narrow[RD_QPA_TIMEOUT - RD_QPA_ENUMS];
	static const uint8_t none[16];
	uint64_t members = UINT64_MAX;

	/* It failed before it was connected: drivers have zeros, or what they begin with. */
	if (qp->state.v == RD_QPS_ERR && !value->qp.wide[RD_QPA_DEST_QPN])
		return 0;
	/* Set by the move to RTS; one that failed may have failed before. */
	if (!acknowledged || qp->state.v == RD_QPS_RTR || (qp->state.v == RD_QPS_ERR && !timeout))
		members &= ~(TIMEOUT | RETRIES);
	if (!responds)
		members &= ~RNR_TIMER;
	/* A driver that is not as the table has it. */
	if (timeout > 31)
		members &= ~TIMEOUT;
	if (narrow[RD_QPA_RETRY_CNT - RD_QPA_ENUMS] > 7 || narrow[RD_QPA_RNR_RETRY - RD_QPA_ENUMS] > 7)
		members &= ~RETRIES;
	if (narrow[RD_QPA_MIN_RNR_TIMER - RD_QPA_ENUMS] > 31)
		members &= ~RNR_TIMER;
	/* No alternate path was set; mlx4 has a port of it even so. */
	if (!value->alt_port || (!value->alt_dlid && memcmp(value->alt_dgid, none, sizeof(none)) == 0))
		members &= ~ALTERNATE;
	return members;
}

/* The kernel took these values of the list from the same memory: they differ if the entry is of another query. */
static bool is_of_list(const struct rd_query_value *value, const struct rd_qp *qp)
{
	const uint32_t *wide = value->qp.wide;

	return value->qp.qp_type == qp->type.v && wide[RD_QPA_STATE] == qp->state.v &&
	       (qp->sq_psn.known != RD_OK || wide[RD_QPA_SQ_PSN] == qp->sq_psn.v) &&
	       (qp->rq_psn.known != RD_OK || wide[RD_QPA_RQ_PSN] == qp->rq_psn.v) &&
	       (qp->rqpn.known != RD_OK || wide[RD_QPA_DEST_QPN] == qp->rqpn.v) &&
	       (qp->path_mig.known != RD_OK || value->path_mig == qp->path_mig.v);
}

static void take_query(struct take *take, const struct rd_qp_key *key, struct rd_query_value *value)
{
	int dev = find_dev(take, key->dev);
	size_t i = dev < 0 ? take->res->n_qps : rd_res_find_qp(take->res, dev, key->qpn);
	struct rd_qp_recorded taken = { 0 };
	struct rd_qp_context *context;
	struct rd_qp *qp;

	if (key->qpn > QPN_MASK || value->qp.qpn != key->qpn || value->qp.version != RD_QUERY_VERSION) {
		take->damaged++;
		return;
	}
	if (i >= take->res->n_qps)
		return;
	qp = &take->res->qps[i];
	value->qp.known &= written_by(&take->res->devs[dev], qp) & meaningful(qp, value);
	if (!value->qp.known || !is_of_list(value, qp))
		return;
	copy_attributes(&value->qp, &taken);
	context = rd_qp_need_context(qp);
	context->queried = true;
	rd_qp_seen_merge(&context->attrs, &taken.seen);
	if (taken.has_dlid)
		RD_SET(context->dlid, value->qp.dlid);
	if (value->qp.known & ALTERNATE) {
		RD_SET(context->alt_port, value->alt_port);
		memcpy(context->alt_dgid, value->alt_dgid, sizeof(context->alt_dgid));
	}
}

static void take_queries(struct take *take, const uint8_t *entries, const struct rd_source_map *map)
{
	size_t size = sizeof(struct rd_qp_key) + sizeof(struct rd_query_value);

	if (map->key_size != sizeof(struct rd_qp_key) || map->value_size != sizeof(struct rd_query_value)) {
		take->damaged++;
		return;
	}
	for (uint32_t i = 0; i < map->entries; i++) {
		struct rd_query_value value;
		struct rd_qp_key key;

		memcpy(&key, entries + i * size, sizeof(key));
		memcpy(&value, entries + i * size + sizeof(key), sizeof(value));
		take_query(take, &key, &value);
	}
}

void rd_qp_queries_take(const struct rd_bytes *maps, struct rd_res *res, struct rd_errlist *errors)
{
	struct take take = { .res = res, .errors = errors };
	struct rd_err err = { 0 };

	list_devs(&take);
	each_map(&take, maps, take_queries);
	if (take.damaged && errors) {
		rd_err_set(&err, EBADMSG, RD_SOURCE_QUERIES, "%zu invalid entries are skipped", take.damaged);
		rd_errlist_add(errors, &err);
	}
	free(take.devs);
}

static unsigned filled_by(const struct rd_res_dev *dev)
{
	unsigned fills = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(written) && dev->driver_id.known == RD_OK; i++)
		if (written[i].driver == dev->driver_id.v)
			fills |= RD_FILLS_OTHER | (written[i].members & RD_QP_HAS_DGID ? RD_FILLS_PEER : 0) |
				 (written[i].members & TIMEOUT ? RD_FILLS_TIMEOUT : 0);
	return fills;
}

/* UDP source ports, where the path is RoCE v2. */
static void add_sports(struct rd_source *src, struct rd_res *res)
{
	struct {
		int dev;
		uint32_t port, index;
		bool v2;
	} last = { .dev = -1 }; /* the GID that was looked at last */

	for (size_t i = 0; i < res->n_qps; i++) {
		struct rd_qp *qp = &res->qps[i];
		struct rd_qp_context *context = qp->context;
		struct rd_qp_seen *attrs = context && context->queried ? &context->attrs : NULL;
		const struct rd_res_dev *dev = &res->devs[qp->dev];

		if (!attrs || attrs->sgid_index.known != RD_OK || qp->port.known != RD_OK || qp->rqpn.known != RD_OK)
			continue;
		if (last.dev != qp->dev || last.port != qp->port.v || last.index != attrs->sgid_index.v) {
			_cleanup_free_ char *type = NULL;

			rd_read_textf(src, &type, NULL, "/sys/class/infiniband/%s/ports/%u/gid_attrs/types/%u",
				      dev->name, qp->port.v, attrs->sgid_index.v);
			last.dev = qp->dev;
			last.port = qp->port.v;
			last.index = attrs->sgid_index.v;
			last.v2 = type && strcmp(type, "RoCE v2") == 0;
		}
		if (last.v2)
			rd_qp_seen_add_sport(attrs, dev->driver_id.v, qp->lqpn.v, qp->rqpn.v, false);
	}
}

void rd_collect_qp_queries(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors)
{
	_cleanup_bytes_ struct rd_bytes maps = { 0 };

	for (size_t d = 0; d < res->n_devs; d++)
		res->devs[d].fills = filled_by(&res->devs[d]);
	if (!res->n_qps || rd_read_file(src, RD_SOURCE_QUERIES, &maps, NULL) < 0)
		return;
	res->probe = RD_PROBE_ON;
	rd_qp_queries_take(&maps, res, errors);
	add_sports(src, res);
}
