// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/trace/report-trace.h"

#include <string.h>

#include "base/memory.h"
#include "report/shared/report-run.h"

enum event_column {
	EV_TIME,
	EV_PID,
	EV_TID,
	EV_COMM,
	EV_UID,
	EV_CGROUP,
	EV_JOB,
	EV_IBDEV,
	EV_PORT,
	EV_OBJECT,
	EV_METHOD,
	EV_VERB,
	EV_QPN,
	EV_ERRNO,
	EV_CODE,
	EV_SIDE,
	EV_ORIGIN,
	EV_EXACT,
	EV_BELOW,
	EV_CHAIN,
	EV_DROPPED,
	EV_KSTACK,
	EV_USTACK,
	EV_USTACK_END,
	EV_BENIGN,
	EV_REASON,
	EV_CAUSE_ID,
	EV_CAUSE,
	EV_CONFIDENCE,
	EV_EVIDENCE,
	EV_FIX,
	EV_ADVICE,
	EV_HINT,
	EV_COLUMNS,
};

enum place_column { PLACE_FUNCTION, PLACE_MODULE, PLACE_ERRNO, PLACE_TRANSLATED, PLACE_COLUMNS };
enum frame_column { FRAME_FUNCTION, FRAME_OBJECT, FRAME_OFFSET, FRAME_FILE, FRAME_LINE, FRAME_COLUMNS };
enum sum_column {
	SUM_SECONDS,
	SUM_BACKENDS,
	SUM_FUNCTIONS,
	SUM_EVENTS,
	SUM_DELIVERED,
	SUM_LOST,
	SUM_MISSED,
	SUM_UNCOUNTED,
	SUM_BENIGN,
	SUM_RUN,
	SUM_ENDED,
	SUM_COLUMNS
};
enum origin_column {
	OR_COUNT,
	OR_ERRNO,
	OR_VERB,
	OR_IBDEV,
	OR_FUNCTION,
	OR_MODULE,
	OR_OBJECT,
	OR_METHOD,
	OR_CODE,
	OR_BENIGN,
	OR_COLUMNS
};

_Static_assert(EV_COLUMNS == RD_TRACE_EVENT_COLUMNS, "RD_TRACE_EVENT_COLUMNS differs");

static const struct rd_column place_columns[PLACE_COLUMNS];
static const struct rd_column text_columns[1];
static const struct rd_column kframe_columns[FRAME_COLUMNS];
static const struct rd_column sum_columns[SUM_COLUMNS];
static const struct rd_column origin_columns[OR_COLUMNS];

static void set_function(struct rd_row *row, size_t function, size_t module, int fn, const struct rd_fnset *set)
{
	if (fn < 0 || (size_t)fn >= set->n_fns)
		return;
	rd_row_str(row, function, set->fns[fn].name);
	if (set->fns[fn].module < set->n_modules)
		rd_row_str(row, module, set->modules[set->fns[fn].module].name);
}

static struct rd_section *origin_section(const struct rd_event *ev, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("origin", place_columns, 2);

	set_function(rd_section_add(section), PLACE_FUNCTION, PLACE_MODULE, ev->origin, set);
	return section;
}

static struct rd_section *chain_section(const struct rd_event *ev, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("chain", place_columns, PLACE_COLUMNS);

	for (size_t i = 0; i < ev->n_chain; i++) {
		struct rd_row *row = rd_section_add(section);

		set_function(row, PLACE_FUNCTION, PLACE_MODULE, ev->chain[i].fn, set);
		rd_row_errno(row, PLACE_ERRNO, ev->chain[i].err);
		rd_row_bool(row, PLACE_TRANSLATED, ev->chain[i].translated);
	}
	return section;
}

static struct rd_section *stack_section(const char *key, const struct rd_column *columns, size_t n_columns,
					const struct rd_frame *frames, size_t n)
{
	struct rd_section *section = rd_section_create(key, columns, n_columns);

	for (size_t i = 0; i < n; i++) {
		struct rd_row *row = rd_section_add(section);

		rd_row_str(row, FRAME_FUNCTION, frames[i].function);
		rd_row_str(row, FRAME_OBJECT, frames[i].object);
		if (frames[i].function || frames[i].object)
			rd_row_uint(row, FRAME_OFFSET, frames[i].offset);
		if (n_columns <= FRAME_FILE)
			continue;
		rd_row_str(row, FRAME_FILE, frames[i].file);
		if (frames[i].line.known == RD_OK)
			rd_row_uint(row, FRAME_LINE, frames[i].line.v);
	}
	return section;
}

static void set_process(struct rd_row *row, const struct rd_event *ev)
{
	rd_row_uint(row, EV_TIME, ev->time_ns);
	if (ev->pid) {
		rd_row_uint(row, EV_PID, ev->pid);
		rd_row_uint(row, EV_TID, ev->tid);
	}
	rd_row_str(row, EV_COMM, ev->comm);
	rd_row_uint(row, EV_UID, ev->uid);
	rd_row_str(row, EV_CGROUP, ev->cgroup);
	rd_row_str(row, EV_JOB, ev->job);
}

static void set_call(struct rd_row *row, const struct rd_event *ev)
{
	rd_row_str(row, EV_IBDEV, ev->ibdev);
	if (ev->port.known == RD_OK)
		rd_row_uint(row, EV_PORT, ev->port.v);
	rd_row_str(row, EV_OBJECT, ev->object);
	rd_row_str(row, EV_METHOD, ev->method);
	rd_row_str(row, EV_VERB, ev->verb);
	if (ev->qpn.known == RD_OK)
		rd_row_uint(row, EV_QPN, ev->qpn.v);
	rd_row_errno(row, EV_ERRNO, ev->err);
	rd_row_uint(row, EV_CODE, -(int64_t)ev->err);
}

static struct rd_section *below_section(const struct rd_event *ev, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("origin_below", text_columns, 1);

	for (size_t i = 0; i < ev->n_below; i++)
		if (ev->below[i] < set->n_fns)
			rd_row_str(rd_section_add(section), 0, set->fns[ev->below[i]].name);
	if (ev->below_modules) {
		_cleanup_free_ char *text = rd_text("module %s", ev->below_modules);

		rd_row_str(rd_section_add(section), 0, text);
	}
	return section;
}

static struct rd_section *evidence_section(const struct rd_explanation *why)
{
	struct rd_section *section = rd_section_create("evidence", text_columns, 1);

	for (size_t i = 0; i < why->n_evidence; i++)
		rd_row_str(rd_section_add(section), 0, why->evidence[i]);
	return section;
}

/* A benign failure has no cause. */
static void set_why(struct rd_row *row, const struct rd_event *ev)
{
	rd_row_sub(row, EV_EVIDENCE, evidence_section(&ev->why));
	if (ev->benign)
		return;
	rd_row_str(row, EV_CAUSE_ID, ev->why.id);
	rd_row_str(row, EV_CAUSE, ev->why.id ? ev->why.cause : RD_CANNOT_TELL);
	if (ev->why.id)
		rd_row_str(row, EV_CONFIDENCE, rd_confidence_name(ev->why.confidence));
	rd_row_fix(row, EV_FIX, ev->why.fix);
	rd_row_str(row, EV_HINT, ev->hint);
}

struct rd_section *rd_report_trace_event(const struct rd_event *ev, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("event", rd_trace_event_columns, EV_COLUMNS);
	struct rd_row *row = rd_section_add(section);

	set_process(row, ev);
	set_call(row, ev);
	rd_row_str(row, EV_SIDE, "kernel");
	rd_row_sub(row, EV_ORIGIN, origin_section(ev, set));
	rd_row_bool(row, EV_EXACT, ev->origin_exact);
	rd_row_sub(row, EV_BELOW, below_section(ev, set));
	rd_row_sub(row, EV_CHAIN, chain_section(ev, set));
	rd_row_uint(row, EV_DROPPED, ev->dropped);
	if (ev->n_kstack)
		rd_row_sub(row, EV_KSTACK,
			   stack_section("kernel_stack", kframe_columns, FRAME_FILE, ev->kstack, ev->n_kstack));
	if (ev->n_ustack)
		rd_row_sub(row, EV_USTACK,
			   stack_section("user_stack", kframe_columns, FRAME_COLUMNS, ev->ustack, ev->n_ustack));
	if (ev->ustack_end) {
		_cleanup_free_ char *end = rd_text("%s (%zu frame%s left out)", ev->ustack_end, ev->ustack_dropped,
						   ev->ustack_dropped == 1 ? "" : "s");

		rd_row_str(row, EV_USTACK_END, end);
	}
	rd_row_bool(row, EV_BENIGN, ev->benign != NULL);
	rd_row_str(row, EV_REASON, ev->benign);
	set_why(row, ev);
	return section;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_origin(const struct rd_origin_count *a, const struct rd_origin_count *b)
{
	return a->fn == b->fn && a->err == b->err && same_text(a->method, b->method) &&
	       same_text(a->object, b->object) && same_text(a->ibdev, b->ibdev);
}

static int more_first(const void *pa, const void *pb)
{
	const struct rd_origin_count *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(b->count, a->count),
			a->fn != b->fn ? (a->fn > b->fn) - (a->fn < b->fn) : (a->err > b->err) - (a->err < b->err));
}

/* A device that was removed and added again has a different number and the same name: merges its rows. Returns the rest. */
static size_t merge(struct rd_origin_count *v, size_t n)
{
	size_t kept = 0, at;

	for (size_t i = 0; i < n; i++) {
		for (at = 0; at < kept && !same_origin(&v[at], &v[i]); at++)
			;
		if (at == kept) {
			v[kept++] = v[i];
			continue;
		}
		v[at].count += v[i].count;
		v[at].benign += v[i].benign;
	}
	qsort(v, kept, sizeof(*v), more_first);
	return kept;
}

static void add_origin(struct rd_section *section, const struct rd_origin_count *c, const struct rd_fnset *set)
{
	struct rd_row *row = rd_section_add(section);

	set_function(row, OR_FUNCTION, OR_MODULE, c->fn, set);
	rd_row_str(row, OR_VERB, c->verb);
	rd_row_str(row, OR_OBJECT, c->object);
	rd_row_str(row, OR_METHOD, c->method);
	rd_row_str(row, OR_IBDEV, c->ibdev);
	rd_row_errno(row, OR_ERRNO, c->err);
	rd_row_uint(row, OR_CODE, -(int64_t)c->err);
	rd_row_uint(row, OR_COUNT, c->count);
	rd_row_uint(row, OR_BENIGN, c->benign);
}

static void add_by_origin(struct rd_report *report, const struct rd_trace_summary *sum, const struct rd_fnset *set,
			  bool hide_benign)
{
	struct rd_section *section = rd_section_create("by_origin", origin_columns, OR_COLUMNS);
	_cleanup_free_ struct rd_origin_count *merged = rd_alloc(sum->n_counts, sizeof(*merged));
	size_t n;

	if (sum->n_counts)
		memcpy(merged, sum->counts, sum->n_counts * sizeof(*merged));
	n = merge(merged, sum->n_counts);
	for (size_t i = 0; i < n; i++)
		if (!hide_benign || merged[i].benign < merged[i].count)
			add_origin(section, &merged[i], set);
	rd_report_add(report, section);
}

void rd_report_trace_summary(struct rd_report *report, const struct rd_trace_summary *sum, const struct rd_fnset *set,
			     bool hide_benign)
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
	if (t->missed.known == RD_OK)
		rd_row_uint(row, SUM_MISSED, t->missed.v);
	rd_row_uint(row, SUM_UNCOUNTED, t->uncounted);
	rd_row_uint(row, SUM_BENIGN, sum->benign);
	if (t->run_ns.known == RD_OK)
		rd_row_double(row, SUM_RUN, (double)t->run_ns.v / 1e9);
	rd_row_str(row, SUM_ENDED, rd_early_end_name(sum->early_end));
	add_by_origin(report, sum, set, hide_benign);
}

void rd_report_trace_metrics(struct rd_report *report)
{
	static const struct {
		size_t column;
		const char *name, *unit, *help;
	} totals[] = {
		{ SUM_SECONDS, "trace_errno_duration", "seconds", "Duration of the last trace." },
		{ SUM_FUNCTIONS, "trace_errno_functions", NULL, "Kernel functions that were traced." },
		{ SUM_EVENTS, "trace_errno_events", NULL, "Failed calls during the trace." },
		{ SUM_LOST, "trace_errno_lost_events", NULL,
		  "Failed calls that were counted, but dropped before they were read." },
		{ SUM_MISSED, "trace_errno_missed_hooks", NULL,
		  "Function calls for which the kernel could not run the hook." },
	};
	static const int labels[] = { OR_ERRNO, OR_VERB, OR_IBDEV, OR_FUNCTION, OR_MODULE, OR_OBJECT, OR_METHOD, -1 };
	static const int none[] = { -1 };
	struct rd_metrics *m = &report->metrics;
	struct rd_metric *family;

	for (size_t i = 0; i < RD_ARRAY_SIZE(totals); i++) {
		family = rd_metrics_family(m, totals[i].name, RD_METRIC_GAUGE, totals[i].unit, totals[i].help);
		rd_metrics_add_section(family, report->scalars, totals[i].column, none);
	}
	family = rd_metrics_family(m, "trace_errno_failures", RD_METRIC_GAUGE, NULL,
				   "Failed calls during the trace, per kernel function the error came from.");
	rd_metrics_add_section(family, report->sections[0], OR_COUNT, labels);
}

/* clang-format off */
const struct rd_column rd_trace_event_columns[EV_COLUMNS] = {
	[EV_TIME] = { "time", "TIME", RD_T_TIME, "when the call returned", 0, false },
	[EV_PID] = { "pid", "PID", RD_T_UINT, "process ID, as in the PID namespace of this command; unknown if it is not visible there", 0, false },
	[EV_TID] = { "tid", "TID", RD_T_UINT, "thread ID, likewise", 0, true },
	[EV_COMM] = { "comm", "COMM", RD_T_STR, "name of the thread", 0, false },
	[EV_UID] = { "uid", "UID", RD_T_UINT, "real user ID", 0, true },
	[EV_CGROUP] = { "cgroup", "CGROUP", RD_T_STR, "control group of the process", 0, true },
	[EV_JOB] = { "job", "JOB", RD_T_STR, "Slurm or Kubernetes job, from the control group", 0, true },
	[EV_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[EV_PORT] = { "port", "PORT", RD_T_UINT, "port of the device", 0, true },
	[EV_OBJECT] = { "object", "OBJECT", RD_T_STR, "type of object the call operates on", 0, true },
	[EV_METHOD] = { "method", "METHOD", RD_T_STR, "method of the object", 0, true },
	[EV_VERB] = { "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	[EV_QPN] = { "qpn", "QPN", RD_T_UINT, "queue pair number", 0, false },
	[EV_ERRNO] = { "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	[EV_CODE] = { "code", "CODE", RD_T_UINT, "error number", 0, true },
	[EV_SIDE] = { "side", "SIDE", RD_T_STR, "where the call failed: kernel", 0, true },
	[EV_ORIGIN] = { "origin", "ORIGIN", RD_T_OBJECT, "kernel function the error came from", 0, false },
	[EV_EXACT] = { "origin_exact", "EXACT", RD_T_BOOL, "false: the error came from this function or from one below it that is not traced", 0, true },
	[EV_BELOW] = { "origin_below", NULL, RD_T_STRS, "functions called by the origin that may have returned the error, and are not traced", 0, false },
	[EV_CHAIN] = { "chain", NULL, RD_T_ROWS, "functions that returned the error, innermost first", 0, false },
	[EV_DROPPED] = { "chain_dropped", NULL, RD_T_UINT, "failed functions that did not fit into the record", 0, false },
	[EV_KSTACK] = { "kernel_stack", NULL, RD_T_ROWS, "kernel stack at the origin", 0, false },
	[EV_USTACK] = { "user_stack", NULL, RD_T_ROWS, "user stack of the program", 0, false },
	[EV_USTACK_END] = { "user_stack_end", NULL, RD_T_STR, "why the user stack is incomplete", 0, false },
	[EV_BENIGN] = { "benign", "BENIGN", RD_T_BOOL, "failure is expected from healthy programs", 0, true },
	[EV_REASON] = { "benign_reason", NULL, RD_T_STR, "why the failure is benign", 0, false },
	[EV_CAUSE_ID] = { "cause_id", "CAUSE_ID", RD_T_STR, "kind of cause; unknown if the cause cannot be determined", 0, true },
	[EV_CAUSE] = { "cause", "CAUSE", RD_T_STR, "why the call failed, with the values that show it", 0, true },
	[EV_CONFIDENCE] = { "confidence", "CONFIDENCE", RD_T_STR, "how sure the cause is: high, medium, low", 0, true },
	[EV_EVIDENCE] = { "evidence", NULL, RD_T_STRS, "facts that show the cause; without a cause, what was looked at", 0, false },
	[EV_FIX] = { "fix", "FIX", RD_T_STR, "commands that repair it; without a cause, that show more", 0, true },
	[EV_ADVICE] = { "advice", "ADVICE", RD_T_STR, "what else to do; without a cause, what to check", 0, true },
	[EV_HINT] = { "hint", "HINT", RD_T_STR, "cause and fix on one line", 0, true },
};

static const struct rd_column place_columns[PLACE_COLUMNS] = {
	[PLACE_FUNCTION] = { "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	[PLACE_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	[PLACE_ERRNO] = { "errno", "ERRNO", RD_T_STR, "error it returned", 0, false },
	[PLACE_TRANSLATED] = { "translated", "TRANSLATED", RD_T_BOOL, "a caller returned a different error", 0, false },
};

static const struct rd_column text_columns[1] = {
	{ "text", "TEXT", RD_T_STR, "text", 0, false },
};

static const struct rd_column kframe_columns[FRAME_COLUMNS] = {
	[FRAME_FUNCTION] = { "function", "FUNCTION", RD_T_STR, "function", 0, false },
	[FRAME_OBJECT] = { "object", "OBJECT", RD_T_STR, "kernel module, program or library", 0, false },
	[FRAME_OFFSET] = { "offset", "OFFSET", RD_T_UINT, "offset in bytes from the function, or from the object if the function is unknown", 0, false },
	[FRAME_FILE] = { "file", "FILE", RD_T_STR, "source file", 0, false },
	[FRAME_LINE] = { "line", "LINE", RD_T_UINT, "line in the source file", 0, false },
};

static const struct rd_column sum_columns[SUM_COLUMNS] = {
	[SUM_SECONDS] = { "seconds", "SECONDS", RD_T_DOUBLE, "duration of the trace", 3, false },
	[SUM_BACKENDS] = { "backends", NULL, RD_T_MAP, "hooked functions per backend", 0, false },
	[SUM_FUNCTIONS] = { "functions", "FUNCTIONS", RD_T_UINT, "hooked functions", 0, false },
	[SUM_EVENTS] = { "events", "EVENTS", RD_T_UINT, "failed calls: delivered + lost", 0, false },
	[SUM_DELIVERED] = { "delivered", "DELIVERED", RD_T_UINT, "events that were read", 0, false },
	[SUM_LOST] = { "lost", "LOST", RD_T_UINT, "events that were counted, but dropped because the ring buffer was full", 0, false },
	[SUM_MISSED] = { "missed", "MISSED", RD_T_UINT, "function calls for which the kernel could not run the hook", 0, false },
	[SUM_UNCOUNTED] = { "uncounted", "UNCOUNTED", RD_T_UINT, "events that did not fit into by_origin", 0, false },
	[SUM_BENIGN] = { "benign", "BENIGN", RD_T_UINT, "failures that are expected from healthy programs; not among the events unless --benign is given", 0, false },
	[SUM_RUN] = { "run_seconds", "RUN_SECONDS", RD_T_DOUBLE, "CPU time of the programs; unknown unless run statistics were on for the whole trace", 6, false },
	[SUM_ENDED] = { "ended_early", "ENDED_EARLY", RD_T_STR, "why the hooks were detached before the end: holder-died, detached, unread, max-cpu", 0, false },
};

static const struct rd_column origin_columns[OR_COLUMNS] = {
	[OR_COUNT] = { "count", "COUNT", RD_T_UINT, "failed calls", 0, false },
	[OR_ERRNO] = { "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	[OR_VERB] = { "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	[OR_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[OR_FUNCTION] = { "function", "ORIGIN", RD_T_STR, "kernel function the error came from", 0, false },
	[OR_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	[OR_OBJECT] = { "object", "OBJECT", RD_T_STR, "type of object the call operates on", 0, true },
	[OR_METHOD] = { "method", "METHOD", RD_T_STR, "method of the object", 0, true },
	[OR_CODE] = { "code", "CODE", RD_T_UINT, "error number", 0, true },
	[OR_BENIGN] = { "benign", "BENIGN", RD_T_UINT, "failed calls that are benign", 0, true },
};
/* clang-format on */
