/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state: every queue pair, and what state it is in. */
#include <errno.h>
#include <string.h>

#include "analyse/qp/qp-counters.h"
#include "analyse/qp/qp-verdict.h"
#include "base/no-rdma.h"
#include "cmd/answer.h"
#include "cmd/meanings.h"
#include "collect/kernel/klog.h"
#include "collect/rdma/nldev.h"
#include "collect/rdma/qp-evidence.h"
#include "qp.h"
#include "report/qp/report-qp.h"

#define LINKS_MAX 1024

static int take_by(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct qp_opts *opts = state;
	int by = rd_opt_word(opt, arg, err); /* the row has them in the order of enum rd_qp_by */

	if (by < 0)
		return by;
	opts->by = by;
	opts->grouped = true;
	return 0;
}

static int take_filter(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct qp_opts *opts = state;

	return rd_qp_filter_set(&opts->filter, opt->name, arg, err);
}

/* What is asked of queue pairs, not of events, is looked at while the recorder runs. */
static bool looks_again(const struct qp_opts *opts)
{
	return rd_repeat_wanted(&opts->repeat) || (opts->trace && (opts->ask.timeouts || opts->ask.links));
}

static int qp_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;

	if (opts->ask.join && argc < 1)
		return rd_err_set(err, EINVAL, "--join", "needs bundles, of two hosts or more");
	if (qp_ask_given(&opts->ask) && argc > 0)
		return rd_err_set(err, EINVAL, argv[0], "values of the command line are of no device");
	return 0;
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
	_cleanup_free_ char *devices = NULL;
	struct rd_err err = { 0 };
	struct qp_look look;
	int r;

	if (opts->stuck <= 0)
		opts->stuck = RD_QP_STUCK_SECONDS;
	if (opts->ask.join)
		return qp_join(ctx, argc, argv);
	opts->filter.devices = devices = rd_devices(opts->filter.devices, argv);
	if (qp_ask_given(&opts->ask))
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
	{ "device", 0, "IBDEV,...", "only of these RDMA devices, as operands", "ibdev", RD_TAKES(take_filter) },
	{ "pid", 0, "PID,...", "only of these processes", "pid", RD_TAKES(take_filter) },
	{ "comm", 0, "PATTERN", "only of processes (or parts of the kernel) of this name", RD_TAKES(take_filter) },
	{ "job", 0, "PATTERN", "only of this job (slurm:42 takes its steps, too)", RD_TAKES(take_filter) },
	{ "state", 0, "STATE,...", "only in these states; '!RTS' or ^RTS: all but",
	  "RESET|INIT|RTR|RTS|SQD|SQE|ERR|unknown", RD_TAKES(take_filter) },
	{ "type", 0, "TYPE,...", "only of these types; likewise", "RC|UC|UD|GSI|SMI|RAW_PACKET|XRC_INI|XRC_TGT|DRIVER",
	  RD_TAKES(take_filter) },
	{ "lqpn", 0, "N,...", "only with these numbers", RD_TAKES(take_filter) },
	{ "rqpn", 0, "N,...", "only connected to these numbers", RD_TAKES(take_filter) },
	{ "peer", 0, "ADDRESS", "only connected to this GID or IP address", RD_TAKES(take_filter) },
	{ "by", 0, "WHAT", "count them by state, pid, device, peer or job", "state|pid|device|peer|job",
	  RD_TAKES(take_by) },
	{ "timeouts", 0, NULL, "how long until it gives up: of what a recorder saw, or of the values given",
	  RD_FLAG(qp_opts, ask.timeouts) },
	{ "timeout", 0, "T", "with --timeouts: local ACK timeout, 0 to 31 (4.096 us x 2^T)",
	  RD_NUMBER_FIELD(qp_opts, ask.values.timeout, 0, 31) },
	{ "retry", 0, "R", "with --timeouts: retry_cnt, 0 to 7 (default 7)",
	  RD_NUMBER_FIELD(qp_opts, ask.values.retry_cnt, 0, 7) },
	{ "rnr-retry", 0, "N", "with --timeouts: rnr_retry, 0 to 7; 7 is for ever",
	  RD_NUMBER_FIELD(qp_opts, ask.values.rnr_retry, 0, 7) },
	{ "min-rnr-timer", 0, "M", "with --timeouts: min_rnr_timer of the receiver, 0 to 31",
	  RD_NUMBER_FIELD(qp_opts, ask.values.min_rnr_timer, 0, 31) },
	{ "join", 0, NULL, "match the queue pairs of the bundles that follow with each other", NULL,
	  RD_NEEDS_FOREIGN_OPERANDS, RD_FLAG(qp_opts, ask.join) },
	{ "entropy", 0, "N", "how evenly RoCE v2 flows would be spread over N equal-cost links",
	  RD_NUMBER(qp_opts, ask.links, 2, LINKS_MAX) },
	{ "summary", 0, NULL, "how many QPs, CQs, MRs … are in use, of how many, and who holds them",
	  RD_FLAG(qp_opts, summary) },
	{ "stuck", 0, "SECONDS", "in INIT or RTR for longer is stuck (10)",
	  RD_SECONDS(qp_opts, stuck, RD_ABOVE_0, RD_TICKS_MOST) },
	{ "interval", 'i', "SECONDS", "look again every SECONDS: whether packets move, and since when a state is",
	  RD_SECONDS(qp_opts, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "count", 'c', "N", "end after N looks", RD_NUMBER(qp_opts, repeat.count, 1, RD_COUNT_MAX) },
	{ "live", 'w', NULL, "the table on the whole screen, kept up to date, changes marked", NULL, RD_NEEDS_TERMINAL,
	  RD_FLAG(qp_opts, live) },
	{ "trace", 0, NULL,
	  "record every transition and event, as they happen; with -i, --live, --timeouts: beside the looks",
	  RD_FLAG(qp_opts, trace) },
	{ "duration", 0, "SECONDS", "with --trace: stop after this time",
	  RD_SECONDS(qp_opts, duration, RD_ABOVE_0, RD_TICKS_MOST) },
	{ "events", 0, "N", "with --trace: stop after this many events", RD_NUMBER(qp_opts, events, 1, RD_COUNT_MAX) },
	{ "fail", 0, NULL, "exit 1 or 2 when there are warnings or worse", RD_FLAG(qp_opts, fail) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_REQUIRES, "duration events", "trace" },
	{ RD_EXCLUDES, "duration events", "interval count timeouts entropy", "looks are ended by --count" },
	{ RD_REQUIRES, "by summary", "live interval count timeouts entropy", "--trace alone prints events", "trace" },
	{ RD_EXCLUDES, "trace", "from", "it looks at this host as it runs, and a bundle has nothing of it" },
	{ RD_EXCLUDES, "openmetrics textfile", "trace live interval count", "they are of one look" },
	{ RD_EXCLUDES, "live", "json" },
	{ RD_REQUIRES, "timeout retry rnr-retry min-rnr-timer", "timeouts" },
	{ RD_ONE_OF, "timeouts join entropy" },
	{ 0 },
};

const struct rd_cmd rd_cmd_qp_state = {
	.name = "qp-state",
	.summary = "every queue pair: its state, whose it is, who is at the other end",
	.operands = "[DEVICE… | BUNDLE…]",
	.opts = qp_options,
	.rules = rules,
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
	.check = qp_check,
	.record = qp_record,
	.run = qp_run,
};
