/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nicmap.h"

#include <errno.h>

#include "analyse/nicmap.h"
#include "collect/host.h"
#include "report/report-nicmap.h"

static int read_host(struct rd_source *source, unsigned what, struct nicmap *nm, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes xml = { 0 };

	if (rd_read_file(source, RD_SOURCE_NCCL_XML, &xml, NULL) == 0)
		return rd_collect_nccl_xml((char *)xml.data, xml.size, &nm->host, err);
	return rd_collect_host(source, what, &nm->host, &nm->report.errors, err);
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
	r = rd_nicmap_analyse(&nm->host, opts->pes, &nm->map);
	if (r < 0)
		return rd_err_set(err, -r, "nic-map", "no memory for the map");
	return 0;
}

void nicmap_deinit(struct nicmap *nm)
{
	rd_report_deinit(&nm->report);
	rd_nicmap_deinit(&nm->map);
	rd_host_deinit(&nm->host);
}
