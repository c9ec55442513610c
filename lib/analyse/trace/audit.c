// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/trace/audit.h"

#include <errno.h>
#include <string.h>

#include "analyse/trace/audit-match.h"
#include "analyse/trace/audit-modules.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/memory.h"

/* Names in the detail of a change. */
#define NAMES_MAX 6
/* Callers of callers that are searched for one that takes over. */
#define CALLERS_MAX 64
/* Errnos that are also other constants, of the first word: -1 means none, -32 is the mask of an alignment. */
#define OTHER_CONSTANTS (1ull << EPERM | 1ull << EPIPE)

struct comparing {
	struct rd_audit_side a, b;
	/* Per function: called from a module that is not compared, which decides, too, whether verbs or the data path reach it. */
	bool *unsure_a, *unsure_b;
	struct rd_audit *ret;
};

static bool has_errno(const uint64_t *errnos, unsigned code)
{
	return errnos[code / 64] >> code % 64 & 1;
}

static struct rd_audit_change *add_change(struct comparing *c, enum rd_change change, enum rd_severity severity,
					  const struct rd_audit_fn *was, const struct rd_audit_fn *is, char *detail)
{
	const struct rd_audit_fn *fn = was ? was : is;
	struct rd_audit *audit = c->ret;

	rd_reserve(&audit->v, &audit->cap, audit->n + 1, sizeof(*audit->v));
	audit->v[audit->n] = (struct rd_audit_change){
		.change = change,
		.severity = severity,
		.function = fn ? fn->function : NULL,
		.module = fn ? fn->module : NULL,
		.new_function = was && is && strcmp(was->function, is->function) != 0 ? is->function : NULL,
		.new_module = was && is && strcmp(was->module, is->module) != 0 ? is->module : NULL,
		.detail = detail,
	};
	return &audit->v[audit->n++];
}

static void add_name(struct rd_buf *out, const char *name, size_t nth)
{
	if (nth < NAMES_MAX)
		rd_buf_printf(out, "%s%s", nth ? ", " : "", name);
	else if (nth == NAMES_MAX)
		rd_buf_str(out, " ...");
}

/* The errnos that x has and y has not. Returns their number. */
static size_t name_errnos(struct rd_buf *out, const uint64_t *x, const uint64_t *y)
{
	size_t n = 0;

	for (unsigned code = 1; code < 192; code++)
		if (!(code < 64 && OTHER_CONSTANTS >> code & 1) && has_errno(x, code) && !has_errno(y, code) &&
		    rd_errno_name((int)code))
			add_name(out, rd_errno_name((int)code), n++);
	return n;
}

static bool is_visible(const struct rd_audit_fn *fn)
{
	return fn->selected && fn->attachable;
}

static bool has_errnos(const struct rd_audit_fn *fn)
{
	return (fn->errnos[0] & ~OTHER_CONSTANTS) || fn->errnos[1] || fn->errnos[2];
}

/* False: nothing in its code can be an errno of its own. */
static bool can_fail(const struct rd_audit_fn *fn)
{
	return !fn->size || fn->n_calls || fn->other_calls || has_errnos(fn);
}

static bool has_watched_caller(const struct rd_audit_side *side, uint32_t fn)
{
	size_t first, n = rd_audit_edges(side, fn, true, &first);

	for (size_t i = first; i < first + n; i++)
		if (side->set->fns[side->callers[i].from].selected)
			return true;
	return false;
}

/*
 * Of a function that is not watched any more: critical if it was visible, and its errors still get to a verb. What no watched
 * function calls any more has none that a verb returns, unless the call goes through a pointer now. Its type no longer tells whether
 * it returns an errno; its code may.
 */
static enum rd_severity of_lost(const struct comparing *c, const struct rd_audit_fn *was, const struct rd_audit_fn *is)
{
	bool reached;

	if (!is_visible(was) || !can_fail(was) || !can_fail(is))
		return RD_SEV_WARNING;
	if (is->rule == RD_RULE_RETURN)
		reached = has_errnos(is);
	else
		reached = is->root || has_watched_caller(&c->b, (uint32_t)(is - c->b.set->fns)) ||
			  (is->taken && !was->taken);
	return reached ? RD_SEV_CRITICAL : RD_SEV_WARNING;
}

static char *name_hooks(uint8_t was, uint8_t is)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	size_t n = 0;

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if ((was ^ is) & 1u << b)
			rd_buf_printf(&out, "%s%s%s", n++ ? ", " : "", is & 1u << b ? "now also " : "no longer ",
				      rd_backend_name((enum rd_backend)b));
	return rd_dup(out.data ? out.data : "");
}

/* Watched in both kernels. */
static void compare_watched(struct comparing *c, const struct rd_audit_fn *was, const struct rd_audit_fn *is)
{
	_cleanup_buf_ struct rd_buf more = { 0 }, less = { 0 };
	bool gained, lost;

	if (was->attachable && !is->attachable) {
		add_change(c, RD_CHANGE_LOST_HOOK, can_fail(is) ? RD_SEV_CRITICAL : RD_SEV_WARNING, was, is,
			   rd_text("no backend can hook it; errors of it appear at its callers"));
		return;
	}
	if (rd_fn_compare_bare(was->function, is->function) && was->via && is->via && !strcmp(was->via, is->via))
		add_change(c, RD_CHANGE_RENAMED, RD_SEV_WARNING, was, is,
			   rd_text("%s now: the kernel calls it instead, by %s", is->function, is->via));
	else if (rd_fn_compare_bare(was->function, is->function))
		add_change(c, RD_CHANGE_RENAMED, RD_SEV_WARNING, was, is,
			   rd_text("%s now: it has the same callers, calls, errnos and about the same size",
				   is->function));
	else if (strcmp(was->function, is->function) != 0)
		add_change(c, RD_CHANGE_RENAMED, RD_SEV_WARNING, was, is,
			   rd_text("%s now: renamed by the compiler", is->function));
	else if (strcmp(was->module, is->module) != 0)
		add_change(c, RD_CHANGE_MOVED, RD_SEV_WARNING, was, is, rd_text("in module %s now", is->module));
	if (was->attachable != is->attachable)
		add_change(c, RD_CHANGE_HOOK, RD_SEV_WARNING, was, is, name_hooks(was->attachable, is->attachable));
	gained = name_errnos(&more, is->errnos, was->errnos) > 0;
	lost = name_errnos(&less, was->errnos, is->errnos) > 0;
	if (gained || lost)
		add_change(c, RD_CHANGE_ERRNOS, RD_SEV_WARNING, was, is,
			   rd_text("%s%s%s%s%s", gained ? "new in its code: " : "", gained ? more.data : "",
				   gained && lost ? "; " : "", lost ? "no longer: " : "", lost ? less.data : ""));
}

/*
 * Whether verbs got to function `fn` of side x only through modules that cannot be compared: then the difference is that of the
 * modules. Without recursion: in a document, callers can be a chain as long as the set.
 */
static bool is_of_others(const struct rd_audit_side *x, const struct rd_audit_side *y, uint32_t fn)
{
	_cleanup_free_ bool *seen = rd_alloc(x->set->n + 1, sizeof(*seen));
	_cleanup_free_ uint32_t *queue = rd_alloc(x->set->n + 1, sizeof(*queue));
	size_t n = 0;

	seen[fn] = true;
	queue[n++] = fn;
	for (size_t at = 0; at < n; at++) {
		size_t first, n_callers = rd_audit_edges(x, queue[at], true, &first), watching = 0;

		for (size_t i = first; i < first + n_callers; i++) {
			uint32_t caller = x->callers[i].from;
			const struct rd_audit_fn *f = &x->set->fns[caller];

			if (!f->selected)
				continue;
			watching++;
			if (!rd_audit_is_comparable(x, y, f->module) || seen[caller])
				continue;
			if (x->other[caller] != RD_AUDIT_NONE && y->set->fns[x->other[caller]].selected)
				return false;
			seen[caller] = true;
			queue[n++] = caller;
		}
		if (!watching)
			return false;
	}
	return true;
}

/* Still there, and not watched any more. */
static void left_out(struct comparing *c, const struct rd_audit_fn *was, const struct rd_audit_fn *is)
{
	uint32_t i = (uint32_t)(was - c->a.set->fns), j = (uint32_t)(is - c->b.set->fns);

	if (is->rule != RD_RULE_RETURN && is->rule != RD_RULE_COMMON &&
	    (is_of_others(&c->a, &c->b, i) || c->unsure_a[i] || c->unsure_b[j]))
		return;
	/* Code that ftrace cannot hook counts as inline code of a header; see leave_out_inline(). */
	if (is->rule == RD_RULE_COMMON && !is->attachable && was->attachable)
		add_change(
			c, RD_CHANGE_LOST_HOOK, of_lost(c, was, is), was, is,
			rd_text("the kernel does not let it be hooked: notrace, or an out-of-line copy of an inline function"));
	else
		add_change(c, RD_CHANGE_LEFT_OUT, of_lost(c, was, is), was, is, rd_text("%s", rd_rule_reason(is->rule)));
}

/* Whether y, which was x, shows that the code of the function `gone` is in it now. */
static bool has_taken(const struct comparing *c, uint32_t x, uint32_t y, uint32_t gone)
{
	const struct rd_audit_fn *f = &c->a.set->fns[x], *g = &c->b.set->fns[y], *h = &c->a.set->fns[gone];
	size_t first, first_gone, n = rd_audit_edges(&c->b, y, false, &first);
	size_t n_gone = rd_audit_edges(&c->a, gone, false, &first_gone);

	for (size_t i = first_gone; i < first_gone + n_gone; i++) {
		uint32_t was = c->a.calls[i].to, is = c->a.other[was];
		size_t first_x, n_x = rd_audit_edges(&c->a, x, false, &first_x);
		bool before = false;

		for (size_t k = first_x; k < first_x + n_x; k++)
			before = before || c->a.calls[k].to == was;
		for (size_t k = first; k < first + n && !before; k++)
			if (is != RD_AUDIT_NONE && c->b.calls[k].to == is)
				return true;
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(h->errnos); i++)
		if (h->errnos[i] & g->errnos[i] & ~f->errnos[i] & ~(i ? 0 : OTHER_CONSTANTS))
			return true;
	return h->size && g->size > f->size && g->size - f->size >= h->size / 2;
}

/* What became of the code of a function that is gone: its nearest callers that still exist. */
struct heirs {
	struct rd_buf takers, watched; /* names of watched callers: those that contain its code, all */
	size_t n_takers, n_watched;
	bool lost; /* its code is in a caller that verbs used and that is not watched */
};

static void add_heir(const struct comparing *c, uint32_t x, uint32_t gone, struct heirs *ret)
{
	const struct rd_audit_fn *f = &c->a.set->fns[x], *g = &c->b.set->fns[c->a.other[x]];
	bool taken = has_taken(c, x, c->a.other[x], gone);

	if (is_visible(g)) {
		add_name(&ret->watched, g->function, ret->n_watched++);
		if (taken)
			add_name(&ret->takers, g->function, ret->n_takers++);
	} else if (taken && (f->selected || f->rule == RD_RULE_RETURN)) {
		ret->lost = true;
	}
}

static void find_heirs(const struct comparing *c, uint32_t gone, struct heirs *ret)
{
	uint32_t queue[CALLERS_MAX] = { gone };
	size_t n = 1;

	for (size_t at = 0; at < n; at++) {
		size_t first, n_callers = rd_audit_edges(&c->a, queue[at], true, &first);

		for (size_t i = first; i < first + n_callers; i++) {
			uint32_t x = c->a.callers[i].from;
			bool known = false;

			if (c->a.other[x] != RD_AUDIT_NONE) {
				add_heir(c, x, gone, ret);
				continue;
			}
			for (size_t k = 0; k < n; k++)
				known = known || queue[k] == x;
			if (!known && n < CALLERS_MAX)
				queue[n++] = x;
		}
	}
}

/* A watched function that is new and that a caller of the one that is gone calls now: it may be that under another name. */
static const struct rd_audit_fn *find_successor(const struct comparing *c, uint32_t gone)
{
	size_t first, n = rd_audit_edges(&c->a, gone, true, &first);

	for (size_t i = first; i < first + n; i++) {
		uint32_t y = c->a.other[c->a.callers[i].from];
		size_t at = 0, n_calls = y == RD_AUDIT_NONE ? 0 : rd_audit_edges(&c->b, y, false, &at);

		for (size_t k = at; k < at + n_calls; k++)
			if (c->b.other[c->b.calls[k].to] == RD_AUDIT_NONE && c->b.set->fns[c->b.calls[k].to].selected)
				return &c->b.set->fns[c->b.calls[k].to];
	}
	return NULL;
}

static void gone(struct comparing *c, uint32_t i)
{
	const struct rd_audit_fn *was = &c->a.set->fns[i], *successor = find_successor(c, i);
	struct heirs heirs = { 0 };

	find_heirs(c, i, &heirs);
	if (heirs.n_takers)
		add_change(c, RD_CHANGE_INLINED, RD_SEV_WARNING, was, NULL,
			   rd_text("its callers take over: %s", heirs.takers.data));
	else if (successor)
		add_change(c, RD_CHANGE_REMOVED, RD_SEV_WARNING, was, NULL,
			   rd_text("removed, or replaced by %s", successor->function));
	else if (heirs.lost)
		add_change(c, RD_CHANGE_INLINED, is_visible(was) && can_fail(was) ? RD_SEV_CRITICAL : RD_SEV_WARNING,
			   was, NULL, rd_text("and none of its callers is watched"));
	else
		add_change(c, RD_CHANGE_REMOVED, RD_SEV_WARNING, was, NULL,
			   heirs.n_watched ?
				   rd_text("removed or inlined; its callers are watched: %s", heirs.watched.data) :
				   NULL);
	rd_buf_deinit(&heirs.takers);
	rd_buf_deinit(&heirs.watched);
}

static void compare_baseline(struct comparing *c)
{
	for (uint32_t i = 0; i < c->a.set->n; i++) {
		const struct rd_audit_fn *was = &c->a.set->fns[i];
		uint32_t j = c->a.other[i];

		if (!was->selected || rd_audit_is_unequal(&c->a, &c->b, was->module) ||
		    rd_audit_is_stripped(&c->a, &c->b, was->module) ||
		    (j == RD_AUDIT_NONE && rd_audit_module_find(c->b.set, was->module) < 0))
			continue;
		c->ret->compared++;
		if (j == RD_AUDIT_NONE)
			gone(c, i);
		else if (c->b.set->fns[j].selected)
			compare_watched(c, was, &c->b.set->fns[j]);
		else
			left_out(c, was, &c->b.set->fns[j]);
	}
}

static void compare_new(struct comparing *c)
{
	for (uint32_t j = 0; j < c->b.set->n; j++) {
		const struct rd_audit_fn *is = &c->b.set->fns[j];
		uint32_t i = c->b.other[j];

		if (!is->selected || rd_audit_is_unequal(&c->a, &c->b, is->module) ||
		    rd_audit_is_stripped(&c->a, &c->b, is->module) ||
		    (i != RD_AUDIT_NONE && c->a.set->fns[i].selected) || is_of_others(&c->b, &c->a, j) ||
		    c->unsure_b[j] || (i != RD_AUDIT_NONE && c->unsure_a[i]))
			continue;
		if (i != RD_AUDIT_NONE)
			add_change(c, RD_CHANGE_REACHED, RD_SEV_WARNING, &c->a.set->fns[i], is,
				   rd_text("left out before: %s", rd_rule_reason(c->a.set->fns[i].rule)));
		else if (rd_audit_module_find(c->a.set, is->module) >= 0)
			add_change(c, RD_CHANGE_ADDED, RD_SEV_WARNING, NULL, is, NULL);
	}
}

static size_t watched(const struct rd_audit_set *set, const char *module)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += set->fns[i].selected && !strcmp(set->fns[i].module, module);
	return n;
}

static void compare_modules(struct comparing *c)
{
	const struct rd_audit_set *all = c->b.set->all ? c->b.set->all : c->b.set;
	/* Without the types of the core, drivers are not recognized, nor the modules that they are based on. */
	bool same_types = !rd_audit_is_unequal(&c->a, &c->b, "ib_core");

	for (size_t m = 0; m < c->a.set->n_modules; m++) {
		const char *name = c->a.set->modules[m].name;
		size_t n = watched(c->a.set, name);

		bool gone = rd_audit_module_find(c->b.set, name) < 0;

		if (rd_audit_is_unequal(&c->a, &c->b, name) || (gone && n && !same_types))
			rd_texts_keep(&c->ret->unequal, name, strlen(name));
		else if (rd_audit_is_stripped(&c->a, &c->b, name))
			rd_texts_keep(&c->ret->stripped, name, strlen(name));
		else if (gone && n && c->b.set->complete)
			add_change(c, RD_CHANGE_MODULE_GONE, RD_SEV_WARNING, NULL, NULL,
				   rd_text("%zu functions of it were watched", n))
				->module = name;
		else if (gone && n)
			rd_texts_keep(&c->ret->missing, name, strlen(name));
	}
	for (size_t m = 0; m < all->n_modules; m++) {
		const char *name = all->modules[m].name;
		size_t n = watched(all, name);

		if (n && same_types && c->a.set->complete && rd_audit_module_find(c->a.set, name) < 0)
			add_change(c, RD_CHANGE_MODULE_NEW, RD_SEV_WARNING, NULL, NULL,
				   rd_text("%zu functions of it are watched", n))
				->module = name;
	}
}

/* What the modules that the baseline lacks take away where they are loaded: as functions of their data path, for example. */
static void compare_all(struct comparing *c)
{
	struct rd_audit_side with, without;

	rd_audit_match(c->b.set, c->b.set->all, &without, &with);
	for (uint32_t j = 0; j < c->b.set->n; j++) {
		const struct rd_audit_fn *is = &c->b.set->fns[j];
		uint32_t i = c->b.other[j], w = without.other[j];

		if (i == RD_AUDIT_NONE || !is_visible(&c->a.set->fns[i]) || !is_visible(is) || w == RD_AUDIT_NONE ||
		    with.set->fns[w].selected)
			continue;
		add_change(c, RD_CHANGE_LEFT_OUT, RD_SEV_WARNING, &c->a.set->fns[i], is,
			   rd_text("only where modules are loaded that the baseline lacks: %s",
				   rd_rule_reason(with.set->fns[w].rule)));
	}
	rd_audit_side_deinit(&without);
	rd_audit_side_deinit(&with);
}

static int compare_changes(const void *a, const void *b)
{
	const struct rd_audit_change *x = a, *y = b;
	int c;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	c = strcmp(x->module, y->module);
	if (!c)
		c = strcmp(x->function ? x->function : "", y->function ? y->function : "");
	return c ? c : x->change < y->change ? -1 : x->change > y->change;
}

void rd_audit_compare(const struct rd_audit_set *baseline, const struct rd_audit_set *now, struct rd_audit *ret)
{
	struct comparing c = { .ret = ret };

	rd_audit_match(baseline, now, &c.a, &c.b);
	c.unsure_a = rd_audit_find_unsure(&c.a, &c.b);
	c.unsure_b = rd_audit_find_unsure(&c.b, &c.a);
	compare_baseline(&c);
	compare_new(&c);
	compare_modules(&c);
	if (now->all)
		compare_all(&c);
	RD_FREE(c.unsure_a, c.unsure_b);
	rd_audit_side_deinit(&c.a);
	rd_audit_side_deinit(&c.b);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_changes);
}
