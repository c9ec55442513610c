/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state --join: the queue pairs of several hosts, matched. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "analyse/qp/qp-join.h"
#include "analyse/qp/qp.h"
#include "collect/host/host.h"
#include "collect/rdma/nldev.h"
#include "qp-ask.h"
#include "qp.h"
#include "report/qp/report-qp-pairs.h"
#include "report/shared/finding.h"

#define HOSTS_MAX 4096

struct joined {
	struct rd_join_host *hosts;
	struct rd_res *res;
	struct rd_qp_views *views;
	struct rd_host *facts;
	char **names;
	size_t n;
};

static void joined_deinit(struct joined *joined)
{
	for (size_t i = 0; i < joined->n; i++) {
		rd_qp_views_deinit(&joined->views[i]);
		rd_res_deinit(&joined->res[i]);
		rd_host_deinit(&joined->facts[i]);
		free(joined->names[i]);
	}
	free(joined->hosts);
	free(joined->views);
	free(joined->res);
	free(joined->facts);
	free(joined->names);
}

/* One capture per host: a second one would match every queue pair with itself. */
static int check_name(const struct joined *joined, const char *path, struct rd_err *err)
{
	size_t last = joined->n - 1;

	for (size_t i = 0; i < last; i++)
		if (strcmp(joined->names[i], joined->names[last]) == 0) {
			rd_err_set(err, EINVAL, path, "host %s is already given by another bundle", joined->names[last]);
			rd_err_hint(err, "give one capture per host; --redact gives all hosts the same name");
			return -EINVAL;
		}
	return 0;
}

static int read_source(struct joined *joined, struct rd_source *source, const char *path, struct rd_errlist *errors,
		       struct rd_err *err)
{
	size_t i = joined->n++;
	int r = rd_collect_res(source, RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_PROCS, NULL, &joined->res[i], errors, err);

	if (r < 0) {
		/* The object of the error does not name the bundle. */
		rd_err_hint(err, "in %s; capture that host again: rdmadiag capture", path);
		return r;
	}
	rd_read_textf(source, &joined->names[i], NULL, "/proc/sys/kernel/hostname");
	if (!joined->names[i])
		joined->names[i] = rd_dup(path);
	rd_qp_views_init(&joined->views[i], &joined->res[i]);
	rd_qp_link(&joined->views[i]);
	r = rd_collect_host(source, 0, &joined->facts[i], errors, err);
	joined->hosts[i] = (struct rd_join_host){ .name = joined->names[i],
						  .views = &joined->views[i],
						  .host = &joined->facts[i],
						  .time_ns = source->ops->now(source, CLOCK_REALTIME) };
	return r < 0 ? rd_err_set(err, -r, path, "no memory for queue pairs") : check_name(joined, path, err);
}

static int read_bundle(struct joined *joined, const char *path, struct rd_errlist *errors, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	int r = rd_source_bundle_open(path, &source, err);

	return r < 0 ? r : read_source(joined, source, path, errors, err);
}

static int read_all(struct rd_ctx *ctx, struct joined *joined, int argc, char **argv, struct rd_errlist *errors,
		    struct rd_err *err)
{
	size_t n_max = (size_t)argc + 2;
	int r = 0;

	if (argc > HOSTS_MAX)
		return rd_err_set(err, E2BIG, "--join", "too many bundles: at most %d", HOSTS_MAX);
	joined->hosts = rd_alloc(n_max, sizeof(*joined->hosts));
	joined->res = rd_alloc(n_max, sizeof(*joined->res));
	joined->views = rd_alloc(n_max, sizeof(*joined->views));
	joined->facts = rd_alloc(n_max, sizeof(*joined->facts));
	joined->names = rd_alloc(n_max, sizeof(*joined->names));
	for (int i = 0; i < argc && !r; i++)
		r = read_bundle(joined, argv[i], errors, err);
	/* The bundle of --from is one of them. */
	if (!r && ctx->globals.from)
		r = read_source(joined, ctx->source, ctx->globals.from, errors, err);
	return r;
}

static int print_pairs(struct rd_ctx *ctx, const struct joined *joined, const struct rd_qp_pairs *pairs,
		       struct rd_report *report)
{
	struct rd_section *table;
	const struct rd_section *sections[1];
	int r;

	if (ctx->globals.json || rd_metrics_wanted(ctx))
		return rd_output_print(ctx, report);
	table = rd_pairs_table(joined->hosts, pairs);
	if (!ctx->globals.style.raw && !ctx->globals.style.no_headings) {
		_cleanup_buf_ struct rd_buf head = { 0 };

		rd_buf_printf(&head, "%zu pairs of %zu hosts:", pairs->n, joined->n);
		for (int v = 0; v < RD_JOIN_VERDICTS; v++)
			rd_buf_printf(&head, "%s %zu %s", v ? "," : "", pairs->count[v], rd_join_verdict_name(v));
		rd_buf_str(&head, "\n\n");
		rd_out(&head);
	}
	sections[0] = table;
	r = rd_output_tables(ctx, report, sections, 1);
	rd_section_destroy(table);
	return r;
}

/* No match: no verdict. */
static void set_no_match(struct rd_report *report, struct rd_err *err)
{
	rd_err_set(err, ENODATA, "--join", "no connection between queue pairs of these hosts found");
	rd_err_hint(err, "capture both hosts while the job runs");
	rd_errlist_add(&report->errors, err);
	report->status = RD_EXIT_UNKNOWN;
}

static int join_hosts(struct rd_ctx *ctx, const struct joined *joined, struct rd_report *report)
{
	struct rd_findings findings = { 0 };
	struct rd_qp_pairs pairs = { 0 };
	struct rd_err err = { 0 };
	int r;

	rd_qp_join(joined->hosts, joined->n, &pairs);
	rd_qp_join_findings(joined->hosts, &pairs, &findings);
	rd_report_pairs(report, joined->hosts, &pairs);
	rd_report_add_findings(report, &findings);
	report->status = rd_report_judge(report);
	if (!report->status && pairs.count[RD_JOIN_CONNECTED] == 0)
		set_no_match(report, &err);
	r = print_pairs(ctx, joined, &pairs, report);
	if (err.code && r == RD_EXIT_UNKNOWN && !ctx->globals.json)
		r = rd_fail(ctx, &err);
	rd_findings_deinit(&findings);
	rd_qp_pairs_deinit(&pairs);
	return r;
}

int qp_join(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(joined_deinit) struct joined joined = { 0 };
	struct rd_report report;
	struct rd_err err = { 0 };
	int r;

	rd_output_init(ctx, &report);
	if (read_all(ctx, &joined, argc, argv, &report.errors, &err) < 0)
		r = rd_fail(ctx, &err);
	else
		r = join_hosts(ctx, &joined, &report);
	rd_report_deinit(&report);
	return r;
}
