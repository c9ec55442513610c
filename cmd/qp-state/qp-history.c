// SPDX-License-Identifier: GPL-2.0-or-later
#include "qp-history.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyse/qp/qp-verdict.h"
#include "analyse/qp/qp.h"
#include "cmd/meanings.h"
#include "collect/kernel/klog.h"
#include "collect/net/netstate.h"
#include "collect/rdma/procs.h"
#include "collect/rdma/qp-evidence.h"
#include "collect/rdma/qp-ports.h"

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
static void count_devices(struct qp_history *h, struct rd_source *source, const struct rd_res *res,
			  struct rd_qp_counts *since, struct rd_errlist *errors)
{
	struct qp_counted *now = rd_alloc(res->n_devs + 1, sizeof(*now));
	struct rd_qp_doubt *doubts = rd_alloc(res->n_devs + 1, sizeof(*doubts));
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
	}
	RD_FREE(h->counted, h->doubts);
	h->counted = now;
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

void qp_history_judge(struct qp_history *h, struct rd_source *source, double stuck_seconds, uint64_t began_ns,
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
		count_devices(h, source, res, since, errors);
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
	if (!h->recorded)
		rd_qp_track_destroy(h->track);
	RD_FREE(h->counted, h->doubts, h->down);
	rd_qp_counters_deinit(&h->counters);
	rd_meanings_deinit(&h->meanings);
	*h = (struct qp_history){ 0 };
}
