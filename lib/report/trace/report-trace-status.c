// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/shared/report-run.h"
#include "report/trace/report-trace.h"

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

static const struct rd_column status_columns[ST_COLUMNS];
static const struct rd_column held_columns[HELD_COLUMNS];

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

static void add_hooks(struct rd_row *row, const struct rd_held *held)
{
	size_t per_backend[RD_BACKEND_COUNT] = { 0 }, functions = 0;

	for (size_t b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		functions += per_backend[b] = held->owner.functions[b];
	rd_row_uint(row, HELD_LINKS, held->links);
	rd_row_uint(row, HELD_PROGRAMS, held->programs);
	if (held->owner.state == RD_HOLD_ATTACHING)
		return;
	rd_row_uint(row, HELD_FUNCTIONS, functions);
	rd_row_sub(row, HELD_BACKENDS, rd_report_backends(per_backend));
}

static void add_held(struct rd_section *section, const struct rd_held *held, bool measured)
{
	struct rd_row *row = rd_section_add(section);

	if (held->reader.known == RD_OK)
		rd_row_uint(row, HELD_PID, (uint64_t)held->reader.v);
	if (held->proc.pid)
		rd_row_uint(row, HELD_HOLDER, (uint64_t)held->proc.pid);
	rd_row_str(row, HELD_USER, held->user);
	rd_row_uint(row, HELD_UID, held->uid);
	rd_row_str(row, HELD_WHAT, held->owner.what);
	rd_row_str(row, HELD_STATE, state_name(held));
	rd_row_uint(row, HELD_SINCE, held->owner.since);
	add_hooks(row, held);
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

/* clang-format off */
static const struct rd_column status_columns[ST_COLUMNS] = {
	[ST_RUN_STATS] = { "run_statistics", "RUN_STATISTICS", RD_T_BOOL, "kernel.bpf_stats_enabled: run statistics of all BPF programs", 0, false },
};

static const struct rd_column held_columns[HELD_COLUMNS] = {
	[HELD_PID] = { "pid", "PID", RD_T_UINT, "process ID of the tracing command", 0, false },
	[HELD_HOLDER] = { "holder_pid", "HOLDER", RD_T_UINT, "process ID of the holder of the hooks", 0, false },
	[HELD_USER] = { "user", "USER", RD_T_STR, "user of the trace", 0, false },
	[HELD_UID] = { "uid", "UID", RD_T_UINT, "user ID of the trace", 0, true },
	[HELD_WHAT] = { "what", "WHAT", RD_T_STR, "command: trace-errno or qp-state", 0, true },
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
