/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-check --live */
#include <string.h>

#include "report/host/report-check.h"
#include "report/shared/finding.h"
#include "topo.h"
#include "view/view.h"

struct live {
	struct rd_ctx *ctx;
	const bool *chosen;
	struct rd_repeat *repeat;
};

static int due(void *arg)
{
	const struct live *live = arg;

	return rd_ticks_left_ms(&live->repeat->ticks);
}

/* Moves the first section of the report, the results, to the page. */
static int refresh_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	const struct live *live = arg;
	struct checks checks;
	int r;

	if (!rd_repeat_next(live->repeat))
		return 1;
	r = topo_judge(live->ctx, live->chosen, &checks, err);
	if (!r) {
		page->body = checks.report.sections[0];
		memmove(checks.report.sections, checks.report.sections + 1,
			--checks.report.n_sections * sizeof(*checks.report.sections));
		page->headline = rd_safe(checks.report.headline);
		page->alarm = rd_findings_alarm(&checks.report.findings, &page->alarm_severity);
	}
	checks_deinit(&checks);
	return r;
}

/* The columns of a row, one per line, including those too wide for the table. */
static int detail(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	(void)arg, (void)err;
	*ret = rd_report_check_detail(body, row);
	return 0;
}

int topo_live(struct rd_ctx *ctx, const bool *chosen)
{
	static const int keys[] = { RD_CHECK_ID, RD_CHECK_SUBJECT, -1 };
	static const struct rd_view_ops ops = { .look = refresh_page, .due = due, .keys = keys, .detail = detail };
	struct topo_opts *opts = ctx->state;
	struct live live = { .ctx = ctx, .chosen = chosen, .repeat = &opts->repeat };
	struct rd_err err = { 0 };

	rd_repeat_begin(&opts->repeat, TOPO_INTERVAL);
	if (rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0)
		return rd_fail(ctx, &err);
	return RD_EXIT_OK;
}
