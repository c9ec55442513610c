/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric: shares, sweeps and the report of a session. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "analyse/fabric/fabric-judge.h"
#include "analyse/fabric/fabric-rank.h"
#include "fabric-cmd.h"
#include "report/shared/finding.h"

int fabric_session_divide(struct fabric_session *s, const struct rd_fabric *fabric, struct rd_err *err)
{
	int r;

	rd_shards_deinit(&s->shards);
	s->shard = -1;
	r = rd_shards_divide(fabric, s->hosts, s->hosts ? s->n_hosts : s->shard_n, &s->shards);
	return r < 0 ? rd_err_set(err, -r, "network", "cannot divide its ports among hosts") : 0;
}

/* Finds the share of this host: by the local adapter in use, else by the host name. */
static int find_self(struct fabric_session *s, const struct rd_fabric *fabric, struct rd_err *err)
{
	_cleanup_free_ char *name = NULL;

	if (!s->hosts) {
		s->shard = (ssize_t)s->shard_k - 1;
		return 0;
	}
	if (fabric->self != RD_NONE)
		s->shard = rd_shards_of_node(&s->shards, &fabric->nodes[fabric->ports[fabric->self].node]);
	if (s->shard < 0 && rd_read_textf(s->ctx->source, &name, NULL, "/proc/sys/kernel/hostname") == 0)
		s->shard = rd_shards_find(&s->shards, name);
	if (s->shard >= 0)
		return 0;
	rd_err_set(err, ENOENT, s->cmd->shards, "this host (%s) is not in the list", name ? name : "?");
	rd_err_hint(err, "add it to the list on all hosts, or print all shares with --plan");
	return -ENOENT;
}

/* Deselects the ports of other hosts. */
static int select_share(void *arg, struct rd_fabric *fabric, struct rd_err *err)
{
	struct fabric_session *s = arg;
	int r = fabric_session_divide(s, fabric, err);

	if (!r)
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
	if ((s->hosts || s->shard_n) && !s->cmd->plan) {
		opts.divide = select_share;
		opts.divide_arg = s;
	}
	r = fabric_begin(s->ctx->source, &opts, &s->run, err);
	/* wait_share needs the unit of PortXmitWait. */
	if (!r && repeats)
		r = rd_fabric_query_ticks(s->run.mads, &s->run.limits, &s->run.fabric, err);
	return r;
}

void fabric_session_keep_status(struct fabric_session *s, int status)
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
		fabric_session_keep_status(s, RD_EXIT_UNKNOWN);
		return r;
	}
	rd_fabric_history_add(&s->history, &s->run.fabric);
	s->durations[s->n_durations++ % FABRIC_SWEEPS] = (double)s->run.fabric.sweep.duration_ns / 1e9;
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
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

/* Whether no queried port was read: no verdict is possible, so exit 3. */
static bool is_unread(const struct rd_fabric *fabric)
{
	size_t queried = 0, fresh = 0;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		queried += fabric->ports[i].selected && fabric->ports[i].presence != RD_PORT_GONE;
		fresh += fabric->ports[i].fresh;
	}
	return queried > 0 && fresh == 0;
}

int fabric_status(const struct rd_report *report)
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
	struct rd_findings findings = { 0 };

	rd_fabric_judge(&s->run.fabric, &s->limits, &s->history, &findings);
	rd_fabric_judge_walk(&s->run.fabric, &findings);
	if (s->cmd->compare) {
		rd_fabric_compare(&s->plan, &s->run.fabric, &findings);
		if (rd_findings_count(&findings, RD_SEV_UNKNOWN) == 0)
			rd_fabric_accept_uplinks(&findings);
	}
	if (s->shard >= 0)
		rd_shards_judge(&s->shards, &findings);
	rd_fabric_rank(&findings);
	rd_report_add_findings(report, &findings);
	rd_findings_deinit(&findings);
	report->status = fabric_status(report);
	if (report->status < RD_EXIT_CRITICAL && is_unread(&s->run.fabric)) {
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
	fabric_session_keep_status(s, report->status);
}

static void add_latched(const struct fabric_session *s, struct rd_report *report)
{
	_cleanup_free_ const struct rd_fabric_latch **ranked = rd_fabric_latches_ranked(&s->latches);

	rd_report_fabric_latched(report, ranked, s->latches.n);
}

void fabric_session_report(struct fabric_session *s, const bool *picked, const size_t *order, struct rd_report *report)
{
	struct rd_fabric_shown shown = {
		.fabric = &s->run.fabric,
		.now_ns = s->run.mads->ops->now(s->run.mads),
		.values = s->ctx->globals.json,
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
	if (repeats_sweeps(s))
		RD_SET(shown.latches_dropped, s->latches.dropped);
	rd_report_fabric(report, &shown);
	if (s->ctx->globals.json && repeats_sweeps(s))
		add_latched(s, report);
	if (rd_metrics_wanted(s->ctx))
		rd_report_fabric_metrics(report, &shown);
}

void fabric_verdict(const struct fabric_session *s, const struct rd_report *report, struct rd_buf *out)
{
	const struct rd_fabric *fabric = &s->run.fabric;
	size_t fresh = 0, stale = 0, partial = 0, warnings, criticals, over;

	for (size_t i = 0; i < fabric->n_ports; i++) {
		fresh += fabric->ports[i].fresh;
		stale += fabric->ports[i].selected && !fabric->ports[i].fresh;
		partial += fabric->ports[i].fresh && fabric->ports[i].error;
	}
	over = rd_fabric_latches_count(&s->latches, RD_SEV_CRITICAL, false) +
	       rd_fabric_latches_count(&s->latches, RD_SEV_WARNING, false);
	warnings = rd_findings_count(&report->findings, RD_SEV_WARNING);
	criticals = rd_findings_count(&report->findings, RD_SEV_CRITICAL);
	rd_buf_printf(out, "%zu critical, %zu warning%s", criticals, warnings, warnings == 1 ? "" : "s");
	if (over)
		rd_buf_printf(out, ", %zu over", over);
	rd_buf_printf(out, "; %zu nodes, %zu ports read in %.3f s", fabric->n_nodes, fresh,
		      (double)fabric->sweep.duration_ns / 1e9);
	if (partial)
		rd_buf_printf(out, ", %zu of them in part", partial);
	if (stale)
		rd_buf_printf(out, ", %zu NOT read", stale);
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

void fabric_headline(const struct fabric_session *s, const struct rd_report *report, struct rd_buf *out)
{
	rd_buf_printf(out, "fabric of %s/%u: ", s->run.fabric.ibdev, s->run.fabric.port);
	fabric_verdict(s, report, out);
}
