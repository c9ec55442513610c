// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/trace/report-trace.h"

/* Columns that are named elsewhere than in the row that fills them. */
enum { EV_FIX = RD_TRACE_EVENT_COLUMNS - 3, EV_HINT = RD_TRACE_EVENT_COLUMNS - 1 };
enum { SUM_SECONDS, SUM_FUNCTIONS = 2, SUM_EVENTS, SUM_LOST = 5, SUM_MISSED };
enum { OR_COUNT, OR_ERRNO, OR_VERB, OR_IBDEV, OR_FUNCTION, OR_MODULE, OR_OBJECT, OR_METHOD };

/* clang-format off */
static const struct rd_column place_columns[] = {
	{ "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	{ "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	{ "errno", "ERRNO", RD_T_STR, "error it returned", 0, false },
	{ "translated", "TRANSLATED", RD_T_BOOL, "a caller returned a different error", 0, false },
};

static const struct rd_column text_columns[] = {
	{ "text", "TEXT", RD_T_STR, "text", 0, false },
};

static const struct rd_column frame_columns[] = {
	{ "function", "FUNCTION", RD_T_STR, "function", 0, false },
	{ "object", "OBJECT", RD_T_STR, "kernel module, program or library", 0, false },
	{ "offset", "OFFSET", RD_T_UINT, "offset in bytes from the function, or from the object if the function is unknown", 0, false },
	{ "file", "FILE", RD_T_STR, "source file", 0, false },
	{ "line", "LINE", RD_T_UINT, "line in the source file", 0, false },
};

static const struct rd_column sum_columns[] = {
	{ "seconds", "SECONDS", RD_T_DOUBLE, "duration of the trace", 3, false },
	{ "backends", NULL, RD_T_MAP, "hooked functions per backend", 0, false },
	{ "functions", "FUNCTIONS", RD_T_UINT, "hooked functions", 0, false },
	{ "events", "EVENTS", RD_T_UINT, "failed calls: delivered + lost", 0, false },
	{ "delivered", "DELIVERED", RD_T_UINT, "events that were read", 0, false },
	{ "lost", "LOST", RD_T_UINT, "events that were counted, but dropped because the ring buffer was full", 0, false },
	{ "missed", "MISSED", RD_T_UINT, "function calls for which the kernel could not run the hook", 0, false },
	{ "uncounted", "UNCOUNTED", RD_T_UINT, "events that did not fit into by_origin", 0, false },
	{ "benign", "BENIGN", RD_T_UINT, "failures that are expected from healthy programs; not among the events unless --benign is given", 0, false },
	{ "run_seconds", "RUN_SECONDS", RD_T_DOUBLE, "CPU time of the programs; unknown unless run statistics were on for the whole trace", 6, false },
	{ "ended_early", "ENDED_EARLY", RD_T_STR, "why the hooks were detached before the end: holder-died, detached, unread, max-cpu", 0, false },
};

static const struct rd_column origin_columns[] = {
	{ "count", "COUNT", RD_T_UINT, "failed calls", 0, false },
	{ "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	{ "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "function", "ORIGIN", RD_T_STR, "kernel function the error came from", 0, false },
	{ "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	{ "object", "OBJECT", RD_T_STR, "type of object the call operates on", 0, true },
	{ "method", "METHOD", RD_T_STR, "method of the object", 0, true },
	{ "code", "CODE", RD_T_UINT, "error number", 0, true },
	{ "benign", "BENIGN", RD_T_UINT, "failed calls that are benign", 0, true },
};

const struct rd_column rd_trace_event_columns[RD_TRACE_EVENT_COLUMNS] = {
	{ "time", "TIME", RD_T_TIME, "when the call returned", 0, false },
	{ "pid", "PID", RD_T_UINT, "process ID, as in the PID namespace of this command; unknown if it is not visible there", 0, false },
	{ "tid", "TID", RD_T_UINT, "thread ID, likewise", 0, true },
	{ "comm", "COMM", RD_T_STR, "name of the thread", 0, false },
	{ "uid", "UID", RD_T_UINT, "real user ID", 0, true },
	{ "cgroup", "CGROUP", RD_T_STR, "control group of the process", 0, true },
	{ "job", "JOB", RD_T_STR, "Slurm or Kubernetes job, from the control group", 0, true },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "port", "PORT", RD_T_UINT, "port of the device", 0, true },
	{ "object", "OBJECT", RD_T_STR, "type of object the call operates on", 0, true },
	{ "method", "METHOD", RD_T_STR, "method of the object", 0, true },
	{ "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	{ "qpn", "QPN", RD_T_UINT, "queue pair number", 0, false },
	{ "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	{ "code", "CODE", RD_T_UINT, "error number", 0, true },
	{ "side", "SIDE", RD_T_STR, "where the call failed: kernel", 0, true },
	{ "origin", "ORIGIN", RD_T_OBJECT, "kernel function the error came from", 0, false },
	{ "origin_exact", "EXACT", RD_T_BOOL, "false: the error may also have come from one below it that is not traced, or from one that failed later with the same errno", 0, true },
	{ "origin_below", NULL, RD_T_STRS, "functions called by the origin that may have returned the error, and are not traced", 0, false },
	{ "chain", NULL, RD_T_ROWS, "functions that returned the error, innermost first", 0, false },
	{ "chain_dropped", NULL, RD_T_UINT, "failed functions that did not fit into the record", 0, false },
	{ "kernel_stack", NULL, RD_T_ROWS, "kernel stack at the origin", 0, false },
	{ "user_stack", NULL, RD_T_ROWS, "user stack of the program", 0, false },
	{ "user_stack_end", NULL, RD_T_STR, "why the user stack is incomplete", 0, false },
	{ "benign", "BENIGN", RD_T_BOOL, "failure is expected from healthy programs", 0, true },
	{ "benign_reason", NULL, RD_T_STR, "why the failure is benign", 0, false },
	{ "cause_id", "CAUSE_ID", RD_T_STR, "kind of cause; unknown if the cause cannot be determined", 0, true },
	{ "cause", "CAUSE", RD_T_STR, "why the call failed, with the values that show it", 0, true },
	{ "confidence", "CONFIDENCE", RD_T_STR, "how sure the cause is: high, medium, low", 0, true },
	{ "evidence", NULL, RD_T_STRS, "facts that show the cause; without a cause, what was looked at", 0, false },
	{ "fix", "FIX", RD_T_STR, "commands that repair it; without a cause, that show more", 0, true },
	{ "advice", "ADVICE", RD_T_STR, "what else to do; without a cause, what to check", 0, true },
	{ "hint", "HINT", RD_T_STR, "cause and fix on one line", 0, true },
};

static const struct rd_column live_columns[] = {
	{ "errno", "ERRNO", RD_T_STR, "error that the call returned", 0, false },
	{ "verb", "VERB", RD_T_STR, "verb, or object and method of the call", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "origin", "ORIGIN", RD_T_STR, "kernel function that failed first", 0, false },
	{ "count", "COUNT", RD_T_UINT, "failed calls since the start", 0, false, .scaled = true },
	{ "rate", "PER_S", RD_T_DOUBLE, "failed calls per second, since the previous look", 1, false, .scaled = true },
	{ "age_seconds", "AGE", RD_T_DOUBLE, "seconds since the newest one that was read", 0, false },
	{ "process", "PROCESS", RD_T_STR, "process of the newest one", 0, false },
	{ "cause", "CAUSE", RD_T_STR, "cause of the newest one", 0, false },
	{ "job", "JOB", RD_T_STR, "job of that process", 0, true },
	{ "benign", "BENIGN", RD_T_UINT, "of the count: expected from healthy programs", 0, true },
};

static const struct rd_column recent_columns[] = {
	{ "errno", "ERRNO", RD_T_STR, "error that the call returned", 0, false },
	{ "verb", "VERB", RD_T_STR, "verb, or object and method of the call", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "origin", "ORIGIN", RD_T_STR, "kernel function that failed first", 0, false },
	{ "comm", "COMM", RD_T_STR, "name of the program", 0, false },
	{ "pid", "PID", RD_T_UINT, "process of the latest one", 0, false },
	{ "job", "JOB", RD_T_STR, "Slurm or Kubernetes job", 0, false },
	{ "count", "COUNT", RD_T_UINT, "failed calls in the last hour", 0, false },
	{ "age_seconds", "AGE", RD_T_UINT, "seconds since the latest one", 0, false },
	{ "failed", "FAILED", RD_T_UINT, "starts of a crash loop that failed like this", 0, false },
	{ "starts", "STARTS", RD_T_UINT, "of so many starts", 0, false },
	{ "cause", "CAUSE", RD_T_STR, "cause of the latest one that was looked into", 0, false },
};

static const struct rd_column loop_columns[] = {
	{ "summary", "SUMMARY", RD_T_STR, "in how many of the last starts it failed like this", 0, false },
	{ "origin", "ORIGIN", RD_T_OBJECT, "kernel function the error came from", 0, false },
	{ "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	{ "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	{ "comm", "COMM", RD_T_STR, "name of the program", 0, false },
	{ "job", "JOB", RD_T_STR, "Slurm or Kubernetes job", 0, false },
	{ "starts", "STARTS", RD_T_UINT, "starts since the first of these, in which any call failed", 0, false },
	{ "failed", "FAILED", RD_T_UINT, "starts that failed at this origin with these values", 0, false },
	{ "first", "FIRST", RD_T_TIME, "first of these failures", 0, false },
	{ "last", "LAST", RD_T_TIME, "last of them", 0, false },
	{ "cause", "CAUSE", RD_T_STR, "why the call failed", 0, false },
};

static const struct rd_column notice_columns[] = {
	{ "event", "EVENT", RD_T_STR, "what happened", 0, false },
	{ "count", "COUNT", RD_T_UINT, "how often", 0, false },
	{ "since", "SINCE", RD_T_TIME, "since when", 0, false },
	{ "pid", "PID", RD_T_UINT, "process", 0, false },
	{ "function", "ORIGIN", RD_T_STR, "kernel function the error came from", 0, false },
	{ "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	{ "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	{ "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
};

static const struct rd_column scalar_columns[] = {
	{ "kernel", "KERNEL", RD_T_STR, "release of the running kernel", 0, false },
};

static const struct rd_column fn_columns[] = {
	{ "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	{ "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	{ "selected", "SELECTED", RD_T_BOOL, "selected for tracing", 0, false },
	{ "reason", "REASON", RD_T_STR, "rule that selects it or leaves it out", 0, false },
	{ "roots", "ROOTS", RD_T_STRS, "entry points that lead to it", 0, true },
	{ "via", "VIA", RD_T_STR, "how the kernel calls it, other than from functions listed here", 0, true },
	{ "attachable", "ATTACHABLE", RD_T_STRS, "backends that can hook it", 0, false },
	{ "backend", "BACKEND", RD_T_STR, "backend it is hooked by", 0, true },
	{ "size_bytes", "SIZE", RD_T_UINT, "size of its code", 0, true },
	{ "errnos", "ERRNOS", RD_T_STRS, "errnos that its code loads as constants", 0, true },
	{ "calls", "CALLS", RD_T_STRS, "functions it calls that may return an errno", 0, true },
	{ "other_calls", "OTHER-CALLS", RD_T_BOOL, "it also calls functions of the kernel image, or through pointers", 0, true },
	{ "address_taken", "ADDRESS-TAKEN", RD_T_BOOL, "code or a table holds its address: it may be called through a pointer", 0, true },
};

static const struct rd_column module_columns[] = {
	{ "module", "MODULE", RD_T_STR, "kernel module", 0, false },
	{ "version", "VERSION", RD_T_STR, "version of the module", 0, false },
	{ "functions", "FUNCTIONS", RD_T_UINT, "functions of the module", 0, false },
	{ "selected", "SELECTED", RD_T_UINT, "functions selected for tracing", 0, false },
	{ "btf", "BTF", RD_T_BOOL, "has type information (BTF)", 0, false },
	{ "file_matches", "FILE", RD_T_BOOL, "module file on disk has the build-id of the loaded module", 0, false },
	{ "unnamed_functions", "UNNAMED", RD_T_UINT, "functions whose symbols were removed from the module file", 0, true },
	{ "note", "NOTE", RD_T_STR, "what is missing, and the consequence", 0, false },
};

static const struct rd_column status_columns[] = {
	{ "run_statistics", "RUN_STATISTICS", RD_T_BOOL, "kernel.bpf_stats_enabled: run statistics of all BPF programs", 0, false },
};

static const struct rd_column held_columns[] = {
	{ "pid", "PID", RD_T_UINT, "process ID of the tracing command", 0, false },
	{ "holder_pid", "HOLDER", RD_T_UINT, "process ID of the holder of the hooks", 0, false },
	{ "user", "USER", RD_T_STR, "user of the trace", 0, false },
	{ "uid", "UID", RD_T_UINT, "user ID of the trace", 0, true },
	{ "what", "WHAT", RD_T_STR, "command: trace-errno, service (of trace-errno) or qp-state", 0, true },
	{ "state", "STATE", RD_T_STR, "attaching, on, detaching or stopped", 0, false },
	{ "since", "SINCE", RD_T_TIME, "time of attaching", 0, false },
	{ "functions", "FUNCTIONS", RD_T_UINT, "hooked kernel functions", 0, false },
	{ "backends", NULL, RD_T_MAP, "hooked kernel functions per backend", 0, false },
	{ "links", "LINKS", RD_T_UINT, "current BPF links; one link can cover many functions", 0, false },
	{ "programs", "PROGRAMS", RD_T_UINT, "current BPF programs", 0, true },
	{ "run_seconds", "RUN_SECONDS", RD_T_DOUBLE, "CPU time of the programs while run statistics were on, in seconds", 6, false },
	{ "runs", "RUNS", RD_T_UINT, "number of program runs in that time", 0, true },
	{ "result", "RESULT", RD_T_STR, "result of --detach-all: detached, or why not", 0, true },
	{ "command", "COMMAND", RD_T_STR, "command line, including the traced command", 0, false },
};
/* clang-format on */

/* Text of a record, where empty means unknown. */
static struct rd_cell known(const char *text)
{
	return RD_STR(*text ? text : NULL);
}

static struct rd_cell module_cell(int fn, const struct rd_fnset *set)
{
	bool has = fn >= 0 && (size_t)fn < set->n_fns && set->fns[fn].module < set->n_modules;

	return RD_STR(has ? set->modules[set->fns[fn].module].name : NULL);
}

static struct rd_cell function_cell(int fn, const struct rd_fnset *set)
{
	return RD_STR(fn >= 0 && (size_t)fn < set->n_fns ? set->fns[fn].name : NULL);
}

/* `n_columns`: those of a kernel stack lack files and lines. */
static struct rd_cell stack_cell(const char *key, size_t n_columns, const struct rd_frame *frames, size_t n)
{
	struct rd_section *section = n ? rd_section_create(key, frame_columns, n_columns) : NULL;

	for (const struct rd_frame *f = frames; f < frames + n; f++)
		RD_ROW(section, RD_STR(f->function), RD_STR(f->object),
		       f->function || f->object ? RD_UINT(f->offset) : RD_UNKNOWN_CELL, RD_STR(f->file),
		       RD_UINT_OF(f->line));
	return RD_SUB(section);
}

struct rd_section *rd_report_trace_event(const struct rd_event *ev, const struct rd_fnset *set)
{
	struct rd_section *section = RD_SECTION("event", rd_trace_event_columns);
	struct rd_section *origin = rd_section_create("origin", place_columns, 2);
	struct rd_section *below = rd_section_create("origin_below", text_columns, 1);
	struct rd_section *chain = RD_SECTION("chain", place_columns);
	struct rd_section *evidence = rd_section_create("evidence", text_columns, 1);
	const struct rd_explanation *why = &ev->why;
	struct rd_row *row;

	RD_ROW(origin, function_cell(ev->origin, set), module_cell(ev->origin, set));
	for (size_t i = 0; i < ev->n_below; i++)
		if (ev->below[i] < set->n_fns)
			RD_ROW(below, RD_STR(set->fns[ev->below[i]].name));
	if (ev->below_modules) {
		_cleanup_free_ char *modules = rd_text("module %s", ev->below_modules);

		RD_ROW(below, RD_STR(modules));
	}
	for (const struct rd_link *link = ev->chain; link < ev->chain + ev->n_chain; link++)
		RD_ROW(chain, function_cell(link->fn, set), module_cell(link->fn, set), RD_STR(RD_ERRNO(link->err)),
		       RD_BOOL(link->translated));
	for (size_t i = 0; i < why->n_evidence; i++)
		RD_ROW(evidence, RD_STR(why->evidence[i]));
	row = RD_ROW(section, RD_UINT(ev->time_ns), ev->pid ? RD_UINT(ev->pid) : RD_UNKNOWN_CELL,
		     ev->pid ? RD_UINT(ev->tid) : RD_UNKNOWN_CELL, RD_STR(ev->comm), RD_UINT(ev->uid),
		     RD_STR(ev->cgroup), RD_STR(ev->job), RD_STR(ev->ibdev), RD_UINT_OF(ev->port), RD_STR(ev->object),
		     RD_STR(ev->method), RD_STR(ev->verb), RD_UINT_OF(ev->qpn), RD_STR(RD_ERRNO(ev->err)),
		     RD_UINT(-(int64_t)ev->err), RD_STR("kernel"), RD_SUB(origin), RD_BOOL(ev->origin_exact),
		     RD_SUB(below), RD_SUB(chain), RD_UINT(ev->dropped),
		     stack_cell("kernel_stack", 3, ev->kstack, ev->n_kstack),
		     stack_cell("user_stack", RD_ARRAY_SIZE(frame_columns), ev->ustack, ev->n_ustack),
		     RD_STR(ev->ustack_end), RD_BOOL(ev->benign), RD_STR(ev->benign),
		     /* What is benign has no cause. */
		     RD_STR(ev->benign ? NULL : why->id),
		     RD_STR(ev->benign ? NULL :
			    why->id    ? why->cause :
					 RD_CANNOT_TELL),
		     RD_STR(ev->benign || !why->id ? NULL : rd_confidence_name(why->confidence)), RD_SUB(evidence));
	if (ev->benign)
		return section;
	rd_row_fix(row, EV_FIX, why->fix);
	rd_row_set(row, EV_HINT, RD_STR(ev->hint));
	return section;
}

static int more_first(const void *pa, const void *pb)
{
	const struct rd_origin_count *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(b->count, a->count), RD_CMP(a->fn, b->fn), RD_CMP(a->err, b->err));
}

/* A device that was removed and added again has a different number and the same name: merges its rows. Returns the rest. */
static size_t merge(struct rd_origin_count *v, size_t n)
{
	size_t kept = 0, at;

	for (size_t i = 0; i < n; i++) {
		for (at = 0;
		     at < kept &&
		     !(v[at].fn == v[i].fn && v[at].err == v[i].err && rd_same_text(v[at].method, v[i].method) &&
		       rd_same_text(v[at].object, v[i].object) && rd_same_text(v[at].ibdev, v[i].ibdev));
		     at++)
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

/* NULL for RD_EARLY_END_NOT; else "holder-died", "detached", "unread", "max-cpu". */
static const char *early_end_name(enum rd_early_end why)
{
	static const char *const names[] = {
		[RD_EARLY_END_DIED] = "holder-died",
		[RD_EARLY_END_DETACHED] = "detached",
		[RD_EARLY_END_UNREAD] = "unread",
		[RD_EARLY_END_CPU] = "max-cpu",
	};

	return (size_t)why < RD_ARRAY_SIZE(names) ? names[why] : NULL;
}

void rd_report_trace_summary(struct rd_report *report, const struct rd_trace_summary *sum, const struct rd_fnset *set,
			     bool hide_benign)
{
	_cleanup_free_ struct rd_origin_count *merged = rd_alloc(sum->n_counts, sizeof(*merged));
	struct rd_section *origins = RD_SECTION("by_origin", origin_columns);
	const struct rd_trace_totals *t = &sum->totals;
	size_t n;

	report->scalars = RD_OBJECT("summary", sum_columns, RD_DOUBLE(sum->seconds),
				    RD_SUB(rd_report_backends(sum->per_backend)), RD_UINT(sum->functions),
				    RD_UINT(t->events), RD_UINT(t->delivered), RD_UINT(t->lost), RD_UINT_OF(t->missed),
				    RD_UINT(t->uncounted), RD_UINT(sum->benign),
				    t->run_ns.known == RD_OK ? RD_DOUBLE((double)t->run_ns.v / 1e9) : RD_UNKNOWN_CELL,
				    RD_STR(early_end_name(sum->early_end)));
	if (sum->n_counts)
		memcpy(merged, sum->counts, sum->n_counts * sizeof(*merged));
	n = merge(merged, sum->n_counts);
	for (const struct rd_origin_count *c = merged; c < merged + n; c++)
		if (!hide_benign || c->benign < c->count)
			RD_ROW(origins, RD_UINT(c->count), RD_STR(RD_ERRNO(c->err)), RD_STR(c->verb), RD_STR(c->ibdev),
			       function_cell(c->fn, set), module_cell(c->fn, set), RD_STR(c->object), RD_STR(c->method),
			       RD_UINT(-(int64_t)c->err), RD_UINT(c->benign));
	rd_report_add(report, origins);
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

void rd_report_trace_loop(struct rd_report *report, const struct rd_crash_loop *loop)
{
	struct rd_section *origin = rd_section_create("origin", place_columns, 2);
	const struct rd_failure_count *where = &loop->where;
	char first[RD_RFC3339_SIZE];
	_cleanup_free_ char *summary = NULL;

	rd_rfc3339(loop->first, first);
	summary = rd_text("same origin in %llu of the last %llu starts with a failure, first at %.19sZ",
			  (unsigned long long)where->count, (unsigned long long)loop->starts, first);
	report->scalars = RD_SECTION("loop", loop_columns);
	RD_ROW(origin, known(where->function), known(where->module));
	RD_ROW(report->scalars, RD_STR(summary), RD_SUB(origin), known(where->verb), RD_STR(RD_ERRNO(where->err)),
	       known(where->ibdev), known(loop->comm), known(where->job), RD_UINT(loop->starts), RD_UINT(where->count),
	       RD_UINT(loop->first), RD_UINT(loop->last), known(loop->cause));
}

void rd_report_trace_notice(struct rd_report *report, const char *event, uint64_t count, uint64_t since,
			    const struct rd_failure_count *where, uint32_t pid)
{
	report->scalars = RD_OBJECT("notice", notice_columns, RD_STR(event), RD_UINT(count),
				    since ? RD_UINT(since) : RD_UNKNOWN_CELL,
				    where && pid ? RD_UINT(pid) : RD_UNKNOWN_CELL, known(where ? where->function : ""),
				    known(where ? where->verb : ""), RD_STR(where ? RD_ERRNO(where->err) : NULL),
				    known(where ? where->ibdev : ""));
}

void rd_report_service_metrics(struct rd_report *report, const struct rd_service_totals *t)
{
	const struct {
		const char *name, *help;
		enum rd_metric_type type;
		uint64_t value;
	} totals[] = {
		{ "service_events", "Failed calls that were read.", RD_METRIC_COUNTER, t->events },
		{ "service_lost_events", "Failed calls that were not read.", RD_METRIC_COUNTER, t->lost },
		{ "service_suppressed_events", "Failed calls not logged.", RD_METRIC_COUNTER, t->suppressed },
		{ "service_unwritten_lines", "Lines the log did not take.", RD_METRIC_COUNTER, t->unwritten },
		{ "service_restarts", "Processes started again.", RD_METRIC_COUNTER, t->restarts },
		{ "service_functions", "Kernel functions that are hooked.", RD_METRIC_GAUGE, t->functions },
		{ "service_crash_loops", "Programs in a crash loop.", RD_METRIC_GAUGE, t->loops },
	};
	struct rd_metric *family =
		rd_metrics_family(&report->metrics, RD_SERVICE_FAILURES, RD_METRIC_COUNTER, NULL,
				  "Failed calls; the sample without labels has those beyond the limit of series.");

	for (const struct rd_failure_count *c = t->counts; c < t->counts + t->n_counts; c++) {
		const struct rd_label labels[] = {
			{ "errno", rd_errno_name(-c->err) }, { "verb", c->verb },     { "ibdev", c->ibdev },
			{ "function", c->function },	     { "module", c->module }, { "job", c->job }
		};

		rd_metric_uint(family, c->count, labels, RD_ARRAY_SIZE(labels));
	}
	rd_metric_uint(family, t->others, NULL, 0);
	for (size_t i = 0; i < RD_ARRAY_SIZE(totals); i++)
		rd_metric_uint(rd_metrics_family(&report->metrics, totals[i].name, totals[i].type, NULL, totals[i].help),
			       totals[i].value, NULL, 0);
}

struct rd_section *rd_report_trace_live(const struct rd_live_origin *origins, size_t n, const struct rd_fnset *set)
{
	struct rd_section *section = RD_SECTION("origins", live_columns);

	for (const struct rd_live_origin *origin = origins; origin < origins + n; origin++) {
		const struct rd_origin_count *count = &origin->count;
		_cleanup_free_ char *verb = NULL;
		struct rd_row *row;

		if (!count->verb && count->object)
			verb = rd_text("%s.%s", count->object, count->method ?: "?");
		row = RD_ROW(section, RD_STR(rd_errno_name(-count->err)), RD_STR(count->verb ?: verb),
			     RD_STR(count->ibdev), RD_STR(count->fn >= 0 ? set->fns[count->fn].name : NULL),
			     RD_UINT(count->count), RD_DOUBLE_OF(origin->rate), RD_DOUBLE_OF(origin->age),
			     RD_STR(origin->process), RD_STR(origin->cause), RD_STR(origin->job),
			     RD_UINT(count->benign));
		if (origin->rate.known == RD_OK && origin->rate.v > 0 && count->benign < count->count)
			row->severity = RD_SEV_WARNING;
	}
	return section;
}

static void add_function(struct rd_section *section, const struct rd_fn *fn, const struct rd_fnset *set)
{
	struct rd_section *roots = rd_section_create("roots", text_columns, 1);
	struct rd_section *backends = rd_section_create("attachable", text_columns, 1);
	struct rd_section *errnos = fn->size ? rd_section_create("errnos", text_columns, 1) : NULL;
	struct rd_section *calls = fn->size ? rd_section_create("calls", text_columns, 1) : NULL;
	_cleanup_free_ char *via = rd_fnset_via(set, (uint32_t)(fn - set->fns));

	for (uint32_t i = 0; i < fn->n_roots; i++)
		if (fn->roots[i] < set->n_roots && set->roots[fn->roots[i]].fn < set->n_fns)
			RD_ROW(roots, RD_STR(set->fns[set->roots[fn->roots[i]].fn].name));
	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (fn->attachable & set->backends & 1u << b)
			RD_ROW(backends, RD_STR(rd_backend_name(b)));
	for (int code = 0; errnos && (code = rd_fn_next_errno(fn->loaded, code));)
		RD_ROW(errnos, RD_STR(rd_errno_name(code)));
	for (uint32_t i = 0; calls && i < fn->n_calls; i++)
		RD_ROW(calls, RD_STR(set->fns[fn->calls[i]].name));
	RD_ROW(section, RD_STR(fn->name), module_cell((int)(fn - set->fns), set), RD_BOOL(fn->selected),
	       RD_STR(rd_rule_name(fn->rule)), RD_SUB(roots), RD_STR(via), RD_SUB(backends),
	       RD_STR(fn->backend != RD_BACKEND_NONE ? rd_backend_name(fn->backend) : NULL),
	       fn->size ? RD_UINT(fn->size) : RD_UNKNOWN_CELL, RD_SUB(errnos), RD_SUB(calls),
	       fn->size ? RD_BOOL(fn->indirect || fn->outside) : RD_UNKNOWN_CELL,
	       fn->size ? RD_BOOL(fn->taken) : RD_UNKNOWN_CELL);
}

void rd_report_trace_functions(struct rd_report *report, const struct rd_fnset *set, const bool *match)
{
	struct rd_section *fns = rd_report_add(report, RD_SECTION("functions", fn_columns));
	struct rd_section *modules = rd_report_add(report, RD_SECTION("modules", module_columns));

	for (size_t i = 0; i < set->n_fns; i++)
		if (!match || match[i])
			add_function(fns, &set->fns[i], set);
	for (size_t m = 0; m < set->n_modules; m++) {
		const struct rd_module *module = &set->modules[m];
		uint64_t all = 0, selected = 0;

		for (size_t i = 0; i < set->n_fns; i++) {
			all += set->fns[i].module == m;
			selected += set->fns[i].module == m && set->fns[i].selected;
		}
		RD_ROW(modules, RD_STR(module->name), RD_STR(module->version), RD_UINT(all), RD_UINT(selected),
		       RD_BOOL(module->has_btf), RD_BOOL(module->file_matches),
		       module->file_matches ? RD_UINT(module->unnamed) : RD_UNKNOWN_CELL, RD_STR(module->note));
	}
}

void rd_report_trace_list(struct rd_report *report, const struct rd_fnset *set, const bool *match)
{
	report->scalars = rd_section_create("list", scalar_columns, 1);
	RD_ROW(report->scalars, RD_STR(set->kernel));
	rd_report_trace_functions(report, set, match);
}

static const char *state_name(const struct rd_held *held)
{
	static const char *const names[] = {
		[RD_HOLD_ATTACHING] = "attaching", [RD_HOLD_ON] = "on", [RD_HOLD_DETACHING] = "detaching"
	};

	if (held->proc.pid && held->proc.exiting)
		return names[RD_HOLD_DETACHING];
	if (held->proc.pid && held->proc.state == 'T')
		return "stopped";
	return held->owner.state < RD_ARRAY_SIZE(names) ? names[held->owner.state] : NULL;
}

static void add_held(struct rd_section *section, const struct rd_held *held, bool measured)
{
	bool attached = held->owner.state != RD_HOLD_ATTACHING;
	size_t per_backend[RD_BACKEND_COUNT] = { 0 }, functions = 0;

	measured |= held->runs > 0;
	for (size_t b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		functions += per_backend[b] = held->owner.functions[b];
	RD_ROW(section, RD_UINT_OF(held->reader), held->proc.pid ? RD_UINT((uint64_t)held->proc.pid) : RD_UNKNOWN_CELL,
	       RD_STR(held->user), RD_UINT(held->uid), RD_STR(held->owner.what), RD_STR(state_name(held)),
	       RD_UINT(held->owner.since), attached ? RD_UINT(functions) : RD_UNKNOWN_CELL,
	       RD_SUB(attached ? rd_report_backends(per_backend) : NULL), RD_UINT(held->links), RD_UINT(held->programs),
	       measured ? RD_DOUBLE((double)held->run_ns / 1e9) : RD_UNKNOWN_CELL,
	       measured ? RD_UINT(held->runs) : RD_UNKNOWN_CELL, RD_STR(held->result), known(held->owner.command));
}

static struct rd_section *add_recent(const struct rd_recent *recent)
{
	struct rd_section *section = RD_SECTION("failures", recent_columns);

	for (size_t i = 0; i < recent->n; i++) {
		const struct rd_recent_failure *f = &recent->file->v[i];
		bool loops = f->failed > 0;
		uint64_t ago = recent->now_ns > f->last_ns ? (recent->now_ns - f->last_ns) / 1000000000u : 0;
		struct rd_row *row = RD_ROW(section, RD_STR(rd_errno_name(-f->where.err)), known(f->where.verb),
					    known(f->where.ibdev), known(f->where.function), known(f->comm),
					    f->pid ? RD_UINT(f->pid) : RD_UNKNOWN_CELL, known(f->where.job),
					    RD_UINT(f->where.count), RD_UINT(ago),
					    loops ? RD_UINT(f->failed) : RD_UNKNOWN_CELL,
					    loops ? RD_UINT(f->starts) : RD_UNKNOWN_CELL, known(f->cause));

		if (f->loops)
			row->severity = RD_SEV_WARNING;
	}
	return section;
}

void rd_report_trace_status(struct rd_report *report, const struct rd_held_list *list, const struct rd_recent *recent)
{
	struct rd_section *section = rd_report_add(report, RD_SECTION("attached", held_columns));

	report->scalars = RD_OBJECT("status", status_columns, RD_BOOL_OF(list->run_stats));
	for (size_t i = 0; i < list->n; i++)
		add_held(section, &list->v[i], list->run_stats.known == RD_OK && list->run_stats.v);
	rd_report_add(report, add_recent(recent));
}
