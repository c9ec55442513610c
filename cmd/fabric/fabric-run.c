/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric */
#include <errno.h>
#include <time.h>

#include "analyse/fabric/fabric-compare.h"
#include "cmd/answer.h"
#include "collect/fabric/topology.h"
#include "fabric-cmd.h"
#include "fabric-record.h"
#include "report/shared/finding.h"
#include "source/opener/new-file.h"

#define BUSIEST 20
#define FINDINGS_SHOWN 20
#define LATENCY_ASSUMED 0.00025 /* seconds: a switch of today answers in 0.2 to 0.3 ms */
#define LATENCY_PORTS 256	/* of which it is measured */

/* The findings that fit on a page; the others are counted. */
static void add_findings(const struct rd_ctx *ctx, const struct rd_report *report, struct rd_buf *out)
{
	struct rd_report some = *report;
	size_t n = report->findings.n;

	if (n == 0)
		return;
	some.findings.n = n < FINDINGS_SHOWN ? n : FINDINGS_SHOWN;
	rd_buf_str(out, "\n");
	rd_answer_findings(ctx, &some, out);
	if (some.findings.n < n)
		rd_buf_printf(out, "and %zu more findings: --json has all\n", n - some.findings.n);
}

/* What is wrong comes first, and what to do about it; ports below. */
static int print(struct fabric_session *s, struct rd_report *report, bool again)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_table_style with_columns = s->ctx->globals.style, *style = &with_columns;
	const struct rd_section *ports = rd_report_section(report, "ports");
	struct rd_err err = { 0 };

	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		return rd_answer_print(s->ctx, report);
	/* One look has no rates. */
	if (!again && !style->columns)
		style->columns = "NODE,PORT,LID,LINK,CABLE,FRESH,ERROR,ERRORS";
	if (!style->raw && !style->no_headings) {
		fabric_headline(s, report, &out);
		rd_buf_str(&out, "\n");
		add_findings(s->ctx, report, &out);
		if (ports->n > 0)
			rd_buf_str(&out, "\n");
	}
	if ((ports->n > 0 || style->raw || style->no_headings) && rd_render_table(ports, style, &out, &err) == -EINVAL)
		return rd_fail_usage(s->ctx->cmd, &err);
	for (size_t i = 0; i < report->errors.n; i++)
		rd_warn(s->ctx, "%s: %s", report->errors.v[i].object, report->errors.v[i].message);
	rd_out(&out);
	return report->status;
}

/* Reports the latest look. */
static int answer(struct fabric_session *s, bool again)
{
	const struct rd_fabric *fabric = &s->run.fabric;
	_cleanup_free_ bool *picked = NULL;
	struct rd_report report;
	int r;

	if (!s->cmd->all && !s->ctx->globals.json) {
		picked = rd_alloc(fabric->n_ports + 1, sizeof(*picked));
		if (again)
			rd_fabric_pick_moving(fabric, BUSIEST, picked);
		else
			rd_fabric_pick_notable(fabric, picked);
	}
	fabric_session_report(s, picked, NULL, &report);
	r = print(s, &report, again);
	rd_report_deinit(&report);
	return r;
}

static int one_look(struct fabric_session *s)
{
	struct rd_err err = { 0 };
	int r = fabric_session_begin(s, &err);

	if (!r)
		r = fabric_session_look(s, &err);
	return r < 0 ? rd_fail(s->ctx, &err) : answer(s, false);
}

/* What there is to do at a tick; an exit code. */
static int tick(struct fabric_session *s, struct fabric_record *record, bool again)
{
	const struct rd_buf empty = { .data = (char *)(uintptr_t) "\n", .len = 1 };
	struct rd_err err = { 0 };
	int r = fabric_session_look(s, &err);

	if (r < 0)
		return rd_fail(s->ctx, &err);
	if (record)
		fabric_record_add(record, &s->run.fabric, s->ctx->source->ops->now(s->ctx->source, CLOCK_REALTIME));
	r = answer(s, again);
	if (!s->ctx->globals.json && !rd_metrics_wanted(s->ctx))
		rd_out(&empty);
	return r;
}

/* A sweep at each tick; the exit code is that of the worst. */
static int repeat(struct fabric_session *s, struct fabric_record *record)
{
	static const int rank[] = {
		[RD_EXIT_OK] = 0, [RD_EXIT_UNKNOWN] = 1, [RD_EXIT_WARNING] = 2, [RD_EXIT_CRITICAL] = 3
	};
	int worst = RD_EXIT_OK;
	struct rd_err err = { 0 };

	s->ctx->lines = true;
	if (fabric_session_begin(s, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_repeat_begin(&s->cmd->repeat, 1);
	rd_ticks_catch_signals();
	for (unsigned long i = 0; !s->cmd->repeat.count || i < s->cmd->repeat.count; i++) {
		int r;

		if (rd_ticks_wait(&s->cmd->repeat.ticks) < 0)
			break;
		r = tick(s, record, i > 0);
		worst = rank[r] > rank[worst] ? r : worst;
		if (rd_out_failure())
			break;
	}
	return worst;
}

static int repeat_and_record(struct fabric_session *s)
{
	struct fabric_record record;
	struct rd_err err = { 0 };
	int r;

	if (!s->cmd->record)
		return repeat(s, NULL);
	r = fabric_record_open(s->ctx, s->cmd->record, &record, &err);
	if (r < 0) {
		r = r == -EINVAL ? rd_fail_usage(s->ctx->cmd, &err) : rd_fail(s->ctx, &err);
	} else {
		r = repeat(s, &record);
		if (fabric_record_finish(&record, &err) < 0)
			r = rd_fail(s->ctx, &err);
	}
	fabric_record_close(&record);
	return r;
}

static int save_topology(struct fabric_session *s)
{
	_cleanup_buf_ struct rd_buf text = { 0 };
	struct rd_err err = { 0 };

	if (fabric_session_begin(s, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_topology_write(&s->run.fabric, &text);
	if (rd_replace_file(s->cmd->save_topology, &text, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_verbose(s->ctx, "%s: %zu nodes", s->cmd->save_topology, s->run.fabric.n_nodes);
	return RD_EXIT_OK;
}

/* One saved topology against another: no network is asked. */
static int compare_files(struct fabric_session *s, const struct rd_fabric *now)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_findings findings = { 0 };
	struct rd_report report;
	int r;

	rd_fabric_compare(&s->plan, now, &findings);
	rd_answer_init(s->ctx, &report);
	rd_findings_sort(&findings);
	rd_report_add_findings(&report, &findings);
	rd_findings_deinit(&findings);
	report.status = rd_report_judge(&report);
	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx)) {
		r = rd_answer_print(s->ctx, &report);
	} else {
		rd_buf_printf(&out, "%s: %zu difference%s from %s\n", s->cmd->topology, report.findings.n,
			      report.findings.n == 1 ? "" : "s", s->cmd->compare);
		add_findings(s->ctx, &report, &out);
		rd_out(&out);
		r = report.status;
	}
	rd_report_deinit(&report);
	return r;
}

/* How long this network's agents take to answer: of some ports here and there. */
static void measure(struct fabric_session *s, struct rd_plan_basis *basis)
{
	struct rd_fabric *fabric = &s->run.fabric;
	_cleanup_free_ bool *selected = rd_alloc(fabric->n_ports + 1, sizeof(*selected));
	size_t step = fabric->n_ports / LATENCY_PORTS + 1;
	struct rd_err err;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		selected[i] = fabric->ports[i].selected;
		fabric->ports[i].selected &= i % step == 0;
	}
	if (fabric_look(&s->run, &err) == 0 && fabric->sweep.latencies > 0) {
		basis->latency = (double)fabric->sweep.latency_median_ns / 1e9;
		basis->measured = true;
	}
	for (size_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].selected = selected[i];
}

/* Who reads what; an exit code. `fabric`: as it is, or as it was saved. */
static int show_plan(struct fabric_session *s, const struct rd_fabric *fabric)
{
	struct rd_sweep_limits usual = RD_SWEEP_LIMITS_DEFAULT;
	const struct fabric_opts *opts = &s->cmd->engine;
	struct rd_plan_basis basis = {
		.latency = LATENCY_ASSUMED,
		.window = opts->window ? opts->window : usual.window,
		.per_lid = opts->per_lid ? opts->per_lid : usual.per_lid,
	};
	struct rd_findings findings = { 0 };
	struct rd_err err = { 0 };
	struct rd_report report;
	uint64_t asked;
	int r = fabric_session_divide(s, fabric, &err);

	if (!r)
		r = fabric_subsets(opts, &asked, &err);
	if (r < 0)
		return rd_fail(s->ctx, &err);
	basis.attributes = (unsigned)__builtin_popcountll(asked);
	if (s->run.mads)
		measure(s, &basis);
	rd_shards_predict(&s->shards, basis.attributes, basis.latency, basis.window, basis.per_lid);
	rd_answer_init(s->ctx, &report);
	rd_report_plan(&report, &s->shards, &basis);
	rd_shards_judge(&s->shards, &findings);
	rd_report_add_findings(&report, &findings);
	rd_findings_deinit(&findings);
	report.status = rd_report_judge(&report);
	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		r = rd_answer_print(s->ctx, &report);
	else
		r = rd_answer_tables(s->ctx, &report, (const struct rd_section *const *)report.sections, 1);
	rd_report_deinit(&report);
	return r;
}

static int from_file(struct fabric_session *s)
{
	struct rd_fabric fabric;
	struct rd_err err = { 0 };
	int r = fabric_read_topology(s->cmd->topology, &fabric, &err);

	if (r < 0)
		return rd_fail(s->ctx, &err);
	r = s->cmd->plan ? show_plan(s, &fabric) : compare_files(s, &fabric);
	rd_fabric_deinit(&fabric);
	return r;
}

static int run(struct fabric_session *s)
{
	const struct fabric_cmd *cmd = s->cmd;
	struct rd_err err = { 0 };

	if (cmd->topology)
		return from_file(s);
	if (cmd->save_topology)
		return save_topology(s);
	if (cmd->live)
		return fabric_live(s);
	if (cmd->repeat.seconds > 0 || cmd->record)
		return repeat_and_record(s);
	if (!cmd->plan)
		return one_look(s);
	return fabric_session_begin(s, &err) < 0 ? rd_fail(s->ctx, &err) : show_plan(s, &s->run.fabric);
}

int fabric_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct fabric_session s;
	struct rd_err err = { 0 };
	int r;

	(void)argc, (void)argv;
	ctx->schema = "rdmadiag/counters-fabric/1";
	r = fabric_session_init(ctx, &s, &err);
	if (r < 0)
		r = r == -EINVAL ? rd_fail_usage(ctx->cmd, &err) : rd_fail(ctx, &err);
	else
		r = run(&s);
	fabric_session_deinit(&s);
	return r;
}
