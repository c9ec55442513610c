/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are the kernel log. */
#include "fuzz.h"

#include "collect/klog.h"
#include "source/tree.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_klog klog = { 0 };
	struct rd_bytes bytes = { 0 };
	size_t length = 0;

	if (rd_bytes_copy(data, size, &bytes) < 0)
		return;
	if (rd_klog_parse(&bytes, &klog) == 0)
		for (size_t i = 0; i < klog.n; i++) {
			const char *pci = rd_krecord_pci(&klog.v[i]);

			for (const char *at = klog.v[i].text; *at; at++)
				length++;
			for (const char *at = pci ? pci : ""; *at; at++)
				length++;
		}
	if (length > size)
		__builtin_trap();
	rd_klog_deinit(&klog);
	rd_bytes_deinit(&bytes);
}
