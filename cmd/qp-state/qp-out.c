/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state's tables and documents. */
#include "qp.h"

#include "analyse/qp/qp-groups.h"
#include "report/qp/report-qp.h"
#include "report/shared/finding.h"

static void fill_groups(const struct qp_opts *opts, struct qp_look *look)
{
	struct rd_qp_groups groups = { 0 };

	rd_qp_group_by(&look->views, look->chosen, opts->by, &groups);
	rd_report_qp_groups(&look->report, &look->res, &groups);
	if (opts->by == RD_BY_PEER)
		rd_qp_groups_findings(&look->res, &groups, &look->findings);
	rd_qp_groups_deinit(&groups);
}

static void fill_processes(struct qp_look *look)
{
	struct rd_res_holders holders = { 0 };

	rd_res_hold(&look->res, &holders);
	rd_report_qp_processes(&look->report, &look->res, &holders);
	free(holders.v);
}

void qp_fill(const struct rd_ctx *ctx, struct qp_look *look)
{
	const struct qp_opts *opts = ctx->state;

	rd_report_qps(&look->report, &look->views, look->chosen);
	rd_report_qp_summary(&look->report, &look->res);
	if (opts->summary)
		fill_processes(look);
	if (opts->grouped)
		fill_groups(opts, look);
	if (rd_metrics_wanted(ctx) && look->chosen)
		rd_report_qp_metrics(&look->report, &look->res, look->chosen);
	qp_ask_fill(&opts->ask, look);
	rd_report_add_findings(&look->report, &look->findings);
	if (opts->fail)
		look->report.status = rd_report_judge(&look->report);
}

/* Of the columns of groups, those that say something. */
static const char *group_columns(enum rd_qp_by by)
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

void qp_say_errors(const struct rd_ctx *ctx, const struct qp_look *look)
{
	const struct rd_errlist *errors = &look->report.errors;

	for (size_t i = 0; i < errors->n && !ctx->globals.json; i++)
		rd_warn(ctx, "%s: %s: %s%s%s", errors->v[i].object, errors->v[i].message,
			rd_errno_text(errors->v[i].code), errors->v[i].hint[0] ? "; " : "", errors->v[i].hint);
}

int qp_show(struct rd_ctx *ctx, struct qp_look *look)
{
	const struct qp_opts *opts = ctx->state;
	const struct rd_section *sections[2] = { rd_report_section(&look->report, "qps") };
	size_t n = 1;

	if (ctx->globals.json || rd_metrics_wanted(ctx))
		return rd_answer_print(ctx, &look->report);
	if (opts->grouped) {
		sections[0] = rd_report_section(&look->report, "groups");
		if (!ctx->globals.style.columns)
			ctx->globals.style.columns = group_columns(opts->by);
	}
	if (opts->ask.timeouts)
		sections[0] = rd_report_section(&look->report, "timeouts");
	if (opts->ask.links) {
		sections[0] = rd_report_section(&look->report, "entropy");
		if (!ctx->globals.style.raw && !ctx->globals.style.columns)
			sections[n++] = rd_report_section(&look->report, "flows");
	}
	if (opts->summary) {
		sections[0] = rd_report_section(&look->report, "summary");
		if (!ctx->globals.style.raw && !ctx->globals.style.columns)
			sections[n++] = rd_report_section(&look->report, "processes");
	}
	return rd_answer_tables(ctx, &look->report, sections, n);
}
