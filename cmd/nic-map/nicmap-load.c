/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nicmap.h"

#include <string.h>

#include "analyse/compare/profile.h"
#include "analyse/nicmap/nicmap.h"
#include "analyse/shared/symmetry.h"
#include "check/shared/check.h"
#include "cmd/profile-file.h"
#include "collect/host/host.h"
#include "collect/host/system.h"
#include "collect/net/netstate.h"
#include "diagnose/findings/findings.h"

int nicmap_read(struct rd_source *source, unsigned what, struct rd_host *host, struct rd_system *system,
		struct rd_errlist *errors, struct rd_err *err)
{
	const struct rd_sysfs fs = { .src = source, .errors = errors };
	int r = rd_collect_host(source, what, host, errors, err);

	if (!r)
		r = rd_host_within_bounds(host, err);
	if (!r)
		rd_collect_gpu_memory(&fs, system);
	return r;
}

static int read_host(struct rd_source *source, const char *from, unsigned what, struct nicmap *nm, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes xml = { 0 };

	if (rd_read_file(source, RD_SOURCE_NCCL_XML, &xml, NULL) == 0)
		return rd_collect_nccl_xml(from ? from : RD_SOURCE_NCCL_XML, (char *)xml.data, xml.size, &nm->host, err);
	return nicmap_read(source, what, &nm->host, &nm->system, &nm->report.errors, err);
}

/* The rules of topo-check that concern what nic-map shows. */
static const char *const map_rules[] = { "profile-gpu",	       "profile-nic", "profile-value", "gpu-missing",
					 "nic-missing",	       "port-state",  "ib-no-sm",      "link-layer-uniform",
					 "port-speed-uniform", "gid-usable",  "gid-v2",	       "roce-lag-affinity" };

/* Whether the finding is shown below the map: unknown results only if a profile requires them. */
static bool is_shown(const struct rd_finding *finding)
{
	if (finding->severity == RD_SEV_UNKNOWN)
		return strncmp(finding->id, "profile-", strlen("profile-")) == 0;
	return finding->severity > RD_SEV_OK;
}

/* Runs the same rules as topo-check, so that a finding has the same id and severity in both. */
static void run_rules(struct nicmap *nm, const struct rd_profile *profile, const struct rd_findings *differences,
		      struct rd_findings *ret)
{
	_cleanup_free_ bool *selected = rd_alloc(rd_n_checks + 1, sizeof(*selected));
	struct rd_symmetry symmetry = { 0 };
	struct rd_findings all = { 0 };
	const struct rd_check_input in = {
		.host = &nm->host,
		.ports = &nm->map.ports,
		.map = &nm->map,
		.symmetry = &symmetry,
		.profile = profile,
		.differences = differences,
		.unread = &nm->report.errors,
	};

	rd_symmetry_find(&nm->map.ports, &symmetry);
	for (size_t i = 0; i < rd_n_checks; i++)
		for (size_t m = 0; m < RD_ARRAY_SIZE(map_rules); m++)
			selected[i] |= strcmp(rd_checks[i]->id, map_rules[m]) == 0;
	rd_checks_run(&in, selected, &all);
	for (size_t i = 0; i < all.n; i++)
		if (is_shown(&all.v[i]))
			rd_finding_copy(ret, &all.v[i]);
	rd_findings_deinit(&all);
	rd_symmetry_deinit(&symmetry);
}

static int judge_host(const char *path, struct rd_source *source, struct nicmap *nm, struct rd_err *err)
{
	struct rd_profile profile = { 0 }, self = { 0 };
	struct rd_findings differences = { 0 };
	int r = path ? rd_profile_load(path, &profile, err) : 0;

	if (r < 0) {
		rd_profile_deinit(&profile);
		return r;
	}
	if (path) {
		struct rd_port_views ports = nm->map.ports;
		struct rd_netstate net = { 0 };

		rd_collect_netstate(source, &nm->host, &net, NULL);
		ports.net = &net;
		rd_profile_of(&ports, NULL, &self);
		rd_netstate_deinit(&net);
		rd_profile_compare(&profile, &self, &differences);
	}
	run_rules(nm, path ? &profile : NULL, path ? &differences : NULL, &nm->map.findings);
	rd_diagnose(&nm->host, path ? &profile : NULL, rd_profile_day(nm->report.time), &nm->map.findings);
	rd_findings_select(&nm->host, &nm->shown, &nm->map.findings);
	rd_findings_deinit(&differences);
	rd_profile_deinit(&profile);
	rd_profile_deinit(&self);
	return 0;
}

int nicmap_load(const struct rd_ctx *ctx, struct rd_source *source, unsigned what, struct nicmap *nm, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	int r;

	*nm = (struct nicmap){ 0 };
	rd_output_init(ctx, &nm->report);
	/* A profile also contains links, PCI registers and partition keys. */
	r = read_host(source, ctx->globals.from, what | (opts->profile ? RD_COLLECT_PCI | RD_COLLECT_IB : 0), nm, err);
	if (r < 0)
		return r;
	nm->incomplete = rd_output_incomplete(ctx, &nm->report, false);
	/* On a host without RDMA devices, that is what to report. */
	if (nm->host.n_ibdevs > 0)
		r = rd_selection_make(&nm->host, opts->devices, &nm->shown, err);
	if (r < 0)
		return r;
	rd_nicmap_analyse(&nm->host, nm->host.from_topology_file ? NULL : &nm->system, (unsigned)opts->pes, &nm->map);
	return judge_host(opts->profile, source, nm, err);
}

void nicmap_deinit(struct nicmap *nm)
{
	rd_report_deinit(&nm->report);
	rd_selection_deinit(&nm->shown);
	rd_nicmap_deinit(&nm->map);
	rd_system_deinit(&nm->system);
	rd_host_deinit(&nm->host);
}
