// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/trace/benign.h"
#include "analyse/trace/verb.h"
#include "report/trace/report-trace.h"

/* Benign events of a row: those that were read; if the row alone is sufficient to decide, also those that were lost. */
static uint64_t benign_of(const struct trace *t, const struct rd_count *c)
{
	if (rd_benign_count(c, &t->set))
		return c->count;
	for (size_t i = 0; i < t->n_benign_counts; i++) {
		const struct rd_count *b = &t->benign_counts[i];

		if (b->origin == c->origin && b->verb == c->verb && b->dev == c->dev && b->err == c->err)
			return b->count;
	}
	return 0;
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

void trace_counts(struct trace *t, struct rd_origin_count **ret, struct rd_verb **verbs, size_t *n)
{
	_cleanup_free_ struct rd_count *counts = NULL;

	rd_session_counts(t->session, &counts, n);
	*ret = rd_alloc(*n + 1, sizeof(**ret));
	*verbs = rd_alloc(*n + 1, sizeof(**verbs));
	for (size_t i = 0; i < *n; i++) {
		struct rd_verb *verb = &(*verbs)[i];

		rd_verb_name(counts[i].verb, &t->set, verb);
		(*ret)[i] = (struct rd_origin_count){
			.fn = counts[i].origin,
			.object = known(verb->object),
			.method = known(verb->method),
			.verb = known(verb->verb),
			.ibdev = rd_trace_facts_ibdev(t->facts, counts[i].dev),
			.err = counts[i].err,
			.count = counts[i].count,
			.benign = benign_of(t, &counts[i]),
		};
	}
}

static void fill_summary(const struct trace *t, struct rd_trace_summary *sum)
{
	const struct rd_session_info *info = rd_session_info(t->session);

	sum->seconds = (double)(t->stopped - t->started) / 1e9;
	memcpy(sum->per_backend, info->per_backend, sizeof(sum->per_backend));
	sum->functions = info->functions;
	sum->benign = t->benign;
	sum->early_end = t->early_end;
}

/* The closing line. Lost and missed are always printed, even if 0. */
static void print_closing_line(const struct trace *t, const struct rd_trace_summary *sum)
{
	const struct rd_trace_totals *n = &sum->totals;
	char missed[64], hidden[64] = "", uncounted[64] = "";

	if (n->missed.known == RD_OK)
		snprintf(missed, sizeof(missed), "%" PRIu64 " missed", n->missed.v);
	else if (n->missed_at_least)
		snprintf(missed, sizeof(missed), "at least %" PRIu64 " missed", n->missed_at_least);
	else
		snprintf(missed, sizeof(missed), "missed unknown");
	if (t->hidden + n->benign)
		snprintf(hidden, sizeof(hidden), ", %" PRIu64 " benign hidden (--benign shows them)",
			 t->hidden + n->benign);
	if (n->uncounted)
		snprintf(uncounted, sizeof(uncounted), ", %" PRIu64 " not in the table of counts", n->uncounted);
	rd_warn(t->ctx, "%" PRIu64 " events in %.1f s: %" PRIu64 " delivered, %" PRIu64 " lost, %s%s%s", n->events,
		sum->seconds, n->delivered, n->lost, missed, uncounted, hidden);
	if (n->missed_at_least)
		rd_warn(t->ctx, "missed: probes the kernel could not run; the event count may be too low; "
				"--backend kprobe-multi misses the fewest");
	if (n->lost && !t->opts->summary)
		rd_warn(t->ctx,
			"lost: the ring buffer was full; --buffer 4m enlarges it, and --summary counts lost events%s",
			n->missed_at_least ? "" : " exactly");
}

/* After a command without a failed call: a program can fail without one. */
static void report_none_failed(const struct trace *t, const struct rd_trace_totals *n)
{
	if (!t->child.ended || t->early_end || n->events > t->benign || (n->missed.known == RD_OK && n->missed.v))
		return;
	rd_warn(t->ctx,
		"no RDMA call failed in the kernel. If the program failed: a completion with an error status or an "
		"asynchronous event is not a call (" RD_PROGRAM
		" qp-state shows queue pairs in error); a library may refuse a "
		"call itself, or open(2) of a device may fail (strace)");
}

/* Reports a --max-cpu limit that was enforced for a part of the trace. If it was not enforced from the start, the note exists. */
static void report_unenforced_limit(struct trace *t, const struct rd_trace_totals *totals)
{
	struct rd_err err = { 0 };

	if (t->opts->max_cpu <= 0 || totals->run_ns.known == RD_OK)
		return;
	for (size_t i = 0; i < t->notes.n; i++)
		if (!strcmp(t->notes.v[i].object, "--max-cpu"))
			return;
	rd_err_set(&err, 0, "--max-cpu",
		   "run statistics were off for part of the trace: the limit was enforced only in part");
	rd_errlist_add(&t->notes, &err);
	rd_warn(t->ctx, "%s: %s", err.object, err.message);
}

static int fill_report(struct trace *t, struct rd_report *report, struct rd_trace_summary *sum, struct rd_err *err)
{
	_cleanup_free_ struct rd_origin_count *counts = NULL;
	_cleanup_free_ struct rd_verb *verbs = NULL;
	int r = rd_session_totals(t->session, &sum->totals, err);

	sum->benign += sum->totals.benign;
	if (r)
		return r;
	report_unenforced_limit(t, &sum->totals);
	trace_counts(t, &counts, &verbs, &sum->n_counts);
	sum->counts = counts;
	rd_report_trace_summary(report, sum, &t->set, !t->opts->benign && !t->ctx->globals.json);
	sum->counts = NULL;
	sum->n_counts = 0;
	for (size_t i = 0; i < t->notes.n; i++)
		rd_errlist_add(&report->errors, &t->notes.v[i]);
	return 0;
}

static void report_problems(struct trace *t)
{
	struct rd_err err = { 0 };

	if (t->early_end) {
		rd_errlist_add(&t->notes, &t->why_early);
		rd_warn(t->ctx, "trace ended early: %s", t->why_early.message);
	}
	if (t->invalid) {
		rd_err_set(&err, EBADMSG, "event record", "%" PRIu64 " invalid records ignored", t->invalid);
		rd_errlist_add(&t->notes, &err);
		rd_warn(t->ctx, "%" PRIu64 " invalid event records ignored", t->invalid);
	}
}

int trace_finish(struct trace *t)
{
	struct rd_trace_summary sum = { 0 };
	struct rd_report report;
	struct rd_err err = { 0 };
	int r;

	trace_fold_flush(t, false);
	report_problems(t);
	fill_summary(t, &sum);
	rd_output_init(t->ctx, &report);
	report.status = t->early_end ? RD_EXIT_UNKNOWN : RD_EXIT_OK;
	r = fill_report(t, &report, &sum, &err);
	if (!r && rd_metrics_wanted(t->ctx))
		rd_report_trace_metrics(&report);
	if (!r && (t->ctx->globals.json || t->opts->summary))
		r = rd_output_print(t->ctx, &report);
	else if (!r)
		r = report.status;
	if (r < 0)
		r = rd_fail(t->ctx, &err);
	else if (!t->ctx->globals.json && !t->ctx->globals.openmetrics)
		print_closing_line(t, &sum);
	if (r >= 0)
		report_none_failed(t, &sum.totals);
	rd_report_deinit(&report);
	if (t->child.ended && r == RD_EXIT_OK)
		return trace_child_exit_code(&t->child);
	return r;
}

/* Rendering a table without rows checks the columns of -o. */
int trace_columns_check(const struct trace *t, struct rd_err *err)
{
	struct rd_section *events = rd_section_create("event", rd_trace_event_columns, RD_TRACE_EVENT_COLUMNS);
	struct rd_trace_summary sum = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_report report;
	int r = 0;

	rd_report_init(&report, "");
	if (t->opts->summary)
		rd_report_trace_summary(&report, &sum, &t->set, false);
	if (t->opts->list)
		rd_report_trace_list(&report, &t->set, NULL);
	if (t->opts->status || t->opts->detach_all)
		rd_report_trace_status(&report, &(struct rd_held_list){ 0 });
	if (!t->ctx->globals.json)
		r = rd_render_table(report.n_sections ? report.sections[0] : events, &t->ctx->globals.style, &out, err);
	rd_section_destroy(events);
	rd_report_deinit(&report);
	return r;
}
