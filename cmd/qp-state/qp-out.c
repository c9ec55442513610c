/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables and documents of qp-state. */
#include "qp.h"

#include "analyse/qp/qp-groups.h"
#include "analyse/qp/qp-procs.h"
#include "report/qp/report-qp.h"
#include "report/shared/finding.h"

static void fill_groups(const struct qp_opts *opts, struct qp_sample *sample)
{
	struct rd_qp_groups groups = { 0 };

	rd_qp_group_by(&sample->views, sample->chosen, opts->by, &groups);
	rd_report_qp_groups(&sample->report, &sample->res, &groups);
	if (opts->by == RD_BY_PEER) {
		rd_qp_groups_findings(&sample->res, &groups, &sample->findings);
		rd_qp_proc_peers_findings(&sample->views, sample->chosen, &sample->findings);
	}
	rd_qp_groups_deinit(&groups);
}

static void fill_processes(struct qp_sample *sample)
{
	struct rd_res_holders holders = { 0 };

	rd_res_count_holders(&sample->res, &holders);
	rd_report_qp_processes(&sample->report, &sample->res, &holders);
	free(holders.v);
}

void qp_fill(const struct rd_ctx *ctx, struct qp_sample *sample)
{
	const struct qp_opts *opts = ctx->state;

	rd_report_qps(&sample->report, &sample->views, sample->chosen);
	rd_report_qp_summary(&sample->report, &sample->res);
	if (opts->summary)
		fill_processes(sample);
	if (opts->grouped)
		fill_groups(opts, sample);
	if (rd_metrics_wanted(ctx) && sample->chosen)
		rd_report_qp_metrics(&sample->report, &sample->res, sample->chosen);
	qp_ask_fill(&opts->ask, sample);
	rd_report_add_findings(&sample->report, &sample->findings);
	if (opts->fail)
		sample->report.status = rd_report_judge(&sample->report);
	if (sample->incomplete && sample->report.status < RD_EXIT_UNKNOWN)
		sample->report.status = RD_EXIT_UNKNOWN;
}

const char *qp_group_columns(enum rd_qp_by by)
{
#define STATES "qps,reset,init,rtr,rts,sqd,sqe,err,unknown,stuck"
	switch (by) {
	case RD_BY_PID:
		return "group,comm,job," STATES;
	case RD_BY_PEER:
		return "ibdev,group,health," STATES ",retrying";
	case RD_BY_STATE:
		return "group,qps,stuck";
	default:
		return "group," STATES;
	}
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

int qp_show(struct rd_ctx *ctx, struct qp_sample *sample)
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
