// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/qp/report-qp-trace.h"

#include <stdio.h>

#include "report/shared/report-field.h"
#include "report/shared/report-run.h"

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
		rd_row_str(rd_section_add(section), 0, name ? name : digits);
	}
	return section;
}

struct rd_section *rd_report_qp_event(const struct rd_qp_event *ev)
{
	static const struct rd_qp_event none;
	struct rd_section *section = rd_section_create("event", event_columns, RD_ARRAY_SIZE(event_columns));
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
		rd_row_errno(row, EV_ERRNO, call->err);
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
	struct rd_section *section = rd_section_create("transitions", move_columns, RD_ARRAY_SIZE(move_columns));

	for (unsigned from = 0; from < RD_QP_ENDS; from++)
		for (unsigned to = 0; to < RD_QP_ENDS; to++)
			if (moves->ok[from][to] || moves->failed[from][to])
				RD_ROW(section, RD_STR(state_or_none(from)), RD_STR(state_or_none(to)),
				       RD_UINT(moves->ok[from][to] + moves->failed[from][to]),
				       RD_UINT(moves->failed[from][to]));
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
	struct rd_section *section = rd_section_create("durations", duration_columns, RD_ARRAY_SIZE(duration_columns));

	for (unsigned to = 0; to < RD_QP_ENDS; to++)
		for (unsigned power = 0; power < RD_QP_DURATIONS; power++)
			if (durations[to][power])
				RD_ROW(section, RD_STR(state_or_none(to)), RD_DOUBLE(power_of_two_ns(power)),
				       RD_DOUBLE(power_of_two_ns(power + 1)), RD_UINT(durations[to][power]));
	return section;
}

void rd_report_qp_trace_summary(struct rd_report *report, const struct rd_qp_trace_summary *sum)
{
	const struct rd_trace_totals *t = &sum->totals;

	report->scalars = rd_section_create("summary", sum_columns, RD_ARRAY_SIZE(sum_columns));
	RD_ROW(report->scalars, RD_DOUBLE(sum->seconds), RD_SUB(rd_report_backends(sum->per_backend)),
	       RD_UINT(sum->functions), RD_UINT(t->events), RD_UINT(t->delivered), RD_UINT(t->lost),
	       RD_UINT_OF(t->missed), RD_UINT(sum->shown));
	rd_report_add(report, moves_section(&sum->moves));
	rd_report_add(report, durations_section(sum->durations));
}
