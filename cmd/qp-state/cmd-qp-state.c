/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state: lists queue pairs and their states, once or repeatedly; what processes fail over with; its options. */
#include <inttypes.h>

#include "analyse/nicmap/nicmap.h"
#include "analyse/qp/qp-failover.h"
#include "cmd/trace-errno/qp-recorder.h"
#include "collect/host/host.h"
#include "collect/net/netstate.h"
#include "qp.h"
#include "report/qp/report-qp.h"

#define RETRY_DEFAULT 7
#define ROUTES_MAX 4096 /* looked up */

static bool has_values(const struct qp_ask *ask)
{
	const struct rd_timeouts *values = &ask->values;

	return values->timeout.known == RD_OK || values->retry_cnt.known == RD_OK || values->rnr_retry.known == RD_OK ||
	       values->min_rnr_timer.known == RD_OK;
}

static void fill_timeouts(struct qp_sample *sample)
{
	struct rd_section *section = rd_timeouts_section();

	for (size_t i = 0; i < sample->res.n_qps; i++) {
		struct rd_timeouts values = rd_qp_timeouts(&sample->views, i);
		struct rd_giveup giveup = rd_qp_giveup(values);

		if (sample->chosen[i] && values.timeout.known == RD_OK)
			rd_timeouts_add(section, &sample->views, i, &values, &giveup);
	}
	sample->incomplete |= rd_qp_timeout_findings(&sample->views, sample->chosen, &sample->findings);
	rd_report_add(&sample->report, section);
}

static void fill_report(const struct rd_ctx *ctx, struct qp_sample *sample)
{
	const struct qp_opts *opts = ctx->state;
	struct rd_qp_groups groups;
	struct rd_res_holders holders;
	struct rd_spreads spreads;

	rd_report_qps(&sample->report, &sample->views, sample->chosen);
	rd_report_qp_summary(&sample->report, &sample->res);
	if (opts->summary) {
		rd_res_count_holders(&sample->res, &holders);
		rd_report_qp_processes(&sample->report, &sample->res, &holders);
		free(holders.v);
	}
	if (opts->grouped) {
		rd_qp_group_by(&sample->views, sample->chosen, opts->by, &groups);
		rd_report_qp_groups(&sample->report, &sample->res, &groups);
		if (opts->by == RD_BY_PEER) {
			rd_qp_groups_findings(&sample->res, &groups, &sample->findings);
			rd_qp_proc_peers_findings(&sample->views, sample->chosen, &sample->findings);
		}
		rd_qp_groups_deinit(&groups);
	}
	if (rd_metrics_wanted(ctx) && sample->chosen)
		rd_report_qp_metrics(&sample->report, &sample->res, sample->chosen);
	if (opts->ask.timeouts)
		fill_timeouts(sample);
	if (opts->ask.links) {
		rd_qp_spread(&sample->views, sample->chosen, opts->ask.links, &spreads);
		rd_report_spreads(&sample->report, &sample->views, &spreads);
		rd_qp_spread_findings(&sample->res, &spreads, &sample->findings);
		rd_spreads_deinit(&spreads);
	}
	rd_report_add_findings(&sample->report, &sample->findings);
	if (opts->fail)
		sample->report.status = rd_report_judge(&sample->report);
	if (sample->incomplete && sample->report.status < RD_EXIT_UNKNOWN)
		sample->report.status = RD_EXIT_UNKNOWN;
}

const char *qp_group_columns(enum rd_qp_by by)
{
#define STATES "qps,reset,init,rtr,rts,sqd,sqe,err,unknown,stuck"
	return by == RD_BY_PID	 ? "group,comm,job," STATES :
	       by == RD_BY_PEER	 ? "ibdev,group,health," STATES ",retrying" :
	       by == RD_BY_STATE ? "group,qps,stuck" :
				   "group," STATES;
#undef STATES
}

void qp_warn_errors(const struct rd_ctx *ctx, const struct qp_sample *sample)
{
	if (!ctx->globals.json)
		rd_warn_errors(ctx, &sample->report.errors, 0);
}

/* An empty table says nothing about why it is empty. */
static void note_processes_without(const struct rd_qp_filter *filter, struct qp_sample *sample)
{
	for (size_t i = 0; i < filter->pids.n; i++) {
		size_t k = 0;

		while (k < sample->res.n_qps && (sample->res.qps[k].owner.pid.known != RD_OK ||
						 sample->res.qps[k].owner.pid.v != filter->pids.v[i]))
			k++;
		if (k == sample->res.n_qps)
			rd_report_note(&sample->report,
				       "process %u has no queue pair that the kernel lists; why: " RD_PROGRAM " job %u",
				       filter->pids.v[i], filter->pids.v[i]);
	}
}

static int show_report(struct rd_ctx *ctx, struct qp_sample *sample)
{
	const struct qp_opts *opts = ctx->state;
	const struct rd_section *sections[2] = { rd_report_section(&sample->report, "qps") };
	size_t n = 1;

	if (ctx->globals.json || rd_metrics_wanted(ctx))
		return rd_output_print(ctx, &sample->report);
	note_processes_without(&opts->filter, sample);
	if (opts->grouped) {
		sections[0] = rd_report_section(&sample->report, "groups");
		if (!ctx->globals.style.columns)
			ctx->globals.style.columns = qp_group_columns(opts->by);
	}
	if (opts->ask.timeouts)
		sections[0] = rd_report_section(&sample->report, "timeouts");
	if (opts->ask.links) {
		sections[0] = rd_report_section(&sample->report, "entropy");
		if (!ctx->globals.style.raw && !ctx->globals.style.columns)
			sections[n++] = rd_report_section(&sample->report, "flows");
	}
	if (opts->summary) {
		sections[0] = rd_report_section(&sample->report, "summary");
		if (!ctx->globals.style.raw && !ctx->globals.style.columns)
			sections[n++] = rd_report_section(&sample->report, "processes");
	}
	return rd_output_tables(ctx, &sample->report, sections, n);
}

struct repeated {
	struct qp_recorder recorder; /* with --trace */
	struct qp_history history;
	size_t errors; /* number of errors of the previous sample */
};

/* Called ten times a second, so that the ring buffer does not overflow between two samples. An error here recurs, and is reported,
 * when the ring buffer is drained for the sample. */
static bool drain(void *arg, unsigned ms)
{
	struct repeated *repeated = arg;
	struct rd_err err = { 0 };

	if (repeated->recorder.session)
		qp_recorder_drain(&repeated->recorder, &err);
	return false;
}

static int print_sample(struct rd_ctx *ctx, void *arg)
{
	const struct qp_opts *opts = ctx->state;
	struct repeated *repeated = arg;
	_cleanup_(qp_sample_deinit) struct qp_sample sample = { 0 };
	struct rd_err err = { 0 };
	/* Recorded events are older than the sample. */
	int r = repeated->recorder.session ? qp_recorder_drain(&repeated->recorder, &err) : 0;

	if (r >= 0)
		r = qp_load(ctx, ctx->source, &repeated->history, &sample, &err);
	if (r >= 0 && repeated->recorder.session)
		qp_recorder_report_lost(&repeated->recorder, &sample.report.errors);
	/* Do not repeat the errors of the previous sample. */
	if (sample.report.errors.n != repeated->errors)
		qp_warn_errors(ctx, &sample);
	repeated->errors = sample.report.errors.n;
	if (r < 0) {
		rd_fail(ctx, &err);
		return r;
	}
	rd_repeat_head(ctx, &opts->repeat, sample.report.time);
	fill_report(ctx, &sample);
	return show_report(ctx, &sample);
}

static int repeat_samples(struct rd_ctx *ctx)
{
	struct qp_opts *opts = ctx->state;
	struct repeated repeated = { .recorder = { .ctx = ctx } };
	struct rd_err err = { 0 };
	int r;

	if (opts->repeat.seconds <= 0)
		opts->repeat.seconds = 1;
	opts->repeat.meanwhile = drain;
	/* Tables of other things have other columns. */
	if (!ctx->globals.style.columns && !opts->grouped && !opts->summary && !opts->ask.timeouts && !opts->ask.links)
		ctx->globals.style.columns = "+state_seconds,verdict,psn_per_second";
	if (opts->trace && qp_recorder_start(&repeated.recorder, &err) < 0) {
		r = rd_fail(ctx, &err);
	} else {
		repeated.history = (struct qp_history){ .repeated = true,
							.track = repeated.recorder.track,
							.recorded = repeated.recorder.session };
		r = rd_repeat(ctx, &opts->repeat, opts->repeat.seconds, print_sample, &repeated);
	}
	qp_history_deinit(&repeated.history);
	qp_recorder_deinit(&repeated.recorder);
	return r;
}

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

static int qp_check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;

	if (opts->ask.join && argc < 1)
		return rd_err_set(err, EINVAL, "--join", "requires bundles of two or more hosts");
	if (has_values(&opts->ask) && argc > 0)
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
	fill_report(ctx, sample);
	sample->report.status = RD_EXIT_UNKNOWN;
	rd_output_print(ctx, &sample->report);
	return ctx->globals.json || rd_out_failure() ? RD_EXIT_UNKNOWN : rd_fail(ctx, err);
}

struct over {
	struct qp_history history;
	struct rd_failover *failover;
	struct rd_host host;
	struct rd_nicmap map;
	size_t errors; /* of the previous sample */
	struct rd_source *source;
	unsigned routes; /* looked up */
};

/* Without a peer of this host, to which no route leads out. */
static int find_route(void *arg, const struct rd_gid *own, const uint8_t peer[16])
{
	struct over *over = arg;
	const struct rd_sysfs fs = { .src = over->source };
	struct rd_route_query query = { .v6 = !rd_gid_is_v4(own), .has_src = true, .exact = true };
	int netdev = rd_host_find_netdev(&over->host, own->netdev), code;
	size_t skip = query.v6 ? 0 : 12;
	struct rd_route route;

	for (size_t p = 0; p < over->host.n_ports; p++)
		for (size_t g = 0; g < over->host.ports[p].n_gids; g++)
			if (memcmp(over->host.ports[p].gids[g].raw, peer, 16) == 0)
				return -1;
	if (netdev < 0 || rd_is_v4_gid(peer) == query.v6 || over->routes++ >= ROUTES_MAX)
		return -1;
	memcpy(query.src, own->raw + skip, 16 - skip);
	memcpy(query.dst, peer + skip, 16 - skip);
	query.ifindex = over->host.netdevs[netdev].ifindex;
	rd_collect_route(&fs, &query, &route, &code);
	return code == ENETUNREACH || code == EHOSTUNREACH ? 0 : code == 0 ? 1 : -1;
}

static char *read_environ(void *arg, uint32_t pid, size_t *size)
{
	struct rd_bytes bytes = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/environ", pid);
	rd_read_file(((struct over *)arg)->source, path, &bytes, NULL);
	*size = bytes.size;
	return (char *)bytes.data;
}

/* `err`: what prevents a verdict. */
static int print_report(struct rd_ctx *ctx, struct rd_report *report, const struct rd_err *err)
{
	const struct rd_section *section = rd_report_section(report, "paths");

	report->status = rd_report_judge(report);
	if (err->code)
		rd_errlist_add(&report->errors, err);
	if (err->code || (!report->status && rd_findings_count(&report->findings, RD_SEV_UNKNOWN)))
		report->status = RD_EXIT_UNKNOWN;
	if (ctx->globals.json)
		return rd_output_print(ctx, report);
	return err->code ? rd_fail(ctx, err) : rd_output_tables(ctx, report, &section, section != NULL);
}

static int take_sample(struct rd_ctx *ctx, void *arg)
{
	struct over *over = arg;
	struct rd_failover_paths paths = { 0 };
	_cleanup_(qp_sample_deinit) struct qp_sample sample = { 0 };
	struct rd_err err = { 0 };
	int r = qp_load(ctx, ctx->source, &over->history, &sample, &err);
	const struct rd_failover_sample of = { &sample.views,		over->history.gbps, &over->host,  &over->map,
					       over->history.sample_ns, find_route,	    read_environ, over };
	const struct rd_failover_event *events;
	size_t n = 0;

	/* Do not repeat the errors of the previous sample. */
	if (sample.report.errors.n != over->errors)
		qp_warn_errors(ctx, &sample);
	over->errors = sample.report.errors.n;
	if (!over->history.repeated) {
		if (r == 0)
			rd_failover_before(&of, sample.chosen, &paths, &sample.report.findings);
		rd_report_failover(&sample.report, &sample.res, &paths);
		if (paths.n == 0 && !err.code)
			rd_err_set(&err, ENOENT, "queue pairs", "no process has a connected one that the kernel lists");
		r = print_report(ctx, &sample.report, &err);
		free(paths.v);
	} else if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		rd_verbose(ctx, "sample of %zu queue pairs", sample.res.n_qps);
		events = rd_failover_update(over->failover, &of, &n);
		for (size_t i = 0; i < n; i++) {
			struct rd_section *section = rd_report_failover_event(&events[i], sample.report.time);
			_cleanup_buf_ struct rd_buf out = { 0 };
			char when[RD_CLOCK_SIZE];

			if (ctx->globals.json) {
				rd_render_json_row(section, 0, &out);
			} else {
				rd_buf_printf(&out, "%s  %-9s  ", rd_clock(sample.report.time, when),
					      rd_section_row(section, 0)->cells[RD_FAILOVER_EVENT].s);
				rd_buf_safe(&out, events[i].text, strlen(events[i].text));
				rd_buf_str(&out, "\n");
			}
			rd_section_destroy(section);
			rd_out(&out); /* main reports a failed write */
		}
	}
	return r;
}

/* --failover: what processes would fail over with; with -i: what happens when a NIC fails, as it happens. */
static int watch_failover(struct rd_ctx *ctx)
{
	struct qp_opts *opts = ctx->state;
	bool watch = rd_repeat_wanted(&opts->repeat);
	struct over over = { .history = { .repeated = watch, .wants_gbps = watch },
			     .failover = rd_failover_create(),
			     .source = ctx->source };
	struct rd_report report;
	struct rd_err err = { 0 };
	int r;

	/* Without what nic-map knows, backups are unknown. */
	if (rd_collect_host(ctx->source, 0, &over.host, NULL, &err) == 0 && rd_host_within_bounds(&over.host, &err) == 0)
		rd_nicmap_analyse(&over.host, NULL, 0, &over.map);
	ctx->schema = watch ? "rdmadiag/qp-state-failover-summary/1" : "rdmadiag/qp-state-failover/1";
	r = rd_repeat(ctx, &opts->repeat, 1, take_sample, &over);
	if (watch && !r) {
		rd_output_init(ctx, &report);
		rd_failover_findings(over.failover, &report.findings);
		r = print_report(ctx, &report, &(struct rd_err){ 0 });
		rd_report_deinit(&report);
	}
	rd_nicmap_deinit(&over.map);
	rd_host_deinit(&over.host);
	rd_failover_destroy(over.failover);
	qp_history_deinit(&over.history);
	return r;
}

static int qp_run(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(qp_history_deinit) struct qp_history history = { 0 };
	_cleanup_(qp_sample_deinit) struct qp_sample sample = { 0 };
	struct qp_opts *opts = ctx->state;
	_cleanup_free_ char *devices = NULL;
	struct rd_err err = { 0 };
	int r;

	if (opts->stuck <= 0)
		opts->stuck = RD_QP_STUCK_SECONDS;
	if (opts->ask.join)
		return qp_join(ctx, argc, argv);
	if (rd_devices(ctx, opts->filter.devices, argv, true, &devices, &err) < 0)
		return rd_fail_usage(ctx->cmd, &err);
	opts->filter.devices = devices;
	if (has_values(&opts->ask)) {
		struct rd_timeouts values = opts->ask.values;
		struct rd_section *section = rd_timeouts_section();
		_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
		struct rd_giveup giveup;

		if (values.timeout.known == RD_OK && values.retry_cnt.known != RD_OK)
			RD_SET(values.retry_cnt, RETRY_DEFAULT);
		giveup = rd_qp_giveup(values);
		if (!giveup.note && values.timeout.known == RD_OK && values.retry_cnt.v == RETRY_DEFAULT)
			giveup.note = "soft-RoCE (rxe) retries forever with retry_cnt 7";
		rd_output_init(ctx, &report);
		rd_timeouts_add(section, NULL, 0, &values, &giveup);
		rd_report_add(&report, section);
		return rd_output_print(ctx, &report);
	}
	if (opts->live)
		return qp_live(ctx);
	if (opts->failover)
		return watch_failover(ctx);
	/* Options about queue pairs, not events, need samples while the recorder runs. */
	if (rd_repeat_wanted(&opts->repeat) || (opts->trace && (opts->ask.timeouts || opts->ask.links)))
		return repeat_samples(ctx);
	if (opts->trace)
		return qp_record_events(ctx);
	r = qp_load(ctx, ctx->source, &history, &sample, &err);
	qp_warn_errors(ctx, &sample);
	if (r < 0 || sample.res.n_devs == 0)
		return report_no_devices(ctx, &sample, &err);
	fill_report(ctx, &sample);
	return show_report(ctx, &sample);
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
	{ RD_EXCLUDES, "trace", "live interval count timeouts entropy duration",
	  "a bundle has the events that a black box kept", "from" },
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
