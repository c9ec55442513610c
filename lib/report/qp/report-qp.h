/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_REPORT_QP_H
#define RD_REPORT_QP_H

#include "model/rdma/join.h"
#include "model/rdma/qp-view.h"
#include "model/trace/event.h"
#include "report/shared/report.h"

/* Columns of the table of queue pairs, selectable with -o. */
enum rd_qp_column {
	RD_QP_IBDEV,
	RD_QP_PORT,
	RD_QP_LQPN,
	RD_QP_TYPE,
	RD_QP_STATE,
	RD_QP_RQPN,
	RD_QP_PEER,
	RD_QP_PID,
	RD_QP_COMM,
	RD_QP_JOB,
	RD_QP_AGE,
	RD_QP_VERDICT,
	RD_QP_SQ_PSN,
	RD_QP_RQ_PSN,
	RD_QP_PATH_MIG,
	RD_QP_PDN,
	RD_QP_KERNEL,
	RD_QP_AGE_KIND,
	RD_QP_AGE_MAX,
	RD_QP_PSN_RATE,
	RD_QP_PEER_GID,
	RD_QP_PEER_SOURCE,
	RD_QP_PROC_PEERS,
	RD_QP_UDP_SPORT,
	RD_QP_FLOW_LABEL,
	RD_QP_PATH_MTU,
	RD_QP_TIMEOUT,
	RD_QP_RETRY_CNT,
	RD_QP_RNR_RETRY,
	RD_QP_MIN_RNR_TIMER,
	RD_QP_SGID_INDEX,
	RD_QP_DEST_QPN,
	RD_QP_ALT_PORT,
	RD_QP_ALT_GID,
	RD_QP_DLID,
	RD_QP_DRIVER,
	RD_QP_SUBTYPE,
	RD_QP_CGROUP,
	RD_QP_CM_STATE,
	RD_QP_SRC_ADDR,
	RD_QP_DST_ADDR,
	RD_QP_ERRNO,
	RD_QP_LAST_ERR,
	RD_QP_WHY,
	RD_QP_FIX,
	RD_QP_ADVICE,
	RD_QP_COLUMNS,
};
extern const struct rd_column rd_qp_columns[RD_QP_COLUMNS];

/* Adds section "qps": the queue pairs for which `chosen` (n_qps entries; NULL: all) is true. Rows are made when read: the views
 * must outlive the report, or the section must be stored. */
void rd_report_qps(struct rd_report *report, const struct rd_qp_views *views, const bool *chosen);

/* Adds section "summary": objects in use and limits, by device and kind. */
void rd_report_qp_summary(struct rd_report *report, const struct rd_res *res);

/* Adds section "processes": listed objects by owner; the largest owner first. */
void rd_report_qp_processes(struct rd_report *report, const struct rd_res *res, const struct rd_res_holders *holders);

/* The columns of section "groups" that identify a group. */
enum { RD_QP_GROUP_NAME, RD_QP_GROUP_IBDEV };

/* Adds section "groups". */
void rd_report_qp_groups(struct rd_report *report, const struct rd_res *res, const struct rd_qp_groups *groups);

/* Adds metrics: queue pairs by device and state (those for which `chosen` is true), and resources in use and limits by device. */
void rd_report_qp_metrics(struct rd_report *report, const struct rd_res *res, const bool *chosen);

/* Adds section "pairs", whose ends are objects. `join` and `pairs` must outlive the report. */
void rd_report_pairs(struct rd_report *report, const struct rd_join *join, const struct rd_join_pairs *pairs);

/* `n` of the pairs as a flat table, those in `shown`, or the first ones if that is NULL; the caller destroys it. The others must
 * outlive it. */
struct rd_section *rd_pairs_table(const struct rd_join *join, const struct rd_join_pairs *pairs, const uint32_t *shown,
				  size_t n);

/* Section "timeouts"; the report takes ownership. */
struct rd_section *rd_timeouts_section(void);

/* Adds a row: `values` of queue pair `i`, and the derived times. `views` NULL: values of the command line. */
void rd_timeouts_add(struct rd_section *section, const struct rd_qp_views *views, size_t i,
		     const struct rd_timeouts *values, const struct rd_giveup *giveup);

/* Adds sections "entropy", "collisions" and "flows". */
void rd_report_spreads(struct rd_report *report, const struct rd_qp_views *views, const struct rd_spreads *spreads);

/* An event of --failover as a section of one row. */
#define RD_FAILOVER_EVENT 1 /* the column with its name */
struct rd_section *rd_report_failover_event(const struct rd_failover_event *event, uint64_t realtime_ns);

/* Adds section "paths": the NICs of each process, and their backups. */
void rd_report_failover(struct rd_report *report, const struct rd_res *res, const struct rd_failover_paths *paths);

/* One event as a section of one row. */
struct rd_section *rd_report_qp_event(const struct rd_qp_event *event);

/* Counts of modify_qp calls by old and new state. */
struct rd_qp_moves {
	uint64_t ok[RD_QP_ENDS][RD_QP_ENDS]; /* by enum rd_qp_state before and after; RD_QP_END_NONE: unknown */
	uint64_t failed[RD_QP_ENDS][RD_QP_ENDS];
};

struct rd_qp_trace_summary {
	double seconds;
	size_t per_backend[RD_BACKEND_COUNT]; /* functions */
	size_t functions;
	struct rd_trace_totals totals;
	uint64_t shown;
	struct rd_qp_moves moves;
	uint64_t durations[RD_QP_ENDS][RD_QP_DURATIONS]; /* calls, by new state and power of two of their ns */
};

/* Adds the scalars, `transitions` and `durations`. */
void rd_report_qp_trace_summary(struct rd_report *report, const struct rd_qp_trace_summary *summary);

#endif
