// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state --live */
#include <errno.h>
#include <string.h>

#include "qp-page.h"
#include "qp-recorder.h"
#include "report/qp/report-qp.h"

#define MARKED_SECONDS 5 /* how long a change is marked */

static const int groupings[] = { -1, RD_QP_PEER, RD_QP_JOB, RD_QP_IBDEV, RD_QP_STATE };

struct live {
	struct rd_ctx *ctx;
	struct rd_repeat *repeat;
	struct qp_history history;
	struct qp_recorder recorder; /* with --trace */
	struct qp_sample sample;
	bool loaded; /* the sample is valid */
	bool ended;  /* it is the last one of a bundle */
	size_t grouping;
	struct qp_page shown;
	bool reselected; /* by another key of --by than before */
};

/* The recorder's ring buffer is drained in this interval, so that it does not overflow between two samples. */
#define DRAIN_MS 200

static int milliseconds_left(void *arg)
{
	struct live *live = arg;
	int left = rd_ticks_left_ms(&live->repeat->ticks);
	struct rd_err err = { 0 };

	/* An error here recurs, and is reported, when the ring buffer is drained for the sample. */
	if (!live->recorder.session || left <= DRAIN_MS || qp_recorder_drain(&live->recorder, &err) < 0)
		return left;
	return DRAIN_MS;
}

/* Of a bundle, each sample is shown once, and the last one stays. */
static int go_on(struct live *live, struct rd_err *err)
{
	int r = live->ctx->globals.from && live->loaded ? rd_source_bundle_next(live->ctx->source, err) : 0;

	live->ended = r == -ENODATA;
	return live->ended ? 0 : r;
}

static int load_sample(struct live *live, struct rd_err *err)
{
	int r = 0;

	/* Recorded events are older than the sample. */
	if (live->recorder.session)
		r = qp_recorder_drain(&live->recorder, err);
	if (r < 0)
		return r;
	qp_sample_deinit(&live->sample);
	r = qp_load(live->ctx, live->ctx->source, &live->history, &live->sample, err);
	live->loaded = r == 0;
	if (!r && live->recorder.session)
		qp_recorder_report_lost(&live->recorder, &live->sample.report.errors);
	return r;
}

static int take_sample(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	int r;

	if (!rd_repeat_next(live->repeat))
		return 1;
	r = live->ended ? 0 : go_on(live, err);
	if (!r && !live->ended)
		r = load_sample(live, err);
	if (r < 0)
		return r;
	qp_page_fill(&live->shown, &live->sample,
		     !live->recorder.session ? "" :
		     live->recorder.lost     ? "recording, records lost  " :
					       "recording  ",
		     page);
	page->reselected = live->reselected;
	live->reselected = false;
	return 0;
}

static int group(void *arg)
{
	const struct live *live = arg;

	return live->shown.grouped ? -1 : groupings[live->grouping];
}

static const int *columns(void *arg)
{
	const struct live *live = arg;

	return live->shown.columns;
}

static int key(void *arg, int key)
{
	struct live *live = arg;

	if (key != 'g')
		return 0;
	if (live->shown.grouped)
		live->shown.by = (live->shown.by + 1) % (RD_BY_JOB + 1);
	else
		live->grouping = (live->grouping + 1) % RD_ARRAY_SIZE(groupings);
	live->reselected = live->shown.grouped;
	return 1;
}

/* All known values of one queue pair. */
static int detail(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	(void)arg, (void)err;
	*ret = rd_view_page();
	rd_view_add_values(*ret, body, row);
	return 0;
}

static int start_recorder(struct live *live)
{
	struct rd_err err = { 0 };
	int r;

	live->recorder.ctx = live->ctx;
	r = qp_recorder_start(&live->recorder, &err);
	if (r < 0)
		return rd_fail(live->ctx, &err);
	live->history.track = live->recorder.track;
	live->history.recorded = true;
	return 0;
}

int qp_live(struct rd_ctx *ctx)
{
	static const int keys[] = { RD_QP_IBDEV, RD_QP_LQPN, -1 };
	static const int group_keys[] = { RD_QP_GROUP_NAME, RD_QP_GROUP_IBDEV, -1 };
	static const int restless[] = { RD_QP_AGE, RD_QP_AGE_MAX, RD_QP_SQ_PSN, RD_QP_RQ_PSN, RD_QP_PSN_RATE, RD_QP_WHY,
					-1 };
	static const char *const help[] = { "g        group by peer, job, device, state, or ungroup", NULL };
	static const char *const group_help[] = { "g        count by state, process, device, peer or job", NULL };
	struct qp_opts *opts = ctx->state;
	double interval = opts->repeat.seconds > 0 ? opts->repeat.seconds : 2;
	struct rd_view_ops ops = { .look = take_sample,
				   .due = milliseconds_left,
				   .keys = opts->grouped ? group_keys : keys,
				   .restless = opts->grouped ? NULL : restless,
				   .worst_first = true,
				   .columns = columns,
				   .group = group,
				   .detail = detail,
				   .key = key,
				   .help = opts->grouped ? group_help : help,
				   .marked = (uint16_t)(MARKED_SECONDS / interval + 1) };
	struct live live = { .ctx = ctx,
			     .repeat = &opts->repeat,
			     .history = { .repeated = true },
			     .shown = { .grouped = opts->grouped, .by = opts->by } };
	struct rd_err err = { 0 };
	int r = opts->trace ? start_recorder(&live) : 0;

	if (!r) {
		rd_repeat_begin(&opts->repeat, interval);
		r = rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
	}
	qp_sample_deinit(&live.sample);
	qp_history_deinit(&live.history);
	qp_recorder_deinit(&live.recorder);
	return r;
}
