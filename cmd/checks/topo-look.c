/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One look of topo-check at a host. */
#include <errno.h>

#include "report/report-check.h"
#include "topo.h"

int topo_look(const struct rd_ctx *ctx, const bool *chosen, struct checks *checks, struct rd_err *err)
{
	const struct topo_opts *opts = ctx->state;
	int r = checks_load(ctx, ctx->source, (int)opts->pid, checks, err);

	if (!r && opts->profile)
		r = checks_take_profile(checks, opts->profile, err);
	if (r < 0)
		return r;
	rd_checks_run(&checks->in, chosen, &checks->verdicts);
	rd_verdicts_sort(&checks->verdicts);
	if (checks->verdicts.failed || rd_report_checks(&checks->report, &checks->verdicts, opts->severity) < 0)
		return rd_err_set(err, ENOMEM, ctx->cmd->name, "no memory for the report");
	checks->report.status = topo_judge(opts, checks);
	return 0;
}
