// SPDX-License-Identifier: GPL-2.0-or-later
/* What an update of the kernel changes for the functions that are traced. */
#include "analyse/trace/audit.h"

#include "analyse/trace/audit-match.h"
#include "base/buf.h"

/* Whether the module is in both, with all its symbols. */
static bool is_comparable(const struct rd_audit_side *x, const struct rd_audit_side *y, const char *module)
{
	int m = rd_audit_module_find(x->set, module), other = rd_audit_module_find(y->set, module);

	return m >= 0 && other >= 0 && !x->set->modules[m].stripped && !y->set->modules[other].stripped;
}

/* Without types, or without the file, other functions are selected: such a set cannot be compared with one that had them. */
static bool is_unequal(const struct rd_audit_side *a, const struct rd_audit_side *b, const char *module)
{
	int was = rd_audit_module_find(a->set, module), is = rd_audit_module_find(b->set, module);

	return was >= 0 && is >= 0 &&
	       (a->set->modules[was].has_btf != b->set->modules[is].has_btf ||
		a->set->modules[was].has_file != b->set->modules[is].has_file);
}

/* Whether it is in both, and functions whose symbols were removed are missing from one. */
static bool is_stripped(const struct rd_audit_side *a, const struct rd_audit_side *b, const char *module)
{
	return rd_audit_module_find(a->set, module) >= 0 && rd_audit_module_find(b->set, module) >= 0 &&
	       !is_comparable(a, b, module);
}

/* Marks the functions of a side that modules that are not compared call, directly or not: those decide, too, whether verbs or the
 * data path reach them. Caller frees. */
static bool *find_unsure(const struct rd_audit_side *side, const struct rd_audit_side *other)
{
	bool *unsure = rd_alloc(side->set->n + 1, sizeof(*unsure));
	_cleanup_free_ uint32_t *queue = rd_alloc(side->set->n + 1, sizeof(*queue));
	size_t n = 0;

	for (uint32_t i = 0; i < side->set->n; i++) {
		unsure[i] = is_unequal(side, other, side->set->fns[i].module) ||
			    is_stripped(side, other, side->set->fns[i].module);
		if (unsure[i])
			queue[n++] = i;
	}
	for (size_t at = 0; at < n; at++)
		for (const struct rd_audit_edge *e = rd_audit_edges(side, queue[at], false); e->fn == queue[at]; e++)
			if (!unsure[e->other]) {
				unsure[e->other] = true;
				queue[n++] = e->other;
			}
	return unsure;
}

/* The names of the functions of a module, sorted; not owned. Caller frees the array. */
static const char **names_of(const struct rd_audit_set *set, const char *module, size_t *n)
{
	const char **names = rd_alloc(set->n + 1, sizeof(*names));

	*n = 0;
	for (size_t i = 0; i < set->n; i++)
		if (!strcmp(set->fns[i].module, module))
			names[(*n)++] = set->fns[i].function;
	qsort(names, *n, sizeof(*names), rd_compare_texts);
	return names;
}

bool rd_audit_is_renamed_module(const struct rd_audit_set *baseline, const struct rd_audit_set *now, const char *module)
{
	size_t n, n_was, same;
	_cleanup_free_ const char **names = names_of(now, module, &n);
	bool renamed = false;

	for (size_t m = 0; m < baseline->n_modules && !renamed; m++) {
		const char **was;

		if (rd_audit_module_find(now, baseline->modules[m].name) >= 0)
			continue;
		was = names_of(baseline, baseline->modules[m].name, &n_was);
		same = 0;
		for (size_t i = 0; i < n_was; i++)
			same += bsearch(&was[i], names, n, sizeof(*names), rd_compare_texts) != NULL;
		renamed = same > n_was / 2;
		free(was);
	}
	return renamed;
}

#define NOT_SEEN UINT32_MAX

/* The distance of each function from `to` along calls, and the next function on the way; found backwards from `to`. */
static void walk(const struct rd_fnset *set, uint32_t to, uint32_t *next, uint32_t *queue)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_fns; i++)
		next[i] = NOT_SEEN;
	next[to] = to;
	queue[n++] = to;
	for (size_t at = 0; at < n; at++)
		for (uint32_t i = 0; i < set->n_fns; i++)
			for (uint32_t c = 0; c < set->fns[i].n_calls && next[i] == NOT_SEEN; c++)
				if (set->fns[i].calls[c] == queue[at]) {
					next[i] = queue[at];
					queue[n++] = i;
				}
}

static size_t length(const uint32_t *next, uint32_t from)
{
	size_t n = 1;

	while (next[from] != from) {
		from = next[from];
		n++;
	}
	return n;
}

static void find_path(const struct rd_fnset *set, struct rd_audit_reason *ret)
{
	uint32_t *next = rd_alloc(set->n_fns + 1, sizeof(*next)), *queue = rd_alloc(set->n_fns + 1, sizeof(*queue));
	const struct rd_fn *fn = &set->fns[ret->fn];
	uint32_t best = NOT_SEEN, at;
	size_t best_n = SIZE_MAX;

	walk(set, ret->fn, next, queue);
	for (uint32_t i = 0; i < fn->n_roots; i++) {
		uint32_t from = set->roots[fn->roots[i]].fn;
		size_t n = next[from] == NOT_SEEN ? SIZE_MAX - 1 : length(next, from);

		if (n >= best_n)
			continue;
		best = fn->roots[i];
		best_n = n;
	}
	if (best != NOT_SEEN) {
		at = set->roots[best].fn;
		ret->via = set->roots[best].via;
		ret->gap = next[at] == NOT_SEEN;
		ret->path[ret->n_path++] = at;
		while (!ret->gap && next[at] != at && ret->n_path < RD_AUDIT_PATH_MAX)
			ret->path[ret->n_path++] = at = next[at];
		if (ret->gap)
			ret->path[ret->n_path++] = ret->fn;
	}
	RD_FREE(next, queue);
}

static void find_callers(const struct rd_fnset *set, struct rd_audit_reason *ret)
{
	for (uint32_t i = 0; i < set->n_fns; i++)
		for (uint32_t c = 0; c < set->fns[i].n_calls; c++)
			if (set->fns[i].calls[c] == ret->fn) {
				if (ret->n_callers < RD_AUDIT_CALLERS_MAX)
					ret->callers[ret->n_callers] = i;
				ret->n_callers++;
				break;
			}
}

size_t rd_audit_reasons(const struct rd_fnset *set, const char *name, struct rd_audit_reason **ret)
{
	size_t n = 0, cap = 0;

	*ret = NULL;
	for (uint32_t i = 0; i < set->n_fns; i++) {
		if (rd_fn_compare_bare(set->fns[i].name, name) || set->fns[i].rule == RD_RULE_COLD)
			continue;
		rd_reserve(ret, &cap, n + 1, sizeof(**ret));
		(*ret)[n] = (struct rd_audit_reason){ .fn = i };
		find_path(set, &(*ret)[n]);
		find_callers(set, &(*ret)[n++]);
	}
	return n;
}

/* What a baseline keeps of the functions of a kernel. */

void rd_audit_take(const struct rd_fnset *set, bool complete, struct rd_audit_set *ret)
{
	*ret = (struct rd_audit_set){ .kernel = rd_dup(set->kernel ?: ""), .complete = complete };
	rd_reserve(&ret->fns, &ret->cap, set->n_fns + 1, sizeof(*ret->fns));
	for (size_t i = 0; i < set->n_fns; i++) {
		const struct rd_fn *fn = &set->fns[i];
		struct rd_audit_fn *to = &ret->fns[ret->n++];
		/* Of several functions of one name, an address tells which to hook. Users who may not see addresses compare with those who
		 * may. */
		uint8_t by_address = 1u << RD_BACKEND_KPROBE_MULTI | (fn->no_kprobe ? 0 : 1u << RD_BACKEND_KPROBE);

		*to = (struct rd_audit_fn){
			.function = rd_dup(fn->name),
			.module = rd_dup(set->modules[fn->module].name),
			.selected = fn->selected,
			.rule = fn->rule,
			.attachable = set->backends &
				      (fn->attachable | (fn->in_filter && fn->ambiguous ? by_address : 0)),
			.size = fn->size,
			.other_calls = fn->indirect || fn->outside || !fn->calls_known,
			.taken = fn->taken,
			.calls = rd_alloc(fn->n_calls + 1u, sizeof(*to->calls)),
			.n_calls = fn->n_calls,
		};
		/* Those that have a name: a document has no others, and a set is compared with one that was read from a document. */
		for (int code = 0; (code = rd_fn_next_errno(fn->loaded, code));)
			to->errnos[code / 64] |= 1ull << code % 64;
		for (uint32_t c = 0; c < fn->n_calls; c++)
			to->calls[c] = rd_dup(set->fns[fn->calls[c]].name);
	}
	for (size_t r = 0; r < set->n_roots; r++) {
		struct rd_audit_fn *root = &ret->fns[set->roots[r].fn];

		if (!root->root)
			root->via = rd_fnset_via(set, set->roots[r].fn);
		root->root = true;
	}
	rd_reserve(&ret->modules, &ret->cap_modules, set->n_modules + 1, sizeof(*ret->modules));
	for (size_t m = 0; m < set->n_modules; m++)
		ret->modules[ret->n_modules++] = (struct rd_audit_module){
			.name = rd_dup(set->modules[m].name),
			.version = rd_dup_if(set->modules[m].version),
			.has_btf = set->modules[m].has_btf,
			.has_file = set->modules[m].file_matches,
			.stripped = set->modules[m].unnamed > 0,
		};
}

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

static struct rd_audit_change *add_change(struct comparing *c, enum rd_audit_kind change, enum rd_severity severity,
					  const struct rd_audit_fn *was, const struct rd_audit_fn *is, char *detail)
{
	const struct rd_audit_fn *fn = was ?: is;
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
	for (const struct rd_audit_edge *e = rd_audit_edges(side, fn, true); e->fn == fn; e++)
		if (side->set->fns[e->other].selected)
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
	return rd_dup(out.data ?: "");
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
		size_t watching = 0;

		for (const struct rd_audit_edge *e = rd_audit_edges(x, queue[at], true); e->fn == queue[at]; e++) {
			uint32_t caller = e->other;
			const struct rd_audit_fn *f = &x->set->fns[caller];

			if (!f->selected)
				continue;
			watching++;
			if (!is_comparable(x, y, f->module) || seen[caller])
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

/* Adds a function to those of a search, of which there are CALLERS_MAX at most. Returns how many there are. */
static size_t add_once(uint32_t *queue, size_t n, uint32_t fn)
{
	for (size_t i = 0; i < n; i++)
		if (queue[i] == fn)
			return n;
	if (n < CALLERS_MAX)
		queue[n++] = fn;
	return n;
}

/* The nearest callers of function `fn` of the new side that are watched: what a failure in it is shown as. */
static void name_watched_callers(const struct comparing *c, uint32_t fn, struct rd_buf *ret)
{
	uint32_t queue[CALLERS_MAX] = { fn };
	size_t n = 1, named = 0;

	for (size_t at = 0; at < n; at++) {
		const struct rd_audit_fn *f = &c->b.set->fns[queue[at]];
		const struct rd_audit_edge *e = rd_audit_edges(&c->b, queue[at], true);

		if (f->selected)
			add_name(ret, f->function, named++);
		for (; e->fn == queue[at] && !f->selected; e++)
			n = add_once(queue, n, e->other);
	}
}

/* Still there, and not watched any more. */
static void left_out(struct comparing *c, const struct rd_audit_fn *was, const struct rd_audit_fn *is)
{
	uint32_t i = (uint32_t)(was - c->a.set->fns), j = (uint32_t)(is - c->b.set->fns);
	_cleanup_buf_ struct rd_buf callers = { 0 };
	/* Code that ftrace cannot hook counts as inline code of a header; see leave_out_inline(). */
	bool lost = is->rule == RD_RULE_COMMON && !is->attachable && was->attachable;

	if (is->rule != RD_RULE_RETURN && is->rule != RD_RULE_COMMON &&
	    (is_of_others(&c->a, &c->b, i) || c->unsure_a[i] || c->unsure_b[j]))
		return;
	name_watched_callers(c, j, &callers);
	add_change(
		c, lost ? RD_CHANGE_LOST_HOOK : RD_CHANGE_LEFT_OUT, of_lost(c, was, is), was, is,
		rd_text("%s%s%s",
			lost ? "the kernel does not let it be hooked: notrace, or an out-of-line copy of an inline function" :
			       rd_rule_reason(is->rule),
			is->rule == RD_RULE_RETURN ? "" :
			callers.len		   ? "; its failures are shown as those of " :
						     "; no direct caller of it is watched",
			is->rule != RD_RULE_RETURN && callers.len ? callers.data : ""));
}

/* Whether y, which was x, shows that the code of the function `gone` is in it now. */
static bool has_taken(const struct comparing *c, uint32_t x, uint32_t y, uint32_t gone)
{
	const struct rd_audit_fn *f = &c->a.set->fns[x], *g = &c->b.set->fns[y], *h = &c->a.set->fns[gone];

	for (const struct rd_audit_edge *e = rd_audit_edges(&c->a, gone, false), *before, *now; e->fn == gone; e++) {
		for (before = rd_audit_edges(&c->a, x, false); before->fn == x && before->other != e->other;)
			before++;
		for (now = rd_audit_edges(&c->b, y, false); now->fn == y && now->other != c->a.other[e->other];)
			now++;
		if (before->fn != x && now->fn == y)
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

/* A watched function that is new and that a caller of the one that is gone calls now: it may be that under another name. */
static const struct rd_audit_fn *find_successor(const struct comparing *c, uint32_t gone)
{
	for (const struct rd_audit_edge *e = rd_audit_edges(&c->a, gone, true); e->fn == gone; e++) {
		uint32_t y = c->a.other[e->other];

		for (const struct rd_audit_edge *f = rd_audit_edges(&c->b, y, false); y != RD_AUDIT_NONE && f->fn == y;
		     f++)
			if (c->b.other[f->other] == RD_AUDIT_NONE && c->b.set->fns[f->other].selected)
				return &c->b.set->fns[f->other];
	}
	return NULL;
}

static void gone(struct comparing *c, uint32_t i)
{
	const struct rd_audit_fn *was = &c->a.set->fns[i], *successor = find_successor(c, i);
	struct heirs heirs = { 0 };
	uint32_t queue[CALLERS_MAX] = { i };
	size_t n = 1;

	for (size_t at = 0; at < n; at++)
		for (const struct rd_audit_edge *e = rd_audit_edges(&c->a, queue[at], true); e->fn == queue[at]; e++)
			if (c->a.other[e->other] != RD_AUDIT_NONE)
				add_heir(c, e->other, i, &heirs);
			else
				n = add_once(queue, n, e->other);
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

		if (!was->selected || is_unequal(&c->a, &c->b, was->module) || is_stripped(&c->a, &c->b, was->module) ||
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

		if (!is->selected || is_unequal(&c->a, &c->b, is->module) || is_stripped(&c->a, &c->b, is->module) ||
		    (i != RD_AUDIT_NONE && c->a.set->fns[i].selected) || is_of_others(&c->b, &c->a, j) ||
		    c->unsure_b[j] || (i != RD_AUDIT_NONE && c->unsure_a[i]))
			continue;
		if (i != RD_AUDIT_NONE)
			add_change(
				c, RD_CHANGE_REACHED, RD_SEV_WARNING, &c->a.set->fns[i], is,
				rd_text("left out before: %s%s", rd_rule_reason(c->a.set->fns[i].rule),
					c->a.set->fns[i].rule == RD_RULE_DATA_PATH ?
						"; now no path of transfers leads to it, so that its hook costs them nothing" :
						""));
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
	const struct rd_audit_set *all = c->b.set->all ?: c->b.set;
	/* Without the types of the core, drivers are not recognized, nor the modules that they are based on. */
	bool same_types = !is_unequal(&c->a, &c->b, "ib_core");

	for (size_t m = 0; m < c->a.set->n_modules; m++) {
		const char *name = c->a.set->modules[m].name;
		size_t n = watched(c->a.set, name);

		bool gone = rd_audit_module_find(c->b.set, name) < 0;

		if (is_unequal(&c->a, &c->b, name) || (gone && n && !same_types))
			rd_texts_keep(&c->ret->unequal, name, strlen(name));
		else if (is_stripped(&c->a, &c->b, name))
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

	return RD_FIRST(RD_CMP(y->severity, x->severity), strcmp(x->module, y->module),
			strcmp(x->function ?: "", y->function ?: ""), RD_CMP(x->change, y->change));
}

void rd_audit_compare(const struct rd_audit_set *baseline, const struct rd_audit_set *now, struct rd_audit *ret)
{
	struct comparing c = { .ret = ret };

	rd_audit_match(baseline, now, &c.a, &c.b);
	c.unsure_a = find_unsure(&c.a, &c.b);
	c.unsure_b = find_unsure(&c.b, &c.a);
	compare_baseline(&c);
	compare_new(&c);
	compare_modules(&c);
	if (now->all)
		compare_all(&c);
	RD_FREE(c.unsure_a, c.unsure_b);
	rd_audit_side_deinit(&c.a);
	rd_audit_side_deinit(&c.b);
	rd_sort(ret->v, ret->n, sizeof(*ret->v), compare_changes);
}
