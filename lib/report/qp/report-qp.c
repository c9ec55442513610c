/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queue pairs, one per row; counts: limits, owners, groups; events of --trace, and their summary. */
#include "report/qp/report-qp.h"

#include <arpa/inet.h>
#include <math.h>

#include "report/shared/metrics.h"

/* "10.0.0.1:4791", "[fe80::1]:4791"; only the GID of AF_IB. */
static void set_address(struct rd_row *row, size_t column, const struct rd_sockaddr *addr)
{
	char ip[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 16];

	if (!addr->family || !inet_ntop(addr->family == AF_INET ? AF_INET : AF_INET6, addr->ip, ip, sizeof(ip)))
		return;
	if (addr->family == RD_AF_IB)
		snprintf(text, sizeof(text), "%s", ip);
	else
		snprintf(text, sizeof(text), addr->family == AF_INET ? "%s:%u" : "[%s]:%u", ip, addr->port);
	rd_row_set(row, column, RD_STR(text));
}

/* Which of them is the peer is unknown. */
static void add_proc_peers(struct rd_row *row, const struct rd_res *res, const struct rd_qp *qp,
			   const struct rd_qp_view *view)
{
	const struct rd_proc_peers *peers = qp->proc >= 0 ? res->procs[qp->proc].peers : NULL;
	_cleanup_free_ char *text = NULL;

	if (!peers || rd_qp_peer_source(res, view) != RD_PEER_UNKNOWN)
		return;
	text = rd_proc_peers_text(peers);
	rd_row_set(row, RD_QP_PROC_PEERS, RD_STR(text));
}

/* PEER: the IP address; PEERGID: the GID as in sysfs. */
static void add_peer_cells(struct rd_row *row, const struct rd_cm_id *cm_id, const struct rd_qp_view *view)
{
	const uint8_t *gid = rd_qp_peer_gid(view);
	char ip[INET6_ADDRSTRLEN];

	if (gid) {
		rd_row_gid(row, RD_QP_PEER_GID, gid);
		rd_row_gid_ip(row, RD_QP_PEER, gid);
	} else if (cm_id && cm_id->dst.family &&
		   inet_ntop(cm_id->dst.family == AF_INET ? AF_INET : AF_INET6, cm_id->dst.ip, ip, sizeof(ip))) {
		rd_row_set(row, RD_QP_PEER, RD_STR(ip));
	}
	if (!cm_id)
		return;
	set_address(row, RD_QP_SRC_ADDR, &cm_id->src);
	set_address(row, RD_QP_DST_ADDR, &cm_id->dst);
}

/* By name; numbers as the driver would have them printed. */
static void add_driver_cell(struct rd_row *row, const struct rd_qp_context *context)
{
	static const struct rd_column columns[] = { { "name", "NAME", RD_T_STR, "name", 0, false },
						    { "value", "VALUE", RD_T_STR, "value", 0, false } };
	struct rd_section *section;

	if (!context->driver)
		return;
	section = RD_SECTION("driver", columns);
	for (const char *at = context->driver; at < context->driver + context->driver_size;) {
		const char *value = at + strlen(at) + 1;

		RD_ROW(section, RD_STR(at), RD_STR(value));
		at = value + strlen(value) + 1;
	}
	rd_row_set(row, RD_QP_DRIVER, RD_SUB(section));
}

/* Rows are made from these, in the order of the list, or of all queue pairs. */
struct rows {
	const struct rd_qp_views *views;
	uint32_t *list; /* indices into res->qps; NULL: all */
};

/* Names and texts are borrowed: they belong to the views and the resources. */
static void make_row(const void *arg, size_t i, struct rd_row *row)
{
	static const struct rd_qp_context no_context;
	const struct rows *rows = arg;
	const struct rd_res *res = rows->views->res;
	size_t at = rows->list ? rows->list[i] : i;
	const struct rd_qp *qp = &res->qps[at];
	const struct rd_qp_view *view = &rows->views->v[at];
	const struct rd_qp_past *past = view->past;
	const struct rd_proc *proc = qp->proc >= 0 ? &res->procs[qp->proc] : NULL;
	const struct rd_cm_id *cm_id = view->link->cm_id >= 0 ? &res->cm_ids[view->link->cm_id] : NULL;
	const struct rd_qp_seen attrs = rd_qp_attributes(view);
	const struct rd_qp_context *context = view->link->context ?: &no_context;

	/* "unknown" is a state that scripts can select, not a missing value. The kernel's own QPs have a name; if the query failed, the
	 * owner is unknown. */
	RD_CELLS(row, RD_BORROW(res->devs[qp->dev].name), RD_UINT_OF(qp->port), RD_UINT_OF(qp->lqpn),
		 RD_BORROW(qp->type.known == RD_OK ? rd_qp_type_name(qp->type.v) : NULL),
		 RD_BORROW((qp->state.known == RD_OK ? rd_qp_state_name(qp->state.v) : NULL) ?: "unknown"),
		 RD_UINT_OF(qp->rqpn), RD_UNKNOWN_CELL, RD_UINT_OF(qp->owner.pid),
		 RD_BORROW(rd_owner_name(res, &qp->owner, qp->proc)), RD_BORROW(proc ? proc->job : NULL),
		 RD_DOUBLE_OF(past->age_seconds), RD_BORROW(rd_qp_verdicts[view->verdict->kind].name),
		 RD_UINT_OF(qp->sq_psn), RD_UINT_OF(qp->rq_psn),
		 RD_BORROW(qp->path_mig.known == RD_OK ? rd_path_mig_name(qp->path_mig.v) : NULL), RD_UINT_OF(qp->pdn),
		 qp->query_errno ? RD_UNKNOWN_CELL : RD_BOOL(qp->owner.kernel != NULL),
		 RD_BORROW(rd_age_kind_name(past->age_kind)), RD_DOUBLE_OF(past->age_max_seconds),
		 RD_DOUBLE_OF(past->psn_per_second), RD_UNKNOWN_CELL,
		 RD_BORROW(rd_peer_source_name(rd_qp_peer_source(res, view))), RD_UNKNOWN_CELL,
		 RD_UINT_OF(attrs.udp_sport), RD_UINT_OF(attrs.flow_label), RD_UINT_OF(attrs.path_mtu),
		 RD_UINT_OF(attrs.timeout), RD_UINT_OF(attrs.retry_cnt), RD_UINT_OF(attrs.rnr_retry),
		 RD_UINT_OF(attrs.min_rnr_timer), RD_UINT_OF(attrs.sgid_index), RD_UINT_OF(attrs.dest_qpn),
		 RD_UINT_OF(context->alt_port), RD_UNKNOWN_CELL, RD_UINT_OF(context->dlid), RD_UNKNOWN_CELL,
		 RD_BORROW(qp->subtype), RD_BORROW(proc ? proc->cgroup : NULL),
		 RD_BORROW(cm_id && cm_id->state.known == RD_OK ? rd_cm_state_name(cm_id->state.v) : NULL),
		 RD_UNKNOWN_CELL, RD_UNKNOWN_CELL, RD_BORROW(qp->query_errno ? rd_errno_name(qp->query_errno) : NULL),
		 RD_BORROW(past->last_err ? rd_errno_name(past->last_err) : NULL), RD_BORROW(view->verdict->why));
	rd_row_fix(row, RD_QP_FIX, view->verdict->fix);
	add_peer_cells(row, cm_id, view);
	add_proc_peers(row, res, qp, view);
	if (context->alt_port.known == RD_OK)
		rd_row_gid(row, RD_QP_ALT_GID, context->alt_dgid);
	add_driver_cell(row, context);
}

void rd_report_qps(struct rd_report *report, const struct rd_qp_views *views, const bool *chosen)
{
	const size_t n_qps = views->res->n_qps;
	struct rows *rows;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < n_qps; i++)
		n += !chosen || chosen[i];
	rows = rd_alloc(1, sizeof(*rows) + (n < n_qps ? n * sizeof(*rows->list) : 0));
	rows->views = views;
	if (n < n_qps)
		rows->list = (uint32_t *)(rows + 1);
	for (size_t i = 0; rows->list && i < n_qps; i++)
		if (chosen[i])
			rows->list[at++] = (uint32_t)i;
	rd_report_add(report, rd_section_create_made("qps", rd_qp_columns, RD_QP_COLUMNS, n, make_row, rows));
}

/* clang-format off */
const struct rd_column rd_qp_columns[RD_QP_COLUMNS] = {
	[RD_QP_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[RD_QP_PORT] = { "port", "PORT", RD_T_UINT, "port of the device", 0, false },
	[RD_QP_LQPN] = { "lqpn", "LQPN", RD_T_UINT, "queue pair number", 0, false },
	[RD_QP_TYPE] = { "type", "TYPE", RD_T_STR, "service type: RC, UC, UD, GSI ...", 0, false },
	[RD_QP_STATE] = { "state", "STATE", RD_T_STR, "RESET, INIT, RTR, RTS, SQD, SQE, ERR; unknown: not reported by the device", 0, false },
	[RD_QP_RQPN] = { "rqpn", "RQPN", RD_T_UINT, "remote QP number (RC, UC)", 0, false },
	[RD_QP_PEER] = { "peer", "PEER", RD_T_STR, "address of the peer, if known", 0, false },
	[RD_QP_PID] = { "pid", "PID", RD_T_UINT, "ID of the process that created it", 0, false },
	[RD_QP_COMM] = { "comm", "COMM", RD_T_STR, "process name, or kernel component", 0, false },
	[RD_QP_JOB] = { "job", "JOB", RD_T_STR, "workload manager job", 0, false },
	[RD_QP_AGE] = { "state_seconds", "AGE", RD_T_DOUBLE, "time in this state, in seconds", 1, true },
	[RD_QP_VERDICT] = { "verdict", "VERDICT", RD_T_STR, "diagnosis: ok, idle, stuck, failed, retrying ...", 0, true },
	[RD_QP_SQ_PSN] = { "sq_psn", "SQPSN", RD_T_UINT, "next packet sequence number to send", 0, true },
	[RD_QP_RQ_PSN] = { "rq_psn", "RQPSN", RD_T_UINT, "next packet sequence number expected", 0, true },
	[RD_QP_PATH_MIG] = { "path_mig_state", "PATHMIG", RD_T_STR, "path migration state: MIGRATED, REARM, ARMED", 0, true },
	[RD_QP_PDN] = { "pdn", "PDN", RD_T_UINT, "protection domain number", 0, true },
	[RD_QP_KERNEL] = { "kernel", "KERNEL", RD_T_BOOL, "created by the kernel", 0, true },
	[RD_QP_AGE_KIND] = { "state_age_kind", "AGEKIND", RD_T_STR, "accuracy of state_seconds: exact, at_least, interval", 0, true },
	[RD_QP_AGE_MAX] = { "state_max_seconds", "AGEMAX", RD_T_DOUBLE, "upper bound of state_seconds, for an interval", 1, true },
	[RD_QP_PSN_RATE] = { "psn_per_second", "PSN/S", RD_T_DOUBLE, "packets per second between two samples", 0, true },
	[RD_QP_PEER_GID] = { "peer_gid", "PEERGID", RD_T_STR, "GID of the peer", 0, true },
	[RD_QP_PEER_SOURCE] = { "peer_source", "PEERSOURCE", RD_T_STR, "where the address of the peer comes from: recorder, rdma_cm, kernel-query, driver", 0, true },
	[RD_QP_PROC_PEERS] = { "process_tcp_peers", "TCPPEERS", RD_T_STR, "if the peer is unknown: addresses that the process has TCP connections to", 0, true },
	[RD_QP_UDP_SPORT] = { "udp_sport", "SPORT", RD_T_UINT, "UDP source port (RoCE v2), as recorded, or from the device", 0, true },
	[RD_QP_FLOW_LABEL] = { "flow_label", "FLOWLABEL", RD_T_UINT, "flow label, as recorded, or from the device", 0, true },
	[RD_QP_PATH_MTU] = { "path_mtu_bytes", "PATHMTU", RD_T_UINT, "path MTU, as recorded, or from the device", 0, true },
	[RD_QP_TIMEOUT] = { "timeout", "TIMEOUT", RD_T_UINT, "local ACK timeout T (4.096 us x 2^T), as recorded, or from the device", 0, true },
	[RD_QP_RETRY_CNT] = { "retry_cnt", "RETRY", RD_T_UINT, "retransmissions of a packet (retry_cnt), as recorded, or from the device", 0, true },
	[RD_QP_RNR_RETRY] = { "rnr_retry", "RNRRETRY", RD_T_UINT, "retries after RNR NAKs, as recorded, or from the device", 0, true },
	[RD_QP_MIN_RNR_TIMER] = { "min_rnr_timer", "RNRTIMER", RD_T_UINT, "RNR NAK timer, encoded, as recorded, or from the device", 0, true },
	[RD_QP_SGID_INDEX] = { "sgid_index", "GIDX", RD_T_UINT, "index of the local GID, as recorded", 0, true },
	[RD_QP_DEST_QPN] = { "dest_qpn", "DESTQPN", RD_T_UINT, "remote QP number, as recorded, or from the device", 0, true },
	[RD_QP_ALT_PORT] = { "alt_port", "ALTPORT", RD_T_UINT, "port of the alternate path", 0, true },
	[RD_QP_ALT_GID] = { "alt_peer_gid", "ALTPEERGID", RD_T_STR, "GID of the peer on the alternate path", 0, true },
	[RD_QP_DLID] = { "dlid", "DLID", RD_T_UINT, "LID of the peer (InfiniBand), from the device", 0, true },
	[RD_QP_DRIVER] = { "driver", "DRIVER", RD_T_MAP, "what its driver adds to the kernel's list, by the driver's own names", 0, true },
	[RD_QP_SUBTYPE] = { "subtype", "SUBTYPE", RD_T_STR, "driver-specific type", 0, true },
	[RD_QP_CGROUP] = { "cgroup", "CGROUP", RD_T_STR, "cgroup of the process", 0, true },
	[RD_QP_CM_STATE] = { "cm_state", "CMSTATE", RD_T_STR, "state of the connection (rdma_cm)", 0, true },
	[RD_QP_SRC_ADDR] = { "src_addr", "SRCADDR", RD_T_STR, "source address of the connection (rdma_cm)", 0, true },
	[RD_QP_DST_ADDR] = { "dst_addr", "DSTADDR", RD_T_STR, "destination address of the connection (rdma_cm)", 0, true },
	[RD_QP_ERRNO] = { "query_errno", "ERRNO", RD_T_STR, "errno of the query, if the state is unknown", 0, true },
	[RD_QP_LAST_ERR] = { "last_errno", "LASTERR", RD_T_STR, "errno of the last modify_qp that failed, as recorded", 0, true },
	[RD_QP_WHY] = { "reason", "REASON", RD_T_STR, "reason for the verdict", 0, true },
	[RD_QP_FIX] = { "fix", "FIX", RD_T_STR, "commands that fix it, or show more", 0, true },
	[RD_QP_ADVICE] = { "advice", "ADVICE", RD_T_STR, "what else to do, or to check", 0, true },
};
/* clang-format on */

enum { HELD_IBDEV, HELD_PID, HELD_COMM, HELD_JOB, HELD_KINDS, HELD_COLUMNS = HELD_KINDS + RD_RES_KINDS };
/* clang-format off */
static const struct rd_column summary_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "resource", "RESOURCE", RD_T_STR, "qp, cm_id, cq, mr, pd, ctx, srq", 0, false },
	{ "used", "USED", RD_T_UINT, "objects in use, in all namespaces", 0, false },
	{ "max", "MAX", RD_T_UINT, "limit of the device", 0, false },
	{ "used_percent", "USE%", RD_T_DOUBLE, "percentage of the limit in use", 1, false },
	{ "listed", "LISTED", RD_T_UINT, "objects in use that the kernel lists here", 0, true },
};

static const struct rd_column holder_columns[HELD_COLUMNS] = {
	[HELD_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[HELD_PID] = { "pid", "PID", RD_T_UINT, "process ID", 0, false },
	[HELD_COMM] = { "comm", "COMM", RD_T_STR, "process name, or kernel component", 0, false },
	[HELD_JOB] = { "job", "JOB", RD_T_STR, "workload manager job", 0, false },
	[HELD_KINDS + RD_RES_QP] = { "qp", "QP", RD_T_UINT, "queue pairs", 0, false },
	[HELD_KINDS + RD_RES_CM_ID] = { "cm_id", "CM_ID", RD_T_UINT, "connections", 0, false },
	[HELD_KINDS + RD_RES_CQ] = { "cq", "CQ", RD_T_UINT, "completion queues", 0, false },
	[HELD_KINDS + RD_RES_MR] = { "mr", "MR", RD_T_UINT, "memory regions", 0, false },
	[HELD_KINDS + RD_RES_PD] = { "pd", "PD", RD_T_UINT, "protection domains", 0, false },
	[HELD_KINDS + RD_RES_CTX] = { "ctx", "CTX", RD_T_UINT, "contexts", 0, false },
	[HELD_KINDS + RD_RES_SRQ] = { "srq", "SRQ", RD_T_UINT, "shared receive queues", 0, false },
};

static const struct rd_column group_columns[] = {
	[RD_QP_GROUP_NAME] = { "group", "GROUP", RD_T_STR, "state, process, device, peer or job of the group", 0, false },
	[RD_QP_GROUP_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "comm", "COMM", RD_T_STR, "process name", 0, false },
	{ "job", "JOB", RD_T_STR, "job of the process", 0, false },
	{ "qps", "QPS", RD_T_UINT, "queue pairs in the group", 0, false },
	{ "reset", "RESET", RD_T_UINT, "queue pairs in RESET", 0, false },
	{ "init", "INIT", RD_T_UINT, "queue pairs in INIT", 0, false },
	{ "rtr", "RTR", RD_T_UINT, "queue pairs in RTR", 0, false },
	{ "rts", "RTS", RD_T_UINT, "queue pairs in RTS", 0, false },
	{ "sqd", "SQD", RD_T_UINT, "queue pairs in SQD", 0, false },
	{ "sqe", "SQE", RD_T_UINT, "queue pairs in SQE", 0, false },
	{ "err", "ERR", RD_T_UINT, "queue pairs in ERR", 0, false },
	{ "unknown", "UNKNOWN", RD_T_UINT, "queue pairs whose state the device did not report", 0, false },
	{ "stuck", "STUCK", RD_T_UINT, "queue pairs with verdict stuck", 0, false },
	{ "retrying", "RETRYING", RD_T_UINT, "queue pairs with verdict retrying (needs two samples)", 0, false },
	{ "health", "HEALTH", RD_T_STR, "health of the path: ok, starting, degraded, dead, unknown", 0, false },
	{ "process_tcp_peers", "TCPPEERS", RD_T_STR, "of unknown peers: addresses that the processes have TCP connections to", 0, true },
};
/* clang-format on */

void rd_report_qp_summary(struct rd_report *report, const struct rd_res *res)
{
	static const enum rd_res_kind order[] = { RD_RES_QP,  RD_RES_CQ,  RD_RES_MR,   RD_RES_PD,
						  RD_RES_CTX, RD_RES_SRQ, RD_RES_CM_ID };
	struct rd_section *section = rd_report_add(report, RD_SECTION("summary", summary_columns));

	for (size_t d = 0; d < res->n_devs; d++)
		for (size_t i = 0; i < RD_ARRAY_SIZE(order); i++) {
			const struct rd_res_dev *dev = &res->devs[d];
			enum rd_res_kind kind = order[i];
			uint64_t max = dev->limits.max[kind].known == RD_OK ? dev->limits.max[kind].v : 0;

			/* Kernels that do not count a kind do not list it either. */
			if (dev->used[kind].known == RD_OK)
				RD_ROW(section, RD_STR(dev->name), RD_STR(rd_res_kind_name(kind)),
				       RD_UINT_OF(dev->used[kind]), RD_UINT_OF(dev->limits.max[kind]),
				       max ? RD_DOUBLE(100.0 * (double)dev->used[kind].v / (double)max) :
					     RD_UNKNOWN_CELL,
				       dev->requested[kind] ? RD_UINT(dev->listed[kind]) : RD_UNKNOWN_CELL);
		}
}

void rd_report_qp_processes(struct rd_report *report, const struct rd_res *res, const struct rd_res_holders *holders)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("processes", holder_columns));

	for (size_t i = 0; i < holders->n; i++) {
		const struct rd_res_holder *holder = &holders->v[i];
		const struct rd_proc *proc = holder->proc >= 0 ? &res->procs[holder->proc] : NULL;
		struct rd_row *row = rd_section_add(section);

		rd_row_set(row, HELD_IBDEV, RD_STR(res->devs[holder->dev].name));
		if (proc)
			rd_row_set(row, HELD_PID, RD_UINT(proc->pid));
		rd_row_set(row, HELD_COMM, RD_STR(proc ? proc->comm : holder->kernel));
		rd_row_set(row, HELD_JOB, RD_STR(proc ? proc->job : NULL));
		for (int kind = 0; kind < RD_RES_KINDS; kind++)
			if (res->devs[holder->dev].requested[kind] && !res->devs[holder->dev].gaps[kind].code)
				rd_row_set(row, HELD_KINDS + (size_t)kind, RD_UINT(holder->held[kind]));
	}
}

/* NULL for none */
static const char *health_name(enum rd_path_health health)
{
	static const char *const names[] = { NULL, "ok", "starting", "degraded", "dead", "unknown" };

	return health < RD_ARRAY_SIZE(names) ? names[health] : NULL;
}

void rd_report_qp_groups(struct rd_report *report, const struct rd_res *res, const struct rd_qp_groups *groups)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("groups", group_columns));

	for (size_t i = 0; i < groups->n; i++) {
		const struct rd_qp_group *group = &groups->v[i];
		const struct rd_proc *proc = group->proc >= 0 ? &res->procs[group->proc] : NULL;
		_cleanup_free_ char *peers = group->peers ? rd_proc_peers_text(group->peers) : NULL;
		const char *name = group->label ?: groups->by == RD_BY_JOB ? "no job" : "unknown";
		const uint64_t *in = group->by_state;

		RD_ROW(section, RD_STR(name), RD_STR(group->dev >= 0 ? res->devs[group->dev].name : NULL),
		       RD_STR(proc ? proc->comm : NULL), RD_STR(proc ? proc->job : NULL), RD_UINT(group->qps),
		       RD_UINT(in[RD_QPS_RESET]), RD_UINT(in[RD_QPS_INIT]), RD_UINT(in[RD_QPS_RTR]),
		       RD_UINT(in[RD_QPS_RTS]), RD_UINT(in[RD_QPS_SQD]), RD_UINT(in[RD_QPS_SQE]),
		       RD_UINT(in[RD_QPS_ERR]), RD_UINT(group->unknown),
		       group->judged ? RD_UINT(group->stuck) : RD_UNKNOWN_CELL,
		       group->judged && group->sampled_twice ? RD_UINT(group->retrying) : RD_UNKNOWN_CELL,
		       RD_STR(health_name(group->health)), RD_STR(peers));
	}
}

/* One state of one device, also if 0: a series that appears and disappears is hard to monitor. RD_QPS_N: unknown. */
static void add_state(struct rd_metric *family, const struct rd_res *res, int dev, unsigned state, const bool *chosen)
{
	const char *name = state < RD_QPS_N ? rd_qp_state_name(state) : "unknown";
	const struct rd_label labels[] = { { "ibdev", res->devs[dev].name }, { "state", name } };
	uint64_t n = 0;

	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];
		unsigned is = qp->state.known == RD_OK && qp->state.v < RD_QPS_N ? qp->state.v : RD_QPS_N;

		n += qp->dev == dev && is == state && chosen[i];
	}
	rd_metric_uint(family, n, labels, 2);
}

void rd_report_qp_metrics(struct rd_report *report, const struct rd_res *res, const bool *chosen)
{
	struct rd_metrics *metrics = &report->metrics;
	struct rd_metric *states = rd_metrics_family(metrics, "qps", RD_METRIC_GAUGE, NULL, "Queue pairs by state.");
	struct rd_metric *used = rd_metrics_family(metrics, "rdma_resources", RD_METRIC_GAUGE, NULL,
						   "RDMA resources in use, in all namespaces.");
	struct rd_metric *max = rd_metrics_family(metrics, "rdma_resources_max", RD_METRIC_GAUGE, NULL,
						  "Limit of the device on RDMA resources.");

	for (size_t d = 0; d < res->n_devs; d++) {
		const struct rd_res_dev *dev = &res->devs[d];

		for (unsigned state = 0; state <= RD_QPS_N; state++)
			add_state(states, res, (int)d, state, chosen);
		for (int kind = 0; kind < RD_RES_KINDS; kind++) {
			const struct rd_label labels[] = { { "ibdev", dev->name },
							   { "resource", rd_res_kind_name(kind) } };

			if (dev->used[kind].known == RD_OK)
				rd_metric_uint(used, dev->used[kind].v, labels, 2);
			if (dev->limits.max[kind].known == RD_OK)
				rd_metric_uint(max, dev->limits.max[kind].v, labels, 2);
		}
	}
}

/* Columns that are set by themselves. */
enum { EV_ERRNO = 8, EV_PEER_GID = 27 };

/* clang-format off */
static const struct rd_column event_columns[] = {
	{ "time", "TIME", RD_T_TIME, "time of the event; of a call: when it returned", 0, false },
	{ "kind", "KIND", RD_T_STR, "modify, create, destroy, event (of a queue pair), device-event", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "port", "PORT", RD_T_UINT, "port of the device", 0, true },
	{ "lqpn", "LQPN", RD_T_UINT, "queue pair number", 0, false },
	{ "type", "TYPE", RD_T_STR, "type of the queue pair", 0, false },
	{ "old_state", "FROM", RD_T_STR, "previous state, as given by the caller or last observed", 0, false },
	{ "new_state", "TO", RD_T_STR, "requested state", 0, false },
	[EV_ERRNO] = { "errno", "ERRNO", RD_T_STR, "name of the errno that the call returned", 0, false },
	{ "code", "CODE", RD_T_UINT, "number of the errno", 0, true },
	{ "event", "EVENT", RD_T_STR, "asynchronous event, named as in libibverbs", 0, false },
	{ "duration_seconds", "SECONDS", RD_T_DOUBLE, "duration of the call", 6, false },
	{ "state_seconds", "AGE", RD_T_DOUBLE, "time spent in the previous state", 6, true },
	{ "state_max_seconds", "AGE-MAX", RD_T_DOUBLE, "upper bound of that time", 6, true },
	{ "state_age_kind", "AGE-KIND", RD_T_STR, "accuracy of that time: exact, interval or at_least", 0, true },
	{ "attr_mask", "ATTRS", RD_T_STRS, "attributes that the call set", 0, true },
	{ "path_mtu_bytes", "MTU", RD_T_UINT, "path MTU", 0, true },
	{ "rqpn", "RQPN", RD_T_UINT, "remote QP number", 0, false },
	{ "rq_psn", "RQ-PSN", RD_T_UINT, "first packet sequence number expected", 0, true },
	{ "sq_psn", "SQ-PSN", RD_T_UINT, "first packet sequence number sent", 0, true },
	{ "timeout", "TIMEOUT", RD_T_UINT, "local ACK timeout T, encoded: 4.096 us x 2^T", 0, true },
	{ "retry_cnt", "RETRY", RD_T_UINT, "retransmissions before the QP fails", 0, true },
	{ "rnr_retry", "RNR-RETRY", RD_T_UINT, "retries after RNR NAKs; 7: forever", 0, true },
	{ "min_rnr_timer", "RNR-TIMER", RD_T_UINT, "minimum wait of a requester after an RNR NAK, encoded", 0, true },
	{ "max_rd_atomic", "RD-ATOMIC", RD_T_UINT, "maximum outstanding RDMA reads and atomics as requester", 0, true },
	{ "max_dest_rd_atomic", "DEST-RD-ATOMIC", RD_T_UINT, "maximum outstanding RDMA reads and atomics as responder", 0, true },
	{ "sgid_index", "SGID", RD_T_UINT, "index of the local GID", 0, true },
	[EV_PEER_GID] = { "peer_gid", "PEER-GID", RD_T_STR, "GID of the peer", 0, false },
	{ "dlid", "DLID", RD_T_UINT, "LID of the peer (InfiniBand)", 0, true },
	{ "flow_label", "FLOW", RD_T_UINT, "flow label of the path", 0, true },
	{ "udp_sport", "SPORT", RD_T_UINT, "UDP source port by the kernel's rule (RoCE v2)", 0, true },
	{ "hop_limit", "HOPS", RD_T_UINT, "hop limit of the path", 0, true },
	{ "traffic_class", "TCLASS", RD_T_UINT, "traffic class of the path", 0, true },
	{ "sl", "SL", RD_T_UINT, "service level", 0, true },
	{ "pid", "PID", RD_T_UINT, "calling process, in the initial PID namespace", 0, false },
	{ "tid", "TID", RD_T_UINT, "calling thread", 0, true },
	{ "comm", "COMM", RD_T_STR, "name of the calling thread", 0, false },
	{ "job", "JOB", RD_T_STR, "Slurm or Kubernetes job, from the cgroup", 0, true },
	{ "cgroup", "CGROUP", RD_T_STR, "cgroup of the process", 0, true },
};

static const struct rd_column move_columns[] = {
	{ "old_state", "FROM", RD_T_STR, "state before the call", 0, false },
	{ "new_state", "TO", RD_T_STR, "requested state; unknown: the call set only other attributes", 0, false },
	{ "calls", "CALLS", RD_T_UINT, "modify_qp calls", 0, false },
	{ "failed", "FAILED", RD_T_UINT, "calls that returned an error", 0, false },
};

static const struct rd_column duration_columns[] = {
	{ "new_state", "TO", RD_T_STR, "requested state", 0, false },
	{ "least_seconds", "FROM-SECONDS", RD_T_DOUBLE, "minimum duration of the calls", 9, false },
	{ "below_seconds", "TO-SECONDS", RD_T_DOUBLE, "upper bound of their duration", 9, false },
	{ "calls", "CALLS", RD_T_UINT, "number of calls, exact even if records were lost", 0, false },
};

static const struct rd_column sum_columns[] = {
	{ "seconds", "SECONDS", RD_T_DOUBLE, "duration of the recording", 3, false },
	{ "backends", NULL, RD_T_MAP, "hooked functions by backend", 0, false },
	{ "functions", "FUNCTIONS", RD_T_UINT, "hooked functions", 0, false },
	{ "events", "EVENTS", RD_T_UINT, "records: delivered + lost", 0, false },
	{ "delivered", "DELIVERED", RD_T_UINT, "records read", 0, false },
	{ "lost", "LOST", RD_T_UINT, "records lost because the ring buffer was full", 0, false },
	{ "missed", "MISSED", RD_T_UINT, "probes that the kernel could not run", 0, false },
	{ "shown", "SHOWN", RD_T_UINT, "events that passed the filters", 0, false },
};

static const struct rd_column name_columns[1] = { { "name", "NAME", RD_T_STR, "attribute", 0, false } };
/* clang-format on */

static struct rd_section *mask_section(uint32_t mask)
{
	struct rd_section *section = rd_section_create("attr_mask", name_columns, 1);

	for (unsigned bit = 0; bit < RD_QP_ATTR_BITS; bit++) {
		const char *name = rd_qp_attr_name(bit);
		char digits[16];

		if (!(mask >> bit & 1))
			continue;
		snprintf(digits, sizeof(digits), "bit %u", bit);
		rd_row_set(rd_section_add(section), 0, RD_STR(name ?: digits));
	}
	return section;
}

struct rd_section *rd_report_qp_event(const struct rd_qp_event *ev)
{
	static const struct rd_qp_event none;
	struct rd_section *section = RD_SECTION("event", event_columns);
	const struct rd_qp_event *call = ev->what == RD_QP_MODIFIED ? ev : &none;
	const struct rd_qp_seen *seen = &call->seen;
	const char *event = ev->code.known == RD_OK ? rd_ib_event_name(ev->code.v) : NULL;
	char digits[16];
	struct rd_row *row;

	snprintf(digits, sizeof(digits), "%u", ev->code.v);
	row = RD_ROW(section, RD_UINT(ev->time_ns), RD_STR(rd_qp_what_name(ev->what)),
		     RD_STR(ev->ibdev[0] ? ev->ibdev : NULL), RD_UINT_OF(ev->port), RD_UINT_OF(ev->lqpn),
		     RD_STR(ev->type.known == RD_OK ? rd_qp_type_name(ev->type.v) : NULL),
		     RD_STR(ev->before.known == RD_OK ? rd_qp_state_name(ev->before.v) : NULL),
		     RD_STR(call->state.known == RD_OK ? rd_qp_state_name(call->state.v) : NULL), RD_UNKNOWN_CELL,
		     call->err ? RD_UINT((uint64_t)-call->err) : RD_UNKNOWN_CELL,
		     RD_STR(event || ev->code.known != RD_OK ? event : digits),
		     call == ev ? RD_DOUBLE((double)ev->duration_ns / 1e9) : RD_UNKNOWN_CELL,
		     RD_DOUBLE_OF(ev->age_seconds), RD_DOUBLE_OF(ev->age_max_seconds),
		     RD_STR(rd_age_kind_name(ev->age_kind)),
		     call == ev ? RD_SUB(mask_section(ev->mask)) : RD_UNKNOWN_CELL, RD_UINT_OF(seen->path_mtu),
		     RD_UINT_OF(seen->dest_qpn), RD_UINT_OF(call->rq_psn), RD_UINT_OF(call->sq_psn),
		     RD_UINT_OF(seen->timeout), RD_UINT_OF(seen->retry_cnt), RD_UINT_OF(seen->rnr_retry),
		     RD_UINT_OF(seen->min_rnr_timer), RD_UINT_OF(seen->max_rd_atomic),
		     RD_UINT_OF(seen->max_dest_rd_atomic), RD_UINT_OF(seen->sgid_index), RD_UNKNOWN_CELL,
		     RD_UINT_OF(call->dlid), RD_UINT_OF(seen->flow_label), RD_UINT_OF(seen->udp_sport),
		     RD_UINT_OF(seen->hop_limit), RD_UINT_OF(seen->traffic_class), RD_UINT_OF(seen->sl),
		     ev->pid ? RD_UINT(ev->pid) : RD_UNKNOWN_CELL, ev->pid ? RD_UINT(ev->tid) : RD_UNKNOWN_CELL,
		     RD_STR(ev->pid ? ev->comm : NULL), RD_STR(ev->pid ? ev->job : NULL),
		     RD_STR(ev->pid ? ev->cgroup : NULL));
	if (call->err)
		rd_row_set(row, EV_ERRNO, RD_STR(RD_ERRNO(call->err)));
	if (seen->has_dgid)
		rd_row_gid(row, EV_PEER_GID, seen->dgid);
	return section;
}

static const char *state_or_none(unsigned state)
{
	return state < RD_QPS_N ? rd_qp_state_name(state) : NULL;
}

static struct rd_section *moves_section(const struct rd_qp_moves *moves)
{
	struct rd_section *section = RD_SECTION("transitions", move_columns);

	for (unsigned from = 0; from < RD_QP_ENDS; from++)
		for (unsigned to = 0; to < RD_QP_ENDS; to++)
			if (moves->ok[from][to] || moves->failed[from][to])
				RD_ROW(section, RD_STR(state_or_none(from)), RD_STR(state_or_none(to)),
				       RD_UINT(moves->ok[from][to] + moves->failed[from][to]),
				       RD_UINT(moves->failed[from][to]));
	return section;
}

static struct rd_section *durations_section(const uint64_t durations[RD_QP_ENDS][RD_QP_DURATIONS])
{
	struct rd_section *section = RD_SECTION("durations", duration_columns);

	for (unsigned to = 0; to < RD_QP_ENDS; to++)
		for (unsigned power = 0; power < RD_QP_DURATIONS; power++)
			if (durations[to][power])
				RD_ROW(section, RD_STR(state_or_none(to)), RD_DOUBLE(ldexp(1e-9, (int)power)),
				       RD_DOUBLE(ldexp(1e-9, (int)power + 1)), RD_UINT(durations[to][power]));
	return section;
}

void rd_report_qp_trace_summary(struct rd_report *report, const struct rd_qp_trace_summary *sum)
{
	const struct rd_trace_totals *t = &sum->totals;

	report->scalars = RD_OBJECT("summary", sum_columns, RD_DOUBLE(sum->seconds),
				    RD_SUB(rd_report_backends(sum->per_backend)), RD_UINT(sum->functions),
				    RD_UINT(t->events), RD_UINT(t->delivered), RD_UINT(t->lost), RD_UINT_OF(t->missed),
				    RD_UINT(sum->shown));
	rd_report_add(report, moves_section(&sum->moves));
	rd_report_add(report, durations_section(sum->durations));
}
