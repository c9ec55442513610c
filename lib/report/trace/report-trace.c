// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/trace/report-trace.h"

#include <string.h>

#include "base/memory.h"
#include "base/rfc3339.h"
#include "base/text.h"
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
enum {
	LOOP_SUMMARY,
	LOOP_ORIGIN,
	LOOP_VERB,
	LOOP_ERRNO,
	LOOP_IBDEV,
	LOOP_COMM,
	LOOP_JOB,
	LOOP_STARTS,
	LOOP_FAILED,
	LOOP_FIRST,
	LOOP_LAST,
	LOOP_CAUSE,
	LOOP_COLUMNS
};
enum {
	NOTICE_EVENT,
	NOTICE_COUNT,
	NOTICE_SINCE,
	NOTICE_PID,
	NOTICE_FUNCTION,
	NOTICE_VERB,
	NOTICE_ERRNO,
	NOTICE_IBDEV,
	NOTICE_COLUMNS
};
enum { LIVE_PROCESS = RD_LIVE_AGE + 1, LIVE_CAUSE, LIVE_JOB, LIVE_BENIGN, LIVE_COLUMNS };
enum fn_column {
	FN_FUNCTION,
	FN_MODULE,
	FN_SELECTED,
	FN_REASON,
	FN_ROOTS,
	FN_VIA,
	FN_ATTACHABLE,
	FN_BACKEND,
	FN_SIZE,
	FN_ERRNOS,
	FN_CALLS,
	FN_OTHER,
	FN_TAKEN,
	FN_COLUMNS,
};
enum module_column {
	MOD_MODULE,
	MOD_VERSION,
	MOD_FUNCTIONS,
	MOD_SELECTED,
	MOD_BTF,
	MOD_FILE,
	MOD_UNNAMED,
	MOD_NOTE,
	MOD_COLUMNS
};
enum status_column { ST_RUN_STATS, ST_COLUMNS };
enum held_column {
	HELD_PID,
	HELD_HOLDER,
	HELD_USER,
	HELD_UID,
	HELD_WHAT,
	HELD_STATE,
	HELD_SINCE,
	HELD_FUNCTIONS,
	HELD_BACKENDS,
	HELD_LINKS,
	HELD_PROGRAMS,
	HELD_RUN,
	HELD_RUNS,
	HELD_RESULT,
	HELD_COMMAND,
	HELD_COLUMNS
};

_Static_assert(EV_COLUMNS == RD_TRACE_EVENT_COLUMNS, "RD_TRACE_EVENT_COLUMNS differs");

/* clang-format off */
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
	[EV_EXACT] = { "origin_exact", "EXACT", RD_T_BOOL, "false: the error may also have come from one below it that is not traced, or from one that failed later with the same errno", 0, true },
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

static const struct rd_column live_columns[LIVE_COLUMNS] = {
	[RD_LIVE_ERRNO] = { "errno", "ERRNO", RD_T_STR, "error that the call returned", 0, false },
	[RD_LIVE_VERB] = { "verb", "VERB", RD_T_STR, "verb, or object and method of the call", 0, false },
	[RD_LIVE_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[RD_LIVE_ORIGIN] = { "origin", "ORIGIN", RD_T_STR, "kernel function that failed first", 0, false },
	[RD_LIVE_COUNT] = { "count", "COUNT", RD_T_UINT, "failed calls since the start", 0, false, .scaled = true },
	[RD_LIVE_RATE] = { "rate", "PER_S", RD_T_DOUBLE, "failed calls per second, since the previous look", 1, false, .scaled = true },
	[RD_LIVE_AGE] = { "age_seconds", "AGE", RD_T_DOUBLE, "seconds since the newest one that was read", 0, false },
	[LIVE_PROCESS] = { "process", "PROCESS", RD_T_STR, "process of the newest one", 0, false },
	[LIVE_CAUSE] = { "cause", "CAUSE", RD_T_STR, "cause of the newest one", 0, false },
	[LIVE_JOB] = { "job", "JOB", RD_T_STR, "job of that process", 0, true },
	[LIVE_BENIGN] = { "benign", "BENIGN", RD_T_UINT, "of the count: expected from healthy programs", 0, true },
};

static const struct rd_column loop_columns[LOOP_COLUMNS] = {
	[LOOP_SUMMARY] = { "summary", "SUMMARY", RD_T_STR, "in how many of the last starts it failed like this", 0, false },
	[LOOP_ORIGIN] = { "origin", "ORIGIN", RD_T_OBJECT, "kernel function the error came from", 0, false },
	[LOOP_VERB] = { "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	[LOOP_ERRNO] = { "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	[LOOP_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
	[LOOP_COMM] = { "comm", "COMM", RD_T_STR, "name of the program", 0, false },
	[LOOP_JOB] = { "job", "JOB", RD_T_STR, "Slurm or Kubernetes job", 0, false },
	[LOOP_STARTS] = { "starts", "STARTS", RD_T_UINT, "starts since the first of these, in which any call failed", 0, false },
	[LOOP_FAILED] = { "failed", "FAILED", RD_T_UINT, "starts that failed at this origin with these values", 0, false },
	[LOOP_FIRST] = { "first", "FIRST", RD_T_TIME, "first of these failures", 0, false },
	[LOOP_LAST] = { "last", "LAST", RD_T_TIME, "last of them", 0, false },
	[LOOP_CAUSE] = { "cause", "CAUSE", RD_T_STR, "why the call failed", 0, false },
};

static const struct rd_column notice_columns[NOTICE_COLUMNS] = {
	[NOTICE_EVENT] = { "event", "EVENT", RD_T_STR, "what happened", 0, false },
	[NOTICE_COUNT] = { "count", "COUNT", RD_T_UINT, "how often", 0, false },
	[NOTICE_SINCE] = { "since", "SINCE", RD_T_TIME, "since when", 0, false },
	[NOTICE_PID] = { "pid", "PID", RD_T_UINT, "process", 0, false },
	[NOTICE_FUNCTION] = { "function", "ORIGIN", RD_T_STR, "kernel function the error came from", 0, false },
	[NOTICE_VERB] = { "verb", "VERB", RD_T_STR, "library call that failed", 0, false },
	[NOTICE_ERRNO] = { "errno", "ERRNO", RD_T_STR, "error name", 0, false },
	[NOTICE_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device", 0, false },
};

static const struct rd_column scalar_columns[1] = {
	{ "kernel", "KERNEL", RD_T_STR, "release of the running kernel", 0, false },
};

static const struct rd_column fn_columns[FN_COLUMNS] = {
	[FN_FUNCTION] = { "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	[FN_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	[FN_SELECTED] = { "selected", "SELECTED", RD_T_BOOL, "selected for tracing", 0, false },
	[FN_REASON] = { "reason", "REASON", RD_T_STR, "rule that selects it or leaves it out", 0, false },
	[FN_ROOTS] = { "roots", "ROOTS", RD_T_STRS, "entry points that lead to it", 0, true },
	[FN_VIA] = { "via", "VIA", RD_T_STR, "how the kernel calls it, other than from functions listed here", 0, true },
	[FN_ATTACHABLE] = { "attachable", "ATTACHABLE", RD_T_STRS, "backends that can hook it", 0, false },
	[FN_BACKEND] = { "backend", "BACKEND", RD_T_STR, "backend it is hooked by", 0, true },
	[FN_SIZE] = { "size_bytes", "SIZE", RD_T_UINT, "size of its code", 0, true },
	[FN_ERRNOS] = { "errnos", "ERRNOS", RD_T_STRS, "errnos that its code loads as constants", 0, true },
	[FN_OTHER] = { "other_calls", "OTHER-CALLS", RD_T_BOOL, "it also calls functions of the kernel image, or through pointers", 0, true },
	[FN_TAKEN] = { "address_taken", "ADDRESS-TAKEN", RD_T_BOOL, "code or a table holds its address: it may be called through a pointer", 0, true },
	[FN_CALLS] = { "calls", "CALLS", RD_T_STRS, "functions it calls that may return an errno", 0, true },
};

static const struct rd_column module_columns[MOD_COLUMNS] = {
	[MOD_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module", 0, false },
	[MOD_VERSION] = { "version", "VERSION", RD_T_STR, "version of the module", 0, false },
	[MOD_FUNCTIONS] = { "functions", "FUNCTIONS", RD_T_UINT, "functions of the module", 0, false },
	[MOD_SELECTED] = { "selected", "SELECTED", RD_T_UINT, "functions selected for tracing", 0, false },
	[MOD_BTF] = { "btf", "BTF", RD_T_BOOL, "has type information (BTF)", 0, false },
	[MOD_FILE] = { "file_matches", "FILE", RD_T_BOOL, "module file on disk has the build-id of the loaded module", 0, false },
	[MOD_UNNAMED] = { "unnamed_functions", "UNNAMED", RD_T_UINT, "functions whose symbols were removed from the module file", 0, true },
	[MOD_NOTE] = { "note", "NOTE", RD_T_STR, "what is missing, and the consequence", 0, false },
};

static const struct rd_column status_columns[ST_COLUMNS] = {
	[ST_RUN_STATS] = { "run_statistics", "RUN_STATISTICS", RD_T_BOOL, "kernel.bpf_stats_enabled: run statistics of all BPF programs", 0, false },
};

static const struct rd_column held_columns[HELD_COLUMNS] = {
	[HELD_PID] = { "pid", "PID", RD_T_UINT, "process ID of the tracing command", 0, false },
	[HELD_HOLDER] = { "holder_pid", "HOLDER", RD_T_UINT, "process ID of the holder of the hooks", 0, false },
	[HELD_USER] = { "user", "USER", RD_T_STR, "user of the trace", 0, false },
	[HELD_UID] = { "uid", "UID", RD_T_UINT, "user ID of the trace", 0, true },
	[HELD_WHAT] = { "what", "WHAT", RD_T_STR, "command: trace-errno, service (of trace-errno) or qp-state", 0, true },
	[HELD_STATE] = { "state", "STATE", RD_T_STR, "attaching, on, detaching or stopped", 0, false },
	[HELD_SINCE] = { "since", "SINCE", RD_T_TIME, "time of attaching", 0, false },
	[HELD_FUNCTIONS] = { "functions", "FUNCTIONS", RD_T_UINT, "hooked kernel functions", 0, false },
	[HELD_BACKENDS] = { "backends", NULL, RD_T_MAP, "hooked kernel functions per backend", 0, false },
	[HELD_LINKS] = { "links", "LINKS", RD_T_UINT, "current BPF links; one link can cover many functions", 0, false },
	[HELD_PROGRAMS] = { "programs", "PROGRAMS", RD_T_UINT, "current BPF programs", 0, true },
	[HELD_RUN] = { "run_seconds", "RUN_SECONDS", RD_T_DOUBLE, "CPU time of the programs while run statistics were on, in seconds", 6, false },
	[HELD_RUNS] = { "runs", "RUNS", RD_T_UINT, "number of program runs in that time", 0, true },
	[HELD_RESULT] = { "result", "RESULT", RD_T_STR, "result of --detach-all: detached, or why not", 0, true },
	[HELD_COMMAND] = { "command", "COMMAND", RD_T_STR, "command line, including the traced command", 0, false },
};
/* clang-format on */

static void set_known(struct rd_row *row, size_t column, const char *text)
{
	rd_row_str(row, column, *text ? text : NULL);
}

static void set_function(struct rd_row *row, size_t function, size_t module, int fn, const struct rd_fnset *set)
{
	if (fn < 0 || (size_t)fn >= set->n_fns)
		return;
	rd_row_str(row, function, set->fns[fn].name);
	if (set->fns[fn].module < set->n_modules)
		rd_row_str(row, module, set->modules[set->fns[fn].module].name);
}

static struct rd_section *stack_section(const char *key, size_t n_columns, const struct rd_frame *frames, size_t n)
{
	struct rd_section *section = rd_section_create(key, kframe_columns, n_columns);

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

static void add_text(struct rd_section *texts, const char *text)
{
	rd_row_str(rd_section_add(texts), 0, text);
}

struct rd_section *rd_report_trace_event(const struct rd_event *ev, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("event", rd_trace_event_columns, EV_COLUMNS);
	struct rd_section *origin = rd_section_create("origin", place_columns, 2);
	struct rd_section *below = rd_section_create("origin_below", text_columns, 1);
	struct rd_section *chain = rd_section_create("chain", place_columns, PLACE_COLUMNS);
	struct rd_section *evidence = rd_section_create("evidence", text_columns, 1);
	struct rd_row *row = rd_section_add(section);

	rd_row_uint(row, EV_TIME, ev->time_ns);
	if (ev->pid) {
		rd_row_uint(row, EV_PID, ev->pid);
		rd_row_uint(row, EV_TID, ev->tid);
	}
	rd_row_str(row, EV_COMM, ev->comm);
	rd_row_uint(row, EV_UID, ev->uid);
	rd_row_str(row, EV_CGROUP, ev->cgroup);
	rd_row_str(row, EV_JOB, ev->job);
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
	rd_row_str(row, EV_SIDE, "kernel");
	set_function(rd_section_add(origin), PLACE_FUNCTION, PLACE_MODULE, ev->origin, set);
	rd_row_sub(row, EV_ORIGIN, origin);
	rd_row_bool(row, EV_EXACT, ev->origin_exact);
	for (size_t i = 0; i < ev->n_below; i++)
		if (ev->below[i] < set->n_fns)
			add_text(below, set->fns[ev->below[i]].name);
	if (ev->below_modules) {
		_cleanup_free_ char *modules = rd_text("module %s", ev->below_modules);

		add_text(below, modules);
	}
	rd_row_sub(row, EV_BELOW, below);
	for (size_t i = 0; i < ev->n_chain; i++) {
		struct rd_row *link = rd_section_add(chain);

		set_function(link, PLACE_FUNCTION, PLACE_MODULE, ev->chain[i].fn, set);
		rd_row_errno(link, PLACE_ERRNO, ev->chain[i].err);
		rd_row_bool(link, PLACE_TRANSLATED, ev->chain[i].translated);
	}
	rd_row_sub(row, EV_CHAIN, chain);
	rd_row_uint(row, EV_DROPPED, ev->dropped);
	if (ev->n_kstack)
		rd_row_sub(row, EV_KSTACK, stack_section("kernel_stack", FRAME_FILE, ev->kstack, ev->n_kstack));
	if (ev->n_ustack)
		rd_row_sub(row, EV_USTACK, stack_section("user_stack", FRAME_COLUMNS, ev->ustack, ev->n_ustack));
	rd_row_str(row, EV_USTACK_END, ev->ustack_end);
	rd_row_bool(row, EV_BENIGN, ev->benign != NULL);
	rd_row_str(row, EV_REASON, ev->benign);
	for (size_t i = 0; i < ev->why.n_evidence; i++)
		add_text(evidence, ev->why.evidence[i]);
	rd_row_sub(row, EV_EVIDENCE, evidence);
	if (ev->benign) /* which has no cause */
		return section;
	rd_row_str(row, EV_CAUSE_ID, ev->why.id);
	rd_row_str(row, EV_CAUSE, ev->why.id ? ev->why.cause : RD_CANNOT_TELL);
	if (ev->why.id)
		rd_row_str(row, EV_CONFIDENCE, rd_confidence_name(ev->why.confidence));
	rd_row_fix(row, EV_FIX, ev->why.fix);
	rd_row_str(row, EV_HINT, ev->hint);
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

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->fn != b->fn ? (a->fn > b->fn) - (a->fn < b->fn) : (a->err > b->err) - (a->err < b->err);
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

void rd_report_trace_summary(struct rd_report *report, const struct rd_trace_summary *sum, const struct rd_fnset *set,
			     bool hide_benign)
{
	_cleanup_free_ struct rd_origin_count *merged = rd_alloc(sum->n_counts, sizeof(*merged));
	struct rd_section *origins = rd_section_create("by_origin", origin_columns, OR_COLUMNS);
	const struct rd_trace_totals *t = &sum->totals;
	struct rd_row *row;
	size_t n;

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
	if (sum->n_counts)
		memcpy(merged, sum->counts, sum->n_counts * sizeof(*merged));
	n = merge(merged, sum->n_counts);
	for (const struct rd_origin_count *c = merged; c < merged + n; c++) {
		if (hide_benign && c->benign >= c->count)
			continue;
		row = rd_section_add(origins);
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
	_cleanup_free_ char *summary = NULL;
	struct rd_row *row, *place = rd_section_add(origin);
	char first[RD_RFC3339_SIZE];

	rd_rfc3339(loop->first, first);
	summary = rd_text("same origin in %llu of the last %llu starts with a failure, first at %.19sZ",
			  (unsigned long long)loop->where.count, (unsigned long long)loop->starts, first);
	report->scalars = rd_section_create("loop", loop_columns, LOOP_COLUMNS);
	row = rd_section_add(report->scalars);
	set_known(place, PLACE_FUNCTION, loop->where.function);
	set_known(place, PLACE_MODULE, loop->where.module);
	rd_row_str(row, LOOP_SUMMARY, summary);
	rd_row_sub(row, LOOP_ORIGIN, origin);
	set_known(row, LOOP_VERB, loop->where.verb);
	rd_row_errno(row, LOOP_ERRNO, loop->where.err);
	set_known(row, LOOP_IBDEV, loop->where.ibdev);
	set_known(row, LOOP_COMM, loop->comm);
	set_known(row, LOOP_JOB, loop->where.job);
	RD_ROW_UINTS(row, LOOP_STARTS, loop->starts, loop->where.count, loop->first, loop->last);
	set_known(row, LOOP_CAUSE, loop->cause);
}

void rd_report_trace_notice(struct rd_report *report, const char *event, uint64_t count, uint64_t since,
			    const struct rd_failure_count *where, uint32_t pid)
{
	struct rd_row *row;

	report->scalars = rd_section_create("notice", notice_columns, NOTICE_COLUMNS);
	row = rd_section_add(report->scalars);
	rd_row_str(row, NOTICE_EVENT, event);
	rd_row_uint(row, NOTICE_COUNT, count);
	if (since)
		rd_row_uint(row, NOTICE_SINCE, since);
	if (!where)
		return;
	if (pid)
		rd_row_uint(row, NOTICE_PID, pid);
	set_known(row, NOTICE_FUNCTION, where->function);
	set_known(row, NOTICE_VERB, where->verb);
	rd_row_errno(row, NOTICE_ERRNO, where->err);
	set_known(row, NOTICE_IBDEV, where->ibdev);
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
	struct rd_section *section = rd_section_create("origins", live_columns, LIVE_COLUMNS);

	for (const struct rd_live_origin *origin = origins; origin < origins + n; origin++) {
		const struct rd_origin_count *count = &origin->count;
		struct rd_row *row = rd_section_add(section);
		_cleanup_free_ char *verb = NULL;

		if (!count->verb && count->object)
			verb = rd_text("%s.%s", count->object, count->method ? count->method : "?");
		rd_row_str(row, RD_LIVE_ERRNO, rd_errno_name(-count->err));
		rd_row_str(row, RD_LIVE_VERB, count->verb ? count->verb : verb);
		rd_row_str(row, RD_LIVE_IBDEV, count->ibdev);
		rd_row_str(row, RD_LIVE_ORIGIN, count->fn >= 0 ? set->fns[count->fn].name : NULL);
		rd_row_uint(row, RD_LIVE_COUNT, count->count);
		if (origin->rate.known == RD_OK)
			rd_row_double(row, RD_LIVE_RATE, origin->rate.v);
		if (origin->age.known == RD_OK)
			rd_row_double(row, RD_LIVE_AGE, origin->age.v);
		rd_row_str(row, LIVE_PROCESS, origin->process);
		rd_row_str(row, LIVE_CAUSE, origin->cause);
		rd_row_str(row, LIVE_JOB, origin->job);
		rd_row_uint(row, LIVE_BENIGN, count->benign);
		if (origin->rate.known == RD_OK && origin->rate.v > 0 && count->benign < count->count)
			rd_row_severity(row, RD_SEV_WARNING);
	}
	return section;
}

static void add_function(struct rd_section *section, const struct rd_fn *fn, const struct rd_fnset *set)
{
	struct rd_section *roots = rd_section_create("roots", text_columns, 1);
	struct rd_section *backends = rd_section_create("attachable", text_columns, 1);
	struct rd_section *errnos, *calls;
	struct rd_row *row = rd_section_add(section);
	_cleanup_free_ char *via = rd_fnset_via(set, (uint32_t)(fn - set->fns));

	rd_row_str(row, FN_FUNCTION, fn->name);
	if (fn->module < set->n_modules)
		rd_row_str(row, FN_MODULE, set->modules[fn->module].name);
	rd_row_bool(row, FN_SELECTED, fn->selected);
	rd_row_str(row, FN_REASON, rd_rule_name(fn->rule));
	for (uint32_t i = 0; i < fn->n_roots; i++)
		if (fn->roots[i] < set->n_roots && set->roots[fn->roots[i]].fn < set->n_fns)
			add_text(roots, set->fns[set->roots[fn->roots[i]].fn].name);
	rd_row_sub(row, FN_ROOTS, roots);
	rd_row_str(row, FN_VIA, via);
	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (fn->attachable & set->backends & 1u << b)
			add_text(backends, rd_backend_name(b));
	rd_row_sub(row, FN_ATTACHABLE, backends);
	if (fn->backend != RD_BACKEND_NONE)
		rd_row_str(row, FN_BACKEND, rd_backend_name(fn->backend));
	if (!fn->size)
		return;
	rd_row_uint(row, FN_SIZE, fn->size);
	errnos = rd_section_create("errnos", text_columns, 1);
	for (int code = 0; (code = rd_fn_next_errno(fn->loaded, code));)
		add_text(errnos, rd_errno_name(code));
	rd_row_sub(row, FN_ERRNOS, errnos);
	calls = rd_section_create("calls", text_columns, 1);
	for (uint32_t i = 0; i < fn->n_calls; i++)
		add_text(calls, set->fns[fn->calls[i]].name);
	rd_row_sub(row, FN_CALLS, calls);
	rd_row_bool(row, FN_OTHER, fn->indirect || fn->outside);
	rd_row_bool(row, FN_TAKEN, fn->taken);
}

void rd_report_trace_functions(struct rd_report *report, const struct rd_fnset *set, const bool *match)
{
	struct rd_section *fns = rd_section_create("functions", fn_columns, FN_COLUMNS);
	struct rd_section *modules = rd_section_create("modules", module_columns, MOD_COLUMNS);

	for (size_t i = 0; i < set->n_fns; i++)
		if (!match || match[i])
			add_function(fns, &set->fns[i], set);
	for (size_t m = 0; m < set->n_modules; m++) {
		const struct rd_module *module = &set->modules[m];
		struct rd_row *row = rd_section_add(modules);
		uint64_t all = 0, selected = 0;

		for (size_t i = 0; i < set->n_fns; i++) {
			all += set->fns[i].module == m;
			selected += set->fns[i].module == m && set->fns[i].selected;
		}
		rd_row_str(row, MOD_MODULE, module->name);
		rd_row_str(row, MOD_VERSION, module->version);
		rd_row_uint(row, MOD_FUNCTIONS, all);
		rd_row_uint(row, MOD_SELECTED, selected);
		rd_row_bool(row, MOD_BTF, module->has_btf);
		rd_row_bool(row, MOD_FILE, module->file_matches);
		if (module->file_matches)
			rd_row_uint(row, MOD_UNNAMED, module->unnamed);
		rd_row_str(row, MOD_NOTE, module->note);
	}
	rd_report_add(report, fns);
	rd_report_add(report, modules);
}

void rd_report_trace_list(struct rd_report *report, const struct rd_fnset *set, const bool *match)
{
	report->scalars = rd_section_create("list", scalar_columns, 1);
	rd_row_str(rd_section_add(report->scalars), 0, set->kernel);
	rd_report_trace_functions(report, set, match);
}

static const char *state_name(const struct rd_held *held)
{
	static const char *const names[] = {
		[RD_HOLD_ATTACHING] = "attaching",
		[RD_HOLD_ON] = "on",
		[RD_HOLD_DETACHING] = "detaching",
	};

	if (held->proc.pid && held->proc.exiting)
		return names[RD_HOLD_DETACHING];
	if (held->proc.pid && held->proc.state == 'T')
		return "stopped";
	return held->owner.state < RD_ARRAY_SIZE(names) ? names[held->owner.state] : NULL;
}

static void add_held(struct rd_section *section, const struct rd_held *held, bool measured)
{
	struct rd_row *row = rd_section_add(section);
	size_t per_backend[RD_BACKEND_COUNT] = { 0 }, functions = 0;

	if (held->reader.known == RD_OK)
		rd_row_uint(row, HELD_PID, (uint64_t)held->reader.v);
	if (held->proc.pid)
		rd_row_uint(row, HELD_HOLDER, (uint64_t)held->proc.pid);
	rd_row_str(row, HELD_USER, held->user);
	rd_row_uint(row, HELD_UID, held->uid);
	rd_row_str(row, HELD_WHAT, held->owner.what);
	rd_row_str(row, HELD_STATE, state_name(held));
	rd_row_uint(row, HELD_SINCE, held->owner.since);
	rd_row_uint(row, HELD_LINKS, held->links);
	rd_row_uint(row, HELD_PROGRAMS, held->programs);
	for (size_t b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		functions += per_backend[b] = held->owner.functions[b];
	if (held->owner.state != RD_HOLD_ATTACHING) {
		rd_row_uint(row, HELD_FUNCTIONS, functions);
		rd_row_sub(row, HELD_BACKENDS, rd_report_backends(per_backend));
	}
	if (measured || held->runs) {
		rd_row_double(row, HELD_RUN, (double)held->run_ns / 1e9);
		rd_row_uint(row, HELD_RUNS, held->runs);
	}
	rd_row_str(row, HELD_RESULT, held->result);
	rd_row_str(row, HELD_COMMAND, *held->owner.command ? held->owner.command : NULL);
}

void rd_report_trace_status(struct rd_report *report, const struct rd_held_list *list)
{
	struct rd_section *section = rd_section_create("attached", held_columns, HELD_COLUMNS);

	report->scalars = rd_section_create("status", status_columns, ST_COLUMNS);
	rd_section_add(report->scalars);
	if (list->run_stats.known == RD_OK)
		rd_row_bool(&report->scalars->rows[0], ST_RUN_STATS, list->run_stats.v);
	for (size_t i = 0; i < list->n; i++)
		add_held(section, &list->v[i], list->run_stats.known == RD_OK && list->run_stats.v);
	rd_report_add(report, section);
}
