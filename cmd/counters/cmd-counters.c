/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters: what the ports of this host have counted, what moved, and why. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/opts.h"
#include "cmd/ticks.h"
#include "counters-watch.h"
#include "counters.h"
#include "report/report-rates.h"
#include "source/new-file.h"

static int take_groups(const char *arg, unsigned *ret, struct rd_err *err)
{
	for (const char *at = arg; *at;) {
		size_t n = strcspn(at, ",");
		char word[16];
		int group;

		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		group = n < sizeof(word) ? rd_counter_group_parse(word) : -1;
		if (group < 0) {
			rd_err_set(err, EINVAL, "--group", "\"%.*s\" is no group", (int)n, at);
			rd_err_hint(err, "port, hw, optional, qp, ethtool, standard or netdev; several with commas");
			return -EINVAL;
		}
		*ret |= 1u << group;
		at += n + (at[n] == ',');
	}
	return 0;
}

static int counters_option(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct counters_opts *opts = ctx->state;
	const struct {
		const char *name;
		const char **text;
		bool *flag;
	} plain[] = {
		{ "nonzero", NULL, &opts->nonzero },
		{ "changed", NULL, &opts->changed },
		{ "fail", NULL, &opts->fail },
		{ "filter", &opts->filter, NULL },
		{ "save", &opts->save, NULL },
		{ "since", &opts->since, NULL },
		{ "explain", &opts->explain, NULL },
		{ "live", NULL, &opts->live },
		{ "record", &opts->record, NULL },
		{ "until", &opts->until, NULL },
		{ "thresholds", &opts->thresholds, NULL },
	};

	int r = fabric_cmd_option(&opts->fabric, opt->name, arg, err);

	if (r)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < RD_ARRAY_SIZE(plain); i++) {
		if (strcmp(opt->name, plain[i].name) != 0)
			continue;
		if (plain[i].flag)
			*plain[i].flag = true;
		else
			*plain[i].text = arg;
		return 0;
	}
	if (strcmp(opt->name, "group") == 0)
		return take_groups(arg, &opts->groups, err);
	if (strcmp(opt->name, "interval") == 0)
		return rd_ticks_parse(arg, &opts->interval, err);
	if (strcmp(opt->name, "count") == 0)
		return rd_opt_number("--count", arg, 1, RD_COUNT_MAX, &opts->count, err);
	return 0;
}

static int counters_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct counters_opts *opts = ctx->state;
	bool again = opts->interval > 0 || opts->live || opts->record || opts->until;

	if (opts->fabric.on && (opts->nonzero || opts->changed || opts->filter || opts->groups || opts->save ||
				opts->since || opts->explain || opts->until))
		return rd_err_set(err, EINVAL, "--fabric", "does not go with options that choose counters of this host");
	if (opts->fabric.on)
		return fabric_check(ctx, &opts->fabric, argc, argv, err);
	if (opts->fabric.used)
		return rd_err_set(err, EINVAL, opts->fabric.used, "goes with --fabric");
	if (opts->save && opts->thresholds && !opts->since)
		return rd_err_set(err, EINVAL, "--save", "does not judge: --thresholds goes with --since");
	if (opts->count && !again)
		return rd_err_set(err, EINVAL, "--count", "goes with --interval");
	if (again && (opts->since || opts->save))
		return rd_err_set(err, EINVAL, opts->since ? "--since" : "--save", "is for one look");
	if (again && opts->thresholds)
		return rd_err_set(err, EINVAL, "--thresholds", "is for one look");
	if (ctx->globals.from && again)
		return rd_err_set(err, EINVAL, "--from", "a bundle does not go on: leave out --interval and its kin");
	if (ctx->globals.openmetrics && again)
		return rd_err_set(err, EINVAL, "--openmetrics", "is one page: leave out --interval, or take --textfile");
	if (opts->live && (opts->record || opts->until || ctx->globals.json || rd_metrics_wanted(ctx)))
		return rd_err_set(err, EINVAL, "--live", "is for people: it prints and writes nothing");
	return 0;
}

static int no_rdma(struct rd_ctx *ctx, const struct counters *c)
{
	struct rd_err err;

	rd_no_rdma(c->rdma_error, &err);
	return rd_fail(ctx, &err);
}

static bool is_port(const struct rd_counter_set *set, const char *name)
{
	char *const only[] = { (char *)name, NULL };

	for (size_t p = 0; set && p < set->n_ports; p++)
		if (counters_port_fits(&set->ports[p], only))
			return true;
	return false;
}

/* Each operand names a port that there is, or was at the look to compare with: nothing said of one that is not would read as
 * nothing wrong with it. */
static int check_operands(const struct counters *c, char **argv, struct rd_err *err)
{
	for (; *argv; argv++)
		if (!is_port(c->now.set, *argv) && !is_port(c->before.set, *argv)) {
			rd_err_set(err, ENODEV, *argv, "there is no such RDMA device, port or interface of one");
			rd_err_hint(err, RD_PROGRAM " nic-map shows which there are");
			return -ENODEV;
		}
	return 0;
}

/* A bundle of several samples is compared from its first to its last. */
static int look_at_bundle(struct counters *c, bool compare, struct rd_err *err)
{
	int r = counters_look(c, c->ctx->source, err);
	bool first = true;

	while (!r) {
		struct rd_err end = { 0 };

		r = rd_source_bundle_next(c->ctx->source, &end);
		if (r == -ENODATA)
			return 0;
		if (r < 0) {
			*err = end;
			return r;
		}
		if (first && compare)
			counters_turn(c);
		first = false;
		r = counters_look(c, c->ctx->source, err);
	}
	return r;
}

/* What --save keeps is all there is, whatever is shown. */
static int save(struct counters *c, const char *path, struct rd_err *err)
{
	const struct rd_counters_shown shown = { .set = c->now.set, .now = &c->now.sample };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_report report;

	rd_answer_init(c->ctx, &report);
	for (size_t i = 0; i < c->errors.n; i++)
		rd_errlist_add(&report.errors, &c->errors.v[i]);
	rd_report_counters(&report, &shown);
	rd_render_json(&report, RD_VERSION, &out);
	rd_report_deinit(&report);
	return rd_replace_file(path, &out, err);
}

static int answer(struct counters *c, char *const *operands)
{
	const struct counters_opts *opts = c->opts;
	struct rd_err err = { 0 };
	struct rd_report report;
	int r = counters_conclude(c, operands, &err);

	if (r < 0)
		return rd_fail(c->ctx, &err);
	rd_answer_init(c->ctx, &report);
	counters_report(c, &report);
	if (rd_metrics_wanted(c->ctx))
		rd_report_counter_metrics(&report, c->now.set, &c->now.sample, c->chosen);
	if (opts->fail || opts->since || opts->thresholds)
		report.status = counters_judge(&report);
	rd_answer_incomplete(c->ctx, &report, true);
	r = counters_print(c, &report);
	rd_report_deinit(&report);
	return r;
}

static int counters_run(struct rd_ctx *ctx, int argc, char **argv)
{
	const struct counters_opts *opts = ctx->state;
	_cleanup_(counters_deinit) struct counters c = { .ctx = ctx };
	struct rd_err err = { 0 };
	int r;

	(void)argc;
	if (opts->fabric.on)
		return fabric_run(ctx, &opts->fabric);
	counters_init(ctx, opts, &c);
	if (opts->explain)
		return counters_explain(&c, opts->explain);
	if (opts->live || opts->interval > 0 || opts->record || opts->until) {
		if (counters_look(&c, ctx->source, &err) < 0)
			return rd_fail(ctx, &err);
		if (c.now.set->n_ports == 0)
			return no_rdma(ctx, &c);
		if (check_operands(&c, argv, &err) < 0)
			return rd_fail(ctx, &err);
		c.now.set = NULL; /* the first interval begins later */
		return opts->live ? counters_live(&c, argv) : counters_watch(&c, argv);
	}
	if (opts->since && counters_read_since(&c, opts->since, &err) < 0)
		return rd_fail(ctx, &err);
	if (ctx->globals.from)
		r = look_at_bundle(&c, !opts->since, &err);
	else
		r = counters_look(&c, ctx->source, &err);
	if (r < 0)
		return rd_fail(ctx, &err);
	/* With something to compare with, nothing left is an answer. */
	if (c.now.set->n_ports == 0 && !(opts->since && c.before.set->n_ports > 0))
		return no_rdma(ctx, &c);
	if (check_operands(&c, argv, &err) < 0)
		return rd_fail(ctx, &err);
	if (opts->save && save(&c, opts->save, &err) < 0)
		return rd_fail(ctx, &err);
	/* A prologue wants the file, not a thousand lines. */
	if (opts->save && !opts->since && !ctx->globals.json)
		return RD_EXIT_OK;
	return answer(&c, argv);
}

static int counters_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_(rd_counter_reader_destroyp) struct rd_counter_reader *reader = NULL;
	struct rd_counter_sample sample = { 0 };
	int rdma_error;
	int r = rd_counter_reader_create(source, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, err);

	if (!r)
		r = rd_counter_reader_sample(reader, &sample, err);
	rd_counter_sample_deinit(&sample);
	return r < 0 ? r : 0;
}

static const struct rd_opt counters_opts[] = {
	{ "nonzero", 0, NULL, "only counters that are not 0", NULL },
	{ "changed", 0, NULL, "only counters that moved", NULL },
	{ "filter", 0, "GLOB", "only counters whose name fits the pattern", NULL },
	{ "group", 0, "LIST", "only these: port, hw, optional, qp, ethtool, standard, netdev",
	  "port|hw|optional|qp|ethtool|standard|netdev" },
	{ "save", 0, "FILE", "write all values to FILE, for a later --since", "file", RD_NEEDS_OUTPUT },
	{ "since", 0, "FILE", "compare with a saved file or a bundle, judge, exit 0, 1 or 2", "file",
	  RD_NEEDS_FOREIGN_BUNDLE },
	{ "interval", 'i', "SECONDS", "repeat (0.1 and up): what ports carry; or what moved of the counters chosen",
	  NULL },
	{ "count", 'c', "N", "end after so many intervals", NULL },
	{ "live", 'w', NULL, "a view of ports, and of counters by what changed", NULL, RD_NEEDS_TERMINAL },
	{ "record", 0, "FILE", "write what moves to .csv, .jsonl, .json or .perfetto-trace", "file", RD_NEEDS_OUTPUT },
	{ "until", 0, "NAME>N", "wait until a counter has moved more than N times; N/s: a second", NULL },
	{ "thresholds", 0, "FILE", "hold counters against the limits in FILE; with --fabric: besides the usual ones",
	  "file", RD_NEEDS_OWN_FILE },
	{ "fail", 0, NULL, "exit 1 or 2 when there are warnings or worse", NULL },
	FABRIC_CMD_OPTS,
	{ "explain", 0, "NAME", "say what a counter means (a pattern, too)", NULL },
	{ 0 },
};

const struct rd_cmd rd_cmd_counters = {
	.name = "counters",
	.summary = "what each port has counted, what moved, and the likely cause",
	.operands = "[DEVICE[/PORT] | NETDEV]…",
	.opts = counters_opts,
	.description =
		"Lists every counter of every RDMA port: those of the port (sysfs counters/), of the driver (hw_counters\n"
		"by netlink, optional ones, those that queue pairs are bound to), of the interface (ethtool -S, the\n"
		"standard ethtool statistics, PFC, statistics/). What cannot be read is \"-\", never 0. With a moment to\n"
		"compare with (--since, or a bundle of several samples) it shows what moved, tells saturation, wrapping,\n"
		"resets, reboots and replaced devices apart, and names the likely causes.\n",
	.examples = "  rdmadiag counters --nonzero\n"
		    "  rdmadiag counters --save before; run-job; rdmadiag counters --since before\n"
		    "  rdmadiag counters mlx5_3/1 --group hw --filter '*cnp*'\n"
		    "  rdmadiag counters -i 1           Gbit/s and packets of each port\n"
		    "  rdmadiag counters -i 0.1 --record job.perfetto-trace\n"
		    "  rdmadiag counters --until 'link_downed>0'\n"
		    "  rdmadiag counters --explain local_ack_timeout_err\n",
	.columns = rd_counter_columns,
	.n_columns = RD_CNT_COLUMNS,
	.metrics = true,
	.state_size = sizeof(struct counters_opts),
	.option = counters_option,
	.check = counters_check,
	.record = counters_record,
	.run = counters_run,
};
