/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rule each function falls under: what verbs reach, what is left out, and why. */
#include <errno.h>
#include <string.h>

#include "trace/select/rules.h"
#include "trace/select/sel.h"

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

/*
 * The kernel makes "inline" mean "not to be traced": in a module whose functions ftrace can hook, one that it cannot is
 * the copy of an inline function, from a header more often than not. What it calls counts all the same.
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

/* Marks in w->seen what the functions of one rule lead to, themselves included. */
static void reach_aside(struct rd_sel *sel, struct work *w, enum rd_rule rule, const bool *skip)
{
	memset(w->seen, 0, sel->set->n_fns);
	for (size_t i = 0; i < sel->n_aside; i++)
		if (sel->aside_rule[i] == rule)
			rd_sel_reach(sel, sel->aside[i], skip, w->seen, w->stack);
}

/*
 * What is set up when a queue pair, completion queue or receive queue is made (tasks, timers, completion handlers) runs
 * while data is moved, and in other threads than the verb's: its errors are nobody's.
 */
static int add_queue_callbacks(struct rd_sel *sel, struct work *w)
{
	static const char *const makers[] = { "ib_device_ops.create_qp", "ib_device_ops.create_cq",
					      "ib_device_ops.create_srq" };

	memset(w->seen, 0, sel->set->n_fns);
	for (size_t i = 0; i < sel->set->n_roots; i++)
		for (size_t j = 0; j < RD_ARRAY_SIZE(makers); j++)
			if (!strcmp(sel->set->roots[i].via, makers[j]))
				rd_sel_reach(sel, sel->set->roots[i].fn, w->skip, w->seen, w->stack);
	for (size_t i = 0; i < sel->n_takes; i++)
		if (w->seen[sel->takes[i].from] && w->by_name[sel->takes[i].to] == RD_RULE_SELECTED &&
		    rd_sel_add_aside(sel, sel->takes[i].to, RD_RULE_DATA_PATH))
			return -ENOMEM;
	return 0;
}

/*
 * What posting and polling lead to runs while data is moved, whatever else leads there too: a soft driver's doorbell is
 * a write(2), and a hook on its way would be felt. What is a verb of its own is not followed: drivers modify a queue
 * pair after a failed post.
 */
static void leave_out_data_path(struct rd_sel *sel, struct work *w)
{
	for (size_t i = 0; i < sel->set->n_roots; i++)
		w->skip[sel->set->roots[i].fn] = true;
	reach_aside(sel, w, RD_RULE_DATA_PATH, w->skip);
	for (size_t i = 0; i < sel->set->n_fns; i++)
		if (w->seen[i] && w->by_name[i] == RD_RULE_SELECTED)
			w->by_name[i] = RD_RULE_DATA_PATH;
}

/* Gives what no root leads to the reason of the functions that do lead there. */
static void blame(struct rd_sel *sel, struct work *w, enum rd_rule rule)
{
	struct rd_fnset *set = sel->set;

	reach_aside(sel, w, rule, w->none);
	for (uint32_t i = 0; i < set->n_fns; i++)
		if (set->fns[i].rule == rule)
			rd_sel_reach(sel, i, w->none, w->seen, w->stack);
	for (size_t i = 0; i < set->n_fns; i++)
		if (w->seen[i] && set->fns[i].rule == RD_RULE_NOT_REACHED)
			set->fns[i].rule = rule;
}

/* What names say, corrected by what is known of doors. */
static void judge_names(struct rd_sel *sel, struct work *w)
{
	struct rd_fnset *set = sel->set;

	for (size_t i = 0; i < set->n_fns; i++) {
		w->by_name[i] = rd_rules_name(set->fns[i].name);
		/* With a graph, posting is known by its doors. By name it may be a driver's own, for a verb. */
		if (w->by_name[i] == RD_RULE_DATA_PATH && set->modules[set->fns[i].module].file_matches)
			w->by_name[i] = RD_RULE_SELECTED;
	}
	for (size_t i = 0; i < sel->n_aside; i++)
		if (w->by_name[sel->aside[i]] == RD_RULE_SELECTED)
			w->by_name[sel->aside[i]] = sel->aside_rule[i];
	for (size_t i = 0; i < set->n_roots; i++)
		w->by_name[set->roots[i].fn] = RD_RULE_SELECTED;
	/* A cold half is left out, but its calls are its function's. */
	for (size_t i = 0; i < set->n_fns; i++)
		w->skip[i] = w->by_name[i] != RD_RULE_SELECTED && w->by_name[i] != RD_RULE_COLD;
}

int rd_sel_judge(struct rd_sel *sel)
{
	static const enum rd_rule blamed[] = { RD_RULE_DATA_PATH, RD_RULE_QUERY, RD_RULE_CLEANUP, RD_RULE_DIAGNOSTIC };
	struct rd_fnset *set = sel->set;
	struct work w;
	int rc = work_init(&w, sel);

	if (!rc)
		judge_names(sel, &w);
	if (!rc)
		rc = note_roots(sel, &w);
	if (!rc)
		rc = add_queue_callbacks(sel, &w);
	if (!rc)
		leave_out_data_path(sel, &w);
	if (!rc)
		leave_out_inline(sel, &w);
	for (size_t i = 0; !rc && i < set->n_fns; i++) {
		set->fns[i].rule = judge(sel, &w, i);
		set->fns[i].selected = set->fns[i].rule <= RD_RULE_ENTRY;
	}
	for (size_t i = 0; !rc && i < RD_ARRAY_SIZE(blamed); i++)
		blame(sel, &w, blamed[i]);
	work_deinit(&w);
	return rc ? rd_err_set(sel->err, ENOMEM, NULL, "choosing the functions to watch") : 0;
}
