// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of a trace: waited for, read and printed; and the summary at its end. */
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "analyse/trace/trace.h"
#include "report/trace/report-trace.h"
#include "trace.h"

#define PROGRESS_AFTER_NS 500000000u
#define INVALID_REPORTED 3 /* invalid records that are reported individually; the rest are only counted */

static bool enough_shown(const struct trace *t)
{
	return (t->opts->events && t->shown >= t->opts->events) || trace_record_full(t);
}

int trace_progress(void *arg, size_t done, size_t total)
{
	struct trace *t = arg;
	uint64_t at = trace_now(t);

	if (isatty(STDERR_FILENO) && !total && t->headed) {
		fputs("\r\033[K", stderr);
		t->headed = false;
	} else if (isatty(STDERR_FILENO) && total && at - t->started > PROGRESS_AFTER_NS) {
		fprintf(stderr, "\rattaching hooks: %zu of %zu", done, total);
		t->headed = true;
	}
	fflush(stderr);
	return trace_signalled(t);
}

/* The benign events like this one that were read. NULL: none, unless `add`. */
static uint64_t *count_of(struct trace *t, int origin, uint64_t verb, uint32_t dev, int err, bool add)
{
	struct rd_count *c;

	for (c = t->benign_counts; c < t->benign_counts + t->n_benign_counts; c++)
		if (c->origin == origin && c->verb == verb && c->dev == dev && c->err == err)
			return &c->count;
	if (!add)
		return NULL;
	c = RD_ADD(t->benign_counts, t->n_benign_counts, t->cap_benign_counts);
	*c = (struct rd_count){ .origin = origin, .verb = verb, .dev = dev, .err = err };
	return &c->count;
}

#define FOLD_NS 1000000000u

static int print(struct trace *t, const struct rd_buf *out)
{
	bool translated = trace_child_translate(&t->child, true);
	int r = rd_out(out);

	trace_child_translate(&t->child, translated);
	return r;
}

static void flush_fold(struct trace *t, bool busy)
{
	uint64_t at = trace_now(t);
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (!t->fold.more || (busy && at - t->fold.printed < FOLD_NS))
		return;
	rd_buf_printf(&out, "    same, x%" PRIu64 "\n", t->fold.more);
	print(t, &out);
	t->fold.more = 0;
	t->fold.printed = at;
}

/* Whether the event repeats the one shown last, and is only counted: of the same process, at the same place, for the same cause. */
static bool fold(struct trace *t, const struct rd_event *ev)
{
	struct trace_fold *f = &t->fold;
	uint32_t qpn = ev->qpn.known == RD_OK ? ev->qpn.v : 0;
	bool same = f->any && f->pid == ev->pid && f->dev == ev->dev && f->verb == ev->verb_key && f->err == ev->err &&
		    f->origin == ev->origin;

	/* Where no facts could be read in time, there is no reason to assume another cause. */
	if (same && f->cause)
		same = ev->why.cause ? !strcmp(f->cause, ev->why.cause) : ev->why.in_haste;
	else if (same)
		same = f->qpn == qpn && !ev->why.cause;
	if (same) {
		f->more++;
		return true;
	}
	flush_fold(t, false);
	free(f->cause);
	*f = (struct trace_fold){ .any = true,
				  .pid = ev->pid,
				  .dev = ev->dev,
				  .qpn = qpn,
				  .verb = ev->verb_key,
				  .err = ev->err,
				  .origin = ev->origin,
				  .cause = rd_dup_if(ev->why.cause),
				  .printed = trace_now(t) };
	return false;
}

static int print_event(struct trace *t, const struct rd_event *ev)
{
	const struct rd_globals *g = &t->ctx->globals;
	_cleanup_section_ struct rd_section *section = rd_report_trace_event(ev, &t->set);
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_table_style style = g->style;
	int r = 0;

	if (g->json) {
		rd_render_json_row(section, 0, &out);
	} else if (style.columns || style.raw) {
		style.no_headings |= t->shown > 0;
		r = rd_render_table(section, &style, &out, NULL);
	} else {
		rd_render_event(section, 0, style.colour, style.width, &out);
	}
	/* main() reports write errors at the end. */
	return r ?: print(t, &out) ? -EPIPE : 0;
}

int trace_show(struct trace *t, struct rd_event *ev)
{
	const struct rd_globals *g = &t->ctx->globals;
	int r = 0;

	if (!t->opts->summary) {
		if (t->recorder)
			trace_record_next(t);
		trace_names_explain(t, ev);
		if (t->recorder)
			trace_record_event(t, ev);
		/* Only text for people is folded: in lines for programs, every event is one line. */
		if (g->json || g->style.columns || g->style.raw || !fold(t, ev)) {
			trace_names_complete(t, ev);
			r = print_event(t, ev);
		}
	}
	t->shown++;
	return r;
}

static int take_event(void *arg, const void *data, size_t size)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct trace *t = arg;
	struct rd_err err = { 0 };
	int r;

	if (enough_shown(t))
		return -ECANCELED;
	r = rd_trace_event_decode(t->facts, data, size, &t->set, &ev, &err);
	if (r == -EBADMSG) {
		if (t->invalid++ < INVALID_REPORTED)
			rd_warn(t->ctx, "%s: %s", err.object, err.message);
		return 0;
	}
	if (r)
		return r;
	t->raw = data;
	t->raw_size = size;
	trace_extend_notice(t);
	trace_names_judge(t, &ev);
	trace_extend_below(t, &ev);
	if (ev.benign) {
		t->benign++;
		++*count_of(t, ev.origin, ev.verb_key, ev.dev, ev.err, true);
	}
	if (t->sink) {
		t->sink(t->sink_arg, t, &ev);
		return 0;
	}
	if (ev.benign && !t->opts->benign) {
		t->hidden++;
		return 0;
	}
	r = trace_show(t, &ev);
	/* Check for signals during bursts as well. */
	return r ?: !t->stopped && trace_signalled(t) ? -ECANCELED : 0;
}

/* ---- the loop */

/*
 * Waits for events and reads them. The BPF programs wake the reader for the first failure after a pause, so that the caller can be
 * looked at while it exists. They do not wake it for each of many failures, because that would slow down the failing calls: then
 * the ring buffer is polled, after 5 ms while there are events, after up to 100 ms when there are none.
 */
#define POLL_MIN_NS 5000000u
#define POLL_MAX_NS 100000000u
#define POLL_USTACK_NS 5000000u	  /* user stacks can be resolved only while their process lives */
#define POLL_COMMAND_NS 20000000u /* with a command: fewer events are lost in bursts */

int trace_signals_open(bool session, struct rd_err *err)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGQUIT, SIGUSR1 };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < RD_ARRAY_SIZE(wanted); i++)
		if (wanted[i] == SIGQUIT ? session : wanted[i] != SIGHUP || !rd_hangup_ignored())
			sigaddset(&set, wanted[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? rd_err_set(err, errno, "signals", "cannot create a signalfd") : fd;
}

bool trace_signalled(struct trace *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == sizeof(info)) {
		/* Of the service, the supervisor takes it. */
		if (info.ssi_signo == SIGUSR1 && t->opts->service)
			continue;
		if (info.ssi_signo == SIGCHLD) {
			trace_child_reap(&t->child);
			continue;
		}
		if (!t->child.pid || t->child.ended || t->child.go >= 0) {
			t->interrupted = true;
			continue;
		}
		/* We keep running, to return the exit status of the command. */
		trace_child_signal(&t->child, &info);
	}
	return t->interrupted;
}

/* Sleeps up to `ns`, until a signal, a message of the holder, an event (if `idle`), or the end of the reader. */
static void wait_for_input(struct trace *t, uint64_t ns, bool idle, bool *reader_gone)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	struct pollfd fds[] = {
		{ .fd = t->signals, .events = POLLIN },
		/* After the request to stop it may end at any time. */
		{ .fd = t->stopped ? -1 : rd_session_holder_fd(t->session), .events = POLLIN },
		{ .fd = *reader_gone ? -1 : STDOUT_FILENO },
		{ .fd = idle && !t->stopped ? rd_session_ring_fd(t->session) : -1, .events = POLLIN },
	};

	if (ppoll(fds, RD_ARRAY_SIZE(fds), &ts, NULL) <= 0)
		return;
	if (fds[1].revents)
		t->early_end = rd_session_ended_early(t->session, &t->why_early);
	if (fds[2].revents & POLLERR)
		*reader_gone = true;
}

/* take_event returns -ECANCELED to stop reading. */
int trace_drain(struct trace *t, struct rd_err *err)
{
	int r = rd_drain_events(t->ring ?: t->ctx->source, take_event, t, err);

	rd_session_reading(t->session);
	return r == -ECANCELED ? 0 : r;
}

/* The reader of our output may have ended, but we still return the exit status of the command. */
void trace_wait_for_command(struct trace *t)
{
	bool no_reader = true;

	/* In this order: the pending signals may include SIGCHLD of the command, after which nothing else may arrive. */
	while (t->child.pid && !trace_signalled(t) && !t->child.ended)
		wait_for_input(t, 3600000000000ull, false, &no_reader);
}

int trace_loop(struct trace *t, struct rd_err *err)
{
	uint64_t end = t->opts->duration > 0 ? t->started + (uint64_t)(t->opts->duration * 1e9) : UINT64_MAX;
	uint64_t nap = POLL_MIN_NS, nap_max = t->child.pid ? POLL_COMMAND_NS : POLL_MAX_NS, at;
	bool reader_gone = false;
	int r = 0;

	if (t->opts->user_stack)
		nap_max = POLL_USTACK_NS;
	while (r >= 0 && !trace_signalled(t) && !t->child.ended && !t->early_end && !reader_gone && !enough_shown(t)) {
		r = trace_drain(t, err);
		flush_fold(t, r > 0);
		trace_extend_step(t);
		nap = r > 0 ? POLL_MIN_NS : nap * 2 < nap_max ? nap * 2 : nap_max;
		at = trace_now(t);
		if (at >= end || r < 0 || enough_shown(t))
			break;
		wait_for_input(t, end - at < nap ? end - at : nap, !r, &reader_gone);
	}
	t->stopped = trace_now(t);
	rd_session_stop(t->session);
	while (r >= 0 && !reader_gone && !enough_shown(t) && (r = trace_drain(t, err)) > 0)
		;
	trace_wait_for_command(t);
	/* A reader that closes the pipe is not a failure. */
	return r == -EPIPE ? 0 : r < 0 ? r : 0;
}

static int by_key(const void *a, const void *b)
{
	const struct rd_count *x = a, *y = b;

	return RD_CMP(x->origin, y->origin)	?:
		       RD_CMP(x->verb, y->verb) ?:
		       RD_CMP(x->dev, y->dev)	?:
						  RD_CMP(x->err, y->err);
}

static int by_count(const void *a, const void *b)
{
	const struct rd_count *x = a, *y = b;

	return RD_CMP(y->count, x->count) ?: by_key(a, b);
}

/* One row for each origin, verb, device and errno, the most frequent first. Returns how many there are. */
static size_t merge_counts(struct rd_count *counts, size_t n)
{
	size_t kept = 0;

	qsort(counts, n, sizeof(*counts), by_key);
	for (size_t i = 0; i < n; i++)
		if (kept && by_key(&counts[kept - 1], &counts[i]) == 0)
			counts[kept - 1].count += counts[i].count;
		else
			counts[kept++] = counts[i];
	qsort(counts, kept, sizeof(*counts), by_count);
	return kept;
}

/* ---- the summary */

void trace_counts(struct trace *t, struct rd_origin_count **ret, struct rd_verb **verbs, size_t *n)
{
	_cleanup_free_ struct rd_count *counts = NULL;

	rd_session_counts(t->session, &counts, n);
	for (size_t i = 0; i < *n; i++)
		counts[i].origin = trace_names_origin(t->names, counts[i].chain_id, counts[i].origin);
	*n = merge_counts(counts, *n);
	*ret = rd_alloc(*n + 1, sizeof(**ret));
	*verbs = rd_alloc(*n + 1, sizeof(**verbs));
	for (size_t i = 0; i < *n; i++) {
		const struct rd_count *c = &counts[i];
		struct rd_verb *verb = &(*verbs)[i];
		const uint64_t *benign = count_of(t, c->origin, c->verb, c->dev, c->err, false);

		rd_verb_name(c->verb, &t->set, verb);
		(*ret)[i] = (struct rd_origin_count){
			.fn = c->origin,
			.object = *verb->object ? verb->object : NULL,
			.method = *verb->method ? verb->method : NULL,
			.verb = *verb->verb ? verb->verb : NULL,
			.ibdev = rd_trace_facts_ibdev(t->facts, c->dev),
			.err = c->err,
			.count = c->count,
			/* Those that were read; if the row alone is sufficient to decide, also those that were lost. */
			.benign = rd_benign_count(c, &t->set) ? c->count :
				  benign		      ? *benign :
								0,
		};
	}
}

/* The closing line. Lost and missed are always printed, even if 0. */
static void print_closing_line(const struct trace *t, const struct rd_trace_summary *sum)
{
	const struct rd_trace_totals *n = &sum->totals;
	char missed[64], hidden[64] = "", uncounted[64] = "";

	if (n->missed.known == RD_OK)
		snprintf(missed, sizeof(missed), "%" PRIu64 " missed", n->missed.v);
	else if (n->missed_at_least)
		snprintf(missed, sizeof(missed), "at least %" PRIu64 " missed", n->missed_at_least);
	else
		snprintf(missed, sizeof(missed), "missed unknown");
	if (t->hidden + n->benign)
		snprintf(hidden, sizeof(hidden), ", %" PRIu64 " benign hidden (--benign shows them)",
			 t->hidden + n->benign);
	if (n->uncounted)
		snprintf(uncounted, sizeof(uncounted), ", %" PRIu64 " not in the table of counts", n->uncounted);
	rd_warn(t->ctx, "%" PRIu64 " events in %.1f s: %" PRIu64 " delivered, %" PRIu64 " lost, %s%s%s", n->events,
		sum->seconds, n->delivered, n->lost, missed, uncounted, hidden);
	if (n->missed_at_least)
		rd_warn(t->ctx, "missed: probes the kernel could not run; the event count may be too low; "
				"--backend kprobe-multi misses the fewest");
	if (n->lost && !t->opts->summary)
		rd_warn(t->ctx,
			"lost: the ring buffer was full; --buffer 4m enlarges it, and --summary counts lost events%s",
			n->missed_at_least ? "" : " exactly");
}

/* Of a trace that has ended. The caller frees *counts and *verbs. */
static int read_summary(struct trace *t, struct rd_trace_summary *sum, struct rd_origin_count **counts,
			struct rd_verb **verbs, struct rd_err *err)
{
	const struct rd_session_info *info = rd_session_info(t->session);
	struct rd_err note = { 0 };
	bool noted = false;
	int r;

	if (t->early_end) {
		rd_errlist_add(&t->notes, &t->why_early);
		rd_warn(t->ctx, "trace ended early: %s", t->why_early.message);
	}
	if (t->invalid) {
		rd_err_set(&note, EBADMSG, "event record", "%" PRIu64 " invalid records ignored", t->invalid);
		rd_errlist_add(&t->notes, &note);
		rd_warn(t->ctx, "%" PRIu64 " invalid event records ignored", t->invalid);
	}
	sum->seconds = (double)(t->stopped - t->started) / 1e9;
	sum->functions = info->functions;
	sum->hidden = t->hidden;
	sum->early_end = t->early_end;
	memcpy(sum->per_backend, info->per_backend, sizeof(sum->per_backend));
	r = rd_session_totals(t->session, &sum->totals, err);
	if (r)
		return r;
	sum->benign = t->benign + sum->totals.benign;
	/* If the limit was not enforced from the start, the note exists. */
	for (size_t i = 0; i < t->notes.n; i++)
		noted |= !strcmp(t->notes.v[i].object, "--max-cpu");
	if (t->opts->max_cpu > 0 && sum->totals.run_ns.known != RD_OK && !noted) {
		rd_err_set(&note, 0, "--max-cpu",
			   "run statistics were off for part of the trace: the limit was enforced only in part");
		rd_errlist_add(&t->notes, &note);
		rd_warn(t->ctx, "%s: %s", note.object, note.message);
	}
	trace_counts(t, counts, verbs, &sum->n_counts);
	sum->counts = *counts;
	return t->recorder ? trace_record_save(t, sum, err) : 0;
}

int trace_finish(struct trace *t)
{
	_cleanup_free_ struct rd_origin_count *counts = NULL;
	_cleanup_bytes_ struct rd_bytes file = { 0 };
	_cleanup_free_ struct rd_verb *verbs = NULL;
	struct rd_trace_summary sum = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	struct rd_err err = { 0 };
	bool none;
	int r;

	flush_fold(t, false);
	/* A black box has none. */
	if (t->replayed && rd_read_file(t->ctx->source, TRACE_SUMMARY, &file, NULL))
		return RD_EXIT_OK;
	r = t->replayed ? rd_trace_summary_parse(&file, &t->set, &sum, &counts, &t->notes, &err) :
			  read_summary(t, &sum, &counts, &verbs, &err);
	t->early_end = sum.early_end;
	t->hidden = sum.hidden;
	rd_output_init(t->ctx, &report);
	/* As it is in the recording. */
	if (t->recorded_at)
		report.time = t->recorded_at;
	report.status = t->early_end ? RD_EXIT_UNKNOWN : RD_EXIT_OK;
	if (!r) {
		rd_report_trace_summary(&report, &sum, &t->set, !t->opts->benign && !t->ctx->globals.json);
		rd_errlist_add_all(&report.errors, &t->notes);
	}
	if (!r && rd_metrics_wanted(t->ctx))
		rd_report_trace_metrics(&report);
	if (!r && (t->ctx->globals.json || t->opts->summary))
		r = rd_output_print(t->ctx, &report);
	else if (!r)
		r = report.status;
	if (r < 0)
		r = rd_fail(t->ctx, &err);
	else if (!t->ctx->globals.json && !t->ctx->globals.openmetrics)
		print_closing_line(t, &sum);
	/* A program can fail without a failed call, and for another reason than that of a call that failed. */
	none = sum.totals.events <= t->benign && !(sum.totals.missed.known == RD_OK && sum.totals.missed.v);
	if (r >= 0 && t->child.ended && !t->early_end && (none || trace_child_exit_code(&t->child)))
		rd_warn(t->ctx,
			"%sA trace does not see completions with an error status and asynchronous events (" RD_PROGRAM
			" qp-state shows queue pairs in error), events of librdmacm (rdma resource show cm_id), what a library "
			"refuses itself (ltrace -e 'ibv_*+rdma_*'), and calls that fail before they are RDMA's: open, mmap, "
			"seccomp (strace -f -e trace=openat,mmap,ioctl,write)",
			none ? "no RDMA call failed in the kernel. " : "");
	if (t->child.ended && r == RD_EXIT_OK)
		return trace_child_exit_code(&t->child);
	return r;
}
