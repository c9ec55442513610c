/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A baseline of trace-errno --audit, which comes from another host: parsed, and compared with itself. */
#include "fuzz.h"

#include "analyse/trace/audit.h"
#include "collect/kernel/kernel.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_audit_set set = { 0 };
	struct rd_audit audit = { 0 };

	if (rd_audit_baseline_parse(data, size, &set, NULL))
		return;
	if (set.n < 1000) {
		rd_audit_compare(&set, &set, &audit);
		if (audit.n || audit.missing.n || audit.unequal.n)
			__builtin_trap();
	}
	rd_audit_deinit(&audit);
	rd_audit_set_deinit(&set);
}
