// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "render/render-event.h"
#include "report/trace/report-trace.h"

#define PROGRESS_AFTER_NS 500000000u
#define INVALID_REPORTED 3 /* invalid records that are reported individually; the rest are only counted */

static void put_terminal(const char *text)
{
	fputs(text, stderr);
	fflush(stderr);
}

int trace_progress(void *arg, size_t done, size_t total)
{
	struct trace *t = arg;
	uint64_t now = t->ctx->source->ops->now(t->ctx->source, CLOCK_MONOTONIC);
	char line[96];

	if (isatty(STDERR_FILENO) && !total && t->headed) {
		put_terminal("\r\033[K");
		t->headed = false;
	} else if (isatty(STDERR_FILENO) && total && now - t->started > PROGRESS_AFTER_NS) {
		snprintf(line, sizeof(line), "\rattaching hooks: %zu of %zu", done, total);
		put_terminal(line);
		t->headed = true;
	}
	return trace_signalled(t);
}

static void add_backends(const struct rd_session_info *info, struct rd_buf *out)
{
	const char *before = "";

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++) {
		if (!info->per_backend[b])
			continue;
		if (info->per_backend[b] == info->functions)
			rd_buf_printf(out, "%s", rd_backend_name(b));
		else
			rd_buf_printf(out, "%s%s: %zu", before, rd_backend_name(b), info->per_backend[b]);
		before = ", ";
	}
}

void trace_report_started(const struct trace *t)
{
	const struct rd_session_info *info = rd_session_info(t->session);
	_cleanup_buf_ struct rd_buf backends = { 0 };
	size_t modules = 0;

	for (size_t m = 0; m < t->set.n_modules; m++)
		for (size_t i = 0; i < t->set.n_fns; i++)
			if (t->set.fns[i].module == m && t->set.fns[i].backend != RD_BACKEND_NONE) {
				modules++;
				break;
			}
	add_backends(info, &backends);
	rd_warn(t->ctx, "tracing %zu functions in %zu modules (%s)%s", info->functions, modules,
		backends.data ? backends.data : "none", t->child.pid ? "" : ", Ctrl-C to stop");
	rd_verbose(t->ctx, "hooked %zu functions in %.2f s: %s", info->functions, info->attach_seconds,
		   info->reason ? info->reason : "no reason reported");
}

static void tally_benign(struct trace *t, const struct rd_event *ev)
{
	struct rd_count *c;

	t->benign++;
	for (size_t i = 0; i < t->n_benign_counts; i++) {
		c = &t->benign_counts[i];
		if (c->origin == ev->origin && c->verb == ev->verb_key && c->dev == ev->dev && c->err == ev->err) {
			c->count++;
			return;
		}
	}
	rd_reserve(&t->benign_counts, &t->cap_benign_counts, t->n_benign_counts + 1, sizeof(*c));
	t->benign_counts[t->n_benign_counts++] = (struct rd_count){
		.origin = ev->origin, .verb = ev->verb_key, .dev = ev->dev, .err = ev->err, .count = 1
	};
}

#define FOLD_NS 1000000000u

/* Only text for people is folded: in lines for programs, every event is one line. */
static bool folds(const struct trace *t)
{
	return !t->ctx->globals.json && !t->ctx->globals.style.columns && !t->ctx->globals.style.raw &&
	       !t->opts->summary;
}

static int print(struct trace *t, const struct rd_buf *out)
{
	bool translated = trace_child_translate(&t->child, true);
	int r = rd_out(out);

	trace_child_translate(&t->child, translated);
	return r;
}

void trace_fold_flush(struct trace *t, bool busy)
{
	uint64_t now = t->ctx->source->ops->now(t->ctx->source, CLOCK_MONOTONIC);
	_cleanup_buf_ struct rd_buf out = { 0 };

	if (!t->fold.more || (busy && now - t->fold.printed < FOLD_NS))
		return;
	rd_buf_printf(&out, "    same, x%" PRIu64 "\n", t->fold.more);
	print(t, &out);
	t->fold.more = 0;
	t->fold.printed = now;
}

/* Whether the event repeats the one shown last: of the same process, at the same place, for the same cause. */
static bool repeats(const struct trace *t, const struct rd_event *ev, uint32_t qpn)
{
	const struct trace_fold *f = &t->fold;

	if (!f->any || f->pid != ev->pid || f->dev != ev->dev || f->verb != ev->verb_key || f->err != ev->err ||
	    f->origin != ev->origin)
		return false;
	/* Where no facts could be read in time, there is no reason to assume another cause. */
	if (f->cause && (ev->why.cause ? !strcmp(f->cause, ev->why.cause) : ev->why.in_haste))
		return true;
	return f->qpn == qpn && !f->cause && !ev->why.cause;
}

static bool fold(struct trace *t, const struct rd_event *ev)
{
	struct trace_fold *f = &t->fold;
	uint32_t qpn = ev->qpn.known == RD_OK ? ev->qpn.v : 0;

	if (repeats(t, ev, qpn)) {
		f->more++;
		return true;
	}
	trace_fold_flush(t, false);
	free(f->cause);
	*f = (struct trace_fold){ .any = true,
				  .pid = ev->pid,
				  .dev = ev->dev,
				  .qpn = qpn,
				  .verb = ev->verb_key,
				  .err = ev->err,
				  .origin = ev->origin,
				  .cause = ev->why.cause ? rd_dup(ev->why.cause) : NULL,
				  .printed = t->ctx->source->ops->now(t->ctx->source, CLOCK_MONOTONIC) };
	return false;
}

static int print_event(struct trace *t, const struct rd_event *ev)
{
	const struct rd_globals *g = &t->ctx->globals;
	struct rd_section *section = rd_report_trace_event(ev, &t->set);
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
	rd_section_destroy(section);
	/* main() reports write errors at the end. */
	return r ? r : print(t, &out) ? -EPIPE : 0;
}

int trace_event(void *arg, const void *data, size_t size)
{
	_cleanup_(rd_event_deinit) struct rd_event ev = { 0 };
	struct trace *t = arg;
	struct rd_err err = { 0 };
	int r;

	if (t->opts->events && t->shown >= t->opts->events)
		return -ECANCELED;
	r = rd_trace_event_decode(t->facts, data, size, &t->set, &ev, &err);
	if (r == -EBADMSG) {
		if (t->invalid++ < INVALID_REPORTED)
			rd_warn(t->ctx, "%s: %s", err.object, err.message);
		return 0;
	}
	if (r)
		return r;
	trace_extend_notice(t);
	trace_names_judge(t, &ev);
	trace_extend_below(t, &ev);
	if (ev.benign)
		tally_benign(t, &ev);
	if (t->sink) {
		t->sink(t->sink_arg, t, &ev);
		return 0;
	}
	if (ev.benign && !t->opts->benign) {
		t->hidden++;
		return 0;
	}
	if (!t->opts->summary) {
		trace_names_explain(t, &ev);
		if (!folds(t) || !fold(t, &ev)) {
			trace_names_complete(t, &ev);
			r = print_event(t, &ev);
		}
	}
	t->shown++;
	/* Check for signals during bursts as well. */
	return r ? r : !t->stopped && trace_signalled(t) ? -ECANCELED : 0;
}
