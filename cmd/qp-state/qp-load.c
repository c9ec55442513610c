/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample of queue pairs: read, judged with those before it, filtered. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyse/qp/qp-procs.h"
#include "analyse/qp/qp-timers.h"
#include "analyse/qp/qp-verdict.h"
#include "analyse/qp/qp.h"
#include "base/text.h"
#include "cmd/meanings.h"
#include "collect/kernel/klog.h"
#include "collect/net/netstate.h"
#include "collect/rdma/nldev.h"
#include "collect/rdma/procs.h"
#include "collect/rdma/qp-ports.h"
#include "qp.h"

#define PORT_ARMED 3 /* enum ib_port_state */

static const struct qp_counted *find_counted(const struct qp_history *h, const char *ibdev)
{
	for (size_t i = 0; i < h->n_counted; i++)
		if (!strcmp(h->counted[i].ibdev, ibdev))
			return &h->counted[i];
	return NULL;
}

static struct rd_qp_counts difference(const struct rd_qp_counts *before, const struct rd_qp_counts *now)
{
	struct rd_qp_counts ret = { 0 };

	for (int i = 0; i < RD_QPC_N; i++)
		if (before && before->v[i].known == RD_OK && now->v[i].known == RD_OK && now->v[i].v >= before->v[i].v)
			RD_SET(ret.v[i], now->v[i].v - before->v[i].v);
	return ret;
}

/* Reads the counters of each device; sets `since` (res->n_devs entries) to the increase since the previous sample. */
static void count_devices(struct qp_history *h, struct rd_source *source, const struct rd_res *res, uint64_t mono_ns,
			  struct rd_qp_counts *since, struct rd_errlist *errors)
{
	struct qp_counted *now = rd_alloc(res->n_devs + 1, sizeof(*now));
	struct rd_qp_doubt *doubts = rd_alloc(res->n_devs + 1, sizeof(*doubts));
	double *gbps = rd_alloc(res->n_devs + 1, sizeof(*gbps));
	struct rd_err err = { 0 };

	if (h->meanings.n == 0) {
		rd_read_meanings(&h->meanings, errors, &err);
		rd_qp_counters_find(&h->meanings, &h->counters);
	}

	for (size_t d = 0; d < res->n_devs; d++) {
		const struct qp_counted *before = find_counted(h, res->devs[d].name);

		snprintf(now[d].ibdev, sizeof(now[d].ibdev), "%s", res->devs[d].name);
		rd_collect_qp_counts(source, res->devs[d].name, res->devs[d].n_ports, &h->counters, &now[d].counts);
		since[d] = difference(before ? &before->counts : NULL, &now[d].counts);
		if (before)
			doubts[d] = h->doubts[before - h->counted];
		now[d].bytes = h->wants_gbps ? rd_collect_dev_bytes(source, res, (int)d) : -1;
		gbps[d] = before && before->bytes >= 0 && now[d].bytes >= before->bytes ?
				  (now[d].bytes - before->bytes) * 8 / (double)(mono_ns - h->sample_ns) :
				  -1;
	}
	RD_FREE(h->counted, h->doubts, h->gbps);
	h->counted = now;
	h->gbps = gbps;
	h->doubts = doubts;
	h->n_counted = res->n_devs;
}

/* Whether any is judged by its port: of a connected type, or UD of a program. */
static bool any_judged_by_port(const struct rd_res *res)
{
	for (size_t i = 0; i < res->n_qps; i++) {
		const struct rd_qp *qp = &res->qps[i];

		if (rd_qp_is_connected_type(qp) ||
		    (qp->type.known == RD_OK && qp->type.v == RD_QPT_UD && !qp->owner.kernel))
			return true;
	}
	return false;
}

static bool was_down(const struct qp_history *h, const char *ibdev, uint32_t port)
{
	for (size_t i = 0; i < h->n_down; i++)
		if (h->down[i].port == port && strcmp(h->down[i].ibdev, ibdev) == 0)
			return true;
	return false;
}

/* Sets rd_qp_port.was_down, and keeps which ports are DOWN or INIT now. */
static void compare_ports(struct qp_history *h, const struct rd_res *res, struct rd_qp_ports *ports)
{
	struct qp_down *now = rd_alloc(ports->n + 1, sizeof(*now));
	size_t n = 0;

	for (size_t i = 0; i < ports->n; i++) {
		struct rd_qp_port *port = &ports->v[i];
		const struct rd_res_port *of = &res->ports[port->at];
		const char *ibdev = res->devs[port->dev].name;

		port->was_down = was_down(h, ibdev, port->num);
		if (of->state.known != RD_OK || of->state.v >= PORT_ARMED)
			continue;
		snprintf(now[n].ibdev, sizeof(now[n].ibdev), "%s", ibdev);
		now[n++].port = port->num;
	}
	free(h->down);
	h->down = now;
	h->n_down = n;
}

/* Whether the address of a peer is known that can be one of a neighbour. */
static bool any_peer(const struct rd_qp_views *views)
{
	uint8_t gid[16];

	for (size_t i = 0; i < views->res->n_qps; i++)
		if (rd_qp_is_connected_type(&views->res->qps[i]) && rd_qp_peer(views, i, gid))
			return true;
	return false;
}

static bool any_psn_fell(const struct rd_qp_views *views)
{
	for (size_t i = 0; i < views->res->n_qps; i++)
		if (views->v[i].past->psn_fell)
			return true;
	return false;
}

/* What the queue pairs run over. */
static void collect_surroundings(struct rd_source *source, const struct rd_qp_views *views, struct rd_qp_ports *ports,
				 struct rd_netstate *net)
{
	const struct rd_sysfs fs = { .src = source };

	rd_collect_qp_ports(source, views->res, false, ports);
	if (!rd_qp_ports_suffice(views, ports)) {
		rd_qp_ports_deinit(ports);
		rd_collect_qp_ports(source, views->res, true, ports);
	}
	if (any_psn_fell(views))
		rd_collect_qp_rates(source, views->res, ports);
	if (any_peer(views))
		rd_collect_neighs(&fs, net);
}

/* Whether processes are stopped whose queue pairs have no packets. */
static void collect_states(struct rd_source *source, const struct rd_qp_views *views, double seconds, struct rd_res *res)
{
	_cleanup_free_ bool *wanted = rd_alloc(res->n_procs + 1, sizeof(*wanted));

	rd_qp_procs_that_may_stop(views, seconds, wanted);
	for (size_t i = 0; i < res->n_procs; i++)
		if (wanted[i])
			rd_collect_proc_state(source, &res->procs[i]);
}

/* Judges a sample that was begun at `began_ns` (CLOCK_MONOTONIC): ages, packet rates, verdicts. `views` are those of `res`, of which it
 * fills the states of processes. Reads that failed go to `errors`. */
static void judge_sample(struct qp_history *h, struct rd_source *source, double stuck_seconds, uint64_t began_ns,
			 struct rd_res *res, struct rd_qp_views *views, struct rd_errlist *errors)
{
	_cleanup_free_ struct rd_qp_counts *since = rd_alloc(res->n_devs + 1, sizeof(*since));
	uint64_t now = source->ops->now(source, CLOCK_MONOTONIC);
	struct rd_qp_judge judge = { .stuck_seconds = stuck_seconds, .mono_ns = now };
	struct rd_qp_ports ports = { 0 };
	struct rd_netstate net = { 0 };
	struct rd_klog klog = { 0 };

	if (!h->track)
		h->track = rd_qp_track_create();
	if (h->repeated || h->sample_ns)
		count_devices(h, source, res, now, since, errors);
	if (h->repeated)
		rd_qp_track_sample(h->track, views, began_ns, now);
	else
		rd_qp_track_last(h->track, views, began_ns, now);
	/* The log is long, and needed only for failed queue pairs. */
	if (rd_collect_failed_starts(source, res)) {
		rd_collect_klog(source, &klog, errors);
		judge.klog = &klog;
	}
	if (any_judged_by_port(res)) {
		collect_surroundings(source, views, &ports, &net);
		compare_ports(h, res, &ports);
		judge.ports = &ports;
		judge.net = &net;
	}
	if (h->sample_ns) {
		judge.since = since;
		judge.doubts = h->doubts;
		judge.seconds = (double)(now - h->sample_ns) / 1e9;
	}
	collect_states(source, views, judge.seconds, res);
	rd_qp_judge(views, &judge);
	rd_qp_track_keep(h->track, views);
	h->sample_ns = now;
	rd_klog_deinit(&klog);
	rd_netstate_deinit(&net);
	rd_qp_ports_deinit(&ports);
}

void qp_history_deinit(struct qp_history *h)
{
	qp_probe_end(&h->probe);
	if (!h->recorded)
		rd_qp_track_destroy(h->track);
	RD_FREE(h->counted, h->doubts, h->gbps, h->down);
	rd_qp_counters_deinit(&h->counters);
	rd_meanings_deinit(&h->meanings);
	*h = (struct qp_history){ 0 };
}

void qp_sample_deinit(struct qp_sample *sample)
{
	rd_report_deinit(&sample->report);
	rd_findings_deinit(&sample->findings);
	rd_qp_views_deinit(&sample->views);
	rd_res_deinit(&sample->res);
	free(sample->chosen);
}

static unsigned wanted(const struct qp_opts *opts)
{
	return opts->summary ?
		       RD_WANT_ALL :
		       RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_CTXS | RD_WANT_PROCS | RD_WANT_PORTS | RD_WANT_RECORDED;
}

/* Whether all devices in the list exist. */
static int check_devices(const struct rd_res *res, const char *list, struct rd_err *err)
{
	for (const char *at = list; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (rd_res_find_dev(res, name) < 0) {
			rd_err_set(err, ENODEV, name, "no such RDMA device");
			rd_err_hint(err, RD_PROGRAM " nic-map");
			return -ENODEV;
		}
	}
	return 0;
}

/* In the first sample, names the numbers of --lqpn that do not exist. Ends a repeated view that would always be empty: later, a
 * queue pair that is gone is part of what is observed. */
static int check_numbers(const struct qp_opts *opts, bool repeated, struct qp_sample *sample, struct rd_err *err)
{
	struct rd_err missing = { 0 };
	size_t n = rd_qp_filter_missing(&opts->filter, &sample->res, NULL, &missing);

	if (repeated && n > 0 && n == opts->filter.lqpns.n) {
		*err = missing;
		return -ENOENT;
	}
	rd_qp_filter_missing(&opts->filter, &sample->res, &sample->report.errors, NULL);
	sample->incomplete = n > 0;
	return 0;
}

/* Whether TCP connections of processes are shown: reading them takes a moment in processes with many open files. */
static bool shows_proc_peers(const struct rd_ctx *ctx)
{
	const struct qp_opts *opts = ctx->state;
	const char *columns = ctx->globals.style.columns;

	return ctx->globals.json || opts->live || (opts->grouped && opts->by == RD_BY_PEER) ||
	       (columns && (strchr(columns, '*') || strstr(columns, "process_tcp_peers")));
}

static void read_proc_peers(struct rd_source *source, struct qp_sample *sample)
{
	_cleanup_free_ size_t *qps = rd_alloc(sample->res.n_procs + 1, sizeof(*qps));

	rd_qp_count_unknown_peers(&sample->views, sample->chosen, qps);
	for (size_t i = 0; i < sample->res.n_procs; i++)
		if (qps[i])
			rd_collect_proc_peers(source, &sample->res.procs[i]);
}

void qp_read_libraries(struct rd_source *source, struct rd_res *res)
{
	_cleanup_free_ bool *may_hide = rd_alloc(res->n_procs + 1, sizeof(*may_hide));

	rd_qp_procs_that_may_hide(res, may_hide);
	for (size_t i = 0; i < res->n_procs; i++)
		if (may_hide[i])
			rd_collect_proc_libs(source, &res->procs[i]);
}

/* Before the first sample. Without it, peers are known from elsewhere, or not. */
static void probe(const struct rd_ctx *ctx, struct rd_source *source, struct qp_history *history)
{
	const struct qp_opts *opts = ctx->state;

	if (history->sample_ns || strcmp(source->ops->name, "live") != 0)
		return;
	history->missed = opts->no_probe ? RD_PROBE_OFF : qp_probe_start(ctx, source, &history->probe);
}

int qp_load(const struct rd_ctx *ctx, struct rd_source *source, struct qp_history *history, struct qp_sample *sample,
	    struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;
	const char *devices = opts->filter.devices;
	uint64_t began = source->ops->now(source, CLOCK_MONOTONIC);
	bool first = !history->sample_ns;
	int r;

	*sample = (struct qp_sample){ 0 };
	rd_output_init(ctx, &sample->report);
	probe(ctx, source, history);
	/* A single device is queried alone; for several, all devices are queried, then filtered. */
	r = rd_collect_res(source, wanted(opts), devices && !strchr(devices, ',') ? devices : NULL, &sample->res,
			   &sample->report.errors, err);
	if (!history->repeated)
		qp_probe_end(&history->probe);
	if (!sample->res.probe)
		sample->res.probe = history->missed;
	/* After a failure, what was read so far is reported, too. */
	rd_qp_views_init(&sample->views, &sample->res);
	sample->chosen = rd_alloc(sample->res.n_qps + 1, sizeof(*sample->chosen));
	if (r < 0)
		return r;
	r = check_devices(&sample->res, devices, err);
	if (r < 0)
		return r;
	if (first && sample->res.n_devs > 0)
		r = check_numbers(opts, history->repeated, sample, err);
	if (r < 0)
		return r;
	rd_qp_link(&sample->views);
	judge_sample(history, source, opts->stuck, began, &sample->res, &sample->views, &sample->report.errors);
	rd_res_findings(&sample->res, &sample->findings);
	for (size_t i = 0; i < sample->res.n_qps; i++)
		sample->chosen[i] = rd_qp_filter_matches(&opts->filter, &sample->views, i);
	/* Queue pairs that are missing from the list: a child process for each process, so not in every sample. */
	if (!opts->live && !rd_repeat_wanted(&opts->repeat)) {
		qp_read_libraries(source, &sample->res);
		rd_qp_hidden_findings(&sample->res, &sample->findings);
	}
	if (shows_proc_peers(ctx))
		read_proc_peers(source, sample);
	rd_qp_verdict_findings(&sample->views, sample->chosen, &sample->findings);
	rd_qp_timer_findings(&sample->views, sample->chosen, &sample->findings);
	/* It changes rarely; a reader of text has seen it above. */
	if (first || ctx->globals.json)
		rd_qp_peer_findings(&sample->views, sample->chosen, &sample->findings);
	return 0;
}
