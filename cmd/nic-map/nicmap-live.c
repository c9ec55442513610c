/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --live */
#include <string.h>

#include "base/text.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"
#include "report/shared/finding.h"
#include "view/view.h"

struct live {
	struct rd_ctx *ctx;
	bool gpus; /* they are the body, and NICs the top */
	bool switched;
};

static int due_ms(void *arg)
{
	const struct live *live = arg;
	const struct nicmap_opts *opts = live->ctx->state;

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

/* Takes the section with this key out of the report. */
static struct rd_section *take_section(struct rd_report *report, const char *key)
{
	size_t i = 0;
	struct rd_section *section;

	while (strcmp(report->sections[i]->key, key) != 0)
		i++;
	section = report->sections[i];
	memmove(report->sections + i, report->sections + i + 1, (--report->n_sections - i) * sizeof(*report->sections));
	return section;
}

static int load_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	struct nicmap_opts *opts = live->ctx->state;
	struct rd_section *nics, *gpus;
	struct nicmap nm;
	int r;

	if (!rd_repeat_next(&opts->repeat))
		return 1;
	r = nicmap_load(live->ctx, live->ctx->source, 0, &nm, err);
	if (!r) {
		rd_report_nicmap(&nm.report, &nm.host, &nm.map, &nm.shown);
		nics = take_section(&nm.report, "nics");
		gpus = take_section(&nm.report, "gpus");
		page->body = live->gpus ? gpus : nics;
		page->top = live->gpus ? nics : gpus;
		page->reselected = live->switched;
		live->switched = false;
		if (page->top->n == 0) {
			rd_section_destroy(page->top);
			page->top = NULL;
		}
		page->headline = headline_of(&nm);
		page->alarm = rd_findings_alarm(&nm.report.findings, &page->alarm_severity);
	}
	nicmap_deinit(&nm);
	return r;
}

static int detail(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	(void)arg, (void)err;
	*ret = rd_view_page();
	rd_view_add_values(*ret, body, row);
	return 0;
}

static int handle_key(void *arg, int key)
{
	struct live *live = arg;

	if (key != 'g')
		return 0;
	live->gpus = !live->gpus;
	live->switched = true;
	return 1;
}

int nicmap_live(struct rd_ctx *ctx)
{
	static const int keys[] = { RD_NIC_IBDEV, RD_NIC_PORT, RD_NIC_PCI, -1 };
	static const char *const help[] = { "g        accelerators below NICs, or NICs below accelerators", NULL };
	static const struct rd_view_ops ops = {
		.look = load_page, .due = due_ms, .keys = keys, .detail = detail, .key = handle_key, .help = help
	};
	struct live live = { .ctx = ctx };
	struct nicmap_opts *opts = ctx->state;
	struct rd_err err = { 0 };

	rd_repeat_begin(&opts->repeat, NICMAP_INTERVAL);
	if (rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0)
		return rd_fail(ctx, &err);
	return RD_EXIT_OK;
}
