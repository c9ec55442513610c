// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state -i: look after look, of this host at whole multiples of the interval, of a bundle sample by sample; with the recorder
 * running beside it where it is asked for. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "cmd/ticks.h"
#include "qp-recorder.h"
#include "qp.h"

static void say_when(const struct rd_ctx *ctx, const struct qp_look *look, unsigned long looks)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	time_t seconds = (time_t)(look->report.time / 1000000000u);
	char when[32] = "-";
	struct tm tm;

	if (ctx->globals.json || ctx->globals.style.raw || ctx->globals.style.no_headings || rd_metrics_wanted(ctx))
		return;
	if (seconds && localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	rd_buf_printf(&out, "%s%s\n", looks ? "\n" : "", when);
	rd_out(&out);
}

/* 0: there is another look to take. */
static int wait_next(struct rd_ctx *ctx, struct rd_ticks *ticks)
{
	struct rd_err err = { 0 };

	if (ctx->globals.from)
		return rd_source_bundle_next(ctx->source, &err);
	return rd_ticks_wait(ticks);
}

/* What was recorded comes before what is found now. */
static int take_look(struct rd_ctx *ctx, struct qp_recorder *recorder, struct qp_history *history, struct qp_look *look,
		     struct rd_err *err)
{
	int r = recorder->session ? qp_recorder_drain(recorder, err) : 0;

	*look = (struct qp_look){ 0 };
	return r < 0 ? r : qp_load(ctx, ctx->source, history, look, err);
}

/* Other tables have other columns. */
static bool lists_queue_pairs(const struct qp_opts *opts)
{
	return !opts->grouped && !opts->summary && !opts->ask.timeouts && !opts->ask.links;
}

static int look_again(struct rd_ctx *ctx, struct qp_recorder *recorder)
{
	const struct qp_opts *opts = ctx->state;
	struct qp_history history = { .goes_on = true, .track = recorder->track, .recorded = recorder->session };
	struct rd_ticks ticks;
	int status = RD_EXIT_OK;

	ctx->lines = true;
	if (!ctx->globals.style.columns && lists_queue_pairs(opts))
		ctx->globals.style.columns = "+state_seconds,verdict,psn_per_second";
	rd_ticks_catch_signals();
	rd_ticks_init(&ticks, opts->interval > 0 ? opts->interval : 1);
	for (unsigned long looks = 0; !rd_ticks_stopped() && (!opts->count || looks < opts->count); looks++) {
		struct rd_err err = { 0 };
		struct qp_look look;
		int r;

		if (looks && wait_next(ctx, &ticks))
			break;
		r = take_look(ctx, recorder, &history, &look, &err);
		/* What cannot be read now cannot be read in a second either. */
		if (!looks)
			qp_say_errors(ctx, &look);
		if (!r)
			say_when(ctx, &look, looks);
		if (r < 0)
			status = rd_fail(ctx, &err);
		else
			status = qp_fill(ctx, &look) < 0 ? rd_no_memory(ctx, ctx->cmd->name) : qp_show(ctx, &look);
		qp_look_deinit(&look);
		if (r < 0)
			break;
	}
	qp_history_deinit(&history);
	return status;
}

int qp_repeat(struct rd_ctx *ctx)
{
	const struct qp_opts *opts = ctx->state;
	struct qp_recorder recorder = { .ctx = ctx };
	struct rd_err err = { 0 };
	int r;

	if (opts->trace && qp_recorder_start(&recorder, &err) < 0)
		r = rd_fail(ctx, &err);
	else
		r = look_again(ctx, &recorder);
	qp_recorder_deinit(&recorder);
	return r;
}
