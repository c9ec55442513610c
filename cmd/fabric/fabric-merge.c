/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --merge: what many hosts read, as one report. Needs no network. */
#include <string.h>

#include "analyse/fabric/fabric-judge.h"
#include "analyse/shares/fabric-shard.h"
#include "cmd/cmd.h"
#include "cmd/datafile.h"
#include "collect/fabric/fabric.h"
#include "fabric-cmd.h"
#include "report/fabric/report-fabric.h"
#include "report/shared/finding.h"

struct merging {
	struct fabric_session *s;
	struct rd_share_files files;
	struct rd_merge merge;
	struct rd_fabric fabric;
	struct rd_shards shards; /* names of the hosts, with --shards */
};

/* The hosts of the list in the order of their shares; NULL: unknown, or another number of shares. Caller frees the array. */
static const char **name_hosts(struct merging *m)
{
	struct rd_fabric none = { .self = RD_NONE };
	const char **names;

	if (!m->s->hosts || rd_shards_divide(&none, m->s->hosts, m->s->n_hosts, &m->shards) < 0 ||
	    m->shards.n != m->merge.shares)
		return NULL;
	names = rd_alloc(m->shards.n, sizeof(*names));
	for (size_t i = 0; i < m->shards.n; i++)
		names[i] = m->shards.v[i].host;
	return names;
}

static int print_merge(struct merging *m, struct rd_report *report)
{
	const struct rd_section *sections[] = { rd_report_section(report, "ports"),
						rd_report_section(report, "shares") };
	struct rd_ctx *ctx = m->s->ctx;

	if (ctx->globals.json || rd_metrics_wanted(ctx))
		return rd_output_print(ctx, report);
	if (!ctx->globals.style.columns)
		ctx->globals.style.columns = "NODE,PORT,LID,LINK,CABLE,FRESH,AGE,ERROR,ERRORS";
	return rd_output_tables(ctx, report, sections, 1);
}

static int report_merge(struct merging *m)
{
	_cleanup_free_ bool *picked = NULL;
	struct rd_report report;
	struct rd_fabric_shown shown = {
		.fabric = &m->fabric,
		.now_ns = m->merge.newest_ns,
		.values = m->s->ctx->globals.json,
	};
	int r;
	_cleanup_free_ const char **hosts = name_hosts(m);
	struct rd_findings findings = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	const struct rd_merge *merge = &m->merge;
	size_t criticals, warnings;

	if (!m->s->cmd->all && !m->s->ctx->globals.json) {
		picked = rd_alloc(m->fabric.n_ports + 1, sizeof(*picked));
		rd_fabric_pick_faulty(&m->fabric, picked);
		shown.picked = picked;
	}
	rd_output_init(m->s->ctx, &report);
	rd_fabric_merge_judge(&m->files, &m->merge, hosts, &findings);
	rd_fabric_rank(&findings);
	rd_report_add_findings(&report, &findings);
	rd_findings_deinit(&findings);
	report.status = rd_report_judge(&report);
	if (report.status < RD_EXIT_CRITICAL && m->merge.fresh == 0)
		report.status = RD_EXIT_UNKNOWN;
	rd_report_fabric_ports(&report, &shown);
	rd_report_fabric_merge(&report, &m->files, &m->merge);
	criticals = rd_findings_count(&report.findings, RD_SEV_CRITICAL);
	warnings = rd_findings_count(&report.findings, RD_SEV_WARNING);
	if (merge->shares)
		rd_buf_printf(&out, "%u of %u shares: ", merge->shares - merge->missing, merge->shares);
	else
		rd_buf_printf(&out, "%zu reading%s of the whole network: ", m->files.n, m->files.n == 1 ? "" : "s");
	rd_buf_printf(&out, "%zu critical, %zu warning%s; %zu nodes, %zu ports read", criticals, warnings,
		      warnings == 1 ? "" : "s", m->fabric.n_nodes, merge->fresh);
	if (merge->ports > merge->fresh)
		rd_buf_printf(&out, ", %zu NOT read", merge->ports - merge->fresh);
	if (merge->missing && merge->uncovered.known)
		rd_buf_printf(&out, ", %zu of missing shares", (size_t)merge->uncovered.v);
	else if (merge->missing)
		rd_buf_str(&out, ", those of missing shares unknown");
	if (merge->duplicates)
		rd_buf_printf(&out, ", %zu more than once", merge->duplicates);
	rd_buf_printf(&out, "; read within %.1f s", (double)(merge->newest_ns - merge->oldest_ns) / 1e9);
	report.headline = rd_dup(out.data);
	r = print_merge(m, &report);
	rd_report_deinit(&report);
	return r;
}

int fabric_merge(struct fabric_session *s, int argc, char **argv)
{
	struct merging m = { .s = s };
	struct rd_err err = { 0 };
	int r = 0;

	s->ctx->schema = "rdmadiag/counters-fabric-merge/1";
	for (int i = 0; i < argc && !r; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		r = rd_read_local(argv[i], &bytes, &err);
		if (!r)
			r = rd_share_read(argv[i], (const char *)bytes.data, bytes.size, &m.files, &err);
	}
	if (r < 0) {
		r = rd_fail(s->ctx, &err);
	} else {
		rd_fabric_merge(&m.files, &m.fabric, &m.merge);
		r = report_merge(&m);
	}
	rd_fabric_deinit(&m.fabric);
	rd_merge_deinit(&m.merge);
	rd_shards_deinit(&m.shards);
	rd_share_files_deinit(&m.files);
	return r;
}
