/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters --fabric --merge: what many hosts read, as one report. Needs no network. */

#include "cmd/datafile.h"
#include "fabric.h"
#include "report/shared/report.h"

/* The hosts of the list in the order of their shares, whose names `shards` owns; NULL: unknown, or another number of shares. Caller
 * frees the array. */
static const char **name_hosts(const struct fabric_session *s, const struct rd_merge *merge, struct rd_shards *shards)
{
	struct rd_fabric none = { .self = RD_NONE };
	const char **names;

	if (!s->hosts.n)
		return NULL;
	rd_shards_divide(&none, s->hosts.v, s->hosts.n, shards);
	if (shards->n != merge->shares)
		return NULL;
	names = rd_alloc(shards->n, sizeof(*names));
	for (size_t i = 0; i < shards->n; i++)
		names[i] = shards->v[i].host;
	return names;
}

static char *headline(const struct rd_share_files *files, const struct rd_merge *merge, const struct rd_fabric *fabric,
		      const struct rd_report *report)
{
	size_t criticals = rd_findings_count(&report->findings, RD_SEV_CRITICAL);
	size_t warnings = rd_findings_count(&report->findings, RD_SEV_WARNING);
	struct rd_buf out = { 0 };

	if (merge->shares)
		rd_buf_printf(&out, "%u of %u shares: ", merge->shares - merge->missing, merge->shares);
	else
		rd_buf_printf(&out, "%zu reading%s of the whole network: ", files->n, files->n == 1 ? "" : "s");
	rd_buf_printf(&out, "%zu critical, %zu warning%s; %zu nodes, %zu ports read", criticals, warnings,
		      warnings == 1 ? "" : "s", fabric->n_nodes, merge->fresh);
	if (merge->ports > merge->fresh)
		rd_buf_printf(&out, ", %zu NOT read", merge->ports - merge->fresh);
	if (merge->missing && merge->uncovered.known)
		rd_buf_printf(&out, ", %zu of missing shares", (size_t)merge->uncovered.v);
	else if (merge->missing)
		rd_buf_str(&out, ", those of missing shares unknown");
	if (merge->duplicates)
		rd_buf_printf(&out, ", %zu more than once", merge->duplicates);
	rd_buf_printf(&out, "; read within %.1f s", (double)(merge->newest_ns - merge->oldest_ns) / 1e9);
	return out.data;
}

int fabric_merge(struct fabric_session *s, int argc, char **argv)
{
	_cleanup_(rd_share_files_deinit) struct rd_share_files files = { 0 };
	_cleanup_(rd_merge_deinit) struct rd_merge merge = { 0 };
	_cleanup_(rd_fabric_deinit) struct rd_fabric fabric = { 0 };
	_cleanup_(rd_shards_deinit) struct rd_shards shards = { 0 };
	_cleanup_(rd_findings_deinit) struct rd_findings findings = { 0 };
	_cleanup_(rd_report_deinit) struct rd_report report = { 0 };
	_cleanup_free_ const char **hosts = NULL;
	_cleanup_free_ bool *picked = NULL;
	struct rd_globals *globals = &s->ctx->globals;
	const struct rd_section *ports;
	struct rd_fabric_shown shown;
	struct rd_err err = { 0 };
	int r = 0;

	s->ctx->schema = "rdmadiag/counters-fabric-merge/1";
	for (int i = 0; i < argc && !r; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		r = rd_read_local(argv[i], &bytes, &err) ?:
			    rd_share_read(argv[i], (const char *)bytes.data, bytes.size, &files, &err);
	}
	if (r < 0)
		return rd_fail(s->ctx, &err);
	rd_fabric_merge(&files, &fabric, &merge);
	hosts = name_hosts(s, &merge, &shards);
	if (!s->cmd->all && !globals->json) {
		picked = rd_alloc(fabric.n_ports + 1, sizeof(*picked));
		rd_fabric_pick_faulty(&fabric, picked);
	}
	rd_output_init(s->ctx, &report);
	rd_fabric_merge_judge(&files, &merge, hosts, &findings);
	rd_fabric_rank(&findings);
	rd_report_add_findings(&report, &findings);
	report.status = rd_report_judge(&report);
	if (report.status < RD_EXIT_CRITICAL && merge.fresh == 0)
		report.status = RD_EXIT_UNKNOWN;
	shown = (struct rd_fabric_shown){
		.fabric = &fabric, .now_ns = merge.newest_ns, .values = globals->json, .picked = picked
	};
	rd_report_fabric_ports(&report, &shown);
	rd_report_fabric_merge(&report, &files, &merge);
	report.headline = headline(&files, &merge, &fabric, &report);
	if (globals->json || rd_metrics_wanted(s->ctx))
		return rd_output_print(s->ctx, &report);
	if (!globals->style.columns)
		globals->style.columns = "NODE,PORT,LID,LINK,CABLE,FRESH,AGE,ERROR,ERRORS";
	ports = rd_report_section(&report, "ports");
	return rd_output_tables(s->ctx, &report, &ports, 1);
}
