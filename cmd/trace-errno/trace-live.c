// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace-errno --live: failures by origin, by the kernel's own counts, which miss nothing; processes, cause and chain are those of the
 * events that are read.
 */
#include "trace.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "analyse/trace/trace.h"
#include "cmd/repeat.h"
#include "report/trace/report-trace.h"
#include "view/view.h"

#define INTERVAL 1.0	   /* seconds */
#define PROCESSES 16	   /* of an origin */
#define EXPLAINED_MAX 20   /* events of a look: reading the facts takes time; the rest is counted */
#define MESSAGES_MAX 65536 /* bytes that are kept of messages */

struct process {
	uint32_t pid, uid;
	char *comm, *job;
	uint64_t events;
};

/* What the events show about an origin; the counts are the kernel's. */
struct origin {
	char *key;
	uint64_t count, before; /* at the latest look, and the one before */
	uint64_t at_ns;		/* CLOCK_MONOTONIC, of the newest event; 0: none was read */
	uint64_t looked_ns;	/* when the newest one was explained */
	char *process, *job, *cause;
	struct rd_section *event; /* the newest one that was explained; owned */
	struct process processes[PROCESSES];
	size_t n_processes;
	uint64_t others; /* events of further processes */
};

struct live {
	struct trace *trace;
	struct rd_repeat repeat;
	struct origin *v;
	size_t n, cap;
	uint64_t now, before; /* CLOCK_MONOTONIC of this look and the one before */
	size_t explained;     /* in this look */
	char *newest;	      /* one line about the newest event; owned, NULL: none yet */
	int *rows;	      /* per row of the body: index of its origin */
	uint64_t lost;
};

static char *key_of(int fn, int err, const char *verb, const char *object, const char *method, const char *ibdev)
{
	return rd_text("%d %d %s %s %s %s", fn, err, verb ?: "", object ?: "", method ?: "", ibdev ?: "");
}

/* Index of the origin with this key, which is taken over. */
static size_t find_origin(struct live *live, char *key)
{
	for (size_t i = 0; i < live->n; i++)
		if (strcmp(live->v[i].key, key) == 0) {
			free(key);
			return i;
		}
	rd_reserve(&live->v, &live->cap, live->n + 1, sizeof(*live->v));
	live->v[live->n] = (struct origin){ .key = key };
	return live->n++;
}

/* ---- events */

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = rd_dup_if(text);
}

/* See struct trace. */
static void take_event(void *arg, struct trace *t, struct rd_event *ev)
{
	struct live *live = arg;
	struct process *p;
	struct origin *o;
	size_t i;

	if (ev->benign && !t->opts->benign) {
		t->hidden++;
		return;
	}
	t->shown++;
	rd_verb_resolve(ev, &t->set);
	/* It may move the array. */
	i = find_origin(live, key_of(ev->origin, ev->err, ev->verb, ev->object, ev->method, ev->ibdev));
	o = &live->v[i];
	o->at_ns = ev->at_ns;
	free(o->process);
	o->process = rd_text("%s[%u]", ev->comm, ev->pid);
	/* The newest of each origin once a look. */
	if (o->looked_ns != live->now && live->explained < EXPLAINED_MAX) {
		const char *name = rd_errno_name(-ev->err), *cause;
		const char *verb = ev->verb ?: ev->method ? ev->method : "call";

		trace_names_explain(t, ev);
		trace_names_complete(t, ev);
		rd_section_destroy(o->event);
		o->event = rd_report_trace_event(ev, &t->set);
		o->looked_ns = live->now;
		cause = ev->why.cause ?: ev->hint;
		set_text(&o->job, ev->job);
		set_text(&o->cause, cause);
		free(live->newest);
		/* "newest: the limit of locked memory ... (ibv_reg_mr of python3[4711] on mlx5_0: ENOMEM from ib_umem_get)": the
		 * cause first, for the line is cut at the edge of the screen. */
		live->newest = rd_text("newest: %s%s%s of %s[%u]%s%s: %s from %s%s", cause ?: "", cause ? " (" : "",
				       verb, ev->comm, ev->pid, ev->ibdev ? " on " : "", ev->ibdev ?: "", name ?: "?",
				       ev->origin >= 0 ? t->set.fns[ev->origin].name : "an unknown function",
				       cause ? ")" : "");
		live->explained++;
	}
	for (p = o->processes; p < o->processes + o->n_processes; p++)
		if (p->pid == ev->pid && strcmp(p->comm, ev->comm) == 0) {
			p->events++;
			return;
		}
	if (o->n_processes == PROCESSES) {
		o->others++;
		return;
	}
	o->n_processes++;
	*p = (struct process){
		.pid = ev->pid, .uid = ev->uid, .comm = rd_dup(ev->comm), .job = rd_dup_if(ev->job), .events = 1
	};
}

/* ---- a look */

static const struct origin *sorted_by; /* qsort has no argument */

static int compare_rows(const void *a, const void *b)
{
	const struct origin *x = &sorted_by[*(const int *)a], *y = &sorted_by[*(const int *)b];

	return RD_CMP(y->count > y->before, x->count > x->before) ?: RD_CMP(y->count, x->count);
}

/* The rows: those that fail now first, then the most frequent. */
static struct rd_section *make_body(struct live *live, const struct rd_origin_count *counts, size_t n)
{
	_cleanup_free_ size_t *origin = rd_alloc(n + 1, sizeof(*origin)); /* per count: index of its origin */
	_cleanup_free_ struct rd_live_origin *shown = rd_alloc(n + 1, sizeof(*shown));
	_cleanup_free_ size_t *count_of = NULL;
	size_t rows = 0;

	for (size_t i = 0; i < live->n; i++) {
		live->v[i].before = live->v[i].count;
		live->v[i].count = 0;
	}
	/* Counts that look the same are added up. */
	for (size_t i = 0; i < n; i++) {
		const struct rd_origin_count *c = &counts[i];

		origin[i] = find_origin(live, key_of(c->fn, c->err, c->verb, c->object, c->method, c->ibdev));
		live->v[origin[i]].count += c->count;
	}
	count_of = rd_alloc(live->n + 1, sizeof(*count_of));
	free(live->rows);
	live->rows = rd_alloc(live->n + 1, sizeof(*live->rows));
	for (size_t i = 0; i < n; i++) {
		bool first = !count_of[origin[i]], benign = counts[i].benign >= counts[i].count;

		if (!first || (benign && !live->trace->opts->benign))
			continue;
		count_of[origin[i]] = i + 1;
		live->rows[rows++] = (int)origin[i];
	}
	sorted_by = live->v;
	qsort(live->rows, rows, sizeof(*live->rows), compare_rows);
	for (size_t i = 0; i < rows; i++) {
		const struct origin *o = &live->v[live->rows[i]];

		shown[i] = (struct rd_live_origin){ .count = counts[count_of[live->rows[i]] - 1],
						    .process = o->process,
						    .job = o->job,
						    .cause = o->cause };
		shown[i].count.count = o->count;
		if (live->before)
			RD_SET(shown[i].rate,
			       (double)(o->count - o->before) / ((double)(live->now - live->before) / 1e9));
		if (o->at_ns)
			RD_SET(shown[i].age, (double)(live->now > o->at_ns ? live->now - o->at_ns : 0) / 1e9);
	}
	return rd_report_trace_live(shown, rows, &live->trace->set);
}

static int load_page(void *arg, struct rd_view_page *page, struct rd_err *err)
{
	struct live *live = arg;
	struct trace *t = live->trace;
	_cleanup_free_ struct rd_origin_count *counts = NULL;
	_cleanup_free_ struct rd_verb *verbs = NULL;
	struct rd_trace_totals totals = { 0 };
	uint64_t failed = 0;
	char lost[48] = "";
	size_t n = 0;
	int r;

	rd_repeat_next(&live->repeat);
	live->before = live->now;
	live->now = trace_now(t);
	live->explained = 0;
	r = trace_drain(t, err);
	trace_extend_step(t);
	if (trace_signalled(t) || t->early_end ||
	    (t->opts->duration > 0 && (double)(live->now - t->started) / 1e9 >= t->opts->duration))
		return 1;
	if (r >= 0)
		r = rd_session_totals(t->session, &totals, err);
	if (r < 0)
		return r;
	trace_counts(t, &counts, &verbs, &n);
	page->body = make_body(live, counts, n);
	for (size_t i = 0; i < n; i++)
		failed += counts[i].count - (counts[i].benign < counts[i].count ? counts[i].benign : counts[i].count);
	if (totals.lost)
		snprintf(lost, sizeof(lost), ", %" PRIu64 " of them counted only", totals.lost);
	page->headline = rd_text("trace-errno  %.0f s, %zu functions  %" PRIu64 " failed call%s%s",
				 (double)(live->now - t->started) / 1e9, rd_session_info(t->session)->functions, failed,
				 failed == 1 ? "" : "s", lost);
	if (live->newest) {
		page->alarm = rd_safe(live->newest);
		page->alarm_severity = RD_SEV_WARNING;
	}
	return 0;
}

/* Events are read more often than they are shown: the ring buffer holds a burst of some thousands. */
static bool read_events(void *arg, unsigned ms)
{
	struct live *live = arg;
	struct rd_err err;

	if (trace_drain(live->trace, &err) > 0)
		return true;
	live->trace->early_end = rd_session_ended_early(live->trace->session, &live->trace->why_early);
	return false;
}

static int due_ms(void *arg)
{
	return rd_ticks_left_ms(&((const struct live *)arg)->repeat.ticks);
}

static int compare_processes(const void *a, const void *b)
{
	return RD_CMP(((const struct process *)b)->events, ((const struct process *)a)->events);
}

/* Processes, then all that is known about the newest event. */
static int detail(void *arg, const struct rd_section *body, size_t row, struct rd_section **ret, struct rd_err *err)
{
	struct live *live = arg;
	struct origin *o = &live->v[live->rows[row]];
	struct rd_section *page = rd_view_page();

	qsort(o->processes, o->n_processes, sizeof(*o->processes), compare_processes);
	for (size_t i = 0; i < o->n_processes; i++) {
		const struct process *p = &o->processes[i];
		_cleanup_free_ char *text = rd_text("%s[%u], uid %u%s%s: %" PRIu64 " call%s", p->comm, p->pid, p->uid,
						    p->job ? ", " : "", p->job ?: "", p->events,
						    p->events == 1 ? "" : "s");

		rd_view_add_line(page, "process", text);
	}
	if (o->others) {
		_cleanup_free_ char *text = rd_text("others: %" PRIu64 " call%s", o->others, o->others == 1 ? "" : "s");

		rd_view_add_line(page, "process", text);
	}
	*ret = page;
	return o->event ? rd_view_values(arg, o->event, 0, ret, err) : 0;
}

/* ---- messages */

/* Messages on standard error would be written over the view: they are kept, and written after it. */
static struct {
	int kept, real;
} messages = { -1, -1 };

static void release_messages(void)
{
	static char text[MESSAGES_MAX];
	ssize_t n;

	if (messages.real < 0)
		return;
	dup2(messages.real, STDERR_FILENO);
	close(messages.real);
	messages.real = -1;
	n = pread(messages.kept, text, sizeof(text), 0);
	if (n > 0)
		(void)!write(STDERR_FILENO, text, (size_t)n);
	close(messages.kept);
}

static void keep_messages(void)
{
	messages.kept = memfd_create("messages", MFD_CLOEXEC);
	messages.real = messages.kept < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (messages.real < 0)
		return;
	rd_at_end(release_messages);
	dup2(messages.kept, STDERR_FILENO);
}

int trace_live(struct trace *t, struct rd_err *err)
{
	static const int keys[] = { RD_LIVE_ERRNO, RD_LIVE_VERB, RD_LIVE_IBDEV, RD_LIVE_ORIGIN, -1 };
	static const int restless[] = { RD_LIVE_RATE, RD_LIVE_AGE, -1 };
	static const struct rd_view_ops ops = { .look = load_page,
						.due = due_ms,
						.keys = keys,
						.restless = restless,
						.detail = detail,
						.meanwhile = read_events };
	struct live live = { .trace = t };
	int r;

	t->sink = take_event;
	t->sink_arg = &live;
	rd_repeat_begin(&live.repeat, INTERVAL);
	keep_messages();
	r = rd_view_run(&ops, &live, t->ctx->globals.style.colour, err);
	release_messages();
	t->sink = NULL;
	t->sink_arg = NULL;
	for (struct origin *o = live.v; o < live.v + live.n; o++) {
		for (size_t i = 0; i < o->n_processes; i++)
			RD_FREE(o->processes[i].comm, o->processes[i].job);
		rd_section_destroy(o->event);
		RD_FREE(o->key, o->process, o->job, o->cause);
	}
	RD_FREE(live.v, live.rows, live.newest);
	t->stopped = trace_now(t);
	rd_session_stop(t->session);
	return r;
}
