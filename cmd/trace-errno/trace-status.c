// SPDX-License-Identifier: GPL-2.0-or-later
/* What traces have attached to this host, and having it all taken away. */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <time.h>

#include "report/report-trace.h"
#include "trace/holders.h"

/* A kernel before 7 takes a tenth of a second for each fexit hook, and hosts have up to some 1000 functions: where so much time
 * has passed without one link less, nothing more is to be expected. */
#define PATIENCE_NS UINT64_C(30000000000)
#define LOOK_MS 200

static void name_users(struct rd_held_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct passwd *pw = getpwuid(list->v[i].uid);

		list->v[i].user = pw ? rd_dup(pw->pw_name) : NULL;
	}
}

static int show(struct trace *t, const struct rd_held_list *list, const struct rd_errlist *errors, int status)
{
	struct rd_report report;
	int r;

	rd_answer_init(t->ctx, &report);
	rd_report_trace_status(&report, list);
	for (size_t i = 0; i < errors->n; i++)
		rd_errlist_add(&report.errors, &errors->v[i]);
	report.status = status;
	r = rd_answer_print(t->ctx, &report);
	rd_report_deinit(&report);
	return r;
}

/* Asks all; in `errors` why some cannot be asked. Returns how many were. */
static size_t ask_all(struct trace *t, struct rd_held_list *list, struct rd_errlist *errors)
{
	size_t asked = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct rd_err err = { 0 };
		int r = rd_holders_ask(t->ctx->source, &list->v[i], &err);

		asked += !r;
		list->v[i].result = r == -EPERM ? "not permitted" : r ? "holder not found" : "still attached";
		if (!r)
			continue;
		rd_errlist_add(errors, &err);
		rd_warn(t->ctx, "%s: %s", err.object, err.message);
	}
	return asked;
}

/* Marks what of `list` is gone; returns how many links there still are of the rest, and in `left` how many traces. */
static int compare(struct trace *t, struct rd_held_list *list, size_t *links, size_t *left, struct rd_err *err)
{
	struct rd_held_list now = { 0 };
	int r = rd_holders_list(t->ctx->source, &now, err);

	if (r)
		return r;
	*links = *left = 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct rd_held *held = NULL;

		for (size_t k = 0; k < now.n; k++)
			held = now.v[k].map == list->v[i].map ? &now.v[k] : held;
		if (!held)
			list->v[i].result = "detached";
		list->v[i].links = held ? held->links : 0;
		list->v[i].programs = held ? held->programs : 0;
		*links += list->v[i].links;
		*left += held != NULL;
	}
	rd_held_list_deinit(&now);
	return 0;
}

/* For as long as the kernel gets on with it. */
static int wait_for_all(struct trace *t, struct rd_held_list *list, size_t asked, size_t *left, struct rd_err *err)
{
	const struct rd_source_ops *ops = t->ctx->source->ops;
	size_t links = SIZE_MAX, unasked = list->n - asked;
	uint64_t moved = ops->now(t->ctx->source, CLOCK_MONOTONIC);

	for (;;) {
		struct pollfd p = { .fd = t->signals, .events = POLLIN };
		size_t before = links;
		int r = compare(t, list, &links, left, err);

		if (r)
			return r;
		if (links < before)
			moved = ops->now(t->ctx->source, CLOCK_MONOTONIC);
		if (*left <= unasked || ops->now(t->ctx->source, CLOCK_MONOTONIC) - moved > PATIENCE_NS)
			return 0;
		poll(&p, 1, LOOK_MS);
		if (trace_signalled(t))
			return 0;
	}
}

static int detach_all(struct trace *t, struct rd_held_list *list, struct rd_err *err)
{
	struct rd_errlist errors = { 0 };
	size_t asked, left = list->n;
	int r = t->signals = trace_signals_open(err);

	if (r < 0)
		return r;
	asked = ask_all(t, list, &errors);
	r = wait_for_all(t, list, asked, &left, err);
	if (!r && left)
		rd_warn(t->ctx, "%zu of %zu traces still have hooks attached", left, list->n);
	if (!r)
		r = show(t, list, &errors, left ? RD_EXIT_UNKNOWN : RD_EXIT_OK);
	rd_errlist_deinit(&errors);
	return r;
}

int trace_status(struct trace *t)
{
	const struct rd_errlist none = { 0 };
	struct rd_held_list list = { 0 };
	struct rd_err err = { 0 };
	int r = rd_holders_list(t->ctx->source, &list, &err);

	name_users(&list);
	if (!r && !list.n)
		rd_warn(t->ctx, "nothing is attached");
	if (!r && t->opts->detach_all && list.n) {
		if (!t->ctx->globals.style.columns)
			t->ctx->globals.style.columns = "holder_pid,user,functions,links,result,command";
		r = detach_all(t, &list, &err);
	} else if (!r) {
		r = show(t, &list, &none, RD_EXIT_OK);
	}
	rd_held_list_deinit(&list);
	return r < 0 ? rd_fail(t->ctx, &err) : r;
}
