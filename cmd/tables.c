/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report as tables below its headline, with findings and notes below. */
#include "cmd.h"
#include "output.h"

#include <errno.h>
#include <string.h>

const struct rd_section *rd_report_section(const struct rd_report *report, const char *key)
{
	for (size_t i = 0; i < report->n_sections; i++)
		if (strcmp(report->sections[i]->key, key) == 0)
			return report->sections[i];
	return NULL;
}

void rd_output_findings(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_buf *out)
{
	const struct rd_finding_style style = { .colour = ctx->globals.style.colour, .verbose = ctx->globals.verbose };

	rd_render_findings(&report->findings, &style, out);
}

int rd_output_tables(struct rd_ctx *ctx, const struct rd_report *report, const struct rd_section *const *sections,
		     size_t n)
{
	_cleanup_buf_ struct rd_buf out = rd_out_pieces(), beside = { 0 };
	struct rd_table_style style = ctx->globals.style;
	struct rd_err err = { 0 };

	if (report && !ctx->globals.rows_only)
		rd_render_headline(report, &out);
	for (size_t i = 0; i < n; i++) {
		int r;

		rd_buf_str(&out, i > 0 || out.len > 0 ? "\n" : "");
		if (i > 0)
			style.columns = NULL;
		r = rd_render_table(sections[i], &style, &out, &err);
		if (r == -EINVAL)
			return rd_fail_usage(ctx->cmd, &err);
		if (r < 0)
			return rd_fail(ctx, &err);
	}
	rd_out(&out);
	if (report && report->findings.n > 0) {
		rd_buf_str(&beside, ctx->globals.rows_only ? "" : "\n");
		rd_output_findings(ctx, report, &beside);
	}
	if (report && !ctx->globals.rows_only)
		rd_render_notes(report, &beside);
	rd_out_beside(ctx, &beside);
	return report ? report->status : RD_EXIT_OK;
}
