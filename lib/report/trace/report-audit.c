// SPDX-License-Identifier: GPL-2.0-or-later
/* The output of trace-errno --audit. */

#include "base/buf.h"
#include "report/trace/report-trace.h"

/* clang-format off */
static const struct rd_column scalar_columns[] = {
	{ "kernel", "KERNEL", RD_T_STR, "release of the kernel", 0, false },
	{ "baseline", "BASELINE", RD_T_STR, "release of the kernel of the baseline", 0, false },
	{ "complete", "COMPLETE", RD_T_BOOL, "all RDMA modules of the kernel, not only those that are loaded", 0, false },
	{ "compared", "COMPARED", RD_T_UINT, "functions that are watched on the baseline and were compared", 0, false },
};

static const struct rd_column change_columns[] = {
	{ "change", "CHANGE", RD_T_STR, "what changed: lost-hook, left-out, inlined, removed, renamed, moved, hooks, errnos, added, newly-reached, module-gone, module-new", 0, false },
	{ "severity", "SEVERITY", RD_T_STR, "critical: an origin of errors is no longer visible", 0, false },
	{ "function", "FUNCTION", RD_T_STR, "kernel function, as in the baseline", 0, false },
	{ "module", "MODULE", RD_T_STR, "kernel module, as in the baseline", 0, false },
	{ "new_function", "NEW-FUNCTION", RD_T_STR, "its new name", 0, true },
	{ "new_module", "NEW-MODULE", RD_T_STR, "its new module", 0, true },
	{ "detail", "DETAIL", RD_T_STR, "callers, hooks or errnos", 0, false },
};

static const struct rd_column name_columns[] = {
	{ "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	{ "module", "MODULE", RD_T_STR, "kernel module", 0, false },
};

static const struct rd_column explain_columns[] = {
	{ "kernel", "KERNEL", RD_T_STR, "release of the kernel", 0, false },
	{ "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	{ "module", "MODULE", RD_T_STR, "kernel module it belongs to", 0, false },
	{ "selected", "WATCHED", RD_T_BOOL, "whether it is watched", 0, false },
	{ "reason", "REASON", RD_T_STR, "why it is watched or left out", 0, false },
	{ "hooks", "HOOKS", RD_T_STR, "backends that can hook it", 0, false },
	{ "via", "VIA", RD_T_STR, "how the kernel calls the first function of the path", 0, true },
	{ "path", "PATH", RD_T_STRS, "calls that lead to it", 0, true },
};

static const struct rd_column path_columns[] = {
	{ "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
};

static const struct rd_column probe_columns[] = {
	{ "call", "CALL", RD_T_STR, "what was called to fail", 0, false },
	{ "errno", "ERRNO", RD_T_STR, "the error of the call", 0, false },
	{ "result", "RESULT", RD_T_STR, "seen, other-origin, not-seen, did-not-fail, not-tried", 0, false },
	{ "origin", "ORIGIN", RD_T_STR, "kernel function that the trace shows as origin", 0, false },
	{ "module", "MODULE", RD_T_STR, "its module", 0, false },
	{ "origin_exact", "EXACT", RD_T_BOOL, "false: at or below this function", 0, false },
	{ "expected", "EXPECTED", RD_T_STR, "origin in the baseline", 0, false },
	{ "verb", "VERB", RD_T_STR, "the verb", 0, true },
};
/* clang-format on */

/* Findings of one kind; all are in the section `changes`. */
#define FINDINGS_MAX 20
#define MODULES_MAX 10

/* Changes that make an origin invisible. */
static const struct text {
	const char *id, *title, *why, *fix;
} texts[RD_CHANGES] = {
	[RD_CHANGE_LOST_HOOK] = { "origin-not-hookable", "A function that returns errors can no longer be hooked",
				  "Its errors are reported with a caller as the origin, which hides their cause.",
				  "ask the author of this kernel or driver why the function is notrace or inline" },
	[RD_CHANGE_LEFT_OUT] = { "origin-not-watched", "A function that returns errors is no longer watched",
				 "It exists, but the selection leaves it out: its errors are reported with a caller as the origin.",
				 "its callers are the origin that trace-errno shows for its errors" },
	[RD_CHANGE_INLINED] = { "origin-inlined", "A function was inlined, and none of its callers is watched",
				"Its errors have no origin that is hooked.",
				"the entry point of the verb is the origin that trace-errno shows for its errors" },
};

/* `files`: of a kernel that was given by files. */
static void add_findings(struct rd_report *report, const struct rd_audit *audit, bool files)
{
	size_t n[RD_CHANGES] = { 0 };

	for (size_t i = 0; i < audit->n; i++) {
		const struct rd_audit_change *change = &audit->v[i];
		const struct text *text = &texts[change->change];
		struct rd_finding finding = {
			.id = text->id, .title = text->title, .why = text->why, .severity = change->severity
		};

		if (change->severity != RD_SEV_CRITICAL || !text->id || n[change->change]++ >= FINDINGS_MAX)
			continue;
		finding.subject = rd_text("%s [%s]", change->function, change->module);
		finding.observed = rd_dup_if(change->detail);
		finding.expected = rd_dup("watched, as in the baseline");
		finding.fix = rd_text("%srdmadiag trace-errno --audit --explain %s%s\n# %s", files ? "# " : "",
				      change->function,
				      files ? ", with the files of that kernel, shows the reason" : "", text->fix);
		rd_finding_add(&report->findings, &finding);
	}
}

static void note_modules(struct rd_report *report, const struct rd_texts *modules, const char *why)
{
	_cleanup_buf_ struct rd_buf names = { 0 };

	for (size_t i = 0; i < modules->n && i < MODULES_MAX; i++)
		rd_buf_printf(&names, "%s%s", i ? ", " : "", modules->v[i]);
	if (modules->n > MODULES_MAX)
		rd_buf_printf(&names, " and %zu more", modules->n - MODULES_MAX);
	if (modules->n)
		rd_report_note(report, "not compared, because %s: %s", why, names.data);
}

static void conclude(struct rd_report *report, const struct rd_audit_set *now, const struct rd_audit_set *baseline,
		     const struct rd_audit *audit)
{
	size_t lost = 0, uncompared = audit->unequal.n + audit->stripped.n;

	for (size_t i = 0; i < audit->n; i++)
		lost += audit->v[i].severity == RD_SEV_CRITICAL;
	/* Out-of-tree drivers have a version. */
	for (size_t i = 0; i < now->n_modules; i++) {
		const struct rd_audit_module *is = &now->modules[i];
		int m = rd_audit_module_find(baseline, is->name);
		const char *was = m < 0 ? NULL : baseline->modules[m].version;

		if (was && is->version && strcmp(was, is->version) != 0)
			rd_report_note(report, "module %s: version %s, in the baseline %s", is->name, is->version, was);
	}
	note_modules(report, &audit->missing, "they are not loaded here");
	note_modules(report, &audit->unequal,
		     "type information (BTF) or module files were available for only one of the two kernels");
	note_modules(report, &audit->stripped,
		     "symbols of functions were removed from the file on one of the two kernels");
	if (!audit->compared) {
		report->headline =
			rd_text("nothing compared: kernel %s and the baseline (%s) have no comparable modules",
				now->kernel, baseline->kernel);
		report->status = 3;
	} else if (lost) {
		report->headline = rd_text(
			"%zu of %zu functions can no longer be shown as the origin of an error on kernel %s "
			"(baseline: %s); %zu difference%s in all",
			lost, audit->compared, now->kernel, baseline->kernel, audit->n, audit->n == 1 ? "" : "s");
		report->status = 2;
	} else if (audit->n) {
		report->headline = rd_text(
			"%zu difference%s between kernel %s and the baseline (%s); none of them hides the origin of "
			"an error (%zu functions compared%s)",
			audit->n, audit->n == 1 ? "" : "s", now->kernel, baseline->kernel, audit->compared,
			uncompared ? "; some modules were not" : "");
		report->status = uncompared ? 3 : 1;
	} else {
		report->headline = rd_text("the same: %zu functions on kernel %s and the baseline (%s)%s",
					   audit->compared, now->kernel, baseline->kernel,
					   uncompared ? "; some modules were not compared" : "");
		report->status = uncompared ? 3 : 0;
	}
}

void rd_report_audit(struct rd_report *report, const struct rd_fnset *set, const struct rd_audit_set *now,
		     const struct rd_audit_set *baseline, const struct rd_audit *audit)
{
	struct rd_section *changes = rd_report_add(report, RD_SECTION("changes", change_columns));
	struct rd_section *added = rd_report_add(report, RD_SECTION("added", name_columns));
	struct rd_section *removed = rd_report_add(report, RD_SECTION("removed", name_columns));
	size_t watched = 0;

	report->scalars = RD_OBJECT("audit", scalar_columns, RD_STR(now->kernel),
				    RD_STR(baseline ? baseline->kernel : NULL), RD_BOOL(now->complete),
				    baseline ? RD_UINT(audit->compared) : RD_UNKNOWN_CELL);
	for (size_t i = 0; audit && i < audit->n; i++) {
		static const enum place {
			NONE,
			ADDED,
			REMOVED
		} places[RD_CHANGES] = {
			[RD_CHANGE_ADDED] = ADDED,     [RD_CHANGE_REACHED] = ADDED,	[RD_CHANGE_REMOVED] = REMOVED,
			[RD_CHANGE_INLINED] = REMOVED, [RD_CHANGE_LOST_HOOK] = REMOVED, [RD_CHANGE_LEFT_OUT] = REMOVED,
		};
		const struct rd_audit_change *change = &audit->v[i];
		enum place place = places[change->change];
		struct rd_row *row = RD_ROW(changes, RD_STR(rd_change_name(change->change)),
					    RD_STR(rd_severity_name(change->severity)), RD_STR(change->function),
					    RD_STR(change->module), RD_STR(change->new_function),
					    RD_STR(change->new_module), RD_STR(change->detail));

		row->severity = change->severity;
		if (place != NONE)
			RD_ROW(place == ADDED ? added : removed, RD_STR(change->function), RD_STR(change->module));
	}
	rd_report_trace_functions(report, set, NULL);
	if (audit) {
		add_findings(report, audit, now->complete);
		conclude(report, now, baseline, audit);
	} else {
		for (size_t i = 0; i < now->n; i++)
			watched += now->fns[i].selected;
		report->headline = rd_text("kernel %s: %zu of %zu functions of %zu modules are watched", now->kernel,
					   watched, now->n, now->n_modules);
	}
}

/* "fexit, kprobe"; caller frees. */
static char *name_hooks(uint8_t attachable)
{
	_cleanup_buf_ struct rd_buf hooks = { 0 };

	for (int b = RD_BACKEND_NONE + 1; b < RD_BACKEND_COUNT; b++)
		if (attachable & 1u << b)
			rd_buf_printf(&hooks, "%s%s", hooks.len ? ", " : "", rd_backend_name((enum rd_backend)b));
	return rd_dup(hooks.len ? hooks.data : "none");
}

static void add_here(struct rd_report *report, struct rd_section *section, const struct rd_fnset *set,
		     const struct rd_audit_reason *why)
{
	const struct rd_fn *fn = &set->fns[why->fn];
	struct rd_section *path = RD_SECTION("path", path_columns);
	_cleanup_buf_ struct rd_buf calls = { 0 }, callers = { 0 }, errnos = { 0 };
	_cleanup_free_ char *hooks = name_hooks(fn->attachable & set->backends);

	for (size_t i = 0; i < why->n_path; i++) {
		const char *name = set->fns[why->path[i]].name;

		RD_ROW(path, RD_STR(name));
		rd_buf_printf(&calls, "%s%s", !i ? "" : why->gap ? " -> ... -> " : " -> ", name);
	}
	RD_ROW(section, RD_STR(set->kernel), RD_STR(fn->name), RD_STR(set->modules[fn->module].name),
	       RD_BOOL(fn->selected), RD_STR(rd_rule_reason(fn->rule)), RD_STR(hooks), RD_STR(why->via), RD_SUB(path));
	if (why->via)
		rd_report_note(report, "called through: %s -> %s", why->via, calls.data);
	else
		rd_report_note(report, "called through: no path of direct calls leads to it from a verb");
	for (size_t i = 0; i < why->n_callers && i < RD_AUDIT_CALLERS_MAX; i++)
		rd_buf_printf(&callers, "%s%s%s", i ? ", " : "", set->fns[why->callers[i]].name,
			      set->fns[why->callers[i]].selected ? "" : " (not watched)");
	if (why->n_callers > RD_AUDIT_CALLERS_MAX)
		rd_buf_printf(&callers, " and %zu more", why->n_callers - RD_AUDIT_CALLERS_MAX);
	rd_report_note(report, "callers: %s", why->n_callers ? callers.data : "none by a direct call");
	for (int code = 0; (code = rd_fn_next_errno(fn->loaded, code));)
		rd_buf_printf(&errnos, "%s%s", errnos.len ? ", " : "", rd_errno_name(code));
	if (fn->calls_known)
		rd_report_note(report, "errnos in its code: %s%s", errnos.len ? errnos.data : "none",
			       fn->indirect ? "; it also calls through pointers" : "");
}

void rd_report_audit_explain(struct rd_report *report, const struct rd_fnset *set, const char *name,
			     const struct rd_audit_reason *whys, size_t n_whys, const struct rd_audit_set *baselines,
			     size_t n_baselines)
{
	struct rd_section *section = RD_SECTION("functions", explain_columns);

	for (size_t i = 0; i < n_whys; i++)
		add_here(report, section, set, &whys[i]);
	for (size_t i = 0; i < n_baselines; i++) {
		const struct rd_audit_set *baseline = &baselines[i];
		bool any = false;

		/* How the function is in the baseline: one row for each of that name. */
		for (const struct rd_audit_fn *fn = baseline->fns; fn < baseline->fns + baseline->n; fn++) {
			_cleanup_free_ char *hooks = name_hooks(fn->attachable);

			if (rd_fn_compare_bare(fn->function, name) || fn->rule == RD_RULE_COLD)
				continue;
			RD_ROW(section, RD_STR(baseline->kernel), RD_STR(fn->function), RD_STR(fn->module),
			       RD_BOOL(fn->selected), RD_STR(rd_rule_reason(fn->rule)), RD_STR(hooks));
			any = true;
		}
		if (!any)
			RD_ROW(section, RD_STR(baseline->kernel), RD_UNKNOWN_CELL, RD_UNKNOWN_CELL, RD_UNKNOWN_CELL,
			       RD_STR("no function of this name: it may be inlined into its callers"));
	}
	if (!n_whys)
		report->headline =
			rd_text("%s: no function of this name in the RDMA modules of kernel %s: it may be inlined into "
				"its callers",
				name, set->kernel);
	rd_report_add(report, section);
	report->status = n_whys ? 0 : 3;
}

static const char *result_of(const struct rd_audit_probe *probe, const char *expected)
{
	if (probe->err < 0)
		return "not-tried";
	if (!probe->err)
		return "did-not-fail";
	if (!probe->seen)
		return "not-seen";
	return expected && rd_fn_compare_bare(expected, probe->origin) ? "other-origin" : "seen";
}

static void add_finding(struct rd_report *report, const struct rd_audit_probe *probe, const char *expected)
{
	bool lost = !probe->seen;
	struct rd_finding finding = {
		.id = lost ? "probe-not-seen" : "probe-other-origin",
		.title = lost ? "A call that failed was not seen by the trace" :
				"A call that failed has another origin than in the baseline",
		.why = lost ? "Errors of this kind do not appear in trace-errno." :
			      "What is written about the old origin does not apply any more.",
		.severity = lost ? RD_SEV_CRITICAL : RD_SEV_WARNING,
		.subject = rd_dup(probe->name),
		.observed = lost ? rd_text("no event with %s", rd_errno_name(probe->err)) : rd_dup(probe->origin),
		.expected = rd_dup_if(expected),
		.fix = lost ? rd_dup("rdmadiag trace-errno --list\nuname -r\n# please report this, with the output of both") :
			      rd_text("rdmadiag trace-errno --audit --explain %s", probe->origin),
	};

	rd_finding_add(&report->findings, &finding);
	if (report->status == 3 || report->status < (lost ? 2 : 1))
		report->status = lost ? 2 : 1;
}

void rd_report_audit_probes(struct rd_report *report, const struct rd_audit_probe *probes, size_t n,
			    const struct rd_audit_set *baseline)
{
	struct rd_section *section = RD_SECTION("probes", probe_columns);
	size_t failed = 0, seen = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rd_audit_probe *probe = &probes[i];
		const char *expected = NULL;

		for (size_t b = 0; baseline && b < baseline->n_probes && !expected; b++)
			if (!strcmp(baseline->probes[b].name, probe->name))
				expected = baseline->probes[b].origin;
		failed += probe->err > 0;
		seen += probe->seen;
		RD_ROW(section, RD_STR(probe->name), RD_STR(probe->err > 0 ? rd_errno_name(probe->err) : NULL),
		       RD_STR(result_of(probe, expected)), RD_STR(probe->origin), RD_STR(probe->module),
		       probe->seen ? RD_BOOL(probe->exact) : RD_UNKNOWN_CELL, RD_STR(expected), RD_STR(probe->verb));
		if (probe->err > 0 && (!probe->seen || (expected && rd_fn_compare_bare(expected, probe->origin))))
			add_finding(report, probe, expected);
	}
	rd_report_note(report, "%zu of %zu calls that failed were seen by the trace", seen, failed);
	if (!failed)
		report->status = 3;
	rd_report_add(report, section);
}
