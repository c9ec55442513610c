/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections between queue pairs, their timeouts, their spread over links, and what they fail over to. */
#include "report/qp/report-qp.h"

enum { END_HOST, END_IBDEV, END_LQPN, END_STATE, END_COLUMNS };
enum { PAIR_A, PAIR_B, PAIR_VERDICT, PAIR_REASON, PAIR_COLUMNS };
enum { FLAT_A, FLAT_B = FLAT_A + END_COLUMNS, FLAT_VERDICT = FLAT_B + END_COLUMNS, FLAT_REASON, FLAT_COLUMNS };

/* Columns that are set by themselves. */
enum { SPREAD_PEER = 1, COLL_PEER = 1, FLOW_PEER = 3, OVER_PEER = 4 };

/* clang-format off */
static const struct rd_column end_columns[END_COLUMNS] = {
	[END_HOST] = { "host", "HOST", RD_T_STR, "host name", 0, false },
	[END_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[END_LQPN] = { "lqpn", "LQPN", RD_T_UINT, "queue pair number", 0, false },
	[END_STATE] = { "state", "STATE", RD_T_STR, "state of the queue pair", 0, false },
};

static const struct rd_column pair_columns[PAIR_COLUMNS] = {
	[PAIR_A] = { "a", "A", RD_T_OBJECT, "local end", 0, false },
	[PAIR_B] = { "b", "B", RD_T_OBJECT, "remote end; null: not found", 0, false },
	[PAIR_VERDICT] = { "verdict", "VERDICT", RD_T_STR, "connected, half-open, mismatch, ambiguous, peer-not-visible", 0, false },
	[PAIR_REASON] = { "reason", "REASON", RD_T_STR, "reason for the verdict", 0, false },
};

static const struct rd_column flat_columns[FLAT_COLUMNS] = {
	[FLAT_A + END_HOST] = { "host", "HOST", RD_T_STR, "host name", 0, false },
	[FLAT_A + END_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[FLAT_A + END_LQPN] = { "lqpn", "LQPN", RD_T_UINT, "queue pair number", 0, false },
	[FLAT_A + END_STATE] = { "state", "STATE", RD_T_STR, "state of the queue pair", 0, false },
	[FLAT_B + END_HOST] = { "peer_host", "PEER", RD_T_STR, "remote host", 0, false },
	[FLAT_B + END_IBDEV] = { "peer_ibdev", "PEERDEV", RD_T_STR, "remote RDMA device", 0, false },
	[FLAT_B + END_LQPN] = { "peer_lqpn", "PEERQPN", RD_T_UINT, "remote QP number", 0, false },
	[FLAT_B + END_STATE] = { "peer_state", "PEERSTATE", RD_T_STR, "state of the remote QP", 0, false },
	[FLAT_VERDICT] = { "verdict", "VERDICT", RD_T_STR, "connected, half-open, mismatch, ambiguous, peer-not-visible", 0, false },
	[FLAT_REASON] = { "reason", "REASON", RD_T_STR, "reason for the verdict", 0, false },
};

static const struct rd_column time_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "lqpn", "LQPN", RD_T_UINT, "queue pair number; none: values from the command line", 0, false },
	{ "timeout", "T", RD_T_UINT, "local ACK timeout, encoded", 0, false },
	{ "retry_cnt", "R", RD_T_UINT, "retry_cnt: retransmissions of a packet", 0, false },
	{ "ack_timeout_seconds", "ACKTIMEOUT", RD_T_DOUBLE, "local ACK timeout in seconds: 4.096 us x 2^T", 6, false },
	{ "retry_exc_least_seconds", "LEAST", RD_T_DOUBLE, "minimum until IBV_WC_RETRY_EXC_ERR: (R + 1) timeouts", 6, false },
	{ "retry_exc_most_seconds", "MOST", RD_T_DOUBLE, "maximum until IBV_WC_RETRY_EXC_ERR: four times the minimum", 6, false },
	{ "retry_for_ever", "FOREVER", RD_T_BOOL, "retries forever", 0, false },
	{ "rnr_retry", "RNR", RD_T_UINT, "rnr_retry: retries after RNR NAKs", 0, false },
	{ "min_rnr_timer", "RNRCODE", RD_T_UINT, "min_rnr_timer of the receiver, encoded", 0, false },
	{ "rnr_timer_seconds", "RNRTIMER", RD_T_DOUBLE, "minimum wait after an RNR NAK", 6, false },
	{ "rnr_exc_least_seconds", "RNRLEAST", RD_T_DOUBLE, "minimum until IBV_WC_RNR_RETRY_EXC_ERR", 6, false },
	{ "rnr_for_ever", "RNRFOREVER", RD_T_BOOL, "retries forever after RNR NAKs", 0, false },
	{ "source", "SOURCE", RD_T_STR, "where the values come from: recorder, kernel-query, driver; none: the command line", 0, false },
	{ "note", "NOTE", RD_T_STR, "remark", 0, false },
};

static const struct rd_column spread_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[SPREAD_PEER] = { "peer", "PEER", RD_T_STR, "peer of the flows; none: all flows of the device", 0, false },
	{ "flows", "FLOWS", RD_T_UINT, "connected queue pairs", 0, false },
	{ "five_tuples", "TUPLES", RD_T_UINT, "distinct five-tuples", 0, false },
	{ "links", "LINKS", RD_T_UINT, "equal-cost links", 0, false },
	{ "ideal_percent", "IDEAL%", RD_T_DOUBLE, "share of each link with an even spread", 1, false },
	{ "expected_percent", "EXPECT%", RD_T_DOUBLE, "share of the most loaded link, mean over hashes", 1, false },
	{ "worst_percent", "WORST%", RD_T_DOUBLE, "share of the most loaded link with the worst hash", 1, false },
	{ "five_tuples_and_qps", "TUPLES+QP", RD_T_UINT, "distinct five-tuples with destination QP", 0, false },
	{ "expected_qp_percent", "EXPECT+QP%", RD_T_DOUBLE, "share of the most loaded link, mean over hashes that include the destination QP", 1, false },
	{ "worst_qp_percent", "WORST+QP%", RD_T_DOUBLE, "share of the most loaded link with the worst of these hashes", 1, false },
};

static const struct rd_column one_flow_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "lqpn", "LQPN", RD_T_UINT, "queue pair number", 0, false },
	{ "rqpn", "RQPN", RD_T_UINT, "remote QP number", 0, false },
	[FLOW_PEER] = { "peer", "PEER", RD_T_STR, "address of the peer, if known", 0, false },
	{ "udp_sport", "SPORT", RD_T_UINT, "UDP source port", 0, false },
	{ "udp_sport_from", "FROM", RD_T_STR, "what the port is derived from: device (as the device has it), label (flow label), numbers (QP numbers), assumed (QP numbers; flow label unknown)", 0, false },
};

static const struct rd_column coll_columns[] = {
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[COLL_PEER] = { "peer", "PEER", RD_T_STR, "peer of the flows", 0, false },
	{ "udp_sport", "SPORT", RD_T_UINT, "shared UDP source port", 0, false },
	{ "flows", "FLOWS", RD_T_UINT, "queue pairs with this port", 0, false },
	{ "lqpns", "LQPNS", RD_T_STR, "numbers of the first 16 queue pairs", 0, false },
};
/* clang-format on */

struct pairs {
	const struct rd_join *join;
	const struct rd_join_pairs *pairs;
	const uint32_t *shown; /* indices into pairs; NULL: all */
};

static void set_end(struct rd_row *row, size_t from, const struct rd_join *join, uint32_t i)
{
	const struct rd_join_qp *qp = &join->qps[i];
	const struct rd_join_host *host = &join->hosts[qp->host];

	rd_row_set(row, from + END_HOST, RD_BORROW(host->name));
	rd_row_set(row, from + END_IBDEV, RD_BORROW(host->devs[qp->dev].name));
	rd_row_set(row, from + END_LQPN, RD_UINT(qp->lqpn));
	rd_row_set(row, from + END_STATE, RD_BORROW(rd_qp_state_name(qp->state) ?: "unknown"));
}

static struct rd_section *end_object(const char *key, const struct rd_join *join, uint32_t i)
{
	struct rd_section *section = RD_SECTION(key, end_columns);

	set_end(rd_section_add(section), 0, join, i);
	return section;
}

static void set_pair(const void *arg, size_t i, struct rd_row *row)
{
	const struct pairs *of = arg;
	const struct rd_join_pair *pair = &of->pairs->v[i];
	_cleanup_free_ char *reason = rd_join_reason(of->join, pair);

	RD_CELLS(row, RD_SUB(end_object("a", of->join, pair->a)),
		 pair->b == RD_JOIN_NONE ? RD_UNKNOWN_CELL : RD_SUB(end_object("b", of->join, pair->b)),
		 RD_BORROW(rd_join_verdict_name(pair->verdict)), RD_STR(reason));
}

static void set_flat(const void *arg, size_t i, struct rd_row *row)
{
	const struct pairs *of = arg;
	const struct rd_join_pair *pair = &of->pairs->v[of->shown ? of->shown[i] : i];
	_cleanup_free_ char *reason = rd_join_reason(of->join, pair);

	set_end(row, FLAT_A, of->join, pair->a);
	if (pair->b != RD_JOIN_NONE)
		set_end(row, FLAT_B, of->join, pair->b);
	rd_row_set(row, FLAT_VERDICT, RD_BORROW(rd_join_verdict_name(pair->verdict)));
	rd_row_set(row, FLAT_REASON, RD_STR(reason));
}

static struct rd_section *made_section(const char *key, const struct rd_column *columns, size_t n_columns, size_t n,
				       rd_row_fn *make, const struct pairs *of)
{
	struct pairs *arg = rd_alloc(1, sizeof(*arg));

	*arg = *of;
	return rd_section_create_made(key, columns, n_columns, n, make, arg);
}

void rd_report_pairs(struct rd_report *report, const struct rd_join *join, const struct rd_join_pairs *pairs)
{
	rd_report_add(report, made_section("pairs", pair_columns, PAIR_COLUMNS, pairs->n, set_pair,
					   &(struct pairs){ join, pairs, NULL }));
}

struct rd_section *rd_pairs_table(const struct rd_join *join, const struct rd_join_pairs *pairs, const uint32_t *shown,
				  size_t n)
{
	return made_section("ends", flat_columns, FLAT_COLUMNS, n, set_flat, &(struct pairs){ join, pairs, shown });
}

struct rd_section *rd_timeouts_section(void)
{
	return RD_SECTION("timeouts", time_columns);
}

void rd_timeouts_add(struct rd_section *section, const struct rd_qp_views *views, size_t i,
		     const struct rd_timeouts *values, const struct rd_giveup *giveup)
{
	const struct rd_qp *qp = views ? &views->res->qps[i] : NULL;
	bool decided = giveup->ack_for_ever || giveup->ack_least.known == RD_OK;

	RD_ROW(section, RD_STR(qp ? views->res->devs[qp->dev].name : NULL), qp ? RD_UINT_OF(qp->lqpn) : RD_UNKNOWN_CELL,
	       RD_UINT_OF(values->timeout), RD_UINT_OF(values->retry_cnt), RD_DOUBLE_OF(giveup->ack_timeout),
	       RD_DOUBLE_OF(giveup->ack_least), RD_DOUBLE_OF(giveup->ack_most),
	       decided ? RD_BOOL(giveup->ack_for_ever) : RD_UNKNOWN_CELL, RD_UINT_OF(values->rnr_retry),
	       RD_UINT_OF(values->min_rnr_timer), RD_DOUBLE_OF(giveup->rnr_timer), RD_DOUBLE_OF(giveup->rnr_least),
	       values->rnr_retry.known == RD_OK ? RD_BOOL(giveup->rnr_for_ever) : RD_UNKNOWN_CELL,
	       RD_STR(qp ? rd_peer_source_name(rd_qp_timeout_source(&views->v[i])) : NULL), RD_STR(giveup->note));
}

/* "assumed", "numbers", "label" */
static const char *sport_from_name(enum rd_sport_from from)
{
	static const char *const names[] = { "assumed", "numbers", "label" };

	return names[from];
}

static struct rd_section *flows_section(const struct rd_qp_views *views, const struct rd_spreads *spreads)
{
	struct rd_section *section = RD_SECTION("flows", one_flow_columns);

	for (size_t i = 0; i < spreads->n_flows; i++) {
		const struct rd_flow *flow = &spreads->flows[i];
		const struct rd_qp *qp = &views->res->qps[flow->qp];
		const uint8_t *peer = rd_qp_peer_gid(&views->v[flow->qp]);
		struct rd_row *row = RD_ROW(section, RD_STR(views->res->devs[qp->dev].name), RD_UINT_OF(qp->lqpn),
					    RD_UINT_OF(qp->rqpn), RD_UNKNOWN_CELL, RD_UINT(flow->udp_sport),
					    RD_STR(sport_from_name(flow->from)));

		if (peer)
			rd_row_gid_ip(row, FLOW_PEER, peer);
	}
	return section;
}

void rd_report_spreads(struct rd_report *report, const struct rd_qp_views *views, const struct rd_spreads *spreads)
{
	const struct rd_res *res = views->res;
	struct rd_section *section = rd_report_add(report, RD_SECTION("entropy", spread_columns));
	struct rd_section *collisions = rd_report_add(report, RD_SECTION("collisions", coll_columns));

	for (size_t i = 0; i < spreads->n; i++) {
		const struct rd_spread *of = &spreads->v[i];
		struct rd_row *row = RD_ROW(section, RD_STR(res->devs[of->dev].name), RD_UNKNOWN_CELL,
					    RD_UINT(of->flows), RD_UINT(of->tuples), RD_UINT(spreads->links),
					    RD_DOUBLE(100.0 / spreads->links), RD_DOUBLE(100.0 * of->mean),
					    RD_DOUBLE(100.0 * of->worst), RD_UINT(of->tuples_qp),
					    RD_DOUBLE(100.0 * of->mean_qp), RD_DOUBLE(100.0 * of->worst_qp));

		if (of->has_peer)
			rd_row_gid_ip(row, SPREAD_PEER, of->peer_gid);
	}
	for (size_t i = 0; i < spreads->n_collisions; i++) {
		const struct rd_collision *of = &spreads->collisions[i];

		rd_row_gid_ip(RD_ROW(collisions, RD_STR(res->devs[of->dev].name), RD_UNKNOWN_CELL,
				     RD_UINT(of->udp_sport), RD_UINT(of->flows), RD_STR(of->lqpns)),
			      COLL_PEER, of->peer_gid);
	}
	rd_report_add(report, flows_section(views, spreads));
}

/* clang-format off */
static const struct rd_column bound_columns[] = {
	{ "min", "MIN", RD_T_DOUBLE, "at least", 3, false },
	{ "max", "MAX", RD_T_DOUBLE, "at most", 3, false },
};

static const struct rd_column over_columns[] = {
	{ "time", "TIME", RD_T_TIME, "time of the sample that shows it", 0, false },
	{ "event", "EVENT", RD_T_STR, "path-died, moved, back, stays", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device that failed, with its port where it has several", 0, false },
	{ "lqpn", "LQPN", RD_T_UINT, "number of the first queue pair", 0, false },
	[OVER_PEER] = { "peer_gid", "PEER", RD_T_STR, "GID of its peer", 0, false },
	{ "detected_seconds", "DETECTED", RD_T_DOUBLE, "seconds after the last packet, at least", 3, false },
	{ "detected_max_seconds", "DETECTED-MAX", RD_T_DOUBLE, "the same, at most", 3, false },
	{ "expected_seconds", "EXPECTED", RD_T_OBJECT, "4.096 us x 2^timeout x (retry_cnt + 1), and four times that", 0, false },
	{ "from", "FROM", RD_T_STR, "RDMA device that had the traffic", 0, false },
	{ "to", "TO", RD_T_STR, "RDMA device that has it now", 0, false },
	{ "gbps", "GBPS", RD_T_DOUBLE, "of that device, both directions", 6, false },
	{ "before_gbps", "BEFORE", RD_T_DOUBLE, "of the device that failed, before", 6, false },
	{ "after_seconds", "AFTER", RD_T_DOUBLE, "seconds without packets, at most", 3, false },
	{ "expected_backup", "PLANNED", RD_T_BOOL, "nic-map names it as the backup", 0, false },
	{ "rebuilt", "REBUILT", RD_T_BOOL, "there are new queue pairs on the device that failed", 0, false },
	{ "qps", "QPS", RD_T_UINT, "number of queue pairs", 0, false },
	{ "pid", "PID", RD_T_UINT, "process", 0, false },
	{ "observed", "OBSERVED", RD_T_STR, "the event as a sentence", 0, false },
};

static const struct rd_column path_columns[] = {
	{ "pid", "PID", RD_T_UINT, "process", 0, false },
	{ "comm", "COMM", RD_T_STR, "name of the process", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "qps", "QPS", RD_T_UINT, "connected queue pairs", 0, false },
	{ "unusable", "UNUSABLE", RD_T_UINT, "failed, cut off or stuck ones", 0, false },
	{ "peers", "PEERS", RD_T_UINT, "peers that they reach", 0, false },
	{ "unrouted", "UNROUTED", RD_T_UINT, "those to which the kernel has no route over its interface", 0, false },
	{ "backup", "BACKUP", RD_T_STR, "other RDMA device of the process", 0, false },
	{ "expected_backup", "PLANNED", RD_T_BOOL, "nic-map names that as the backup", 0, false },
	{ "shared", "SHARED", RD_T_STR, "what both share in this host: card, or as in nic-map: PIX, PXB, PHB, NODE, SYS", 0, false },
	{ "detect_least_seconds", "LEAST", RD_T_DOUBLE, "a dead path is detected after: minimum of the slowest QP", 3, false },
	{ "detect_most_seconds", "MOST", RD_T_DOUBLE, "the same, maximum", 3, false },
	{ "watchdog_seconds", "WATCHDOG", RD_T_DOUBLE, "PyTorch ends the process after, by its variables or by default", 0, true },
	{ "retries_forever", "FOREVER", RD_T_BOOL, "one of them never detects it", 0, true },
};
/* clang-format on */

struct rd_section *rd_report_failover_event(const struct rd_failover_event *e, uint64_t realtime_ns)
{
	static const char *const names[] = { "path-died", "moved", "back", "stays" };
	struct rd_section *section = RD_SECTION("event", over_columns);
	struct rd_section *expected =
		RD_OBJECT("expected_seconds", bound_columns, RD_DOUBLE_OF(e->least), RD_DOUBLE_OF(e->most));
	bool died = e->kind == RD_FAILOVER_DIED;
	struct rd_row *row;

	row = RD_ROW(section, RD_UINT(realtime_ns), RD_STR(names[e->kind]), RD_STR(e->ibdev),
		     e->qps ? RD_UINT(e->lqpn) : RD_UNKNOWN_CELL, RD_UNKNOWN_CELL, RD_DOUBLE_OF(e->detected),
		     died && e->detected.known == RD_OK ? RD_DOUBLE(e->detected_max) : RD_UNKNOWN_CELL,
		     RD_SUB(expected), RD_STR(died ? NULL : e->ibdev), RD_STR(died || !*e->to ? NULL : e->to),
		     RD_DOUBLE_OF(e->gbps), RD_DOUBLE_OF(e->gbps_before), RD_DOUBLE_OF(e->after),
		     RD_BOOL_OF(e->expected_backup), died ? RD_UNKNOWN_CELL : RD_BOOL(e->rebuilt),
		     e->qps ? RD_UINT(e->qps) : RD_UNKNOWN_CELL, RD_UINT(e->pid), RD_STR(e->text));
	if (e->has_peer)
		rd_row_gid(row, OVER_PEER, e->peer);
	return section;
}

void rd_report_failover(struct rd_report *report, const struct rd_res *res, const struct rd_failover_paths *paths)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("paths", path_columns));

	for (size_t i = 0; i < paths->n; i++) {
		const struct rd_failover_path *path = &paths->v[i];
		const struct rd_proc *proc = &res->procs[path->proc];

		RD_ROW(section, RD_UINT(proc->pid), RD_STR(proc->comm), RD_STR(path->ibdev), RD_UINT(path->qps),
		       RD_UINT(path->unusable), RD_UINT_OF(path->peers), RD_UINT_OF(path->unrouted),
		       RD_STR(path->backup), RD_BOOL_OF(path->expected_backup), RD_STR(path->shared),
		       RD_DOUBLE_OF(path->least), RD_DOUBLE_OF(path->most), RD_DOUBLE_OF(path->watchdog),
		       RD_BOOL(path->for_ever));
	}
}
