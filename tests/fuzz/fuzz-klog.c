/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are the kernel log: parsed, and redacted, which must leave every line that has a form. */
#include "fuzz.h"

#include "collect/kernel/kernel.h"
#include "source/bundle/tree.h"
#include "source/redact/redact.h"

/* The next of the kernel's own lines that have a form. */
static size_t next_known(const struct rd_klog *klog, size_t i)
{
	while (i < klog->n && (klog->v[i].facility != RD_KLOG_KERN || !klog->v[i].form))
		i++;
	return i;
}

static void check_redacted(const uint8_t *data, size_t size, const struct rd_klog *whole)
{
	_cleanup_(rd_redact_deinit) struct rd_redact redact = { 0 };
	_cleanup_buf_ struct rd_buf out = { 0 };
	struct rd_klog klog = { 0 };
	struct rd_bytes bytes = { 0 };
	size_t i = 0, k = 0;

	rd_redact_kmsg(&redact, (const char *)data, size, &out);
	rd_bytes_copy(out.data, out.len, &bytes);
	rd_klog_parse(&bytes, &klog);
	for (;; i++, k++) {
		i = next_known(whole, i);
		k = next_known(&klog, k);
		if (i == whole->n || k == klog.n)
			break;
		if (whole->v[i].form != klog.v[k].form || whole->v[i].seq != klog.v[k].seq)
			__builtin_trap();
	}
	if (i != whole->n || k != klog.n)
		__builtin_trap();
	rd_klog_deinit(&klog);
	rd_bytes_deinit(&bytes);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct rd_klog klog = { 0 };
	struct rd_bytes bytes = { 0 };
	size_t length = 0;

	rd_bytes_copy(data, size, &bytes);
	rd_klog_parse(&bytes, &klog);
	for (size_t i = 0; i < klog.n; i++) {
		const char *pci = rd_krecord_pci(&klog.v[i]);

		for (const char *at = klog.v[i].text; *at; at++)
			length++;
		for (const char *at = pci ? pci : ""; *at; at++)
			length++;
	}
	if (length > size)
		__builtin_trap();
	check_redacted(data, size, &klog);
	rd_klog_deinit(&klog);
	rd_bytes_deinit(&bytes);
}
