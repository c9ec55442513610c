/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/builtin.h"

#include <string.h>

#include "base/memory.h"

/* The Makefile lists these files as dependencies of the object. */
#define TABLE(symbol, file)                   \
	__asm__(".section .rodata\n"          \
		"table_" #symbol ":\n"        \
		".incbin \"data/" file "\"\n" \
		"table_" #symbol "_end:\n"    \
		".previous\n");               \
	extern const char table_##symbol[], table_##symbol##_end[]

TABLE(counters, "counters");
TABLE(explain, "explain");
TABLE(explain_jobs, "explain-jobs");
TABLE(explain_kernel, "explain-kernel");
TABLE(explain_services, "explain-services");
TABLE(fabric_thresholds, "fabric-thresholds");
TABLE(hints, "hints");
TABLE(thresholds, "thresholds");

static const struct {
	const char *name, *begin, *end;
} tables[] = {
	{ "counters", table_counters, table_counters_end },
	{ "explain", table_explain, table_explain_end },
	{ "explain-jobs", table_explain_jobs, table_explain_jobs_end },
	{ "explain-kernel", table_explain_kernel, table_explain_kernel_end },
	{ "explain-services", table_explain_services, table_explain_services_end },
	{ "fabric-thresholds", table_fabric_thresholds, table_fabric_thresholds_end },
	{ "hints", table_hints, table_hints_end },
	{ "thresholds", table_thresholds, table_thresholds_end },
};

bool rd_builtin_table(const char *name, struct rd_bytes *ret)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(tables); i++) {
		if (strcmp(name, tables[i].name) != 0)
			continue;
		ret->size = (size_t)(tables[i].end - tables[i].begin);
		ret->data = rd_alloc(ret->size + 1, 1);
		memcpy(ret->data, tables[i].begin, ret->size);
		return true;
	}
	return false;
}
