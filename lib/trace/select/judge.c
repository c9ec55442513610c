/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule for each function: selected because verbs reach it, or left out and why. */
#include <string.h>

#include "base/memory.h"
#include "trace/select/rules.h"
#include "trace/select/sel.h"

struct work {
	enum rd_rule *by_name; /* per function */
	bool *skip;	       /* not followed from roots */
	bool *none;	       /* all false */
	bool *seen;
	uint32_t *stack;
};

static void find_roots_of_functions(struct rd_sel *sel, struct work *w)
{
	struct rd_fnset *set = sel->set;

	for (uint32_t r = 0; r < set->n_roots; r++) {
		memset(w->seen, 0, set->n_fns);
		if (set->roots[r].alone)
			w->seen[set->roots[r].fn] = true;
		else
			rd_sel_reach(sel, set->roots[r].fn, w->skip, w->seen, w->stack);
		for (size_t i = 0; i < set->n_fns; i++) {
			struct rd_fn *fn = &set->fns[i];
			/* Doubled when the count is a power of two. */
			size_t cap = fn->n_roots;

			if (!w->seen[i])
				continue;
			if (!(cap & (cap - 1)))
				rd_reserve(&fn->roots, &cap, cap + 1, sizeof(*fn->roots));
			fn->roots[fn->n_roots++] = r;
		}
	}
}

/* Without a module file there is no call graph: selected by name and type. */
static bool selected_by_name(const struct rd_sel *sel, const struct rd_fn *fn)
{
	return sel->set->modules[fn->module].rdma && !sel->set->modules[fn->module].file_matches &&
	       rd_rules_changes(fn->name);
}

/*
 * In the kernel, "inline" implies notrace: in a module whose functions ftrace can hook, a function that it cannot hook is an
 * out-of-line copy of an inline function, usually from a header. Functions that it calls are still followed.
 */
static void leave_out_inline(const struct rd_sel *sel, struct work *w)
{
	for (size_t m = 0; m < sel->set->n_modules; m++) {
		uint32_t first = sel->mods[m].first_fn, end = first + sel->mods[m].n_fns;
		bool traced = false;

		for (uint32_t i = first; i < end; i++)
			traced = traced || sel->set->fns[i].in_filter;
		for (uint32_t i = first; traced && i < end; i++)
			if (!sel->set->fns[i].in_filter && w->by_name[i] == RD_RULE_SELECTED)
				w->by_name[i] = RD_RULE_COMMON;
	}
}

static enum rd_rule rule_of(const struct rd_sel *sel, const struct work *w, size_t i)
{
	const struct rd_fn *fn = &sel->set->fns[i];

	if (fn->entry != RD_ENTRY_NONE)
		return RD_RULE_ENTRY;
	if (w->by_name[i] != RD_RULE_SELECTED)
		return w->by_name[i];
	if (!fn->n_roots && !selected_by_name(sel, fn))
		return RD_RULE_NOT_REACHED;
	switch (fn->ret) {
	case RD_RET_UNKNOWN:
	case RD_RET_INT:
	case RD_RET_LONG:
	case RD_RET_PTR:
		return RD_RULE_SELECTED;
	default:
		return RD_RULE_RETURN;
	}
}

/* Marks in w->seen the functions of one rule, and all functions reachable from them. */
static void reach_excluded(struct rd_sel *sel, struct work *w, enum rd_rule rule, const bool *skip)
{
	memset(w->seen, 0, sel->set->n_fns);
	for (size_t i = 0; i < sel->n_excluded; i++)
		if (sel->excluded_rule[i] == rule)
			rd_sel_reach(sel, sel->excluded[i], skip, w->seen, w->stack);
}

/*
 * Callbacks that are set up when a queue pair, completion queue or receive queue is created (tasks, timers, completion handlers)
 * run on the data path, in threads other than that of the verb: their errors do not reach a caller.
 */
static void add_queue_callbacks(struct rd_sel *sel, struct work *w)
{
	static const char *const makers[] = { "ib_device_ops.create_qp", "ib_device_ops.create_cq",
					      "ib_device_ops.create_srq" };

	memset(w->seen, 0, sel->set->n_fns);
	for (size_t i = 0; i < sel->set->n_roots; i++)
		for (size_t j = 0; j < RD_ARRAY_SIZE(makers); j++)
			if (!strcmp(sel->set->roots[i].via, makers[j]))
				rd_sel_reach(sel, sel->set->roots[i].fn, w->skip, w->seen, w->stack);
	for (size_t i = 0; i < sel->n_takes; i++)
		if (w->seen[sel->takes[i].from] && w->by_name[sel->takes[i].to] == RD_RULE_SELECTED)
			rd_sel_add_excluded(sel, sel->takes[i].to, RD_RULE_DATA_PATH);
}

static bool called_by_seen(const struct rd_sel *sel, const struct work *w, uint32_t fn)
{
	for (size_t i = 0; i < sel->n_edges; i++)
		if (sel->edges[i].to == fn && w->seen[sel->edges[i].from])
			return true;
	return false;
}

/*
 * Functions reachable from posting and polling run on the data path, even if verbs reach them too: the doorbell of a soft driver
 * is a write(2), and a hook there would slow it down. Roots are not followed: drivers modify a queue pair after a failed post.
 */
static void leave_out_data_path(struct rd_sel *sel, struct work *w)
{
	for (size_t i = 0; i < sel->set->n_roots; i++)
		w->skip[sel->set->roots[i].fn] = true;
	reach_excluded(sel, w, RD_RULE_DATA_PATH, w->skip);
	for (size_t i = 0; i < sel->set->n_fns; i++)
		if (w->seen[i] && w->by_name[i] == RD_RULE_SELECTED)
			w->by_name[i] = RD_RULE_DATA_PATH;
	for (size_t i = 0; i < sel->set->n_roots; i++)
		if (sel->set->roots[i].alone && called_by_seen(sel, w, sel->set->roots[i].fn))
			w->by_name[sel->set->roots[i].fn] = RD_RULE_DATA_PATH;
}

/* Gives functions that no root reaches the rule of the functions that reach them. */
static void inherit_rule(struct rd_sel *sel, struct work *w, enum rd_rule rule)
{
	struct rd_fnset *set = sel->set;

	reach_excluded(sel, w, rule, w->none);
	for (uint32_t i = 0; i < set->n_fns; i++)
		if (set->fns[i].rule == rule)
			rd_sel_reach(sel, i, w->none, w->seen, w->stack);
	for (size_t i = 0; i < set->n_fns; i++)
		if (w->seen[i] && set->fns[i].rule == RD_RULE_NOT_REACHED)
			set->fns[i].rule = rule;
}

/* Rules by name, overridden for known roots and ops members. */
static void judge_names(struct rd_sel *sel, struct work *w)
{
	struct rd_fnset *set = sel->set;

	for (size_t i = 0; i < set->n_fns; i++) {
		w->by_name[i] = rd_rules_name(set->fns[i].name);
		/* With a call graph, posting is known by its ops members; a name alone may belong to a function of a verb. */
		if (w->by_name[i] == RD_RULE_DATA_PATH && set->modules[set->fns[i].module].file_matches)
			w->by_name[i] = RD_RULE_SELECTED;
	}
	for (size_t i = 0; i < sel->n_excluded; i++)
		if (w->by_name[sel->excluded[i]] == RD_RULE_SELECTED)
			w->by_name[sel->excluded[i]] = sel->excluded_rule[i];
	for (size_t i = 0; i < set->n_roots; i++)
		w->by_name[set->roots[i].fn] = RD_RULE_SELECTED;
	/* A cold part is left out, but its calls are calls of its function. */
	for (size_t i = 0; i < set->n_fns; i++)
		w->skip[i] = w->by_name[i] != RD_RULE_SELECTED && w->by_name[i] != RD_RULE_COLD;
	for (size_t i = 0; i < set->n_roots; i++)
		w->skip[set->roots[i].fn] |= set->roots[i].alone;
}

void rd_sel_judge(struct rd_sel *sel)
{
	static const enum rd_rule inherited[] = { RD_RULE_DATA_PATH, RD_RULE_QUERY, RD_RULE_CLEANUP,
						  RD_RULE_DIAGNOSTIC };
	struct rd_fnset *set = sel->set;
	size_t n = set->n_fns + 1;
	struct work w = {
		.by_name = rd_alloc(n, sizeof(*w.by_name)),
		.skip = rd_alloc(n, 1),
		.none = rd_alloc(n, 1),
		.seen = rd_alloc(n, 1),
		.stack = rd_alloc(n, sizeof(*w.stack)),
	};

	judge_names(sel, &w);
	find_roots_of_functions(sel, &w);
	add_queue_callbacks(sel, &w);
	leave_out_data_path(sel, &w);
	leave_out_inline(sel, &w);
	for (size_t i = 0; i < set->n_fns; i++) {
		set->fns[i].rule = rule_of(sel, &w, i);
		set->fns[i].selected = set->fns[i].rule <= RD_RULE_ENTRY;
	}
	for (size_t i = 0; i < RD_ARRAY_SIZE(inherited); i++)
		inherit_rule(sel, &w, inherited[i]);
	free(w.by_name);
	free(w.skip);
	free(w.none);
	free(w.seen);
	free(w.stack);
}
