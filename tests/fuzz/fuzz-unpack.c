/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "source/shared/source.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	const struct rd_bytes in = { (uint8_t *)(uintptr_t)data, size };
	_cleanup_bytes_ struct rd_bytes out = { 0 };

	rd_unpack(&in, (size_t)1 << 20, &out, NULL);
}
