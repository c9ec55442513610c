/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <string.h>

int rd_grow(void *v, size_t *cap, size_t need, size_t elem_size)
{
	size_t want = *cap ? *cap : 8;
	size_t bytes;
	void *old, *p;

	if (need <= *cap)
		return 0;
	while (want < need)
		if (__builtin_mul_overflow(want, 2, &want))
			return -ENOMEM;
	if (__builtin_mul_overflow(want, elem_size, &bytes))
		return -ENOMEM;
	/* `v` points to a pointer of any type: copied, as two pointer types may not alias. */
	memcpy(&old, v, sizeof(old));
	p = realloc(old, bytes);
	if (!p)
		return -ENOMEM;
	memcpy(v, &p, sizeof(p));
	*cap = want;
	return 0;
}
