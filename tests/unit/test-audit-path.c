/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a function is watched, and what a baseline keeps of a selection. */
#include "unit.h"

#include "analyse/trace/audit.h"

#define CALLS(...) .calls = (uint32_t[]){ __VA_ARGS__ }, .n_calls = RD_ARRAY_SIZE(((uint32_t[]){ __VA_ARGS__ }))
#define ROOTS(...) .roots = (uint32_t[]){ __VA_ARGS__ }, .n_roots = RD_ARRAY_SIZE(((uint32_t[]){ __VA_ARGS__ }))

static struct rd_module modules[] = { { .name = "core", .has_btf = true, .file_matches = true }, { .name = "drv" } };

/* "VIA: PATH | CALLERS", functions by name; "…": through functions that are not in the path. */
static void assert_reason(const struct rd_fnset *set, const struct rd_audit_reason *reason, const char *expected)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_buf_printf(&out, "%s:", reason->via ? reason->via : "no verb");
	for (size_t i = 0; i < reason->n_path; i++)
		rd_buf_printf(&out, "%s %s", i == 1 && reason->gap ? " …" : "", set->fns[reason->path[i]].name);
	rd_buf_printf(&out, " | %zu:", reason->n_callers);
	for (size_t i = 0; i < reason->n_callers && i < RD_AUDIT_CALLERS_MAX; i++)
		rd_buf_printf(&out, " %s", set->fns[reason->callers[i]].name);
	assert_string_equal(out.data, expected);
}

static void assert_reasons(const struct rd_fnset *set, const char *name, size_t n, const char *const *expected)
{
	_cleanup_free_ struct rd_audit_reason *reasons;

	assert_int_equal(rd_audit_reasons(set, name, &reasons), n);
	for (size_t i = 0; i < n; i++)
		assert_reason(set, &reasons[i], expected[i]);
}

static struct rd_fn fns[] = {
	{ .name = "ioctl", CALLS(1, 2), ROOTS(1, 0) },
	{ .name = "create", CALLS(2, 3, 4), ROOTS(0) },
	{ .name = "check.isra.0", CALLS(4), ROOTS(0) },
	{ .name = "walk", CALLS(3, 1), ROOTS(0, 1) },
	{ .name = "map", .module = 1, ROOTS(0, 1) },
	{ .name = "notify", .module = 1, ROOTS(1) },
	{ .name = "check", .module = 1 },
	{ .name = "check.cold", .module = 1, .rule = RD_RULE_COLD, CALLS(4) },
	{ .name = "reg_mr", .module = 1, CALLS(3), ROOTS(1) },
};
static struct rd_root roots[] = { { .fn = 0, .via = "ioctl handler" }, { .fn = 8, .via = "ib_device_ops.reg_user_mr" } };
static const struct rd_fnset set = {
	.kernel = "9.9",
	.modules = modules,
	.n_modules = RD_ARRAY_SIZE(modules),
	.fns = fns,
	.n_fns = RD_ARRAY_SIZE(fns),
	.roots = roots,
	.n_roots = RD_ARRAY_SIZE(roots),
};

TEST(a_shortest_path_from_the_nearest_verb_is_shown)
{
	assert_reasons(&set, "ioctl", 1, (const char *[]){ "ioctl handler: ioctl | 0:" });
	assert_reasons(&set, "map", 1,
		       (const char *[]){ "ioctl handler: ioctl create map | 3: create check.isra.0 check.cold" });
	assert_reasons(&set, "walk", 1,
		       (const char *[]){ "ib_device_ops.reg_user_mr: reg_mr walk | 3: create walk reg_mr" });
}

TEST(all_functions_of_a_name_are_shown_whatever_their_suffix)
{
	static const char *const both[] = { "ioctl handler: ioctl check.isra.0 | 2: ioctl create", "no verb: | 0:" };
	struct rd_audit_reason *reasons;

	assert_reasons(&set, "check", 2, both);
	assert_reasons(&set, "check.constprop.7", 2, both);
	assert_int_equal(rd_audit_reasons(&set, "chec", &reasons), 0);
	assert_null(reasons);
	assert_int_equal(rd_audit_reasons(&(struct rd_fnset){ 0 }, "check", &reasons), 0);
}

/* Called through a function that returns no errno, which is in no `calls`. */
TEST(a_path_with_a_gap_has_only_its_ends)
{
	assert_reasons(&set, "notify", 1, (const char *[]){ "ib_device_ops.reg_user_mr: reg_mr … notify | 0:" });
}

TEST(long_paths_and_many_callers_are_cut)
{
	static struct rd_fn chain[RD_AUDIT_PATH_MAX + 20];
	static uint32_t to[RD_AUDIT_PATH_MAX + 20][2], first_root;
	struct rd_root root = { .fn = 0, .via = "ioctl handler" };
	const size_t n = RD_ARRAY_SIZE(chain);
	const struct rd_fnset made = {
		.modules = modules, .n_modules = 1, .fns = chain, .n_fns = n, .roots = &root, .n_roots = 1
	};
	struct rd_audit_reason *reasons;

	for (uint32_t i = 0; i < n; i++) {
		to[i][0] = i + 1;
		to[i][1] = 0;
		chain[i] = (struct rd_fn){ .name = i + 1 < n ? "link" : "last",
					   .calls = to[i],
					   .n_calls = i + 1 < n ? 2 : 0,
					   .roots = &first_root,
					   .n_roots = 1 };
	}
	chain[0].name = "first";
	assert_int_equal(rd_audit_reasons(&made, "last", &reasons), 1);
	assert_int_equal(reasons[0].n_path, RD_AUDIT_PATH_MAX);
	assert_int_equal(reasons[0].path[RD_AUDIT_PATH_MAX - 1], RD_AUDIT_PATH_MAX - 1);
	free(reasons);
	assert_int_equal(rd_audit_reasons(&made, "first", &reasons), 1);
	assert_int_equal(reasons[0].n_callers, n - 1);
	assert_int_equal(reasons[0].callers[RD_AUDIT_CALLERS_MAX - 1], RD_AUDIT_CALLERS_MAX - 1);
	free(reasons);
}

TEST(a_baseline_keeps_what_is_compared)
{
	struct rd_module kept[] = { { .name = "core", .has_btf = true }, { .name = "drv", .file_matches = true } };
	struct rd_fn two[] = {
		{ .name = "open", CALLS(1, 0), .selected = true, .rule = RD_RULE_ENTRY, .attachable = 6, .size = 77 },
		{ .name = "map",
		  .module = 1,
		  .rule = RD_RULE_QUERY,
		  .loaded = { 1ull << ENOMEM, 1ull << (ETIMEDOUT - 64) } },
	};
	const struct rd_fnset from = {
		.kernel = "9.9", .backends = UINT8_MAX, .modules = kept, .n_modules = 2, .fns = two, .n_fns = 2
	};
	struct rd_audit_set taken;

	rd_audit_take(&from, true, &taken);
	ASSERT_EACH(READS(taken.kernel, "9.9"), IS(taken.complete, true), IS(taken.n, 2));
	ASSERT_EACH(READS(taken.fns[0].function, "open"), READS(taken.fns[0].module, "core"),
		    IS(taken.fns[0].selected, true), IS(taken.fns[0].rule, RD_RULE_ENTRY),
		    IS(taken.fns[0].attachable, 6), IS(taken.fns[0].size, 77), IS(taken.fns[0].n_calls, 2));
	ASSERT_EACH(READS(taken.fns[0].calls[0], "map"), READS(taken.fns[0].calls[1], "open"),
		    READS(taken.fns[1].module, "drv"), IS(taken.fns[1].selected, false),
		    IS(taken.fns[1].rule, RD_RULE_QUERY));
	assert_memory_equal(taken.fns[1].errnos, two[1].loaded, sizeof(two[1].loaded));
	assert_int_equal(taken.n_modules, 2);
	ASSERT_EACH(IS(taken.modules[0].has_btf && !taken.modules[0].has_file, true),
		    IS(!taken.modules[1].has_btf && taken.modules[1].has_file, true),
		    IS(rd_audit_module_find(&taken, "drv"), 1), IS(rd_audit_module_find(&taken, "dr"), -1));
	rd_audit_set_deinit(&taken);
	rd_audit_take(&(struct rd_fnset){ 0 }, false, &taken);
	ASSERT_EACH(READS(taken.kernel, ""), IS(taken.complete, false), IS(taken.n + taken.n_modules, 0));
	rd_audit_set_deinit(&taken);
}
