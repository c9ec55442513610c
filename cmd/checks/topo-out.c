/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text output of topo-check. */
#include <stdio.h>
#include <string.h>

#include "topo.h"

void topo_headline(const struct checks *checks, struct rd_buf *out)
{
	const struct rd_findings *f = &checks->findings;
	size_t criticals = rd_findings_count(f, RD_SEV_CRITICAL), warnings = rd_findings_count(f, RD_SEV_WARNING);

	rd_buf_str(out, "topo-check");
	if (checks->report.host) {
		rd_buf_str(out, " of ");
		rd_buf_safe(out, checks->report.host, strlen(checks->report.host));
	}
	rd_buf_printf(out, ": %zu critical, %zu warning%s, %zu unknown; %zu passed, %zu not applicable", criticals,
		      warnings, warnings == 1 ? "" : "s", rd_findings_count(f, RD_SEV_UNKNOWN),
		      rd_findings_count(f, RD_SEV_OK) + rd_findings_count(f, RD_SEV_NOTE),
		      rd_findings_count(f, RD_SEV_SKIP));
}

void topo_text(const struct rd_ctx *ctx, const struct checks *checks, struct rd_buf *out)
{
	const struct topo_opts *opts = ctx->state;
	topo_headline(checks, out);
	rd_buf_str(out, "\n");
	checks_text(ctx, &checks->findings, opts->severity, true, out);
}
