/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state: every queue pair, and what state it is in. */
#include <errno.h>
#include <string.h>

#include "analyse/qp-counters.h"
#include "analyse/qp-verdict.h"
#include "base/no-rdma.h"
#include "base/number.h"
#include "cmd/answer.h"
#include "cmd/meanings.h"
#include "cmd/opts.h"
#include "cmd/ticks.h"
#include "collect/klog.h"
#include "collect/nldev.h"
#include "collect/qp-evidence.h"
#include "qp.h"
#include "report/report-qp.h"

static int take_by(const char *arg, struct qp_opts *opts, struct rd_err *err)
{
	for (int by = 0; by < RD_BYS; by++)
		if (strcmp(arg, rd_qp_by_name(by)) == 0) {
			opts->by = by;
			opts->grouped = true;
			return 0;
		}
	rd_err_set(err, EINVAL, "--by", "\"%s\" is nothing to group by", arg);
	rd_err_hint(err, "state, pid, device, peer or job");
	return -EINVAL;
}

static int take_seconds(const char *option, const char *arg, double *ret, struct rd_err *err)
{
	if (rd_parse_real(arg, 0, RD_TICKS_MOST, ret) < 0 || *ret == 0)
		return rd_err_set(err, EINVAL, option, "\"%s\" is no number of seconds up to %g", arg, RD_TICKS_MOST);
	return 0;
}

/* What is asked of queue pairs, not of events, is looked at while the recorder runs. */
static bool looks_again(const struct qp_opts *opts)
{
	return opts->interval > 0 || opts->count || (opts->trace && (opts->ask.timeouts || opts->ask.links));
}

/* What does not go together. */
static int qp_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;

	if ((!opts->trace || looks_again(opts)) && (opts->duration > 0 || opts->events))
		return rd_err_set(err, EINVAL, opts->events ? "--events" : "--duration",
				  "is for the events of --trace alone; looks are ended by --count");
	if (opts->trace && !opts->live && !looks_again(opts) && (opts->grouped || opts->summary))
		return rd_err_set(err, EINVAL, "--trace",
				  "prints events as they come: --by and --summary go with --interval");
	if (opts->trace && ctx->globals.from)
		return rd_err_set(err, EINVAL, "--trace", "looks at this host as it runs: a bundle has nothing of it");
	if (rd_metrics_wanted(ctx) && (opts->trace || opts->live || opts->interval > 0 || opts->count))
		return rd_err_set(err, EINVAL, "--openmetrics, --textfile",
				  "are of one look: no --trace, -i, -c or --live");
	if (opts->live && ctx->globals.json)
		return rd_err_set(err, EINVAL, "--live", "is for people: leave out --json");
	return qp_ask_check(&opts->ask, argc, argv, err);
}

static int qp_option(struct rd_ctx *ctx, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct qp_opts *opts = ctx->state;
	const struct {
		const char *name;
		bool *flag;
	} flags[] = { { "summary", &opts->summary },
		      { "fail", &opts->fail },
		      { "trace", &opts->trace },
		      { "live", &opts->live } };
	int r;

	for (size_t i = 0; i < RD_ARRAY_SIZE(flags); i++)
		if (strcmp(opt->name, flags[i].name) == 0) {
			*flags[i].flag = true;
			return 0;
		}
	r = qp_ask_option(&opts->ask, opt->name, arg, err);
	if (r)
		return r < 0 ? r : 0;
	if (strcmp(opt->name, "by") == 0)
		return take_by(arg, opts, err);
	if (strcmp(opt->name, "interval") == 0)
		return rd_ticks_parse(arg, &opts->interval, err);
	if (strcmp(opt->name, "stuck") == 0)
		return take_seconds("--stuck", arg, &opts->stuck, err);
	if (strcmp(opt->name, "duration") == 0)
		return take_seconds("--duration", arg, &opts->duration, err);
	if (strcmp(opt->name, "count") == 0)
		return rd_opt_number("--count", arg, 1, RD_COUNT_MAX, &opts->count, err);
	if (strcmp(opt->name, "events") == 0)
		return rd_opt_number("--events", arg, 1, RD_COUNT_MAX, &opts->events, err);
	return rd_qp_filter_set(&opts->filter, opt->name, arg, err);
}

/* No devices: with --json an empty list says so, too; of a recording that holds no RDMA netlink, the empty table. */
static int no_devices(struct rd_ctx *ctx, struct qp_look *look, struct rd_err *err)
{
	if (!err->code) {
		rd_err_set(err, ENODEV, "RDMA netlink", RD_NO_RDMA_DEVICE " in this network namespace");
		rd_err_hint(err, "rdmadiag nic-map says which NICs there are; or load the driver of one");
	}
	if (!ctx->globals.json && !ctx->globals.from)
		return rd_fail(ctx, err);
	rd_errlist_add(&look->report.errors, err);
	qp_fill(ctx, look);
	look->report.status = RD_EXIT_UNKNOWN;
	rd_answer_print(ctx, &look->report);
	return ctx->globals.json || rd_out_failure() ? RD_EXIT_UNKNOWN : rd_fail(ctx, err);
}

static int qp_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct qp_history history = { 0 };
	struct qp_opts *opts = ctx->state;
	struct rd_err err = { 0 };
	struct qp_look look;
	int r;

	if (opts->stuck <= 0)
		opts->stuck = RD_QP_STUCK_SECONDS;
	if (opts->ask.join)
		return qp_join(ctx, argc, argv);
	if (opts->ask.given)
		return qp_show_timeouts(ctx, &opts->ask);
	if (opts->live)
		return qp_live(ctx);
	if (looks_again(opts))
		return qp_repeat(ctx);
	if (opts->trace)
		return qp_record_events(ctx);
	r = qp_load(ctx, ctx->source, &history, &look, &err);
	qp_say_errors(ctx, &look);
	if (r < 0 || look.res.n_devs == 0) {
		r = no_devices(ctx, &look, &err);
	} else {
		qp_fill(ctx, &look);
		r = qp_show(ctx, &look);
	}
	qp_look_deinit(&look);
	qp_history_deinit(&history);
	return r;
}

/* What a history counts. */
static void record_counts(struct rd_source *source, const struct rd_res *res)
{
	_cleanup_(rd_qp_counters_deinit) struct rd_qp_counters counters = { 0 };
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	struct rd_qp_counts counts;
	struct rd_err err = { 0 };

	rd_read_meanings(&meanings, NULL, &err);
	rd_qp_counters_find(&meanings, &counters);
	for (size_t d = 0; d < res->n_devs; d++)
		rd_collect_qp_counts(source, res->devs[d].name, res->devs[d].n_ports, &counters, &counts);
}

static int qp_record(struct rd_source *source, struct rd_err *err)
{
	struct rd_res res = { 0 };
	int r = rd_collect_res(source, RD_WANT_ALL, NULL, &res, NULL, err);
	struct rd_klog klog = { 0 };

	if (!r)
		record_counts(source, &res);
	if (!r)
		r = rd_collect_klog(source, &klog, NULL, err);
	rd_klog_deinit(&klog);
	rd_res_deinit(&res);
	return r;
}

static const struct rd_opt qp_options[] = {
	{ "device", 0, "IBDEV,...", "only of these RDMA devices", "ibdev" },
	{ "pid", 0, "PID,...", "only of these processes", "pid" },
	{ "comm", 0, "PATTERN", "only of processes (or parts of the kernel) of this name", NULL },
	{ "job", 0, "PATTERN", "only of this job (slurm:42 takes its steps, too)", NULL },
	{ "state", 0, "STATE,...", "only in these states; '!RTS' or ^RTS: all but",
	  "RESET|INIT|RTR|RTS|SQD|SQE|ERR|unknown" },
	{ "type", 0, "TYPE,...", "only of these types; likewise", "RC|UC|UD|GSI|SMI|RAW_PACKET|XRC_INI|XRC_TGT|DRIVER" },
	{ "lqpn", 0, "N,...", "only with these numbers", NULL },
	{ "rqpn", 0, "N,...", "only connected to these numbers", NULL },
	{ "peer", 0, "ADDRESS", "only connected to this GID or IP address", NULL },
	{ "by", 0, "WHAT", "count them by state, pid, device, peer or job", "state|pid|device|peer|job" },
	QP_ASK_OPTIONS,
	{ "summary", 0, NULL, "how many QPs, CQs, MRs … are in use, of how many, and who holds them", NULL },
	{ "stuck", 0, "SECONDS", "in INIT or RTR for longer is stuck (10)", NULL },
	{ "interval", 'i', "SECONDS", "look again every SECONDS: whether packets move, and since when a state is",
	  NULL },
	{ "count", 'c', "N", "end after N looks", NULL },
	{ "live", 'w', NULL, "the table on the whole screen, kept up to date, changes marked", NULL, RD_NEEDS_TERMINAL },
	{ "trace", 0, NULL,
	  "record every transition and event, as they happen; with -i, --live, --timeouts: beside the looks", NULL },
	{ "duration", 0, "SECONDS", "with --trace: stop after this time", NULL },
	{ "events", 0, "N", "with --trace: stop after this many events", NULL },
	{ "fail", 0, NULL, "exit 1 or 2 when there are warnings or worse", NULL },
	{ 0 },
};

const struct rd_cmd rd_cmd_qp_state = {
	.name = "qp-state",
	.summary = "every queue pair: its state, whose it is, who is at the other end",
	.operands = "[BUNDLE…]",
	.opts = qp_options,
	.description =
		"Lists the queue pairs that the kernel keeps account of, over RDMA netlink: device, number, type, state, the\n"
		"number at the other end, process, job, and the peer's address where a connection names it. No privilege is\n"
		"needed. A device that cannot be asked about one queue pair does not hide the others.\n",
	.examples = "  rdmadiag qp-state\n"
		    "  rdmadiag qp-state --state '!RTS' --type RC\n"
		    "  rdmadiag qp-state --by peer\n"
		    "  rdmadiag qp-state --summary\n"
		    "  rdmadiag qp-state -i 1 -c 2 --state RTS     do packets move?\n"
		    "  rdmadiag qp-state --trace --json\n"
		    "  rdmadiag --from host17.tar.zst qp-state --job slurm:4711 --json\n",
	.metrics = true,
	.columns = rd_qp_columns,
	.n_columns = RD_QP_COLUMNS,
	.state_size = sizeof(struct qp_opts),
	.option = qp_option,
	.check = qp_check,
	.record = qp_record,
	.run = qp_run,
};
