/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state --failover: what processes would fail over with; with -i: what happens when a NIC fails, as it happens. */
#include "analyse/qp/qp-failover.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "analyse/nicmap/nicmap.h"
#include "cmd/output.h"
#include "collect/host/host.h"
#include "collect/rdma/qp-ports.h"
#include "qp.h"
#include "report/qp/report-qp.h"
#include "report/shared/finding.h"

struct over {
	struct qp_history history;
	struct rd_failover *failover;
	struct rd_host host;
	struct rd_nicmap map;
	size_t errors; /* of the previous sample */
	/* What each device transferred until then, by index in the kernel. */
	struct moved {
		uint32_t index;
		RD_FIELD(double) bytes;
	} * moved;
	size_t n_moved;
	uint64_t moved_ns; /* CLOCK_MONOTONIC */
};

static void over_deinit(struct over *over)
{
	rd_nicmap_deinit(&over->map);
	rd_host_deinit(&over->host);
	rd_failover_destroy(over->failover);
	qp_history_deinit(&over->history);
	free(over->moved);
}

/* Gbit/s of each device since the previous sample, both directions; -1: unknown. Caller frees. */
static double *read_rates(struct rd_source *source, struct over *over, const struct rd_res *res)
{
	double *ret = rd_alloc(res->n_devs + 1, sizeof(*ret)), bytes;
	struct moved *now = rd_alloc(res->n_devs + 1, sizeof(*now));
	uint64_t now_ns = source->ops->now(source, CLOCK_MONOTONIC);

	for (size_t d = 0; d < res->n_devs; d++) {
		now[d].index = res->devs[d].index;
		RD_SET(now[d].bytes, 0);
	}
	for (size_t i = 0; i < res->n_ports; i++) {
		struct moved *of = &now[res->ports[i].dev];

		if (rd_collect_port_bytes(source, res, &res->ports[i], &bytes))
			of->bytes.v += bytes;
		else
			of->bytes.known = RD_ABSENT;
	}
	for (size_t d = 0; d < res->n_devs; d++) {
		ret[d] = -1;
		for (size_t k = 0; k < over->n_moved; k++)
			if (over->moved[k].index == now[d].index && over->moved[k].bytes.known == RD_OK &&
			    now[d].bytes.known == RD_OK && now[d].bytes.v >= over->moved[k].bytes.v)
				ret[d] = (now[d].bytes.v - over->moved[k].bytes.v) * 8 /
					 (double)(now_ns - over->moved_ns);
	}
	free(over->moved);
	over->moved = now;
	over->n_moved = res->n_devs;
	over->moved_ns = now_ns;
	return ret;
}

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

static int watch_sample(struct rd_ctx *ctx, void *arg)
{
	struct over *over = arg;
	struct rd_failover_events events = { 0 };
	struct qp_sample sample;
	struct rd_err err = { 0 };
	int r = qp_load(ctx, ctx->source, &over->history, &sample, &err);

	/* Do not repeat the errors of the previous sample. */
	if (sample.report.errors.n != over->errors)
		qp_warn_errors(ctx, &sample);
	over->errors = sample.report.errors.n;
	rd_verbose(ctx, "sample of %zu queue pairs", sample.res.n_qps);
	if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		_cleanup_free_ double *gbps = read_rates(ctx->source, over, &sample.res);

		rd_failover_update(over->failover,
				   &(struct rd_failover_sample){ &sample.views, gbps, &over->host, &over->map,
								 over->history.sample_ns },
				   &events);
		for (size_t i = 0; i < events.n; i++) {
			print_event(ctx, &events.v[i], sample.report.time);
			free(events.v[i].text);
		}
		free(events.v);
	}
	qp_sample_deinit(&sample);
	return r;
}

/* Warnings and worse; else unknown, if anything is. */
static void judge(struct rd_report *report)
{
	report->status = rd_report_judge(report);
	if (!report->status && rd_findings_count(&report->findings, RD_SEV_UNKNOWN))
		report->status = RD_EXIT_UNKNOWN;
}

static int watch(struct rd_ctx *ctx, struct over *over)
{
	struct qp_opts *opts = ctx->state;
	struct rd_report report;
	int r;

	ctx->schema = "rdmadiag/qp-state-failover-summary/1";
	over->history.repeated = true;
	r = rd_repeat(ctx, &opts->repeat, 1, watch_sample, over);
	if (r)
		return r;
	rd_output_init(ctx, &report);
	rd_failover_findings(over->failover, &report.findings);
	judge(&report);
	r = ctx->globals.json ? rd_output_print(ctx, &report) : rd_output_tables(ctx, &report, NULL, 0);
	rd_report_deinit(&report);
	return r;
}

static int show_before(struct rd_ctx *ctx, struct over *over)
{
	struct rd_failover_sample of = { .host = &over->host, .map = &over->map };
	struct rd_failover_paths paths = { 0 };
	const struct rd_section *section;
	struct qp_sample sample;
	struct rd_err err = { 0 };
	int r = qp_load(ctx, ctx->source, &over->history, &sample, &err);

	sample.report.schema = ctx->schema = "rdmadiag/qp-state-failover/1";
	qp_warn_errors(ctx, &sample);
	of.views = &sample.views;
	if (r == 0)
		rd_failover_before(&of, sample.chosen, &paths, &sample.report.findings);
	rd_report_failover(&sample.report, &sample.res, &paths);
	if (paths.n == 0 && !err.code)
		rd_err_set(&err, ENOENT, "queue pairs", "no process has a connected one that the kernel lists");
	if (err.code) {
		rd_errlist_add(&sample.report.errors, &err);
		sample.report.status = RD_EXIT_UNKNOWN;
	} else {
		judge(&sample.report);
	}
	section = rd_report_section(&sample.report, "paths");
	if (ctx->globals.json)
		r = rd_output_print(ctx, &sample.report);
	else
		r = err.code ? rd_fail(ctx, &err) : rd_output_tables(ctx, &sample.report, &section, 1);
	free(paths.v);
	qp_sample_deinit(&sample);
	return r;
}

int qp_failover(struct rd_ctx *ctx)
{
	const struct qp_opts *opts = ctx->state;
	struct over over = { .failover = rd_failover_create() };
	struct rd_err err = { 0 };
	int r;

	/* Without what nic-map knows, backups are unknown. */
	if (rd_collect_host(ctx->source, 0, &over.host, NULL, &err) == 0 && rd_host_within_bounds(&over.host, &err) == 0)
		rd_nicmap_analyse(&over.host, NULL, 0, &over.map);
	r = rd_repeat_wanted(&opts->repeat) ? watch(ctx, &over) : show_before(ctx, &over);
	over_deinit(&over);
	return r;
}
