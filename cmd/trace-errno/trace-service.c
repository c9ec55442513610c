// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --service: two processes, and the holders of the hooks. The supervisor attaches the hooks, reads the counts of the kernel and parses
 * nothing of others. The worker, which it starts, has no privileges (an opener records the host for it): it reads the ring buffers, and
 * writes the log and the textfile. Everything that must outlive a worker is in memory that both share, so that it can be replaced at any
 * time: for modules that were loaded, on SIGHUP, when the log is full, and after it died. Whatever grows has a limit.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "analyse/trace/trace.h"
#include "bpf/trace.h"
#include "collect/failure/failure.h"
#include "collect/shared/cgroup.h"
#include "confine/confine.h"
#include "qp-recorder.h"
#include "report/qp/report-qp.h"
#include "report/trace/report-trace.h"
#include "source/guard/source-guard.h"
#include "source/opener/opener.h"
#include "trace.h"
#include "trace/select/select.h"

#define LOG_SIZE 64 /* MiB; there are two files of this size at most */
#define REPORT_SECONDS 15
#define SERIES_MAX 2000
#define KINDS 256		       /* failures that are alike, of one process */
#define BURST 10		       /* of a kind, that are logged */
#define REFILL_NS UINT64_C(6000000000) /* then one in this time */
#define BACKLOG (256 * 1024)	       /* bytes of lines that the log has not taken yet */
#define TEXTFILE_MAX (1024 * 1024)
#define WAIT_MS 500			  /* of the supervisor; the worker polls every 5 to 100 ms, like other traces */
#define RELEASED_NS UINT64_C(60000000000) /* longer than detaching takes */
#define EXIT_ROTATE 10
#define DEATHS_MAX 20 /* of workers, each within DEATHS_NS of the one before: another would not repair what is wrong */
#define DEATHS_NS UINT64_C(60000000000)

struct series {
	struct rd_failure_count c; /* .count: all */
	uint64_t read, lost;	   /* of the running session */
	/* In the running session: */
	bool live;
	int fn, err;
	uint64_t verb;
	uint32_t dev;
};

struct kind {
	uint64_t key, refilled, suppressed; /* key 0: unused */
	uint32_t tokens, pid;
	struct rd_failure_count where;
};

/* The failed call for which the opener is to record the host. From a process without privileges: no value is a path, a size or an index. */
struct call {
	bool names;	/* only the names of the device and of the control group */
	bool counters;	/* of ports, and nothing of a call */
	unsigned facts; /* enum rd_fact */
	uint32_t pid, dev;
	uint64_t cgroup, at_ns;
	char ibdev[64];
	RD_FIELD(uint32_t) port;
	struct rd_moment moment;
	struct rd_request request;
};

struct shared {
	uint64_t beat; /* the worker lives */
	bool stop;     /* it is to end: the supervisor may lack CAP_KILL, and the worker has another user */
	struct call call;
	uint64_t events, lost, suppressed, unwritten, restarts, next_report;
	uint64_t gap; /* CLOCK_REALTIME, ns: since when there was no worker, or no hooks; 0: none */
	bool gap_of_hooks;
	struct series series[SERIES_MAX];
	size_t n_series;
	uint64_t others;
	struct kind kinds[KINDS];
	struct rd_starts starts;
	struct trace_box box;
	struct rd_recent_file recent;
	/* The kernel's counts, of a moment before everything that is in the ring buffer now was delivered. Set by the supervisor if
	 * not `fresh`, and used by the worker if so. */
	bool fresh;
	uint64_t kernel_lost;
	size_t functions, n_counts;
	struct rd_count counts[RD_COUNTS_MAX];
};

struct service {
	struct trace *t;
	struct shared *m;
	struct rd_ctx qp_ctx;
	struct qp_recorder qp;
	bool recording;
	int out; /* to which lines are written */
	uint64_t out_size;
	/* of the worker */
	struct rd_ctx ctx;
	struct rd_source *facts; /* of the host, as the opener recorded them last */
	struct trace_readings readings;
	struct rd_buf backlog;
	uint64_t dropped; /* lines since the log took one */
	uint64_t dropped_since;
	bool full; /* the log is to be replaced */
	/* of the supervisor */
	pid_t worker;
	unsigned deaths;
	uint64_t died; /* CLOCK_REALTIME, ns */
	uint64_t beat, unloads;
	uint64_t recorder_due; /* CLOCK_MONOTONIC, ns: when it starts again; 0: it runs, or cannot */
	struct {
		uint32_t module;
		uint64_t at; /* CLOCK_MONOTONIC, ns; 0: none */
	} released[RD_UNLOADS];
};

static uint64_t clock_ns(const struct service *s, int clock)
{
	return s->t->ctx->source->ops->now(s->t->ctx->source, clock);
}

/* ---- the log */

/* Writes as much as the log takes without waiting. */
static void flush_log(struct service *s)
{
	size_t done = 0;

	while (done < s->backlog.len) {
		struct pollfd p = { .fd = s->out, .events = POLLOUT };
		size_t size = s->backlog.len - done;
		ssize_t n = 0;

		/* What is at most a page does not wait in a pipe that is writable. */
		if (poll(&p, 1, 0) > 0 && p.revents & POLLOUT)
			n = write(s->out, s->backlog.data + done, size < 4096 ? size : 4096);
		if (n <= 0)
			break;
		done += (size_t)n;
		s->out_size += (uint64_t)n;
	}
	memmove(s->backlog.data, s->backlog.data + done, s->backlog.len - done);
	s->backlog.len -= done;
	s->full = s->t->opts->log && !s->backlog.len &&
		  s->out_size >> 20 >= (s->t->opts->log_size ? s->t->opts->log_size : LOG_SIZE);
}

static void put_report(const char *schema, struct rd_report *report, struct rd_buf *out)
{
	report->schema = schema;
	rd_render_json_line(report, RD_VERSION, out);
	rd_report_deinit(report);
}

static void make_notice(struct service *s, const char *event, uint64_t count, uint64_t since,
			const struct rd_failure_count *where, uint32_t pid, struct rd_buf *out)
{
	struct rd_report report;

	rd_output_init(&s->ctx, &report);
	rd_report_trace_notice(&report, event, count, since, where, pid);
	put_report("rdmadiag/trace-errno-service/1", &report, out);
}

/* A line is written as a whole, or counted. */
static void put_line(struct service *s, const struct rd_buf *line)
{
	_cleanup_buf_ struct rd_buf lost = { 0 };

	flush_log(s);
	if (s->dropped && !s->backlog.len) {
		make_notice(s, "unwritten", s->dropped, s->dropped_since, NULL, 0, &lost);
		rd_buf_add(&s->backlog, lost.data, lost.len);
		s->dropped = 0;
	}
	if (s->dropped || s->backlog.len + line->len > BACKLOG) {
		if (!s->dropped++)
			s->dropped_since = clock_ns(s, CLOCK_REALTIME);
		s->m->unwritten++;
		return;
	}
	rd_buf_add(&s->backlog, line->data, line->len);
	flush_log(s);
}

static void put_notice(struct service *s, const char *event, uint64_t count, uint64_t since,
		       const struct rd_failure_count *where, uint32_t pid)
{
	_cleanup_buf_ struct rd_buf line = { 0 };

	make_notice(s, event, count, since, where, pid, &line);
	put_line(s, &line);
}

static void put_section(struct service *s, struct rd_section *section)
{
	_cleanup_buf_ struct rd_buf line = { 0 };

	rd_render_json_row(section, 0, &line);
	rd_section_destroy(section);
	put_line(s, &line);
}

/* ---- the opener of the worker: it keeps the privileges, and parses what the kernel says */

static struct {
	struct shared *m;
	struct rd_source *live, *guard;
	struct rd_trace_facts *devices;
	struct rd_cgroups *cgroups;
	struct rd_failure_reader *reader; /* as that of the worker, which reads what this one recorded */
	char *ibdev, *cgroup;		  /* of the last call; NULL: unknown */
} recorder;

static void name_call(struct call *call, struct rd_buf *out)
{
	const char *ibdev = call->ibdev;

	call->ibdev[sizeof(call->ibdev) - 1] = 0;
	if (!*ibdev || *ibdev == '.' || strchr(ibdev, '/'))
		ibdev = rd_trace_facts_ibdev(recorder.devices, call->dev);
	RD_FREE(recorder.ibdev, recorder.cgroup);
	recorder.ibdev = rd_dup_if(ibdev);
	recorder.cgroup = rd_cgroups_path(recorder.cgroups, call->pid, call->cgroup);
	rd_buf_printf(out, "%s%c%s", ibdev ? ibdev : "", 0, recorder.cgroup ? recorder.cgroup : "");
}

/* What is read for the failure named last, and the name of the host. */
static void record_host(unsigned parts, unsigned limit_ms, struct rd_buf *out)
{
	_cleanup_(rd_failure_deinit) struct rd_failure failure = { 0 };
	_cleanup_free_ char *host = NULL;
	struct call call;
	struct rd_event ev = { 0 };

	memcpy(&call, &recorder.m->call, sizeof(call));
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the worker may change it meanwhile */
	if (call.names)
		return name_call(&call, out);
	if (call.counters)
		return trace_box_record_counters(recorder.live, out);
	rd_source_guard_renew(recorder.guard, 0);
	if (!recorder.reader)
		recorder.reader = rd_failure_reader_create(recorder.guard);
	ev = (struct rd_event){ .pid = call.pid,
				.ibdev = recorder.ibdev,
				.cgroup = recorder.cgroup,
				.at_ns = call.at_ns,
				.moment = call.moment,
				.request = call.request };
	RD_COPY(ev.port, call.port);
	failure.event = &ev;
	rd_failure_read(recorder.reader, call.facts, &failure, NULL);
	rd_read_textf(recorder.guard, &host, NULL, "/proc/sys/kernel/hostname");
	rd_source_guard_pack(recorder.guard, out);
}

/* Before it is forked. */
static int prepare_opener(struct service *s, struct rd_err *err)
{
	int r = rd_source_live_open(NULL, &recorder.live, err);

	if (r)
		return r;
	recorder.m = s->m;
	recorder.guard = rd_source_guard_open_alone(recorder.live);
	recorder.devices = rd_trace_facts_create(recorder.live);
	recorder.cgroups = rd_cgroups_create(recorder.live);
	s->m->call = (struct call){ 0 };
	s->ctx = *s->t->ctx;
	s->ctx.source = rd_source_guard_open_alone(NULL);
	rd_opener_name(RD_OPENER_OUTPUT, RD_SOURCE_RECENT);
	return rd_opener_start(record_host, s->ctx.source, err);
}

/* ---- the worker: names and facts of the host */

/* Sets those that are not known yet. The strings are the caller's to free. */
static void find_names(struct service *s, uint32_t pid, uint64_t cgroup, uint32_t dev, char **ibdev, char **path)
{
	_cleanup_bytes_ struct rd_bytes names = { 0 };
	struct call *call = &s->m->call;
	size_t size;

	*call = (struct call){ .names = true, .pid = pid, .cgroup = cgroup, .dev = dev };
	snprintf(call->ibdev, sizeof(call->ibdev), "%s", *ibdev ? *ibdev : "");
	if (rd_opener_record(0, 0, &names, NULL) < 0 || !names.size)
		return;
	size = strnlen((char *)names.data, names.size);
	if (!*ibdev && size)
		*ibdev = rd_dup((char *)names.data);
	if (!*path && size + 1 < names.size)
		*path = rd_dup((char *)names.data + size + 1);
}

/* Has the host recorded for a failure that find_names was called for. */
static void record_facts(void *arg, const struct rd_event *ev, unsigned facts)
{
	struct service *s = arg;
	struct call *call = &s->m->call;

	call->names = false;
	call->facts = facts;
	call->at_ns = ev->at_ns;
	RD_COPY(call->port, ev->port);
	call->moment = ev->moment;
	call->request = ev->request;
	rd_source_guard_renew(s->facts, 0);
	rd_source_guard_ahead(s->facts, NULL, NULL);
}

static void record_counters(void *arg)
{
	struct service *s = arg;

	s->m->call = (struct call){ .counters = true };
	rd_source_guard_renew(s->facts, 0);
	rd_source_guard_ahead(s->facts, NULL, NULL);
}

/* ---- the worker: counts */

static bool same_failure(const struct rd_failure_count *a, const struct rd_failure_count *b)
{
	return a->err == b->err && !strcmp(a->function, b->function) && !strcmp(a->verb, b->verb) &&
	       !strcmp(a->ibdev, b->ibdev) && !strcmp(a->job, b->job) && !strcmp(a->module, b->module);
}

/* The series of this failure. NULL: there is no room for it. */
static struct series *find_series(struct shared *m, const struct rd_failure_count *where, const struct series *ids)
{
	struct series *end = m->series + m->n_series, *v;

	for (v = m->series; v < end; v++)
		if (v->live && v->fn == ids->fn && v->verb == ids->verb && v->dev == ids->dev && v->err == ids->err &&
		    same_failure(&v->c, where))
			return v;
	/* From before this session; else another device of the same name, perhaps. */
	for (v = m->series; v < end && !(!v->live && same_failure(&v->c, where)); v++)
		;
	if (v == m->series + SERIES_MAX)
		return NULL;
	if (v == end) {
		*v = (struct series){ .c = *where };
		m->n_series++;
	}
	v->live = true;
	v->fn = ids->fn;
	v->verb = ids->verb;
	v->dev = ids->dev;
	v->err = ids->err;
	return v;
}

/* What the kernel counted and did not deliver is of no known job. */
static void count_lost(struct service *s)
{
	struct shared *m = s->m;

	if (!m->fresh)
		return;
	for (size_t i = 0; i < m->n_counts && m->kernel_lost; i++) {
		const struct rd_count *c = &m->counts[i];
		const struct series ids = { .fn = c->origin, .verb = c->verb, .dev = c->dev, .err = c->err };
		struct rd_failure_count where = { 0 };
		struct rd_event ev = {
			.origin = c->origin, .err = c->err, .verb_key = c->verb, .at_ns = trace_now(s->t)
		};
		struct rd_verb verb;
		_cleanup_free_ char *ibdev = NULL, *cgroup = NULL;
		struct series *v;
		uint64_t known = 0;

		for (v = m->series; v < m->series + m->n_series; v++)
			if (v->live && v->fn == c->origin && v->verb == c->verb && v->dev == c->dev && v->err == c->err)
				known += v->read + v->lost;
		if (c->count <= known)
			continue;
		rd_verb_name(c->verb, &s->t->set, &verb);
		ev.verb = *verb.verb ? verb.verb : NULL;
		ev.object = *verb.object ? verb.object : NULL;
		ev.method = *verb.method ? verb.method : NULL;
		find_names(s, 0, 0, c->dev, &ibdev, &cgroup);
		ev.ibdev = ibdev;
		rd_failure_count_name(&ev, &s->t->set, &where);
		v = find_series(m, &where, &ids);
		m->lost += c->count - known;
		trace_recent_add(&m->recent, &where, &ev, c->count - known, NULL);
		if (!v) {
			m->others += c->count - known;
			continue;
		}
		v->lost += c->count - known;
		v->c.count += c->count - known;
	}
	m->fresh = false;
}

static void write_textfile(struct service *s)
{
	_cleanup_free_ struct rd_failure_count *counts = rd_alloc(s->m->n_series + 1, sizeof(*counts));
	struct rd_service_totals totals = { .counts = counts,
					    .n_counts = s->m->n_series,
					    .others = s->m->others,
					    .events = s->m->events,
					    .lost = s->m->lost,
					    .suppressed = s->m->suppressed,
					    .unwritten = s->m->unwritten,
					    .restarts = s->m->restarts,
					    .functions = s->m->functions };
	_cleanup_(rd_report_deinit) struct rd_report report;
	struct rd_err err = { 0 };

	for (size_t i = 0; i < s->m->n_series; i++)
		counts[i] = s->m->series[i].c;
	for (size_t i = 0; i < RD_PROGRAMS; i++)
		for (size_t k = 0; k < RD_LOOPS_OF_PROGRAM; k++)
			totals.loops += rd_crash_loop_is(&s->m->starts.v[i].v[k]);
	rd_output_init(&s->ctx, &report);
	rd_report_service_metrics(&report, &totals);
	if (rd_output_textfile(&s->ctx, &report, &err) < 0)
		rd_warn(&s->ctx, "%s: %s: %s", err.object, err.message, rd_errno_text(err.code));
}

/* ---- the worker: events */

/* Whether there is room in the budget for one more of this kind. */
static bool may_log(struct service *s, const struct rd_event *ev, const struct rd_failure_count *where)
{
	const uint64_t parts[] = { ev->pid, (uint64_t)ev->origin, ev->verb_key, (uint64_t)ev->err, ev->dev };
	uint64_t key = rd_hash(RD_HASH, parts, sizeof(parts)) | 1;
	struct kind *kind = s->m->kinds;

	for (struct kind *k = s->m->kinds; k < s->m->kinds + KINDS; k++) {
		if (k->key == key) {
			kind = k;
			break;
		}
		if (k->refilled < kind->refilled)
			kind = k;
	}
	if (kind->key != key) {
		if (kind->suppressed)
			put_notice(s, "suppressed", kind->suppressed, 0, &kind->where, kind->pid);
		*kind = (struct kind){
			.key = key, .refilled = ev->at_ns, .tokens = BURST, .pid = ev->pid, .where = *where
		};
	}
	if (ev->at_ns > kind->refilled + REFILL_NS) {
		kind->refilled = ev->at_ns;
		kind->tokens += kind->tokens < BURST;
	}
	if (kind->tokens) {
		kind->tokens--;
		return true;
	}
	kind->suppressed++;
	s->m->suppressed++;
	return false;
}

static void take_failure(void *arg, struct trace *t, struct rd_event *ev)
{
	const struct series ids = { .fn = ev->origin, .verb = ev->verb_key, .dev = ev->dev, .err = ev->err };
	struct rd_failure_count where = { 0 };
	struct service *s = arg;
	struct rd_recent_failure *recent;
	struct rd_crash_loop *loop;
	struct series *v;

	find_names(s, ev->pid, ev->cgroup_id, ev->dev, &ev->ibdev, &ev->cgroup);
	trace_names_complete(t, ev);
	rd_failure_count_name(ev, &t->set, &where);
	s->m->events++;
	v = find_series(s->m, &where, &ids);
	if (v) {
		v->c.count++;
		v->read++;
	} else {
		s->m->others++;
	}
	if (ev->benign)
		return;
	loop = rd_starts_add(&s->m->starts, ev, &t->set);
	recent = trace_recent_add(&s->m->recent, &where, ev, 1, loop);
	/* One line of the loop says it for all. */
	if (loop && rd_crash_loop_is(loop) && *loop->cause) {
		s->m->suppressed++;
		return;
	}
	if (!may_log(s, ev, &where))
		return;
	trace_names_explain(t, ev);
	snprintf(recent->cause, sizeof(recent->cause), "%s", ev->why.id ? ev->why.cause : "");
	if (loop)
		snprintf(loop->cause, sizeof(loop->cause), "%s", ev->why.id ? ev->why.cause : RD_CANNOT_TELL);
	trace_box_failure(&s->m->box, t, ev);
	put_section(s, rd_report_trace_event(ev, &t->set));
}

/* Of the recorder: what devices report. */
static int take_qp_event(void *arg, struct rd_qp_event *ev)
{
	struct service *s = arg;
	struct rd_failure_count where = { .err = 0 };
	/* Only what tells kinds apart: the queue pair in place of the errno. */
	struct rd_event as = { .pid = ev->pid,
			       .err = ev->lqpn.known == RD_OK ? (int)ev->lqpn.v : 0,
			       .origin = -1,
			       .verb_key = ev->code.known == RD_OK ? ev->code.v : 0,
			       .at_ns = ev->mono_ns };

	trace_box_qp(&s->m->box, ev, s->qp.raw);
	if (ev->what != RD_QP_ASYNC && ev->what != RD_QP_DEVICE)
		return 0;
	snprintf(where.function, sizeof(where.function), "%s", rd_qp_what_name(ev->what));
	snprintf(where.ibdev, sizeof(where.ibdev), "%s", ev->ibdev);
	as.dev = (uint32_t)rd_hash(1, ev->ibdev, strlen(ev->ibdev));
	if (may_log(s, &as, &where))
		put_section(s, rd_report_qp_event(ev));
	return 0;
}

/* Crash loops, what was suppressed, and the counts. */
static void report(struct service *s)
{
	struct shared *m = s->m;
	double interval = s->t->opts->report > 0 ? s->t->opts->report : REPORT_SECONDS;

	m->next_report = clock_ns(s, CLOCK_MONOTONIC) + (uint64_t)(interval * 1e9);
	count_lost(s);
	for (size_t i = 0; i < RD_PROGRAMS * RD_LOOPS_OF_PROGRAM; i++) {
		struct rd_crash_loop *loop = &m->starts.v[i / RD_LOOPS_OF_PROGRAM].v[i % RD_LOOPS_OF_PROGRAM];
		_cleanup_buf_ struct rd_buf line = { 0 };
		struct rd_report of;

		if (!rd_crash_loop_is(loop) || loop->where.count < 2 * loop->reported)
			continue;
		if (!loop->reported)
			trace_box_trigger(&m->box, TRACE_FREEZE_CRASH_LOOP, clock_ns(s, CLOCK_MONOTONIC));
		loop->reported = loop->where.count;
		rd_output_init(&s->ctx, &of);
		rd_report_trace_loop(&of, loop);
		put_report("rdmadiag/trace-errno-crash-loop/1", &of, &line);
		put_line(s, &line);
	}
	for (struct kind *k = m->kinds; k < m->kinds + KINDS; k++) {
		if (k->suppressed)
			put_notice(s, "suppressed", k->suppressed, 0, &k->where, k->pid);
		k->suppressed = 0;
	}
	write_textfile(s);
	trace_recent_write(s->t, &m->recent, &m->box, 3 * (uint64_t)(interval * 1e9));
	flush_log(s);
}

/* Reads both ring buffers. 1: there were events. */
static int drain(struct service *s, struct rd_err *err)
{
	int r = trace_drain(s->t, err), q = 0;

	if (r >= 0 && s->recording)
		q = qp_recorder_drain(&s->qp, err);
	return r < 0 ? r : q < 0 ? q : r + q;
}

static int prepare_worker(struct service *s, struct rd_err *err)
{
	struct trace *t = s->t;
	int r = prepare_opener(s, err);

	if (r)
		return r;
	rd_source_closep(&recorder.live);
	t->ring = t->ctx->source;
	t->ctx = &s->ctx;
	/* It finds nothing: find_names does. */
	rd_trace_facts_destroy(t->facts);
	t->facts = rd_trace_facts_create(s->ctx.source);
	s->facts = rd_source_guard_open_alone(NULL);
	rd_source_guard_ahead(s->facts, NULL, NULL);
	rd_source_guard_ahead(s->ctx.source, NULL, NULL);
	s->readings = (struct trace_readings){ .fetch = record_counters, .arg = s, .host = s->facts };
	trace_causes_create(t, s->facts);
	t->sink = take_failure;
	t->record = record_facts;
	t->sink_arg = s;
	s->qp.ring = s->qp_ctx.source;
	s->qp.ctx = &s->ctx;
	s->qp.event = take_qp_event;
	s->qp.arg = s;
	rd_cgroups_destroy(s->qp.cgroups);
	s->qp.cgroups = NULL;
	return rd_confine(RD_CONFINE_CHILDREN, NULL, err);
}

/* The worker. Ends when the supervisor wants it to, or has ended. */
static int work(struct service *s)
{
	struct pollfd p = { .fd = s->t->signals, .events = POLLIN };
	struct rd_err err = { 0 };
	uint64_t nap = 5;
	int r = prepare_worker(s, &err);

	if (!r && s->m->gap) {
		put_notice(s, s->m->gap_of_hooks ? "holder-died" : "worker-died", 1, s->m->gap, NULL, 0);
		s->m->gap = 0;
	}
	while (r >= 0 && !s->full && !trace_signalled(s->t) && !__atomic_load_n(&s->m->stop, __ATOMIC_RELAXED)) {
		s->m->beat++;
		r = drain(s, &err);
		nap = r > 0 ? 5 : nap * 2 < 100 ? nap * 2 : 100;
		flush_log(s);
		if (clock_ns(s, CLOCK_MONOTONIC) >= s->m->next_report ||
		    __atomic_load_n(&s->m->box.written, __ATOMIC_ACQUIRE))
			report(s);
		trace_box_pack(s->t, &s->m->box, &s->readings, clock_ns(s, CLOCK_MONOTONIC));
		poll(&p, 1, (int)nap);
	}
	while (r >= 0 && !s->full && (r = drain(s, &err)) > 0)
		;
	if (r >= 0 && (s->t->interrupted || s->m->stop)) {
		report(s);
		for (unsigned i = 0; i < 10 && s->backlog.len; i++) {
			poll(NULL, 0, 50);
			flush_log(s);
		}
	}
	if (r < 0)
		return rd_fail(NULL, &err);
	rd_opener_end();
	return s->full ? EXIT_ROTATE : RD_EXIT_OK;
}

/* ---- the supervisor */

static int open_log(struct service *s, struct rd_err *err)
{
	const char *path = s->t->opts->log;
	struct stat st;
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0640);
	if (fd < 0 || fstat(fd, &st))
		return rd_err_set(err, errno, path, "cannot open the log");
	if (s->out > STDERR_FILENO)
		close(s->out);
	s->out = fd;
	s->out_size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return 0;
}

/* Starts the worker with what is known now. */
static int start_worker(struct service *s, struct rd_err *err)
{
	pid_t supervisor = getpid();

	s->m->stop = false;
	s->worker = fork();
	if (s->worker < 0) {
		s->worker = 0;
		return rd_err_set(err, errno, "worker", "cannot start");
	}
	if (s->worker)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	_exit(getppid() == supervisor ? work(s) : 0);
}

/* Waits until it has written what there is. */
static void stop_worker(struct service *s)
{
	if (!s->worker)
		return;
	__atomic_store_n(&s->m->stop, true, __ATOMIC_RELAXED);
	waitpid(s->worker, NULL, 0);
	s->worker = 0;
}

static void rotate(struct service *s)
{
	_cleanup_free_ char *old = rd_text("%s.1", s->t->opts->log);
	struct rd_err err = { 0 };

	if (rename(s->t->opts->log, old))
		rd_warn(s->t->ctx, "%s: cannot rename: %s", s->t->opts->log, rd_errno_text(errno));
	if (open_log(s, &err))
		rd_warn(s->t->ctx, "%s: %s: %s", err.object, err.message, rd_errno_text(err.code));
}

/* The worker ended by itself. */
static int reap_worker(struct service *s, struct rd_err *err)
{
	int status;

	if (!s->worker || waitpid(s->worker, &status, WNOHANG) != s->worker)
		return 0;
	s->worker = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_ROTATE) {
		rotate(s);
		return 0;
	}
	s->m->restarts++;
	s->m->gap = clock_ns(s, CLOCK_REALTIME);
	s->m->gap_of_hooks = false;
	rd_warn(s->t->ctx, "the process that reads events ended (%s %d), and is started again",
		WIFEXITED(status) ? "status" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	s->deaths = s->m->gap > s->died + DEATHS_NS ? 1 : s->deaths + 1;
	s->died = s->m->gap;
	if (s->deaths > DEATHS_MAX)
		return rd_err_set(err, ECHILD, "worker", "ends again and again");
	return 0;
}

/* The value of a label on this line; empty: it has none. */
static void take_label(const char *line, const char *end, const char *name, char *ret, size_t size)
{
	const char *at = strstr(line, name);

	for (at = at && at < end ? at + strlen(name) : end; at < end && *at != '"' && size > 1; size--) {
		at += *at == '\\' && at + 1 < end;
		*ret++ = *at++;
	}
	*ret = 0;
}

/* Goes on with the counts of its own textfile. */
static void load_counts(struct service *s)
{
	static const char family[] = RD_PROGRAM "_" RD_SERVICE_FAILURES "_total{";
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	const char *path = s->t->ctx->globals.textfile, *next;
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;

	if (fd < 0 || rd_read_fd(fd, TEXTFILE_MAX, &bytes))
		return;
	for (const char *line = (const char *)bytes.data; *line && s->m->n_series < SERIES_MAX; line = next) {
		struct rd_failure_count c = { 0 };
		const char *end = line + strcspn(line, "\n"), *at = end;
		char name[32];

		next = end + (*end == '\n');
		if (strncmp(line, family, strlen(family)))
			continue;
		take_label(line, end, "errno=\"", name, sizeof(name));
		take_label(line, end, "function=\"", c.function, sizeof(c.function));
		take_label(line, end, "module=\"", c.module, sizeof(c.module));
		take_label(line, end, "verb=\"", c.verb, sizeof(c.verb));
		take_label(line, end, "ibdev=\"", c.ibdev, sizeof(c.ibdev));
		take_label(line, end, "job=\"", c.job, sizeof(c.job));
		c.err = -rd_errno_parse(name);
		while (at > line && at[-1] != ' ')
			at--;
		if (c.err < 0 && rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &c.count) >= 0 && at == end)
			s->m->series[s->m->n_series++].c = c;
	}
}

/* The kernel's counts, for the worker. */
static void read_counts(struct service *s)
{
	_cleanup_free_ struct rd_count *counts = NULL;
	struct rd_trace_totals totals = { 0 };
	struct rd_err err = { 0 };
	size_t n;

	s->m->functions = rd_session_info(s->t->session)->functions;
	if (s->m->fresh)
		return;
	/* Only if some were lost is there something in them that events do not say. */
	if (rd_session_totals(s->t->session, &totals, &err))
		return;
	rd_session_counts(s->t->session, &counts, &n);
	n = n < RD_COUNTS_MAX ? n : RD_COUNTS_MAX;
	memcpy(s->m->counts, counts, n * sizeof(*counts));
	s->m->n_counts = n;
	s->m->kernel_lost = totals.lost;
	__atomic_store_n(&s->m->fresh, true, __ATOMIC_RELEASE);
}

/* The holder was killed: all hooks again, of the modules that are there now. */
static int start_again(struct service *s, struct rd_err *err)
{
	struct trace *t = s->t;
	char *none[] = { NULL };
	int r;

	rd_warn(t->ctx, "the process that held the hooks died: they are attached again");
	s->m->gap = clock_ns(s, CLOCK_REALTIME);
	s->m->gap_of_hooks = true;
	s->m->restarts++;
	stop_worker(s);
	rd_session_destroy(RD_TAKE(t->session));
	trace_extend_destroy(RD_TAKE(t->extend));
	rd_fnset_deinit(&t->set);
	t->early_end = RD_EARLY_END_NOT;
	for (size_t i = 0; i < SERIES_MAX; i++) { /* not n_series, which the worker wrote */
		s->m->series[i].live = false;
		s->m->series[i].read = s->m->series[i].lost = 0;
	}
	s->m->fresh = false;
	s->m->box.failures = (struct trace_lane){ 0 }; /* functions have other numbers now */
	s->unloads = 0;
	memset(s->released, 0, sizeof(s->released));
	r = rd_select(t->ctx->source, &t->set, &t->notes, err);
	return r ? r : trace_start(t, none, err);
}

/* SIGHUP: the log may have been renamed, and the hints of the site may have changed. */
static int reload(struct service *s, struct rd_err *err)
{
	char state[80];
	int r;

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns(s, CLOCK_MONOTONIC) / 1000);
	trace_notify(state);
	stop_worker(s);
	trace_names_destroy(RD_TAKE(s->t->names));
	r = trace_names_create(s->t, err);
	if (!r)
		r = open_log(s, err);
	trace_notify("READY=1");
	return r;
}

/* 1: the service is to end. */
static int take_signals(struct service *s, struct rd_err *err)
{
	uint64_t now = clock_ns(s, CLOCK_MONOTONIC);
	struct signalfd_siginfo info;
	int r = 0;

	while (!r && read(s->t->signals, &info, sizeof(info)) == sizeof(info))
		r = info.ssi_signo == SIGCHLD ? reap_worker(s, err) :
		    info.ssi_signo == SIGHUP  ? reload(s, err) :
		    info.ssi_signo == SIGUSR1 ? trace_box_trigger(&s->m->box, TRACE_FREEZE_ASKED, now) :
						1;
	return r;
}

/* Without it, only what devices report is missing. */
static void start_recorder(struct service *s)
{
	struct rd_err err = { 0 };

	s->qp_ctx = *s->t->ctx;
	s->qp = (struct qp_recorder){ .ctx = &s->qp_ctx };
	if (!rd_source_live_open(NULL, &s->qp_ctx.source, &err) && !qp_recorder_start(&s->qp, &err))
		s->recording = true;
	else
		rd_warn(s->t->ctx, "events of devices are not logged: %s: %s", err.object, err.message);
}

static void stop_recorder(struct service *s)
{
	s->recording = false;
	qp_recorder_deinit(&s->qp);
	s->qp = (struct qp_recorder){ 0 };
	if (s->qp_ctx.source)
		s->qp_ctx.source->ops->close(s->qp_ctx.source);
	s->qp_ctx.source = NULL;
}

static bool hooked_in(const struct rd_fnset *set, const char *module)
{
	for (size_t i = 0; i < set->n_fns; i++)
		if (set->fns[i].backend != RD_BACKEND_NONE && !strcmp(set->modules[set->fns[i].module].name, module))
			return true;
	return false;
}

/* A module that is in use cannot be unloaded: its hooks are released for a while. */
static void release_modules(struct service *s)
{
	char names[RD_UNLOADS][RD_UNLOAD_NAME];
	size_t n = rd_session_unloads(s->t->session, &s->unloads, names), k = 0;
	uint64_t now = clock_ns(s, CLOCK_MONOTONIC);
	struct rd_fnset *set = &s->t->set;

	for (size_t i = 0; i < n; i++) {
		/* The recorder has few hooks, and starts quickly. */
		if (s->recording && hooked_in(&s->qp.set, names[i])) {
			stop_worker(s);
			stop_recorder(s);
			s->recorder_due = now + RELEASED_NS;
		}
		for (uint32_t m = 0; m < set->n_modules; m++) {
			size_t hooked =
				strcmp(set->modules[m].name, names[i]) ? 0 : rd_session_release(s->t->session, set, m);

			if (!hooked)
				continue;
			rd_warn(s->t->ctx, "%s is to be unloaded: %zu functions are not traced any more", names[i],
				hooked);
			while (k + 1 < RD_UNLOADS && s->released[k].at)
				k++;
			s->released[k].module = m;
			s->released[k].at = now;
		}
	}
	for (k = 0; k < RD_UNLOADS; k++)
		if (s->released[k].at && now > s->released[k].at + RELEASED_NS) {
			s->released[k].at = 0;
			trace_extend_again(s->t, s->released[k].module);
		}
	if (s->recorder_due && now > s->recorder_due) {
		s->recorder_due = 0;
		stop_worker(s);
		start_recorder(s);
	}
}

/* One look at everything. */
static int supervise(struct service *s, struct rd_err *err)
{
	struct trace *t = s->t;
	struct pollfd fds[] = { { .fd = t->signals, .events = POLLIN },
				{ .fd = rd_session_holder_fd(t->session), .events = POLLIN } };
	uint64_t at;
	int r;

	poll(fds, RD_ARRAY_SIZE(fds), WAIT_MS);
	t->early_end = rd_session_ended_early(t->session, &t->why_early);
	if (t->early_end == RD_EARLY_END_DIED)
		r = start_again(s, err);
	else if (t->early_end)
		return 1;
	else
		r = take_signals(s, err);
	if (r)
		return r;
	/* Functions of new modules have numbers that a worker from before does not know. */
	if (trace_extend_due(t))
		stop_worker(s);
	release_modules(s);
	trace_extend_step(t);
	read_counts(s);
	trace_box_write(t, &s->m->box, clock_ns(s, CLOCK_REALTIME));
	at = __atomic_load_n(&s->m->beat, __ATOMIC_RELAXED);
	if (at != s->beat)
		trace_notify("WATCHDOG=1");
	s->beat = at;
	return s->worker ? 0 : start_worker(s, err);
}

int trace_service(struct trace *t, struct rd_err *err)
{
	struct service s = { .t = t, .out = STDOUT_FILENO };
	int r;

	s.m = mmap(NULL, sizeof(*s.m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.m == MAP_FAILED)
		return rd_err_set(err, errno, "service", "cannot allocate memory");
	t->ctx->lines = true;
	mkdir(RD_SOURCE_RECENT_DIR, 0755); /* the packages do */
	r = trace_box_start(&s.m->box, t, err);
	load_counts(&s);
	if (!r)
		r = open_log(&s, err);
	start_recorder(&s);
	if (!r)
		r = start_worker(&s, err);
	if (!r)
		trace_notify("READY=1\nSTATUS=tracing");
	while (!r)
		r = supervise(&s, err);
	trace_notify("STOPPING=1");
	t->stopped = clock_ns(&s, CLOCK_MONOTONIC);
	if (t->session)
		rd_session_stop(t->session);
	stop_worker(&s);
	/* Everything was read: what else the kernel counted was lost. */
	s.m->fresh = false;
	if (t->session)
		read_counts(&s);
	if (s.m->kernel_lost && !start_worker(&s, &(struct rd_err){ 0 }))
		stop_worker(&s);
	stop_recorder(&s);
	munmap(s.m, sizeof(*s.m));
	if (t->early_end) {
		rd_warn(t->ctx, "service ended: %s", t->why_early.message);
		return RD_EXIT_UNKNOWN;
	}
	return r > 0 ? RD_EXIT_OK : r;
}
