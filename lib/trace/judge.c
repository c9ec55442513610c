/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rule each function falls under: what verbs reach, what is left out, and why. */
#include <errno.h>
#include <string.h>

#include "trace/rules.h"
#include "trace/sel.h"

struct work {
	enum rd_rule *by_name; /* per function */
	bool *skip;	       /* not followed from roots */
	bool *none;	       /* all false */
	bool *seen;
	uint32_t *stack;
};

static int work_init(struct work *w, const struct rd_sel *sel)
{
	size_t n = sel->set->n_fns + 1;

	*w = (struct work){
		.by_name = calloc(n, sizeof(*w->by_name)),
		.skip = calloc(n, 1),
		.none = calloc(n, 1),
		.seen = calloc(n, 1),
		.stack = calloc(n, sizeof(*w->stack)),
	};
	return w->by_name && w->skip && w->none && w->seen && w->stack ? 0 : -ENOMEM;
}

static void work_deinit(struct work *w)
{
	free(w->by_name);
	free(w->skip);
	free(w->none);
	free(w->seen);
	free(w->stack);
}

static int note_roots(struct rd_sel *sel, struct work *w)
{
	struct rd_fnset *set = sel->set;

	for (uint32_t r = 0; r < set->n_roots; r++) {
		memset(w->seen, 0, set->n_fns);
		rd_sel_reach(sel, set->roots[r].fn, w->skip, w->seen, w->stack);
		for (size_t i = 0; i < set->n_fns; i++) {
			struct rd_fn *fn = &set->fns[i];
			uint32_t *roots;

			if (!w->seen[i])
				continue;
			/* Room for 1, 2, 4, 8 …: grown whenever the number is a power of two. */
			if (!(fn->n_roots & (fn->n_roots - 1))) {
				roots = reallocarray(fn->roots, fn->n_roots ? fn->n_roots * 2 : 1, sizeof(*roots));
				if (!roots)
					return -ENOMEM;
				fn->roots = roots;
			}
			fn->roots[fn->n_roots++] = r;
		}
	}
	return 0;
}

/* Where there is no file, there is no graph: names and types have to do. */
static bool taken_unseen(const struct rd_sel *sel, const struct rd_fn *fn)
{
	return sel->set->modules[fn->module].rdma && !sel->set->modules[fn->module].file_matches &&
	       rd_rules_changes(fn->name);
}

static enum rd_rule judge(const struct rd_sel *sel, const struct work *w, size_t i)
{
	const struct rd_fn *fn = &sel->set->fns[i];

	if (fn->entry != RD_ENTRY_NONE)
		return RD_RULE_ENTRY;
	if (w->by_name[i] != RD_RULE_SELECTED)
		return w->by_name[i];
	if (!fn->n_roots && !taken_unseen(sel, fn))
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

/* Gives what no root leads to the reason of the functions that do lead there. */
static void blame(struct rd_sel *sel, struct work *w, enum rd_rule rule)
{
	struct rd_fnset *set = sel->set;

	memset(w->seen, 0, set->n_fns);
	for (size_t i = 0; i < sel->n_aside; i++)
		if (sel->aside_rule[i] == rule)
			rd_sel_reach(sel, sel->aside[i], w->none, w->seen, w->stack);
	for (uint32_t i = 0; i < set->n_fns; i++)
		if (set->fns[i].rule == rule)
			rd_sel_reach(sel, i, w->none, w->seen, w->stack);
	for (size_t i = 0; i < set->n_fns; i++)
		if (w->seen[i] && set->fns[i].rule == RD_RULE_NOT_REACHED)
			set->fns[i].rule = rule;
}

int rd_sel_judge(struct rd_sel *sel)
{
	static const enum rd_rule blamed[] = { RD_RULE_DATA_PATH, RD_RULE_QUERY, RD_RULE_CLEANUP, RD_RULE_DIAGNOSTIC };
	struct rd_fnset *set = sel->set;
	struct work w;
	int rc = work_init(&w, sel);

	for (size_t i = 0; !rc && i < set->n_fns; i++) {
		w.by_name[i] = rd_rules_name(set->fns[i].name);
		/* A cold half is left out, but its calls are its function's. */
		w.skip[i] = w.by_name[i] != RD_RULE_SELECTED && w.by_name[i] != RD_RULE_COLD;
	}
	for (size_t i = 0; !rc && i < sel->n_aside; i++)
		if (!set->fns[sel->aside[i]].entry && w.by_name[sel->aside[i]] == RD_RULE_SELECTED) {
			w.by_name[sel->aside[i]] = sel->aside_rule[i];
			w.skip[sel->aside[i]] = true;
		}
	for (size_t i = 0; !rc && i < set->n_roots; i++)
		if (w.by_name[set->roots[i].fn] != RD_RULE_SELECTED && set->fns[set->roots[i].fn].entry == RD_ENTRY_NONE)
			w.by_name[set->roots[i].fn] = RD_RULE_SELECTED;
	if (!rc)
		rc = note_roots(sel, &w);
	for (size_t i = 0; !rc && i < set->n_fns; i++) {
		set->fns[i].rule = judge(sel, &w, i);
		set->fns[i].selected = set->fns[i].rule <= RD_RULE_ENTRY;
	}
	for (size_t i = 0; !rc && i < RD_ARRAY_SIZE(blamed); i++)
		blame(sel, &w, blamed[i]);
	work_deinit(&w);
	return rc ? rd_err_set(sel->err, ENOMEM, NULL, "choosing the functions to watch") : 0;
}
