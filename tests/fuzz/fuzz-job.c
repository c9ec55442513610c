/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read of a process, its mappings, and the file of a provider. */
#include "fuzz.h"

#include "collect/rdma/rdma.h"
#include "source/live/live.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = rd_dup_part((const char *)data, size);
	struct rd_proc_job maps = { .out = { 0 } };
	struct rd_job_proc proc = { 0 };
	uint32_t min, max;

	rd_job_take(text, &proc);
	rd_job_proc_deinit(&proc);
	rd_proc_job_maps(&maps, text);
	rd_buf_deinit(&maps.out);
	rd_provider_abi(data, size, "rxe", &min, &max);
}
