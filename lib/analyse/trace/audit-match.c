// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "analyse/trace/audit-match.h"

/* Functions of one name that a call may mean. A module has two or three at most. */
#define CALLEES_MAX 16

static int compare_names(const void *a, const void *b, void *arg)
{
	const struct rd_audit_fn *fns = arg, *x = &fns[*(const uint32_t *)a], *y = &fns[*(const uint32_t *)b];

	return RD_FIRST(rd_fn_compare_bare(x->function, y->function), strcmp(x->module, y->module),
			strcmp(x->function, y->function));
}

/* What functions have in common that stand together in by_name: the bare name, and optionally the module and the whole name. */
struct key {
	const char *name, *module;
	bool whole;
};

static int compare_key(const struct rd_audit_fn *fn, const struct key *key)
{
	int c = rd_fn_compare_bare(fn->function, key->name);

	if (!c && key->module)
		c = strcmp(fn->module, key->module);
	return c || !key->whole ? c : strcmp(fn->function, key->name);
}

/* The position in by_name of the first function that is not below the key, or that is above it. */
static size_t bound(const struct rd_audit_side *side, const struct key *key, bool above)
{
	size_t lo = 0, hi = side->set->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = compare_key(&side->set->fns[side->by_name[mid]], key);

		if (c < 0 || (above && !c))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Where these functions begin in by_name; their number is returned. */
static size_t named(const struct rd_audit_side *side, const struct key *key, size_t *first)
{
	*first = bound(side, key, false);
	return bound(side, key, true) - *first;
}

static void add_edge(struct rd_audit_side *side, uint32_t from, uint32_t to)
{
	*RD_ADD(side->calls, side->n_edges, side->cap_edges) = (struct rd_audit_edge){ from, to };
}

/* Calls name functions: all of that name in the module, which may be several; else the first of another module. */
static void add_call(struct rd_audit_side *side, uint32_t from, const char *name)
{
	const struct rd_audit_fn *fns = side->set->fns;
	size_t first, n = named(side, &(struct key){ name, fns[from].module, true }, &first);

	for (size_t i = first; i < first + n && i < first + CALLEES_MAX; i++)
		add_edge(side, from, side->by_name[i]);
	if (n)
		return;
	n = named(side, &(struct key){ .name = name }, &first);
	for (size_t i = first; i < first + n; i++)
		if (!strcmp(fns[side->by_name[i]].function, name)) {
			add_edge(side, from, side->by_name[i]);
			return;
		}
}

static int compare_edges(const void *a, const void *b)
{
	const struct rd_audit_edge *x = a, *y = b;

	return RD_CMP(x->fn, y->fn) ?: RD_CMP(x->other, y->other);
}

static void side_init(struct rd_audit_side *side, const struct rd_audit_set *set)
{
	*side = (struct rd_audit_side){
		.set = set,
		.by_name = rd_alloc(set->n + 1, sizeof(*side->by_name)),
		.other = rd_alloc(set->n + 1, sizeof(*side->other)),
	};
	for (uint32_t i = 0; i < set->n; i++) {
		side->by_name[i] = i;
		side->other[i] = RD_AUDIT_NONE;
	}
	qsort_r(side->by_name, set->n, sizeof(*side->by_name), compare_names, set->fns);
	for (uint32_t i = 0; i < set->n; i++)
		for (uint32_t c = 0; c < set->fns[i].n_calls; c++)
			add_call(side, i, set->fns[i].calls[c]);
	add_edge(side, RD_AUDIT_NONE, RD_AUDIT_NONE);
	side->callers = rd_alloc(side->n_edges, sizeof(*side->callers));
	for (size_t i = 0; i < side->n_edges; i++)
		side->callers[i] = (struct rd_audit_edge){ side->calls[i].other, side->calls[i].fn };
	qsort(side->calls, side->n_edges, sizeof(*side->calls), compare_edges);
	qsort(side->callers, side->n_edges, sizeof(*side->callers), compare_edges);
}

void rd_audit_side_deinit(struct rd_audit_side *side)
{
	RD_FREE(side->by_name, side->other, side->calls, side->callers);
}

const struct rd_audit_edge *rd_audit_edges(const struct rd_audit_side *side, uint32_t fn, bool callers)
{
	const struct rd_audit_edge *v = callers ? side->callers : side->calls, key = { fn, 0 };

	return v + rd_lower_bound(&key, v, side->n_edges, sizeof(key), compare_edges);
}

static void join(struct rd_audit_side *a, uint32_t i, struct rd_audit_side *b, uint32_t j)
{
	a->other[i] = j;
	b->other[j] = i;
}

/* Which functions of the same bare name go together. */
enum closeness {
	SAME_CODE, /* the same module, suffix, errnos and about the same size: of several of one name, one may be gone */
	SAME_NAME,   /* the same module and suffix */
	SAME_MODULE, /* the same module */
	ANY_MODULE,  /* the only one that is left, and alike */
};

static bool same_size(const struct rd_audit_fn *x, const struct rd_audit_fn *y)
{
	uint32_t more = x->size > y->size ? x->size - y->size : y->size - x->size;

	return x->size && y->size && more <= x->size / 8 + 16;
}

static bool same_errnos(const struct rd_audit_fn *x, const struct rd_audit_fn *y)
{
	return !memcmp(x->errnos, y->errnos, sizeof(x->errnos));
}

/* Whether two functions call, or are called by, a function of the same name. */
static bool shares_edge(const struct rd_audit_side *a, uint32_t x, const struct rd_audit_side *b, uint32_t y,
			bool callers)
{
	const struct rd_audit_edge *first = rd_audit_edges(b, y, callers);

	for (const struct rd_audit_edge *e = rd_audit_edges(a, x, callers); e->fn == x; e++)
		for (const struct rd_audit_edge *f = first; f->fn == y; f++)
			if (!rd_fn_compare_bare(a->set->fns[e->other].function, b->set->fns[f->other].function))
				return true;
	return false;
}

/* Functions of different modules may have the same name and nothing else in common. */
static bool is_alike(const struct rd_audit_side *a, uint32_t x, const struct rd_audit_side *b, uint32_t y)
{
	const struct rd_audit_fn *f = &a->set->fns[x], *g = &b->set->fns[y];

	if (!f->size || !g->size)
		return true;
	return (same_size(f, g) && same_errnos(f, g)) || shares_edge(a, x, b, y, true) ||
	       shares_edge(a, x, b, y, false);
}

/* Of a kernel that is not complete, a module that is not loaded may have the function, too. */
static bool is_known(const struct rd_audit_set *set, const char *module)
{
	return set->complete || rd_audit_module_find(set, module) >= 0;
}

static bool fits(const struct rd_audit_side *a, uint32_t i, const struct rd_audit_side *b, uint32_t j,
		 enum closeness close)
{
	const struct rd_audit_fn *x = &a->set->fns[i], *y = &b->set->fns[j];

	if (close == ANY_MODULE)
		return is_known(a->set, y->module) && is_known(b->set, x->module) && is_alike(a, i, b, j);
	return close != SAME_CODE || (same_size(x, y) && same_errnos(x, y) && x->n_calls == y->n_calls);
}

/* The function of b that is function i of a; RD_AUDIT_NONE: none, or one of several. */
static uint32_t find_name(const struct rd_audit_side *a, uint32_t i, const struct rd_audit_side *b, enum closeness close)
{
	const struct rd_audit_fn *fn = &a->set->fns[i];
	const struct key key = { fn->function, close == ANY_MODULE ? NULL : fn->module, close <= SAME_NAME };
	size_t first, n = named(b, &key, &first), found = 0;
	uint32_t last = RD_AUDIT_NONE;

	for (size_t k = first; k < first + n; k++) {
		uint32_t j = b->by_name[k];

		/* A cold part is not a function of its own. */
		if (b->other[j] != RD_AUDIT_NONE || !fits(a, i, b, j, close) ||
		    (fn->rule == RD_RULE_COLD) != (b->set->fns[j].rule == RD_RULE_COLD))
			continue;
		last = j;
		found++;
		if (close != ANY_MODULE)
			break;
	}
	return found == 1 ? last : RD_AUDIT_NONE;
}

/* Whether all functions at the other end of the edges of x are, in the other kernel, at that of the edges of y; and as many. */
static bool same_edges(const struct rd_audit_side *a, uint32_t x, const struct rd_audit_side *b, uint32_t y,
		       bool callers)
{
	const struct rd_audit_edge *first = rd_audit_edges(b, y, callers);
	size_t n = 0;

	for (const struct rd_audit_edge *f = first; f->fn == y; f++)
		n++;
	for (const struct rd_audit_edge *e = rd_audit_edges(a, x, callers), *f; e->fn == x; e++, n--) {
		for (f = first; f->fn == y && f->other != a->other[e->other];)
			f++;
		if (f->fn != y)
			return false;
	}
	return !n;
}

/* The same callers, calls, errnos and nearly the same size. A function without callers, such as a callback, is too little known. */
static bool is_renamed(const struct rd_audit_side *a, uint32_t x, const struct rd_audit_side *b, uint32_t y)
{
	const struct rd_audit_fn *f = &a->set->fns[x], *g = &b->set->fns[y];

	return !strcmp(f->module, g->module) && same_errnos(f, g) && same_size(f, g) &&
	       rd_audit_edges(a, x, true)->fn == x && same_edges(a, x, b, y, true) && same_edges(a, x, b, y, false);
}

/* Candidates are the functions that the callers of x call now: all in all few. */
static uint32_t find_renamed(const struct rd_audit_side *a, uint32_t x, const struct rd_audit_side *b)
{
	const struct rd_audit_edge *e = rd_audit_edges(a, x, true);
	uint32_t last = RD_AUDIT_NONE, caller = e->fn == x ? a->other[e->other] : RD_AUDIT_NONE;
	size_t found = 0;

	if (caller == RD_AUDIT_NONE)
		return RD_AUDIT_NONE;
	for (e = rd_audit_edges(b, caller, false); e->fn == caller; e++)
		if (b->other[e->other] == RD_AUDIT_NONE && b->set->fns[e->other].rule != RD_RULE_COLD &&
		    is_renamed(a, x, b, e->other)) {
			last = e->other;
			found++;
		}
	return found == 1 ? last : RD_AUDIT_NONE;
}

/* The only unmatched function that the kernel calls for the same verb of the same module; RD_AUDIT_NONE: none, or several. */
static uint32_t find_root(const struct rd_audit_side *side, const struct rd_audit_fn *like)
{
	uint32_t found = RD_AUDIT_NONE;

	for (uint32_t i = 0; i < side->set->n; i++) {
		const struct rd_audit_fn *fn = &side->set->fns[i];

		if (side->other[i] != RD_AUDIT_NONE || !fn->via || strcmp(fn->via, like->via) != 0 ||
		    strcmp(fn->module, like->module) != 0)
			continue;
		if (found != RD_AUDIT_NONE)
			return RD_AUDIT_NONE;
		found = i;
	}
	return found;
}

void rd_audit_match(const struct rd_audit_set *baseline, const struct rd_audit_set *now, struct rd_audit_side *a,
		    struct rd_audit_side *b)
{
	side_init(a, baseline);
	side_init(b, now);
	for (int close = SAME_CODE; close <= ANY_MODULE; close++)
		for (uint32_t i = 0; i < baseline->n; i++) {
			bool wanted = a->other[i] == RD_AUDIT_NONE && (close < ANY_MODULE || baseline->fns[i].selected);
			uint32_t j = wanted ? find_name(a, i, b, (enum closeness)close) : RD_AUDIT_NONE;

			/* Functions of several modules may have become one, which is then none of them. */
			if (j != RD_AUDIT_NONE && (close != ANY_MODULE || find_name(b, j, a, ANY_MODULE) == i))
				join(a, i, b, j);
		}
	for (uint32_t i = 0; i < baseline->n; i++) {
		const struct rd_audit_fn *fn = &baseline->fns[i];
		uint32_t j = a->other[i] == RD_AUDIT_NONE && fn->selected && fn->via ? find_root(b, fn) : RD_AUDIT_NONE;

		if (j != RD_AUDIT_NONE && find_root(a, fn) == i)
			join(a, i, b, j);
	}
	for (uint32_t i = 0; i < baseline->n; i++) {
		uint32_t j = a->other[i] == RD_AUDIT_NONE && baseline->fns[i].selected ? find_renamed(a, i, b) :
											 RD_AUDIT_NONE;

		/* Of two that are alike, in either kernel, it is not known which is which. */
		if (j != RD_AUDIT_NONE && find_renamed(b, j, a) == i)
			join(a, i, b, j);
	}
}
