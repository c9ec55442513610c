/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp.h"

#include <limits.h>
#include <strings.h>

#include "base/buf.h"
#include "model/host/host.h"

void rd_qp_deinit(struct rd_qp *qp)
{
	RD_FREE(qp->owner.kernel, qp->subtype);
	if (qp->context)
		free(qp->context->driver);
	free(qp->context);
}

struct rd_qp_context *rd_qp_need_context(struct rd_qp *qp)
{
	if (!qp->context)
		qp->context = rd_alloc(1, sizeof(*qp->context));
	return qp->context;
}

bool rd_res_is_whole(const struct rd_res_dev *dev, enum rd_res_kind kind)
{
	const struct rd_res_gap *gap = &dev->gaps[kind];

	return !gap->code && !gap->interrupted && !gap->damaged;
}

bool rd_res_lists_all(const struct rd_res_dev *dev, enum rd_res_kind kind)
{
	return rd_res_is_whole(dev, kind) && dev->used[kind].known == RD_OK && dev->listed[kind] >= dev->used[kind].v;
}

void rd_res_deinit(struct rd_res *res)
{
	for (size_t i = 0; i < res->n_devs; i++)
		RD_FREE(res->devs[i].name, res->devs[i].protocol, res->devs[i].firmware);
	for (size_t i = 0; i < res->n_ports; i++)
		free(res->ports[i].netdev);
	for (size_t i = 0; i < res->n_qps; i++)
		rd_qp_deinit(&res->qps[i]);
	for (size_t i = 0; i < res->n_cm_ids; i++)
		free(res->cm_ids[i].owner.kernel);
	for (size_t i = 0; i < res->n_objects; i++)
		free(res->objects[i].owner.kernel);
	for (size_t i = 0; i < res->n_procs; i++) {
		struct rd_proc *proc = &res->procs[i];

		RD_FREE(proc->comm, proc->cgroup, proc->job, proc->devx_libs, proc->peers);
	}
	RD_FREE(res->devs, res->ports, res->qps, res->cm_ids, res->objects, res->procs, res->recorded);
	*res = (struct rd_res){ 0 };
}

static const char *const type_names[] = {
	[RD_QPT_SMI] = "SMI",	      [RD_QPT_GSI] = "GSI",
	[RD_QPT_RC] = "RC",	      [RD_QPT_UC] = "UC",
	[RD_QPT_UD] = "UD",	      [5] = "RAW_IPV6",
	[6] = "RAW_ETHERTYPE",	      [RD_QPT_RAW_PACKET] = "RAW_PACKET",
	[RD_QPT_XRC_INI] = "XRC_INI", [RD_QPT_XRC_TGT] = "XRC_TGT",
	[RD_QPT_DRIVER] = "DRIVER",
};

static const char *const state_names[] = {
	[RD_QPS_RESET] = "RESET", [RD_QPS_INIT] = "INIT", [RD_QPS_RTR] = "RTR", [RD_QPS_RTS] = "RTS",
	[RD_QPS_SQD] = "SQD",	  [RD_QPS_SQE] = "SQE",	  [RD_QPS_ERR] = "ERR",
};

static const char *name_of(const char *const *names, size_t n, unsigned value)
{
	return value < n ? names[value] : NULL;
}

static int parse(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && strcasecmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

const char *rd_qp_type_name(unsigned type)
{
	return name_of(type_names, RD_ARRAY_SIZE(type_names), type);
}

const char *rd_qp_state_name(unsigned state)
{
	return name_of(state_names, RD_ARRAY_SIZE(state_names), state);
}

int rd_qp_state_parse(const char *name)
{
	return parse(state_names, RD_ARRAY_SIZE(state_names), name);
}

int rd_qp_type_parse(const char *name)
{
	return parse(type_names, RD_ARRAY_SIZE(type_names), name);
}

const char *rd_path_mig_name(unsigned state)
{
	static const char *const names[] = { "MIGRATED", "REARM", "ARMED" };

	return name_of(names, RD_ARRAY_SIZE(names), state);
}

/* enum rdma_cm_state of the kernel's drivers/infiniband/core/cma_priv.h */
const char *rd_cm_state_name(unsigned state)
{
	static const char *const names[] = { "IDLE",	       "ADDR_QUERY",	 "ADDR_RESOLVED", "ROUTE_QUERY",
					     "ROUTE_RESOLVED", "CONNECT",	 "DISCONNECT",	  "ADDR_BOUND",
					     "LISTEN",	       "DEVICE_REMOVAL", "DESTROYING" };

	return name_of(names, RD_ARRAY_SIZE(names), state);
}

const char *rd_res_kind_name(enum rd_res_kind kind)
{
	static const char *const names[] = {
		[RD_RES_QP] = "qp", [RD_RES_CM_ID] = "cm_id", [RD_RES_CQ] = "cq",   [RD_RES_MR] = "mr",
		[RD_RES_PD] = "pd", [RD_RES_CTX] = "ctx",     [RD_RES_SRQ] = "srq",
	};

	return name_of(names, RD_ARRAY_SIZE(names), kind);
}

const char *rd_age_kind_name(enum rd_age_kind kind)
{
	static const char *const names[] = { NULL, "exact", "at_least", "interval" };

	return name_of(names, RD_ARRAY_SIZE(names), kind);
}

const char *rd_owner_name(const struct rd_res *res, const struct rd_owner *owner, int proc)
{
	if (owner->kernel)
		return owner->kernel;
	return proc >= 0 ? res->procs[proc].comm : NULL;
}

int rd_res_find_dev(const struct rd_res *res, const char *name)
{
	for (size_t i = 0; name && i < res->n_devs; i++)
		if (strcmp(res->devs[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int compare_pid(const void *proc, const void *pid)
{
	return RD_CMP(((const struct rd_proc *)proc)->pid, *(const uint32_t *)pid);
}

int rd_res_find_proc(const struct rd_res *res, uint32_t pid)
{
	size_t at = rd_lower_bound(&pid, res->procs, res->n_procs, sizeof(*res->procs), compare_pid);

	return at < res->n_procs && res->procs[at].pid == pid ? (int)at : -1;
}

static int compare_qpn(const void *a, const void *b)
{
	const struct rd_qp *x = a, *y = b;

	return RD_CMP(x->dev, y->dev) ?: RD_CMP(x->lqpn.v, y->lqpn.v);
}

size_t rd_res_find_qp(const struct rd_res *res, int dev, uint32_t lqpn)
{
	const struct rd_qp key = { .dev = dev, .lqpn.v = lqpn };
	size_t at = rd_lower_bound(&key, res->qps, res->n_qps, sizeof(*res->qps), compare_qpn);

	return at < res->n_qps && compare_qpn(&res->qps[at], &key) == 0 ? at : res->n_qps;
}

#define MERGE(field)                             \
	do {                                     \
		if (from->field.known == RD_OK)  \
			to->field = from->field; \
	} while (0)

void rd_qp_seen_merge(struct rd_qp_seen *to, const struct rd_qp_seen *from)
{
	MERGE(timeout);
	MERGE(retry_cnt);
	MERGE(rnr_retry);
	MERGE(min_rnr_timer);
	MERGE(path_mtu);
	MERGE(max_rd_atomic);
	MERGE(max_dest_rd_atomic);
	MERGE(sgid_index);
	MERGE(hop_limit);
	MERGE(traffic_class);
	MERGE(sl);
	MERGE(flow_label);
	MERGE(udp_sport);
	MERGE(dest_qpn);
	if (from->has_sgid) {
		to->has_sgid = true;
		memcpy(to->sgid, from->sgid, sizeof(to->sgid));
	}
	if (from->has_dgid) {
		to->has_dgid = true;
		memcpy(to->dgid, from->dgid, sizeof(to->dgid));
	}
}

#define FLOW_LABEL_MASK 0xfffffu /* 20 bits */
#define PORT_LOW 0x3fffu	 /* bits that the lower bits of the label set */
#define PORT_LEAST 0xc000u	 /* start of the ephemeral ports */

uint32_t rd_flow_label_of_qps(uint32_t lqpn, uint32_t rqpn)
{
	uint64_t v = (uint64_t)lqpn * rqpn;

	v ^= v >> 20;
	v ^= v >> 40;
	return (uint32_t)(v & FLOW_LABEL_MASK);
}

uint16_t rd_udp_sport(uint32_t flow_label, uint32_t lqpn, uint32_t rqpn)
{
	uint32_t label = flow_label ? flow_label & FLOW_LABEL_MASK : rd_flow_label_of_qps(lqpn, rqpn);

	return (uint16_t)(((label & PORT_LOW) ^ (label >> 14)) | PORT_LEAST);
}

/* By the kernel's rule; doc/qp-state.md has the function of each driver, and what was left out, and why. */
static const enum rd_driver with_rule[] = { RD_DRIVER_MLX5, RD_DRIVER_ERDMA, RD_DRIVER_IONIC, RD_DRIVER_RXE };

void rd_qp_seen_add_sport(struct rd_qp_seen *seen, uint32_t driver, uint32_t lqpn, uint32_t rqpn, bool has_lid)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(with_rule); i++)
		if (with_rule[i] == driver && seen->flow_label.known == RD_OK && !has_lid)
			RD_SET(seen->udp_sport, rd_udp_sport(seen->flow_label.v, lqpn, rqpn));
}

static bool has(const struct rd_proc_peers *peers, const uint8_t ip[16])
{
	for (unsigned i = 0; i < peers->n; i++)
		if (memcmp(peers->ip[i], ip, 16) == 0)
			return true;
	return false;
}

void rd_proc_peers_merge(struct rd_proc_peers *to, const struct rd_proc_peers *from)
{
	bool left_out = false;

	for (unsigned i = 0; i < from->n; i++) {
		if (has(to, from->ip[i]))
			continue;
		if (to->n < RD_PROC_PEERS)
			memcpy(to->ip[to->n++], from->ip[i], 16);
		else
			left_out = true;
	}
	/* Those left out of several lists may be the same ones. */
	to->at_least |= from->at_least || left_out || (from->more && to->more);
	if (from->more > to->more)
		to->more = from->more;
	if (left_out && !to->more)
		to->more = 1;
}

char *rd_proc_peers_text(const struct rd_proc_peers *peers)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_str(&out, "");
	for (unsigned i = 0; i < peers->n; i++) {
		struct rd_gid gid;
		char text[48];

		memcpy(gid.raw, peers->ip[i], sizeof(gid.raw));
		rd_gid_ip(&gid, text);
		rd_buf_printf(&out, "%s%s", i ? "," : "", text);
	}
	if (peers->more)
		rd_buf_printf(&out, " +%" PRIu64 "%s", peers->more, peers->at_least ? " or more" : "");
	return RD_TAKE(out.data);
}

void rd_qp_ports_deinit(struct rd_qp_ports *ports)
{
	RD_FREE(ports->v, ports->gids);
	*ports = (struct rd_qp_ports){ 0 };
}

static int compare_ports(const void *a, const void *b)
{
	const struct rd_qp_port *x = a, *y = b;

	return RD_CMP(x->dev, y->dev) ?: RD_CMP(x->num, y->num);
}

const struct rd_qp_port *rd_qp_ports_find(const struct rd_qp_ports *ports, int dev, uint32_t num)
{
	const struct rd_qp_port key = { .dev = dev, .num = num };

	return ports->n ? bsearch(&key, ports->v, ports->n, sizeof(key), compare_ports) : NULL;
}

static int compare_gids(const void *a, const void *b)
{
	const struct rd_qp_gid *x = a, *y = b;

	return RD_FIRST(memcmp(x->raw, y->raw, sizeof(x->raw)), RD_CMP(x->dev, y->dev), RD_CMP(x->port, y->port));
}

void rd_qp_ports_sort(struct rd_qp_ports *ports)
{
	rd_sort(ports->gids, ports->n_gids, sizeof(*ports->gids), compare_gids);
}

const struct rd_qp_gid *rd_qp_ports_gids(const struct rd_qp_ports *ports, const uint8_t gid[16], size_t *n)
{
	struct rd_qp_gid first = { .dev = INT_MIN }, last = { .dev = INT_MAX, .port = UINT32_MAX };
	size_t at;

	memcpy(first.raw, gid, 16);
	memcpy(last.raw, gid, 16);
	at = rd_lower_bound(&first, ports->gids, ports->n_gids, sizeof(first), compare_gids);
	*n = rd_lower_bound(&last, ports->gids, ports->n_gids, sizeof(last), compare_gids) - at;
	return *n ? &ports->gids[at] : NULL;
}

bool rd_qp_ports_have(const struct rd_qp_ports *ports, const uint8_t gid[16], int dev, uint32_t port)
{
	struct rd_qp_gid key = { .dev = dev, .port = port };

	memcpy(key.raw, gid, 16);
	return ports->n_gids && bsearch(&key, ports->gids, ports->n_gids, sizeof(key), compare_gids);
}

void rd_qp_event_deinit(struct rd_qp_event *event)
{
	RD_FREE(event->cgroup, event->job);
	*event = (struct rd_qp_event){ 0 };
}

const char *rd_qp_what_name(enum rd_qp_what what)
{
	static const char *const names[] = { NULL, "modify", "create", "destroy", "event", "device-event" };

	return name_of(names, RD_ARRAY_SIZE(names), what);
}

/* The first 20 of enum ib_event_type (rdma/ib_verbs.h) are those of libibverbs. */
const char *rd_ib_event_name(unsigned code)
{
	static const char *const names[] = { "CQ_ERR",
					     "QP_FATAL",
					     "QP_REQ_ERR",
					     "QP_ACCESS_ERR",
					     "COMM_EST",
					     "SQ_DRAINED",
					     "PATH_MIG",
					     "PATH_MIG_ERR",
					     "DEVICE_FATAL",
					     "PORT_ACTIVE",
					     "PORT_ERR",
					     "LID_CHANGE",
					     "PKEY_CHANGE",
					     "SM_CHANGE",
					     "SRQ_ERR",
					     "SRQ_LIMIT_REACHED",
					     "QP_LAST_WQE_REACHED",
					     "CLIENT_REREGISTER",
					     "GID_CHANGE",
					     "WQ_FATAL" };

	return name_of(names, RD_ARRAY_SIZE(names), code);
}

/* enum ib_qp_attr_mask: the kernel's user interface. */
const char *rd_qp_attr_name(unsigned bit)
{
	static const char *const names[] = { "STATE",
					     "CUR_STATE",
					     "EN_SQD_ASYNC_NOTIFY",
					     "ACCESS_FLAGS",
					     "PKEY_INDEX",
					     "PORT",
					     "QKEY",
					     "AV",
					     "PATH_MTU",
					     "TIMEOUT",
					     "RETRY_CNT",
					     "RNR_RETRY",
					     "RQ_PSN",
					     "MAX_QP_RD_ATOMIC",
					     "ALT_PATH",
					     "MIN_RNR_TIMER",
					     "SQ_PSN",
					     "MAX_DEST_RD_ATOMIC",
					     "PATH_MIG_STATE",
					     "CAP",
					     "DEST_QPN",
					     [25] = "RATE_LIMIT",
					     "QP_RESERVED1" };

	return name_of(names, RD_ARRAY_SIZE(names), bit);
}
