// SPDX-License-Identifier: GPL-2.0-or-later

#include "report/trace/report-trace.h"

enum fn_column {
	FN_FUNCTION,
	FN_MODULE,
	FN_SELECTED,
	FN_REASON,
	FN_ROOTS,
	FN_VIA,
	FN_ATTACHABLE,
	FN_BACKEND,
	FN_SIZE,
	FN_ERRNOS,
	FN_CALLS,
	FN_OTHER,
	FN_TAKEN,
	FN_COLUMNS,
};
enum module_column {
	MOD_MODULE,
	MOD_VERSION,
	MOD_FUNCTIONS,
	MOD_SELECTED,
	MOD_BTF,
	MOD_FILE,
	MOD_UNNAMED,
	MOD_NOTE,
	MOD_COLUMNS
};

static const struct rd_column scalar_columns[1];
static const struct rd_column fn_columns[FN_COLUMNS];
static const struct rd_column root_columns[1];
static const struct rd_column backend_columns[1];
static const struct rd_column errno_columns[1];
static const struct rd_column call_columns[1];
static const struct rd_column module_columns[MOD_COLUMNS];

static struct rd_section *roots_of(const struct rd_fn *fn, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("roots", root_columns, 1);

	for (uint32_t i = 0; i < fn->n_roots; i++) {
		uint32_t root = fn->roots[i];

		if (root < set->n_roots && set->roots[root].fn < set->n_fns)
			rd_row_str(rd_section_add(section), 0, set->fns[set->roots[root].fn].name);
	}
	return section;
}

static struct rd_section *backends_of(const struct rd_fn *fn, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("attachable", backend_columns, 1);

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (fn->attachable & set->backends & 1u << b)
			rd_row_str(rd_section_add(section), 0, rd_backend_name(b));
	return section;
}

static struct rd_section *errnos_of(const struct rd_fn *fn)
{
	struct rd_section *section = rd_section_create("errnos", errno_columns, 1);

	for (int code = 0; (code = rd_fn_next_errno(fn->loaded, code));)
		rd_row_str(rd_section_add(section), 0, rd_errno_name(code));
	return section;
}

static struct rd_section *calls_of(const struct rd_fn *fn, const struct rd_fnset *set)
{
	struct rd_section *section = rd_section_create("calls", call_columns, 1);

	for (uint32_t i = 0; i < fn->n_calls; i++)
		rd_row_str(rd_section_add(section), 0, set->fns[fn->calls[i]].name);
	return section;
}

static void add_function(struct rd_section *section, const struct rd_fn *fn, const struct rd_fnset *set)
{
	struct rd_row *row = rd_section_add(section);
	_cleanup_free_ char *via = rd_fnset_via(set, (uint32_t)(fn - set->fns));

	rd_row_str(row, FN_FUNCTION, fn->name);
	if (fn->module < set->n_modules)
		rd_row_str(row, FN_MODULE, set->modules[fn->module].name);
	rd_row_bool(row, FN_SELECTED, fn->selected);
	rd_row_str(row, FN_REASON, rd_rule_name(fn->rule));
	rd_row_sub(row, FN_ROOTS, roots_of(fn, set));
	rd_row_str(row, FN_VIA, via);
	rd_row_sub(row, FN_ATTACHABLE, backends_of(fn, set));
	if (fn->backend != RD_BACKEND_NONE)
		rd_row_str(row, FN_BACKEND, rd_backend_name(fn->backend));
	if (!fn->size)
		return;
	rd_row_uint(row, FN_SIZE, fn->size);
	rd_row_sub(row, FN_ERRNOS, errnos_of(fn));
	rd_row_sub(row, FN_CALLS, calls_of(fn, set));
	rd_row_bool(row, FN_OTHER, fn->indirect || fn->outside);
	rd_row_bool(row, FN_TAKEN, fn->taken);
}

static void count_module(const struct rd_fnset *set, size_t module, uint64_t *all, uint64_t *selected)
{
	*all = *selected = 0;
	for (size_t i = 0; i < set->n_fns; i++) {
		if (set->fns[i].module != module)
			continue;
		++*all;
		*selected += set->fns[i].selected;
	}
}

static void add_module(struct rd_section *section, const struct rd_fnset *set, size_t module)
{
	struct rd_row *row = rd_section_add(section);
	uint64_t all, selected;

	count_module(set, module, &all, &selected);
	rd_row_str(row, MOD_MODULE, set->modules[module].name);
	rd_row_str(row, MOD_VERSION, set->modules[module].version);
	rd_row_uint(row, MOD_FUNCTIONS, all);
	rd_row_uint(row, MOD_SELECTED, selected);
	rd_row_bool(row, MOD_BTF, set->modules[module].has_btf);
	rd_row_bool(row, MOD_FILE, set->modules[module].file_matches);
	if (set->modules[module].file_matches)
		rd_row_uint(row, MOD_UNNAMED, set->modules[module].unnamed);
	rd_row_str(row, MOD_NOTE, set->modules[module].note);
}

void rd_report_trace_functions(struct rd_report *report, const struct rd_fnset *set, const bool *match)
{
	struct rd_section *fns = rd_section_create("functions", fn_columns, FN_COLUMNS);
	struct rd_section *modules = rd_section_create("modules", module_columns, MOD_COLUMNS);

	for (size_t i = 0; i < set->n_fns; i++)
		if (!match || match[i])
			add_function(fns, &set->fns[i], set);
	for (size_t i = 0; i < set->n_modules; i++)
		add_module(modules, set, i);
	rd_report_add(report, fns);
	rd_report_add(report, modules);
}

void rd_report_trace_list(struct rd_report *report, const struct rd_fnset *set, const bool *match)
{
	report->scalars = rd_section_create("list", scalar_columns, 1);
	rd_row_str(rd_section_add(report->scalars), 0, set->kernel);
	rd_report_trace_functions(report, set, match);
}

/* clang-format off */
static const struct rd_column scalar_columns[1] = {
	{ "kernel", "KERNEL", RD_T_STR, "release of the running kernel", 0, false },
};

static const struct rd_column fn_columns[FN_COLUMNS] = {
	[FN_FUNCTION] = { "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	[FN_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	[FN_SELECTED] = { "selected", "SELECTED", RD_T_BOOL, "selected for tracing", 0, false },
	[FN_REASON] = { "reason", "REASON", RD_T_STR, "rule that selects it or leaves it out", 0, false },
	[FN_ROOTS] = { "roots", "ROOTS", RD_T_STRS, "entry points that lead to it", 0, true },
	[FN_VIA] = { "via", "VIA", RD_T_STR, "how the kernel calls it, other than from functions listed here", 0, true },
	[FN_ATTACHABLE] = { "attachable", "ATTACHABLE", RD_T_STRS, "backends that can hook it", 0, false },
	[FN_BACKEND] = { "backend", "BACKEND", RD_T_STR, "backend it is hooked by", 0, true },
	[FN_SIZE] = { "size_bytes", "SIZE", RD_T_UINT, "size of its code", 0, true },
	[FN_ERRNOS] = { "errnos", "ERRNOS", RD_T_STRS, "errnos that its code loads as constants", 0, true },
	[FN_OTHER] = { "other_calls", "OTHER-CALLS", RD_T_BOOL, "it also calls functions of the kernel image, or through pointers", 0, true },
	[FN_TAKEN] = { "address_taken", "ADDRESS-TAKEN", RD_T_BOOL, "code or a table holds its address: it may be called through a pointer", 0, true },
	[FN_CALLS] = { "calls", "CALLS", RD_T_STRS, "functions it calls that may return an errno", 0, true },
};

static const struct rd_column errno_columns[1] = {
	{ "errno", "ERRNO", RD_T_STR, "errno", 0, false },
};

static const struct rd_column call_columns[1] = {
	{ "function", "FUNCTION", RD_T_STR, "function", 0, false },
};

static const struct rd_column root_columns[1] = {
	{ "root", "ROOT", RD_T_STR, "entry point", 0, false },
};

static const struct rd_column backend_columns[1] = {
	{ "backend", "BACKEND", RD_T_STR, "backend", 0, false },
};

static const struct rd_column module_columns[MOD_COLUMNS] = {
	[MOD_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module", 0, false },
	[MOD_VERSION] = { "version", "VERSION", RD_T_STR, "version of the module", 0, false },
	[MOD_FUNCTIONS] = { "functions", "FUNCTIONS", RD_T_UINT, "functions of the module", 0, false },
	[MOD_SELECTED] = { "selected", "SELECTED", RD_T_UINT, "functions selected for tracing", 0, false },
	[MOD_BTF] = { "btf", "BTF", RD_T_BOOL, "has type information (BTF)", 0, false },
	[MOD_FILE] = { "file_matches", "FILE", RD_T_BOOL, "module file on disk has the build-id of the loaded module", 0, false },
	[MOD_UNNAMED] = { "unnamed_functions", "UNNAMED", RD_T_UINT, "functions whose symbols were removed from the module file", 0, true },
	[MOD_NOTE] = { "note", "NOTE", RD_T_STR, "what is missing, and the consequence", 0, false },
};
/* clang-format on */
