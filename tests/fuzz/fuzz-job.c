/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read of a process, judged with a table of versions from the same bytes; its mappings, and the file of a provider. */
#include "fuzz.h"

#include "analyse/job/job.h"
#include "collect/rdma/rdma.h"
#include "source/live/live.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = rd_dup_part((const char *)data, size);
	struct rd_proc_job maps = { .out = { 0 } };
	struct rd_job_versions versions = { 0 };
	struct rd_job_kernel kernel = { .known = true };
	struct rd_system system = { .modules_known = true };
	struct rd_job_proc proc = { .pid = 1 };
	struct rd_job_view view = { .proc = &proc };
	struct rd_host host = { 0 };
	const struct rd_job_input in = { &host, &kernel, &system, NULL, &versions };
	struct rd_err err = { 0 };
	uint32_t min, max;

	rd_job_versions_parse("seed", text, size, &versions, &err);
	rd_job_take(text, &proc);
	rd_job_judge(&in, &view);
	rd_job_view_deinit(&view);
	rd_job_proc_deinit(&proc);
	rd_job_versions_deinit(&versions);
	rd_proc_job_maps(&maps, text);
	rd_buf_deinit(&maps.out);
	rd_provider_abi(data, size, "rxe", &min, &max);
}
