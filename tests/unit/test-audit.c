/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between the functions of two kernels, and how bad it is. */
#include "unit.h"

#include "analyse/trace/audit.h"
#include "made-audit.h"

#define HOOKLESS "no backend can hook it; errors of it appear at its callers\n"

TEST(a_function_that_can_no_longer_be_hooked_is_critical)
{
	differ(FNS({ "check" }), FNS({ "check", .hooks = NO_HOOK }), "critical lost-hook drv:check: " HOOKLESS);
	differ(FNS({ "check" }), FNS({ "check", .rule = RD_RULE_COMMON, .hooks = NO_HOOK, .root = true }),
	       "critical lost-hook drv:check: the kernel does not let it be hooked: notrace, or an out-of-line copy of an "
	       "inline function; no direct caller of it is watched\n");
	/* Its errors were not visible before either. */
	differ(FNS({ "check", .hooks = NO_HOOK }), FNS({ "check", .hooks = NO_HOOK }), "");
	differ(FNS({ "check", .hooks = NO_HOOK }), FNS({ "check", .rule = RD_RULE_DATA_PATH }),
	       "warning left-out drv:check: runs on the data path: posting, polling, and the functions they call; no direct caller of it is watched\n");
	differ(FNS({ "check", .hooks = NO_HOOK }), FNS({ "check", .rule = RD_RULE_COMMON, .hooks = NO_HOOK }),
	       "warning left-out drv:check: inline function: the kernel does not allow tracing it; no direct caller of it is watched\n");
}

TEST(a_function_that_is_left_out_is_critical_where_it_still_returns_errors)
{
	differ(FNS({ "check" }), FNS({ "open", .calls = "check" }, { "check", .rule = RD_RULE_QUERY }),
	       "critical left-out drv:check: only reads, or is reachable only from functions that only read; its failures are shown as those of open\n"
	       "warning added drv:open\n");
	/* Nothing that is watched calls it. */
	differ(FNS({ "check" }), FNS({ "check", .rule = RD_RULE_DATA_PATH }),
	       "warning left-out drv:check: runs on the data path: posting, polling, and the functions they call; no direct caller of it is watched\n");
	/* Its type has none, and its code has. */
	differ(FNS({ "check" }), FNS({ "check", .rule = RD_RULE_RETURN, .errnos = { EIO } }),
	       "critical left-out drv:check: cannot return an errno\n");
	differ(FNS({ "check" }), FNS({ "check", .rule = RD_RULE_DATA_PATH, .root = true }),
	       "critical left-out drv:check: runs on the data path: posting, polling, and the functions they call; no direct caller of it is watched\n");
	differ(FNS({ "check" }), FNS({ "check", .rule = RD_RULE_NOT_REACHED }),
	       "warning left-out drv:check: not reachable from a verb that changes something; no direct caller of it is watched\n");
	differ(FNS({ "check" }), FNS({ "check", .rule = RD_RULE_RETURN }),
	       "warning left-out drv:check: cannot return an errno\n");
}

/* A module that is not loaded here called it, so no verb gets to it now. */
TEST(what_only_a_module_reached_that_is_missing_is_no_change)
{
	const struct made *was =
		FNS({ "reg", "cm", "outer" }, { "outer", .calls = "check" }, { "check", .calls = "outer" });
	const struct made *is = FNS({ "outer", .rule = RD_RULE_NOT_REACHED }, { "check", .rule = RD_RULE_NOT_REACHED });
	static const char left[] =
		"warning left-out drv:check: not reachable from a verb that changes something; no direct caller of it is watched\n";

	made_audit_differ(was, true, is, false, "missing cm\n");
	made_audit_differ(is, false, was, true, "");
	/* Another caller is here. */
	differ(FNS({ "reg", "cm", "check" }, { "open", .calls = "check" }, { "check" }),
	       FNS({ "reg", "cm" }, { "open" }, { "check", .rule = RD_RULE_NOT_REACHED }), left);
	made_audit_differ(
		FNS({ "reg", "cm", "check" }, { "open", .calls = "check" }, { "check" }), true,
		FNS({ "open" }, { "check", .rule = RD_RULE_NOT_REACHED }), false,
		"warning left-out drv:check: not reachable from a verb that changes something; no direct caller of it is watched\nmissing cm\n");
	/* Whatever calls it, it returns no errno. */
	made_audit_differ(FNS({ "reg", "cm", "check" }, { "check" }), true, FNS({ "check", .rule = RD_RULE_RETURN }),
			  false, "warning left-out drv:check: cannot return an errno\nmissing cm\n");
}

#define CHAIN 100000

/* A document can have as many callers in a row. */
TEST(a_long_chain_of_callers_needs_no_stack)
{
	_cleanup_(rd_audit_set_deinit) struct rd_audit_set was = made_audit(FNS({ "f0" }), true),
							   is = made_audit(FNS({ "f0", .rule = RD_RULE_QUERY }), true);

	was.fns = realloc(was.fns, CHAIN * sizeof(*was.fns));
	assert_non_null(was.fns);
	for (; was.n < CHAIN; was.n++) {
		was.fns[was.n] = (struct rd_audit_fn){ .function = rd_text("f%zu", was.n),
						       .module = rd_dup("drv"),
						       .selected = true };
		was.fns[was.n].calls = rd_alloc(1, sizeof(char *));
		was.fns[was.n].calls[0] = rd_text("f%zu", was.n - 1);
		was.fns[was.n].n_calls = 1;
	}
	{
		struct rd_audit audit = { 0 };

		rd_audit_compare(&was, &is, &audit);
		assert_int_equal(audit.n, CHAIN);
		rd_audit_deinit(&audit);
	}
	rd_audit_set_deinit(&is);
}

TEST(more_or_fewer_hooks_and_errnos_are_named)
{
	differ(FNS({ "check", .hooks = KPROBE | FEXIT }), FNS({ "check" }),
	       "warning hooks drv:check: no longer fexit\n");
	differ(FNS({ "check", .hooks = FEXIT }), FNS({ "check" }),
	       "warning hooks drv:check: no longer fexit, now also kprobe\n");
	differ(FNS({ "check", .hooks = NO_HOOK }), FNS({ "check" }), "warning hooks drv:check: now also kprobe\n");
	differ(FNS({ "check", .errnos = { EIO } }), FNS({ "check", .errnos = { EIO, ENOMEM, EDQUOT } }),
	       "warning errnos drv:check: new in its code: ENOMEM, EDQUOT\n");
	differ(FNS({ "check", .errnos = { EIO, EINVAL } }), FNS({ "check", .errnos = { EIO, ENOMEM } }),
	       "warning errnos drv:check: new in its code: ENOMEM; no longer: EINVAL\n");
	differ(FNS({ "check", .errnos = { EIO, E2BIG, EBADF, EAGAIN, ENOMEM, EBUSY, EINVAL } }), FNS({ "check" }),
	       "warning errnos drv:check: no longer: EIO, E2BIG, EBADF, EAGAIN, ENOMEM, EBUSY ...\n");
	/* -1 and -32 are also other constants; 134 is the number of no errno. */
	differ(FNS({ "check", .errnos = { EPERM } }), FNS({ "check", .errnos = { EPIPE, 134 } }), "");
	differ(FNS({ "check", .hooks = KPROBE | FEXIT }), FNS({ "check.isra.0", .errnos = { EIO } }),
	       "warning renamed drv:check -> =:check.isra.0: check.isra.0 now: renamed by the compiler\n"
	       "warning hooks drv:check -> =:check.isra.0: no longer fexit\n"
	       "warning errnos drv:check -> =:check.isra.0: new in its code: EIO\n");
}

TEST(new_functions_and_those_left_out_before_are_listed)
{
	differ(FNS({ "open" }), FNS({ "open" }, { "check" }, { "print", .rule = RD_RULE_DIAGNOSTIC }),
	       "warning added drv:check\n");
	differ(FNS({ "open" }, { "check", .rule = RD_RULE_RETURN }), FNS({ "open" }, { "check" }),
	       "warning newly-reached drv:check: left out before: cannot return an errno\n");
	differ(FNS({ "open" }, { "check", .rule = RD_RULE_DATA_PATH }), FNS({ "open" }, { "check" }),
	       "warning newly-reached drv:check: left out before: runs on the data path: posting, polling, and the functions they "
	       "call; now no path of transfers leads to it, so that its hook costs them nothing\n");
}

TEST(code_that_a_caller_took_over_was_inlined)
{
	static const char inlined[] = "warning inlined drv:check: its callers take over: open\n";
	static const char removed[] = "warning removed drv:check: removed or inlined; its callers are watched: open\n";
	const struct made *was =
		FNS({ "open", .calls = "check" }, { "check", .calls = "map", .errnos = { EIO } }, { "map" });

	differ(was, FNS({ "open", .calls = "map" }, { "map" }), inlined);
	differ(was, FNS({ "open", .size = 150 }, { "map" }), inlined);
	differ(was, FNS({ "open", .size = 149 }, { "map" }), removed);
	differ(was, FNS({ "open", .errnos = { EIO } }, { "map" }),
	       "warning inlined drv:check: its callers take over: open\n"
	       "warning errnos drv:open: new in its code: EIO\n");
	differ(was, FNS({ "open", .calls = "other" }, { "map" }, { "other", .rule = RD_RULE_RETURN }), removed);
	/* What the caller did before is no sign. */
	differ(FNS({ "open", .calls = "check map", .errnos = { EIO } }, { "check", .calls = "map", .errnos = { EIO } },
		   { "map" }),
	       FNS({ "open", .calls = "map", .errnos = { EIO } }, { "map" }), removed);
	/* No caller at all. */
	differ(FNS({ "check" }, { "map" }), FNS({ "map" }), "warning removed drv:check\n");
}

TEST(code_inlined_into_what_is_inlined_itself_is_found_in_the_next_caller)
{
	differ(FNS({ "open", .calls = "outer" }, { "outer", .calls = "inner" }, { "inner", .calls = "map" }, { "map" }),
	       FNS({ "open", .calls = "map", .size = 300 }, { "map" }),
	       "warning inlined drv:inner: its callers take over: open\n"
	       "warning inlined drv:outer: its callers take over: open\n");
	differ(FNS({ "open", .calls = "check" }, { "close", .calls = "check" }, { "check", .calls = "map" }, { "map" }),
	       FNS({ "open", .calls = "map" }, { "close", .calls = "map" }, { "map" }),
	       "warning inlined drv:check: its callers take over: open, close\n");
}

TEST(code_inlined_where_nothing_is_watched_is_critical)
{
	static const char critical[] = "critical inlined drv:check: and none of its callers is watched\n";

	differ(FNS({ "open", .calls = "check", .rule = RD_RULE_RETURN }, { "check", .calls = "map" }, { "map" }),
	       FNS({ "open", .calls = "map", .rule = RD_RULE_RETURN }, { "map" }), critical);
	/* A caller that was not watched either does not return it to a verb. */
	differ(FNS({ "open", .calls = "check", .rule = RD_RULE_QUERY }, { "check", .calls = "map" }, { "map" }),
	       FNS({ "open", .calls = "map", .rule = RD_RULE_QUERY }, { "map" }), "warning removed drv:check\n");
	differ(FNS({ "open", .calls = "check", .hooks = NO_HOOK }, { "check", .calls = "map" }, { "map" }),
	       FNS({ "open", .calls = "map", .hooks = NO_HOOK }, { "map" }), critical);
	/* The caller between them is gone, too. */
	differ(FNS({ "open", .calls = "mid", .rule = RD_RULE_RETURN },
		   { "mid", .calls = "check", .rule = RD_RULE_RETURN }, { "check", .calls = "map" }, { "map" }),
	       FNS({ "open", .calls = "map", .rule = RD_RULE_RETURN }, { "map" }), critical);
	/* Its errors were not visible before either. */
	differ(FNS({ "open", .calls = "check", .rule = RD_RULE_RETURN }, { "check", .calls = "map", .hooks = NO_HOOK },
		   { "map" }),
	       FNS({ "open", .calls = "map", .rule = RD_RULE_RETURN }, { "map" }),
	       "warning inlined drv:check: and none of its callers is watched\n");
}

TEST(functions_that_call_themselves_end_the_search_for_callers)
{
	differ(FNS({ "open", .calls = "check" }, { "check", .calls = "check map" }, { "map" }),
	       FNS({ "open", .calls = "map" }, { "map" }), "warning inlined drv:check: its callers take over: open\n");
	differ(FNS({ "ping", .calls = "pong" }, { "pong", .calls = "ping" }, { "map" }), FNS({ "map" }),
	       "warning removed drv:ping\n"
	       "warning removed drv:pong\n");
	differ(FNS({ "walk", .calls = "walk" }), FNS({ "walk", .calls = "walk" }), "");
}

TEST(modules_that_are_not_loaded_are_not_missing_from_the_kernel)
{
	const struct made *all = FNS({ "open" }, { "check" }, { "other", "cm" }), *few = FNS({ "open" }, { "check" });

	assert_int_equal(made_audit_differ(all, true, few, false, "missing cm\n"), 2);
	assert_int_equal(made_audit_differ(all, true, few, true,
					   "warning module-gone cm:: 1 functions of it were watched\n"),
			 2);
	assert_int_equal(
		made_audit_differ(few, true, all, false, "warning module-new cm:: 1 functions of it are watched\n"), 2);
	assert_int_equal(made_audit_differ(few, false, all, true, ""), 2);
	/* Nothing of it is watched. */
	made_audit_differ(FNS({ "open" }, PRESENT("cm")), true, FNS({ "open" }), true, "");
	made_audit_differ(FNS({ "open" }, PRESENT("cm")), true, FNS({ "open" }), false, "");
	made_audit_differ(FNS({ "open" }), true, FNS({ "open" }, PRESENT("cm")), true, "");
}

TEST(the_same_kernel_twice_differs_in_nothing)
{
	const struct made *fns = FNS({ "ioctl", "core", "open", .rule = RD_RULE_ENTRY },
				     { "open", .calls = "check.isra.0 map" },
				     { "check.isra.0", .calls = "map", .errnos = { EIO, ENOMEM } },
				     { "map", .hooks = NO_HOOK }, { "map.cold", .rule = RD_RULE_COLD },
				     { "query", .rule = RD_RULE_QUERY }, { "walk", .calls = "walk" });

	assert_int_equal(made_audit_differ(fns, true, fns, true, ""), 5);
	assert_int_equal(made_audit_differ(fns, true, fns, false, ""), 5);
	assert_int_equal(made_audit_differ(fns, false, fns, true, ""), 5);
	assert_int_equal(made_audit_differ(FNS(PRESENT("drv")), true, FNS(PRESENT("drv")), true, ""), 0);
}

TEST(the_worst_change_comes_first)
{
	differ(FNS({ "b" }, { "a" }, { "z", "cm" }, { "c", .hooks = FEXIT }),
	       FNS({ "b", .hooks = NO_HOOK }, { "z", "cm", .hooks = NO_HOOK }, { "c" }, { "a", .errnos = { EIO } }),
	       "critical lost-hook cm:z: " HOOKLESS "critical lost-hook drv:b: " HOOKLESS
	       "warning errnos drv:a: new in its code: EIO\n"
	       "warning hooks drv:c: no longer fexit, now also kprobe\n");
}

/* Without types or file, other functions are selected. */
TEST(modules_with_types_or_file_on_one_side_only_are_not_compared)
{
	static const bool unequal[][2] = { { true, false }, { false, true }, { true, true } };
	const struct made *was = FNS({ "open" }, { "check" }, { "map", "cm" }),
			  *is = FNS({ "open" }, { "verify" }, PRESENT("cm"));

	for (size_t i = 0; i < RD_ARRAY_SIZE(unequal); i++) {
		struct rd_audit_set a = made_audit(was, true), b = made_audit(is, true);

		a.modules[0].has_btf = unequal[i][0];
		a.modules[0].has_file = unequal[i][1];
		assert_int_equal(made_audit_compare(&a, &b, "warning removed cm:map\nunequal drv\n"), 1);
		assert_int_equal(made_audit_compare(&b, &a, "warning added cm:map\nunequal drv\n"), 0);
		rd_audit_set_deinit(&a);
		rd_audit_set_deinit(&b);
	}
}

TEST(modules_without_all_symbols_are_not_compared_nor_what_they_decide)
{
	const struct made *was = FNS({ "open", "drv", "check" }, { "close", "drv" }, { "check", "core", "map" },
				     { "map", "core" }, { "query", "core" }),
			  *is = FNS({ "open", "drv", "check", .stripped = true },
				    { "check", "core", "map", .rule = RD_RULE_NOT_REACHED },
				    { "map", "core", .rule = RD_RULE_DATA_PATH }, { "query", "core" });

	assert_int_equal(made_audit_differ(was, true, is, true, "stripped drv\n"), 3);
	assert_int_equal(made_audit_differ(is, true, was, true, "stripped drv\n"), 1);
	/* What is a matter of the function itself is known. */
	differ(was,
	       FNS({ "open", "drv", "check", .stripped = true }, { "check", "core", "map", .hooks = NO_HOOK },
		   { "map", "core" }, { "query", "core", .rule = RD_RULE_NOT_REACHED }),
	       "critical lost-hook core:check: " HOOKLESS
	       "warning left-out core:query: not reachable from a verb that changes something; no direct caller of it is watched\n"
	       "stripped drv\n");
}

TEST(a_call_that_goes_through_a_pointer_now_hides_the_function)
{
	const struct made *was = FNS({ "open", .calls = "check" }, { "check" });

	differ(was, FNS({ "open" }, { "check", .rule = RD_RULE_NOT_REACHED, .taken = true }),
	       "critical left-out drv:check: not reachable from a verb that changes something; no direct caller of it is watched\n");
	differ(was, FNS({ "open" }, { "check", .rule = RD_RULE_NOT_REACHED }),
	       "warning left-out drv:check: not reachable from a verb that changes something; no direct caller of it is watched\n");
	differ(FNS({ "open", .calls = "check" }, { "check", .taken = true }),
	       FNS({ "open" }, { "check", .rule = RD_RULE_NOT_REACHED, .taken = true }),
	       "warning left-out drv:check: not reachable from a verb that changes something; no direct caller of it is watched\n");
}

/* The set is selected without the new driver, and with it. */
TEST(what_new_modules_take_away_is_a_warning)
{
	_cleanup_(rd_audit_set_deinit) struct rd_audit_set was =
		made_audit(FNS({ "open", "core", "check" }, { "check", "core" }), true);
	_cleanup_(rd_audit_set_deinit) struct rd_audit_set is =
		made_audit(FNS({ "open", "core", "check" }, { "check", "core" }), true);
	struct rd_audit_set all =
		made_audit(FNS({ "open", "core", "check" }, { "check", "core", .rule = RD_RULE_DATA_PATH },
			       { "post", "new", "check", .rule = RD_RULE_DATA_PATH }),
			   true);

	is.all = &all;
	made_audit_compare(
		&was, &is,
		"warning left-out core:check: only where modules are loaded that the baseline lacks: runs on the data "
		"path: posting, polling, and the functions they call\n");
	rd_audit_set_deinit(&all);
}

TEST(a_module_with_most_functions_of_one_that_is_gone_is_that_one)
{
	struct rd_audit_set was =
		made_audit(FNS({ "a", "old" }, { "b", "old" }, { "c", "old" }, { "d", "core" }), true);
	_cleanup_(rd_audit_set_deinit) struct rd_audit_set is = made_audit(
		FNS({ "a", "new" }, { "b", "new" }, { "x", "new" }, { "a", "other" }, { "d", "core" }, { "d", "more" }),
		true);

	assert_true(rd_audit_is_renamed_module(&was, &is, "new"));
	assert_false(rd_audit_is_renamed_module(&was, &is, "other"));
	assert_false(rd_audit_is_renamed_module(&was, &is, "more"));
	assert_false(rd_audit_is_renamed_module(&was, &is, "absent"));
	rd_audit_set_deinit(&was);
}

/* Scripts match them. */
TEST(the_names_of_changes_stay)
{
	static const char *const names[] = { "lost-hook", "left-out",	   "inlined",	  "removed",
					     "renamed",	  "moved",	   "hooks",	  "errnos",
					     "added",	  "newly-reached", "module-gone", "module-new" };

	assert_int_equal(RD_ARRAY_SIZE(names), RD_CHANGES);
	for (int i = 0; i < RD_CHANGES; i++)
		assert_string_equal(rd_change_name((enum rd_audit_kind)i), names[i]);
}
