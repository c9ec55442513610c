// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state -i: repeated samples, of this host at whole multiples of the interval, of a bundle one by one; with --trace, the
 * recorder runs in between. */
#include "cmd/trace-errno/qp-recorder.h"
#include "qp.h"

struct repeated {
	struct qp_recorder recorder; /* with --trace */
	struct qp_history history;
	size_t errors; /* number of errors of the previous sample */
};

/* Called ten times a second, so that the ring buffer does not overflow between two samples. An error here recurs, and is reported,
 * when the ring buffer is drained for the sample. */
static bool drain(void *arg, unsigned ms)
{
	struct repeated *repeated = arg;
	struct rd_err err = { 0 };

	(void)ms;
	if (repeated->recorder.session)
		qp_recorder_drain(&repeated->recorder, &err);
	return false;
}

static int print_sample(struct rd_ctx *ctx, void *arg)
{
	const struct qp_opts *opts = ctx->state;
	struct repeated *repeated = arg;
	struct rd_err err = { 0 };
	struct qp_sample sample = { 0 };
	/* Recorded events are older than the sample. */
	int r = repeated->recorder.session ? qp_recorder_drain(&repeated->recorder, &err) : 0;

	if (r >= 0)
		r = qp_load(ctx, ctx->source, &repeated->history, &sample, &err);
	if (r >= 0 && repeated->recorder.session)
		qp_recorder_report_lost(&repeated->recorder, &sample.report.errors);
	/* Do not repeat the errors of the previous sample. */
	if (sample.report.errors.n != repeated->errors)
		qp_warn_errors(ctx, &sample);
	repeated->errors = sample.report.errors.n;
	if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		rd_repeat_head(ctx, &opts->repeat, sample.report.time);
		qp_fill(ctx, &sample);
		r = qp_show(ctx, &sample);
	}
	qp_sample_deinit(&sample);
	return r;
}

/* Whether the table lists queue pairs; other tables have other columns. */
static bool lists_queue_pairs(const struct qp_opts *opts)
{
	return !opts->grouped && !opts->summary && !opts->ask.timeouts && !opts->ask.links;
}

int qp_repeat(struct rd_ctx *ctx)
{
	struct qp_opts *opts = ctx->state;
	struct repeated repeated = { .recorder = { .ctx = ctx } };
	struct rd_err err = { 0 };
	int r;

	if (opts->repeat.seconds <= 0)
		opts->repeat.seconds = 1;
	opts->repeat.meanwhile = drain;
	if (!ctx->globals.style.columns && lists_queue_pairs(opts))
		ctx->globals.style.columns = "+state_seconds,verdict,psn_per_second";
	if (opts->trace && qp_recorder_start(&repeated.recorder, &err) < 0) {
		r = rd_fail(ctx, &err);
	} else {
		repeated.history = (struct qp_history){ .repeated = true,
							.track = repeated.recorder.track,
							.recorded = repeated.recorder.session };
		r = rd_repeat(ctx, &opts->repeat, opts->repeat.seconds, print_sample, &repeated);
	}
	qp_history_deinit(&repeated.history);
	qp_recorder_deinit(&repeated.recorder);
	return r;
}
