/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters: tables, findings, meanings. */
#include "counters.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "render/render-meaning.h"
#include "report/shared/finding.h"

int counters_judge(const struct rd_report *report)
{
	int status = rd_report_judge(report);

	/* A comparison that was not possible does not pass. */
	if (status == RD_EXIT_OK && rd_findings_worst(&report->findings) == RD_SEV_UNKNOWN)
		status = RD_EXIT_UNKNOWN;
	return status;
}

/* What the list below is of, and what one sample cannot tell. */
static void add_headline(const struct counters *c, struct rd_buf *out)
{
	size_t n = 0, of = 0;

	for (size_t i = 0; i < c->now.set->n; i++) {
		of += counters_port_matches(c, &c->now.set->ports[c->now.set->counters[i].port]);
		n += c->selected[i];
	}
	if (of == 0) {
		rd_buf_str(out, "these ports have no counters\n");
		return;
	}
	if (n == 0)
		rd_buf_printf(out, "no counter of errors or congestion is above 0, of %zu counters; --all lists them\n",
			      of);
	else
		rd_buf_printf(out, "%zu of %zu counters tell of errors or congestion and are not 0; --all lists all\n",
			      n, of);
	if (!c->deltas && n > 0)
		rd_buf_str(out, "One sample does not tell when they were counted: " RD_PROGRAM " counters --save FILE, "
				"later --since FILE; or -i 1\n");
	rd_buf_str(out, "\n");
}

int counters_print(struct counters *c, const struct rd_report *report)
{
	struct rd_ctx *ctx = c->ctx;
	struct rd_table_style *style = &ctx->globals.style;

	if (!ctx->globals.json && !rd_metrics_wanted(ctx)) {
		_cleanup_buf_ struct rd_buf out = { 0 };

		rd_output_findings(ctx, report, &out);
		if (report->findings.n > 0 && !ctx->globals.rows_only)
			rd_buf_str(&out, "\n");
		if (counters_brief(c))
			add_headline(c, &out);
		rd_out_beside(ctx, &out);
		/* Without an earlier sample, delta columns would be empty. Scripts with -o keep theirs. */
		if (!c->deltas && !style->columns)
			style->columns = "ibdev,port,group,name,value,unit,note";
	}
	return rd_output_print(ctx, report);
}

int counters_explain(struct counters *c, const char *name)
{
	_cleanup_free_ const struct rd_meaning **found = rd_alloc(c->meanings.n, sizeof(*found));
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_report report;
	struct rd_err err = { 0 };
	size_t n = 0;
	int r = RD_EXIT_OK;

	/* Both the argument and the name in the table may be patterns. */
	for (size_t i = 0; i < c->meanings.n; i++)
		if (fnmatch(c->meanings.v[i].name, name, 0) == 0 || fnmatch(name, c->meanings.v[i].name, 0) == 0)
			found[n++] = &c->meanings.v[i];
	if (n == 0) {
		if (c->errors.n > 0)
			return rd_fail(c->ctx, &c->errors.v[0]);
		rd_err_set(&err, ENOENT, name, "not in the table of counters");
		rd_err_hint(&err, "NAME may be a pattern: rdmadiag counters --explain '*retry*'");
		return rd_fail(c->ctx, &err);
	}
	rd_output_init(c->ctx, &report);
	rd_report_meanings(&report, found, n);
	if (c->ctx->globals.json) {
		r = rd_output_print(c->ctx, &report);
	} else {
		rd_render_meanings(report.sections[0], &out);
		rd_out(&out);
	}
	rd_report_deinit(&report);
	return r;
}
