// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <time.h>

#include "report/trace/report-trace.h"
#include "trace/select/select.h"
#include "view/terminal.h"

extern const struct rd_cmd rd_cmd_trace_errno;

void trace_deinit(struct trace *t)
{
	rd_session_destroy(t->session);
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

static uint64_t now(const struct trace *t)
{
	return t->ctx->source->ops->now(t->ctx->source, CLOCK_MONOTONIC);
}

static int list_functions(struct trace *t, struct rd_err *err)
{
	_cleanup_free_ bool *match = NULL;
	struct rd_report report;
	int r = 0;

	if (t->opts->function)
		r = trace_match_functions(&t->set, t->opts->function, &match, err);
	if (r)
		return r;
	rd_output_init(t->ctx, &report);
	rd_report_trace_list(&report, &t->set, match);
	for (size_t i = 0; i < t->notes.n; i++)
		rd_errlist_add(&report.errors, &t->notes.v[i]);
	r = rd_output_print(t->ctx, &report);
	rd_report_deinit(&report);
	return r;
}

/* Attaches the hooks, then lets the command run. */
static int start_trace(struct trace *t, char **argv, struct rd_err *err)
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
	t->started = now(t);
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
	t->started = now(t);
	return argv[0] ? trace_child_go(&t->child, argv[0], err) : 0;
}

int trace_run(struct trace *t, char **argv, struct rd_err *err)
{
	int r = t->opts->live ? rd_view_check_terminal(err) : 0;

	if (!r)
		r = trace_have_privileges(t->ctx->source, t->ctx->cmd->name, err);
	if (!r)
		r = trace_within_max_hooks(t, err);
	if (!r)
		r = trace_names_create(t, err);
	if (!r && !t->opts->summary)
		trace_causes_create(t);
	if (!r)
		r = t->signals = trace_signals_open(t->opts->user != NULL, err);
	if (r >= 0)
		r = start_trace(t, argv, err);
	if (r)
		return r;
	return t->opts->live ? trace_live(t, err) : trace_loop(t, err);
}

static int trace(struct trace *t, char **argv, struct rd_err *err)
{
	return trace_run(t, argv, err) ?: trace_finish(t);
}

static const char *schema_of(const struct trace_opts *o)
{
	return o->list	     ? "rdmadiag/trace-errno-list/1" :
	       o->status     ? "rdmadiag/trace-errno-status/1" :
	       o->detach_all ? "rdmadiag/trace-errno-detach/1" :
			       "rdmadiag/trace-errno-summary/1";
}

static int check_args(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct trace t = { .ctx = ctx, .opts = ctx->state };
	int r = trace_opts_check(t.opts, argc, err);

	(void)argv;
	return r < 0 ? r : trace_columns_check(&t, err);
}

static int run_trace_errno(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(trace_deinit) struct trace t = {
		.ctx = ctx, .opts = ctx->state, .signals = -1, .child = TRACE_CHILD_INIT
	};
	struct rd_err err = { 0 };
	int r;

	(void)argc;
	ctx->schema = schema_of(t.opts);
	ctx->lines = !t.opts->summary && !t.opts->list && !t.opts->status && !t.opts->detach_all;
	if (t.opts->status || t.opts->detach_all)
		return trace_status(&t);
	r = t.opts->user ? trace_user_find(t.opts->user, &t.user, &err) : 0;
	if (!r)
		r = trace_have_rdma(ctx->source, &err);
	if (!r)
		r = rd_select(ctx->source, &t.set, &t.notes, &err);
	if (r)
		return rd_fail(ctx, &err);
	t.facts = rd_trace_facts_create(ctx->source);
	rd_warn_errors(t.ctx, &t.notes, 0);
	r = t.opts->list ? list_functions(&t, &err) : trace(&t, argv, &err);
	if (r < 0)
		return rd_fail(ctx, &err);
	return r;
}

const struct rd_cmd rd_cmd_trace_errno = {
	.name = "trace-errno",
	.summary = "name the kernel function that made a verb fail",
	.question = "A verb fails",
	.operands = "[-- COMMAND [ARG...]]",
	.opts = trace_options,
	.rules = trace_rules,
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
	.live_only = true,
	.metrics = true,
	.runs_command = true,
	.state_size = sizeof(struct trace_opts),
	.check = check_args,
	.run = run_trace_errno,
};
