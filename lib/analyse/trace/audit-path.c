// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/trace/audit-path.h"

#include "analyse/trace/audit-match.h"
#include "base/memory.h"

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
