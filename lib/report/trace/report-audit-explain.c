// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "report/trace/report-audit.h"

enum column { EX_KERNEL, EX_FUNCTION, EX_MODULE, EX_SELECTED, EX_REASON, EX_HOOKS, EX_VIA, EX_PATH, EX_COLUMNS };

static const struct rd_column columns[EX_COLUMNS];
static const struct rd_column path_columns[1];

static char *name_hooks(uint8_t attachable)
{
	_cleanup_buf_ struct rd_buf out = { 0 };

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (attachable & 1u << b)
			rd_buf_printf(&out, "%s%s", out.len ? ", " : "", rd_backend_name((enum rd_backend)b));
	return rd_dup(out.len ? out.data : "none");
}

static void add_path(struct rd_report *report, struct rd_row *row, const struct rd_fnset *set,
		     const struct rd_audit_reason *why)
{
	struct rd_section *section = rd_section_create("path", path_columns, 1);
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < why->n_path; i++) {
		const char *name = set->fns[why->path[i]].name;

		rd_row_str(rd_section_add(section), 0, name);
		rd_buf_printf(&text, "%s%s", !i ? "" : why->gap ? " -> ... -> " : " -> ", name);
	}
	rd_row_str(row, EX_VIA, why->via);
	rd_row_sub(row, EX_PATH, section);
	if (why->via)
		rd_report_note(report, "called through: %s -> %s", why->via, text.data);
	else
		rd_report_note(report, "called through: no path of direct calls leads to it from a verb");
}

static void add_callers(struct rd_report *report, const struct rd_fnset *set, const struct rd_audit_reason *why)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (size_t i = 0; i < why->n_callers && i < RD_AUDIT_CALLERS_MAX; i++)
		rd_buf_printf(&text, "%s%s%s", i ? ", " : "", set->fns[why->callers[i]].name,
			      set->fns[why->callers[i]].selected ? "" : " (not watched)");
	if (why->n_callers > RD_AUDIT_CALLERS_MAX)
		rd_buf_printf(&text, " and %zu more", why->n_callers - RD_AUDIT_CALLERS_MAX);
	rd_report_note(report, "callers: %s", why->n_callers ? text.data : "none by a direct call");
}

static void add_errnos(struct rd_report *report, const struct rd_fn *fn)
{
	_cleanup_buf_ struct rd_buf text = { 0 };

	for (int code = 0; (code = rd_fn_next_errno(fn->loaded, code));)
		rd_buf_printf(&text, "%s%s", text.len ? ", " : "", rd_errno_name(code));
	if (fn->calls_known)
		rd_report_note(report, "errnos in its code: %s%s", text.len ? text.data : "none",
			       fn->indirect ? "; it also calls through pointers" : "");
}

static void add_here(struct rd_report *report, struct rd_section *section, const struct rd_fnset *set,
		     const struct rd_audit_reason *why)
{
	const struct rd_fn *fn = &set->fns[why->fn];
	struct rd_row *row = rd_section_add(section);
	_cleanup_free_ char *hooks = name_hooks(fn->attachable & set->backends);

	rd_row_str(row, EX_KERNEL, set->kernel);
	rd_row_str(row, EX_FUNCTION, fn->name);
	rd_row_str(row, EX_MODULE, set->modules[fn->module].name);
	rd_row_bool(row, EX_SELECTED, fn->selected);
	rd_row_str(row, EX_REASON, rd_rule_reason(fn->rule));
	rd_row_str(row, EX_HOOKS, hooks);
	add_path(report, row, set, why);
	add_callers(report, set, why);
	add_errnos(report, fn);
}

/* How the function is in a baseline: one row for each of that name. */
static void add_baseline(struct rd_section *section, const struct rd_audit_set *baseline, const char *name)
{
	bool any = false;

	for (size_t i = 0; i < baseline->n; i++) {
		const struct rd_audit_fn *fn = &baseline->fns[i];
		_cleanup_free_ char *hooks = NULL;
		struct rd_row *row;

		if (rd_fn_compare_bare(fn->function, name) || fn->rule == RD_RULE_COLD)
			continue;
		hooks = name_hooks(fn->attachable);
		row = rd_section_add(section);
		rd_row_str(row, EX_KERNEL, baseline->kernel);
		rd_row_str(row, EX_FUNCTION, fn->function);
		rd_row_str(row, EX_MODULE, fn->module);
		rd_row_bool(row, EX_SELECTED, fn->selected);
		rd_row_str(row, EX_REASON, rd_rule_reason(fn->rule));
		rd_row_str(row, EX_HOOKS, hooks);
		any = true;
	}
	if (any)
		return;
	rd_row_str(rd_section_add(section), EX_KERNEL, baseline->kernel);
	rd_row_str(&section->rows[section->n - 1], EX_REASON,
		   "no function of this name: it may be inlined into its callers");
}

void rd_report_audit_explain(struct rd_report *report, const struct rd_fnset *set, const char *name,
			     const struct rd_audit_reason *whys, size_t n_whys, const struct rd_audit_set *baselines,
			     size_t n_baselines)
{
	struct rd_section *section = rd_section_create("functions", columns, EX_COLUMNS);

	for (size_t i = 0; i < n_whys; i++)
		add_here(report, section, set, &whys[i]);
	for (size_t i = 0; i < n_baselines; i++)
		add_baseline(section, &baselines[i], name);
	if (!n_whys)
		report->headline =
			rd_text("%s: no function of this name in the RDMA modules of kernel %s: it may be inlined into "
				"its callers",
				name, set->kernel);
	rd_report_add(report, section);
	report->status = n_whys ? 0 : 3;
}

/* clang-format off */
static const struct rd_column columns[EX_COLUMNS] = {
	[EX_KERNEL] = { "kernel", "KERNEL", RD_T_STR, "release of the kernel", 0, false },
	[EX_FUNCTION] = { "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	[EX_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	[EX_SELECTED] = { "selected", "WATCHED", RD_T_BOOL, "whether it is watched", 0, false },
	[EX_REASON] = { "reason", "REASON", RD_T_STR, "why it is watched or left out", 0, false },
	[EX_HOOKS] = { "hooks", "HOOKS", RD_T_STR, "backends that can hook it", 0, false },
	[EX_VIA] = { "via", "VIA", RD_T_STR, "how the kernel calls the first function of the path", 0, true },
	[EX_PATH] = { "path", "PATH", RD_T_STRS, "calls that lead to it", 0, true },
};

static const struct rd_column path_columns[1] = {
	{ "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
};
/* clang-format on */
