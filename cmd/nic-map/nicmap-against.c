/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --against */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/run/against.h"
#include "base/fix.h"
#include "cmd/datafile.h"
#include "collect/host/host.h"
#include "collect/nccl/runlog.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"
#include "report/shared/finding.h"

/* Rows of the table without -v. */
#define ROWS_MAX 40
/* Hosts named in the error if the log has no lines of this host. */
#define NAMES_MAX 6

/* The file, and the result of the comparison. */
struct comparison {
	struct rd_against_what what;
	struct rd_against against;
	struct rd_runlog log;
	char version[48];
	bool cut;
};

static void comparison_deinit(struct comparison *cmp)
{
	rd_against_deinit(&cmp->against);
	rd_runlog_deinit(&cmp->log);
}

/* Whether the file is XML: the first tag may follow blanks and a byte order mark. */
static bool is_xml(const struct rd_bytes *bytes)
{
	const char *at = (const char *)bytes->data;
	size_t size = bytes->size;

	if (size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) {
		at += 3;
		size -= 3;
	}
	while (size > 0 && strchr(" \t\r\n", *at) && *at) {
		at++;
		size--;
	}
	return size > 0 && *at == '<' && memchr(at, '>', size) &&
	       (strncmp(at, "<system", 7) == 0 || strncmp(at, "<?xml", 5) == 0 || strncmp(at, "<!", 2) == 0);
}

static int several_hosts(const struct rd_runlog *log, const char *file, const char *name, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf names = { 0 };

	for (size_t i = 0; i < log->n && i < NAMES_MAX; i++)
		rd_buf_printf(&names, "%s%s", names.len ? ", " : "",
			      *log->v[i].name ? log->v[i].name : "an unnamed host");
	rd_err_set(err, ENOENT, file, "contains lines of %zu hosts (%s%s), but not of %s", log->n,
		   names.data ? names.data : "", log->n > NAMES_MAX ? " ..." : "", name && *name ? name : "this host");
	rd_err_hint(err, "grep '%s:' %s >one.log; rdmadiag nic-map --against one.log",
		    *log->v[0].name ? log->v[0].name : "HOST", file);
	return -ENOENT;
}

/* The lines of this host, else of the only host. `nameless`: lines that name no host, if they can only be of that one
 * (Mooncake's beside NCCL's); NULL: none. */
static const struct rd_run_host *choose_host(const struct rd_runlog *log, const char *name,
					     const struct rd_run_host **nameless)
{
	const struct rd_run_host *found = rd_runlog_find(log, name), *only = NULL;
	size_t named = 0;

	*nameless = NULL;
	for (size_t i = 0; i < log->n; i++)
		if (*log->v[i].name) {
			named++;
			only = &log->v[i];
		} else {
			*nameless = &log->v[i];
		}
	if (named == 0) {
		found = *nameless;
		*nameless = NULL;
	} else if (named == 1) {
		found = only;
	} else {
		*nameless = NULL;
	}
	return found;
}

static int compare_log(const struct nicmap *nm, const struct rd_bytes *bytes, struct comparison *cmp, struct rd_err *err)
{
	struct rd_runlog *log = &cmp->log;
	const struct rd_run_host *run, *nameless;
	int r = rd_runlog_parse(cmp->what.file, (const char *)bytes->data, bytes->size, log, err);

	if (r < 0)
		return r;
	cmp->what.kind = "log";
	cmp->cut = log->cut;
	run = choose_host(log, nm->report.host, &nameless);
	if (!run)
		return several_hosts(log, cmp->what.file, nm->report.host, err);
	cmp->what.run_host = *run->name ? run->name : NULL;
	snprintf(cmp->version, sizeof(cmp->version), "%u.%u.%u", log->version[0], log->version[1], log->version[2]);
	cmp->what.version = log->version[0] ? cmp->version : NULL;
	rd_against_log(&nm->host, nm->host.from_topology_file ? NULL : &nm->system, &nm->map, log, run, nm->report.host,
		       &cmp->against);
	if (nameless)
		rd_against_log(&nm->host, nm->host.from_topology_file ? NULL : &nm->system, &nm->map, log, nameless,
			       nm->report.host, &cmp->against);
	return 0;
}

static int compare_topology(const struct nicmap *nm, const struct rd_bytes *bytes, struct comparison *cmp,
			    struct rd_err *err)
{
	struct rd_host file = { 0 };
	int r = rd_collect_nccl_xml(cmp->what.file, (const char *)bytes->data, bytes->size, &file, err);

	if (!r)
		r = rd_runlog_topology(cmp->what.file, (const char *)bytes->data, bytes->size, &cmp->log, err);
	if (!r) {
		cmp->what.kind = "topology";
		cmp->cut = cmp->log.cut;
		rd_against_topology(&nm->host, &nm->map, &file, &cmp->log.v[0], &cmp->against);
	}
	rd_host_deinit(&file);
	return r;
}

static int print_table(struct rd_ctx *ctx, struct nicmap *nm, const struct comparison *cmp)
{
	const struct rd_table_style *style = &ctx->globals.style;
	size_t left_out, most = ctx->globals.verbose || style->raw || style->columns ? SIZE_MAX : ROWS_MAX;
	struct rd_section *section = rd_report_against_table(&cmp->against, most, &left_out);
	const struct rd_section *const sections[] = { section };
	int r;

	if (!style->columns)
		rd_report_against_headline(&nm->report, &cmp->what, &cmp->against, cmp->log.rccl);
	if (left_out > 0)
		rd_report_note(&nm->report, "%zu more row%s: -v shows all", left_out, left_out == 1 ? "" : "s");
	r = nicmap_print(ctx, nm, sections, 1);
	rd_section_destroy(section);
	return r;
}

static int print_result(struct rd_ctx *ctx, struct nicmap *nm, const struct comparison *cmp)
{
	const struct rd_against *against = &cmp->against;
	struct rd_err err = { 0 };

	rd_report_against(&nm->report, &cmp->what, against);
	/* Findings about the host itself do not belong here. */
	rd_findings_deinit(&nm->report.findings);
	rd_report_add_findings(&nm->report, &against->findings);
	if (cmp->cut)
		rd_warn(ctx, "%s: too many devices, processes or channels; the rest is ignored", cmp->what.file);
	nicmap_judge(nm);
	if (against->n_of[RD_VERDICT_SAME] + against->n_of[RD_VERDICT_DIFFERS] == 0) {
		const struct rd_finding *first = against->findings.n > 0 ? &against->findings.v[0] : NULL;
		_cleanup_free_ char *fix = first ? rd_fix_line(first->fix) : NULL;

		nm->report.status = RD_EXIT_UNKNOWN;
		rd_err_set(&err, ENODATA, cmp->what.file, "contains nothing that can be compared with this host%s%s",
			   first ? ": " : "", first ? (first->observed ? first->observed : first->why) : "");
		rd_err_hint(&err, "%s", fix ? fix : "run the job with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET");
		rd_errlist_add(&nm->report.errors, &err);
		if (!ctx->globals.json && against->n == 0)
			return rd_fail(ctx, &err);
	}
	return ctx->globals.json ? rd_output_print(ctx, &nm->report) : print_table(ctx, nm, cmp);
}

int nicmap_against(struct rd_ctx *ctx, struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct comparison cmp = { .what = { .file = opts->against } };
	struct rd_err err = { 0 };
	int r = rd_read_local(opts->against, &bytes, &err);

	if (!r && bytes.size == 0)
		r = rd_err_set(&err, ENODATA, opts->against, "file is empty");
	if (!r)
		r = is_xml(&bytes) ? compare_topology(nm, &bytes, &cmp, &err) : compare_log(nm, &bytes, &cmp, &err);
	r = r < 0 ? rd_fail(ctx, &err) : print_result(ctx, nm, &cmp);
	comparison_deinit(&cmp);
	return r;
}
