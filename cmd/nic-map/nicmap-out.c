/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nic-map's tables. */
#include "collect/host/system.h"
#include "nicmap.h"

#include <errno.h>
#include <string.h>

#include "analyse/shared/distance.h"
#include "base/number.h"
#include "diagnose/findings/findings.h"
#include "model/nicmap/nicmap.h"
#include "report/nicmap/report-nicmap.h"
#include "report/shared/finding.h"

int nicmap_print(struct rd_ctx *ctx, struct nicmap *nm, const struct rd_section *const *sections, size_t n)
{
	return ctx->globals.json ? rd_output_print(ctx, &nm->report) : rd_output_tables(ctx, &nm->report, sections, n);
}

void nicmap_judge(struct nicmap *nm)
{
	nm->report.status = nm->incomplete ? RD_EXIT_UNKNOWN : rd_report_judge(&nm->report);
}

/* Devices; the matrix has as many lines and columns. */
#define MATRIX_MAX 512

/* JSON documents have pairs instead. */
static bool shows_matrix(const struct rd_ctx *ctx, const struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;

	if (ctx->globals.json || opts->matrix)
		return !ctx->globals.json;
	return !opts->pairs && !opts->gids && !opts->assignment && !opts->stacks && !ctx->globals.style.columns &&
	       !ctx->globals.style.raw && nm->host.n_gpus > 0;
}

/* -E2BIG with `err` filled. */
static int build_matrix(const struct nicmap *nm, struct rd_matrix *ret, struct rd_err *err)
{
	size_t n = nm->host.n_gpus + nm->host.n_ibdevs;

	if (n <= MATRIX_MAX) {
		rd_matrix_build(ret, &nm->host, &nm->map, rd_distance_pci);
		return 0;
	}
	rd_err_set(err, E2BIG, "--matrix", "too many devices: %zu, at most %d", n, MATRIX_MAX);
	rd_err_hint(err, "list the pairs instead: rdmadiag nic-map --pairs");
	return -E2BIG;
}

/* NICs, accelerators and distances; with -o or --raw the NICs alone, for scripts. */
static int show_all(struct rd_ctx *ctx, struct nicmap *nm, const struct rd_section *matrix)
{
	const struct nicmap_opts *opts = ctx->state;
	const struct rd_section *sections[4] = { rd_report_section(&nm->report, "nics") };
	size_t n = 1;

	if (opts->matrix) {
		sections[0] = matrix;
	} else if (opts->pairs) {
		sections[0] = rd_report_section(&nm->report, "pairs");
	} else if (opts->gids) {
		sections[0] = rd_report_section(&nm->report, "gids");
	} else if (opts->assignment) {
		sections[0] = rd_report_section(&nm->report, "assignments");
	} else if (opts->stacks) {
		sections[0] = rd_report_section(&nm->report, "stacks");
	} else if (!ctx->globals.style.columns && !ctx->globals.style.raw && nm->host.n_gpus > 0) {
		sections[n++] = rd_report_section(&nm->report, "gpus");
		if (matrix && matrix->n > 0)
			sections[n++] = matrix;
	}
	return nicmap_print(ctx, nm, sections, n);
}

/* Findings about the stacks appear only with --stacks: most hosts do not run them. */
static void add_stacks(struct rd_ctx *ctx, struct nicmap *nm)
{
	if (!ctx->globals.json)
		rd_report_stacks(&nm->report, &nm->host, &nm->map);
	rd_findings_select(&nm->host, &nm->shown, &nm->map.stacks.findings);
	rd_report_add_findings(&nm->report, &nm->map.stacks.findings);
}

static void log_rules(const struct rd_ctx *ctx)
{
	for (size_t i = 0; i < rd_n_library_rules; i++)
		rd_verbose(ctx, "rules of %s: %s, %s", rd_library_rules[i].library, rd_library_rules[i].release,
			   rd_library_rules[i].source);
}

int nicmap_show(struct rd_ctx *ctx, struct nicmap *nm)
{
	const struct nicmap_opts *opts = ctx->state;
	struct rd_matrix matrix = { 0 };
	struct rd_err err = { 0 };
	int r = 0;

	log_rules(ctx);
	rd_report_nicmap(&nm->report, &nm->host, &nm->map, &nm->shown);
	if (opts->gids)
		rd_report_gids(&nm->report, &nm->map.ports, &nm->shown);
	if (opts->assignment) {
		rd_findings_select(&nm->host, &nm->shown, &nm->map.backup_findings);
		rd_report_add_findings(&nm->report, &nm->map.backup_findings);
	}
	/* The JSON document has it as an object. */
	if (opts->assignment && !ctx->globals.json)
		rd_report_assignment(&nm->report, &nm->host, &nm->map);
	if (opts->pairs && !ctx->globals.json)
		rd_report_gpu_nics(&nm->report, &nm->host, &nm->map, &nm->shown);
	if (opts->stacks)
		add_stacks(ctx, nm);
	if (shows_matrix(ctx, nm))
		r = build_matrix(nm, &matrix, &err);
	if (r < 0 && opts->matrix)
		return rd_fail(ctx, &err);
	if (r < 0)
		rd_warn(ctx, "matrix omitted: %s", err.message);
	if (opts->fail || opts->profile)
		nicmap_judge(nm);
	if (opts->assignment)
		rd_report_assignment_notes(&nm->report, &nm->map);
	if (!nm->host.from_topology_file) {
		rd_collect_userspace(&(struct rd_sysfs){ .src = ctx->source }, &nm->system);
		rd_report_given_note(&nm->report, &nm->system);
	}
	r = show_all(ctx, nm, matrix.section);
	rd_matrix_deinit(&matrix);
	return r;
}

/* An accelerator by its number ("0", "GPU0") or PCI address; -1: not found. */
static int find_gpu(const struct rd_host *host, const char *name)
{
	const char *digits = strncasecmp(name, "gpu", 3) == 0 ? name + 3 : name;
	int pci = rd_host_find_pci(host, name);
	uint32_t number;

	for (size_t g = 0; pci >= 0 && g < host->n_gpus; g++)
		if (host->gpus[g].pci == pci)
			return (int)g;
	return rd_parse_u32(digits, RD_DECIMAL, INT32_MAX, &number) == 0 && number < host->n_gpus ? (int)number : -1;
}

/* The PCI function of a NIC given by device name, interface name, number ("NIC3") or PCI address; -1: not found. */
static int find_nic(const struct rd_host *host, const char *name)
{
	int ibdev = rd_host_find_ibdev(host, name), netdev;
	uint32_t number;

	if (ibdev < 0 && strncasecmp(name, "nic", 3) == 0 &&
	    rd_parse_u32(name + 3, RD_DECIMAL, INT32_MAX, &number) == 0 && number < host->n_ibdevs)
		ibdev = (int)number;
	if (ibdev >= 0)
		return host->ibdevs[ibdev].pci;
	netdev = rd_host_find_netdev(host, name);
	return netdev >= 0 ? host->netdevs[netdev].pci : rd_host_find_pci(host, name);
}

int nicmap_show_path(struct rd_ctx *ctx, struct nicmap *nm, const char *gpu_name, const char *nic_name)
{
	int gpu = find_gpu(&nm->host, gpu_name), nic = find_nic(&nm->host, nic_name);
	_cleanup_free_ int *bridges = NULL;
	const struct rd_section *section;
	struct rd_report page = { 0 };
	struct rd_err err = { 0 };
	const char *why = NULL, *path;
	size_t n, top;
	int from, r;

	if (gpu < 0 || nic < 0) {
		rd_err_set(&err, ENODEV, gpu < 0 ? gpu_name : nic_name, "no such %s with a PCI function",
			   gpu < 0 ? "accelerator" : "NIC");
		rd_err_hint(&err, "rdmadiag nic-map");
		return rd_fail(ctx, &err);
	}
	from = nm->host.gpus[gpu].pci;
	path = rd_path_name(rd_distance_pci(&nm->host, from, nic, &why));
	rd_distance_bridges(&nm->host, from, nic, &bridges, &n, &top);
	rd_report_nicmap(&nm->report, &nm->host, &nm->map, &nm->shown);
	rd_report_bridges(&nm->report, &nm->host, from, nic, bridges, n, top);
	section = rd_report_section(&nm->report, "bridges");
	if (ctx->globals.json)
		return rd_output_print(ctx, &nm->report);
	/* Findings about the rest of the host do not belong here. */
	rd_report_path_headline(&page, &nm->host, from, nic, path, why);
	r = rd_output_tables(ctx, &page, &section, 1);
	rd_report_deinit(&page);
	return r;
}
