/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A module is loaded while a trace runs: the ids that the programs and their counts have must keep their meaning. */
#include "unit.h"

#include "model/trace/fnset.h"

static uint32_t add_module(struct rd_fnset *set, const char *name, uint64_t instance)
{
	rd_reserve(&set->modules, &set->cap_modules, set->n_modules + 1, sizeof(*set->modules));
	set->modules[set->n_modules] = (struct rd_module){
		.name = rd_dup(name), .path = rd_dup("/lib/modules/x.ko"), .note = rd_dup("note"), .instance = instance
	};
	return (uint32_t)set->n_modules++;
}

static uint32_t add_fn(struct rd_fnset *set, uint32_t module, const char *name, uint64_t addr)
{
	rd_reserve(&set->fns, &set->cap_fns, set->n_fns + 1, sizeof(*set->fns));
	set->fns[set->n_fns] = (struct rd_fn){ .name = rd_dup(name), .module = module, .addr = addr, .selected = true };
	return (uint32_t)set->n_fns++;
}

static void add_call(struct rd_fnset *set, uint32_t from, uint32_t to)
{
	struct rd_fn *fn = &set->fns[from];
	size_t cap = fn->n_calls;

	rd_reserve(&fn->calls, &cap, fn->n_calls + 1, sizeof(*fn->calls));
	fn->calls[fn->n_calls++] = to;
}

/* A root from which its function is reachable. */
static void add_root(struct rd_fnset *set, uint32_t fn, const char *via)
{
	struct rd_fn *f = &set->fns[fn];
	size_t cap = f->n_roots;

	rd_reserve(&set->roots, &set->cap_roots, set->n_roots + 1, sizeof(*set->roots));
	rd_reserve(&f->roots, &cap, f->n_roots + 1, sizeof(*f->roots));
	f->roots[f->n_roots++] = (uint32_t)set->n_roots;
	set->roots[set->n_roots++] = (struct rd_root){ .fn = fn, .via = rd_dup(via) };
}

/* The core with two functions, a driver with two that call them. The driver's instance can be different, and a second driver can be
 * between them, so that no index is the same. */
static void fill(struct rd_fnset *set, uint64_t driver_instance, bool second)
{
	uint32_t core = add_module(set, "ib_core", 10), check, lookup, create, modify;

	check = add_fn(set, core, "ib_check", 0x1000);
	lookup = add_fn(set, core, "ib_lookup", 0x2000);
	add_call(set, check, lookup);
	if (second) {
		uint32_t other = add_module(set, "newd", 12), newd = add_fn(set, other, "newd_create", 0x9000);

		add_call(set, newd, check);
		add_root(set, newd, "ib_device_ops.create_ah");
	}
	if (driver_instance) {
		uint32_t driver = add_module(set, "driver", driver_instance);

		create = add_fn(set, driver, "driver_create", 0x5000 * driver_instance);
		modify = add_fn(set, driver, "driver_modify", 0x6000 * driver_instance);
		add_call(set, create, check);
		add_call(set, create, modify);
		add_root(set, create, "ib_device_ops.create_qp");
		add_root(set, modify, "ib_device_ops.modify_qp");
	}
	set->off.qp_num = second ? 8 : 16;
}

static const struct rd_fn *fn_of(const struct rd_fnset *set, const char *name)
{
	int i = rd_fnset_find(set, name);

	if (i < 0)
		fail_msg("no function %s", name);
	return &set->fns[i];
}

/* Names of the functions that it calls, in the order of their ids, each followed by a blank. */
static void assert_calls(const struct rd_fnset *set, uint32_t id, const char *expected)
{
	const struct rd_fn *fn = &set->fns[id];
	char names[256] = "";

	for (uint32_t i = 0; i < fn->n_calls; i++) {
		ASSERT_EACH(IS(fn->calls[i] < set->n_fns, true), IS(!i || fn->calls[i - 1] < fn->calls[i], true));
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ", set->fns[fn->calls[i]].name);
	}
	assert_string_equal(names, expected);
}

/* Every index leads to where its owner is listed in turn. */
static void assert_consistent(const struct rd_fnset *set)
{
	for (size_t i = 0; i < set->n_fns; i++) {
		assert_true(set->fns[i].module < set->n_modules);
		for (uint32_t r = 0; r < set->fns[i].n_roots; r++) {
			assert_true(set->fns[i].roots[r] < set->n_roots);
			assert_int_equal(set->roots[set->fns[i].roots[r]].fn, i);
		}
	}
	for (size_t i = 0; i < set->n_roots; i++)
		assert_true(set->roots[i].fn < set->n_fns && set->fns[set->roots[i].fn].selected);
}

static void update(struct rd_fnset *set, struct rd_fnset *newer)
{
	rd_fnset_update(set, newer);
	ASSERT_EACH(IS(newer->n_fns, 0), IS(newer->fns == NULL, true), IS(newer->modules == NULL, true),
		    IS(newer->roots == NULL, true));
	assert_consistent(set);
}

TEST(a_driver_that_is_added_gets_ids_behind_all_others)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 }, newer = { 0 };

	fill(&set, 11, false);
	for (size_t i = 0; i < set.n_fns; i++)
		set.fns[i].backend = RD_BACKEND_FEXIT + i;
	fill(&newer, 11, true);
	newer.fns[2].backend = RD_BACKEND_KPROBE;
	update(&set, &newer);
	assert_int_equal(set.n_modules, 3);
	ASSERT_EACH(READS(set.modules[2].name, "newd"), IS(set.modules[2].instance, 12), IS(set.n_fns, 5));
	ASSERT_EACH(READS(set.fns[0].name, "ib_check"), READS(set.fns[1].name, "ib_lookup"),
		    READS(set.fns[2].name, "driver_create"), READS(set.fns[3].name, "driver_modify"),
		    READS(set.fns[4].name, "newd_create"));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(set.fns[i].backend, RD_BACKEND_FEXIT + i);
	/* Nothing is attached to it yet, whatever the newer set says. */
	ASSERT_EACH(IS(set.fns[4].backend, RD_BACKEND_NONE), IS(set.fns[4].module, 2), IS(set.fns[4].selected, true),
		    IS(set.off.qp_num, 8));
}

TEST(roots_and_calls_follow_their_functions)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 }, newer = { 0 };

	fill(&set, 11, false);
	fill(&newer, 11, true);
	/* In the newer set, what calls newd_create precedes it; in the set it is behind driver_modify. */
	add_call(&newer, 3, 2);
	update(&set, &newer);
	assert_calls(&set, 0, "ib_lookup ");
	assert_calls(&set, 1, "");
	assert_calls(&set, 2, "ib_check driver_modify newd_create ");
	assert_calls(&set, 4, "ib_check ");
	assert_int_equal(set.n_roots, 3);
	assert_string_equal(set.roots[fn_of(&set, "newd_create")->roots[0]].via, "ib_device_ops.create_ah");
	assert_string_equal(set.roots[fn_of(&set, "driver_modify")->roots[0]].via, "ib_device_ops.modify_qp");
	assert_int_equal(fn_of(&set, "ib_check")->n_roots, 0);
}

TEST(a_driver_that_is_loaded_again_has_other_functions)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 }, newer = { 0 };

	fill(&set, 11, false);
	set.fns[2].backend = RD_BACKEND_KPROBE;
	fill(&newer, 13, false);
	/* As often, at the same addresses. */
	newer.fns[2].addr = set.fns[2].addr;
	newer.fns[3].addr = set.fns[3].addr;
	update(&set, &newer);
	assert_int_equal(set.n_modules, 3);
	ASSERT_EACH(IS(set.modules[1].instance, 11), IS(set.modules[2].instance, 13), IS(set.n_fns, 6));
	for (size_t i = 2; i < 4; i++) {
		/* The counts still name them. */
		ASSERT_EACH(IS(set.fns[i].module, 1), IS(set.fns[i].selected, false), IS(set.fns[i].n_roots, 0));
		ASSERT_EACH(READS(set.fns[i].name, set.fns[i + 2].name), IS(set.fns[i + 2].module, 2),
			    IS(set.fns[i + 2].selected, true), IS(set.fns[i + 2].n_roots, 1),
			    IS(set.fns[i + 2].backend, RD_BACKEND_NONE));
	}
	ASSERT_EACH(IS(set.fns[2].backend, RD_BACKEND_KPROBE), IS(set.fns[0].selected, true));
	assert_calls(&set, 4, "ib_check driver_modify ");
	assert_int_equal(set.fns[4].calls[1], 5);
}

TEST(a_driver_that_is_unloaded_is_not_selected_and_may_return)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 }, without = { 0 }, with = { 0 };

	fill(&set, 11, false);
	fill(&without, 0, false);
	update(&set, &without);
	ASSERT_EACH(IS(set.n_fns, 4), IS(set.n_roots, 0), IS(fn_of(&set, "driver_create")->selected, false),
		    IS(fn_of(&set, "ib_check")->selected, true));
	/* Of the same instance: it was not gone, the newer set did not see it. */
	fill(&with, 11, false);
	update(&set, &with);
	ASSERT_EACH(IS(set.n_modules, 2), IS(set.n_fns, 4), IS(fn_of(&set, "driver_create")->selected, true),
		    IS(set.n_roots, 2));
}

TEST(a_new_function_of_a_known_module_and_one_that_is_no_longer_selected)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 }, newer = { 0 };
	uint32_t more;

	fill(&set, 11, false);
	set.fns[1].rule = RD_RULE_SELECTED;
	fill(&newer, 11, false);
	newer.fns[1].selected = false;
	newer.fns[1].rule = RD_RULE_QUERY;
	newer.fns[1].errnos[0] = 1 << 22;
	newer.fns[1].calls_known = true;
	/* The core driver of a vendor: only what verbs reach is in a set, and a new driver reaches more of it. */
	more = add_fn(&newer, 1, "driver_command", 0x7000);
	add_call(&newer, 3, more);
	/* The same name at another place is a different function. */
	add_fn(&newer, 1, "driver_modify", 0x8000);
	update(&set, &newer);
	ASSERT_EACH(IS(set.n_modules, 2), IS(set.n_fns, 6));
	ASSERT_EACH(READS(set.fns[4].name, "driver_command"), IS(set.fns[4].module, 1));
	assert_calls(&set, 3, "driver_command ");
	ASSERT_EACH(READS(set.fns[5].name, "driver_modify"), IS(set.fns[5].addr, 0x8000),
		    IS(set.fns[3].addr, 0x6000 * 11), IS(set.fns[1].selected, false),
		    IS(set.fns[1].rule, RD_RULE_QUERY), IS(set.fns[1].errnos[0], 1 << 22),
		    IS(set.fns[1].calls_known, true));
}

TEST(many_modules_one_after_the_other)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 };

	fill(&set, 1, false);
	for (uint64_t instance = 2; instance < 40; instance++) {
		struct rd_fnset newer = { 0 };

		fill(&newer, instance, instance > 20);
		update(&set, &newer);
		assert_string_equal(set.fns[0].name, "ib_check");
	}
	ASSERT_EACH(IS(set.n_modules, 1 + 1 + 39), IS(set.n_fns, 2 + 1 + 2 * 39));
	for (size_t i = 0; i < set.n_fns; i++)
		assert_int_equal(set.fns[i].selected, set.fns[i].module == 0 ||
							      set.modules[set.fns[i].module].instance == 39 ||
							      !strcmp(set.modules[set.fns[i].module].name, "newd"));
}

TEST(an_empty_set_takes_over_everything)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 }, newer = { 0 }, nothing = { 0 };

	fill(&newer, 11, true);
	update(&set, &newer);
	assert_int_equal(set.n_fns, 5);
	assert_calls(&set, 3, "ib_check driver_modify ");
	update(&set, &nothing);
	assert_int_equal(set.n_fns, 5);
	for (size_t i = 0; i < set.n_fns; i++)
		assert_false(set.fns[i].selected);
}

TEST(a_module_is_known_by_name_and_instance)
{
	_cleanup_(rd_fnset_deinit) struct rd_fnset set = { 0 };

	assert_int_equal(rd_fnset_module(&set, "ib_core", 10), -1);
	fill(&set, 11, false);
	add_module(&set, "driver", 13);
	add_module(&set, "hidden", 0);
	ASSERT_EACH(IS(rd_fnset_module(&set, "ib_core", 10), 0), IS(rd_fnset_module(&set, "driver", 11), 1),
		    IS(rd_fnset_module(&set, "driver", 13), 2), IS(rd_fnset_module(&set, "driver", 12), -1),
		    IS(rd_fnset_module(&set, "driver", 0), -1), IS(rd_fnset_module(&set, "ib_cor", 10), -1));
	/* Unknown, and unknown again. */
	assert_int_equal(rd_fnset_module(&set, "hidden", 0), 3);
}
