/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nicmap.h"

#include <errno.h>

#include "analyse/nicmap.h"
#include "analyse/profile.h"
#include "cmd/datafile.h"
#include "collect/host.h"
#include "report/report-nicmap.h"

static int read_host(struct rd_source *source, unsigned what, struct nicmap *nm, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes xml = { 0 };

	if (rd_read_file(source, RD_SOURCE_NCCL_XML, &xml, NULL) == 0)
		return rd_collect_nccl_xml("NCCL topology file", (char *)xml.data, xml.size, &nm->host, err);
	return rd_collect_host(source, what, &nm->host, &nm->report.errors, err);
}

/* What has fallen off the bus stands before all else that there is to say. */
static int compare_profile(const char *path, struct nicmap *nm, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	struct rd_profile profile = { 0 }, self = { 0 };
	struct rd_findings first = { 0 };
	int r = rd_read_local(path, &bytes, err);

	if (!r)
		r = rd_profile_parse((char *)bytes.data, bytes.size, path, &profile, err);
	if (r < 0)
		return r;
	rd_profile_of(&nm->host, NULL, &self);
	r = self.failed ? -ENOMEM : rd_profile_compare(&profile, &self, &first);
	for (size_t i = 0; i < nm->map.findings.n && !r; i++)
		r = rd_finding_add(&first, &nm->map.findings.v[i]);
	/* Their texts were taken over. */
	nm->map.findings.n = 0;
	rd_findings_deinit(&nm->map.findings);
	nm->map.findings = first;
	rd_profile_deinit(&profile);
	rd_profile_deinit(&self);
	return r < 0 ? rd_err_set(err, -r, path, "no memory to compare it with the host") : 0;
}

int nicmap_load(const struct rd_ctx *ctx, struct rd_source *source, unsigned what, struct nicmap *nm, struct rd_err *err)
{
	const struct nicmap_opts *opts = ctx->state;
	int r;

	*nm = (struct nicmap){ 0 };
	rd_answer_init(ctx, &nm->report);
	r = read_host(source, what, nm, err);
	if (r < 0)
		return r;
	r = rd_nicmap_analyse(&nm->host, (unsigned)opts->pes, &nm->map);
	if (r < 0)
		return rd_err_set(err, -r, "nic-map", "no memory for the map");
	return opts->profile ? compare_profile(opts->profile, nm, err) : 0;
}

void nicmap_deinit(struct nicmap *nm)
{
	rd_report_deinit(&nm->report);
	rd_nicmap_deinit(&nm->map);
	rd_host_deinit(&nm->host);
}
