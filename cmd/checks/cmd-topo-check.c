/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-check: the rules, a profile, their results; also while they change. */

#include "analyse/compare/compare.h"
#include "checks.h"
#include "cmd/opts.h"
#include "cmd/repeat.h"
#include "source/opener/opener.h"
#include "view/view.h"

#define TOPO_INTERVAL 5 /* seconds, the default of --interval */

struct topo_opts {
	bool list, live, learn;
	const char *devices; /* see rd_selection_make; NULL: all */
	const char *explain, *only, *skip, *profile;
	bool severity_set;
	enum rd_severity severity; /* the least severe level that is shown and counted */
	unsigned long pid;	   /* 0: none */
	struct rd_repeat repeat;
};

/* Selection of rules. */

/* Fills err for an option with an unknown rule, with the most similar name as hint; -EINVAL. */
static int topo_no_such_rule(const char *option, const char *id, struct rd_err *err)
{
	size_t best = SIZE_MAX, at = 0;

	for (size_t i = 0; i < rd_n_checks; i++) {
		size_t distance = rd_name_distance(id, rd_checks[i]->id);

		if (distance < best) {
			best = distance;
			at = i;
		}
	}
	rd_err_set(err, EINVAL, option, "unknown rule '%s'", id);
	return best <= 3 ?
		       rd_err_hint(err, "%s %s; list of rules: rdmadiag topo-check --list", option, rd_checks[at]->id) :
		       rd_err_hint(err, "rdmadiag topo-check --list");
}

/* Sets `ret` to `value` for the rules in a comma-separated list. */
static int mark_rules(const char *option, const char *list, bool value, bool *ret, struct rd_err *err)
{
	_cleanup_free_ char *copy = rd_dup(list);
	char *rest = copy, *id;

	while ((id = strsep(&rest, ","))) {
		size_t i = 0;

		while (i < rd_n_checks && strcmp(rd_checks[i]->id, id) != 0)
			i++;
		if (i == rd_n_checks)
			return topo_no_such_rule(option, id, err);
		ret[i] = value;
	}
	return 0;
}

/* The rules selected by --only and --skip; `ret` has space for rd_n_checks. -EINVAL with err filled for an unknown name. */
static int topo_choose(const struct topo_opts *opts, bool *ret, struct rd_err *err)
{
	int r = 0;

	for (size_t i = 0; i < rd_n_checks; i++)
		ret[i] = !opts->only;
	if (opts->only)
		r = mark_rules("--only", opts->only, true, ret, err);
	if (!r && opts->skip)
		r = mark_rules("--skip", opts->skip, false, ret, err);
	return r;
}

/* One run of topo-check. */

/* Shows and counts only results that may concern these devices (see rd_selection_make; NULL: all). -ENODEV with err filled. */
static int checks_select(struct checks *checks, const char *devices, struct rd_err *err)
{
	/* On a host without RDMA devices, that is what to report. */
	return checks->host.n_ibdevs > 0 ? rd_selection_make(&checks->host, devices, &checks->shown, err) : 0;
}

/* Reads, runs the chosen rules, fills the report and its status. -errno with err filled; `checks` is to be released in any
 * case. */
static int topo_judge(const struct rd_ctx *ctx, const bool *chosen, struct checks *checks, struct rd_err *err)
{
	const struct topo_opts *opts = ctx->state;
	int r = checks_load(ctx, ctx->source, (int)opts->pid, checks, err) ?: checks_select(checks, opts->devices, err);

	if (!r && opts->profile)
		r = checks_take_profile(checks, opts->profile, err);
	if (r < 0)
		return r;
	checks_conclude(checks, chosen, opts->severity, opts->only != NULL);
	rd_report_topo_headline(&checks->report, checks->shown.ibdevs ? &checks->hidden : NULL);
	return 0;
}

/* topo-check --learn */

/* --learn: writes a profile of this host to a file (NULL: standard output). Returns an exit code. */
static int topo_learn(struct rd_ctx *ctx, const char *path)
{
	const struct topo_opts *opts = ctx->state;
	struct rd_err err = { 0 };
	_cleanup_(checks_deinit) struct checks checks;
	size_t bad = 0;
	int r = checks_load(ctx, ctx->source, (int)opts->pid, &checks, &err);

	if (!r && checks.host.n_ibdevs == 0) {
		r = rd_err_set(&err, ENODEV, "/sys/class/infiniband", RD_NO_RDMA_DEVICE " to learn from");
		rd_err_hint(&err, "run it on a known good host");
	}
	if (!r) {
		_cleanup_buf_ struct rd_buf out = { 0 };
		const char *host;
		struct rd_profile self = { 0 };

		rd_checks_run(&checks.in, NULL, &checks.findings);
		for (size_t i = 0; i < checks.findings.n; i++)
			bad += checks.findings.v[i].severity >= RD_SEV_WARNING;
		host = checks.report.host ?: "one";
		rd_profile_of(&checks.map.ports, &checks.system, true, &self);
		rd_buf_part(&out, "# For rdmadiag topo-check --profile FILE: expected state of a host, learned on ",
			    host);
		rd_buf_str(&out,
			   ".\n# Remove what may differ; * matches any characters: port.*.rate_gbps = 400\n# "
			   "rule.NAME = required: the result of that rule must not be unknown.\n# ignore = "
			   "RULE@SUBJECT until YYYY-MM-DD reason: mutes that finding up to and including that day.\n");
		rd_profile_write(&self, &out);
		rd_profile_deinit(&self);
		/* As for every command, main reports a closed pipe. */
		if (!path)
			rd_out(&out);
		r = path ? rd_replace_file(path, &out, &err) : 0;
	}
	if (!r && bad > 0)
		rd_warn(ctx, "topo-check reports %zu faults on this host: the profile contains them, too", bad);
	return r < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
}

/* topo-check --live */

struct live {
	struct rd_ctx *ctx;
	const bool *chosen;
	struct rd_repeat *repeat;
};

static int due(void *arg)
{
	const struct live *live = arg;

	return rd_ticks_left_ms(&live->repeat->ticks);
}

/* Moves the first section of the report, the results, to the page. */
static int refresh_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	const struct live *live = arg;
	_cleanup_(checks_deinit) struct checks checks = { 0 };
	int r;

	if (!rd_repeat_next(live->repeat))
		return 1;
	r = topo_judge(live->ctx, live->chosen, &checks, err);
	if (!r) {
		page->body = rd_report_take(&checks.report, 0);
		page->headline = rd_safe(checks.report.headline);
		page->alarm = rd_findings_alarm(&checks.report.findings, &page->alarm_severity);
	}
	return r;
}

/* The columns of a row, one per line, including those too wide for the table. */
static int detail(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	*ret = rd_report_check_detail(body, row);
	return 0;
}

/* --live. Returns an exit code. */
static int topo_live(struct rd_ctx *ctx, const bool *chosen)
{
	static const int keys[] = { RD_CHECK_ID, RD_CHECK_SUBJECT, -1 };
	static const struct rd_view_ops ops = { .look = refresh_page, .due = due, .keys = keys, .detail = detail };
	struct topo_opts *opts = ctx->state;
	struct live live = { .ctx = ctx, .chosen = chosen, .repeat = &opts->repeat };
	struct rd_err err = { 0 };

	rd_repeat_begin(&opts->repeat, TOPO_INTERVAL);
	return rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
}

/* topo-check: find what breaks or slows RDMA on this host. */

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

static int print_rules(struct rd_ctx *ctx, const struct rd_check *const *rules, size_t n)
{
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

	rd_output_init(ctx, &report);
	rd_report_rules(&report, rules, n);
	return rd_output_print(ctx, &report);
}

static int explain(struct rd_ctx *ctx, const char *id)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	const struct rd_check *check = rd_check_find(id);

	if (ctx->globals.json)
		return print_rules(ctx, &check, 1);
	rd_buf_printf(&out, "%s%s\n%s\n\n  why: %s\n", check->id, check->thorough ? "" : " (also in rdmadiag check)",
		      check->title, check->why);
	rd_render_fix(check->fix, &out);
	rd_buf_printf(&out, "  reads: %s\n", check->needs);
	rd_out(&out);
	return RD_EXIT_OK;
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
		/* Without RDMA, results of other rules are not meaningful, except failures. */
		rd_no_rdma(ctx, checks->host.rdma_error, &err);
		rd_errlist_add(&checks->report.errors, &err);
		checks->report.status = RD_EXIT_UNKNOWN;
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
	return opts->explain && !rd_check_find(opts->explain) ? topo_no_such_rule("--explain", opts->explain, err) :
								topo_choose(opts, chosen, err);
}

static int topo_once(struct rd_ctx *ctx, void *chosen)
{
	const struct topo_opts *opts = ctx->state;
	struct rd_err err = { 0 };
	_cleanup_(checks_deinit) struct checks checks;
	int r = topo_judge(ctx, chosen, &checks, &err);

	if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		rd_repeat_head(ctx, &opts->repeat, checks.report.time);
		r = show(ctx, &checks);
	}
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
	if (opts->list) {
		ctx->schema = "rdmadiag/topo-check-list/1";
		return print_rules(ctx, rd_checks, rd_n_checks);
	}
	if (opts->explain)
		return explain(ctx, opts->explain);
	if (opts->learn)
		return topo_learn(ctx, argc > 0 ? argv[0] : NULL);
	return opts->live ? topo_live(ctx, chosen) : rd_repeat(ctx, &opts->repeat, TOPO_INTERVAL, topo_once, chosen);
}

static void topo_read(const struct rd_ctx *ctx, struct rd_source *source)
{
	struct rd_err err;

	checks_record_with(source, (int)((const struct topo_opts *)ctx->state)->pid, NULL, &err);
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
	  RD_NUMBER(topo_opts, pid, 1, RD_PID_MAX) },
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
	.read = topo_read,
	.run = topo_run,
};
