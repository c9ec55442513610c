/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters -i: rates of each interval, or changes; recordings; waiting. */
#include "counters-watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyse/counters/causes.h"
#include "report/counters/report-rates.h"
#include "report/shared/finding.h"

static const struct counters_opts *opts_of(const struct counters_watch *w)
{
	return w->c->ctx->state;
}

/* If counters were selected they are shown; otherwise the traffic of ports. */
static bool wants_counters(const struct counters_watch *w)
{
	const struct counters_opts *opts = opts_of(w);

	return opts->filter || opts->groups || opts->changed || opts->nonzero;
}

/* Counters to show for an interval: those selected that changed, or with --nonzero are not 0. */
static bool *shown_counters(const struct counters_watch *w)
{
	const struct counters_opts *opts = opts_of(w);
	bool *shown = rd_alloc(w->set->n + 1, sizeof(*shown));

	for (size_t i = 0; i < w->set->n; i++) {
		const struct rd_delta *delta = &w->c->deltas[i];
		const struct rd_counter_value *value = &w->c->now.sample.values[i];
		bool moved = (delta->kind != RD_DELTA_UNKNOWN && delta->v) ||
			     (delta->note != RD_NOTE_NONE && delta->note != RD_NOTE_UNREAD);

		shown[i] = w->selected[i] &&
			   (moved || (opts->nonzero && !opts->changed && value->known == RD_OK && value->v));
	}
	return shown;
}

static void fill_report(const struct counters_watch *w, struct rd_report *report)
{
	_cleanup_free_ bool *shown = shown_counters(w);
	const struct rd_counters_shown counters = { .set = w->set,
						    .now = &w->c->now.sample,
						    .deltas = w->c->deltas,
						    .seconds = w->c->seconds,
						    .selected = shown };
	bool first_counters = wants_counters(w);

	report->time = w->c->now.sample.realtime_ns;
	if (first_counters)
		rd_report_add(report, rd_counters_section(&counters));
	rd_report_add(report, rd_rates_section(&w->rates, w->set, &w->c->now.sample, w->ports));
	if (!first_counters && w->c->ctx->globals.json)
		rd_report_add(report, rd_counters_section(&counters));
	rd_report_add_findings(report, &w->findings);
	if (rd_metrics_wanted(w->c->ctx))
		rd_report_counter_metrics(report, w->set, &w->c->now.sample, w->selected);
}

static void print_time(const struct counters_watch *w, const struct rd_report *report)
{
	time_t seconds = (time_t)(report->time / 1000000000u);
	_cleanup_buf_ struct rd_buf out = { 0 };
	char text[32];
	struct tm tm;

	if (w->c->ctx->globals.rows_only || !localtime_r(&seconds, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	rd_buf_printf(&out, "\n%s.%03u, %.3f s", text, (unsigned)(report->time % 1000000000u / 1000000), w->c->seconds);
	if (w->ticks.missed)
		rd_buf_printf(&out, ", %" PRIu64 " intervals missed so far", w->ticks.missed);
	rd_buf_str(&out, "\n");
	rd_out(&out);
}

/* Between tables findings would scroll away: they are printed to standard error, too, with their time. */
static void warn_findings(const struct counters_watch *w)
{
	for (size_t i = 0; i < w->findings.n; i++) {
		const struct rd_finding *finding = &w->findings.v[i];

		rd_warn(w->c->ctx, "%s: %s: %s; before: %s", finding->subject, finding->title,
			finding->observed ? finding->observed : "", finding->expected ? finding->expected : "");
	}
}

static int print_interval(const struct counters_watch *w)
{
	struct rd_ctx *ctx = w->c->ctx;
	struct rd_report report;
	int r;

	rd_output_init(ctx, &report);
	fill_report(w, &report);
	if (!ctx->globals.json && !ctx->globals.textfile)
		print_time(w, &report);
	if (!ctx->globals.json)
		warn_findings(w);
	r = rd_output_print(ctx, &report);
	rd_report_deinit(&report);
	return r;
}

/* The summary, from the first sample to the last: likely causes, and the number of missed intervals. */
static int finish(struct counters_watch *w, uint64_t looks)
{
	static const struct rd_column columns[] = {
		{ "seconds", "SECONDS", RD_T_DOUBLE, "seconds from the first sample to the last", 3, false },
		{ "looks", "LOOKS", RD_T_UINT, "number of intervals", 0, false },
		{ "missed", "MISSED", RD_T_UINT, "intervals missed because a sample took too long", 0, false },
	};
	struct counters *c = w->c;
	const struct rd_moment first = { w->set, &w->first }, last = { w->set, &c->now.sample };
	const struct counters_opts *opts = opts_of(w);
	struct rd_ctx *ctx = c->ctx;
	struct rd_report report;
	struct rd_row *row;
	double seconds = rd_moments_seconds(&first, &last);
	int r = 0;

	rd_deltas(&first, &last, c->deltas);
	rd_causes_deinit(&c->causes);
	rd_causes_find(&first, &last, c->deltas, seconds, &c->causes);
	ctx->schema = "rdmadiag/counters-summary/1";
	rd_output_init(ctx, &report);
	report.scalars = rd_section_create("summary", columns, RD_ARRAY_SIZE(columns));
	row = rd_section_add(report.scalars);
	rd_row_double(row, 0, seconds);
	rd_row_uint(row, 1, looks);
	rd_row_uint(row, 2, w->ticks.missed);
	rd_report_add_findings(&report, &w->events);
	rd_report_add_findings(&report, &c->causes.findings);
	if (opts->fail)
		report.status = rd_report_judge(&report);
	for (size_t i = 0; i < c->errors.n; i++)
		rd_errlist_add(&report.errors, &c->errors.v[i]);
	if (r < 0) {
		r = RD_EXIT_UNKNOWN;
	} else if (ctx->globals.json) {
		r = rd_output_print(ctx, &report);
	} else if (!ctx->globals.textfile) {
		_cleanup_buf_ struct rd_buf out = { 0 };

		rd_output_findings(ctx, &report, &out);
		rd_out_beside(ctx, &out);
		if (w->ticks.missed)
			rd_warn(ctx, "%" PRIu64 " intervals were missed: samples took too long", w->ticks.missed);
		r = report.status;
	}
	rd_report_deinit(&report);
	return r;
}

struct outputs {
	struct counters_file *file;
	struct counters_until *until;
};

static void outputs_deinit(struct outputs *to)
{
	counters_file_close(to->file);
	counters_until_destroy(to->until);
}

static int open_outputs(const struct counters_watch *w, struct outputs *to, struct rd_err *err)
{
	const struct counters_opts *opts = opts_of(w);
	int r = 0;

	if (opts->until)
		r = counters_until_create(opts->until, &to->until, err);
	if (!r && opts->record)
		r = counters_file_open(w->c->ctx, opts->record, &to->file, err);
	return r;
}

/* Takes one sample and passes it on. 1: the condition of --until is met. */
static int run_interval(struct counters_watch *w, struct outputs *to, struct rd_err *err)
{
	struct rd_ctx *ctx = w->c->ctx;
	int r = counters_advance(w, err), reached = 0;

	if (!r && to->file)
		counters_file_add(to->file, w);
	if (!r && to->until)
		r = reached = counters_until_check(to->until, w, err);
	if (r < 0)
		return r;
	/* A recording and a wait print their own messages. */
	if (ctx->globals.textfile || (w->interval && !to->until && (!to->file || ctx->globals.json)))
		print_interval(w);
	return reached;
}

/* The reader closed the pipe, or nothing more can be written: main reports which. */
static bool output_failed(void)
{
	const struct rd_buf nothing = { 0 };

	return rd_out(&nothing) < 0;
}

static int run_intervals(struct counters_watch *w, struct outputs *to, uint64_t *looks, struct rd_err *err)
{
	const struct counters_opts *opts = opts_of(w);
	int r = 0;

	/* A short first interval would show only noise; waiting long for its start would look like a hang. */
	if (w->ticks.interval_ns <= 1000000000u && rd_ticks_wait(&w->ticks) < 0)
		return 0;
	r = run_interval(w, to, err);
	while (!r && !rd_ticks_stopped() && !output_failed() && (!opts->repeat.count || *looks < opts->repeat.count)) {
		if (rd_ticks_wait(&w->ticks) < 0)
			break;
		r = run_interval(w, to, err);
		*looks += w->interval;
	}
	return r;
}

int counters_watch(struct counters *c)
{
	const struct counters_opts *opts = c->ctx->state;
	_cleanup_(outputs_deinit) struct outputs to = { 0 };
	_cleanup_(counters_watch_deinit) struct counters_watch w;
	struct rd_err err = { 0 };
	uint64_t looks = 0;
	int r;

	counters_watch_init(&w, c, opts->repeat.seconds);
	r = open_outputs(&w, &to, &err);
	if (r == -EINVAL)
		return rd_fail_usage(c->ctx->cmd, &err);
	if (!r) {
		c->ctx->lines = true;
		rd_ticks_catch_signals();
		r = run_intervals(&w, &to, &looks, &err);
	}
	if (r >= 0 && to.file && counters_file_finish(to.file, &err) < 0)
		r = -err.code;
	if (r < 0)
		return rd_fail(c->ctx, &err);
	if (to.until)
		return r == 1 ? RD_EXIT_OK : RD_EXIT_WARNING;
	return w.set ? finish(&w, looks) : RD_EXIT_OK;
}
