// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/number.h"
#include "trace.h"

#include <errno.h>
#include <string.h>

#define RING_MIN (4 * 1024u)
#define RING_MAX (1024u * 1024 * 1024)
#define SECONDS_MAX 1e8
#define EVENTS_MAX (1ull << 53) /* exact in a double */
#define COMM_MAX 15		/* TASK_COMM_LEN of the kernel, less its NUL */

/* Percent of one CPU; may be above 100, because the programs run on all CPUs. */
static int take_percent(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct trace_opts *o = state;
	const char *at = arg;
	double v;

	if (rd_take_real(&at, &v) < 0 || (*at && strcmp(at, "%") != 0) || v == 0 || v > 1e6)
		return rd_opt_refuse(opt, err,
				     "invalid percentage '%s': expected a number above 0, in percent of one CPU", arg);
	o->max_cpu = v;
	return 0;
}

/* The kernel accepts powers of two; other sizes are rounded up. */
static int take_size(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct trace_opts *o = state;
	uint64_t v = 0, unit = 1, size = RING_MIN;
	const char *end = arg;

	rd_take_uint(&end, RD_DECIMAL, RING_MAX, &v);
	if (v && (*end == 'k' || *end == 'K'))
		unit = 1024, end++;
	else if (v && (*end == 'm' || *end == 'M'))
		unit = 1024 * 1024, end++;
	if (*end || !v || v > RING_MAX / unit)
		return rd_opt_refuse(opt, err, "invalid size '%s': expected 4k to 1024m", arg);
	while (size < v * unit)
		size *= 2;
	o->ring = size;
	return 0;
}

static int take_errno(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct trace_opts *o = state;
	int code = rd_errno_parse(arg);

	if (code <= 0 || code > 4095)
		return rd_opt_refuse(opt, err, "invalid errno '%s': expected a name such as ENOMEM, or a number", arg);
	o->err = code;
	return 0;
}

static int take_comm(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct trace_opts *o = state;

	if (!*arg || strlen(arg) > COMM_MAX)
		return rd_opt_refuse(opt, err, "invalid thread name '%s': expected 1 to %d bytes", arg, COMM_MAX);
	o->comm = arg;
	return 0;
}

static int take_function(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct trace_opts *o = state;

	o->function = arg;
	return *arg ? 0 : rd_opt_refuse(opt, err, "the pattern is empty");
}

const struct rd_opt trace_options[] = {
	{ "user", 'u', "USER", "run COMMAND as this user, in its own session", "user", RD_TEXT(trace_opts, user) },
	{ "pid", 'p', "PID", "trace only this process", "pid", RD_NUMBER(trace_opts, pid, 1, RD_PID_MAX) },
	{ "comm", 0, "NAME", "trace only threads of this name", RD_TAKES(take_comm) },
	{ "device", 0, "IBDEV", "trace only this RDMA device", "ibdev", RD_TEXT(trace_opts, device) },
	{ "errno", 0, "NAME", "trace only this error, given as a name or a number", "errno", RD_TAKES(take_errno) },
	{ "function", 0, "GLOB", "trace only failures with a matching kernel function in their chain", "function",
	  RD_TAKES(take_function) },
	{ "stack", 0, NULL, "add the kernel stack at the origin", RD_FLAG(trace_opts, stack) },
	{ "user-stack", 0, NULL, "add the user stack of the program", RD_FLAG(trace_opts, user_stack) },
	{ "live", 'w', NULL, "show a live view of failures by origin, with the newest one", NULL, RD_NEEDS_TERMINAL,
	  RD_FLAG(trace_opts, live) },
	{ "summary", 0, NULL, "print counts at the end instead of events", RD_FLAG(trace_opts, summary) },
	{ "duration", 0, "SECONDS", "stop tracing after this time",
	  RD_SECONDS(trace_opts, duration, RD_ABOVE_0, SECONDS_MAX) },
	{ "events", 0, "N", "stop tracing after N events have been shown",
	  RD_NUMBER(trace_opts, events, 1, EVENTS_MAX) },
	{ "keep-privs", 0, NULL, "with -u: allow COMMAND to gain privileges through setuid programs",
	  RD_FLAG(trace_opts, keep_privs) },
	{ "cgroup", 0, "PATH", "trace only this control group and its descendants", "file",
	  RD_TEXT(trace_opts, cgroup) },
	{ "benign", 0, NULL, "also show failures that are expected from healthy programs", RD_FLAG(trace_opts, benign) },
	{ "deepen", 0, NULL, "after an error whose origin is not certain, also trace the functions below it",
	  RD_FLAG(trace_opts, deepen) },
	{ "list", 0, NULL, "list all functions, whether each is traced, and why", RD_FLAG(trace_opts, list) },
	{ "audit", 0, NULL, "show which functions are watched, and what differs from a baseline; has its own options" },
	{ "backend", 0, "NAME", "method to hook functions: auto (default), fexit, fexit-multi, kprobe-multi, kprobe",
	  "auto|fexit|fexit-multi|kprobe-multi|kprobe", RD_WORD(trace_opts, backend) },
	{ "buffer", 0, "SIZE", "size of the ring buffer in bytes, with optional suffix k or m (1m)",
	  RD_TAKES(take_size) },
	{ "max-hooks", 0, "N", "refuse to hook more than N functions (2000)",
	  RD_NUMBER(trace_opts, max_hooks, 1, RD_COUNT_MAX) },
	{ "max-cpu", 0, "PERCENT",
	  "end the trace if its BPF programs use more than this share of one CPU; needs run statistics",
	  RD_TAKES(take_percent) },
	{ "run-stats", 0, NULL, "enable run statistics of all BPF programs during the trace, for --max-cpu",
	  RD_FLAG(trace_opts, run_stats) },
	{ "max-unread", 0, "SECONDS", "end the trace if events are not read for this time (300); 0: never",
	  RD_SECONDS(trace_opts, max_unread, 0, SECONDS_MAX) },
	{ "status", 0, NULL, "show the attached traces of this host, their users and start times",
	  RD_FLAG(trace_opts, status) },
	{ "detach-all", 0, NULL, "end all traces of this host, and wait until their hooks are detached",
	  RD_FLAG(trace_opts, detach_all) },
	{ 0 },
};

const struct rd_opt_rule trace_rules[] = {
	{ RD_REQUIRES, "openmetrics textfile", "summary", "metrics are made from the counts, not from single events" },
	{ RD_REQUIRES, "keep-privs", "user", "without it COMMAND keeps its privileges" },
	{ RD_ONE_OF, "status detach-all list summary live" },
	{ RD_EXCLUDES, "live", "json columns all-columns raw noheadings events user",
	  "it shows counts on the terminal" },
	{ 0 },
};

int trace_opts_check(const struct trace_opts *o, int argc, struct rd_err *err)
{
	if (o->user && !argc)
		return rd_err_set(err, EINVAL, "--user", "requires a COMMAND to run as '%s'", o->user);
	if (argc && o->live)
		return rd_err_set(err, EINVAL, "--live", "takes no COMMAND: its output would disturb the view");
	if (argc && (o->status || o->detach_all || o->list))
		return rd_err_set(err, EINVAL,
				  o->list   ? "--list" :
				  o->status ? "--status" :
					      "--detach-all",
				  "does not trace, and does not take a COMMAND");
	return 0;
}
