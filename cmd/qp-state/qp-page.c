/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp-page.h"

#include <string.h>

#include "analyse/qp/qp-groups.h"
#include "analyse/qp/qp-verdict.h"
#include "base/text.h"
#include "render/render.h"
#include "report/qp/report-qp.h"

struct ranked {
	struct rd_row row;
	bool moving;
	double age; /* seconds; -1: unknown */
	size_t at;  /* in the report */
};

static int compare_ranked(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return RD_CMP(b->row.severity, a->row.severity) ?:
		       RD_CMP(a->moving, b->moving)	?:
		       RD_CMP(b->age, a->age)		?:
							  RD_CMP(a->at, b->at);
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
	qsort(ranked, section->n, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < section->n; i++)
		section->rows[i] = ranked[i].row;
}

/* The last section of the report, which loses it. */
static struct rd_section *take_section(struct rd_report *report)
{
	return report->sections[--report->n_sections];
}

static struct rd_section *qps_of(struct qp_sample *sample)
{
	struct rd_section *section;
	size_t row = 0;

	rd_report_qps(&sample->report, &sample->views, sample->chosen);
	section = take_section(&sample->report);
	rd_section_store(section); /* the sample is gone while it is shown */
	for (size_t i = 0; i < sample->res.n_qps && row < section->n; i++)
		if (sample->chosen[i])
			rd_row_severity(&section->rows[row++], rd_qp_verdict_severity(sample->views.v[i].verdict->kind));
	sort_worst_first(section, RD_QP_AGE, RD_QP_PSN_RATE);
	return section;
}

static struct rd_section *groups_of(struct qp_sample *sample, enum rd_qp_by by, uint64_t *without_peer)
{
	struct rd_qp_groups groups = { 0 };
	struct rd_section *section;

	rd_qp_group_by(&sample->views, sample->chosen, by, &groups);
	rd_report_qp_groups(&sample->report, &sample->res, &groups);
	section = take_section(&sample->report);
	for (size_t i = 0; i < groups.n && i < section->n; i++)
		rd_row_severity(&section->rows[i], groups.v[i].worst);
	*without_peer = groups.without_peer;
	rd_qp_groups_deinit(&groups);
	sort_worst_first(section, -1, -1);
	return section;
}

/* The verdict comes first: it fits even 40 columns, next to the numbers that identify a queue pair. */
static void select_qp_columns(struct qp_page *shown)
{
	static const int columns[] = { RD_QP_VERDICT,  RD_QP_IBDEV, RD_QP_LQPN,	    RD_QP_STATE,
				       RD_QP_AGE,      RD_QP_PEER,  RD_QP_COMM,	    RD_QP_TYPE,
				       RD_QP_PSN_RATE, RD_QP_JOB,   RD_QP_LAST_ERR, -1 };

	_Static_assert(RD_ARRAY_SIZE(columns) <= QP_PAGE_COLUMNS + 1, "too many columns");
	memcpy(shown->columns, columns, sizeof(columns));
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

/* "1 problem, 3 unknown in ": as many rows as 'n' visits, and as many as have no verdict. */
static void add_problems(const struct rd_section *body, struct rd_buf *out)
{
	size_t problems = 0, unknown = 0;

	for (size_t i = 0; i < body->n; i++) {
		problems += body->rows[i].severity >= RD_SEV_WARNING;
		unknown += body->rows[i].severity == RD_SEV_UNKNOWN;
	}
	add_count("", problems, "problem", out);
	if (unknown)
		rd_buf_printf(out, ", %zu unknown", unknown);
	rd_buf_str(out, " in ");
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

void qp_page_fill(struct qp_page *shown, struct qp_sample *sample, const char *recording, struct rd_view_page *page)
{
	_cleanup_buf_ struct rd_buf out = { 0 }, groups = { 0 };
	uint64_t without_peer = 0;
	char when[RD_CLOCK_SIZE];

	page->body = shown->grouped ? groups_of(sample, shown->by, &without_peer) : qps_of(sample);
	if (shown->grouped) {
		select_group_columns(shown, page->body);
		add_count("", page->body->n, "group", &groups);
		rd_buf_str(&groups, " of ");
	} else {
		select_qp_columns(shown);
		add_alarm(page->body, page);
	}
	rd_buf_printf(&out, "qp-state  %s  %s  %s", sample->report.host ? sample->report.host : "-",
		      rd_clock(sample->report.time, when), recording);
	add_problems(page->body, &out);
	add_states(sample, groups.data ? groups.data : "", &out);
	if (without_peer)
		rd_buf_printf(&out, ", %llu without peer", (unsigned long long)without_peer);
	if (sample->findings.n)
		add_count(", ", sample->findings.n, "finding", &out);
	if (sample->report.errors.n)
		add_count(", ", sample->report.errors.n, "read error", &out);
	page->headline = RD_TAKE(out.data);
}
