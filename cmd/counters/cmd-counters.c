/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters: what the ports of this host have counted, what moved, and why. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/fabric/fabric.h"
#include "cmd/ticks.h"
#include "counters-watch.h"
#include "counters.h"
#include "report/counters/report-rates.h"
#include "source/opener/new-file.h"

static int take_groups(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct counters_opts *opts = state;

	for (const char *at = arg; *at;) {
		size_t n = strcspn(at, ",");
		char word[16];
		int group;

		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		group = n < sizeof(word) ? rd_counter_group_parse(word) : -1;
		if (group < 0) {
			rd_opt_refuse(opt, err, "\"%.*s\" is no group", (int)n, at);
			rd_err_hint(err, "port, hw, optional, qp, ethtool, standard or netdev; several with commas");
			return -EINVAL;
		}
		opts->groups |= 1u << group;
		at += n + (at[n] == ',');
	}
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
	for (size_t p = 0; set && p < set->n_ports; p++)
		if (counters_port_named(&set->ports[p], name))
			return true;
	return false;
}

/* Each name is of a port that there is, or was at the look to compare with: nothing said of one that is not would read as
 * nothing wrong with it. */
static int check_devices(const struct counters *c, struct rd_err *err)
{
	for (const char *at = c->opts->devices; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (is_port(c->now.set, name) || is_port(c->before.set, name))
			continue;
		rd_err_set(err, ENODEV, name, "there is no such RDMA device, port or interface of one");
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

static int answer(struct counters *c)
{
	const struct counters_opts *opts = c->opts;
	struct rd_err err = { 0 };
	struct rd_report report;
	int r = counters_conclude(c, &err);

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
	struct counters_opts *opts = ctx->state;
	_cleanup_free_ char *devices = rd_devices(opts->devices, argv);
	_cleanup_(counters_deinit) struct counters c = { .ctx = ctx };
	struct rd_err err = { 0 };
	int r;

	(void)argc;
	opts->devices = devices;
	counters_init(ctx, opts, &c);
	if (opts->explain)
		return counters_explain(&c, opts->explain);
	if (opts->live || opts->repeat.seconds > 0 || opts->record || opts->until) {
		if (counters_look(&c, ctx->source, &err) < 0)
			return rd_fail(ctx, &err);
		if (c.now.set->n_ports == 0)
			return no_rdma(ctx, &c);
		if (check_devices(&c, &err) < 0)
			return rd_fail(ctx, &err);
		c.now.set = NULL; /* the first interval begins later */
		return opts->live ? counters_live(&c) : counters_watch(&c);
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
	if (check_devices(&c, &err) < 0)
		return rd_fail(ctx, &err);
	if (opts->save && save(&c, opts->save, &err) < 0)
		return rd_fail(ctx, &err);
	/* A prologue wants the file, not a thousand lines. */
	if (opts->save && !opts->since && !ctx->globals.json)
		return RD_EXIT_OK;
	return answer(&c);
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
	{ "device", 0, "DEVICE,...", "only of these devices, ports or interfaces, as operands", "ibdev",
	  RD_TEXT(counters_opts, devices) },
	{ "nonzero", 0, NULL, "only counters that are not 0", RD_FLAG(counters_opts, nonzero) },
	{ "changed", 0, NULL, "only counters that moved", RD_FLAG(counters_opts, changed) },
	{ "filter", 0, "GLOB", "only counters whose name fits the pattern", RD_TEXT(counters_opts, filter) },
	{ "group", 0, "LIST", "only these: port, hw, optional, qp, ethtool, standard, netdev",
	  "port|hw|optional|qp|ethtool|standard|netdev", RD_TAKES(take_groups) },
	{ "save", 0, "FILE", "write all values to FILE, for a later --since", "file", RD_NEEDS_OUTPUT,
	  RD_TEXT(counters_opts, save) },
	{ "since", 0, "FILE", "compare with a saved file or a bundle, judge, exit 0, 1 or 2", "file",
	  RD_NEEDS_FOREIGN_BUNDLE, RD_TEXT(counters_opts, since) },
	{ "interval", 'i', "SECONDS", "repeat (0.1 and up): what ports carry; or what moved of the counters chosen",
	  RD_SECONDS(counters_opts, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "count", 'c', "N", "end after so many intervals", RD_NUMBER(counters_opts, repeat.count, 1, RD_COUNT_MAX) },
	{ "live", 'w', NULL, "a view of ports, and of counters by what changed", NULL, RD_NEEDS_TERMINAL,
	  RD_FLAG(counters_opts, live) },
	{ "record", 0, "FILE", "write what moves to .csv, .jsonl, .json or .perfetto-trace", "file", RD_NEEDS_OUTPUT,
	  RD_TEXT(counters_opts, record) },
	{ "until", 0, "NAME>N", "wait until a counter has moved more than N times; N/s: a second",
	  RD_TEXT(counters_opts, until) },
	{ "thresholds", 0, "FILE", "hold counters against the limits in FILE", "file", RD_NEEDS_OWN_FILE,
	  RD_TEXT(counters_opts, thresholds) },
	{ "fail", 0, NULL, "exit 1 or 2 when there are warnings or worse", RD_FLAG(counters_opts, fail) },
	{ "fabric", 0, NULL, "every port of the InfiniBand network instead of this host's: has its own options" },
	{ "explain", 0, "NAME", "say what a counter means (a pattern, too)", RD_TEXT(counters_opts, explain) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_REQUIRES, "thresholds", "since", "saving does not judge", "save" },
	{ RD_REQUIRES, "count", "interval live record until" },
	{ RD_EXCLUDES, "interval live record until", "since save thresholds", "these are for one look" },
	{ RD_EXCLUDES, "interval live record until", "from", "a bundle does not go on" },
	{ RD_EXCLUDES, "interval live record until", "openmetrics",
	  "it is one page; --textfile is written at each look" },
	{ RD_EXCLUDES, "live", "record until json openmetrics textfile", "it prints and writes nothing" },
	{ 0 },
};

const struct rd_cmd rd_cmd_counters = {
	.name = "counters",
	.summary = "what each port has counted, what moved, and the likely cause",
	.operands = "[DEVICE[/PORT] | NETDEV]…",
	.opts = counters_opts,
	.rules = rules,
	.variant = &rd_cmd_fabric,
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
	.record = counters_record,
	.run = counters_run,
};
