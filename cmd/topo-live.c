/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-check --live */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "report/report-check.h"
#include "topo.h"
#include "view/view.h"

struct live {
	struct rd_ctx *ctx;
	const bool *chosen;
	uint64_t next_ns;
	unsigned long looks;
};

static uint64_t now_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int due(void *arg)
{
	struct live *live = arg;
	uint64_t now = now_ns();

	return now >= live->next_ns ? 0 : (int)((live->next_ns - now) / 1000000) + 1;
}

/* The report's first section, which is the results, is handed over. */
static int look(void *arg, struct rd_section **section, char **headline, struct rd_err *err)
{
	struct live *live = arg;
	const struct topo_opts *opts = live->ctx->state;
	uint64_t step = (uint64_t)((opts->interval > 0 ? opts->interval : 5) * 1e9);
	struct checks checks;
	struct rd_buf line = { 0 };
	int r;

	if (opts->count && live->looks++ >= opts->count)
		return 1;
	live->next_ns = (now_ns() / step + 1) * step; /* aligned to the wall clock */
	r = topo_look(live->ctx, live->chosen, &checks, err);
	if (!r) {
		*section = checks.report.sections[0];
		memmove(checks.report.sections, checks.report.sections + 1,
			--checks.report.n_sections * sizeof(*checks.report.sections));
		topo_headline(&checks, &line);
		*headline = line.data;
	}
	checks_deinit(&checks);
	return r;
}

int topo_live(struct rd_ctx *ctx, const bool *chosen)
{
	static const int keys[] = { RD_CHECK_ID, RD_CHECK_SUBJECT, -1 };
	static const struct rd_view_ops ops = { .look = look, .due = due, .keys = keys };
	struct live live = { .ctx = ctx, .chosen = chosen };
	struct rd_err err = { 0 };

	if (ctx->globals.json) {
		rd_err_set(&err, EINVAL, "--live", "is for people: leave out --json");
		return rd_fail_usage(ctx->cmd, &err);
	}
	if (rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0)
		return rd_fail(ctx, &err);
	return RD_EXIT_OK;
}
