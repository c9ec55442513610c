/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What hosts read of their shares of a fabric, in JSON. The same bytes are given as the files of two hosts, which are put
 * together and judged. */
#include "fuzz.h"

#include "analyse/fabric/fabric.h"
#include "analyse/shares/fabric-shard.h"
#include "collect/fabric/fabric.h"

/* Also after an error: what was read before it is released, not used, but is in order. */
static void check_files(const struct rd_share_files *files)
{
	size_t found = 0;

	for (size_t i = 0; i < files->n; i++)
		found += files->v[i].found;
	if (files->n > RD_SHARE_FILES_MAX || files->n_rows > RD_SHARE_ROWS_MAX || found != files->n_rows)
		abort();
	for (size_t i = 0; i < files->n_rows; i++)
		if (files->rows[i].share >= files->n)
			abort();
}

static void merge(const struct rd_share_files *files)
{
	struct rd_findings findings = { 0 };
	struct rd_fabric_limits limits;
	struct rd_fabric fabric;
	struct rd_merge merge;

	rd_fabric_limits_init(&limits);
	rd_fabric_merge(files, &fabric, &merge);
	if (merge.ports != fabric.n_ports || merge.fresh > merge.ports || merge.missing > merge.shares)
		abort();
	rd_fabric_judge(&fabric, &limits, NULL, &findings);
	rd_fabric_merge_judge(files, &merge, NULL, &findings);
	rd_findings_deinit(&findings);
	rd_fabric_deinit(&fabric);
	rd_merge_deinit(&merge);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "one", "two" };
	struct rd_share_files files = { 0 };
	struct rd_err err = { 0 };
	int r = 0;

	for (size_t i = 0; i < RD_ARRAY_SIZE(names) && !r; i++) {
		r = rd_share_read(names[i], (const char *)data, size, &files, &err);
		check_files(&files);
	}
	if (!r)
		merge(&files);
	else if (err.code != -r || !err.message[0])
		abort();
	rd_share_files_deinit(&files);
}
