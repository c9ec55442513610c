/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map --compare */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/compare.h"
#include "nicmap.h"
#include "report/finding.h"
#include "report/report-compare.h"

struct others {
	struct nicmap *v;
	char **names; /* of all, this host first; owned */
	size_t n;
};

static void others_deinit(struct others *others)
{
	for (size_t i = 0; others->v && i < others->n; i++)
		nicmap_deinit(&others->v[i]);
	for (size_t i = 0; others->names && i <= others->n; i++)
		free(others->names[i]);
	free(others->names);
	free(others->v);
}

static char *name_of(const struct nicmap *nm, const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	if (nm->report.host && *nm->report.host)
		return strdup(nm->report.host);
	return strdup(base ? base + 1 : path ? path : "here");
}

static int read_other(struct rd_ctx *ctx, const char *path, struct nicmap *nm, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_ctx other = *ctx;
	int r = rd_source_bundle_open(path, &source, err);

	if (r < 0)
		return r;
	other.source = source;
	return nicmap_load(&other, source, 0, nm, err);
}

static int judge(struct rd_ctx *ctx, struct nicmap *nm, const struct others *others)
{
	_cleanup_free_ struct rd_compared *hosts = calloc(others->n + 1, sizeof(*hosts));
	/* Where an operator compares bundles on a desk, that desk is none of the hosts. */
	size_t first = nm->host.n_ibdevs == 0;
	struct rd_rails rails = { 0 };
	struct rd_findings findings = { 0 };
	struct rd_err err;
	int r = hosts ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i <= others->n; i++)
		hosts[i] = (struct rd_compared){
			.name = others->names[i],
			.host = i ? &others->v[i - 1].host : &nm->host,
			.map = i ? &others->v[i - 1].map : &nm->map,
		};
	if (!r)
		r = rd_compare(hosts + first, others->n + 1 - first, &rails, &findings);
	if (!r)
		r = rd_report_rails(&nm->report, &rails, others->names + first);
	if (!r)
		r = rd_report_add_findings(&nm->report, &findings);
	rd_rails_deinit(&rails);
	rd_findings_deinit(&findings);
	if (!r) {
		char object[40];

		snprintf(object, sizeof(object), "%zu hosts", others->n + 1 - first);
		return nicmap_print_judged(ctx, nm, object);
	}
	rd_err_set(&err, -r, ctx->cmd->name, "no memory to compare hosts");
	return rd_fail(ctx, &err);
}

int nicmap_compare(struct rd_ctx *ctx, struct nicmap *nm, int argc, char **argv)
{
	struct others others = { .v = calloc((size_t)argc, sizeof(*others.v)) };
	struct rd_err err = { 0 };
	int r = -ENOMEM;

	if (nm->host.n_ibdevs == 0 && argc < 2) {
		free(others.v);
		rd_err_set(&err, ENODEV, "/sys/class/infiniband", "this host has no RDMA device to compare with");
		rd_err_hint(&err, "name two bundles");
		return rd_fail(ctx, &err);
	}
	others.names = calloc((size_t)argc + 1, sizeof(*others.names));
	if (others.v && others.names)
		r = (others.names[0] = name_of(nm, ctx->globals.from)) ? 0 : -ENOMEM;
	for (int i = 0; !r && i < argc; i++) {
		r = read_other(ctx, argv[i], &others.v[others.n], &err);
		others.n++;
		if (!r && !(others.names[others.n] = name_of(&others.v[others.n - 1], argv[i])))
			r = -ENOMEM;
	}
	if (r < 0 && !err.code)
		rd_err_set(&err, ENOMEM, ctx->cmd->name, "no memory to compare hosts");
	r = r < 0 ? rd_fail(ctx, &err) : judge(ctx, nm, &others);
	others_deinit(&others);
	return r;
}
