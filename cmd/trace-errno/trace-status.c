// SPDX-License-Identifier: GPL-2.0-or-later
/* --status and --detach-all: the attached traces of this host. */
#include "trace.h"

#include <poll.h>
#include <pwd.h>
#include <time.h>

#include "report/trace/report-trace.h"
#include "trace/attach/session.h"

/* Kernels before 7 take a tenth of a second per fexit hook, and a host has up to about 1000 functions: --detach-all stops waiting
 * when no link was removed for this time. */
#define STALL_NS UINT64_C(30000000000)
#define POLL_MS 200

static int print_status(struct trace *t, const struct rd_held_list *list, const struct rd_errlist *errors, int status)
{
	const struct rd_globals *globals = &t->ctx->globals;
	_cleanup_(rd_recent_deinit) struct rd_recent recent = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report;
	int r;

	rd_output_init(t->ctx, &report);
	rd_collect_recent(t->ctx->source, &recent);
	rd_report_trace_status(&report, list, &recent);
	rd_errlist_add_all(&report.errors, errors);
	report.status = status;
	if (recent.n && !globals->json && !globals->rows_only && !globals->style.columns)
		r = rd_output_tables(t->ctx, &report, (const struct rd_section *const *)report.sections, 2);
	else
		r = rd_output_print(t->ctx, &report);
	return r;
}

static const char not_permitted[] = "not permitted";

/* What is still attached. */
struct remaining {
	size_t traces, links;
	size_t awaited; /* traces that may still detach, including those whose holder was not found: it may be ending */
};

/* Waits as long as the kernel makes progress. */
static int wait_for_all(struct trace *t, struct rd_held_list *list, struct remaining *rest, struct rd_err *err)
{
	const struct rd_source_ops *ops = t->ctx->source->ops;
	uint64_t now, progress = 0;
	size_t links = SIZE_MAX;

	for (;;) {
		struct pollfd p = { .fd = t->signals, .events = POLLIN };
		struct rd_held_list left = { 0 };
		int r = rd_holders_list(t->ctx->source, &left, err);

		if (r)
			return r;
		*rest = (struct remaining){ 0 };
		for (struct rd_held *was = list->v; was < list->v + list->n; was++) {
			const struct rd_held *held = NULL;

			for (size_t k = 0; k < left.n; k++)
				held = left.v[k].map == was->map ? &left.v[k] : held;
			if (!held)
				was->result = "detached";
			was->links = held ? held->links : 0;
			was->programs = held ? held->programs : 0;
			rest->traces += held != NULL;
			rest->links += was->links;
			rest->awaited += held && was->result != not_permitted;
		}
		rd_held_list_deinit(&left);
		now = ops->now(t->ctx->source, CLOCK_MONOTONIC);
		if (rest->links < links)
			progress = now;
		links = rest->links;
		if (!rest->awaited || now - progress > STALL_NS)
			return 0;
		poll(&p, 1, POLL_MS);
		if (trace_signalled(t))
			return 0;
	}
}

static int detach_all(struct trace *t, struct rd_held_list *list, struct rd_err *err)
{
	_cleanup_free_ struct rd_err *errs = rd_alloc(list->n, sizeof(*errs));
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
	struct remaining rest = { 0 };
	int r = t->signals = trace_signals_open(false, err);

	if (r < 0)
		return r;
	/* `errs` has the reasons for those that cannot be requested. */
	for (size_t i = 0; i < list->n; i++) {
		int denied = rd_holders_detach(t->ctx->source, &list->v[i], &errs[i]);

		list->v[i].result = denied == -EPERM ? not_permitted : denied ? "holder not found" : "still attached";
	}
	r = wait_for_all(t, list, &rest, err);
	for (size_t i = 0; i < list->n; i++) {
		if (!list->v[i].programs || !errs[i].code)
			continue;
		rd_errlist_add(&errors, &errs[i]);
		rd_warn(t->ctx, "%s: %s", errs[i].object, errs[i].message);
	}
	if (!r && rest.traces)
		rd_warn(t->ctx, "%zu of %zu traces still have hooks attached", rest.traces, list->n);
	if (!r)
		r = print_status(t, list, &errors, rest.traces ? RD_EXIT_UNKNOWN : RD_EXIT_OK);
	return r;
}

int trace_status(struct trace *t)
{
	const struct rd_errlist none = { 0 };
	_cleanup_(rd_held_list_deinit) struct rd_held_list list = { 0 };
	struct rd_err err = { 0 };
	int r = rd_holders_list(t->ctx->source, &list, &err);

	for (size_t i = 0; i < list.n; i++) {
		const struct passwd *pw = getpwuid(list.v[i].uid);

		list.v[i].user = pw ? rd_dup(pw->pw_name) : NULL;
	}
	if (!r && !list.n)
		rd_warn(t->ctx, "nothing is attached");
	if (!r && t->opts->detach_all && list.n) {
		if (!t->ctx->globals.style.columns)
			t->ctx->globals.style.columns = "holder_pid,user,functions,links,result,command";
		r = detach_all(t, &list, &err);
	} else if (!r) {
		r = print_status(t, &list, &none, RD_EXIT_OK);
	}
	return r < 0 ? rd_fail(t->ctx, &err) : r;
}
