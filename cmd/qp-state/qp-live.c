// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state --live */
#include <string.h>

#include "analyse/qp/qp-verdict.h"
#include "base/text.h"
#include "qp-recorder.h"
#include "qp.h"
#include "report/qp/report-qp.h"
#include "view/view.h"

#define MARKED_SECONDS 5 /* how long a change is marked */
#define VALUE_WIDTH 58

static const int groupings[] = { -1, RD_QP_PEER, RD_QP_JOB, RD_QP_IBDEV, RD_QP_STATE };

struct live {
	struct rd_ctx *ctx;
	struct rd_repeat *repeat;
	struct qp_history history;
	struct qp_recorder recorder; /* with --trace */
	size_t grouping;
	struct rd_column columns[RD_QP_COLUMNS]; /* as rd_qp_columns, with other ones visible */
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

/* The worst states first: 80 columns may cut off the rest. */
static void add_states(const struct qp_sample *sample, struct rd_buf *out)
{
	static const uint8_t order[] = { RD_QPS_ERR, RD_QPS_SQE,  RD_QPS_N,	RD_QPS_SQD,
					 RD_QPS_RTR, RD_QPS_INIT, RD_QPS_RESET, RD_QPS_RTS };
	size_t states[RD_QPS_N + 1] = { 0 }, shown = 0;

	for (size_t i = 0; i < sample->res.n_qps; i++) {
		const struct rd_qp *qp = &sample->res.qps[i];

		if (!sample->chosen[i])
			continue;
		shown++;
		states[qp->state.known == RD_OK && qp->state.v < RD_QPS_N ? qp->state.v : RD_QPS_N]++;
	}
	rd_buf_printf(out, "%zu QP%s:", shown, shown == 1 ? "" : "s");
	for (size_t s = 0; s < RD_ARRAY_SIZE(order); s++)
		if (states[order[s]])
			rd_buf_printf(out, " %zu %s", states[order[s]],
				      order[s] < RD_QPS_N ? rd_qp_state_name(order[s]) : "unknown");
}

static char *headline_of(const struct live *live, const struct qp_sample *sample)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	char when[RD_CLOCK_SIZE];

	rd_buf_printf(&out, "qp-state  %s  %s  ", sample->report.host ? sample->report.host : "-",
		      rd_clock(sample->report.time, when));
	if (live->recorder.session)
		rd_buf_printf(&out, "recording%s  ", live->recorder.lost ? ", records lost" : "");
	if (sample->findings.n)
		rd_buf_printf(&out, "%zu finding%s, ", sample->findings.n, sample->findings.n == 1 ? "" : "s");
	add_states(sample, &out);
	return RD_TAKE(out.data);
}

/* The columns of the live view fit 80 characters. */
static void set_columns(struct rd_column *columns)
{
	static const int shown[] = { RD_QP_IBDEV, RD_QP_LQPN, RD_QP_TYPE,    RD_QP_STATE,    RD_QP_PEER,
				     RD_QP_COMM,  RD_QP_AGE,  RD_QP_VERDICT, RD_QP_PSN_RATE, RD_QP_LAST_ERR };

	memcpy(columns, rd_qp_columns, sizeof(rd_qp_columns));
	for (size_t c = 0; c < RD_QP_COLUMNS; c++)
		columns[c].hidden = true;
	for (size_t i = 0; i < RD_ARRAY_SIZE(shown); i++)
		columns[shown[i]].hidden = false;
}

static struct rd_section *body_of(const struct live *live, const struct qp_sample *sample)
{
	struct rd_section *section;
	struct rd_report report;
	size_t row = 0;

	rd_report_init(&report, "");
	rd_report_qps(&report, &sample->views, sample->chosen);
	section = report.sections[--report.n_sections];
	rd_section_store(section); /* the sample is gone while it is shown */
	rd_report_deinit(&report);
	section->columns = live->columns;
	for (size_t i = 0; i < sample->res.n_qps && row < section->n; i++)
		if (sample->chosen[i])
			rd_row_severity(&section->rows[row++], rd_qp_verdict_severity(sample->views.v[i].verdict.kind));
	return section;
}

static int take_sample(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	struct qp_sample found;
	int r = 0;

	if (!rd_repeat_next(live->repeat))
		return 1;
	/* Recorded events are older than the sample. */
	if (live->recorder.session)
		r = qp_recorder_drain(&live->recorder, err);
	if (r < 0)
		return r;
	r = qp_load(live->ctx, live->ctx->source, &live->history, &found, err);
	if (!r && live->recorder.session)
		qp_recorder_report_lost(&live->recorder, &found.report.errors);
	if (!r) {
		page->body = body_of(live, &found);
		page->headline = headline_of(live, &found);
	}
	qp_sample_deinit(&found);
	return r;
}

static int group(void *arg)
{
	const struct live *live = arg;

	return groupings[live->grouping];
}

static int key(void *arg, int key)
{
	struct live *live = arg;

	if (key != 'g')
		return 0;
	live->grouping = (live->grouping + 1) % RD_ARRAY_SIZE(groupings);
	return 1;
}

static const struct rd_column detail_columns[] = {
	{ "what", "WHAT", RD_T_STR, "name of the value", 0, false },
	{ "value", "VALUE", RD_T_STR, "value", 0, false },
};

/* A name and its value, wrapped between words to fit 80 columns. */
static void add_fact(struct rd_section *section, const char *name, const char *value)
{
	while (*value) {
		size_t size = strlen(value);
		_cleanup_free_ char *part = NULL;
		struct rd_row *row;

		if (size > VALUE_WIDTH) {
			size = VALUE_WIDTH;
			while (size > VALUE_WIDTH / 2 && value[size] != ' ')
				size--;
		}
		part = rd_dup_part(value, size);
		row = rd_section_add(section);
		rd_row_str(row, 0, name);
		rd_row_str(row, 1, part);
		name = "";
		value += size;
		value += strspn(value, " ");
	}
}

/* All known values of one queue pair. */
static int detail(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	struct rd_section *section = rd_section_create("qp", detail_columns, RD_ARRAY_SIZE(detail_columns));

	(void)arg;
	(void)err;
	for (size_t c = 0; c < body->n_columns; c++) {
		const struct rd_cell *cell = &rd_section_row(body, row)->cells[c];
		_cleanup_buf_ struct rd_buf text = { 0 };

		if (cell->known != RD_OK)
			continue;
		rd_render_cell(&body->columns[c], cell, &text);
		if (text.data)
			add_fact(section, body->columns[c].key, text.data);
	}
	*ret = section;
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
	static const int restless[] = { RD_QP_AGE, RD_QP_AGE_MAX, RD_QP_SQ_PSN, RD_QP_RQ_PSN, RD_QP_PSN_RATE, RD_QP_WHY,
					-1 };
	static const char *const help[] = { "g        group by peer, job, device, state, or ungroup", NULL };
	struct qp_opts *opts = ctx->state;
	double interval = opts->repeat.seconds > 0 ? opts->repeat.seconds : 2;
	struct rd_view_ops ops = { .look = take_sample,
				   .due = milliseconds_left,
				   .keys = keys,
				   .restless = restless,
				   .group = group,
				   .detail = detail,
				   .key = key,
				   .help = help,
				   .marked = (uint16_t)(MARKED_SECONDS / interval + 1) };
	struct live live = { .ctx = ctx, .repeat = &opts->repeat, .history = { .repeated = true } };
	struct rd_err err = { 0 };
	int r = opts->trace ? start_recorder(&live) : 0;

	set_columns(live.columns);
	if (!r) {
		rd_repeat_begin(&opts->repeat, interval);
		r = rd_view_run(&ops, &live, ctx->globals.style.colour, &err) < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
	}
	qp_history_deinit(&live.history);
	qp_recorder_deinit(&live.recorder);
	return r;
}
