/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-check: find what breaks or slows RDMA on this host. */
#include <errno.h>
#include <string.h>

#include "report/host/report-check.h"
#include "topo.h"

static int take_severity(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	/* In the order of the words in the option table. */
	static const enum rd_severity results[] = { RD_SEV_CRITICAL, RD_SEV_WARNING, RD_SEV_UNKNOWN,
						    RD_SEV_NOTE,     RD_SEV_OK,	     RD_SEV_SKIP };
	struct topo_opts *opts = state;
	int word;

	/* Results of rules use these words. */
	for (enum rd_severity i = RD_SEV_OK; i <= RD_SEV_CRITICAL; i++)
		if (i != RD_SEV_NOTE && strcmp(arg, rd_severity_result(i)) == 0)
			arg = rd_severity_name(i);
	word = rd_opt_word(opt, arg, err);
	if (word < 0)
		return word;
	opts->severity = results[word];
	return 0;
}

static int show_list(struct rd_ctx *ctx)
{
	struct rd_report report;
	int r;

	ctx->schema = "rdmadiag/topo-check-list/1";
	rd_output_init(ctx, &report);
	rd_report_rules(&report, rd_checks, rd_n_checks);
	r = rd_output_print(ctx, &report);
	rd_report_deinit(&report);
	return r;
}

static int explain(struct rd_ctx *ctx, const char *id)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	const struct rd_check *check = rd_check_find(id);
	struct rd_report report;
	int r;

	if (ctx->globals.json) {
		rd_output_init(ctx, &report);
		rd_report_rules(&report, &check, 1);
		r = rd_output_print(ctx, &report);
		rd_report_deinit(&report);
		return r;
	}
	rd_buf_printf(&out, "%s%s\n%s\n\n  why: %s\n", check->id, check->thorough ? "" : " (also in rdmadiag check)",
		      check->title, check->why);
	rd_render_fix(&check->fix, 1, &out);
	rd_buf_printf(&out, "  reads: %s\n", check->needs);
	rd_out(&out);
	return RD_EXIT_OK;
}

/* Without RDMA, results of other rules are not meaningful, except failures. */
static void note_no_rdma(const struct rd_ctx *ctx, struct checks *checks, struct rd_err *err)
{
	rd_no_rdma(ctx, checks->host.rdma_error, err);
	rd_errlist_add(&checks->report.errors, err);
	checks->report.status = RD_EXIT_UNKNOWN;
}

static int show(struct rd_ctx *ctx, struct checks *checks)
{
	const struct topo_opts *opts = ctx->state;
	const struct rd_finding_style style = { .colour = ctx->globals.style.colour,
						.verbose = ctx->globals.verbose,
						.why = true,
						.gaps = true,
						.least = opts->severity };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };

	if (checks->host.n_ibdevs == 0 && checks->report.status != RD_EXIT_CRITICAL) {
		note_no_rdma(ctx, checks, &err);
		if (!ctx->globals.json)
			return rd_fail(ctx, &err);
	}
	if (ctx->globals.json || ctx->globals.rows_only || ctx->globals.style.columns)
		return rd_output_print(ctx, &checks->report);
	rd_render_headline(&checks->report, &out);
	rd_render_results(&checks->report, &style, &out);
	rd_out(&out);
	return checks->report.status;
}

static int topo_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct topo_opts *opts = ctx->state;
	_cleanup_free_ bool *chosen = rd_alloc(rd_n_checks + 1, sizeof(*chosen));

	if (opts->learn && argc > 1)
		return rd_err_set(err, EINVAL, argv[1], "--learn takes one file");
	if ((opts->list || opts->explain) && argc > 0)
		return rd_err_set(err, EINVAL, argv[0], "unexpected operand: --list and --explain take no devices");
	if (opts->explain && !rd_check_find(opts->explain))
		return topo_no_such_rule("--explain", opts->explain, err);
	return topo_choose(opts, chosen, err);
}

static int topo_once(struct rd_ctx *ctx, void *chosen)
{
	const struct topo_opts *opts = ctx->state;
	struct rd_err err = { 0 };
	struct checks checks;
	int r = topo_judge(ctx, chosen, &checks, &err);

	if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		rd_repeat_head(ctx, &opts->repeat, checks.report.time);
		r = show(ctx, &checks);
	}
	checks_deinit(&checks);
	return r;
}

static int topo_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct topo_opts *opts = ctx->state;
	_cleanup_free_ bool *chosen = rd_alloc(rd_n_checks + 1, sizeof(*chosen));
	_cleanup_free_ char *devices = NULL;
	struct rd_err err = { 0 };

	if (!opts->learn && rd_devices(ctx, opts->devices, argv, false, &devices, &err) < 0)
		return rd_fail_usage(ctx->cmd, &err);
	opts->devices = devices;
	if (topo_choose(opts, chosen, &err) < 0)
		return rd_fail_usage(ctx->cmd, &err);
	if (opts->list)
		return show_list(ctx);
	if (opts->explain)
		return explain(ctx, opts->explain);
	if (opts->learn)
		return topo_learn(ctx, argc > 0 ? argv[0] : NULL);
	if (opts->live)
		return topo_live(ctx, chosen);
	return rd_repeat(ctx, &opts->repeat, TOPO_INTERVAL, topo_once, chosen);
}

static const struct rd_opt topo_options[] = {
	{ "explain", 0, "RULE", "explain one rule: consequence, fix, data read", "rule", RD_NEEDS_NOTHING,
	  RD_TEXT(topo_opts, explain) },
	{ "list", 0, NULL, "list the rules and the faults they find", RD_FLAG(topo_opts, list) },
	{ "only", 0, "RULES", "run only these rules: NAME,NAME; exit 3 if one of them is unknown", "rule",
	  RD_NEEDS_NOTHING, RD_TEXT(topo_opts, only) },
	{ "skip", 0, "RULES", "do not run these rules: NAME,NAME", "rule", RD_NEEDS_NOTHING, RD_TEXT(topo_opts, skip) },
	{ "severity", 0, "LEVEL",
	  "show and count results of this level or worse: critical, warning, unknown, note, ok, all (default)",
	  "critical|warning|unknown|note|ok|all", RD_TAKES(take_severity) },
	{ "profile", 0, "FILE", "compare with a profile: counts, rates, MTU, firmware, names, roles", "file",
	  RD_NEEDS_FOREIGN_FILE, RD_TEXT(topo_opts, profile) },
	{ "learn", 0, NULL, "write a profile of this host to standard output, or to FILE", NULL,
	  RD_NEEDS_OUTPUT_OPERANDS, RD_FLAG(topo_opts, learn) },
	{ "pid", 'p', "PID", "check the limits of this process instead of those of job launchers", "pid",
	  RD_NEEDS_PROCESS, RD_NUMBER(topo_opts, pid, 1, RD_PID_MAX) },
	{ "device", 0, "DEVICE,...",
	  "hide results about RDMA devices other than these, their ports and interfaces (same as operands)", "ibdev",
	  RD_TEXT(topo_opts, devices) },
	{ "live", 'w', NULL, "full-screen view that is updated, with changes marked", NULL, RD_NEEDS_TERMINAL,
	  RD_FLAG(topo_opts, live) },
	{ "fail", 0, NULL, "map findings to the exit status; topo-check always does" },
	RD_REPEAT_OPTS(topo_opts, repeat),
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_EXCLUDES, "interval count", "list learn explain", "their output does not change" },
	{ RD_ONE_OF, "list explain learn live" },
	{ RD_EXCLUDES, "device", "list explain learn", "a profile and the rules are of the whole host" },
	{ RD_EXCLUDES, "live", "json" },
	{ 0 },
};

const struct rd_cmd rd_cmd_topo_check = {
	.name = "topo-check",
	.summary = "find what breaks or slows RDMA on this host, and how to fix it",
	.question = "What breaks or slows RDMA on this host",
	.operands = "[DEVICE[/PORT] | NETDEV]... | FILE",
	.opts = topo_options,
	.rules = rules,
	.description =
		"Runs all rules about PCIe, GPUDirect memory, RoCE, InfiniBand, ports and firmware, failover "
		"and\nseparation of networks. For each fault it prints the observed and the expected value, the "
		"consequence\nand the fix. Facts that are not readable (without root: PCI configuration space "
		"beyond 64 bytes) are\nunknown, with the reason, and never pass. -v also prints what passed. Exit "
		"status: 2 failures,\n1 warnings, else 0; 3 if no result was possible.\n",
	.examples = "  rdmadiag topo-check\n"
		    "  rdmadiag topo-check --only acs-redirect,pcie-link-width\n"
		    "  rdmadiag topo-check mlx5_3\n"
		    "  rdmadiag topo-check --explain acs-redirect\n"
		    "  rdmadiag topo-check --learn good.profile\n"
		    "  rdmadiag topo-check --profile good.profile\n"
		    "  rdmadiag --from host17.tar.zst topo-check --json\n",
	.columns = rd_check_columns,
	.n_columns = RD_CHECK_COLUMNS,
	.state_size = sizeof(struct topo_opts),
	.check = topo_check,
	.record = checks_record,
	.run = topo_run,
};
