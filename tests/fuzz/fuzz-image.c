/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The type information in a kernel image, which a package contains. */
#include "fuzz.h"

#include "trace/select/select.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	const struct rd_bytes image = { .data = (uint8_t *)data, .size = size };
	_cleanup_bytes_ struct rd_bytes btf = { 0 };

	/* A header, a type and the empty string. */
	if (!rd_image_btf(&image, "9.9-test", &btf, NULL) && btf.size < 26)
		__builtin_trap();
}
