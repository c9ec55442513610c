/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state: lists queue pairs and their states. */
#include <errno.h>
#include <string.h>

#include "analyse/qp/qp-procs.h"
#include "analyse/qp/qp-verdict.h"
#include "base/no-rdma.h"
#include "cmd/meanings.h"
#include "cmd/output.h"
#include "collect/kernel/klog.h"
#include "collect/net/netstate.h"
#include "collect/rdma/nldev.h"
#include "collect/rdma/procs.h"
#include "collect/rdma/qp-ports.h"
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

/* Options about queue pairs, not events, need samples while the recorder runs. */
static bool is_repeated(const struct qp_opts *opts)
{
	return rd_repeat_wanted(&opts->repeat) || (opts->trace && (opts->ask.timeouts || opts->ask.links));
}

static int qp_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;

	if (opts->ask.join && argc < 1)
		return rd_err_set(err, EINVAL, "--join", "requires bundles of two or more hosts");
	if (qp_ask_given(&opts->ask) && argc > 0)
		return rd_err_set(err, EINVAL, argv[0],
				  "timeout values given as options cannot be combined with devices");
	return 0;
}

/* No devices: prints an error, with --json also an empty document; of a bundle without RDMA netlink an empty table. */
static int report_no_devices(struct rd_ctx *ctx, struct qp_sample *sample, struct rd_err *err)
{
	if (err->code == ENOENT && strcmp(err->message, RD_NO_RDMA_STACK) == 0) {
		rd_no_rdma(ctx, ENOENT, err);
	} else if (!err->code) {
		rd_err_set(err, ENODEV, "RDMA netlink", RD_NO_RDMA_DEVICE " in this network namespace");
		rd_err_hint(err, "run rdmadiag nic-map to list NICs; load the driver of a NIC");
	}
	if (!ctx->globals.json && !ctx->globals.from)
		return rd_fail(ctx, err);
	rd_errlist_add(&sample->report.errors, err);
	qp_fill(ctx, sample);
	sample->report.status = RD_EXIT_UNKNOWN;
	rd_output_print(ctx, &sample->report);
	return ctx->globals.json || rd_out_failure() ? RD_EXIT_UNKNOWN : rd_fail(ctx, err);
}

static int qp_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct qp_history history = { 0 };
	struct qp_opts *opts = ctx->state;
	_cleanup_free_ char *devices = NULL;
	struct rd_err err = { 0 };
	struct qp_sample sample;
	int r;

	if (opts->stuck <= 0)
		opts->stuck = RD_QP_STUCK_SECONDS;
	if (opts->ask.join)
		return qp_join(ctx, argc, argv);
	if (rd_devices(ctx, opts->filter.devices, argv, true, &devices, &err) < 0)
		return rd_fail_usage(ctx->cmd, &err);
	opts->filter.devices = devices;
	if (qp_ask_given(&opts->ask))
		return qp_show_timeouts(ctx, &opts->ask);
	if (opts->live)
		return qp_live(ctx);
	if (opts->failover)
		return qp_failover(ctx);
	if (is_repeated(opts))
		return qp_repeat(ctx);
	if (opts->trace)
		return qp_record_events(ctx);
	r = qp_load(ctx, ctx->source, &history, &sample, &err);
	qp_warn_errors(ctx, &sample);
	if (r < 0 || sample.res.n_devs == 0) {
		r = report_no_devices(ctx, &sample, &err);
	} else {
		qp_fill(ctx, &sample);
		r = qp_show(ctx, &sample);
	}
	qp_sample_deinit(&sample);
	qp_history_deinit(&history);
	return r;
}

/* Reads the counters that qp_history reads. */
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

/* Reads the TCP connections of all processes whose queue pairs may have unknown peers, whether processes are stopped, and when those
 * with failed queue pairs started. */
static void record_procs(struct rd_source *source, struct rd_res *res)
{
	_cleanup_free_ size_t *qps = rd_alloc(res->n_procs + 1, sizeof(*qps));
	_cleanup_free_ bool *may_stop = rd_alloc(res->n_procs + 1, sizeof(*may_stop));
	struct rd_qp_views views;

	rd_qp_views_init(&views, res);
	rd_qp_count_unknown_peers(&views, NULL, qps);
	rd_qp_procs_that_may_stop(&views, 0, may_stop);
	rd_qp_views_deinit(&views);
	for (size_t i = 0; i < res->n_procs; i++) {
		if (qps[i])
			rd_collect_proc_peers(source, &res->procs[i]);
		if (may_stop[i])
			rd_collect_proc_state(source, &res->procs[i]);
	}
	rd_collect_failed_starts(source, res);
}

/* Reads what qp_history reads of ports and neighbours. */
static void record_surroundings(struct rd_source *source, const struct rd_res *res)
{
	const struct rd_sysfs fs = { .src = source };
	struct rd_qp_ports ports = { 0 };
	struct rd_netstate net = { 0 };

	rd_collect_neighs(&fs, &net);
	rd_collect_qp_ports(source, res, true, &ports);
	rd_collect_qp_rates(source, res, &ports);
	rd_qp_ports_deinit(&ports);
	rd_netstate_deinit(&net);
}

static int qp_record(struct rd_source *source, struct rd_err *err)
{
	struct rd_res res = { 0 };
	int r = rd_collect_res(source, RD_WANT_ALL, NULL, &res, NULL, err);
	struct rd_klog klog = { 0 };

	if (!r) {
		record_counts(source, &res);
		record_surroundings(source, &res);
		record_procs(source, &res);
		qp_read_libraries(source, &res);
		rd_collect_klog(source, &klog, NULL);
	}
	rd_klog_deinit(&klog);
	rd_res_deinit(&res);
	return r;
}

static const struct rd_opt qp_options[] = {
	{ "pid", 'p', "PID,...", "list only queue pairs of these processes", "pid", RD_TAKES(take_filter) },
	{ "device", 0, "IBDEV,...", "list only queue pairs of these RDMA devices, as with operands", "ibdev",
	  RD_TAKES(take_filter) },
	{ "state", 0, "STATE,...", "list only queue pairs in these states; '!RTS' or ^RTS excludes a state",
	  "RESET|INIT|RTR|RTS|SQD|SQE|ERR|unknown", RD_TAKES(take_filter) },
	{ "job", 0, "PATTERN", "list only queue pairs of this job (slurm:42 includes its steps)",
	  RD_TAKES(take_filter) },
	{ "peer", 0, "ADDRESS", "list only queue pairs connected to this GID or IP address", RD_TAKES(take_filter) },
	{ "by", 0, "WHAT", "count queue pairs by state, pid, device, peer or job", "state|pid|device|peer|job",
	  RD_TAKES(take_by) },
	{ "join", 0, NULL, "match the queue pairs of the given bundles with each other", NULL,
	  RD_NEEDS_FOREIGN_OPERANDS, RD_FLAG(qp_opts, ask.join) },
	{ "interval", 'i', "SECONDS", "repeat every SECONDS; shows packet rates and times in state",
	  RD_SECONDS(qp_opts, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "live", 'w', NULL, "show a full-screen table, keep it up to date, mark changes", NULL, RD_NEEDS_TERMINAL,
	  RD_FLAG(qp_opts, live) },
	{ "trace", 0, NULL, "record transitions and events as they happen; with -i, --live, --timeouts: between samples",
	  RD_FLAG(qp_opts, trace) },
	{ "comm", 0, "PATTERN", "list only queue pairs of processes (or kernel components) with this name",
	  RD_TAKES(take_filter) },
	{ "type", 0, "TYPE,...", "list only queue pairs of these types; '!RC' or ^RC excludes a type",
	  "RC|UC|UD|GSI|SMI|RAW_PACKET|XRC_INI|XRC_TGT|DRIVER", RD_TAKES(take_filter) },
	{ "lqpn", 0, "N,...", "list only queue pairs with these numbers", "qpn", RD_NEEDS_NOTHING,
	  RD_TAKES(take_filter) },
	{ "rqpn", 0, "N,...", "list only queue pairs connected to these remote QP numbers", RD_TAKES(take_filter) },
	{ "timeouts", 0, NULL,
	  "show time until the retry count is exceeded: of running queue pairs, or for given values",
	  RD_FLAG(qp_opts, ask.timeouts) },
	{ "timeout", 0, "T", "with --timeouts: local ACK timeout, 0 to 31 (4.096 us x 2^T)",
	  RD_NUMBER_FIELD(qp_opts, ask.values.timeout, 0, 31) },
	{ "retry", 0, "R", "with --timeouts: retry_cnt, 0 to 7 (default 7)",
	  RD_NUMBER_FIELD(qp_opts, ask.values.retry_cnt, 0, 7) },
	{ "rnr-retry", 0, "N", "with --timeouts: rnr_retry, 0 to 7 (7: forever)",
	  RD_NUMBER_FIELD(qp_opts, ask.values.rnr_retry, 0, 7) },
	{ "min-rnr-timer", 0, "M", "with --timeouts: min_rnr_timer of the receiver, 0 to 31",
	  RD_NUMBER_FIELD(qp_opts, ask.values.min_rnr_timer, 0, 31) },
	{ "entropy", 0, "N", "estimate the spread of RoCE v2 flows over N equal-cost links",
	  RD_NUMBER(qp_opts, ask.links, 2, LINKS_MAX) },
	{ "failover", 0, NULL, "show what processes fail over with; with -i: events when a NIC fails",
	  RD_FLAG(qp_opts, failover) },
	{ "summary", 0, NULL, "show QPs, CQs, MRs ... in use, their limits, and their owners",
	  RD_FLAG(qp_opts, summary) },
	{ "stuck", 0, "SECONDS", "treat queue pairs in INIT or RTR for SECONDS as stuck (default 10)",
	  RD_SECONDS(qp_opts, stuck, RD_ABOVE_0, RD_TICKS_MOST) },
	{ "count", 'c', "N", "stop after N samples", RD_NUMBER(qp_opts, repeat.count, 1, RD_COUNT_MAX) },
	{ "duration", 0, "SECONDS", "with --trace: stop after SECONDS",
	  RD_SECONDS(qp_opts, duration, RD_ABOVE_0, RD_TICKS_MOST) },
	{ "events", 0, "N", "with --trace: stop after N events", RD_NUMBER(qp_opts, events, 1, RD_COUNT_MAX) },
	{ "no-probe", 0, NULL, "attach nothing to the kernel: peers and timers only from other sources",
	  RD_FLAG(qp_opts, no_probe) },
	{ "fail", 0, NULL, "exit 1 on warnings, 2 on critical findings", RD_FLAG(qp_opts, fail) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_REQUIRES, "duration events", "trace" },
	{ RD_EXCLUDES, "duration events", "interval count timeouts entropy",
	  "use --count to limit the number of samples" },
	{ RD_REQUIRES, "by summary", "live interval count timeouts entropy",
	  "without --interval or --live, --trace only prints events", "trace" },
	{ RD_EXCLUDES, "trace", "from", "--trace records events of this host, and bundles contain none" },
	{ RD_EXCLUDES, "openmetrics textfile", "trace live interval count", "metrics describe a single sample" },
	{ RD_EXCLUDES, "live", "json" },
	{ RD_REQUIRES, "timeout retry rnr-retry min-rnr-timer", "timeouts" },
	{ RD_ONE_OF, "timeouts join entropy failover" },
	{ RD_EXCLUDES, "failover", "by summary live trace fail openmetrics textfile columns raw noheadings" },
	{ 0 },
};

const struct rd_cmd rd_cmd_qp_state = {
	.name = "qp-state",
	.summary = "list queue pairs with their state, process and remote QP",
	.question = "A job hangs",
	.operands = "[DEVICE... | BUNDLE...]",
	.opts = qp_options,
	.rules = rules,
	.description =
		"Lists the queue pairs that the kernel tracks, through RDMA netlink: device, number, type, state, remote QP\n"
		"number, process, job, peer. Needs no privilege, except for the peer and the timers of queue pairs without a\n"
		"recorder or an rdma_cm connection: as root, it looks at what drivers tell the kernel for that list (two kprobes,\n"
		"for a moment). A queue pair whose query fails does not hide the others.\n",
	.examples = "  rdmadiag qp-state\n"
		    "  rdmadiag qp-state --state '!RTS' --type RC\n"
		    "  rdmadiag qp-state --by peer\n"
		    "  rdmadiag qp-state --summary\n"
		    "  rdmadiag qp-state -i 1 -c 2 --state RTS     do packets flow?\n"
		    "  rdmadiag qp-state --failover -i 1           what happens when a NIC fails\n"
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
