// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/rdma/qp-event.h"

#include <errno.h>
#include <linux/types.h>
#include <string.h>
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

void rd_qp_rec_attributes(const struct rd_qp_rec *rec, struct rd_qp_event *ev)
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

static int what_of(uint32_t role)
{
	static const uint8_t whats[RD_QP_ROLE_COUNT] = {
		[RD_QP_ROLE_MODIFY] = RD_QP_MODIFIED,	[RD_QP_ROLE_CREATE] = RD_QP_CREATED,
		[RD_QP_ROLE_DESTROY] = RD_QP_DESTROYED, [RD_QP_ROLE_EVENT] = RD_QP_ASYNC,
		[RD_QP_ROLE_DISPATCH] = RD_QP_DEVICE,
	};

	return role < RD_QP_ROLE_COUNT ? whats[role] : 0;
}

static void copy_text(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

int rd_qp_event_decode(struct rd_source *src, struct rd_cgroups *cgroups, const void *data, size_t size,
		       struct rd_qp_event *ret, struct rd_err *err)
{
	struct rd_qp_event ev = { 0 };
	struct rd_qp_rec rec;

	if (size < sizeof(rec))
		return rd_err_set(err, EBADMSG, "record of a queue pair", "%zu bytes, expected %zu", size, sizeof(rec));
	memcpy(&rec, data, sizeof(rec));
	ev.what = what_of(rec.role);
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
		rd_qp_rec_attributes(&rec, &ev);
	if (ev.what == RD_QP_ASYNC || ev.what == RD_QP_DEVICE)
		RD_SET(ev.code, rec.event);
	if (ev.what == RD_QP_DEVICE && rec.qpn && rec.qpn <= UINT8_MAX)
		RD_SET(ev.port, rec.qpn);
	if (cgroups && rec.pid)
		ev.cgroup = rd_cgroups_path(cgroups, rec.pid, rec.cgroup);
	*ret = ev;
	return 0;
}
