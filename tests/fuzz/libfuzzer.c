/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same targets for clang's libFuzzer, which sees which inputs lead to new code and goes on from those. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_one(data, size);
	return 0;
}
