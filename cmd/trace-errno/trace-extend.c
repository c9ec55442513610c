// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hooks that are added while the trace runs: on functions of modules that are loaded in the meantime, and, with --deepen, on those
 * below an origin that may have passed on an errno of a function that is not traced.
 */

#include "analyse/trace/trace.h"
#include "trace.h"
#include "trace/select/select.h"

struct trace_extend {
	uint64_t loads; /* rd_session_loads when the modules were last compared with the set */
	bool compared;
	bool *deepen, *tried; /* per function: to be hooked for the next occurrence; that was tried */
	enum { IDLE, MODULES, DEEPEN } adding;
	char *modules;	/* RDMA modules that were loaded and are not traced; NULL: none */
	uint64_t since; /* CLOCK_MONOTONIC, ns: they may be in use from then on */
	bool selected;	/* the set has their functions */
};

void trace_extend_create(struct trace *t)
{
	t->extend = rd_alloc(1, sizeof(*t->extend));
}

static void forget_deepen(struct trace_extend *e)
{
	RD_FREE(e->deepen, e->tried);
	e->deepen = e->tried = NULL;
}

static void begin_deepen(struct trace *t)
{
	if (t->extend->deepen)
		return;
	t->extend->deepen = rd_alloc(t->set.n_fns + 1, sizeof(*t->extend->deepen));
	t->extend->tried = rd_alloc(t->set.n_fns + 1, sizeof(*t->extend->tried));
}

void trace_extend_destroy(struct trace_extend *e)
{
	if (!e)
		return;
	forget_deepen(e);
	RD_FREE(e->modules, e);
}

void trace_extend_notice(struct trace *t)
{
	struct trace_extend *e = t->extend;
	_cleanup_texts_ struct rd_texts news = { 0 };
	_cleanup_buf_ struct rd_buf names = { 0 };
	uint64_t at = t->started, loads = rd_session_loads(t->session, &at);
	struct rd_err err = { 0 };

	if (e->compared && loads == e->loads)
		return;
	e->compared = true;
	e->loads = loads;
	if (rd_select_news(t->ctx->source, &t->set, &news, &err)) {
		rd_errlist_add(&t->notes, &err);
		return;
	}
	if (!news.n)
		return;
	for (size_t i = 0; i < news.n; i++)
		rd_buf_printf(&names, "%s%s", i ? ", " : "", news.v[i]);
	if (!e->modules)
		e->since = at;
	free(e->modules);
	e->modules = rd_dup(names.data);
	e->selected = false;
}

const char *trace_extend_missing(const struct trace *t, const struct rd_event *ev)
{
	const struct trace_extend *e = t->extend;
	const struct rd_fn *origin = ev->origin >= 0 && (size_t)ev->origin < t->set.n_fns ? &t->set.fns[ev->origin] :
											    NULL;

	/* A module is called through pointers, which only some functions do. */
	return e->modules && ev->at_ns >= e->since && origin && (origin->indirect || !origin->calls_known) ?
		       e->modules :
		       NULL;
}

void trace_extend_below(struct trace *t, const struct rd_event *ev)
{
	struct trace_extend *e = t->extend;

	if (!t->opts->deepen || ev->benign || ev->origin_exact)
		return;
	begin_deepen(t);
	rd_origin_deepen(ev, &t->set, e->deepen);
}

static int add_hooks(struct trace *t, const bool *add, size_t n, struct rd_err *err)
{
	_cleanup_free_ bool *match = NULL;
	_cleanup_free_ struct rd_benign_rule *benign = NULL;
	struct rd_session_opts opts = { 0 };
	unsigned long most = t->opts->max_hooks ?: TRACE_MAX_HOOKS;
	size_t all = rd_session_info(t->session)->functions + n;
	int r;

	/* The limit that --max-hooks sets holds for all hooks together. */
	if (all > most)
		return rd_err_set(err, E2BIG, "--max-hooks", "%zu functions would be hooked, the limit is %lu", all,
				  most);
	r = trace_session_opts(t, &opts, &match, &benign, err);
	opts.n_known = t->n_known;
	if (!r)
		r = rd_session_extend(t->session, &t->set, add, &opts, err);
	if (!r)
		t->n_known = t->set.n_fns;
	return r;
}

/* Functions of new modules, and those that only these modules lead to. */
static int add_modules(struct trace *t, struct rd_err *err)
{
	struct rd_fnset newer = { 0 };
	size_t n = 0, selected = 0, known = t->set.n_fns;
	_cleanup_free_ bool *add = NULL, *was = rd_alloc(known + 1, sizeof(*was));
	int r = rd_select(t->ctx->source, &newer, NULL, err);

	if (r)
		return r;
	for (size_t i = 0; i < known; i++)
		was[i] = t->set.fns[i].selected;
	rd_fnset_update(&t->set, &newer);
	forget_deepen(t->extend); /* the set has another size */
	add = rd_alloc(t->set.n_fns + 1, sizeof(*add));
	for (size_t i = 0; i < t->set.n_fns; i++) {
		add[i] = t->set.fns[i].selected && t->set.fns[i].backend == RD_BACKEND_NONE;
		selected += add[i] && !(i < known && was[i]);
		n += add[i] &= t->set.fns[i].attachable != 0;
	}
	/* No verb leads to a module such as a client of the RDMA core. */
	if (!selected) {
		rd_verbose(t->ctx, "%s was loaded during the trace: no verb leads to it", t->extend->modules);
		free(RD_TAKE(t->extend->modules));
		t->extend->adding = IDLE;
		return 0;
	}
	return n ? add_hooks(t, add, n, err) : rd_err_set(err, ENOENT, "trace", "none of its functions can be hooked");
}

/* What --deepen asks for, and was not tried yet. 0: nothing was started. */
static int add_deepened(struct trace *t, struct rd_err *err)
{
	struct trace_extend *e = t->extend;
	_cleanup_free_ bool *add = NULL;
	size_t n = 0;

	if (!e->deepen)
		return 0;
	add = rd_alloc(t->set.n_fns + 1, sizeof(*add));
	for (size_t i = 0; i < t->set.n_fns; i++) {
		n += add[i] = e->deepen[i] && !e->tried[i] && t->set.fns[i].backend == RD_BACKEND_NONE;
		e->tried[i] |= add[i];
	}
	if (!n)
		return 0;
	e->adding = DEEPEN;
	return add_hooks(t, add, n, err);
}

/* Events that may be missing an origin keep saying so. */
static void report_failed(struct trace *t, const struct rd_err *why)
{
	struct trace_extend *e = t->extend;
	struct rd_err err = { 0 };

	if (e->adding == DEEPEN)
		rd_err_set(&err, why->code, t->opts->service ? "trace" : "--deepen",
			   "cannot trace further functions: %s", why->message);
	else
		rd_err_set(&err, why->code, e->modules, "loaded during the trace, and its functions are not traced: %s",
			   why->message);
	rd_errlist_add(&t->notes, &err);
	rd_warn(t->ctx, "%s: %s", err.object, err.message);
}

void trace_extend_again(struct trace *t, uint32_t module)
{
	const struct rd_module *m = &t->set.modules[module];
	struct trace_extend *e = t->extend;
	char path[160];
	uint64_t inode;

	if ((size_t)snprintf(path, sizeof(path), "/sys/module/%s", m->name) >= sizeof(path) ||
	    rd_stat(t->ctx->source, RD_OP_INO, path, &inode, NULL) || inode != m->instance)
		return;
	begin_deepen(t);
	for (size_t i = 0; i < t->set.n_fns; i++)
		if (t->set.fns[i].module == module && t->set.fns[i].selected && t->set.fns[i].attachable) {
			e->deepen[i] = true;
			e->tried[i] = false;
		}
}

bool trace_extend_due(const struct trace *t)
{
	uint64_t at;

	return rd_session_loads(t->session, &at) != t->extend->loads;
}

void trace_extend_step(struct trace *t)
{
	struct trace_extend *e = t->extend;
	struct rd_err err = { 0 };
	size_t added, reported = t->notes.n;
	int r = 0;

	if (e->adding != IDLE && rd_session_extended(t->session, &t->set, &added, &t->notes, &err)) {
		rd_warn_errors(t->ctx, &t->notes, reported);
		if (!added)
			report_failed(t, &err);
		else if (e->adding == DEEPEN)
			rd_warn(t->ctx, "tracing %zu more function%s, %s", added, added == 1 ? "" : "s",
				t->opts->service ? "of a module that was not unloaded" :
						   "for the next call that fails there (--deepen)");
		else
			rd_warn(t->ctx, "tracing %zu more function%s: %s was loaded during the trace", added,
				added == 1 ? "" : "s", e->modules);
		if (added && e->adding != DEEPEN)
			free(RD_TAKE(e->modules));
		e->adding = IDLE;
		err = (struct rd_err){ 0 };
	}
	trace_extend_notice(t);
	if (e->adding != IDLE)
		return;
	if (e->modules && !e->selected) {
		e->adding = MODULES;
		e->selected = true;
		r = add_modules(t, &err);
	} else {
		r = add_deepened(t, &err);
	}
	if (!r)
		return;
	report_failed(t, &err);
	e->adding = IDLE;
}
