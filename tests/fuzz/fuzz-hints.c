/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "analyse/trace/trace.h"

void fuzz_one(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = text_of(data, size);
	struct rd_errlist notes = { 0 };
	struct rd_hints hints = { 0 };

	rd_hints_parse("seed", text, size, &hints, &notes, NULL);
	rd_hints_parse("more", text, size, &hints, &notes, NULL);
	rd_hints_deinit(&hints);
	rd_errlist_deinit(&notes);
}
