/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What queries and the destruction of rarely destroyed objects lead to in the RDMA core. Rules leave out functions that read or
 * clean up, because programs that work call some of them all the time; these are called so rarely that hooks cost nothing that
 * matters, and without them the caller would be taken for the origin. Drivers are not followed: of theirs, only the members of
 * ib_device_ops are such roots.
 */
#include "base/memory.h"
#include "trace/select/rules.h"
#include "trace/select/sel.h"

struct walk {
	bool *outside;	/* functions of drivers, which are not followed */
	bool *frequent; /* reached from what destroys memory regions, memory windows and address handles */
	bool *seen;
	uint32_t *stack;
};

static bool in_core(const struct rd_sel *sel, uint32_t fn)
{
	const struct rd_module *module = &sel->set->modules[sel->set->fns[fn].module];

	return module->rdma && !module->has_ops;
}

/* Functions that clean up in the core, but not for a rare object: what they call is called frequently. */
static void find_frequent(const struct rd_sel *sel, struct walk *w)
{
	for (uint32_t i = 0; i < sel->set->n_fns; i++)
		w->outside[i] = !in_core(sel, i);
	for (size_t i = 0; i < sel->n_excluded; i++)
		if (sel->excluded_rule[i] == RD_RULE_CLEANUP || sel->excluded_rule[i] == RD_RULE_DATA_PATH)
			rd_sel_reach(sel, sel->excluded[i], w->outside, w->frequent, w->stack);
}

void rd_sel_add_alone(struct rd_sel *sel)
{
	struct rd_fnset *set = sel->set;
	size_t n_roots = set->n_roots, n = set->n_fns + 1;
	struct walk w = {
		.outside = rd_alloc(n, 1),
		.frequent = rd_alloc(n, 1),
		.seen = rd_alloc(n, 1),
		.stack = rd_alloc(n, sizeof(*w.stack)),
	};

	find_frequent(sel, &w);
	for (size_t i = 0; i < n_roots; i++)
		if (set->roots[i].alone && in_core(sel, set->roots[i].fn))
			rd_sel_reach(sel, set->roots[i].fn, w.outside, w.seen, w.stack);
	for (uint32_t i = 0; i < set->n_fns; i++) {
		enum rd_rule rule = w.seen[i] && !w.frequent[i] ? rd_rules_name(set->fns[i].name) : RD_RULE_SELECTED;

		if (rule == RD_RULE_QUERY || (rule == RD_RULE_CLEANUP && rd_rules_rare(set->fns[i].name)))
			rd_sel_add_root(sel, i, rule == RD_RULE_QUERY ? "query" : "destruction", true);
	}
	free(w.outside);
	free(w.frequent);
	free(w.seen);
	free(w.stack);
}
