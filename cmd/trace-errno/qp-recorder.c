// SPDX-License-Identifier: GPL-2.0-or-later
#include "qp-recorder.h"

#include <time.h>

#include "collect/rdma/rdma.h"
#include "trace.h"

#define DAMAGED_WARNINGS 3

static uint64_t now(const struct qp_recorder *rec)
{
	return rec->ctx->source->ops->now(rec->ctx->source, CLOCK_MONOTONIC);
}

/* Tries one set of functions after the other until modify_qp can be hooked. */
static int attach_hooks(struct qp_recorder *rec, struct rd_err *err)
{
	struct rd_session_opts opts = { .qp = &rec->watch,
					.progress = rec->interrupted,
					.progress_arg = rec->arg,
					.log = rd_verbose_line,
					.log_arg = rec->ctx };
	unsigned choice = 0;

	for (; rd_qp_watch_choose(&rec->set, &rec->watch, &choice); choice++) {
		int r = rd_session_start(&rec->set, &opts, &rec->session, &rec->notes, err);

		if (r == -EINTR || r == -EPERM || r == -EACCES)
			return r;
		if (!r && rd_qp_watch_has(&rec->set, &rec->watch, RD_QP_ROLE_MODIFY))
			return 0;
		rd_session_destroy(RD_TAKE(rec->session));
	}
	if (!err->code)
		rd_err_set(err, ENOTSUP, "modify_qp",
			   "cannot hook any kernel function that all modify_qp calls pass through");
	return rd_err_hint(
		err, "%s",
		"qp-state -i 1 shows changes between two samples; trace-errno --list shows functions that can be hooked");
}

/* Without event hooks, only the next sample sees a failure. */
static void note_missing_events(struct qp_recorder *rec)
{
	struct rd_err err = { 0 };

	if (rd_qp_watch_has(&rec->set, &rec->watch, RD_QP_ROLE_EVENT))
		return;
	rd_err_set(&err, ENOTSUP, "events",
		   "cannot hook any function that reports asynchronous events of devices: "
		   "a queue pair that fails without a modify_qp call is not recorded");
	rd_errlist_add(&rec->notes, &err);
}

static int take_first_sample(struct qp_recorder *rec, struct rd_err *err)
{
	_cleanup_(rd_qp_views_deinit) struct rd_qp_views views = { 0 };
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };
	uint64_t began = now(rec);
	int r = rd_collect_res(rec->ctx->source, RD_WANT_QPS, NULL, &res, &rec->notes, err) ?:
			rd_collect_res(rec->ctx->source, 0, NULL, &rec->devs, NULL, err);

	if (!r) {
		rd_qp_views_init(&views, &res);
		rd_qp_track_sample(rec->track, &views, began, now(rec));
	}
	return r;
}

int qp_recorder_start(struct qp_recorder *rec, struct rd_err *err)
{
	static const char command[] = "qp-state --trace";
	struct rd_source *src = rec->ctx->source;
	int r = trace_have_rdma(src, err) ?: trace_have_privileges(src, command, err);

	if (!r)
		r = rd_select_qp(src, &rec->set, &rec->watch, &rec->notes, err);
	if (r)
		return r;
	rec->cgroups = rd_cgroups_create(src);
	rec->track = rd_qp_track_create();
	rec->started_ns = now(rec);
	r = attach_hooks(rec, err);
	if (r) {
		trace_explain(src, command, err);
		return r;
	}
	note_missing_events(rec);
	r = rd_source_live_set_ring(src, rd_session_ring_fd(rec->session), err) ?: take_first_sample(rec, err);
	rec->started_ns = now(rec);
	return r;
}

static int take_record(void *arg, const void *data, size_t size)
{
	struct qp_recorder *rec = arg;
	_cleanup_(rd_qp_event_deinit) struct rd_qp_event ev = { 0 };
	struct rd_err err = { 0 };
	int dev, r = rd_qp_event_decode(rec->ctx->source, rec->cgroups, data, size, &ev, &err);

	if (r == -EBADMSG) {
		if (rec->damaged++ < DAMAGED_WARNINGS)
			rd_warn(rec->ctx, "%s: %s", err.object, err.message);
		return 0;
	}
	if (r)
		return r;
	dev = rd_res_find_dev(&rec->devs, ev.ibdev);
	if (dev >= 0 && ev.lqpn.known == RD_OK && ev.seen.dest_qpn.known == RD_OK)
		rd_qp_seen_add_sport(&ev.seen, rec->devs.devs[dev].driver_id.v, ev.lqpn.v, ev.seen.dest_qpn.v,
				     ev.dlid.known == RD_OK);
	ev.job = rd_job_from_cgroup(ev.cgroup);
	rec->raw = data;
	rd_qp_track_event(rec->track, &ev);
	return rec->event ? rec->event(rec->arg, &ev) : 0;
}

int qp_recorder_drain(struct qp_recorder *rec, struct rd_err *err)
{
	return rd_drain_events(rec->ring ?: rec->ctx->source, take_record, rec, err);
}

void qp_recorder_report_lost(struct qp_recorder *rec, struct rd_errlist *errors)
{
	struct rd_trace_totals totals = { 0 };
	struct rd_err err = { 0 };

	if (rd_session_totals(rec->session, &totals, &err) < 0) {
		rd_errlist_add(errors, &err);
		return;
	}
	if (rd_session_ended_early(rec->session, &err)) {
		struct rd_err why = err;

		rd_err_set(&err, why.code, "recorder",
			   "recording ended early (%.120s): later transitions are known only from samples",
			   why.message);
		rd_errlist_add(errors, &err);
	}
	if (totals.lost <= rec->lost)
		return;
	rd_err_set(&err, ENOBUFS, "recorder",
		   "%llu records lost: ages and attributes of queue pairs that changed meanwhile may be outdated",
		   (unsigned long long)(totals.lost - rec->lost));
	rec->lost = totals.lost;
	rd_errlist_add(errors, &err);
}

void qp_recorder_deinit(struct qp_recorder *rec)
{
	rd_session_destroy(rec->session);
	rd_qp_track_destroy(rec->track);
	rd_cgroups_destroy(rec->cgroups);
	rd_res_deinit(&rec->devs);
	rd_qp_watch_deinit(&rec->watch);
	rd_fnset_deinit(&rec->set);
	rd_errlist_deinit(&rec->notes);
}
