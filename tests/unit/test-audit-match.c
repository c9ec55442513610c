/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function of one kernel is which of another, where the name alone does not say so. */
#include "unit.h"

#include "made-audit.h"

TEST(a_function_with_the_same_callers_calls_and_errnos_is_renamed)
{
	static const char removed[] = "warning removed drv:check: removed, or replaced by verify\n"
				      "warning added drv:verify\n";
	const struct made *was =
		FNS({ "open", .calls = "check" }, { "map" }, { "check", .calls = "map", .errnos = { EIO } });

	differ(was,
	       FNS({ "open", .calls = "verify" }, { "map" },
		   { "verify", .calls = "map", .errnos = { EIO }, .size = 128 }),
	       "warning renamed drv:check -> =:verify: verify now: it has the same callers, calls, errnos and about the same "
	       "size\n");
	differ(was,
	       FNS({ "open", .calls = "verify" }, { "map" },
		   { "verify", .calls = "map", .errnos = { EIO }, .size = 129 }),
	       removed);
	differ(was, FNS({ "open", .calls = "verify" }, { "map" }, { "verify", .calls = "map", .errnos = { ENXIO } }),
	       removed);
	differ(was, FNS({ "open", .calls = "verify" }, { "map" }, { "verify", .errnos = { EIO } }), removed);
	differ(was, FNS({ "open" }, { "map" }, { "verify", .calls = "map", .errnos = { EIO } }),
	       "warning removed drv:check: removed or inlined; its callers are watched: open\n"
	       "warning added drv:verify\n");
	/* Without a caller, such as a callback, it is too little known. */
	differ(FNS({ "check" }), FNS({ "verify" }),
	       "warning removed drv:check\n"
	       "warning added drv:verify\n");
}

TEST(a_function_with_other_callers_or_calls_is_not_renamed)
{
	static const char removed[] = "warning removed drv:check: removed, or replaced by verify\n"
				      "warning added drv:verify\n";
	const struct made *was = FNS({ "open", .calls = "check" }, { "close" }, { "check", .calls = "map" }, { "map" },
				     { "pin", .calls = "unpin" }, { "unpin" });

	differ(was,
	       FNS({ "open", .calls = "verify" }, { "close", .calls = "verify" }, { "verify", .calls = "map" },
		   { "map" }, { "pin", .calls = "unpin" }, { "unpin" }),
	       removed);
	differ(was,
	       FNS({ "open", .calls = "verify" }, { "close" }, { "verify", .calls = "unpin" }, { "map" },
		   { "pin", .calls = "unpin" }, { "unpin" }),
	       removed);
	/* What was not watched has no history. */
	differ(FNS({ "open", .calls = "check" }, { "check", .calls = "map", .rule = RD_RULE_RETURN }, { "map" }),
	       FNS({ "open", .calls = "verify" }, { "verify", .calls = "map" }, { "map" }),
	       "warning added drv:verify\n");
	/* Callers and calls of other modules. */
	differ(FNS({ "open", .calls = "check" }, { "check", "core", "map.isra.0" }, { "map" }, { "map.isra.0" }),
	       FNS({ "open", .calls = "verify" }, { "verify", "core", "map.isra.0" }, { "map" }, { "map.isra.0" }),
	       "warning renamed core:check -> =:verify: verify now: it has the same callers, calls, errnos and about the same "
	       "size\n");
	differ(FNS({ "open", .calls = "check" }, { "check", "core", "map.isra.0" }, { "map" }, { "map.isra.0" }),
	       FNS({ "open", .calls = "verify" }, { "verify", "core", "map" }, { "map" }, { "map.isra.0" }),
	       "warning removed core:check: removed, or replaced by verify\n"
	       "warning added core:verify\n");
}

TEST(what_could_be_one_of_two_is_not_called_renamed_or_moved)
{
	differ(FNS({ "open", .calls = "check" }, { "map" }, { "check", .calls = "map" }),
	       FNS({ "open", .calls = "verify test" }, { "map" }, { "verify", .calls = "map" },
		   { "test", .calls = "map" }),
	       "warning removed drv:check: removed, or replaced by verify\n"
	       "warning added drv:test\n"
	       "warning added drv:verify\n");
	differ(FNS({ "open", .calls = "check probe" }, { "map" }, { "check", .calls = "map" },
		   { "probe", .calls = "map" }),
	       FNS({ "open", .calls = "verify" }, { "map" }, { "verify", .calls = "map" }),
	       "warning removed drv:check: removed, or replaced by verify\n"
	       "warning removed drv:probe: removed, or replaced by verify\n"
	       "warning added drv:verify\n");
	differ(FNS({ "check" }, PRESENT("core"), PRESENT("cm")),
	       FNS(PRESENT("drv"), { "check", "core" }, { "check", "cm" }),
	       "warning added cm:check\n"
	       "warning added core:check\n"
	       "warning removed drv:check\n");
	differ(FNS({ "check" }, { "check", "cm" }, PRESENT("core")),
	       FNS(PRESENT("drv"), PRESENT("cm"), { "check", "core" }),
	       "warning removed cm:check\n"
	       "warning added core:check\n"
	       "warning removed drv:check\n");
}

TEST(a_function_in_another_module_moved)
{
	differ(FNS({ "check" }, PRESENT("core")), FNS(PRESENT("drv"), { "check", "core" }),
	       "warning moved drv:check -> core:=: in module core now\n");
	differ(FNS({ "check" }, PRESENT("core")), FNS(PRESENT("drv"), { "check.isra.0", "core" }),
	       "warning renamed drv:check -> core:check.isra.0: check.isra.0 now: renamed by the compiler\n");
	made_audit_differ(FNS({ "check" }, PRESENT("core")), false, FNS(PRESENT("drv"), { "check", "core" }), false,
			  "warning moved drv:check -> core:=: in module core now\n");
	/* The module was not loaded there, so it may have had a function of that name all along. */
	made_audit_differ(FNS({ "check" }), false, FNS(PRESENT("drv"), { "check", "core" }), true,
			  "warning removed drv:check\n");
	/* The module is not loaded here, so its function may still be in it. */
	made_audit_differ(FNS({ "check" }, PRESENT("core")), true, FNS({ "check", "core" }), false,
			  "warning added core:check\n"
			  "missing drv\n");
}

TEST(functions_of_the_same_name_are_those_of_their_modules)
{
	const struct made *was = FNS({ "open", .calls = "check" }, { "check", .calls = "map", .errnos = { EIO } },
				     { "map" }, { "open", "cm", "check" },
				     { "check", "cm", "map", .errnos = { ENXIO } }, { "map", "cm" });

	differ(was, was, "");
	differ(was,
	       FNS({ "open", .calls = "map" }, { "map" }, { "open", "cm", "check" },
		   { "check", "cm", "map", .errnos = { ENXIO } }, { "map", "cm" }),
	       "warning inlined drv:check: its callers take over: open\n");
	/* Two in one module. */
	differ(FNS({ "check" }, { "check" }), FNS({ "check" }, { "check" }), "");
	differ(FNS({ "check" }, { "check" }), FNS({ "check" }), "warning removed drv:check\n");
}

TEST(of_two_functions_of_one_name_the_one_that_is_gone_is_found)
{
	const struct made *was =
		FNS({ "open", .calls = "check" }, { "check", .errnos = { EIO } }, { "check", .errnos = { ENXIO } });

	differ(was, FNS({ "open", .calls = "check" }, { "check", .errnos = { ENXIO } }),
	       "warning removed drv:check: removed or inlined; its callers are watched: open\n");
	/* Both callers may mean it. */
	differ(was,
	       FNS({ "open", .calls = "check" }, { "check", .errnos = { EIO } },
		   { "check", .errnos = { ENXIO }, .rule = RD_RULE_COMMON, .hooks = NO_HOOK }),
	       "critical lost-hook drv:check: the kernel does not let it be hooked: notrace, or an out-of-line copy of an inline "
	       "function; its failures are shown as those of open\n");
}

TEST(a_function_of_another_module_with_the_same_name_alone_did_not_move)
{
	differ(FNS({ "open", .calls = "check" }, { "check", .errnos = { EIO } }, PRESENT("core")),
	       FNS({ "open" }, PRESENT("core"), { "check", "core", .errnos = { ENXIO } }),
	       "warning added core:check\n"
	       "warning removed drv:check: removed or inlined; its callers are watched: open\n");
	differ(FNS({ "open", .calls = "check" }, { "check" }, PRESENT("core")),
	       FNS({ "open" }, PRESENT("core"), { "check", "core", .size = 200 }),
	       "warning added core:check\n"
	       "warning removed drv:check: removed or inlined; its callers are watched: open\n");
	/* The same caller, or the same call. */
	differ(FNS({ "open", .calls = "check" }, { "check", .errnos = { EIO } }, PRESENT("core")),
	       FNS({ "open", .calls = "check" }, PRESENT("core"), { "check", "core", .errnos = { ENXIO } }),
	       "warning moved drv:check -> core:=: in module core now\n"
	       "warning errnos drv:check -> core:=: new in its code: ENXIO; no longer: EIO\n");
	differ(FNS({ "check", .calls = "map", .errnos = { EIO } }, { "map", "core" }),
	       FNS(PRESENT("drv"), { "map", "core" }, { "check", "core", "map", .errnos = { EIO }, .size = 900 }),
	       "warning moved drv:check -> core:=: in module core now\n");
}

TEST(what_the_kernel_calls_for_the_same_verb_is_renamed)
{
	const struct made *was = FNS({ "old_reg", .via = "ops.reg_mr" }, { "create", .via = "ops.create_qp" });

	differ(was, FNS({ "create", .via = "ops.create_qp" }, { "new_reg", .via = "ops.reg_mr", .size = 900 }),
	       "warning renamed drv:old_reg -> =:new_reg: new_reg now: the kernel calls it instead, by ops.reg_mr\n");
	differ(was,
	       FNS({ "create", .via = "ops.create_qp" },
		   { "new_reg", .via = "ops.reg_mr", .rule = RD_RULE_COMMON, .hooks = NO_HOOK }),
	       "critical lost-hook drv:old_reg -> =:new_reg: the kernel does not let it be hooked: notrace, or an out-of-line "
	       "copy of an inline function; no direct caller of it is watched\n");
	/* Of another verb, of another module, or one of two. */
	differ(was, FNS({ "create", .via = "ops.create_qp" }, { "new_reg", .via = "ops.dereg_mr" }),
	       "warning added drv:new_reg\n"
	       "warning removed drv:old_reg\n");
	differ(was, FNS({ "create", .via = "ops.create_qp" }, { "new_reg", "core", .via = "ops.reg_mr" }),
	       "warning module-new core:: 1 functions of it are watched\n"
	       "warning removed drv:old_reg\n");
	differ(was,
	       FNS({ "create", .via = "ops.create_qp" }, { "new_reg", .via = "ops.reg_mr" },
		   { "other_reg", .via = "ops.reg_mr" }),
	       "warning added drv:new_reg\n"
	       "warning removed drv:old_reg\n"
	       "warning added drv:other_reg\n");
}

TEST(suffixes_of_the_compiler_make_no_other_function)
{
	differ(FNS({ "check.isra.0" }), FNS({ "check.constprop.0" }),
	       "warning renamed drv:check.isra.0 -> =:check.constprop.0: check.constprop.0 now: renamed by the compiler\n");
	differ(FNS({ "check" }, { "check.part.0" }), FNS({ "check.part.0" }, { "check" }), "");
	differ(FNS({ "check.isra.0" }, { "check" }), FNS({ "check" }), "warning removed drv:check.isra.0\n");
	/* The name of another function that begins the same. */
	differ(FNS({ "check.isra.0" }), FNS({ "check_all.isra.0" }),
	       "warning removed drv:check.isra.0\n"
	       "warning added drv:check_all.isra.0\n");
	/* A cold part comes and goes with the optimizer, and is not the function. */
	differ(FNS({ "check" }, { "check.cold", .rule = RD_RULE_COLD }), FNS({ "check" }), "");
	differ(FNS({ "check" }), FNS({ "check" }, { "check.cold", .rule = RD_RULE_COLD }), "");
	differ(FNS({ "check" }, { "check.cold", .rule = RD_RULE_COLD }), FNS({ "check.cold", .rule = RD_RULE_COLD }),
	       "warning removed drv:check\n");
}
