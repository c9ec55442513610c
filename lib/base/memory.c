/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory.h"

#include <string.h>

#include "base/end.h"

void *rd_alloc(size_t n, size_t elem_size)
{
	void *ret = calloc(n ? n : 1, elem_size ? elem_size : 1);

	if (!ret)
		rd_out_of_memory();
	return ret;
}

char *rd_dup(const char *text)
{
	return rd_dup_part(text, strlen(text));
}

char *rd_dup_part(const char *text, size_t size)
{
	char *ret = strndup(text, size);

	if (!ret)
		rd_out_of_memory();
	return ret;
}

void rd_reserve(void *v, size_t *cap, size_t need, size_t elem_size)
{
	if (rd_grow(v, cap, need, elem_size) < 0)
		rd_out_of_memory();
}
