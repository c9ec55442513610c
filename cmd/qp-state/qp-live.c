// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state --live: the rows of the report on the whole terminal, sorted by severity. */

#include "cmd/trace-errno/qp-recorder.h"
#include "qp.h"
#include "report/qp/report-qp.h"
#include "view/view.h"

#define QP_PAGE_COLUMNS 32

/* The rows of one page, and which of their columns are shown, for `columns` of struct rd_view_ops. */
struct qp_page {
	bool grouped; /* --by: rows are groups, else queue pairs */
	enum rd_qp_by by;
	int columns[QP_PAGE_COLUMNS + 1];
	/* Devices of this sample, and those that were removed with queue pairs of processes. */
	struct qp_seen {
		char ibdev[64];
		size_t qps;
	} * seen;
	size_t n_seen;
};

struct ranked {
	struct rd_row row;
	bool moving;
	double age; /* seconds; -1: unknown */
	size_t at;  /* in the report */
};

static int compare_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return RD_FIRST(RD_CMP(b->row.severity, a->row.severity), RD_CMP(a->moving, b->moving), RD_CMP(b->age, a->age),
			RD_CMP(a->at, b->at));
}

/* Those without packets first. `age`: the column with seconds, `rate`: with packets; -1: none. */
static void sort_worst_first(struct rd_section *section, int age, int rate)
{
	_cleanup_free_ struct ranked *ranked = rd_alloc(section->n + 1, sizeof(*ranked));

	for (size_t i = 0; i < section->n; i++) {
		const struct rd_cell *cells = section->rows[i].cells;

		ranked[i] = (struct ranked){ section->rows[i],
					     rate >= 0 && cells[rate].known == RD_OK && cells[rate].d > 0,
					     age >= 0 && cells[age].known == RD_OK ? cells[age].d : -1, i };
	}
	rd_sort(ranked, section->n, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < section->n; i++)
		section->rows[i] = ranked[i].row;
}

/* A row for each device that was removed: its queue pairs are in no list, and their processes have lost them. */
static void add_removed(struct qp_page *shown, const struct qp_sample *sample, struct rd_section *section)
{
	const struct rd_res *res = &sample->res;
	struct qp_seen *now = rd_alloc(res->n_devs + shown->n_seen + 1, sizeof(*now));
	size_t n = res->n_devs;

	for (size_t d = 0; d < n; d++)
		snprintf(now[d].ibdev, sizeof(now[d].ibdev), "%s", res->devs[d].name);
	for (size_t i = 0; i < res->n_qps; i++)
		if (sample->chosen[i] && res->qps[i].dev >= 0 && res->qps[i].owner.pid.known == RD_OK)
			now[res->qps[i].dev].qps++;
	for (size_t k = 0; k < shown->n_seen; k++) {
		const struct qp_seen *old = &shown->seen[k];
		_cleanup_free_ char *why = rd_text("the device was removed; processes had %zu queue pair%s of it",
						   old->qps, old->qps == 1 ? "" : "s");
		struct rd_row *row;

		if (!old->qps || rd_res_find_dev(res, old->ibdev) >= 0)
			continue;
		now[n++] = *old;
		row = rd_section_add(section);
		rd_row_set(row, RD_QP_IBDEV, RD_STR(old->ibdev));
		rd_row_set(row, RD_QP_VERDICT, RD_STR("removed"));
		rd_row_set(row, RD_QP_WHY, RD_STR(why));
		row->severity = RD_SEV_CRITICAL;
	}
	free(shown->seen);
	shown->seen = now;
	shown->n_seen = n;
}

static struct rd_section *qps_of(struct qp_page *shown, struct qp_sample *sample)
{
	struct rd_section *section;
	size_t row = 0;

	rd_report_qps(&sample->report, &sample->views, sample->chosen);
	section = rd_report_take(&sample->report, sample->report.n_sections - 1);
	rd_section_store(section); /* the sample is gone while it is shown */
	for (size_t i = 0; i < sample->res.n_qps && row < section->n; i++)
		if (sample->chosen[i])
			section->rows[row++].severity =
				rd_qp_verdicts[sample->views.v[i].verdict->kind].finding.severity;
	add_removed(shown, sample, section);
	sort_worst_first(section, RD_QP_AGE, RD_QP_PSN_RATE);
	return section;
}

static struct rd_section *groups_of(struct qp_sample *sample, enum rd_qp_by by, uint64_t *without_peer)
{
	_cleanup_(rd_qp_groups_deinit) struct rd_qp_groups groups = { 0 };
	struct rd_section *section;

	rd_qp_group_by(&sample->views, sample->chosen, by, &groups);
	rd_report_qp_groups(&sample->report, &sample->res, &groups);
	section = rd_report_take(&sample->report, sample->report.n_sections - 1);
	for (size_t i = 0; i < groups.n && i < section->n; i++)
		section->rows[i].severity = groups.v[i].worst;
	*without_peer = groups.without_peer;
	sort_worst_first(section, -1, -1);
	return section;
}

/* Those of the table of --by. */
static void select_group_columns(struct qp_page *shown, const struct rd_section *section)
{
	const char *at = qp_group_columns(shown->by);
	size_t n = 0;

	while (at && n < QP_PAGE_COLUMNS) {
		_cleanup_free_ char *key = rd_next_part(&at, ',');

		for (size_t c = 0; key && c < section->n_columns; c++)
			if (strcmp(section->columns[c].key, key) == 0)
				shown->columns[n++] = (int)c;
	}
	shown->columns[n] = -1;
}

/* The worst states first: 80 columns may cut off the rest. */
static void add_states(const struct qp_sample *sample, const char *rows, struct rd_buf *out)
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
	rd_buf_printf(out, "%s%zu QP%s:", rows, shown, shown == 1 ? "" : "s");
	for (size_t s = 0; s < RD_ARRAY_SIZE(order); s++)
		if (states[order[s]])
			rd_buf_printf(out, " %zu %s", states[order[s]],
				      order[s] < RD_QPS_N ? rd_qp_state_name(order[s]) : "unknown");
}

static void add_count(const char *before, size_t n, const char *what, struct rd_buf *out)
{
	rd_buf_printf(out, "%s%zu %s%s", before, n, what, n == 1 ? "" : "s");
}

/* The first row, if it is a problem: which queue pair, whose, and why. */
static void add_alarm(const struct rd_section *body, struct rd_view_page *page)
{
	const struct rd_row *row = body->n ? &body->rows[0] : NULL;
	static const int parts[] = { RD_QP_COMM, RD_QP_VERDICT, RD_QP_WHY };
	struct rd_buf out = { 0 };

	if (!row || row->severity < RD_SEV_WARNING)
		return;
	rd_buf_printf(&out, "%s: QP ", rd_severity_name(row->severity));
	rd_render_cell(&body->columns[RD_QP_LQPN], &row->cells[RD_QP_LQPN], &out);
	rd_buf_str(&out, " of ");
	rd_render_cell(&body->columns[RD_QP_IBDEV], &row->cells[RD_QP_IBDEV], &out);
	for (size_t i = 0; i < RD_ARRAY_SIZE(parts); i++) {
		if (row->cells[parts[i]].known != RD_OK)
			continue;
		rd_buf_str(&out, i == 0 ? ", " : ": ");
		rd_render_cell(&body->columns[parts[i]], &row->cells[parts[i]], &out);
	}
	page->alarm = out.data;
	page->alarm_severity = row->severity;
}

/* Fills body and headline of `page`. Worst verdict first; of two queue pairs with equal ones, that which is in its state for longer.
 * `recording`: "" or what the headline says about a recorder. */
static void fill_page(struct qp_page *shown, struct qp_sample *sample, const char *recording, struct rd_view_page *page)
{
	_cleanup_buf_ struct rd_buf out = { 0 }, groups = { 0 };
	uint64_t without_peer = 0;
	char when[RD_CLOCK_SIZE];
	static const int columns[] = { RD_QP_VERDICT,  RD_QP_IBDEV, RD_QP_LQPN,	    RD_QP_STATE,
				       RD_QP_AGE,      RD_QP_PEER,  RD_QP_COMM,	    RD_QP_TYPE,
				       RD_QP_PSN_RATE, RD_QP_JOB,   RD_QP_LAST_ERR, -1 };
	size_t problems = 0, unknown = 0;

	page->body = shown->grouped ? groups_of(sample, shown->by, &without_peer) : qps_of(shown, sample);
	if (shown->grouped) {
		select_group_columns(shown, page->body);
		add_count("", page->body->n, "group", &groups);
		rd_buf_str(&groups, " of ");
	} else {
		/* The verdict comes first: it fits even 40 columns, next to the numbers that identify a queue pair. */
		memcpy(shown->columns, columns, sizeof(columns));
		add_alarm(page->body, page);
	}
	rd_buf_printf(&out, "qp-state  %s  %s  %s", sample->report.host ?: "-", rd_clock(sample->report.time, when),
		      recording);
	/* "1 problem, 3 unknown in ": as many rows as 'n' visits, and as many as have no verdict. */
	for (size_t i = 0; i < page->body->n; i++) {
		problems += page->body->rows[i].severity >= RD_SEV_WARNING;
		unknown += page->body->rows[i].severity == RD_SEV_UNKNOWN;
	}
	add_count("", problems, "problem", &out);
	if (unknown)
		rd_buf_printf(&out, ", %zu unknown", unknown);
	rd_buf_str(&out, " in ");
	add_states(sample, groups.data ?: "", &out);
	if (without_peer)
		rd_buf_printf(&out, ", %llu without peer", (unsigned long long)without_peer);
	if (sample->findings.n)
		add_count(", ", sample->findings.n, "finding", &out);
	if (sample->report.errors.n)
		add_count(", ", sample->report.errors.n, "read error", &out);
	page->headline = RD_TAKE(out.data);
}

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
	int r = 0;

	if (!rd_repeat_next(live->repeat))
		return 1;
	/* Of a bundle, each sample is shown once, and the last one stays. */
	if (live->loaded && !live->ended && live->ctx->globals.from)
		r = rd_source_bundle_next(live->ctx->source, err);
	live->ended |= r == -ENODATA;
	if (live->ended)
		r = 0;
	else if (!r)
		r = load_sample(live, err);
	if (r < 0)
		return r;
	fill_page(&live->shown, &live->sample,
		  !live->recorder.session ? "" :
		  live->recorder.lost	  ? "recording, records lost  " :
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
				   .detail = rd_view_values,
				   .key = key,
				   .help = opts->grouped ? group_help : help,
				   .marked = (uint16_t)(MARKED_SECONDS / interval + 1) };
	struct live live = { .ctx = ctx,
			     .repeat = &opts->repeat,
			     .history = { .repeated = true },
			     .recorder = { .ctx = ctx },
			     .shown = { .grouped = opts->grouped, .by = opts->by } };
	struct rd_err err = { 0 };
	int r = opts->trace ? qp_recorder_start(&live.recorder, &err) : 0;

	if (r >= 0) {
		live.history.track = live.recorder.track;
		live.history.recorded = live.recorder.session;
		rd_repeat_begin(&opts->repeat, interval);
		r = rd_view_run(&ops, &live, ctx->globals.style.colour, &err);
	}
	r = r < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
	free(live.shown.seen);
	qp_sample_deinit(&live.sample);
	qp_history_deinit(&live.history);
	qp_recorder_deinit(&live.recorder);
	return r;
}
