/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample of queue pairs: read, judged with those before it, filtered; and what a recording reads. */
#include <sys/stat.h>
#include <time.h>

#include "cmd/datafile.h"
#include "cmd/trace-errno/trace.h"
#include "collect/net/netstate.h"
#include "collect/rdma/rdma.h"
#include "qp.h"
#include "trace/select/select.h"

#define SPARE 1024 /* entries for queue pairs that are created meanwhile */

/* The most queue pairs that may have to be kept; 0: none of a known driver, besides one for each port (GSI). */
static uint32_t count_queue_pairs(struct rd_source *source)
{
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	struct rd_err err = { 0 };
	uint64_t n = 0;

	if (rd_collect_res(source, 0, NULL, &res, NULL, &err) == 0)
		for (size_t d = 0; d < res.n_devs; d++)
			if (res.devs[d].fills && res.devs[d].used[RD_RES_QP].known == RD_OK &&
			    res.devs[d].used[RD_RES_QP].v > res.devs[d].n_ports)
				n += res.devs[d].used[RD_RES_QP].v;
	return !n ? 0 : n < (RD_QUERY_ENTRIES_MAX - SPARE) / 2 ? (uint32_t)n * 2 + SPARE : RD_QUERY_ENTRIES_MAX;
}

static int attach(const struct rd_ctx *ctx, struct rd_source *source, uint32_t entries, struct qp_probe *probe,
		  struct rd_err *err)
{
	struct rd_query_config config = { 0 };
	struct rd_session_opts opts = {
		.query = &config, .query_entries = entries, .log = rd_verbose_line, .log_arg = (void *)ctx
	};
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	struct stat ns;
	int r = trace_have_privileges(source, ctx->cmd->name, err);

	if (!r)
		r = rd_select_query(source, &probe->set, &config, err);
	if (!r && stat("/proc/self/ns/pid", &ns))
		r = rd_err_set(err, errno, "/proc/self/ns/pid", "cannot stat");
	if (r)
		return r;
	config.thread = (uint32_t)getpid();
	config.ns_dev = ns.st_dev;
	config.ns_inode = ns.st_ino;
	r = rd_session_start(&probe->set, &opts, &probe->session, &notes, err);
	if (r)
		return r;
	rd_verbose(ctx, "looking at ib_query_qp, attached in %.3f s: %s",
		   rd_session_info(probe->session)->attach_seconds, rd_session_info(probe->session)->reason);
	probe->source = source;
	return rd_source_live_set_queries(source, rd_session_ring_fd(probe->session));
}

enum rd_probe qp_probe_start(const struct rd_ctx *ctx, struct rd_source *source, struct qp_probe *probe)
{
	uint32_t entries = count_queue_pairs(source);
	struct rd_err err = { 0 };
	int r = entries ? attach(ctx, source, entries, probe, &err) : 0;

	if (!r)
		return RD_PROBE_ON;
	rd_verbose(ctx, "%s: %s", err.object, err.message);
	return r == -EPERM || r == -EACCES ? RD_PROBE_DENIED : RD_PROBE_FAILED;
}

void qp_probe_end(struct qp_probe *probe)
{
	if (probe->session)
		rd_source_live_set_queries(probe->source, -1);
	rd_session_destroy(probe->session);
	rd_fnset_deinit(&probe->set);
	*probe = (struct qp_probe){ 0 };
}

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

/* What the queue pairs run over. */
static void collect_surroundings(struct rd_source *source, const struct rd_qp_views *views, struct rd_qp_ports *ports,
				 struct rd_netstate *net)
{
	const struct rd_sysfs fs = { .src = source };
	bool peer = false, fell = false;
	uint8_t gid[16];

	for (size_t i = 0; i < views->res->n_qps; i++) {
		fell |= views->v[i].past->psn_fell;
		peer = peer || (rd_qp_is_connected_type(&views->res->qps[i]) && rd_qp_peer(views, i, gid));
	}
	rd_collect_qp_ports(source, views->res, false, ports);
	if (!rd_qp_ports_suffice(views, ports)) {
		rd_qp_ports_deinit(ports);
		rd_collect_qp_ports(source, views->res, true, ports);
	}
	if (fell)
		rd_collect_qp_rates(source, views->res, ports);
	/* The address of a peer can be one of a neighbour. */
	if (peer)
		rd_collect_neighs(&fs, net);
}

/* Whether processes are stopped whose queue pairs have no packets. */
static void read_states(struct rd_source *source, const struct rd_qp_views *views, double seconds, struct rd_res *res)
{
	_cleanup_free_ bool *wanted = rd_alloc(res->n_procs + 1, sizeof(*wanted));

	rd_qp_procs_that_may_stop(views, seconds, wanted);
	for (size_t i = 0; i < res->n_procs; i++)
		if (wanted[i])
			rd_collect_proc_state(source, &res->procs[i]);
}

/* The TCP connections of processes whose queue pairs have unknown peers. */
static void read_peers(struct rd_source *source, const struct rd_qp_views *views, const bool *chosen, struct rd_res *res)
{
	_cleanup_free_ size_t *qps = rd_alloc(res->n_procs + 1, sizeof(*qps));

	rd_qp_count_unknown_peers(views, chosen, qps);
	for (size_t i = 0; i < res->n_procs; i++)
		if (qps[i])
			rd_collect_proc_peers(source, &res->procs[i]);
}

/* Judges a sample that was begun at `began_ns` (CLOCK_MONOTONIC): ages, packet rates, verdicts. `views` are those of `res`, of which it
 * fills the states of processes. Reads that failed go to `errors`. */
static void judge_sample(struct qp_history *h, struct rd_source *source, double stuck_seconds, uint64_t began_ns,
			 struct rd_res *res, struct rd_qp_views *views, struct rd_errlist *errors)
{
	_cleanup_free_ struct rd_qp_counts *since = rd_alloc(res->n_devs + 1, sizeof(*since));
	uint64_t now = source->ops->now(source, CLOCK_MONOTONIC);
	struct rd_qp_judge judge = { .stuck_seconds = stuck_seconds, .mono_ns = now };
	_cleanup_(rd_qp_ports_deinit) struct rd_qp_ports ports = { 0 };
	_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };
	_cleanup_(rd_klog_deinit) struct rd_klog klog = { 0 };

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
	read_states(source, views, judge.seconds, res);
	rd_qp_judge(views, &judge);
	rd_qp_track_keep(h->track, views);
	h->sample_ns = now;
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

/* Whether all devices in the list exist. */
static int check_devices(const struct rd_res *res, const char *list, struct rd_err *err)
{
	for (const char *at = list; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (rd_res_find_dev(res, name) < 0) {
			rd_err_set(err, ENODEV, name, "no such RDMA device");
			return rd_err_hint(err, RD_PROGRAM " nic-map");
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

static void read_libraries(struct rd_source *source, struct rd_res *res)
{
	_cleanup_free_ bool *may_hide = rd_alloc(res->n_procs + 1, sizeof(*may_hide));

	rd_qp_procs_that_may_hide(res, may_hide);
	for (size_t i = 0; i < res->n_procs; i++)
		if (may_hide[i])
			rd_collect_proc_libs(source, &res->procs[i]);
}

int qp_load(const struct rd_ctx *ctx, struct rd_source *source, struct qp_history *history, struct qp_sample *sample,
	    struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;
	const char *devices = opts->filter.devices;
	uint64_t began = source->ops->now(source, CLOCK_MONOTONIC);
	bool first = !history->sample_ns;
	unsigned want = RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_CTXS | RD_WANT_PROCS | RD_WANT_PORTS | RD_WANT_RECORDED;
	int r;

	*sample = (struct qp_sample){ 0 };
	rd_output_init(ctx, &sample->report);
	/* Without the probe, peers are known from elsewhere, or not. */
	if (first && strcmp(source->ops->name, "live") == 0)
		history->missed = opts->no_probe ? RD_PROBE_OFF : qp_probe_start(ctx, source, &history->probe);
	/* A single device is queried alone; for several, all devices are queried, then filtered. */
	if (opts->summary)
		want = RD_WANT_ALL;
	r = rd_collect_res(source, want, devices && !strchr(devices, ',') ? devices : NULL, &sample->res,
			   &sample->report.errors, err);
	if (!history->repeated)
		qp_probe_end(&history->probe);
	if (!sample->res.probe)
		sample->res.probe = history->missed;
	/* After a failure, what was read so far is reported, too. */
	rd_qp_views_init(&sample->views, &sample->res);
	sample->chosen = rd_alloc(sample->res.n_qps + 1, sizeof(*sample->chosen));
	if (!r)
		r = check_devices(&sample->res, devices, err);
	if (!r && first && sample->res.n_devs > 0)
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
		read_libraries(source, &sample->res);
		rd_qp_hidden_findings(&sample->res, &sample->findings);
	}
	if (shows_proc_peers(ctx))
		read_peers(source, &sample->views, sample->chosen, &sample->res);
	rd_qp_verdict_findings(&sample->views, sample->chosen, &sample->findings);
	rd_qp_timer_findings(&sample->views, sample->chosen, &sample->findings);
	/* It changes rarely; a reader of text has seen it above. */
	if (first || ctx->globals.json)
		rd_qp_peer_findings(&sample->views, sample->chosen, &sample->findings);
	return 0;
}

int qp_record(struct rd_source *source, struct rd_err *err)
{
	_cleanup_(rd_qp_counters_deinit) struct rd_qp_counters counters = { 0 };
	_cleanup_(rd_meanings_deinit) struct rd_meanings meanings = { 0 };
	_cleanup_(rd_qp_ports_deinit) struct rd_qp_ports ports = { 0 };
	_cleanup_(rd_netstate_deinit) struct rd_netstate net = { 0 };
	_cleanup_(rd_klog_deinit) struct rd_klog klog = { 0 };
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	_cleanup_(rd_qp_views_deinit) struct rd_qp_views views = { 0 };
	const struct rd_sysfs fs = { .src = source };
	struct rd_err unread = { 0 };
	struct rd_qp_counts counts;
	int r = rd_collect_res(source, RD_WANT_ALL, NULL, &res, NULL, err);

	if (r)
		return r;
	rd_read_meanings(&meanings, NULL, &unread);
	rd_qp_counters_find(&meanings, &counters);
	for (size_t d = 0; d < res.n_devs; d++)
		rd_collect_qp_counts(source, res.devs[d].name, res.devs[d].n_ports, &counters, &counts);
	rd_collect_neighs(&fs, &net);
	rd_collect_qp_ports(source, &res, true, &ports);
	rd_collect_qp_rates(source, &res, &ports);
	rd_qp_views_init(&views, &res);
	read_peers(source, &views, NULL, &res);
	read_states(source, &views, 0, &res);
	rd_collect_failed_starts(source, &res);
	read_libraries(source, &res);
	rd_collect_klog(source, &klog, NULL);
	return 0;
}
