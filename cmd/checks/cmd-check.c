/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check: one line and an exit status for the whole host. */
#include <time.h>

#include "checks.h"
#include "cmd/counters/counters.h"
#include "cmd/datafile.h"
#include "cmd/privileges.h"
#include "report/shared/report.h"
#include "source/guard/source-guard.h"
#include "source/opener/child.h"

struct check_opts {
	const char *since, *profile, *user;
	double deadline; /* seconds */
	bool exclusive, observe;
	int64_t begun_ms; /* files of others are read before the first look */
	struct rd_repeat repeat;
};

/* What check counts, and the verdict on a host without RDMA. */

void check_result_deinit(struct check_result *result)
{
	checks_deinit(&result->checks);
	rd_findings_deinit(&result->moved);
	rd_stalls_deinit(&result->stalls);
}

/* Devices that chassis, twins or the profile lead one to expect, and that have no port: at least one for each. */
static size_t count_expected(const struct rd_findings *findings)
{
	size_t lost = 0, listed = 0;

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];

		if (!rd_finding_stands(finding) || finding->severity < RD_SEV_WARNING)
			continue;
		lost += strcmp(finding->id, "nic-driver") == 0 || strcmp(finding->id, "nic-missing") == 0;
		listed += strcmp(finding->id, "profile-nic") == 0 && strncmp(finding->subject, "NIC ", 4) == 0;
	}
	return lost > listed ? lost : listed;
}

void check_count(const struct check_result *result, struct rd_check_numbers *ret)
{
	const struct rd_host *host = &result->checks.host;

	*ret = (struct rd_check_numbers){ 0 };
	for (size_t i = 0; i < result->checks.findings.n; i++) {
		const struct rd_finding *finding = &result->checks.findings.v[i];

		ret->muted += finding->muted != NULL;
		if (rd_finding_stands(finding))
			ret->results[finding->severity == RD_SEV_NOTE ? RD_SEV_OK : finding->severity]++;
	}
	for (size_t i = 0; i < host->n_ports; i++) {
		/* Counts a port. Spare ports and unused virtual functions are down by design, and count only if active. */
		bool active = rd_port_active(&result->checks.map.ports.host->ports[i]);

		ret->active += active;
		ret->ports += active || !rd_port_is_aside(&result->checks.map.ports, i);
	}
	/* A device has at least one port. */
	for (size_t i = 0; i < host->n_ibdevs; i++)
		ret->ports += host->ibdevs[i].ports_unread;
	ret->ports += count_expected(&result->checks.findings);
	/* Which ports are left out depends on PCI data. */
	ret->at_least = rd_check_unread(result->checks.in.unread, RD_PART_PCI | RD_PART_RDMA) != NULL;
}

/* check: is this host fit for a job? All quick rules under one deadline. */

#define CHECK_INTERVAL 60 /* seconds, the default of --interval */
/* Milliseconds per second of the deadline: until all is read and judged. */
#define READING_PART 900

static unsigned limit_of(const struct check_opts *opts)
{
	return (unsigned)(opts->deadline * READING_PART);
}

/* Adds stalled reads to the errors of the report. */
static void add_stalls(const struct rd_source *guard, struct check_result *result)
{
	const struct rd_stalls *stalls = rd_source_guard_stalls(guard);

	for (size_t i = 0; i < stalls->n; i++) {
		rd_errlist_add(&result->checks.report.errors, &stalls->v[i].err);
		rd_stalls_add(&result->stalls, &stalls->v[i]);
	}
	result->stalls.limit_ms = stalls->limit_ms;
	result->stalls.replied += stalls->replied;
	result->checks.in.stalls = &result->stalls;
}

static int judge_host(struct rd_ctx *ctx, struct check_result *result, const struct rd_source *local, struct rd_err *err)
{
	const struct check_opts *opts = ctx->state;
	int r = rd_source_guard_ready(ctx->source, err);
	_cleanup_free_ bool *chosen = rd_alloc(rd_n_checks + 1, sizeof(*chosen));
	struct checks *checks = &result->checks;

	if (!r)
		r = checks_load(ctx, ctx->source, 0, &result->checks, err);
	if (!r && opts->profile)
		r = checks_take_profile(&result->checks, opts->profile, err);
	if (!r && opts->user)
		r = checks_take_user(ctx->source, opts->user, checks, err);
	if (!r && opts->since) {
		/* A file that does not respond makes the rule unknown; any other unreadable file is an error. */
		r = counters_since(ctx, opts->since, &result->moved, err);
		if (r == -ETIMEDOUT) {
			struct rd_finding finding = { .id = "counters-moved",
						      .severity = RD_SEV_UNKNOWN,
						      .subject = rd_dup(err->object),
						      .observed = rd_dup(err->message) };

			rd_finding_add(&result->moved, &finding);
			r = 0;
		}
		result->checks.in.moved = &result->moved;
	}
	if (r < 0)
		return r;
	add_stalls(ctx->source, result);
	if (local != ctx->source)
		add_stalls(local, result);
	for (size_t i = 0; i < rd_n_checks; i++)
		chosen[i] = !rd_checks[i]->thorough;
	checks->in.exclusive = opts->exclusive;
	checks_conclude(checks, chosen, RD_SEV_SKIP, false);
	if (checks->host.n_ibdevs == 0 && checks->report.status != RD_EXIT_CRITICAL) {
		/* Without RDMA there is nothing to judge: records why, and sets the status. */
		rd_no_rdma(ctx, checks->host.rdma_error, &result->why);
		result->no_rdma = result->why.message;
		rd_errlist_add(&checks->report.errors, &result->why);
		checks->report.status = RD_EXIT_UNKNOWN;
	}
	return 0;
}

static const struct rd_column observe_columns[1] = {
	{ "observed_status", "STATUS", RD_T_UINT, "exit code without --observe", 0, false },
};

static int show(struct rd_ctx *ctx, struct check_result *result)
{
	const struct check_opts *opts = ctx->state;
	const struct rd_finding_style style = { .colour = ctx->globals.style.colour, .verbose = true };
	struct rd_report *report = &result->checks.report;
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_check_numbers numbers;
	struct rd_err err = { 0 };
	int status;

	check_count(result, &numbers);
	rd_report_check_line(report, &result->checks.host, &numbers, &result->checks.unread, result->no_rdma);
	result->status = report->status;
	if (opts->observe) {
		/* The document has both exit codes: the actual one, and the one without --observe. */
		report->scalars = RD_OBJECT("scalars", observe_columns, RD_UINT((uint64_t)result->status));
		report->status = RD_EXIT_OK;
	}
	if (rd_metrics_wanted(ctx))
		rd_report_check_metrics(report, &numbers);
	if (ctx->globals.json || ctx->globals.openmetrics || ctx->globals.style.columns || ctx->globals.style.raw)
		return rd_output_print(ctx, report);
	status = report->status;
	rd_render_headline(report, &out);
	if (ctx->globals.verbose)
		rd_render_results(report, &style, &out);
	rd_out(&out);
	if (rd_output_textfile(ctx, report, &err) < 0) {
		ctx->printed = true;
		rd_fail(ctx, &err);
		status = status == RD_EXIT_CRITICAL ? status : RD_EXIT_UNKNOWN;
	}
	if (result->no_rdma)
		rd_fail(ctx, &result->why);
	return status;
}

static void read_host(const struct rd_ctx *ctx, struct rd_source *source)
{
	const struct check_opts *opts = ctx->state;
	_cleanup_free_ char *host = NULL;
	struct rd_err err = { 0 };

	rd_read_textf(source, &host, NULL, "/proc/sys/kernel/hostname");
	checks_record_with(source, 0, opts->user, &err);
	if (opts->since)
		counters_read_ahead(source, NULL);
}

/* Reads everything that judge_host reads; runs in a child, ahead of it. */
static void read_ahead(struct rd_source *source, void *arg)
{
	struct rd_err err = { 0 };

	if (rd_source_guard_ready(source, &err) < 0)
		return;
	source->ops->now(source, CLOCK_REALTIME);
	read_host(arg, source);
}

/* `arg`: the guard of this host's files. ctx->source is a guard as well. */
static int check_once(struct rd_ctx *ctx, void *arg)
{
	const struct check_opts *opts = ctx->state;
	unsigned spent_ms = opts->repeat.looks ? 0 : (unsigned)(rd_monotonic_ms() - opts->begun_ms);
	unsigned limit_ms = limit_of(opts) > spent_ms ? limit_of(opts) - spent_ms : 1;
	struct rd_source *local = arg;
	_cleanup_(check_result_deinit) struct check_result result = { 0 };
	struct rd_err err = { 0 };
	int r;

	rd_source_guard_renew(local, limit_ms);
	rd_privileges_join(local);
	rd_source_guard_renew(ctx->source, limit_ms);
	rd_source_guard_ahead(ctx->source, read_ahead, ctx);
	r = judge_host(ctx, &result, local, &err);
	if (r < 0) {
		/* A bundle that cannot be opened has no host and time for a document. */
		struct rd_source *source = ctx->source;
		struct rd_err again;

		if (!ctx->globals.json && !ctx->globals.openmetrics) {
			/* Prints the line of a check that failed, for programs that read only that line. */
			_cleanup_buf_ struct rd_buf out = { 0 };
			struct rd_report report = { 0 };

			rd_report_check_failure(&report, &err);
			rd_render_headline(&report, &out);
			rd_out(&out);
			rd_report_deinit(&report);
		}
		if (rd_source_guard_ready(source, &again) < 0)
			ctx->source = NULL;
		rd_fail(ctx, &err);
		ctx->source = source;
	} else
		r = show(ctx, &result);
	/* A read that hung may succeed next time; an invalid profile stays invalid. */
	if (r == -ETIMEDOUT)
		r = RD_EXIT_UNKNOWN;
	return opts->observe ? RD_EXIT_OK : r;
}

static int check_run(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(rd_source_closep) struct rd_source *local = NULL, *bundle = NULL;
	struct rd_source *host = ctx->source;
	struct check_opts *opts = ctx->state;
	int r;

	local = rd_source_guard_open(host, 0);
	if (ctx->globals.from)
		bundle = rd_source_guard_open_bundle(ctx->globals.from, 0);
	rd_local_guard(local);
	ctx->source = bundle ?: local;
	r = rd_repeat(ctx, &opts->repeat, CHECK_INTERVAL, check_once, local);
	ctx->source = host;
	rd_local_guard(NULL);
	return r;
}

static int begin(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	struct check_opts *opts = ctx->state;

	if (opts->deadline == 0)
		opts->deadline = ctx->globals.from ? 60 : 2;
	opts->begun_ms = rd_monotonic_ms();
	rd_privileges_limit(limit_of(opts));
	return 0;
}

static const struct rd_opt check_options[] = {
	{ "profile", 0, "FILE", "compare with a profile written by topo-check --learn", "file", RD_NEEDS_FOREIGN_FILE,
	  RD_TEXT(check_opts, profile) },
	{ "deadline", 0, "SECONDS", "time limit (default 2; 60 for a bundle)",
	  RD_SECONDS(check_opts, deadline, 0.05, 3600) },
	{ "user", 0, "USER", "also check whether a job of USER could use RDMA here (UID:GID[,GID...]: also of a bundle)",
	  RD_TEXT(check_opts, user) },
	{ "since", 0, "FILE", "also check how counters changed since FILE (written by counters --save, or a bundle)",
	  "file", RD_NEEDS_FOREIGN_BUNDLE, RD_TEXT(check_opts, since) },
	{ "observe", 0, NULL, "print the result, but exit 0: for a trial rollout", RD_FLAG(check_opts, observe) },
	{ "exclusive", 0, NULL, "no other job runs here: report queue pairs of other jobs as leftovers",
	  RD_FLAG(check_opts, exclusive) },
	RD_REPEAT_OPTS(check_opts, repeat),
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_EXCLUDES, "interval count", "openmetrics",
	  "it prints one document; --textfile is rewritten at each interval" },
	{ 0 },
};

const struct rd_cmd rd_cmd_check = {
	.name = "check",
	.summary = "is this host fit for a job: one line for prologues and monitoring",
	.question = "Is this host fit for a job",
	.opts = check_options,
	.rules = rules,
	.description =
		"Runs the quick rules of topo-check: they also cover port states, queue pairs left over from "
		"an\nearlier job and, with --since, error counters that increased. Always finishes by the "
		"deadline: a read\nthat hangs is reported, and its rules are unknown. Prints one line with "
		"performance data as monitoring\nplugins do; -v or --json print details. Changes nothing, and most "
		"rules do not need root.\nExit status: 0 good, 1 warnings, 2 failures, 3 could not tell; with "
		"--observe always 0.\n",
	.examples = "  rdmadiag check\n"
		    "  rdmadiag check --deadline 1 --exclusive --since /run/rdmadiag/counters.json\n"
		    "  rdmadiag check --user \"$SLURM_JOB_USER\"\n"
		    "  rdmadiag check --observe --profile /etc/rdmadiag/profile\n"
		    "  rdmadiag check --textfile /var/lib/node_exporter/rdmadiag.prom\n"
		    "  rdmadiag --from host17.tar.zst check -v\n",
	.columns = rd_check_columns,
	.n_columns = RD_CHECK_COLUMNS,
	.metrics = true,
	.opens_from = true,
	.state_size = sizeof(struct check_opts),
	.check = begin,
	.read = read_host,
	.run = check_run,
};
