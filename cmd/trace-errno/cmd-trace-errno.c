// SPDX-License-Identifier: GPL-2.0-or-later
/* trace-errno: its options, what is checked before anything is attached, the filters, and the start of the trace. */
#include <fnmatch.h>
#include <linux/capability.h>

#include "analyse/trace/trace.h"
#include "report/trace/report-trace.h"
#include "source/record/record.h"
#include "trace.h"
#include "trace/select/select.h"
#include "view/view.h"

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

static int take_freeze(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct trace_opts *o = state;
	int word = rd_opt_word(opt, arg, err);

	o->freeze_on |= word < 0 ? 0 : 1u << word;
	return word < 0 ? word : 0;
}

static const struct rd_opt options[] = {
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
	{ "service", 0, NULL, "run for weeks: JSON lines, crash loops, and with --textfile counts",
	  RD_FLAG(trace_opts, service) },
	{ "log", 0, "FILE", "with --service: append events to FILE, which becomes FILE.1 when it is large", "file",
	  RD_TEXT(trace_opts, log) },
	{ "log-size", 0, "MIB", "size of that file in MiB (64)", RD_NUMBER(trace_opts, log_size, 1, 1 << 20) },
	{ "report", 0, "SECONDS", "interval of crash loops and counts (15)", RD_SECONDS(trace_opts, report, 1, 3600) },
	{ "record", 0, "FILE", "also write the events, and what the causes were found with, to a bundle, for --from",
	  "file", RD_NEEDS_OUTPUT, RD_TEXT(trace_opts, record) },
	{ "black-box", 0, "DIR", "with --service: keep what happened last, and write it to DIR when something happens",
	  "file", RD_TEXT(trace_opts, black_box) },
	{ "freeze-on", 0, "WHAT", "when: QP_ERR, ASYNC_FATAL, LINK_DOWN, CRASH_LOOP; repeatable (all, and SIGUSR1)",
	  "QP_ERR|ASYNC_FATAL|LINK_DOWN|CRASH_LOOP", RD_TAKES(take_freeze) },
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

static const struct rd_opt_rule rules[] = {
	{ RD_REQUIRES, "openmetrics", "summary", "metrics are made from the counts, not from single events" },
	{ RD_REQUIRES, "textfile", "summary service", "metrics are made from the counts, not from single events" },
	{ RD_REQUIRES, "log log-size report black-box", "service" },
	{ RD_REQUIRES, "freeze-on", "black-box" },
	{ RD_REQUIRES, "log-size", "log" },
	{ RD_EXCLUDES, "service",
	  "columns all-columns raw noheadings duration events user pid comm errno function cgroup benign stack "
	  "user-stack deepen",
	  "it writes all failures as JSON lines" },
	{ RD_EXCLUDES, "record", "stack user-stack summary live list status detach-all service from",
	  "a recording has the events that are shown, without stacks" },
	{ RD_EXCLUDES, "from",
	  "user pid comm device errno function stack user-stack live service log duration events keep-privs cgroup "
	  "deepen list backend buffer max-hooks max-cpu run-stats max-unread status detach-all",
	  "it shows what was recorded" },
	{ RD_REQUIRES, "keep-privs", "user", "without it COMMAND keeps its privileges" },
	{ RD_ONE_OF, "status detach-all list summary live service" },
	{ RD_EXCLUDES, "live", "json columns all-columns raw noheadings events user",
	  "it shows counts on the terminal" },
	{ 0 },
};

/*
 * Whether this host and this process can trace at all, checked before anything is attached, so that the error is one clear
 * sentence. Capabilities are checked, not users. Measured on Linux 6.1 to 7.2: nothing works without CAP_BPF and CAP_PERFMON (or
 * CAP_SYS_ADMIN, which includes both); with these two kprobe-multi works. Fexit on modules also needs CAP_SYS_ADMIN, because it
 * walks the list of BTF objects; so do kprobes where kernel.perf_event_paranoid is above 2. A kernel without kprobe-multi has only
 * these two backends.
 */

static bool exists(struct rd_source *src, const char *path)
{
	uint64_t ino;

	return !rd_stat(src, RD_OP_INO, path, &ino, NULL);
}

int trace_have_rdma(struct rd_source *src, struct rd_err *err)
{
	if (exists(src, "/sys/class/infiniband") || exists(src, "/sys/module/ib_core"))
		return 0;
	rd_err_set(err, ENODEV, "/sys/class/infiniband", RD_NO_RDMA_MODULE ": nothing to trace");
	return rd_err_hint(err, "modprobe ib_uverbs and the driver of the adapter; lspci lists the adapters");
}

#define CAP_BIT(cap) (1ull << (cap))

/* The effective capabilities of this process. */
static bool read_caps(struct rd_source *src, uint64_t *ret)
{
	_cleanup_bytes_ struct rd_bytes status = { 0 };
	const char *at;

	if (rd_read_file(src, "/proc/self/status", &status, NULL))
		return false;
	at = strstr((const char *)status.data, "\nCapEff:");
	at = at ? at + strlen("\nCapEff:") : "";
	return rd_take_uints(&at, RD_HEX, ret, 1) == 1;
}

int trace_have_privileges(struct rd_source *src, const char *command, struct rd_err *err)
{
	_cleanup_free_ char *exe = NULL;
	bool bpf, perfmon;
	uint64_t caps;

	if (!read_caps(src, &caps) || caps & CAP_BIT(CAP_SYS_ADMIN))
		return 0;
	bpf = caps & CAP_BIT(CAP_BPF);
	perfmon = caps & CAP_BIT(CAP_PERFMON);
	if (bpf && perfmon)
		return 0;
	rd_err_set(err, EPERM, command, "tracing kernel functions needs %s%s%s, missing in this process",
		   bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON");
	/* Two commands that give the capabilities, to paste. */
	if (rd_read_link(src, "/proc/self/exe", &exe, NULL))
		exe = NULL;
	return rd_err_hint(err,
			   "sudo " RD_PROGRAM
			   " %s ...; or, for all users who can execute it: sudo setcap cap_bpf,cap_perfmon=ep %s",
			   command, exe && strlen(exe) < 100 ? exe : RD_PROGRAM);
}

void trace_explain(struct rd_source *src, const char *command, struct rd_err *err)
{
	uint64_t caps;

	if (err->hint[0])
		return;
	if (err->code == EMFILE)
		rd_err_hint(err, "each hook needs a file descriptor: raise ulimit -n, including the hard limit");
	else if (err->code == ESRCH && !exists(src, "/sys/kernel/btf/vmlinux"))
		rd_err_hint(err, "this kernel has no BTF (the types of its structures): boot a kernel built with "
				 "CONFIG_DEBUG_INFO_BTF=y");
	if (err->code != EPERM && err->code != EACCES)
		return;
	if (read_caps(src, &caps) && !(caps & CAP_BIT(CAP_SYS_ADMIN))) {
		const struct rd_err was = *err;

		rd_err_set(err, was.code, was.object, "%.200s; CAP_SYS_ADMIN is missing in this process", was.message);
		rd_err_hint(err,
			    "sudo " RD_PROGRAM " %s ...; or, for kprobes without that capability: sudo sysctl "
			    "kernel.perf_event_paranoid=2",
			    command);
	} else {
		rd_err_hint(err, "cat /sys/kernel/security/lockdown; a container needs --privileged");
	}
}

static int match_functions(const struct rd_fnset *set, const char *glob, bool **ret, struct rd_err *err)
{
	_cleanup_free_ bool *match = rd_alloc(set->n_fns + 1, sizeof(*match));
	size_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++)
		n += match[i] = !fnmatch(glob, set->fns[i].name, 0);
	if (!n) {
		rd_err_set(err, ENOENT, "--function", "no function of the loaded RDMA modules matches '%s'", glob);
		return rd_err_hint(err, RD_PROGRAM " trace-errno --list");
	}
	*ret = RD_TAKE(match);
	return 0;
}

/* Functions without a hook never appear in a chain: a filter that matches only those would show nothing. */
static int check_hooked(const struct rd_fnset *set, const bool *match, const char *glob, struct rd_err *err)
{
	const struct rd_fn *left_out = NULL;

	for (size_t i = 0; i < set->n_fns; i++) {
		if (match[i] && set->fns[i].selected)
			return 0;
		if (match[i] && !left_out)
			left_out = &set->fns[i];
	}
	rd_err_set(err, ENOENT, "--function", "%s is not traced (%s: %s)", left_out ? left_out->name : glob,
		   left_out ? rd_rule_name(left_out->rule) : "?", left_out ? rd_rule_reason(left_out->rule) : "?");
	return rd_err_hint(err, RD_PROGRAM " trace-errno --list --function '%s'", glob);
}

extern const struct rd_cmd rd_cmd_trace_errno;

void trace_deinit(struct trace *t)
{
	rd_session_destroy(t->session);
	rd_source_closep(&t->recorder);
	trace_child_deinit(&t->child);
	trace_user_deinit(&t->user);
	trace_names_destroy(t->names);
	free(t->fold.cause);
	trace_causes_destroy(t->causes);
	trace_extend_destroy(t->extend);
	rd_trace_facts_destroy(t->facts);
	rd_fnset_deinit(&t->set);
	rd_errlist_deinit(&t->notes);
	free(t->benign_counts);
	if (t->signals >= 0)
		close(t->signals);
}

int trace_session_opts(struct trace *t, struct rd_session_opts *ret, bool **match, struct rd_benign_rule **benign,
		       struct rd_err *err)
{
	const struct trace_opts *o = t->opts;
	_cleanup_free_ char *comm = NULL;
	char known[200];
	int r = 0;

	/* "auto" does not parse, and leaves RD_BACKEND_NONE. */
	if (o->backend)
		rd_backend_parse(o->backend, &ret->backend);
	ret->seconds = o->duration;
	ret->ring_bytes = (uint32_t)o->ring;
	ret->kernel_stack = o->stack && !o->summary;
	ret->user_stack = o->user_stack && !o->summary;
	ret->comm = o->comm;
	ret->err = o->err;
	ret->pid = o->pid;
	if (o->pid && rd_read_textf(t->ctx->source, &comm, NULL, "/proc/%u/comm", o->pid))
		return rd_err_set(err, ESRCH, "--pid", "no process %u", o->pid);
	if (o->cgroup)
		r = rd_trace_facts_cgroup(t->facts, o->cgroup, &ret->cgroup_id, err);
	if (!r && o->device) {
		ret->devs[0] = rd_trace_facts_dev(t->facts, o->device);
		ret->n_devs = 1;
		ret->ibdev = o->device;
		if (!ret->devs[0]) {
			rd_trace_facts_list(t->facts, known, sizeof(known));
			return rd_err_set(err, ENODEV, "--device", "no RDMA device '%s' (available: %s)", o->device,
					  known);
		}
	}
	if (!r && o->function)
		r = match_functions(&t->set, o->function, match, err);
	if (!r && o->function)
		r = check_hooked(&t->set, *match, o->function, err);
	if (r)
		return r;
	ret->fn_match = *match;
	ret->n_benign = rd_benign_list(&t->set, benign);
	ret->benign = *benign;
	ret->drop_benign = !o->benign;
	ret->descendants = t->child.pid > 0;
	ret->service = t->opts->service;
	ret->endless = !t->child.pid && !o->events && o->duration <= 0;
	return 0;
}

static void trace_report_started(const struct trace *t)
{
	const struct rd_session_info *info = rd_session_info(t->session);
	_cleanup_buf_ struct rd_buf backends = { 0 };
	size_t modules = 0;

	for (size_t m = 0; m < t->set.n_modules; m++)
		for (size_t i = 0; i < t->set.n_fns; i++)
			if (t->set.fns[i].module == m && t->set.fns[i].backend != RD_BACKEND_NONE) {
				modules++;
				break;
			}
	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (info->per_backend[b] && info->per_backend[b] == info->functions)
			rd_buf_printf(&backends, "%s", rd_backend_name(b));
		else if (info->per_backend[b])
			rd_buf_printf(&backends, "%s%s: %zu", backends.len ? ", " : "", rd_backend_name(b),
				      info->per_backend[b]);
	rd_warn(t->ctx, "tracing %zu functions in %zu modules (%s)%s", info->functions, modules,
		backends.data ?: "none", t->child.pid ? "" : ", Ctrl-C to stop");
	rd_verbose(t->ctx, "hooked %zu functions in %.2f s: %s", info->functions, info->attach_seconds,
		   info->reason ?: "no reason reported");
}

/* Attaches the hooks, then lets the command run. */
int trace_start(struct trace *t, char **argv, struct rd_err *err)
{
	struct trace_command command = { .argv = argv, .keep_privs = t->opts->keep_privs };
	_cleanup_free_ bool *match = NULL;
	_cleanup_free_ struct rd_benign_rule *benign = NULL;
	struct rd_session_opts opts = { 0 };
	size_t reported = t->notes.n;
	int r = 0;

	/* A command with our own user cannot do more to our terminal than we can. */
	command.user = t->opts->user ? &t->user : NULL;
	if (argv[0])
		r = trace_child_start(&t->child, &command, err);
	if (!r)
		r = trace_session_opts(t, &opts, &match, &benign, err);
	if (r)
		return r;
	opts.max_percent = t->opts->max_cpu;
	opts.max_silence = rd_opt_given(t->ctx, "max-unread") ? t->opts->max_unread : TRACE_MAX_UNREAD;
	opts.run_stats = t->opts->run_stats;
	opts.progress = trace_progress;
	opts.progress_arg = t;
	opts.log = rd_verbose_line;
	opts.log_arg = t->ctx;
	t->n_known = t->set.n_fns;
	trace_extend_create(t);
	t->started = trace_now(t);
	r = rd_session_start(&t->set, &opts, &t->session, &t->notes, err);
	trace_progress(t, 0, 0);
	if (r) {
		trace_explain(t->ctx->source, t->ctx->cmd->name, err);
		return r;
	}
	rd_warn_errors(t->ctx, &t->notes, reported);
	r = rd_source_live_set_ring(t->ctx->source, rd_session_ring_fd(t->session), err);
	if (r)
		return r;
	trace_report_started(t);
	t->started = trace_now(t);
	return argv[0] ? trace_child_go(&t->child, argv[0], err) : 0;
}

int trace_run(struct trace *t, char **argv, struct rd_err *err)
{
	unsigned long most = t->opts->max_hooks ?: TRACE_MAX_HOOKS;
	int r = t->opts->live ? rd_view_check_terminal(err) : 0;
	size_t n = 0;

	if (!r)
		r = trace_have_privileges(t->ctx->source, t->ctx->cmd->name, err);
	if (!r)
		for (size_t i = 0; i < t->set.n_fns; i++)
			n += t->set.fns[i].selected && t->set.fns[i].attachable;
	/* Functions are never silently left out. */
	if (!r && n > most) {
		rd_err_set(err, 0, "--max-hooks", "%zu functions would be hooked, the limit is %lu", n, most);
		rd_err_hint(err, "--max-hooks %zu; trace-errno --list shows the functions and their modules", n);
		return -E2BIG;
	}
	if (!r)
		r = trace_names_create(t, err);
	/* The process of the service that reads events has its own. */
	if (!r && !t->opts->summary && !t->opts->service)
		trace_causes_create(t, t->opts->record ? trace_record_start(t) : t->ctx->source);
	if (!r)
		r = t->signals = trace_signals_open(t->opts->user != NULL, err);
	if (r >= 0)
		r = trace_start(t, argv, err);
	if (r)
		return r;
	return t->opts->service ? trace_service(t, err) : t->opts->live ? trace_live(t, err) : trace_loop(t, err);
}

/* Rendering a table without rows checks the columns of -o. */
static int trace_columns_check(const struct trace *t, struct rd_err *err)
{
	_cleanup_section_ struct rd_section *events = RD_SECTION("event", rd_trace_event_columns);
	struct rd_trace_summary sum = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report;
	int r = 0;

	rd_report_init(&report, "");
	if (t->opts->summary)
		rd_report_trace_summary(&report, &sum, &t->set, false);
	if (t->opts->list)
		rd_report_trace_list(&report, &t->set, NULL);
	if (t->opts->status || t->opts->detach_all)
		rd_report_trace_status(&report, &(struct rd_held_list){ 0 }, &(struct rd_recent){ 0 });
	if (!t->ctx->globals.json)
		r = rd_render_table(report.n_sections ? report.sections[0] : events, &t->ctx->globals.style, &out, err);
	return r;
}

static int check_args(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct trace t = { .ctx = ctx, .opts = ctx->state };
	const struct trace_opts *o = t.opts;

	if (o->user && !argc)
		return rd_err_set(err, EINVAL, "--user", "requires a COMMAND to run as '%s'", o->user);
	if (argc && ctx->globals.from)
		return rd_err_set(err, EINVAL, "--from", "takes no COMMAND: it shows what was recorded");
	if (o->record && rd_record_can_save(o->record, true, err))
		return -EINVAL;
	if (argc && o->live)
		return rd_err_set(err, EINVAL, "--live", "takes no COMMAND: its output would disturb the view");
	if (argc && (o->status || o->detach_all || o->list || o->service))
		return rd_err_set(err, EINVAL,
				  o->service ? "--service" :
				  o->list    ? "--list" :
				  o->status  ? "--status" :
					       "--detach-all",
				  "takes no COMMAND");
	return trace_columns_check(&t, err);
}

static int run_trace_errno(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(trace_deinit) struct trace t = {
		.ctx = ctx, .opts = ctx->state, .signals = -1, .child = TRACE_CHILD_INIT
	};
	_cleanup_free_ bool *match = NULL;
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	struct rd_err err = { 0 };
	int r;

	ctx->schema = t.opts->list	 ? "rdmadiag/trace-errno-list/1" :
		      t.opts->status	 ? "rdmadiag/trace-errno-status/1" :
		      t.opts->detach_all ? "rdmadiag/trace-errno-detach/1" :
					   "rdmadiag/trace-errno-summary/1";
	ctx->lines = !t.opts->summary && !t.opts->list && !t.opts->status && !t.opts->detach_all;
	if (t.opts->status || t.opts->detach_all)
		return trace_status(&t);
	if (ctx->globals.from) {
		t.facts = rd_trace_facts_create(ctx->source);
		r = trace_replay(&t, &err);
		return r < 0 ? rd_fail(ctx, &err) : trace_finish(&t);
	}
	r = t.opts->user ? trace_user_find(t.opts->user, &t.user, &err) : 0;
	if (!r)
		r = trace_have_rdma(ctx->source, &err) ?: rd_select(ctx->source, &t.set, &t.notes, &err);
	if (r)
		return rd_fail(ctx, &err);
	t.facts = rd_trace_facts_create(ctx->source);
	rd_warn_errors(t.ctx, &t.notes, 0);
	if (!t.opts->list) {
		r = trace_run(&t, argv, &err);
		r = r || t.opts->service ? r : trace_finish(&t);
		return r < 0 ? rd_fail(ctx, &err) : r;
	}
	if (t.opts->function && match_functions(&t.set, t.opts->function, &match, &err))
		return rd_fail(ctx, &err);
	rd_output_init(ctx, &report);
	rd_report_trace_list(&report, &t.set, match);
	rd_errlist_add_all(&report.errors, &t.notes);
	r = rd_output_print(ctx, &report);
	return r < 0 ? rd_fail(ctx, &err) : r;
}

const struct rd_cmd rd_cmd_trace_errno = {
	.name = "trace-errno",
	.summary = "name the kernel function that made a verb fail",
	.question = "A verb fails",
	.operands = "[-- COMMAND [ARG...]]",
	.opts = options,
	.rules = rules,
	.variant = &rd_cmd_trace_audit,
	.description =
		"Traces the functions of the RDMA kernel modules that can return an error. Shows each failed call of a program: the\n"
		"verb, the process, the device, and the chain of kernel functions from the one that failed first. Runs until\n"
		"Ctrl-C, or until COMMAND ends, and then exits with the exit status of COMMAND.",
	.examples = "  rdmadiag trace-errno -- ibv_rc_pingpong -d mlx5_0\n"
		    "  rdmadiag trace-errno -u alice -- ./trainer       with the limits of that user\n"
		    "  rdmadiag trace-errno --errno ENOMEM --duration 60 --json\n"
		    "  rdmadiag trace-errno --summary --duration 10\n"
		    "  rdmadiag trace-errno --list --function 'ib_umem_*'\n",
	.columns = rd_trace_event_columns,
	.n_columns = RD_TRACE_EVENT_COLUMNS,
	.metrics = true,
	.runs_command = true,
	.state_size = sizeof(struct trace_opts),
	.check = check_args,
	.run = run_trace_errno,
};
