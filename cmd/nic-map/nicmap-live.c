/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --live */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "nicmap.h"
#include "report/report-nicmap.h"
#include "view/view.h"

struct live {
	struct rd_ctx *ctx;
	uint64_t next_ns;
	unsigned long looks;
};

static uint64_t now_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t interval_ns(const struct rd_ctx *ctx)
{
	const struct nicmap_opts *opts = ctx->state;

	return (uint64_t)((opts->interval > 0 ? opts->interval : 2) * 1e9);
}

static int due(void *arg)
{
	struct live *live = arg;
	uint64_t now = now_ns();

	return now >= live->next_ns ? 0 : (int)((live->next_ns - now) / 1000000) + 1;
}

static char *headline_of(const struct nicmap *nm)
{
	time_t seconds = nm->report.time / 1000000000u;
	char when[32] = "-", *text;
	struct tm tm;

	if (seconds && localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	if (asprintf(&text, "nic-map  %s  %s  %zu NICs, %zu accelerators, %zu warnings",
		     nm->report.host ? nm->report.host : "-", when, nm->host.n_ibdevs, nm->host.n_gpus,
		     nm->report.n_findings) < 0)
		return NULL;
	return text;
}

/* The report's first section, which is the NICs, is handed over. */
static int look(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	const struct nicmap_opts *opts = live->ctx->state;
	uint64_t step = interval_ns(live->ctx);
	struct nicmap nm;
	int r;

	if (opts->count && live->looks++ >= opts->count)
		return 1;
	live->next_ns = (now_ns() / step + 1) * step; /* aligned to the wall clock */
	r = nicmap_load(live->ctx, live->ctx->source, 0, &nm, err);
	if (!r && rd_report_nicmap(&nm.report, &nm.host, &nm.map) < 0)
		r = rd_err_set(err, ENOMEM, "nic-map", "no memory for the report");
	if (!r) {
		page->body = nm.report.sections[0];
		memmove(nm.report.sections, nm.report.sections + 1,
			--nm.report.n_sections * sizeof(*nm.report.sections));
		page->headline = headline_of(&nm);
	}
	nicmap_deinit(&nm);
	return r;
}

int nicmap_live(struct rd_ctx *ctx)
{
	static const int keys[] = { RD_NIC_IBDEV, RD_NIC_PORT, RD_NIC_PCI, -1 };
	static const struct rd_view_ops ops = { .look = look, .due = due, .keys = keys };
	struct live live = { .ctx = ctx };
	struct rd_err err = { 0 };

	if (ctx->globals.json) {
		rd_err_set(&err, EINVAL, "--live", "is for people: leave out --json");
		return rd_fail_usage(ctx->cmd, &err);
	}
	if (rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0)
		return rd_fail(ctx, &err);
	return RD_EXIT_OK;
}
