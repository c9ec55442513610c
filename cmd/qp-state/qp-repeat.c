// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state -i: look after look, of this host at whole multiples of the interval, of a bundle sample by sample; with the recorder
 * running beside it where it is asked for. */
#include "qp-recorder.h"
#include "qp.h"

struct looks {
	struct qp_recorder recorder; /* with --trace */
	struct qp_history history;
	size_t errors; /* of the look before */
};

/* Drained so often, the ring has room for all that happens between two looks. What fails here fails again, and is told, when it
 * is drained for the look. */
static void drain(void *arg)
{
	struct looks *looks = arg;
	struct rd_err err = { 0 };

	if (looks->recorder.session)
		qp_recorder_drain(&looks->recorder, &err);
}

static int look(struct rd_ctx *ctx, void *arg)
{
	const struct qp_opts *opts = ctx->state;
	struct looks *looks = arg;
	struct rd_err err = { 0 };
	struct qp_look look = { 0 };
	/* What was recorded comes before what is found now. */
	int r = looks->recorder.session ? qp_recorder_drain(&looks->recorder, &err) : 0;

	if (r >= 0)
		r = qp_load(ctx, ctx->source, &looks->history, &look, &err);
	if (r >= 0 && looks->recorder.session)
		qp_recorder_tell_lost(&looks->recorder, &look.report.errors);
	/* What could not be read just now is no news. */
	if (look.report.errors.n != looks->errors)
		qp_say_errors(ctx, &look);
	looks->errors = look.report.errors.n;
	if (r < 0) {
		rd_fail(ctx, &err);
	} else {
		rd_repeat_head(ctx, &opts->repeat, look.report.time);
		qp_fill(ctx, &look);
		r = qp_show(ctx, &look);
	}
	qp_look_deinit(&look);
	return r;
}

/* Other tables have other columns. */
static bool lists_queue_pairs(const struct qp_opts *opts)
{
	return !opts->grouped && !opts->summary && !opts->ask.timeouts && !opts->ask.links;
}

int qp_repeat(struct rd_ctx *ctx)
{
	struct qp_opts *opts = ctx->state;
	struct looks looks = { .recorder = { .ctx = ctx } };
	struct rd_err err = { 0 };
	int r;

	if (opts->repeat.seconds <= 0)
		opts->repeat.seconds = 1;
	opts->repeat.meanwhile = drain;
	if (!ctx->globals.style.columns && lists_queue_pairs(opts))
		ctx->globals.style.columns = "+state_seconds,verdict,psn_per_second";
	if (opts->trace && qp_recorder_start(&looks.recorder, &err) < 0) {
		r = rd_fail(ctx, &err);
	} else {
		looks.history = (struct qp_history){ .goes_on = true,
						     .track = looks.recorder.track,
						     .recorded = looks.recorder.session };
		r = rd_repeat(ctx, &opts->repeat, opts->repeat.seconds, look, &looks);
	}
	qp_history_deinit(&looks.history);
	qp_recorder_deinit(&looks.recorder);
	return r;
}
