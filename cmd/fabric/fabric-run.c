/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric */
#include <errno.h>
#include <time.h>

#include "analyse/fabric/fabric-judge.h"
#include "analyse/fabric/fabric-rank.h"
#include "cmd/output.h"
#include "collect/fabric/topology.h"
#include "fabric-cmd.h"
#include "fabric-csv.h"
#include "fabric-record.h"
#include "report/shared/finding.h"
#include "source/opener/new-file.h"

#define BUSIEST 20
#define FINDINGS_SHOWN 20
#define LATENCY_ASSUMED 0.00025 /* seconds: current switches respond in 0.2 to 0.3 ms */
#define LATENCY_PORTS 256	/* at which it is measured, about */

/* Adds about FINDINGS_SHOWN findings, and what the others are. Reorders them. */
static void add_findings(const struct rd_ctx *ctx, struct rd_report *report, struct rd_buf *out)
{
	size_t n = report->findings.n, shown;

	if (n == 0)
		return;
	shown = rd_fabric_rank_shown(&report->findings, FINDINGS_SHOWN);
	report->findings.n = shown;
	rd_buf_str(out, ctx->globals.rows_only ? "" : "\n");
	rd_output_findings(ctx, report, out);
	report->findings.n = n;
	if (shown < n) {
		rd_fabric_rank_rest(&report->findings, shown, out);
		rd_buf_str(out, "; use --json to list all\n");
	}
}

/* Prints findings and fixes, then ports. */
static int print_report(struct fabric_session *s, struct rd_report *report, bool again)
{
	_cleanup_buf_ struct rd_buf out = { 0 }, table = { 0 };
	struct rd_table_style with_columns = s->ctx->globals.style, *style = &with_columns;
	bool rows_only = s->ctx->globals.rows_only;
	const struct rd_section *ports = rd_report_section(report, "ports");
	struct rd_err err = { 0 };

	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		return rd_output_print(s->ctx, report);
	/* A single sweep has no rates. */
	if (!again && !style->columns)
		style->columns = "NODE,PORT,LID,LINK,CABLE,FRESH,ERROR,ERRORS";
	if (!rows_only) {
		fabric_headline(s, report, &out);
		rd_buf_str(&out, "\n");
		if (!again)
			rd_report_fabric_census_line(&s->run.fabric, &out);
	}
	add_findings(s->ctx, report, &out);
	if (ports->n > 0 && !rows_only)
		rd_buf_str(&out, "\n");
	if ((ports->n > 0 || rows_only) && rd_render_table(ports, style, &table, &err) == -EINVAL)
		return rd_fail_usage(s->ctx->cmd, &err);
	for (size_t i = 0; i < report->errors.n; i++)
		rd_warn(s->ctx, "%s: %s", report->errors.v[i].object, report->errors.v[i].message);
	rd_out_beside(s->ctx, &out);
	rd_out(&table);
	return report->status;
}

/* Reports the latest sweep; an exit code. */
static int report_sweep(struct fabric_session *s, bool again)
{
	const struct rd_fabric *fabric = &s->run.fabric;
	_cleanup_free_ bool *picked = NULL;
	struct rd_report report;
	int r;

	if (!s->cmd->all && !s->ctx->globals.json) {
		picked = rd_alloc(fabric->n_ports + 1, sizeof(*picked));
		if (again)
			rd_fabric_pick_changed(fabric, BUSIEST, picked);
		else
			rd_fabric_pick_faulty(fabric, picked);
	}
	fabric_session_report(s, picked, NULL, &report);
	r = print_report(s, &report, again);
	rd_report_deinit(&report);
	return r;
}

static int sweep_once(struct fabric_session *s)
{
	struct rd_err err = { 0 };
	int r = fabric_session_begin(s, &err);

	if (!r)
		r = fabric_session_sweep(s, &err);
	return r < 0 ? rd_fail(s->ctx, &err) : report_sweep(s, false);
}

/* Sweeps, records and reports at an interval. */
static void sweep_at_tick(struct fabric_session *s, struct fabric_record *record, struct fabric_csv *csv, bool again)
{
	const struct rd_buf empty = { .data = (char *)(uintptr_t) "\n", .len = 1 };
	struct rd_err err = { 0 };

	if (fabric_session_sweep(s, &err) < 0) {
		rd_fail(s->ctx, &err);
		return;
	}
	if (record)
		fabric_record_add(record, &s->run.fabric, s->ctx->source->ops->now(s->ctx->source, CLOCK_REALTIME));
	if (csv)
		fabric_csv_add(csv, s->ctx->source->ops->now(s->ctx->source, CLOCK_REALTIME));
	fabric_session_keep_status(s, report_sweep(s, again));
	if (!s->ctx->globals.json && !s->ctx->globals.rows_only && !rd_metrics_wanted(s->ctx))
		rd_out(&empty);
}

/* Documents have the latched findings in their last line; a table without headings is for programs. */
static void print_summary(const struct fabric_session *s)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		return;
	fabric_summary(s, &out);
	rd_out_beside(s->ctx, &out);
}

/* Between two ticks, so that the next sweep begins in time. */
static bool refresh_between(void *arg, unsigned ms)
{
	return fabric_refresh(arg, ms);
}

/* Sweeps at each tick; returns the worst exit code. */
static int sweep_repeatedly(struct fabric_session *s, struct fabric_record *record, struct fabric_csv *csv)
{
	struct rd_err err = { 0 };

	s->ctx->lines = true;
	if (fabric_session_begin(s, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_repeat_begin(&s->cmd->repeat, 1);
	rd_ticks_catch_signals();
	for (unsigned long i = 0; !s->cmd->repeat.count || i < s->cmd->repeat.count; i++) {
		if (rd_ticks_wait_doing(&s->cmd->repeat.ticks, refresh_between, &s->run) < 0)
			break;
		sweep_at_tick(s, record, csv, i > 0);
		if (rd_out_failure())
			break;
	}
	print_summary(s);
	return s->worst;
}

static int repeat_and_write_csv(struct fabric_session *s)
{
	struct fabric_csv csv;
	struct rd_err err = { 0 };
	int r = fabric_csv_open(s, s->cmd->record, &csv, &err);

	if (r < 0) {
		r = rd_fail(s->ctx, &err);
	} else {
		r = sweep_repeatedly(s, NULL, &csv);
		if (fabric_csv_finish(&csv, &err) < 0)
			r = rd_fail(s->ctx, &err);
	}
	fabric_csv_close(&csv);
	return r;
}

static int repeat_and_record(struct fabric_session *s)
{
	struct fabric_record record;
	struct rd_err err = { 0 };
	int r;

	if (!s->cmd->record)
		return sweep_repeatedly(s, NULL, NULL);
	if (fabric_csv_wanted(s->cmd->record))
		return repeat_and_write_csv(s);
	r = fabric_record_open(s->ctx, s->cmd->record, &record, &err);
	if (r < 0) {
		r = r == -EINVAL ? rd_fail_usage(s->ctx->cmd, &err) : rd_fail(s->ctx, &err);
	} else {
		r = sweep_repeatedly(s, &record, NULL);
		if (fabric_record_finish(&record, &err) < 0)
			r = rd_fail(s->ctx, &err);
	}
	fabric_record_close(&record);
	return r;
}

/* What a saved topology lacks would later be reported as additional. An exit code. */
static int warn_of_walk(const struct fabric_session *s)
{
	struct rd_findings findings = { 0 };
	enum rd_severity worst;

	rd_fabric_judge_walk(&s->run.fabric, &findings);
	for (size_t i = 0; i < findings.n; i++)
		rd_warn(s->ctx, "%s: %s; %s", findings.v[i].subject, findings.v[i].title, findings.v[i].observed);
	worst = rd_findings_worst(&findings);
	rd_findings_deinit(&findings);
	return worst == RD_SEV_CRITICAL ? RD_EXIT_CRITICAL : worst == RD_SEV_WARNING ? RD_EXIT_WARNING : RD_EXIT_OK;
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
	return warn_of_walk(s);
}

/* Compares two saved topologies, without a network. */
static int compare_files(struct fabric_session *s, const struct rd_fabric *now)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_findings findings = { 0 };
	struct rd_report report;
	int r;

	rd_fabric_compare(&s->plan, now, &findings);
	rd_output_init(s->ctx, &report);
	rd_fabric_rank(&findings);
	rd_report_add_findings(&report, &findings);
	rd_findings_deinit(&findings);
	report.status = fabric_status(&report);
	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx)) {
		r = rd_output_print(s->ctx, &report);
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

/* Measures the response time of the agents, at ports spread over the network. */
static void measure_latency(struct fabric_session *s, struct rd_plan_basis *basis)
{
	struct rd_fabric *fabric = &s->run.fabric;
	_cleanup_free_ bool *selected = rd_alloc(fabric->n_ports + 1, sizeof(*selected));
	size_t step = fabric->n_ports / LATENCY_PORTS + 1;
	struct rd_err err;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		selected[i] = fabric->ports[i].selected;
		fabric->ports[i].selected &= i % step == 0;
	}
	if (fabric_sweep(&s->run, &err) == 0 && fabric->sweep.latencies > 0) {
		basis->latency = (double)fabric->sweep.latency_median_ns / 1e9;
		basis->measured = true;
	}
	for (size_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].selected = selected[i];
}

/* Prints the share of each host; an exit code. `fabric`: discovered, or read from a file. */
static int show_plan(struct fabric_session *s, const struct rd_fabric *fabric)
{
	struct rd_sweep_limits usual = RD_SWEEP_LIMITS_DEFAULT;
	const struct fabric_opts *opts = &s->cmd->engine;
	struct rd_plan_basis basis = {
		.latency = LATENCY_ASSUMED,
		.window = opts->window ? opts->window : usual.window,
		.per_lid = usual.per_lid,
	};
	struct rd_findings findings = { 0 };
	struct rd_err err = { 0 };
	struct rd_report report;
	uint64_t attributes;
	int r = fabric_session_divide(s, fabric, &err);

	if (!r)
		r = fabric_subsets(opts, &attributes, &err);
	if (r < 0)
		return rd_fail(s->ctx, &err);
	basis.attributes = (unsigned)__builtin_popcountll(attributes);
	if (s->run.mads)
		measure_latency(s, &basis);
	rd_shards_predict(&s->shards, basis.attributes, basis.latency, basis.window, basis.per_lid);
	rd_output_init(s->ctx, &report);
	rd_report_plan(&report, &s->shards, &basis);
	rd_shards_judge(&s->shards, &findings);
	rd_fabric_judge_walk(fabric, &findings);
	rd_report_add_findings(&report, &findings);
	rd_findings_deinit(&findings);
	report.status = rd_report_judge(&report);
	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		r = rd_output_print(s->ctx, &report);
	else
		r = rd_output_tables(s->ctx, &report, (const struct rd_section *const *)report.sections, 1);
	rd_report_deinit(&report);
	return r;
}

static int run_on_topology(struct fabric_session *s)
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

static int run_session(struct fabric_session *s, int n_operands, char **operands)
{
	const struct fabric_cmd *cmd = s->cmd;
	struct rd_err err = { 0 };

	if (cmd->merge)
		return fabric_merge(s, n_operands, operands);
	if (cmd->topology)
		return run_on_topology(s);
	if (cmd->path)
		return fabric_path(s, cmd->path, operands[0]);
	if (cmd->routes)
		return fabric_routes(s);
	if (cmd->save_topology)
		return save_topology(s);
	if (cmd->live)
		return fabric_live(s);
	if (cmd->repeat.seconds > 0 || cmd->record)
		return repeat_and_record(s);
	if (!cmd->plan)
		return sweep_once(s);
	return fabric_session_begin(s, &err) < 0 ? rd_fail(s->ctx, &err) : show_plan(s, &s->run.fabric);
}

int fabric_run(struct rd_ctx *ctx, int argc, char **argv)
{
	struct fabric_session s;
	struct rd_err err = { 0 };
	int r;

	ctx->schema = "rdmadiag/counters-fabric/1";
	r = fabric_session_init(ctx, &s, &err);
	if (r < 0)
		r = r == -EINVAL ? rd_fail_usage(ctx->cmd, &err) : rd_fail(ctx, &err);
	else
		r = run_session(&s, argc, argv);
	fabric_session_deinit(&s);
	return r;
}
