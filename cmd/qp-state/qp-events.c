// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state --trace: applies the filters of the list to events. */
#include <string.h>

#include "qp-trace.h"
#include "qp.h"

/* Filters an event as a queue pair in the new state, or in the state before. */
static bool matches(const struct rd_qp_filter *filter, const struct rd_qp_event *ev)
{
	struct rd_res_dev dev = { .name = (char *)ev->ibdev };
	struct rd_proc proc = { .pid = ev->pid, .comm = (char *)ev->comm, .cgroup = ev->cgroup, .job = ev->job };
	struct rd_qp qp = { .proc = ev->pid ? 0 : -1 };
	struct rd_qp_link link = { .cm_id = -1, .has_gid = ev->seen.has_dgid };
	const struct rd_qp_past past = { 0 };
	const struct rd_qp_verdict verdict = { 0 };
	struct rd_qp_view view = { &link, &past, &verdict };
	struct rd_res res = {
		.devs = &dev, .n_devs = 1, .qps = &qp, .n_qps = 1, .procs = &proc, .n_procs = ev->pid ? 1 : 0
	};
	const struct rd_qp_views views = { .res = &res, .v = &view };

	qp.lqpn.v = ev->lqpn.v;
	qp.lqpn.known = ev->lqpn.known;
	qp.type.v = ev->type.v;
	qp.type.known = ev->type.known;
	qp.state.v = ev->state.known == RD_OK ? ev->state.v : ev->before.v;
	qp.state.known = ev->state.known == RD_OK ? RD_OK : ev->before.known;
	qp.rqpn.v = ev->seen.dest_qpn.v;
	qp.rqpn.known = ev->seen.dest_qpn.known;
	memcpy(link.gid, ev->seen.dgid, sizeof(link.gid));
	if (ev->pid)
		RD_SET(qp.owner.pid, ev->pid);
	return rd_qp_filter_matches(filter, &views, 0);
}

static bool wanted(const void *arg, const struct rd_qp_event *ev)
{
	const struct rd_qp_filter *filter = arg;
	const struct rd_qp_filter devices = { .devices = filter->devices };

	/* An event of a port concerns all queue pairs of the device. */
	return matches(ev->what == RD_QP_DEVICE ? &devices : filter, ev);
}

int qp_record_events(struct rd_ctx *ctx)
{
	const struct qp_opts *opts = ctx->state;
	const struct qp_trace_opts trace = {
		.duration = opts->duration, .events = opts->events, .wanted = wanted, .wanted_arg = &opts->filter
	};

	return qp_trace(ctx, &trace);
}
