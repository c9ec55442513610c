/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of topo-check. */
#include "report/host/report-check.h"
#include "topo.h"

int topo_judge(const struct rd_ctx *ctx, const bool *chosen, struct checks *checks, struct rd_err *err)
{
	const struct topo_opts *opts = ctx->state;
	int r = checks_load(ctx, ctx->source, (int)opts->pid, checks, err);

	if (!r)
		r = checks_select(checks, opts->devices, err);
	if (!r && opts->profile)
		r = checks_take_profile(checks, opts->profile, err);
	if (r < 0)
		return r;
	checks_conclude(checks, chosen, opts->severity, opts->only != NULL);
	rd_report_topo_headline(&checks->report, checks->shown.ibdevs ? &checks->hidden : NULL);
	return 0;
}
