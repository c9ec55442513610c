/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

extern const struct rd_cmd rd_cmd_trace_errno;
extern const struct rd_cmd rd_cmd_qp_state;
extern const struct rd_cmd rd_cmd_nic_map;
extern const struct rd_cmd rd_cmd_topo_check;
extern const struct rd_cmd rd_cmd_check;
extern const struct rd_cmd rd_cmd_counters;
extern const struct rd_cmd rd_cmd_capture;
extern const struct rd_cmd rd_cmd_diff;
extern const struct rd_cmd rd_cmd_explain;
extern const struct rd_cmd rd_cmd_job;
extern const struct rd_cmd rd_cmd_shell;
extern const struct rd_cmd rd_cmd_complete;
extern const struct rd_cmd rd_cmd_probe_calls;

/* clang-format off */
const struct rd_cmd *const rd_commands[] = {
	&rd_cmd_trace_errno,
	&rd_cmd_qp_state,
	&rd_cmd_nic_map,
	&rd_cmd_topo_check,
	&rd_cmd_check,
	&rd_cmd_counters,
	&rd_cmd_capture,
	&rd_cmd_diff,
	&rd_cmd_explain,
	&rd_cmd_job,
	&rd_cmd_shell,
	&rd_cmd_complete,
	&rd_cmd_probe_calls,
	NULL,
};
/* clang-format on */

static int take_all_columns(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct rd_globals *globals = state;

	globals->style.columns = RD_ALL_COLUMNS;
	return 0;
}

const struct rd_opt rd_global_opts[] = {
	{ "from", 0, "PATH", "read a bundle (directory or tar, - for standard input) instead of this host", "file",
	  RD_NEEDS_FOREIGN_BUNDLE, RD_TEXT(rd_globals, from) },
	{ "json", 'j', NULL, "print JSON: one document, or one line per event", RD_FLAG(rd_globals, json) },
	{ "openmetrics", 0, NULL, "print OpenMetrics text", RD_FLAG(rd_globals, openmetrics) },
	{ "textfile", 0, "PATH", "write metrics to a file for node_exporter instead of printing a table", "file",
	  RD_NEEDS_OUTPUT, RD_TEXT(rd_globals, textfile) },
	{ "columns", 'o', "LIST", "show these columns: NAME,NAME; or add columns: +NAME", "column",
	  RD_TEXT(rd_globals, style.columns) },
	{ "all-columns", 'O', NULL, "show all columns", RD_TAKES(take_all_columns) },
	{ "noheadings", 'n', NULL, "do not print the header line", RD_FLAG(rd_globals, style.no_headings) },
	{ "raw", 'r', NULL, "separate values by one space, escape spaces in values", RD_FLAG(rd_globals, style.raw) },
	{ "color", 0, "WHEN", "use colour: auto (default), always, never", "auto|always|never",
	  RD_WORD(rd_globals, color) },
	{ "verbose", 'v', NULL, "print diagnostic messages on standard error", RD_FLAG(rd_globals, verbose) },
	{ "help", 'h', NULL, "show this help and exit", RD_FLAG(rd_globals, help) },
	{ "version", 'V', NULL, "show the version (with -v also optional libraries) and exit",
	  RD_FLAG(rd_globals, version) },
	{ 0 },
};
