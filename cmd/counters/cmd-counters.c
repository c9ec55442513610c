/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters: counters of the ports of this host, their increases, and likely causes. */
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
			rd_opt_refuse(opt, err, "unknown group '%.*s'", (int)n, at);
			rd_err_hint(
				err,
				"one or more of port, hw, optional, qp, ethtool, standard, netdev, separated by commas");
			return -EINVAL;
		}
		opts->groups |= 1u << group;
		at += n + (at[n] == ',');
	}
	return 0;
}

static int fail_without_rdma(struct rd_ctx *ctx, const struct counters *c)
{
	struct rd_err err;

	rd_no_rdma(ctx, c->rdma_error, &err);
	return rd_fail(ctx, &err);
}

static bool is_port(const struct rd_counter_set *set, const char *name)
{
	for (size_t p = 0; set && p < set->n_ports; p++)
		if (counters_port_named(&set->ports[p], name))
			return true;
	return false;
}

/* Each name must match a port of this or of the earlier sample: no output for an unknown port would look like a healthy one. */
static int check_devices(const struct counters *c, struct rd_err *err)
{
	for (const char *at = c->opts->devices; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (is_port(c->now.set, name) || is_port(c->before.set, name))
			continue;
		rd_err_set(err, ENODEV, name, "no such RDMA device, port or interface");
		rd_err_hint(err, "list them with " RD_PROGRAM " nic-map");
		return -ENODEV;
	}
	return 0;
}

/* Reads all samples of a bundle: the last is compared with the first. */
static int sample_bundle(struct counters *c, bool compare, struct rd_err *err)
{
	int r = counters_sample(c, c->ctx->source, err);
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
			counters_keep_before(c);
		first = false;
		r = counters_sample(c, c->ctx->source, err);
	}
	return r;
}

/* --save writes all counters, whatever is shown. */
static int save_sample(struct counters *c, const char *path, struct rd_err *err)
{
	const struct rd_counters_shown shown = { .set = c->now.set, .now = &c->now.sample };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_report report;

	rd_output_init(c->ctx, &report);
	for (size_t i = 0; i < c->errors.n; i++)
		rd_errlist_add(&report.errors, &c->errors.v[i]);
	rd_report_counters(&report, &shown);
	rd_render_json(&report, RD_VERSION, &out);
	rd_report_deinit(&report);
	return rd_replace_file(path, &out, err);
}

static int print_result(struct counters *c)
{
	const struct counters_opts *opts = c->opts;
	struct rd_err err = { 0 };
	struct rd_report report;
	int r = counters_conclude(c, &err);

	if (r < 0)
		return rd_fail(c->ctx, &err);
	rd_output_init(c->ctx, &report);
	counters_report(c, &report);
	if (rd_metrics_wanted(c->ctx))
		rd_report_counter_metrics(&report, c->now.set, &c->now.sample, c->selected);
	if (opts->fail || opts->since || opts->thresholds)
		report.status = counters_judge(&report);
	rd_output_incomplete(c->ctx, &report, true);
	r = counters_print(c, &report);
	rd_report_deinit(&report);
	return r;
}

static int counters_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct counters_opts *opts = ctx->state;
	_cleanup_free_ char *devices = NULL;
	_cleanup_(counters_deinit) struct counters c = { .ctx = ctx };
	struct rd_err err = { 0 };
	int r;

	(void)argc;
	if (rd_devices(ctx, opts->devices, argv, false, &devices, &err) < 0)
		return rd_fail_usage(ctx->cmd, &err);
	opts->devices = devices;
	counters_init(ctx, opts, &c);
	if (opts->explain)
		return counters_explain(&c, opts->explain);
	if (opts->live || opts->repeat.seconds > 0 || opts->record || opts->until) {
		if (counters_sample(&c, ctx->source, &err) < 0)
			return rd_fail(ctx, &err);
		if (c.now.set->n_ports == 0)
			return fail_without_rdma(ctx, &c);
		if (check_devices(&c, &err) < 0)
			return rd_fail(ctx, &err);
		c.now.set = NULL; /* the first interval begins with the next sample */
		return opts->live ? counters_live(&c) : counters_watch(&c);
	}
	if (opts->since && counters_read_since(&c, opts->since, &err) < 0)
		return rd_fail(ctx, &err);
	if (ctx->globals.from)
		r = sample_bundle(&c, !opts->since, &err);
	else
		r = counters_sample(&c, ctx->source, &err);
	if (r < 0)
		return rd_fail(ctx, &err);
	/* With --since, a host whose ports are all missing has a result. */
	if (c.now.set->n_ports == 0 && !(opts->since && c.before.set->n_ports > 0))
		return fail_without_rdma(ctx, &c);
	if (check_devices(&c, &err) < 0)
		return rd_fail(ctx, &err);
	if (opts->save && save_sample(&c, opts->save, &err) < 0)
		return rd_fail(ctx, &err);
	/* A job prologue requires the file, not a thousand lines of output. */
	if (opts->save && !opts->since && !ctx->globals.json)
		return RD_EXIT_OK;
	return print_result(&c);
}

static int counters_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_(rd_counter_reader_destroyp) struct rd_counter_reader *reader = NULL;
	struct rd_counter_sample sample = { 0 };
	int rdma_error;
	int r = rd_counter_reader_create(source, RD_COUNTERS_ALL, &reader, &rdma_error, NULL, err);

	if (!r)
		rd_counter_reader_sample(reader, &sample);
	rd_counter_sample_deinit(&sample);
	return r;
}

static const struct rd_opt counters_opts[] = {
	{ "all", 0, NULL, "list all counters, not only errors and congestion that are not 0",
	  RD_FLAG(counters_opts, all) },
	{ "changed", 0, NULL, "only list counters that changed", RD_FLAG(counters_opts, changed) },
	{ "filter", 0, "GLOB", "only list counters whose name matches the pattern", "counter", RD_NEEDS_NOTHING,
	  RD_TEXT(counters_opts, filter) },
	{ "save", 0, "FILE", "write all values to FILE for a later --since", "file", RD_NEEDS_OUTPUT,
	  RD_TEXT(counters_opts, save) },
	{ "since", 0, "FILE", "compare with a saved file or a bundle, report causes, exit 0, 1 or 2", "file",
	  RD_NEEDS_FOREIGN_BUNDLE, RD_TEXT(counters_opts, since) },
	{ "interval", 'i', "SECONDS",
	  "repeat every SECONDS (0.1 or more): traffic of ports, or changes of the selected counters",
	  RD_SECONDS(counters_opts, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "count", 'c', "N", "end after N intervals", RD_NUMBER(counters_opts, repeat.count, 1, RD_COUNT_MAX) },
	{ "live", 'w', NULL, "show a live view of ports and of changing counters", NULL, RD_NEEDS_TERMINAL,
	  RD_FLAG(counters_opts, live) },
	{ "explain", 0, "NAME", "explain a counter (NAME may be a pattern)", "counter", RD_NEEDS_NOTHING,
	  RD_TEXT(counters_opts, explain) },
	{ "fabric", 0, NULL, "read all ports of the InfiniBand network instead of this host; has its own options" },
	{ "device", 0, "DEVICE,...", "only list counters of these devices, ports or interfaces (same as operands)",
	  "ibdev", RD_TEXT(counters_opts, devices) },
	{ "nonzero", 0, NULL, "only list counters that are not 0", RD_FLAG(counters_opts, nonzero) },
	{ "group", 0, "LIST", "only read these groups: port, hw, optional, qp, ethtool, standard, netdev",
	  "port|hw|optional|qp|ethtool|standard|netdev", RD_TAKES(take_groups) },
	{ "record", 0, "FILE", "record changes to FILE: .csv, .jsonl or .json", "file", RD_NEEDS_OUTPUT,
	  RD_TEXT(counters_opts, record) },
	{ "until", 0, "NAME>N", "wait until a counter has increased by more than N; N/s: per second", "counter",
	  RD_NEEDS_NOTHING, RD_TEXT(counters_opts, until) },
	{ "thresholds", 0, "FILE", "compare counters with the limits in FILE", "file", RD_NEEDS_OWN_FILE,
	  RD_TEXT(counters_opts, thresholds) },
	{ "fail", 0, NULL, "exit 1 for warnings, 2 for critical findings", RD_FLAG(counters_opts, fail) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_REQUIRES, "thresholds", "since", "--save does not compare", "save" },
	{ RD_REQUIRES, "count", "interval live record until" },
	{ RD_EXCLUDES, "interval live record until", "since save thresholds", "they apply to a single sample" },
	{ RD_EXCLUDES, "interval live record until", "from", "a bundle cannot be sampled again" },
	{ RD_EXCLUDES, "interval live record until", "openmetrics",
	  "it prints the metrics once; use --textfile, which is rewritten at each interval" },
	{ RD_EXCLUDES, "live", "record until json openmetrics textfile", "the view prints and writes nothing else" },
	{ 0 },
};

const struct rd_cmd rd_cmd_counters = {
	.name = "counters",
	.summary = "list port counters and their changes, and name likely causes",
	.question = "What moved: errors, traffic, congestion",
	.operands = "[DEVICE[/PORT] | NETDEV]...",
	.opts = counters_opts,
	.rules = rules,
	.variant = &rd_cmd_fabric,
	.description =
		"Says which ports have errors, and lists the counters of errors and congestion that are not 0; with --all,\n"
		"or if some are chosen, all counters of all RDMA ports: those of the port (sysfs counters/), of the driver (hw_counters via\n"
		"netlink, optional counters, counters bound to queue pairs) and of the interface (ethtool -S, standard\n"
		"ethtool statistics, PFC, statistics/). Values that cannot be read are shown as \"-\", never as 0. With an\n"
		"earlier sample (--since, or a bundle with several samples) it shows the changes, detects saturation,\n"
		"wrapping, resets, reboots and replaced devices, and names likely causes.\n",
	.examples = "  rdmadiag counters --nonzero\n"
		    "  rdmadiag counters --save before; run-job; rdmadiag counters --since before\n"
		    "  rdmadiag counters mlx5_3/1 --group hw --filter '*cnp*'\n"
		    "  rdmadiag counters -i 1           Gbit/s and packets per second of each port\n"
		    "  rdmadiag counters -i 0.1 --record job.json\n"
		    "  rdmadiag counters --until 'link_downed>0'\n"
		    "  rdmadiag counters --explain local_ack_timeout_err\n",
	.columns = rd_counter_columns,
	.n_columns = RD_CNT_COLUMNS,
	.metrics = true,
	.state_size = sizeof(struct counters_opts),
	.record = counters_record,
	.run = counters_run,
};
