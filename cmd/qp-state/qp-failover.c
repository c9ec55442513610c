/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state --failover: what processes would fail over with; with -i: what happens when a NIC fails, as it happens. */
#include "analyse/qp/qp-failover.h"

#include <errno.h>
#include <string.h>

#include "analyse/nicmap/nicmap.h"
#include "cmd/cmd.h"
#include "collect/host/host.h"
#include "qp.h"
#include "report/qp/report-qp.h"
#include "report/shared/finding.h"

struct over {
	struct qp_history history;
	struct rd_failover *failover;
	struct rd_host host;
	struct rd_nicmap map;
	size_t errors; /* of the previous sample */
};

static void print_event(const struct rd_ctx *ctx, const struct rd_failover_event *event, uint64_t realtime_ns)
{
	struct rd_section *section = rd_report_failover_event(event, realtime_ns);
	_cleanup_buf_ struct rd_buf out = { 0 };
	char when[RD_CLOCK_SIZE];

	if (ctx->globals.json) {
		rd_render_json_row(section, 0, &out);
	} else {
		rd_buf_printf(&out, "%s  %-9s  ", rd_clock(realtime_ns, when),
			      rd_section_row(section, 0)->cells[RD_FAILOVER_EVENT].s);
		rd_buf_safe(&out, event->text, strlen(event->text));
		rd_buf_str(&out, "\n");
	}
	rd_section_destroy(section);
	rd_out(&out); /* main reports a failed write */
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
	struct qp_sample sample;
	struct rd_err err = { 0 };
	int r = qp_load(ctx, ctx->source, &over->history, &sample, &err);
	const struct rd_failover_sample of = { &sample.views, over->history.gbps, &over->host, &over->map,
					       over->history.sample_ns };
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
		for (size_t i = 0; i < n; i++)
			print_event(ctx, &events[i], sample.report.time);
	}
	qp_sample_deinit(&sample);
	return r;
}

int qp_failover(struct rd_ctx *ctx)
{
	struct qp_opts *opts = ctx->state;
	bool watch = rd_repeat_wanted(&opts->repeat);
	struct over over = { .history = { .repeated = watch, .wants_gbps = watch }, .failover = rd_failover_create() };
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
