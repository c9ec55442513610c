// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/trace/report-audit.h"

#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "report/trace/report-trace.h"

/* Findings of one kind; all are in the section `changes`. */
#define FINDINGS_MAX 20
#define MODULES_MAX 10

enum scalar_column { SC_KERNEL, SC_BASELINE, SC_COMPLETE, SC_COMPARED, SC_COLUMNS };
enum change_column {
	CH_CHANGE,
	CH_SEVERITY,
	CH_FUNCTION,
	CH_MODULE,
	CH_NEW_FUNCTION,
	CH_NEW_MODULE,
	CH_DETAIL,
	CH_COLUMNS
};
enum name_column { NA_FUNCTION, NA_MODULE, NA_COLUMNS };

static const struct rd_column scalar_columns[SC_COLUMNS];
static const struct rd_column change_columns[CH_COLUMNS];
static const struct rd_column name_columns[NA_COLUMNS];

static void add_change(struct rd_section *section, const struct rd_audit_change *change)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, CH_CHANGE, rd_change_name(change->change));
	rd_row_str(row, CH_SEVERITY, rd_severity_name(change->severity));
	rd_row_str(row, CH_FUNCTION, change->function);
	rd_row_str(row, CH_MODULE, change->module);
	rd_row_str(row, CH_NEW_FUNCTION, change->new_function);
	rd_row_str(row, CH_NEW_MODULE, change->new_module);
	rd_row_str(row, CH_DETAIL, change->detail);
	rd_row_severity(row, change->severity);
}

static void add_name(struct rd_section *section, const struct rd_audit_change *change)
{
	struct rd_row *row = rd_section_add(section);

	rd_row_str(row, NA_FUNCTION, change->function);
	rd_row_str(row, NA_MODULE, change->module);
}

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

static size_t watched(const struct rd_audit_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += set->fns[i].selected;
	return n;
}

static size_t of_severity(const struct rd_audit *audit, enum rd_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < audit->n; i++)
		n += audit->v[i].severity == severity;
	return n;
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

/* Out-of-tree drivers have a version. */
static void note_versions(struct rd_report *report, const struct rd_audit_set *now, const struct rd_audit_set *baseline)
{
	for (size_t i = 0; i < now->n_modules; i++) {
		const struct rd_audit_module *is = &now->modules[i];
		int m = rd_audit_module_find(baseline, is->name);
		const char *was = m < 0 ? NULL : baseline->modules[m].version;

		if (was && is->version && strcmp(was, is->version) != 0)
			rd_report_note(report, "module %s: version %s, in the baseline %s", is->name, is->version, was);
	}
}

static void conclude(struct rd_report *report, const struct rd_audit_set *now, const struct rd_audit_set *baseline,
		     const struct rd_audit *audit)
{
	size_t lost = of_severity(audit, RD_SEV_CRITICAL), uncompared = audit->unequal.n + audit->stripped.n;

	note_versions(report, now, baseline);
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
	struct rd_section *changes = rd_section_create("changes", change_columns, CH_COLUMNS);
	struct rd_section *added = rd_section_create("added", name_columns, NA_COLUMNS);
	struct rd_section *removed = rd_section_create("removed", name_columns, NA_COLUMNS);
	struct rd_row *scalars;

	report->scalars = rd_section_create("audit", scalar_columns, SC_COLUMNS);
	scalars = rd_section_add(report->scalars);
	rd_row_str(scalars, SC_KERNEL, now->kernel);
	rd_row_bool(scalars, SC_COMPLETE, now->complete);
	if (baseline) {
		rd_row_str(scalars, SC_BASELINE, baseline->kernel);
		rd_row_uint(scalars, SC_COMPARED, audit->compared);
	}
	for (size_t i = 0; audit && i < audit->n; i++) {
		enum rd_change change = audit->v[i].change;

		add_change(changes, &audit->v[i]);
		if (change == RD_CHANGE_ADDED || change == RD_CHANGE_REACHED)
			add_name(added, &audit->v[i]);
		else if (change == RD_CHANGE_REMOVED || change == RD_CHANGE_INLINED || change == RD_CHANGE_LOST_HOOK ||
			 change == RD_CHANGE_LEFT_OUT)
			add_name(removed, &audit->v[i]);
	}
	rd_report_add(report, changes);
	rd_report_add(report, added);
	rd_report_add(report, removed);
	rd_report_trace_functions(report, set, NULL);
	if (audit) {
		add_findings(report, audit, now->complete);
		conclude(report, now, baseline, audit);
	} else {
		report->headline = rd_text("kernel %s: %zu of %zu functions of %zu modules are watched", now->kernel,
					   watched(now), now->n, now->n_modules);
	}
}

/* clang-format off */
static const struct rd_column scalar_columns[SC_COLUMNS] = {
	[SC_KERNEL] = { "kernel", "KERNEL", RD_T_STR, "release of the kernel", 0, false },
	[SC_BASELINE] = { "baseline", "BASELINE", RD_T_STR, "release of the kernel of the baseline", 0, false },
	[SC_COMPLETE] = { "complete", "COMPLETE", RD_T_BOOL, "all RDMA modules of the kernel, not only those that are loaded", 0, false },
	[SC_COMPARED] = { "compared", "COMPARED", RD_T_UINT, "functions that are watched on the baseline and were compared", 0, false },
};

static const struct rd_column change_columns[CH_COLUMNS] = {
	[CH_CHANGE] = { "change", "CHANGE", RD_T_STR, "what changed: lost-hook, left-out, inlined, removed, renamed, moved, hooks, errnos, added, newly-reached, module-gone, module-new", 0, false },
	[CH_SEVERITY] = { "severity", "SEVERITY", RD_T_STR, "critical: an origin of errors is no longer visible", 0, false },
	[CH_FUNCTION] = { "function", "FUNCTION", RD_T_STR, "kernel function, as in the baseline", 0, false },
	[CH_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module, as in the baseline", 0, false },
	[CH_NEW_FUNCTION] = { "new_function", "NEW-FUNCTION", RD_T_STR, "its new name", 0, true },
	[CH_NEW_MODULE] = { "new_module", "NEW-MODULE", RD_T_STR, "its new module", 0, true },
	[CH_DETAIL] = { "detail", "DETAIL", RD_T_STR, "callers, hooks or errnos", 0, false },
};

static const struct rd_column name_columns[NA_COLUMNS] = {
	[NA_FUNCTION] = { "function", "FUNCTION", RD_T_STR, "kernel function", 0, false },
	[NA_MODULE] = { "module", "MODULE", RD_T_STR, "kernel module", 0, false },
};
/* clang-format on */
