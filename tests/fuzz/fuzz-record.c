/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "collect/kernel/trace-event.h"
#include "source/shared/source.h"

#include <linux/types.h>

#include "bpf/record.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_trace_facts *facts = NULL;
	struct rd_event event = { 0 };

	/* A host without devices and processes. */
	if (rd_source_live_open("/proc/self/fdinfo", &source, NULL) < 0 || rd_trace_facts_create(source, &facts) < 0)
		return;
	if (rd_trace_event_decode(facts, data, size, 100, &event, NULL) == 0)
		rd_event_deinit(&event);
	rd_trace_facts_destroy(facts);
}
