/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "collect/rdma/rdma.h"

#include <ctype.h>

/* The status of a process, as the kernel or a bundle has it. What it does not contain stays unknown. */
void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = rd_dup_part((const char *)data, size);
	struct rd_proc proc = { 0 };

	rd_proc_state_take(text, &proc);
	if (proc.state.known && (!isalpha((unsigned char)proc.state.v) || !strstr(text, "State:\t")))
		abort();
	if (proc.tracer.known && !strstr(text, "TracerPid:\t"))
		abort();
}
