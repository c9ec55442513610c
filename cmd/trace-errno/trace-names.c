// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include "analyse/trace/trace.h"
#include "cmd/datafile.h"
#include "collect/shared/cgroup.h"
#include "diagnose/failure/explain.h"
#include "trace/symbols/ustack.h"

#define MOVED_MAX 1024 /* chains: there are some ten on any host */

struct trace_names {
	struct rd_hints site, own; /* hints of the site, and of the program */
	struct rd_ksyms symbols;   /* read for the first kernel stack */
	bool symbols_read;
	struct rd_ustack *ustack; /* NULL: not requested */
	struct {
		uint32_t chain_id;
		int counted, origin;
	} moved[MOVED_MAX]; /* origins other than the kernel counts them */
	size_t n_moved;
};

int trace_names_create(struct trace *t, struct rd_err *err)
{
	_cleanup_(rd_table_deinit) struct rd_table table = { 0 };
	size_t reported = t->notes.n;
	struct rd_err note = { 0 };

	t->names = rd_alloc(1, sizeof(*t->names));
	rd_table_read("hints", &table, &t->notes);
	/* The last table is that of the program. */
	for (size_t i = 0; i < table.n; i++)
		if (rd_hints_parse(table.v[i].path, (const char *)table.v[i].bytes.data, table.v[i].bytes.size,
				   i + 1 < table.n ? &t->names->site : &t->names->own, &t->notes, &note) < 0)
			rd_errlist_add(&t->notes, &note);
	rd_warn_errors(t->ctx, &t->notes, reported);
	return t->opts->user_stack ? rd_ustack_create(&t->names->ustack, err) : 0;
}

void trace_names_destroy(struct trace_names *names)
{
	if (!names)
		return;
	rd_hints_deinit(&names->site);
	rd_hints_deinit(&names->own);
	rd_ksyms_deinit(&names->symbols);
	rd_ustack_destroy(names->ustack);
	free(names);
}

int trace_names_origin(const struct trace_names *names, uint32_t chain_id, int counted)
{
	for (size_t i = 0; i < names->n_moved; i++)
		if (names->moved[i].chain_id == chain_id && names->moved[i].counted == counted)
			return names->moved[i].origin;
	return counted;
}

void trace_names_judge(struct trace *t, struct rd_event *ev)
{
	struct trace_names *names = t->names;
	int counted = ev->origin;

	rd_chain_settle(ev, &t->set);
	if (ev->origin != counted && names->n_moved < MOVED_MAX &&
	    trace_names_origin(names, ev->chain_id, counted) == counted) {
		names->moved[names->n_moved].chain_id = ev->chain_id;
		names->moved[names->n_moved].counted = counted;
		names->moved[names->n_moved++].origin = ev->origin;
	}
	rd_verb_resolve(ev, &t->set);
	ev->benign = rd_benign_reason(ev, &t->set);
	rd_origin_judge(ev, &t->set);
	if (!t->replayed)
		ev->below_modules = rd_dup_if(trace_extend_missing(t, ev)) ?: rd_origin_untraced(ev, &t->set);
	ev->origin_exact &= !ev->below_modules;
}

void trace_names_explain(struct trace *t, struct rd_event *ev)
{
	const char *site, *own;

	if (ev->benign || (t->replayed && t->host == RD_HOST_JUDGED))
		return;
	trace_causes_find(t, ev);
	/* A hint of the site takes precedence; those of the program are what to check where the cause is unknown. */
	site = rd_hint_find(&t->names->site, ev, &t->set);
	own = rd_hint_find(&t->names->own, ev, &t->set);
	if (site && own && !strcmp(site, own))
		site = NULL;
	if (!ev->why.id && (site || own)) {
		_cleanup_free_ char *command = RD_TAKE(ev->why.fix);

		rd_explain_fix(&ev->why, "%s\n# %s", command ?: "", site ?: own);
	}
	ev->hint = site ? rd_dup(site) : rd_explain_line(&ev->why);
}

void trace_names_complete(struct trace *t, struct rd_event *ev)
{
	struct trace_names *names = t->names;
	struct rd_err err = { 0 };

	if (names->ustack && ev->pid) {
		bool reported = rd_ustack_confined(names->ustack)->active;
		_cleanup_buf_ struct rd_buf confined = { 0 };

		if (rd_ustack_resolve(names->ustack, ev, &err) < 0) {
			rd_errlist_add(&t->notes, &err);
			rd_verbose(t->ctx, "%s: %s; %s", err.object, err.message, err.hint);
		}
		if (!reported && rd_ustack_confined(names->ustack)->active) {
			rd_confined_text(rd_ustack_confined(names->ustack), &confined);
			rd_verbose(t->ctx, "process that unwinds user stacks: %s", confined.data);
		}
	}
	ev->job = rd_job_from_cgroup(ev->cgroup);
	/* Costs up to half a second in the kernel, so it is done only if there is a stack to resolve. */
	if (ev->n_kstack && !names->symbols_read) {
		names->symbols_read = true;
		err = (struct rd_err){ 0 };
		if (!rd_ksyms_read(t->ctx->source, NULL, NULL, &names->symbols, &err) && !names->symbols.n) {
			rd_err_set(&err, EPERM, "/proc/kallsyms",
				   "the kernel hides symbol addresses: kernel stacks are shown without names");
			rd_err_hint(&err, "sysctl kernel.kptr_restrict=1");
		}
		if (err.code) {
			rd_errlist_add(&t->notes, &err);
			rd_warn(t->ctx, "%s: %s", err.object, err.message);
		}
	}
	rd_symbols_resolve(&names->symbols, ev->kstack, &ev->n_kstack);
}
