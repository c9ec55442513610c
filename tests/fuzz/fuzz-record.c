/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "analyse/trace/trace.h"
#include "collect/kernel/kernel.h"
#include "diagnose/failure/explain.h"
#include "source/shared/source.h"

#include <linux/types.h>

#include "bpf/record.h"

/* Functions that call each other, some of them write handlers, whose requests have a layout. */
static uint32_t calls[] = { 0, 1, 2, 3, 4, 5 };
static struct rd_module module = { .name = (char *)"ib_uverbs", .rdma = true };
static struct rd_fn fns[] = {
	{ .name = (char *)"ib_uverbs_ioctl", .calls = calls, .n_calls = 6, .calls_known = true },
	{ .name = (char *)"ib_uverbs_reg_mr", .calls = calls + 2, .n_calls = 4, .calls_known = true },
	{ .name = (char *)"ib_uverbs_ex_create_qp.isra.0", .calls = calls + 3, .n_calls = 3, .errnos = { 1 << 22 } },
	{ .name = (char *)"ib_uverbs_modify_qp", .calls = calls, .n_calls = 2, .calls_known = true, .indirect = true },
	{ .name = (char *)"rdma_lookup_get_uobject", .calls_known = true, .backend = RD_BACKEND_FEXIT },
	{ .name = (char *)"ib_umem_get", .calls_known = true, .outside = true },
};
static const struct rd_fnset set = { .modules = &module, .n_modules = 1, .fns = fns, .n_fns = RD_ARRAY_SIZE(fns) };

/* Every rule, for a host of which all was read and nothing is there. */
static void explain(const struct rd_event *event)
{
	const struct rd_failure failure = { .event = event, .set = &set, .read = ~0u, .route_errno = -1 };
	struct rd_explanation why = { 0 };
	char *line;

	rd_explain_failure(&failure, &why);
	line = rd_explain_line(&why);
	free(line);
	rd_explanation_deinit(&why);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_(rd_source_closep) struct rd_source *source = NULL;
	struct rd_trace_facts *facts;
	struct rd_event event = { 0 };

	/* A host without devices and processes. */
	if (rd_source_live_open("/proc/self/fdinfo", &source, NULL) < 0)
		return;
	facts = rd_trace_facts_create(source);
	if (rd_trace_event_decode(facts, data, size, &set, &event, NULL) == 0) {
		rd_chain_settle(&event, &set);
		rd_verb_resolve(&event, &set);
		rd_origin_judge(&event, &set);
		explain(&event);
		rd_event_deinit(&event);
	}
	rd_trace_facts_destroy(facts);
}
