/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of trace-errno: one section per event, the summary, the list of functions, the status. */
#ifndef RD_REPORT_TRACE_H
#define RD_REPORT_TRACE_H

#include "model/trace/audit.h"
#include "model/trace/event.h"
#include "model/trace/held.h"
#include "report/shared/report.h"

/* A section of one row. Keeps no references to the event. */
struct rd_section *rd_report_trace_event(const struct rd_event *event, const struct rd_fnset *set);

/* Adds the scalars and by_origin, highest count first; rows that look the same are merged. `hide_benign` omits rows in which
 * all events are benign. */
void rd_report_trace_summary(struct rd_report *report, const struct rd_trace_summary *summary,
			     const struct rd_fnset *set, bool hide_benign);

/* Fills report->metrics from the sections of rd_report_trace_summary. Gauges, because each run counts from 0. */
void rd_report_trace_metrics(struct rd_report *report);

/* Adds kernel, functions and modules. `match` (per function id; NULL: all) picks the functions. */
void rd_report_trace_list(struct rd_report *report, const struct rd_fnset *set, const bool *match);

/* Adds only functions and modules. */
void rd_report_trace_functions(struct rd_report *report, const struct rd_fnset *set, const bool *match);

/* --status and --detach-all: the scalars and the sections `attached` and `failures`, which are the tables. */
void rd_report_trace_status(struct rd_report *report, const struct rd_held_list *list, const struct rd_recent *recent);

/* ---- --service */

/* The family of counts in its textfile, from which it goes on after a restart. */
#define RD_SERVICE_FAILURES "service_failures"

/* What the service counted since it keeps its counts. */
struct rd_service_totals {
	const struct rd_failure_count *counts;
	size_t n_counts;
	uint64_t others; /* failures beyond the bound on series */
	uint64_t events, lost, suppressed, unwritten, restarts;
	size_t functions, loops;
};

/* The line of a crash loop: scalars. */
void rd_report_trace_loop(struct rd_report *report, const struct rd_crash_loop *loop);

/* A line about the service itself: what happened, how often, since when (CLOCK_REALTIME, ns), and to what. `where`: NULL, or of
 * which failures. */
void rd_report_trace_notice(struct rd_report *report, const char *event, uint64_t count, uint64_t since,
			    const struct rd_failure_count *where, uint32_t pid);

void rd_report_service_metrics(struct rd_report *report, const struct rd_service_totals *totals);

/* The columns of an event, for --help, completion and the man page. */
#define RD_TRACE_EVENT_COLUMNS 33
extern const struct rd_column rd_trace_event_columns[RD_TRACE_EVENT_COLUMNS];

/* ---- --live: failures by origin */

/* What calls that failed in the same function, with the same verb, device and error, have in common. Texts may be NULL: unknown. */
struct rd_live_origin {
	struct rd_origin_count count; /* since the start */
	RD_FIELD(double) rate;	      /* per second, since the previous look */
	RD_FIELD(double) age;	      /* seconds since the newest one that was read */
	const char *process;	      /* of that: "python3[4711]" */
	const char *job, *cause;
};

/* One row for each; the caller owns the section. */
struct rd_section *rd_report_trace_live(const struct rd_live_origin *origins, size_t n, const struct rd_fnset *set);

/* The first four identify a row. */
enum { RD_LIVE_ERRNO, RD_LIVE_VERB, RD_LIVE_IBDEV, RD_LIVE_ORIGIN, RD_LIVE_COUNT, RD_LIVE_RATE, RD_LIVE_AGE };

/* ---- --audit */

/* Scalars, changes, added, removed, functions, modules, findings, the headline and report->status. `baseline`, `audit`: NULL, the
 * set is not compared. */
void rd_report_audit(struct rd_report *report, const struct rd_fnset *set, const struct rd_audit_set *now,
		     const struct rd_audit_set *baseline, const struct rd_audit *audit);

/* --probe: adds the section `probes`, findings and the worst status. Origins are compared with those of `baseline`, if it has them. */
void rd_report_audit_probes(struct rd_report *report, const struct rd_audit_probe *probes, size_t n,
			    const struct rd_audit_set *baseline);

/* --explain: the functions of that name, whatever suffix the compiler added, in the set and in the baselines. */
void rd_report_audit_explain(struct rd_report *report, const struct rd_fnset *set, const char *name,
			     const struct rd_audit_reason *whys, size_t n_whys, const struct rd_audit_set *baselines,
			     size_t n_baselines);

#endif
