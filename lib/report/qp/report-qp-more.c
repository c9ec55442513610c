/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts: limits, owners, groups. */
#include "report/qp/report-qp.h"

#include "report/shared/metrics.h"

enum { SUM_IBDEV, SUM_RESOURCE, SUM_USED, SUM_MAX, SUM_PERCENT, SUM_LISTED, SUM_COLUMNS };
enum { HELD_IBDEV, HELD_PID, HELD_COMM, HELD_JOB, HELD_KINDS, HELD_COLUMNS = HELD_KINDS + RD_RES_KINDS };
enum {
	GROUP_NAME = RD_QP_GROUP_NAME,
	GROUP_IBDEV = RD_QP_GROUP_IBDEV,
	GROUP_COMM,
	GROUP_JOB,
	GROUP_QPS,
	GROUP_STATES,
	GROUP_UNKNOWN = GROUP_STATES + RD_QPS_N,
	GROUP_STUCK,
	GROUP_RETRYING,
	GROUP_HEALTH,
	GROUP_PROC_PEERS,
	GROUP_COLUMNS,
};

/* clang-format off */
static const struct rd_column summary_columns[SUM_COLUMNS] = {
	[SUM_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[SUM_RESOURCE] = { "resource", "RESOURCE", RD_T_STR, "qp, cm_id, cq, mr, pd, ctx, srq", 0, false },
	[SUM_USED] = { "used", "USED", RD_T_UINT, "objects in use, in all namespaces", 0, false },
	[SUM_MAX] = { "max", "MAX", RD_T_UINT, "limit of the device", 0, false },
	[SUM_PERCENT] = { "used_percent", "USE%", RD_T_DOUBLE, "percentage of the limit in use", 1, false },
	[SUM_LISTED] = { "listed", "LISTED", RD_T_UINT, "objects in use that the kernel lists here", 0, true },
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

static const struct rd_column group_columns[GROUP_COLUMNS] = {
	[GROUP_NAME] = { "group", "GROUP", RD_T_STR, "state, process, device, peer or job of the group", 0, false },
	[GROUP_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[GROUP_COMM] = { "comm", "COMM", RD_T_STR, "process name", 0, false },
	[GROUP_JOB] = { "job", "JOB", RD_T_STR, "job of the process", 0, false },
	[GROUP_QPS] = { "qps", "QPS", RD_T_UINT, "queue pairs in the group", 0, false },
	[GROUP_STATES + RD_QPS_RESET] = { "reset", "RESET", RD_T_UINT, "queue pairs in RESET", 0, false },
	[GROUP_STATES + RD_QPS_INIT] = { "init", "INIT", RD_T_UINT, "queue pairs in INIT", 0, false },
	[GROUP_STATES + RD_QPS_RTR] = { "rtr", "RTR", RD_T_UINT, "queue pairs in RTR", 0, false },
	[GROUP_STATES + RD_QPS_RTS] = { "rts", "RTS", RD_T_UINT, "queue pairs in RTS", 0, false },
	[GROUP_STATES + RD_QPS_SQD] = { "sqd", "SQD", RD_T_UINT, "queue pairs in SQD", 0, false },
	[GROUP_STATES + RD_QPS_SQE] = { "sqe", "SQE", RD_T_UINT, "queue pairs in SQE", 0, false },
	[GROUP_STATES + RD_QPS_ERR] = { "err", "ERR", RD_T_UINT, "queue pairs in ERR", 0, false },
	[GROUP_UNKNOWN] = { "unknown", "UNKNOWN", RD_T_UINT, "queue pairs whose state the device did not report", 0, false },
	[GROUP_STUCK] = { "stuck", "STUCK", RD_T_UINT, "queue pairs with verdict stuck", 0, false },
	[GROUP_RETRYING] = { "retrying", "RETRYING", RD_T_UINT, "queue pairs with verdict retrying (needs two samples)", 0, false },
	[GROUP_HEALTH] = { "health", "HEALTH", RD_T_STR, "health of the path: ok, starting, degraded, dead, unknown", 0, false },
	[GROUP_PROC_PEERS] = { "process_tcp_peers", "TCPPEERS", RD_T_STR, "of unknown peers: addresses that the processes have TCP connections to", 0, true },
};
/* clang-format on */

static void add_limit(struct rd_section *section, const struct rd_res_dev *dev, enum rd_res_kind kind)
{
	struct rd_row *row = rd_section_add(section);
	bool used = dev->used[kind].known == RD_OK, max = dev->limits.max[kind].known == RD_OK;

	rd_row_str(row, SUM_IBDEV, dev->name);
	rd_row_str(row, SUM_RESOURCE, rd_res_kind_name(kind));
	if (used)
		rd_row_uint(row, SUM_USED, dev->used[kind].v);
	if (max)
		rd_row_uint(row, SUM_MAX, dev->limits.max[kind].v);
	if (used && max && dev->limits.max[kind].v > 0)
		rd_row_double(row, SUM_PERCENT, 100.0 * (double)dev->used[kind].v / (double)dev->limits.max[kind].v);
	if (dev->requested[kind])
		rd_row_uint(row, SUM_LISTED, dev->listed[kind]);
}

void rd_report_qp_summary(struct rd_report *report, const struct rd_res *res)
{
	static const enum rd_res_kind order[] = { RD_RES_QP,  RD_RES_CQ,  RD_RES_MR,   RD_RES_PD,
						  RD_RES_CTX, RD_RES_SRQ, RD_RES_CM_ID };
	struct rd_section *section = rd_section_create("summary", summary_columns, SUM_COLUMNS);

	for (size_t d = 0; d < res->n_devs; d++)
		for (size_t i = 0; i < RD_ARRAY_SIZE(order); i++)
			/* Kernels that do not count a kind do not list it either. */
			if (res->devs[d].used[order[i]].known == RD_OK)
				add_limit(section, &res->devs[d], order[i]);
	rd_report_add(report, section);
}

void rd_report_qp_processes(struct rd_report *report, const struct rd_res *res, const struct rd_res_holders *holders)
{
	struct rd_section *section = rd_section_create("processes", holder_columns, HELD_COLUMNS);

	for (size_t i = 0; i < holders->n; i++) {
		const struct rd_res_holder *holder = &holders->v[i];
		const struct rd_proc *proc = holder->proc >= 0 ? &res->procs[holder->proc] : NULL;
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, HELD_IBDEV, res->devs[holder->dev].name);
		if (proc)
			rd_row_uint(row, HELD_PID, proc->pid);
		rd_row_str(row, HELD_COMM, proc ? proc->comm : holder->kernel);
		rd_row_str(row, HELD_JOB, proc ? proc->job : NULL);
		for (int kind = 0; kind < RD_RES_KINDS; kind++)
			if (res->devs[holder->dev].requested[kind] && !res->devs[holder->dev].gaps[kind].code)
				rd_row_uint(row, HELD_KINDS + (size_t)kind, holder->held[kind]);
	}
	rd_report_add(report, section);
}

static void add_group(struct rd_section *section, const struct rd_res *res, const struct rd_qp_group *group,
		      enum rd_qp_by by)
{
	const struct rd_proc *proc = group->proc >= 0 ? &res->procs[group->proc] : NULL;
	_cleanup_free_ char *peers = NULL;
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, GROUP_NAME, group->label ? group->label : by == RD_BY_JOB ? "no job" : "unknown");
	rd_row_str(row, GROUP_IBDEV, group->dev >= 0 ? res->devs[group->dev].name : NULL);
	rd_row_str(row, GROUP_COMM, proc ? proc->comm : NULL);
	rd_row_str(row, GROUP_JOB, proc ? proc->job : NULL);
	rd_row_uint(row, GROUP_QPS, group->qps);
	for (size_t state = 0; state < RD_QPS_N; state++)
		rd_row_uint(row, GROUP_STATES + state, group->by_state[state]);
	rd_row_uint(row, GROUP_UNKNOWN, group->unknown);
	if (group->judged)
		rd_row_uint(row, GROUP_STUCK, group->stuck);
	if (group->judged && group->sampled_twice)
		rd_row_uint(row, GROUP_RETRYING, group->retrying);
	rd_row_str(row, GROUP_HEALTH, rd_path_health_name(group->health));
	peers = group->peers ? rd_proc_peers_text(group->peers) : NULL;
	rd_row_str(row, GROUP_PROC_PEERS, peers);
}

void rd_report_qp_groups(struct rd_report *report, const struct rd_res *res, const struct rd_qp_groups *groups)
{
	struct rd_section *section = rd_section_create("groups", group_columns, GROUP_COLUMNS);

	for (size_t i = 0; i < groups->n; i++)
		add_group(section, res, &groups->v[i], groups->by);
	rd_report_add(report, section);
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
