// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/qp/report-qp-trace.h"

#include <stdio.h>

#include "report/shared/report-field.h"
#include "report/shared/report-run.h"

enum event_column {
	EV_TIME,
	EV_KIND,
	EV_IBDEV,
	EV_PORT,
	EV_LQPN,
	EV_TYPE,
	EV_OLD_STATE,
	EV_NEW_STATE,
	EV_ERRNO,
	EV_CODE,
	EV_EVENT,
	EV_DURATION,
	EV_STATE_SECONDS,
	EV_STATE_SECONDS_MAX,
	EV_AGE_KIND,
	EV_MASK,
	EV_PATH_MTU,
	EV_RQPN,
	EV_RQ_PSN,
	EV_SQ_PSN,
	EV_TIMEOUT,
	EV_RETRY_CNT,
	EV_RNR_RETRY,
	EV_MIN_RNR_TIMER,
	EV_MAX_RD_ATOMIC,
	EV_MAX_DEST_RD_ATOMIC,
	EV_SGID_INDEX,
	EV_PEER_GID,
	EV_DLID,
	EV_FLOW_LABEL,
	EV_UDP_SPORT,
	EV_HOP_LIMIT,
	EV_TRAFFIC_CLASS,
	EV_SL,
	EV_PID,
	EV_TID,
	EV_COMM,
	EV_JOB,
	EV_CGROUP,
	EV_COLUMNS,
};

enum move_column { MV_FROM, MV_TO, MV_CALLS, MV_FAILED, MV_COLUMNS };
enum duration_column { DU_TO, DU_LEAST, DU_MOST, DU_CALLS, DU_COLUMNS };
enum sum_column {
	SUM_SECONDS,
	SUM_BACKENDS,
	SUM_FUNCTIONS,
	SUM_EVENTS,
	SUM_DELIVERED,
	SUM_LOST,
	SUM_MISSED,
	SUM_SHOWN,
	SUM_COLUMNS
};

static const struct rd_column move_columns[MV_COLUMNS];
static const struct rd_column duration_columns[DU_COLUMNS];
static const struct rd_column sum_columns[SUM_COLUMNS];
static const struct rd_column name_columns[1];

static struct rd_section *mask_section(uint32_t mask)
{
	struct rd_section *section = rd_section_create("attr_mask", name_columns, 1);

	for (unsigned bit = 0; bit < RD_QP_ATTR_BITS; bit++) {
		const char *name = rd_qp_attr_name(bit);
		char digits[16];

		if (!(mask >> bit & 1))
			continue;
		snprintf(digits, sizeof(digits), "bit %u", bit);
		rd_row_str(rd_section_add(section), 0, name ? name : digits);
	}
	return section;
}

static void set_path(struct rd_row *row, const struct rd_qp_event *ev)
{
	const struct rd_qp_seen *seen = &ev->seen;

	RD_ROW_UINT(row, EV_PATH_MTU, seen->path_mtu);
	RD_ROW_UINT(row, EV_RQPN, seen->dest_qpn);
	RD_ROW_UINT(row, EV_RQ_PSN, ev->rq_psn);
	RD_ROW_UINT(row, EV_SQ_PSN, ev->sq_psn);
	RD_ROW_UINT(row, EV_TIMEOUT, seen->timeout);
	RD_ROW_UINT(row, EV_RETRY_CNT, seen->retry_cnt);
	RD_ROW_UINT(row, EV_RNR_RETRY, seen->rnr_retry);
	RD_ROW_UINT(row, EV_MIN_RNR_TIMER, seen->min_rnr_timer);
	RD_ROW_UINT(row, EV_MAX_RD_ATOMIC, seen->max_rd_atomic);
	RD_ROW_UINT(row, EV_MAX_DEST_RD_ATOMIC, seen->max_dest_rd_atomic);
	RD_ROW_UINT(row, EV_SGID_INDEX, seen->sgid_index);
	if (seen->has_dgid)
		rd_row_gid(row, EV_PEER_GID, seen->dgid);
	RD_ROW_UINT(row, EV_DLID, ev->dlid);
	RD_ROW_UINT(row, EV_FLOW_LABEL, seen->flow_label);
	RD_ROW_UINT(row, EV_UDP_SPORT, seen->udp_sport);
	RD_ROW_UINT(row, EV_HOP_LIMIT, seen->hop_limit);
	RD_ROW_UINT(row, EV_TRAFFIC_CLASS, seen->traffic_class);
	RD_ROW_UINT(row, EV_SL, seen->sl);
}

static void set_call(struct rd_row *row, const struct rd_qp_event *ev)
{
	if (ev->what != RD_QP_MODIFIED)
		return;
	if (ev->err) {
		rd_row_errno(row, EV_ERRNO, ev->err);
		rd_row_uint(row, EV_CODE, (uint64_t)-ev->err);
	}
	if (ev->state.known == RD_OK)
		rd_row_str(row, EV_NEW_STATE, rd_qp_state_name(ev->state.v));
	rd_row_double(row, EV_DURATION, (double)ev->duration_ns / 1e9);
	rd_row_sub(row, EV_MASK, mask_section(ev->mask));
	set_path(row, ev);
}

static void set_event(struct rd_row *row, const struct rd_qp_event *ev)
{
	const char *name;
	char digits[16];

	if (ev->code.known != RD_OK)
		return;
	name = rd_ib_event_name(ev->code.v);
	snprintf(digits, sizeof(digits), "%u", ev->code.v);
	rd_row_str(row, EV_EVENT, name ? name : digits);
}

static void set_age(struct rd_row *row, const struct rd_qp_event *ev)
{
	RD_ROW_DOUBLE(row, EV_STATE_SECONDS, ev->age_seconds);
	RD_ROW_DOUBLE(row, EV_STATE_SECONDS_MAX, ev->age_max_seconds);
	rd_row_str(row, EV_AGE_KIND, rd_age_kind_name(ev->age_kind));
}

static void set_caller(struct rd_row *row, const struct rd_qp_event *ev)
{
	if (!ev->pid)
		return;
	rd_row_uint(row, EV_PID, ev->pid);
	rd_row_uint(row, EV_TID, ev->tid);
	rd_row_str(row, EV_COMM, ev->comm);
	rd_row_str(row, EV_JOB, ev->job);
	rd_row_str(row, EV_CGROUP, ev->cgroup);
}

static const struct rd_column event_columns[EV_COLUMNS];

struct rd_section *rd_report_qp_event(const struct rd_qp_event *ev)
{
	struct rd_section *section = rd_section_create("event", event_columns, EV_COLUMNS);
	struct rd_row *row = rd_section_add(section);

	rd_row_uint(row, EV_TIME, ev->time_ns);
	rd_row_str(row, EV_KIND, rd_qp_what_name(ev->what));
	if (ev->ibdev[0])
		rd_row_str(row, EV_IBDEV, ev->ibdev);
	RD_ROW_UINT(row, EV_PORT, ev->port);
	RD_ROW_UINT(row, EV_LQPN, ev->lqpn);
	if (ev->type.known == RD_OK)
		rd_row_str(row, EV_TYPE, rd_qp_type_name(ev->type.v));
	if (ev->before.known == RD_OK)
		rd_row_str(row, EV_OLD_STATE, rd_qp_state_name(ev->before.v));
	set_call(row, ev);
	set_event(row, ev);
	set_age(row, ev);
	set_caller(row, ev);
	return section;
}

static const char *state_or_none(unsigned state)
{
	return state < RD_QPS_N ? rd_qp_state_name(state) : NULL;
}

static struct rd_section *moves_section(const struct rd_qp_moves *moves)
{
	struct rd_section *section = rd_section_create("transitions", move_columns, MV_COLUMNS);

	for (unsigned from = 0; from < RD_QP_ENDS; from++)
		for (unsigned to = 0; to < RD_QP_ENDS; to++) {
			struct rd_row *row;

			if (!moves->ok[from][to] && !moves->failed[from][to])
				continue;
			row = rd_section_add(section);
			rd_row_str(row, MV_FROM, state_or_none(from));
			rd_row_str(row, MV_TO, state_or_none(to));
			rd_row_uint(row, MV_CALLS, moves->ok[from][to] + moves->failed[from][to]);
			rd_row_uint(row, MV_FAILED, moves->failed[from][to]);
		}
	return section;
}

static double power_of_two_ns(unsigned power)
{
	double v = 1e-9;

	while (power--)
		v *= 2;
	return v;
}

static struct rd_section *durations_section(const uint64_t durations[RD_QP_ENDS][RD_QP_DURATIONS])
{
	struct rd_section *section = rd_section_create("durations", duration_columns, DU_COLUMNS);

	for (unsigned to = 0; to < RD_QP_ENDS; to++)
		for (unsigned power = 0; power < RD_QP_DURATIONS; power++) {
			struct rd_row *row;

			if (!durations[to][power])
				continue;
			row = rd_section_add(section);
			rd_row_str(row, DU_TO, state_or_none(to));
			rd_row_double(row, DU_LEAST, power_of_two_ns(power));
			rd_row_double(row, DU_MOST, power_of_two_ns(power + 1));
			rd_row_uint(row, DU_CALLS, durations[to][power]);
		}
	return section;
}

void rd_report_qp_trace_summary(struct rd_report *report, const struct rd_qp_trace_summary *sum)
{
	const struct rd_trace_totals *t = &sum->totals;
	struct rd_row *row;

	report->scalars = rd_section_create("summary", sum_columns, SUM_COLUMNS);
	row = rd_section_add(report->scalars);
	rd_row_double(row, SUM_SECONDS, sum->seconds);
	rd_row_sub(row, SUM_BACKENDS, rd_report_backends(sum->per_backend));
	rd_row_uint(row, SUM_FUNCTIONS, sum->functions);
	rd_row_uint(row, SUM_EVENTS, t->events);
	rd_row_uint(row, SUM_DELIVERED, t->delivered);
	rd_row_uint(row, SUM_LOST, t->lost);
	RD_ROW_UINT(row, SUM_MISSED, t->missed);
	rd_row_uint(row, SUM_SHOWN, sum->shown);
	rd_report_add(report, moves_section(&sum->moves));
	rd_report_add(report, durations_section(sum->durations));
}

/* clang-format off */
static const struct rd_column event_columns[EV_COLUMNS] = {
	[EV_TIME] = { "time", "TIME", RD_T_TIME, "time of the event; of a call: when it returned", 0, false },
	[EV_KIND] = { "kind", "KIND", RD_T_STR, "modify, create, destroy, event (of a queue pair), device-event", 0, false },
	[EV_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[EV_PORT] = { "port", "PORT", RD_T_UINT, "port of the device", 0, true },
	[EV_LQPN] = { "lqpn", "LQPN", RD_T_UINT, "queue pair number", 0, false },
	[EV_TYPE] = { "type", "TYPE", RD_T_STR, "type of the queue pair", 0, false },
	[EV_OLD_STATE] = { "old_state", "FROM", RD_T_STR, "previous state, as given by the caller or last observed", 0, false },
	[EV_NEW_STATE] = { "new_state", "TO", RD_T_STR, "requested state", 0, false },
	[EV_ERRNO] = { "errno", "ERRNO", RD_T_STR, "name of the errno that the call returned", 0, false },
	[EV_CODE] = { "code", "CODE", RD_T_UINT, "number of the errno", 0, true },
	[EV_EVENT] = { "event", "EVENT", RD_T_STR, "asynchronous event, named as in libibverbs", 0, false },
	[EV_DURATION] = { "duration_seconds", "SECONDS", RD_T_DOUBLE, "duration of the call", 6, false },
	[EV_STATE_SECONDS] = { "state_seconds", "AGE", RD_T_DOUBLE, "time spent in the previous state", 6, true },
	[EV_STATE_SECONDS_MAX] = { "state_max_seconds", "AGE-MAX", RD_T_DOUBLE, "upper bound of that time", 6, true },
	[EV_AGE_KIND] = { "state_age_kind", "AGE-KIND", RD_T_STR, "accuracy of that time: exact, interval or at_least", 0, true },
	[EV_MASK] = { "attr_mask", "ATTRS", RD_T_STRS, "attributes that the call set", 0, true },
	[EV_PATH_MTU] = { "path_mtu_bytes", "MTU", RD_T_UINT, "path MTU", 0, true },
	[EV_RQPN] = { "rqpn", "RQPN", RD_T_UINT, "remote QP number", 0, false },
	[EV_RQ_PSN] = { "rq_psn", "RQ-PSN", RD_T_UINT, "first packet sequence number expected", 0, true },
	[EV_SQ_PSN] = { "sq_psn", "SQ-PSN", RD_T_UINT, "first packet sequence number sent", 0, true },
	[EV_TIMEOUT] = { "timeout", "TIMEOUT", RD_T_UINT, "local ACK timeout T, encoded: 4.096 us x 2^T", 0, true },
	[EV_RETRY_CNT] = { "retry_cnt", "RETRY", RD_T_UINT, "retransmissions before the QP fails", 0, true },
	[EV_RNR_RETRY] = { "rnr_retry", "RNR-RETRY", RD_T_UINT, "retries after RNR NAKs; 7: forever", 0, true },
	[EV_MIN_RNR_TIMER] = { "min_rnr_timer", "RNR-TIMER", RD_T_UINT, "minimum wait of a requester after an RNR NAK, encoded", 0, true },
	[EV_MAX_RD_ATOMIC] = { "max_rd_atomic", "RD-ATOMIC", RD_T_UINT, "maximum outstanding RDMA reads and atomics as requester", 0, true },
	[EV_MAX_DEST_RD_ATOMIC] = { "max_dest_rd_atomic", "DEST-RD-ATOMIC", RD_T_UINT, "maximum outstanding RDMA reads and atomics as responder", 0, true },
	[EV_SGID_INDEX] = { "sgid_index", "SGID", RD_T_UINT, "index of the local GID", 0, true },
	[EV_PEER_GID] = { "peer_gid", "PEER-GID", RD_T_STR, "GID of the peer", 0, false },
	[EV_DLID] = { "dlid", "DLID", RD_T_UINT, "LID of the peer (InfiniBand)", 0, true },
	[EV_FLOW_LABEL] = { "flow_label", "FLOW", RD_T_UINT, "flow label of the path", 0, true },
	[EV_UDP_SPORT] = { "udp_sport", "SPORT", RD_T_UINT, "UDP source port by the kernel's rule (RoCE v2)", 0, true },
	[EV_HOP_LIMIT] = { "hop_limit", "HOPS", RD_T_UINT, "hop limit of the path", 0, true },
	[EV_TRAFFIC_CLASS] = { "traffic_class", "TCLASS", RD_T_UINT, "traffic class of the path", 0, true },
	[EV_SL] = { "sl", "SL", RD_T_UINT, "service level", 0, true },
	[EV_PID] = { "pid", "PID", RD_T_UINT, "calling process, in the initial PID namespace", 0, false },
	[EV_TID] = { "tid", "TID", RD_T_UINT, "calling thread", 0, true },
	[EV_COMM] = { "comm", "COMM", RD_T_STR, "name of the calling thread", 0, false },
	[EV_JOB] = { "job", "JOB", RD_T_STR, "Slurm or Kubernetes job, from the cgroup", 0, true },
	[EV_CGROUP] = { "cgroup", "CGROUP", RD_T_STR, "cgroup of the process", 0, true },
};

static const struct rd_column move_columns[MV_COLUMNS] = {
	[MV_FROM] = { "old_state", "FROM", RD_T_STR, "state before the call", 0, false },
	[MV_TO] = { "new_state", "TO", RD_T_STR, "requested state; unknown: the call set only other attributes", 0, false },
	[MV_CALLS] = { "calls", "CALLS", RD_T_UINT, "modify_qp calls", 0, false },
	[MV_FAILED] = { "failed", "FAILED", RD_T_UINT, "calls that returned an error", 0, false },
};

static const struct rd_column duration_columns[DU_COLUMNS] = {
	[DU_TO] = { "new_state", "TO", RD_T_STR, "requested state", 0, false },
	[DU_LEAST] = { "least_seconds", "FROM-SECONDS", RD_T_DOUBLE, "minimum duration of the calls", 9, false },
	[DU_MOST] = { "below_seconds", "TO-SECONDS", RD_T_DOUBLE, "upper bound of their duration", 9, false },
	[DU_CALLS] = { "calls", "CALLS", RD_T_UINT, "number of calls, exact even if records were lost", 0, false },
};

static const struct rd_column sum_columns[SUM_COLUMNS] = {
	[SUM_SECONDS] = { "seconds", "SECONDS", RD_T_DOUBLE, "duration of the recording", 3, false },
	[SUM_BACKENDS] = { "backends", NULL, RD_T_MAP, "hooked functions by backend", 0, false },
	[SUM_FUNCTIONS] = { "functions", "FUNCTIONS", RD_T_UINT, "hooked functions", 0, false },
	[SUM_EVENTS] = { "events", "EVENTS", RD_T_UINT, "records: delivered + lost", 0, false },
	[SUM_DELIVERED] = { "delivered", "DELIVERED", RD_T_UINT, "records read", 0, false },
	[SUM_LOST] = { "lost", "LOST", RD_T_UINT, "records lost because the ring buffer was full", 0, false },
	[SUM_MISSED] = { "missed", "MISSED", RD_T_UINT, "probes that the kernel could not run", 0, false },
	[SUM_SHOWN] = { "shown", "SHOWN", RD_T_UINT, "events that passed the filters", 0, false },
};

static const struct rd_column name_columns[1] = { { "name", "NAME", RD_T_STR, "attribute", 0, false } };
/* clang-format on */
