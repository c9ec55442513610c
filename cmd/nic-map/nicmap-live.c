/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --live */
#include <string.h>

#include "base/text.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"
#include "report/shared/finding.h"
#include "view/view.h"

static int due_ms(void *arg)
{
	const struct rd_ctx *ctx = arg;
	const struct nicmap_opts *opts = ctx->state;

	return rd_ticks_left_ms(&opts->repeat.ticks);
}

static char *headline_of(const struct nicmap *nm)
{
	size_t warnings = rd_findings_count(&nm->report.findings, RD_SEV_WARNING) +
			  rd_findings_count(&nm->report.findings, RD_SEV_CRITICAL);
	char when[RD_CLOCK_SIZE];

	return rd_text("nic-map  %s  %s  %zu NICs, %zu accelerators, %zu warnings",
		       nm->report.host ? nm->report.host : "-", rd_clock(nm->report.time, when), nm->host.n_ibdevs,
		       nm->host.n_gpus, warnings);
}

/* Moves the report's first section, the NICs, to the page. */
static int load_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	const struct rd_ctx *ctx = arg;
	struct nicmap_opts *opts = ctx->state;
	struct nicmap nm;
	int r;

	if (!rd_repeat_next(&opts->repeat))
		return 1;
	r = nicmap_load(ctx, ctx->source, 0, &nm, err);
	if (!r) {
		rd_report_nicmap(&nm.report, &nm.host, &nm.map, &nm.shown);
		page->body = nm.report.sections[0];
		memmove(nm.report.sections, nm.report.sections + 1,
			--nm.report.n_sections * sizeof(*nm.report.sections));
		page->headline = headline_of(&nm);
		page->alarm = rd_findings_alarm(&nm.report.findings, &page->alarm_severity);
	}
	nicmap_deinit(&nm);
	return r;
}

int nicmap_live(struct rd_ctx *ctx)
{
	static const int keys[] = { RD_NIC_IBDEV, RD_NIC_PORT, RD_NIC_PCI, -1 };
	static const struct rd_view_ops ops = { .look = load_page, .due = due_ms, .keys = keys };
	struct nicmap_opts *opts = ctx->state;
	struct rd_err err = { 0 };

	rd_repeat_begin(&opts->repeat, NICMAP_INTERVAL);
	if (rd_view_run(&ops, ctx, ctx->globals.style.colour, &err) < 0)
		return rd_fail(ctx, &err);
	return RD_EXIT_OK;
}
