/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "analyse/qp/qp-verdict-priv.h"
#include "base/klog-form.h"

/* A line of the kernel log, which anybody may have put words into. */
void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = rd_dup_part((const char *)data, size);
	uint32_t numbers[4];

	rd_klog_qps(text, numbers, RD_ARRAY_SIZE(numbers));
	rd_qp_log_cause(text);
	rd_qp_log_status(text);
}
