/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qp-state --join: the queue pairs of several hosts, matched. */
#include <time.h>

#include "analyse/join/join.h"
#include "cmd/bundles/bundles.h"
#include "collect/host/host.h"
#include "collect/rdma/rdma.h"
#include "qp.h"
#include "report/qp/report-qp.h"

/* Rows of the table without -v. */
#define ROWS_MAX 1000

struct reading {
	struct rd_join *join;
	struct rd_pseudonyms pseudonyms;
	struct rd_errlist *errors;
};

/* What is read of one bundle; released before the next one is opened. */
struct capture {
	struct rd_res res;
	struct rd_qp_views views;
	struct rd_host host;
	char *name;
};

static void capture_deinit(struct capture *capture)
{
	rd_qp_views_deinit(&capture->views);
	rd_res_deinit(&capture->res);
	rd_host_deinit(&capture->host);
	free(capture->name);
}

static int add_capture(struct rd_join *join, struct rd_source *source, const struct capture *capture, const char *path,
		       struct rd_err *err)
{
	int r = rd_join_add(join, capture->name, source->ops->now(source, CLOCK_REALTIME), &capture->views,
			    &capture->host);

	/* A second capture of a host would match every queue pair with itself. */
	if (r == -EEXIST) {
		rd_err_set(err, EINVAL, path, "host %s is already given by another bundle", capture->name);
		return rd_err_hint(err, "give one capture per host");
	}
	if (r == -E2BIG) {
		rd_err_set(err, E2BIG, path,
			   "too many hosts or queue pairs: at most %u hosts with %u queue pairs together",
			   RD_JOIN_HOSTS_MAX, RD_JOIN_QPS_MAX);
		rd_err_hint(err, "join the bundles of fewer hosts at a time");
	}
	return r;
}

static int read_source(struct reading *reading, struct rd_source *source, const char *path, struct rd_err *err)
{
	_cleanup_(capture_deinit) struct capture capture = { 0 };
	int r = rd_pseudonyms_check(&reading->pseudonyms, source, path, err);

	if (r < 0)
		return r;
	r = rd_collect_res(source, RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_PROCS | RD_WANT_RECORDED, NULL, &capture.res,
			   reading->errors, err);
	rd_qp_views_init(&capture.views, &capture.res);
	if (r < 0) {
		/* The object of the error does not name the bundle. */
		return rd_err_hint(err, "in %s; capture that host again: rdmadiag capture", path);
	}
	rd_read_textf(source, &capture.name, NULL, "/proc/sys/kernel/hostname");
	if (!capture.name)
		capture.name = rd_dup(path);
	rd_qp_link(&capture.views);
	rd_qp_apply_recorded(&capture.views, source->ops->now(source, CLOCK_MONOTONIC));
	r = rd_collect_host(source, 0, &capture.host, reading->errors, err);
	return r < 0 ? rd_err_set(err, -r, path, "no memory for queue pairs") :
		       add_capture(reading->join, source, &capture, path, err);
}

static int read_all(struct rd_ctx *ctx, struct rd_join *join, int argc, char **argv, struct rd_errlist *errors,
		    struct rd_err *err)
{
	struct reading reading = { .join = join, .errors = errors };
	struct rd_progress progress = { 0 };
	int r = 0;

	for (int i = 0; i < argc && !r; i++) {
		_cleanup_(rd_source_closep) struct rd_source *source = NULL;

		rd_progress_show(&progress, "bundle", (size_t)i + 1, (size_t)argc);
		r = rd_source_bundle_open(argv[i], &source, err) ?: read_source(&reading, source, argv[i], err);
	}
	rd_progress_end(&progress);
	/* The bundle of --from is one of them. */
	if (!r && ctx->globals.from)
		r = read_source(&reading, ctx->source, ctx->globals.from, err);
	rd_pseudonyms_deinit(&reading.pseudonyms);
	return r;
}

/* The pairs of the table: all, or if these are too many, the first that are not connected. */
static size_t choose_pairs(struct rd_ctx *ctx, const struct rd_join_pairs *pairs, uint32_t **ret)
{
	size_t n = 0;

	*ret = NULL;
	/* Without notes there is no place to say that rows are missing. */
	if (pairs->n <= ROWS_MAX || ctx->globals.verbose || ctx->globals.rows_only)
		return pairs->n;
	*ret = rd_alloc(ROWS_MAX, sizeof(**ret));
	for (size_t gone = 2; gone-- > 0;)
		for (size_t i = 0; i < pairs->n && n < ROWS_MAX; i++)
			if (pairs->v[i].verdict != RD_JOIN_CONNECTED && rd_join_is_gone(&pairs->v[i]) == gone)
				(*ret)[n++] = (uint32_t)i;
	return n;
}

static int print_pairs(struct rd_ctx *ctx, const struct rd_join *join, const struct rd_join_pairs *pairs,
		       struct rd_report *report)
{
	_cleanup_free_ uint32_t *shown = NULL;
	const struct rd_section *sections[1];
	_cleanup_section_ struct rd_section *table = NULL;
	size_t n;

	if (ctx->globals.json || rd_metrics_wanted(ctx))
		return rd_output_print(ctx, report);
	n = choose_pairs(ctx, pairs, &shown);
	table = rd_pairs_table(join, pairs, shown, n);
	if (n < pairs->n)
		rd_report_note(report, "%zu more pairs are not shown, %zu of them connected: -v shows all",
			       pairs->n - n, pairs->count[RD_JOIN_CONNECTED]);
	if (!ctx->globals.rows_only) {
		_cleanup_buf_ struct rd_buf head = { 0 };

		rd_buf_printf(&head, "%zu pairs of %zu hosts:", pairs->n, join->n_hosts);
		for (int v = 0; v < RD_JOIN_VERDICTS; v++)
			rd_buf_printf(&head, "%s %zu %s", v ? "," : "", pairs->count[v], rd_join_verdict_name(v));
		rd_buf_str(&head, "\n\n");
		rd_out(&head);
	}
	sections[0] = table;
	return rd_output_tables(ctx, report, sections, 1);
}

static int match_hosts(struct rd_ctx *ctx, struct rd_join *join, struct rd_report *report)
{
	_cleanup_(rd_join_pairs_deinit) struct rd_join_pairs pairs = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	struct rd_err err = { 0 };
	int r;

	rd_join_match(join, &pairs);
	rd_join_findings(join, &pairs, &findings);
	/* Only a document lists them all. */
	if (ctx->globals.json)
		rd_report_pairs(report, join, &pairs);
	rd_report_add_findings(report, &findings);
	report->status = rd_report_judge(report);
	if (!report->status && pairs.count[RD_JOIN_CONNECTED] == 0) {
		rd_err_set(&err, ENODATA, "--join", "no connection between queue pairs of these hosts found");
		rd_err_hint(&err, "capture both hosts while the job runs");
		rd_errlist_add(&report->errors, &err);
		report->status = RD_EXIT_UNKNOWN;
	}
	r = print_pairs(ctx, join, &pairs, report);
	return err.code && r == RD_EXIT_UNKNOWN && !ctx->globals.json ? rd_fail(ctx, &err) : r;
}

/* Also in a document, which has its section, empty. */
static int fail_join(struct rd_ctx *ctx, const struct rd_join *join, struct rd_report *report, const struct rd_err *err)
{
	static const struct rd_join_pairs none;

	if (ctx->globals.json) {
		rd_errlist_add(&report->errors, err);
		rd_report_pairs(report, join, &none);
		report->status = RD_EXIT_UNKNOWN;
		rd_output_print(ctx, report);
	}
	return rd_fail(ctx, err);
}

int qp_join(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(rd_join_deinit) struct rd_join join = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	struct rd_err err = { 0 };

	ctx->schema = "rdmadiag/qp-state-join/1";
	rd_sipkey_of_process(&join.key);
	rd_output_init(ctx, &report);
	if (read_all(ctx, &join, argc, argv, &report.errors, &err) < 0)
		return fail_join(ctx, &join, &report, &err);
	return match_hosts(ctx, &join, &report);
}
