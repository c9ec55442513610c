/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What check counts, and the verdict on a host without RDMA. */
#include <string.h>

#include "check-result.h"
#include "check/shared/unread.h"

void check_result_deinit(struct check_result *result)
{
	checks_deinit(&result->checks);
	rd_findings_deinit(&result->moved);
	rd_stalls_deinit(&result->stalls);
}

/* Counts a port. Spare ports and unused virtual functions are down by design, and count only if active. */
static void count_port(const struct rd_port_views *views, size_t p, struct rd_check_numbers *ret)
{
	bool active = rd_port_active(&views->host->ports[p]);

	ret->active += active;
	ret->ports += active || !rd_port_is_aside(views, p);
}

/* Devices that chassis, twins or the profile lead one to expect, and that have no port: at least one for each. */
static size_t count_expected(const struct rd_findings *findings)
{
	size_t lost = 0, listed = 0;

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];

		if (!rd_finding_stands(finding) || finding->severity < RD_SEV_WARNING)
			continue;
		lost += strcmp(finding->id, "nic-driver") == 0 || strcmp(finding->id, "nic-missing") == 0;
		listed += strcmp(finding->id, "profile-nic") == 0 && strncmp(finding->subject, "NIC ", 4) == 0;
	}
	return lost > listed ? lost : listed;
}

void check_count(const struct check_result *result, struct rd_check_numbers *ret)
{
	const struct rd_host *host = &result->checks.host;

	*ret = (struct rd_check_numbers){ 0 };
	for (size_t i = 0; i < result->checks.findings.n; i++) {
		const struct rd_finding *finding = &result->checks.findings.v[i];

		ret->muted += finding->muted != NULL;
		if (rd_finding_stands(finding))
			ret->results[finding->severity == RD_SEV_NOTE ? RD_SEV_OK : finding->severity]++;
	}
	for (size_t i = 0; i < host->n_ports; i++)
		count_port(&result->checks.map.ports, i, ret);
	/* A device has at least one port. */
	for (size_t i = 0; i < host->n_ibdevs; i++)
		ret->ports += host->ibdevs[i].ports_unread;
	ret->ports += count_expected(&result->checks.findings);
	/* Which ports are left out depends on PCI data. */
	ret->at_least = rd_check_unread(result->checks.in.unread, RD_PART_PCI | RD_PART_RDMA) != NULL;
}

void check_no_rdma(const struct rd_ctx *ctx, struct check_result *result)
{
	struct rd_err *err = &result->why;

	rd_no_rdma(ctx, result->checks.host.rdma_error, err);
	result->no_rdma = err->message;
	rd_errlist_add(&result->checks.report.errors, err);
	result->checks.report.status = RD_EXIT_UNKNOWN;
}
