// SPDX-License-Identifier: GPL-2.0-or-later
/* qp-state --trace: events of queue pairs as they happen, until Ctrl-C or a limit. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

#include "cmd/trace-errno/qp-recorder.h"
#include "cmd/trace-errno/trace.h"
#include "collect/rdma/rdma.h"
#include "qp.h"
#include "report/qp/report-qp.h"

/* The BPF programs do not wake the reader, so it polls the ring buffer. */
#define POLL_MIN_MS 5
#define POLL_MAX_MS 100

struct run {
	struct rd_ctx *ctx;
	const struct qp_opts *opts;
	struct qp_recorder rec;
	struct rd_qp_trace_summary sum;
	int signals;
	bool stopped, interrupted, reader_gone;
	enum rd_early_end early_end; /* the holder has detached the hooks */
	struct rd_err why_early;
};

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

	RD_COPY(qp.lqpn, ev->lqpn);
	RD_COPY(qp.type, ev->type);
	RD_COPY(qp.state, ev->before);
	if (ev->state.known == RD_OK)
		RD_SET(qp.state, ev->state.v);
	RD_COPY(qp.rqpn, ev->seen.dest_qpn);
	memcpy(link.gid, ev->seen.dgid, sizeof(link.gid));
	if (ev->pid)
		RD_SET(qp.owner.pid, ev->pid);
	return rd_qp_filter_matches(filter, &views, 0);
}

static bool is_limit_reached(const struct run *run)
{
	return run->opts->events && run->sum.shown >= run->opts->events;
}

static bool is_interrupted(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			run->interrupted = true;
	return run->interrupted;
}

static int progress(void *arg, size_t done, size_t total)
{
	return is_interrupted(arg);
}

static int print_event(struct run *run, const struct rd_qp_event *ev)
{
	_cleanup_section_ struct rd_section *section = rd_report_qp_event(ev);
	struct rd_table_style style = run->ctx->globals.style;
	_cleanup_buf_ struct rd_buf out = { 0 };
	int r = 0;

	if (run->ctx->globals.json) {
		rd_render_json_row(section, 0, &out);
	} else if (style.columns || style.raw) {
		style.no_headings |= run->sum.shown > 0;
		r = rd_render_table(section, &style, &out, NULL);
	} else {
		rd_render_qp_event(section, 0, style.colour, &out);
	}
	/* main reports a failed write at the end. */
	return r ?: rd_out(&out) ? -EPIPE : 0;
}

static int handle_event(void *arg, struct rd_qp_event *ev)
{
	struct run *run = arg;
	const struct rd_qp_filter devices = { .devices = run->opts->filter.devices };
	struct rd_qp_moves *moves = &run->sum.moves;
	unsigned from = ev->before.known == RD_OK ? ev->before.v : RD_QP_END_NONE;
	unsigned to = ev->state.known == RD_OK ? ev->state.v : RD_QP_END_NONE;
	int r;

	if (is_limit_reached(run))
		return -ECANCELED;
	/* An event of a port concerns all queue pairs of the device. */
	if (!matches(ev->what == RD_QP_DEVICE ? &devices : &run->opts->filter, ev))
		return 0;
	if (ev->what == RD_QP_MODIFIED)
		(ev->err ? moves->failed : moves->ok)[from][to]++;
	r = print_event(run, ev);
	run->sum.shown++;
	return r ?: !run->stopped && is_interrupted(run) ? -ECANCELED : 0;
}

static int drain(struct run *run, struct rd_err *err)
{
	int r = qp_recorder_drain(&run->rec, err);

	return r == -ECANCELED ? 0 : r;
}

static void poll_events(struct run *run, int ms)
{
	struct pollfd fds[] = {
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = rd_session_holder_fd(run->rec.session), .events = POLLIN },
		{ .fd = STDOUT_FILENO },
	};

	if (poll(fds, RD_ARRAY_SIZE(fds), ms) <= 0)
		return;
	if (fds[1].revents)
		run->early_end = rd_session_ended_early(run->rec.session, &run->why_early);
	if (fds[2].revents & POLLERR)
		run->reader_gone = true;
}

static uint64_t now(const struct run *run)
{
	return run->ctx->source->ops->now(run->ctx->source, CLOCK_MONOTONIC);
}

static int loop(struct run *run, struct rd_err *err)
{
	uint64_t start = run->rec.started_ns, stop;
	uint64_t end = run->opts->duration > 0 ? start + (uint64_t)(run->opts->duration * 1e9) : UINT64_MAX;
	int nap = POLL_MIN_MS, r = 0;

	while (!is_interrupted(run) && !run->early_end && !run->reader_gone && !is_limit_reached(run)) {
		r = drain(run, err);
		if (r < 0 || now(run) >= end || is_limit_reached(run))
			break;
		nap = r ? POLL_MIN_MS : nap * 2 < POLL_MAX_MS ? nap * 2 : POLL_MAX_MS;
		poll_events(run, nap);
	}
	stop = now(run);
	run->sum.seconds = (double)(stop - start) / 1e9;
	rd_session_stop(run->rec.session);
	run->stopped = true;
	while (r >= 0 && !run->reader_gone && !is_limit_reached(run) && (r = drain(run, err)) > 0)
		;
	return r == -EPIPE || r > 0 ? 0 : r; /* a closed pipe is not an error */
}

static void print_totals(const struct run *run)
{
	const struct rd_trace_totals *t = &run->sum.totals;
	char missed[64] = "number of missed unknown";

	if (t->missed.known == RD_OK)
		snprintf(missed, sizeof(missed), "%" PRIu64 " missed", t->missed.v);
	else if (t->missed_at_least)
		snprintf(missed, sizeof(missed), "at least %" PRIu64 " missed", t->missed_at_least);
	/* "modify_qp to RTR: 12 calls; median below 0.262 ms, maximum below 2.1 ms" */
	for (unsigned to = 0; to < RD_QP_ENDS; to++) {
		const uint64_t *calls = run->sum.durations[to];
		uint64_t all = 0, half = 0;
		unsigned middle = 0, last = 0;

		for (unsigned p = 0; p < RD_QP_DURATIONS; p++) {
			all += calls[p];
			last = calls[p] ? p : last;
		}
		if (!all)
			continue;
		while (middle < RD_QP_DURATIONS && (half += calls[middle]) * 2 < all)
			middle++;
		rd_warn(run->ctx, "modify_qp %s%s: %" PRIu64 " call%s; median below %.3g ms, maximum below %.3g ms",
			to < RD_QPS_N ? "to " : "without a new state", to < RD_QPS_N ? rd_qp_state_name(to) : "", all,
			all == 1 ? "" : "s", (double)(2ull << middle) / 1e6, (double)(2ull << last) / 1e6);
	}
	rd_warn(run->ctx,
		"%" PRIu64 " events in %.1f s, %" PRIu64 " shown: %" PRIu64 " delivered, %" PRIu64 " lost, %s",
		t->events, run->sum.seconds, run->sum.shown, t->delivered, t->lost, missed);
}

static void note_errors(struct run *run)
{
	struct rd_errlist *notes = &run->rec.notes;
	struct rd_err err = { 0 };

	if (run->early_end) {
		rd_errlist_add(notes, &run->why_early);
		rd_warn(run->ctx, "recording ended early: %s", run->why_early.message);
	}
	if (run->rec.damaged) {
		rd_err_set(&err, EBADMSG, "recorder", "%" PRIu64 " undecodable records skipped", run->rec.damaged);
		rd_errlist_add(notes, &err);
	}
}

static int finish(struct run *run, struct rd_err *err)
{
	const struct rd_session_info *info = rd_session_info(run->rec.session);
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	int r = rd_session_totals(run->rec.session, &run->sum.totals, err) ?:
			rd_session_durations(run->rec.session, run->sum.durations, err);

	if (r)
		return r;
	note_errors(run);
	memcpy(run->sum.per_backend, info->per_backend, sizeof(run->sum.per_backend));
	run->sum.functions = info->functions;
	rd_output_init(run->ctx, &report);
	report.status = run->early_end ? RD_EXIT_UNKNOWN : RD_EXIT_OK;
	rd_report_qp_trace_summary(&report, &run->sum);
	for (size_t i = 0; i < run->rec.notes.n; i++)
		rd_errlist_add(&report.errors, &run->rec.notes.v[i]);
	if (run->ctx->globals.json)
		return rd_output_print(run->ctx, &report);
	print_totals(run);
	return report.status;
}

/* What a black box kept. */
static int replay(struct run *run, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes events = { 0 };
	struct rd_source *src = run->ctx->source;
	const uint8_t *at, *end;
	int r = rd_read_file(src, RD_SOURCE_QP_EVENTS, &events, NULL);

	if (r) {
		rd_err_set(err, ENOENT, run->ctx->globals.from, "has no recorded events of queue pairs");
		return rd_err_hint(err, RD_PROGRAM " trace-errno --service --black-box DIR");
	}
	at = events.data;
	end = at + events.size;
	do {
		struct rd_qp_event ev = { 0 };

		r = rd_qp_event_next(src, &at, end, &ev, err);
		if (r > 0)
			r = handle_event(run, &ev) ?: 1;
		rd_qp_event_deinit(&ev);
	} while (r > 0);
	return r == -EPIPE || r == -ECANCELED ? 0 : r;
}

int qp_record_events(struct rd_ctx *ctx)
{
	struct run run = { .ctx = ctx,
			   .opts = ctx->state,
			   .signals = -1,
			   .rec = { .ctx = ctx, .event = handle_event, .interrupted = progress } };
	struct rd_err err = { 0 };
	int r;

	run.rec.arg = &run;
	ctx->schema = "rdmadiag/qp-state-trace-summary/1";
	ctx->lines = true;
	if (ctx->globals.from) {
		r = replay(&run, &err);
		return r < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
	}
	r = run.signals = trace_signals_open(false, &err);
	if (r >= 0)
		r = qp_recorder_start(&run.rec, &err);
	if (!r) {
		const struct rd_session_info *info = rd_session_info(run.rec.session);

		for (size_t i = 0; i < run.rec.notes.n; i++)
			rd_warn(run.ctx, "%s: %s", run.rec.notes.v[i].object, run.rec.notes.v[i].message);
		if (!run.ctx->globals.json)
			rd_warn(run.ctx, "recording queue pair events (%zu functions hooked); press Ctrl-C to stop",
				info->functions);
		rd_verbose(run.ctx, "hooked %zu functions in %.2f s: %s", info->functions, info->attach_seconds,
			   info->reason ?: "no reason given");
		for (size_t i = 0; i < run.rec.set.n_fns; i++)
			if (run.rec.set.fns[i].backend != RD_BACKEND_NONE)
				rd_verbose(run.ctx, "  %s by %s", run.rec.set.fns[i].name,
					   rd_backend_name(run.rec.set.fns[i].backend));
		r = loop(&run, &err);
	}
	if (!r)
		r = finish(&run, &err);
	qp_recorder_deinit(&run.rec);
	if (run.signals >= 0)
		close(run.signals);
	return r < 0 ? rd_fail(ctx, &err) : r;
}
