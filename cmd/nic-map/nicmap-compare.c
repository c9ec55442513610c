/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --compare */
#include <errno.h>
#include <string.h>

#include "analyse/compare/compare.h"
#include "base/no-rdma.h"
#include "cmd/bundles/bundles.h"
#include "collect/snapshot/snapshot.h"
#include "nicmap.h"
#include "report/nicmap/report-nicmap.h"
#include "report/shared/finding.h"

/* Rows of the table without -v. */
#define ROWS_MAX 40

/* The hosts, this one first. Only what is compared is kept: a struct rd_host takes 300 kB. */
struct fleet {
	struct rd_compared *v;
	size_t n;
};

static void fleet_deinit(struct fleet *fleet)
{
	for (size_t i = 0; fleet->v && i < fleet->n; i++)
		rd_compared_deinit(&fleet->v[i]);
	free(fleet->v);
}

static const char *name_of(const struct nicmap *nm, const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	if (nm->report.host && *nm->report.host)
		return nm->report.host;
	return base ? base + 1 : path ? path : "here";
}

static int add_host(struct fleet *fleet, const struct nicmap *nm, struct rd_source *source, const char *path,
		    struct rd_err *err)
{
	_cleanup_(rd_facts_deinit) struct rd_facts facts = { 0 };
	int r = rd_snapshot_collect(source, &facts, err);

	rd_compared_take(name_of(nm, path), &nm->host, &nm->map, &facts, &fleet->v[fleet->n++]);
	return r;
}

static int read_other(struct rd_ctx *ctx, const char *path, struct fleet *fleet, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_ctx other = *ctx;
	struct nicmap nm;
	int r = rd_source_bundle_open(path, &source, err);

	if (r < 0)
		return r;
	other.source = source;
	other.globals.from = path;
	r = nicmap_load(&other, source, 0, &nm, err);
	if (!r)
		r = add_host(fleet, &nm, source, path, err);
	nicmap_deinit(&nm);
	return r;
}

static int compare_fleet(struct rd_ctx *ctx, struct nicmap *nm, const struct fleet *fleet)
{
	/* A host without RDMA device, on which bundles are compared, is not itself compared. */
	const struct rd_table_style *style = &ctx->globals.style;
	size_t first = nm->host.n_ibdevs == 0, n = fleet->n - first, left_out = 0;
	bool json = ctx->globals.json, all = json || ctx->globals.verbose;
	struct rd_comparison found = { 0 };

	rd_compare(fleet->v + first, n, &found);
	rd_report_rails(&nm->report, fleet->v + first, n, found.rails, all, all ? SIZE_MAX : ROWS_MAX, &left_out);
	rd_report_add_findings(&nm->report, &found.findings);
	rd_comparison_deinit(&found);
	nicmap_judge(nm);
	if (!style->columns)
		rd_report_compare_headline(&nm->report, n);
	if (left_out > 0)
		rd_report_note(&nm->report, "%zu more rows differ: -v shows all", left_out);
	return nicmap_print(ctx, nm, (const struct rd_section *const *)nm->report.sections, 1);
}

int nicmap_compare(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv)
{
	struct fleet fleet = { .v = rd_alloc((size_t)argc + 1, sizeof(*fleet.v)) };
	struct rd_progress progress = { 0 };
	struct rd_err err = { 0 };
	int r = 0;

	if (nm->host.n_ibdevs == 0 && argc < 2) {
		free(fleet.v);
		rd_err_set(&err, ENODEV, "/sys/class/infiniband", RD_NO_RDMA_DEVICE " on this host to compare with");
		rd_err_hint(&err, "give two bundles");
		return rd_fail(ctx, &err);
	}
	r = add_host(&fleet, nm, ctx->source, ctx->globals.from, &err);
	for (int i = 0; !r && i < argc; i++) {
		rd_progress_show(&progress, "bundle", (size_t)i + 1, (size_t)argc);
		r = read_other(ctx, argv[i], &fleet, &err);
	}
	rd_progress_end(&progress);
	r = r < 0 ? rd_fail(ctx, &err) : compare_fleet(ctx, nm, &fleet);
	fleet_deinit(&fleet);
	return r;
}
