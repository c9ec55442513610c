/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: options, and what the command does. */
#include <time.h>

#include "cmd/datafile.h"
#include "confine/confine.h"
#include "fabric.h"
#include "report/shared/report.h"
#include "source/opener/child.h"
#include "source/opener/opener.h"

/* ---- files given by options */

#define SHARDS_MAX 1000000

#define PARSING_MS 60000
#define TOPOLOGY_BYTES ((size_t)256 << 20)

struct topology_file {
	const char *path;
	struct rd_bytes bytes;
};

/* In a child. */
static int parse_confined(void *arg, struct rd_bytes *ret, struct rd_err *err)
{
	const struct topology_file *file = arg;
	int r = 0;

	rd_child_close_others();
	if (!rd_confined()->active)
		r = rd_confine(0, NULL, err);
	return r < 0 ? r : rd_topology_read(file->path, (const char *)file->bytes.data, file->bytes.size, ret, err);
}

/* This process keeps its privileges, to send MADs: another one parses the file. */
static int read_topology(const char *path, struct rd_fabric *ret, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes read = { 0 };
	struct topology_file file = { .path = path };
	int r = rd_read_local(path, &file.bytes, err) ?:
			rd_child_run(path, parse_confined, &file, PARSING_MS, TOPOLOGY_BYTES, &read, err);

	if (!r)
		r = rd_topology_build(path, &read, ret, err);
	rd_bytes_deinit(&file.bytes);
	return r;
}

static int read_limits(struct fabric_session *s, struct rd_err *err)
{
	_cleanup_(rd_table_deinit) struct rd_table table = { 0 };
	_cleanup_bytes_ struct rd_bytes own = { 0 };
	int r = rd_table_read_all("fabric-thresholds", &table, err);

	rd_fabric_limits_init(&s->limits);
	for (size_t i = table.n; i-- > 0 && !r;)
		r = rd_fabric_limits_parse(table.v[i].path, (const char *)table.v[i].bytes.data, table.v[i].bytes.size,
					   &s->limits, err);
	if (!r && s->cmd->thresholds)
		r = rd_read_local(s->cmd->thresholds, &own, err) ?:
			    rd_fabric_limits_parse(s->cmd->thresholds, (const char *)own.data, own.size, &s->limits,
						   err);
	return r;
}

static int parse_shard(struct fabric_session *s, struct rd_err *err)
{
	const char *at = s->cmd->shard;
	uint32_t k, n;

	if (rd_take_u32(&at, RD_DECIMAL, SHARDS_MAX, &k) < 0 || *at++ != '/' ||
	    rd_parse_u32(at, RD_DECIMAL, SHARDS_MAX, &n) < 0 || k < 1 || k > n) {
		rd_err_set(err, EINVAL, "--shard", "invalid share '%s': expected K/N", s->cmd->shard);
		return rd_err_hint(err, "K is from 1 to N: --shard 3/8");
	}
	s->shard_k = k;
	s->shard_n = n;
	return 0;
}

static int session_init(struct rd_ctx *ctx, struct fabric_session *s, struct rd_err *err)
{
	struct fabric_cmd *cmd = ctx->state;
	_cleanup_bytes_ struct rd_bytes hosts = { 0 };
	int r;

	*s = (struct fabric_session){ .ctx = ctx, .cmd = cmd, .shard = -1 };
	r = read_limits(s, err);
	if (!r && cmd->shard)
		r = parse_shard(s, err);
	if (!r && cmd->compare)
		r = read_topology(cmd->compare, &s->plan, err);
	if (!r && cmd->shards)
		r = rd_read_local(cmd->shards, &hosts, err) ?:
			    rd_hostfile_parse(cmd->shards, (const char *)hosts.data, hosts.size, &s->hosts, err);
	return r;
}

/* ---- shares, sweeps and the report of a session */

static void divide_ports(struct fabric_session *s, const struct rd_fabric *fabric)
{
	rd_shards_deinit(&s->shards);
	s->shard = -1;
	rd_shards_divide(fabric, s->hosts.v, s->hosts.n ?: s->shard_n, &s->shards);
}

/* Finds the share of this host: by the local adapter in use, else by the host name. */
static int find_self(struct fabric_session *s, const struct rd_fabric *fabric, struct rd_err *err)
{
	_cleanup_free_ char *name = NULL;

	if (!s->hosts.n) {
		s->shard = (ssize_t)s->shard_k - 1;
		return 0;
	}
	if (fabric->self != RD_NONE)
		s->shard = rd_shards_of_node(&s->shards, &fabric->nodes[fabric->ports[fabric->self].node]);
	if (s->shard < 0 && rd_read_textf(s->ctx->source, &name, NULL, "/proc/sys/kernel/hostname") == 0)
		s->shard = rd_shards_find(&s->shards, name);
	if (s->shard >= 0)
		return 0;
	rd_err_set(err, ENOENT, s->cmd->shards, "this host (%s) is not in the list", name ?: "?");
	return rd_err_hint(err, "add it to the list on all hosts, or print all shares with --plan");
}

/* Deselects the ports of other hosts. */
static int select_share(void *arg, struct rd_fabric *fabric, struct rd_err *err)
{
	struct fabric_session *s = arg;
	int r;

	divide_ports(s, fabric);
	r = find_self(s, fabric, err);
	for (size_t i = 0; !r && i < fabric->n_ports; i++)
		fabric->ports[i].selected = s->shards.owner[i] == s->shard;
	return r;
}

/* Whether sweeps are repeated, so that findings are remembered. */
static bool repeats_sweeps(const struct fabric_session *s)
{
	return s->cmd->repeat.seconds > 0 || s->cmd->live || s->cmd->record;
}

int fabric_session_begin(struct fabric_session *s, struct rd_err *err)
{
	struct fabric_opts opts = s->cmd->engine;
	bool repeats = repeats_sweeps(s);
	int r;

	opts.traffic = repeats || rd_metrics_wanted(s->ctx);
	if ((s->hosts.n || s->shard_n) && !s->cmd->plan) {
		opts.divide = select_share;
		opts.divide_arg = s;
	}
	r = fabric_begin(s->ctx->source, &opts, &s->run, err);
	/* wait_share needs the unit of PortXmitWait. */
	if (!r && repeats)
		r = rd_fabric_query_ticks(s->run.mads, &s->run.limits, &s->run.fabric, err);
	return r;
}

/* Keeps an exit code if it is the worst so far; 3 is better than 1. */
static void keep_status(struct fabric_session *s, int status)
{
	static const int rank[] = {
		[RD_EXIT_OK] = 0, [RD_EXIT_UNKNOWN] = 1, [RD_EXIT_WARNING] = 2, [RD_EXIT_CRITICAL] = 3
	};

	s->worst = rank[status] > rank[s->worst] ? status : s->worst;
}

int fabric_session_sweep(struct fabric_session *s, struct rd_err *err)
{
	int r = fabric_sweep(&s->run, err);

	if (r == -ECANCELED)
		return r; /* ended by the user */
	if (r < 0) {
		uint64_t now = s->ctx->source->ops->now(s->ctx->source, CLOCK_REALTIME);

		rd_latched_look(&s->latches.looks, now);
		rd_latched_look(&s->latches.failed, now);
		keep_status(s, RD_EXIT_UNKNOWN);
		return r;
	}
	rd_fabric_history_add(&s->history, &s->run.fabric);
	s->durations[s->n_durations++ % FABRIC_SWEEPS] = (double)s->run.fabric.sweep.duration_ns / 1e9;
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	return RD_CMP(*(const double *)a, *(const double *)b);
}

/* Of the latest FABRIC_SWEEPS sweeps. */
static struct rd_fabric_spread spread_of(const struct fabric_session *s)
{
	size_t n = s->n_durations < FABRIC_SWEEPS ? s->n_durations : FABRIC_SWEEPS;
	double sorted[FABRIC_SWEEPS];

	if (n == 0)
		return (struct rd_fabric_spread){ 0 };
	memcpy(sorted, s->durations, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	return (struct rd_fabric_spread){ sorted[0], sorted[n / 2], sorted[(n * 99) / 100], sorted[n - 1], n };
}

static int status_of(const struct rd_report *report)
{
	/* What follows from another finding is no worse than that: a host that is gone leaves errors at the port of its switch. */
	if (rd_findings_count(&report->findings, RD_SEV_CRITICAL) > 0)
		return RD_EXIT_CRITICAL;
	if (rd_findings_count(&report->findings, RD_SEV_WARNING) > 0)
		return RD_EXIT_WARNING;
	return rd_findings_count(&report->findings, RD_SEV_UNKNOWN) > 0 ? RD_EXIT_UNKNOWN : RD_EXIT_OK;
}

static void judge(struct fabric_session *s, struct rd_report *report)
{
	const struct rd_fabric *fabric = &s->run.fabric;
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_fabric_tally tally = rd_fabric_count_ports(fabric);

	rd_fabric_judge(fabric, &s->limits, &s->history, &findings);
	rd_fabric_judge_walk(fabric, &findings);
	if (s->cmd->compare) {
		rd_fabric_compare(&s->plan, fabric, &findings);
		if (rd_findings_count(&findings, RD_SEV_UNKNOWN) == 0)
			rd_fabric_accept_uplinks(&findings);
	}
	if (s->shard >= 0)
		rd_shards_judge(fabric, &s->shards, &findings);
	rd_fabric_rank(&findings);
	rd_report_add_findings(report, &findings);
	report->status = status_of(report);
	/* No queried port was read: no verdict is possible, so exit 3. */
	if (report->status < RD_EXIT_CRITICAL && tally.queried > 0 && tally.fresh == 0) {
		struct rd_err err = { 0 };

		rd_err_set(&err, ETIMEDOUT, "network", "no port responded to a performance query");
		rd_errlist_add(&report->errors, &err);
		report->status = RD_EXIT_UNKNOWN;
	}
}

/* Remembers the findings of a sweep, once. */
static void latch(struct fabric_session *s, const struct rd_report *report)
{
	if (!repeats_sweeps(s) || s->latched == s->n_durations)
		return;
	s->latched = s->n_durations;
	rd_fabric_latch(&s->latches, &report->findings, report->time);
	if (report->status == RD_EXIT_UNKNOWN)
		rd_latched_look(&s->latches.failed, report->time);
	keep_status(s, report->status);
}

void fabric_session_report(struct fabric_session *s, const bool *picked, const size_t *order, uint64_t *documented_ns,
			   struct rd_report *report)
{
	bool repeats = repeats_sweeps(s);
	struct rd_fabric_shown shown = {
		.fabric = &s->run.fabric,
		.now_ns = s->run.mads->ops->now(s->run.mads),
		.values = documented_ns != NULL,
		.nonzero = s->cmd->nonzero,
		.picked = picked,
		.order = order,
		.shards = s->shard >= 0 ? &s->shards : NULL,
		.shard = s->shard >= 0 ? (size_t)s->shard : 0,
		.sweeps = spread_of(s),
		.missed = s->cmd->repeat.ticks.missed,
	};

	rd_output_init(s->ctx, report);
	judge(s, report);
	latch(s, report);
	if (repeats)
		RD_SET(shown.latches_dropped, s->latches.dropped);
	if (repeats && documented_ns) {
		shown.changes = *documented_ns == s->run.fabric.discovered_ns;
		*documented_ns = s->run.fabric.discovered_ns;
	}
	rd_report_fabric_ports(report, &shown);
	rd_report_fabric_sweep(report, &shown);
	if (repeats && documented_ns) {
		_cleanup_free_ const struct rd_fabric_latch **ranked = rd_fabric_latches_ranked(&s->latches);

		rd_report_fabric_latched(report, ranked, s->latches.n);
	}
	if (rd_metrics_wanted(s->ctx))
		rd_report_fabric_metrics(report, &shown);
}

void fabric_verdict(const struct fabric_session *s, const struct rd_report *report, struct rd_buf *out)
{
	const struct rd_fabric *fabric = &s->run.fabric;
	struct rd_fabric_tally tally = rd_fabric_count_ports(fabric);
	size_t over = rd_fabric_latches_count(&s->latches, RD_SEV_CRITICAL, false) +
		      rd_fabric_latches_count(&s->latches, RD_SEV_WARNING, false);
	size_t warnings = rd_findings_count(&report->findings, RD_SEV_WARNING);
	size_t criticals = rd_findings_count(&report->findings, RD_SEV_CRITICAL);

	rd_buf_printf(out, "%zu critical, %zu warning%s", criticals, warnings, warnings == 1 ? "" : "s");
	if (over)
		rd_buf_printf(out, ", %zu over", over);
	rd_buf_printf(out, "; %zu nodes, %zu ports read in %.3f s", fabric->n_nodes, tally.fresh,
		      (double)fabric->sweep.duration_ns / 1e9);
	if (tally.partial)
		rd_buf_printf(out, ", %zu of them in part", tally.partial);
	if (tally.selected > tally.fresh)
		rd_buf_printf(out, ", %zu NOT read", tally.selected - tally.fresh);
	if (fabric->walk.lost)
		rd_buf_printf(out, "; discovery: %ju of %ju queries lost, %ju retries", (uintmax_t)fabric->walk.lost,
			      (uintmax_t)(fabric->walk.sent - fabric->walk.retries), (uintmax_t)fabric->walk.retries);
	else if (fabric->walk.retries)
		rd_buf_printf(out, "; discovery: %ju retries", (uintmax_t)fabric->walk.retries);
	if (s->shard >= 0)
		rd_buf_printf(out, "; share %zd of %zu", s->shard + 1, s->shards.n);
	if (s->cmd->repeat.ticks.missed)
		rd_buf_printf(out, "; %ju intervals skipped, the previous sweep took too long",
			      (uintmax_t)s->cmd->repeat.ticks.missed);
}

/* ---- what repeated sweeps found, at their end */

#define LATCHES_SHOWN 20
#define SECOND UINT64_C(1000000000)
#define DAY (24 * 3600 * SECOND)

/* In the local time zone; with the date if the sweeps took a day or more. */
static void add_time(const struct rd_fabric_latches *latches, uint64_t ns, struct rd_buf *out)
{
	bool dated = latches->looks.last_ns >= latches->looks.first_ns + DAY;
	time_t seconds = (time_t)(ns / SECOND);
	char text[32];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), dated ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm))
		rd_buf_str(out, text);
	else
		rd_buf_str(out, "?");
}

/* "07:12:03-07:14:10, 12 sweeps" */
static void add_looks(const struct rd_fabric_latches *latches, const struct rd_latched_looks *looks, struct rd_buf *out)
{
	add_time(latches, looks->first_ns, out);
	if (looks->n > 1) {
		rd_buf_str(out, "-");
		add_time(latches, looks->last_ns, out);
	}
	rd_buf_printf(out, ", %ju sweep%s", (uintmax_t)looks->n, looks->n == 1 ? "" : "s");
}

static void count_latches(const struct rd_fabric_latch *const *ranked, size_t n, size_t *critical, size_t *warning)
{
	*critical = *warning = 0;
	for (size_t i = 0; i < n; i++) {
		*critical += ranked[i]->severity == RD_SEV_CRITICAL;
		*warning += ranked[i]->severity == RD_SEV_WARNING;
	}
}

void fabric_summary(const struct fabric_session *s, struct rd_buf *out)
{
	const struct rd_fabric_latches *latches = &s->latches;
	_cleanup_free_ const struct rd_fabric_latch **ranked = rd_fabric_latches_ranked(latches);
	size_t critical, warning, shown = latches->n < LATCHES_SHOWN ? latches->n : LATCHES_SHOWN;

	if (latches->looks.n == 0)
		return;
	count_latches(ranked, latches->n, &critical, &warning);
	rd_buf_printf(out, "summary of ");
	add_looks(latches, &latches->looks, out);
	rd_buf_printf(out, ": exit status %d; found: %zu critical, %zu warning%s\n", s->worst, critical, warning,
		      warning == 1 ? "" : "s");
	for (size_t i = 0; i < shown; i++) {
		const struct rd_fabric_latch *latch = ranked[i];
		const char *next = i + 1 < shown ? ranked[i + 1]->fix : NULL;

		rd_buf_printf(out, "%s ", rd_severity_name(latch->severity));
		add_looks(latches, &latch->looks, out);
		rd_buf_part(out, latch->current ? ", current: " : ", over: ", latch->subject);
		rd_buf_printf(out, ": %s", latch->title);
		rd_buf_part(out, "; ", latch->observed);
		rd_buf_printf(out, " [%s]\n", latch->id);
		/* Findings that are alike have the same fix: it is printed once, below the last of them. */
		if (latch->fix && (!next || strcmp(latch->fix, next) != 0))
			rd_render_fix(ranked[i]->fix, out);
	}
	if (shown < latches->n) {
		count_latches(ranked + shown, latches->n - shown, &critical, &warning);
		rd_buf_printf(out, "%zu more: %zu critical, %zu warning%s; --json lists all\n", latches->n - shown,
			      critical, warning, warning == 1 ? "" : "s");
	}
	if (latches->dropped)
		rd_buf_printf(out, "findings were dropped, as at most %d are remembered: %ju, counted at each sweep\n",
			      RD_LATCHES_MAX, (uintmax_t)latches->dropped);
	if (latches->failed.n) {
		rd_buf_str(out, "unknown ");
		add_looks(latches, &latches->failed, out);
		rd_buf_str(out, ": no port could be read\n");
	}
}

/* ---- modes */

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
	_cleanup_free_ char *few = NULL;
	struct rd_table_style with_columns = s->ctx->globals.style, *style = &with_columns;
	bool rows_only = s->ctx->globals.rows_only;
	const struct rd_section *ports = rd_report_section(report, "ports");
	struct rd_err err = { 0 };

	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		return rd_output_print(s->ctx, report);
	/* A single sweep has no rates. */
	if (!again && (!style->columns || style->columns[0] == '+')) {
		few = rd_text("NODE,PORT,LID,LINK,CABLE,FRESH,ERROR,ERRORS%s%s", style->columns ? "," : "",
			      style->columns ? style->columns + 1 : "");
		style->columns = few;
	}
	if (!rows_only) {
		rd_buf_printf(&out, "fabric of %s/%u: ", s->run.fabric.ibdev, s->run.fabric.port);
		fabric_verdict(s, report, &out);
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
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

	if (!s->cmd->all && !s->ctx->globals.json) {
		picked = rd_alloc(fabric->n_ports + 1, sizeof(*picked));
		if (again)
			rd_fabric_pick_changed(fabric, BUSIEST, picked);
		else
			rd_fabric_pick_faulty(fabric, picked);
	}
	fabric_session_report(s, picked, NULL, s->ctx->globals.json ? &s->documented_ns : NULL, &report);
	return print_report(s, &report, again);
}

/* Between two ticks, so that the next sweep begins in time. */
static bool refresh_between(void *arg, unsigned ms)
{
	return fabric_refresh(arg, ms);
}

/* Sweeps, records and reports at each tick; returns the worst exit code. */
static int sweep_repeatedly(struct fabric_session *s, struct fabric_record *record)
{
	const struct rd_buf line = { .data = (char *)(uintptr_t) "\n", .len = 1 };
	bool text = !s->ctx->globals.json && !rd_metrics_wanted(s->ctx);
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_err err = { 0 };

	s->ctx->lines = true;
	if (fabric_session_begin(s, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_repeat_begin(&s->cmd->repeat, 1);
	rd_ticks_catch_signals();
	for (unsigned long i = 0; !s->cmd->repeat.count || i < s->cmd->repeat.count; i++) {
		if (rd_ticks_wait_doing(&s->cmd->repeat.ticks, refresh_between, &s->run) < 0)
			break;
		err = (struct rd_err){ 0 };
		if (fabric_session_sweep(s, &err) < 0) {
			rd_fail(s->ctx, &err);
		} else {
			if (record)
				fabric_record_add(record);
			keep_status(s, report_sweep(s, i > 0));
			if (text && !s->ctx->globals.rows_only)
				rd_out(&line);
		}
		if (rd_out_failure())
			break;
	}
	/* Documents have the latched findings in their last line; a table without headings is for programs. */
	if (text) {
		fabric_summary(s, &out);
		rd_out_beside(s->ctx, &out);
	}
	return s->worst;
}

/* The same, with a file. */
static int record_sweeps(struct fabric_session *s)
{
	struct fabric_record record;
	struct rd_err err = { 0 };
	int r = fabric_record_open(s, s->cmd->record, &record, &err);

	if (r < 0) {
		r = r == -EINVAL ? rd_fail_usage(s->ctx->cmd, &err) : rd_fail(s->ctx, &err);
	} else {
		r = sweep_repeatedly(s, &record);
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
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	enum rd_severity worst;

	if (fabric_session_begin(s, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_topology_write(&s->run.fabric, &text);
	if (rd_replace_file(s->cmd->save_topology, &text, &err) < 0)
		return rd_fail(s->ctx, &err);
	rd_verbose(s->ctx, "%s: %zu nodes", s->cmd->save_topology, s->run.fabric.n_nodes);
	/* What a saved topology lacks would later be reported as additional. An exit code. */
	rd_fabric_judge_walk(&s->run.fabric, &findings);
	for (size_t i = 0; i < findings.n; i++)
		rd_warn(s->ctx, "%s: %s; %s", findings.v[i].subject, findings.v[i].title, findings.v[i].observed);
	worst = rd_findings_worst(&findings);
	return worst == RD_SEV_CRITICAL ? RD_EXIT_CRITICAL : worst == RD_SEV_WARNING ? RD_EXIT_WARNING : RD_EXIT_OK;
}

/* Compares two saved topologies, without a network. */
static int compare_files(struct fabric_session *s, const struct rd_fabric *now)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };

	rd_fabric_compare(&s->plan, now, &findings);
	rd_output_init(s->ctx, &report);
	rd_fabric_rank(&findings);
	rd_report_add_findings(&report, &findings);
	report.status = status_of(&report);
	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		return rd_output_print(s->ctx, &report);
	rd_buf_printf(&out, "%s: %zu difference%s from %s\n", s->cmd->topology, report.findings.n,
		      report.findings.n == 1 ? "" : "s", s->cmd->compare);
	add_findings(s->ctx, &report, &out);
	rd_out(&out);
	return report.status;
}

/* Prints the share of each host; an exit code. `fabric`: discovered, or read from a file. */
static int show_plan(struct fabric_session *s, const struct rd_fabric *fabric)
{
	struct rd_sweep_limits usual = RD_SWEEP_LIMITS_DEFAULT;
	const struct fabric_opts *opts = &s->cmd->engine;
	struct rd_plan_basis basis = {
		.latency = LATENCY_ASSUMED,
		.window = opts->window ?: usual.window,
		.per_lid = usual.per_lid,
	};
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	struct rd_err err = { 0 };
	uint64_t attributes;

	divide_ports(s, fabric);
	if (rd_pma_subsets(opts->subsets, &attributes, &err) < 0)
		return rd_fail(s->ctx, &err);
	basis.attributes = (unsigned)__builtin_popcountll(attributes);
	if (s->run.mads) {
		struct rd_fabric *live = &s->run.fabric;
		_cleanup_free_ bool *selected = rd_alloc(live->n_ports + 1, sizeof(*selected));
		size_t step = live->n_ports / LATENCY_PORTS + 1;
		struct rd_err ignored;

		/* Measures the response time of the agents, at ports spread over the network. */
		for (size_t i = 0; i < live->n_ports; i++) {
			selected[i] = live->ports[i].selected;
			live->ports[i].selected &= i % step == 0;
		}
		if (fabric_sweep(&s->run, &ignored) == 0 && live->sweep.latencies > 0) {
			basis.latency = (double)live->sweep.latency_median_ns / 1e9;
			basis.measured = true;
		}
		for (size_t i = 0; i < live->n_ports; i++)
			live->ports[i].selected = selected[i];
	}
	rd_shards_predict(&s->shards, basis.attributes, basis.latency, basis.window, basis.per_lid);
	rd_output_init(s->ctx, &report);
	rd_report_plan(&report, &s->shards, &basis);
	rd_shards_judge(fabric, &s->shards, &findings);
	rd_fabric_judge_walk(fabric, &findings);
	rd_report_add_findings(&report, &findings);
	report.status = rd_report_judge(&report);
	if (s->ctx->globals.json || rd_metrics_wanted(s->ctx))
		return rd_output_print(s->ctx, &report);
	return rd_output_tables(s->ctx, &report, (const struct rd_section *const *)report.sections, 1);
}

static int run_session(struct fabric_session *s, int n_operands, char **operands)
{
	const struct fabric_cmd *cmd = s->cmd;
	struct rd_err err = { 0 };

	if (cmd->merge)
		return fabric_merge(s, n_operands, operands);
	if (cmd->topology) {
		_cleanup_(rd_fabric_deinit) struct rd_fabric fabric = { 0 };

		if (read_topology(cmd->topology, &fabric, &err) < 0)
			return rd_fail(s->ctx, &err);
		return cmd->plan ? show_plan(s, &fabric) : compare_files(s, &fabric);
	}
	if (cmd->path)
		return fabric_path(s, cmd->path, operands[0]);
	if (cmd->routes)
		return fabric_routes(s);
	if (cmd->save_topology)
		return save_topology(s);
	if (cmd->live)
		return fabric_live(s);
	if (cmd->record)
		return record_sweeps(s);
	if (cmd->repeat.seconds > 0)
		return sweep_repeatedly(s, NULL);
	if (!cmd->plan) {
		int r = fabric_session_begin(s, &err) ?: fabric_session_sweep(s, &err);

		return r < 0 ? rd_fail(s->ctx, &err) : report_sweep(s, false);
	}
	return fabric_session_begin(s, &err) < 0 ? rd_fail(s->ctx, &err) : show_plan(s, &s->run.fabric);
}

static int run_fabric(struct rd_ctx *ctx, int argc, char **argv)
{
	struct fabric_session s;
	struct rd_err err = { 0 };
	int r;

	ctx->schema = "rdmadiag/counters-fabric/1";
	r = session_init(ctx, &s, &err);
	r = r == -EINVAL ? rd_fail_usage(ctx->cmd, &err) : r < 0 ? rd_fail(ctx, &err) : run_session(&s, argc, argv);
	rd_fabric_history_deinit(&s.history);
	fabric_end(&s.run);
	rd_fabric_deinit(&s.plan);
	rd_shards_deinit(&s.shards);
	rd_fabric_latches_deinit(&s.latches);
	rd_texts_deinit(&s.hosts);
	return r;
}

/* ---- options */

static int take_subsets(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct fabric_cmd *cmd = state;
	uint64_t mask;

	cmd->engine.subsets = arg;
	return rd_pma_subsets(arg, &mask, err);
}

/* --path A takes B as an operand. */
static int check_operands(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	if (((struct fabric_cmd *)ctx->state)->path)
		return argc == 1 ? 0 : rd_err_set(err, EINVAL, "--path", "expected two ports: --path A B");
	if (((struct fabric_cmd *)ctx->state)->merge)
		return argc > 0 ? 0 : rd_err_set(err, EINVAL, "--merge", "expected files: --merge FILE...");
	return argc > 0 ?
		       rd_err_set(err, EINVAL, argv[0],
				  "--fabric takes no device or port: select the local port with --port DEVICE/PORT") :
		       0;
}

static const struct rd_opt options[] = {
	{ "all", 0, NULL, "also list ports without errors or changes", RD_FLAG(fabric_cmd, all) },
	{ "interval", 'i', "SECONDS", "sweep every SECONDS (at least 0.1), and show rates",
	  RD_SECONDS(fabric_cmd, repeat.seconds, RD_TICKS_LEAST, RD_TICKS_MOST) },
	{ "count", 'c', "N", "end after N sweeps", RD_NUMBER(fabric_cmd, repeat.count, 1, RD_COUNT_MAX) },
	{ "live", 'w', NULL, "interactive view of traffic, increasing errors and ports waiting for credits", NULL,
	  RD_NEEDS_TERMINAL, RD_FLAG(fabric_cmd, live) },
	{ "record", 0, "FILE", "write each sweep to FILE: .csv, a row for each port; .jsonl, a JSON document", "file",
	  RD_NEEDS_UPDATE, RD_TEXT(fabric_cmd, record) },
	{ "thresholds", 0, "FILE", "also read thresholds from FILE; they override the default ones", "file",
	  RD_NEEDS_OWN_FILE, RD_TEXT(fabric_cmd, thresholds) },
	{ "compare", 0, "FILE", "compare the network with a saved topology", "file", RD_NEEDS_OWN_FILE,
	  RD_TEXT(fabric_cmd, compare) },
	{ "save-topology", 0, "FILE", "write the topology to FILE and exit", "file", RD_NEEDS_OUTPUT,
	  RD_TEXT(fabric_cmd, save_topology) },
	{ "path", 0, "A B", "show the route from port A to port B and back, with its counters: names, GUIDs or LIDs",
	  NULL, RD_TEXT(fabric_cmd, path) },
	{ "routes", 0, NULL, "check that each pair of adapters has a route, and how evenly routes lie over links",
	  RD_FLAG(fabric_cmd, routes) },
	{ "nonzero", 0, NULL, "with --openmetrics or --textfile: only errors that are not 0, links and findings",
	  RD_FLAG(fabric_cmd, nonzero) },
	{ "fabric", 0, NULL, "read every port of the InfiniBand network instead of the ports of this host", NULL,
	  RD_NEEDS_PORTS },
	{ "record-size", 0, "MB", "with --record: begin a new file when it exceeds MB megabytes (default 128)",
	  RD_NUMBER(fabric_cmd, record_mb, 1, 256) },
	{ "fail", 0, NULL, "exit 1 or 2 on warnings or critical findings (always on with --fabric)" },
	{ "merge", 0, NULL, "put together what several hosts read, from their JSON documents", NULL,
	  RD_NEEDS_FOREIGN_OPERANDS, RD_FLAG(fabric_cmd, merge) },
	{ "topology", 0, "FILE", "with --plan or --compare: read the topology from FILE instead of the network", "file",
	  RD_NEEDS_OWN_FILE, RD_TEXT(fabric_cmd, topology) },
	{ "shard", 0, "K/N", "read only share K of N", RD_TEXT(fabric_cmd, shard) },
	{ "shards", 0, "FILE", "divide the ports among the hosts listed in FILE", "file", RD_NEEDS_OWN_FILE,
	  RD_TEXT(fabric_cmd, shards) },
	{ "plan", 0, NULL, "with --shard or --shards: print the share of each host and exit",
	  RD_FLAG(fabric_cmd, plan) },
	{ "port", 0, "DEVICE/PORT", "send queries from this port (default: the first that is up)", "ibdev",
	  RD_TEXT(fabric_cmd, engine.port) },
	{ "subsets", 0, "LIST", "groups of attributes to read, separated by commas",
	  "counters|extended|rcv-errors|xmit-discards|op-rcv|flow-control|vl|vl-wait|congestion|sl|all",
	  RD_TAKES(take_subsets) },
	{ "node-name-map", 0, "FILE", "read node names from FILE, a node-name-map as used by infiniband-diags", "file",
	  RD_NEEDS_OWN_FILE, RD_TEXT(fabric_cmd, engine.node_name_map) },
	{ "window", 0, "N", "MADs in flight (default 64)",
	  RD_NUMBER(fabric_cmd, engine.window, 1, RD_SWEEP_WINDOW_MAX) },
	{ "mad-timeout", 0, "MS", "response timeout in milliseconds (default 50), doubled for each of three retries",
	  RD_NUMBER(fabric_cmd, engine.timeout_ms, 1, 60000) },
	{ 0 },
};

static const struct rd_opt_rule rules[] = {
	{ RD_EXCLUDES, "shard", "shards" },
	{ RD_REQUIRES, "plan", "shard shards", "it prints their shares" },
	{ RD_REQUIRES, "topology", "plan compare" },
	{ RD_ONE_OF, "plan save-topology path routes merge" },
	{ RD_EXCLUDES, "path routes", "shard shards topology compare live record count openmetrics textfile" },
	{ RD_EXCLUDES, "routes", "interval" },
	{ RD_EXCLUDES, "merge",
	  "shard topology compare interval count live record port subsets window mad-timeout "
	  "node-name-map from openmetrics textfile",
	  "it reads files, not a network" },
	{ RD_EXCLUDES, "plan save-topology", "interval live record" },
	{ RD_EXCLUDES, "topology", "interval live record", "a saved topology does not change" },
	{ RD_REQUIRES, "record-size", "record" },
	{ RD_REQUIRES, "nonzero", "openmetrics textfile" },
	{ RD_REQUIRES, "count", "interval live record" },
	{ RD_EXCLUDES, "live", "json openmetrics textfile", "it writes no output" },
	{ RD_EXCLUDES, "openmetrics", "interval live record",
	  "it prints the metrics once; use --textfile, which is written after each sweep" },
	{ 0 },
};

const struct rd_cmd rd_cmd_fabric = {
	.name = "counters",
	.option = "fabric",
	.operands = "[B | FILE...]",
	.summary = "read the counters of all ports of the InfiniBand network, and report faults",
	.question = "Which link or switch of the network is bad",
	.opts = options,
	.rules = rules,
	.description =
		"Reads the counters of every switch and adapter of the network with performance management datagrams (MADs),\n"
		"and reports faults: errors, links below their speed or width, agents that do not respond, differences from\n"
		"a saved topology. Exit status: 2 critical findings, 1 warnings, else 0; 3 if no verdict was possible.\n",
	.examples = "  rdmadiag counters --fabric\n"
		    "  rdmadiag counters --fabric --save-topology saved; rdmadiag counters --fabric --compare saved\n"
		    "  rdmadiag counters --fabric --live\n",
	.columns = rd_fabric_columns,
	.n_columns = RD_FABRIC_COLUMNS,
	.metrics = true,
	.state_size = sizeof(struct fabric_cmd),
	.check = check_operands,
	.run = run_fabric,
};
