/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "analyse/trace/audit.h"
#include "made-audit.h"

static void make_calls(struct rd_audit_fn *fn, const char *calls)
{
	size_t n;

	fn->calls = rd_alloc(16, sizeof(*fn->calls));
	for (; calls && *calls; calls += n + (calls[n] == ' ')) {
		n = strcspn(calls, " ");
		assert_true(fn->n_calls < 16);
		fn->calls[fn->n_calls++] = rd_dup_part(calls, n);
	}
}

struct rd_audit_set made_audit(const struct made *made, bool complete)
{
	struct rd_audit_set set = { .kernel = rd_dup("9.9"), .complete = complete };

	set.fns = rd_alloc(64, sizeof(*set.fns));
	set.modules = rd_alloc(64, sizeof(*set.modules));
	for (; made->name; made++) {
		struct rd_audit_fn *fn = &set.fns[set.n++];

		assert_true(set.n < 64);
		*fn = (struct rd_audit_fn){ .function = rd_dup(made->name),
					    .module = rd_dup(made->module ? made->module : "drv"),
					    .rule = made->rule,
					    .selected = made->rule <= RD_RULE_ENTRY,
					    .attachable = made->hooks == NO_HOOK ? 0 :
							  made->hooks		 ? made->hooks :
										   KPROBE,
					    .other_calls = true,
					    .root = made->root || made->via,
					    .via = rd_dup_if(made->via),
					    .taken = made->taken,
					    .size = made->size ? made->size : 100 };
		make_calls(fn, made->calls);
		for (size_t i = 0; i < RD_ARRAY_SIZE(made->errnos) && made->errnos[i]; i++)
			fn->errnos[made->errnos[i] / 64] |= 1ull << made->errnos[i] % 64;
		if (rd_audit_module_find(&set, fn->module) < 0)
			set.modules[set.n_modules++].name = rd_dup(fn->module);
		if (made->stripped)
			set.modules[rd_audit_module_find(&set, fn->module)].stripped = true;
	}
	return set;
}

static void write_changes(const struct rd_audit *audit, struct rd_buf *out)
{
	rd_buf_str(out, "");
	for (size_t i = 0; i < audit->n; i++) {
		const struct rd_audit_change *c = &audit->v[i];

		rd_buf_printf(out, "%s %s %s:%s", rd_severity_name(c->severity), rd_change_name(c->change), c->module,
			      c->function ? c->function : "");
		if (c->new_function || c->new_module)
			rd_buf_printf(out, " -> %s:%s", c->new_module ? c->new_module : "=",
				      c->new_function ? c->new_function : "=");
		rd_buf_printf(out, "%s%s\n", c->detail ? ": " : "", c->detail ? c->detail : "");
	}
	for (size_t i = 0; i < audit->missing.n; i++)
		rd_buf_printf(out, "missing %s\n", audit->missing.v[i]);
	for (size_t i = 0; i < audit->unequal.n; i++)
		rd_buf_printf(out, "unequal %s\n", audit->unequal.v[i]);
	for (size_t i = 0; i < audit->stripped.n; i++)
		rd_buf_printf(out, "stripped %s\n", audit->stripped.v[i]);
}

size_t made_audit_compare(const struct rd_audit_set *was, const struct rd_audit_set *is, const char *expected)
{
	_cleanup_(rd_audit_deinit) struct rd_audit audit = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };

	rd_audit_compare(was, is, &audit);
	write_changes(&audit, &out);
	assert_string_equal(out.data, expected);
	return audit.compared;
}

size_t made_audit_differ(const struct made *was, bool was_complete, const struct made *is, bool is_complete,
			 const char *expected)
{
	struct rd_audit_set a = made_audit(was, was_complete), b = made_audit(is, is_complete);
	size_t compared = made_audit_compare(&a, &b, expected);

	rd_audit_set_deinit(&a);
	rd_audit_set_deinit(&b);
	return compared;
}
