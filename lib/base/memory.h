/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory allocation for internal data: a failed allocation ends the program (base/end.h), so none of these returns NULL or an error.
 * What a file, a message or a process can make long has a limit of its own where time matters, and all of it together has one of
 * memory where foreign files are read alone (rd_end_limit).
 */
#ifndef RD_MEMORY_H
#define RD_MEMORY_H

#include "base/base.h"

/* `n` zeroed elements; caller frees. Not NULL for 0 elements either. */
void *rd_alloc(size_t n, size_t elem_size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));

/* Copies of text, the second of at most `size` bytes of it; caller frees. */
char *rd_dup(const char *text) __attribute__((malloc, returns_nonnull, nonnull));
char *rd_dup_part(const char *text, size_t size) __attribute__((malloc, returns_nonnull, nonnull));

/* A copy, or NULL of NULL. */
static inline char *rd_dup_if(const char *text)
{
	return text ? rd_dup(text) : NULL;
}

/* rd_grow that does not fail. */
void rd_reserve(void *v, size_t *cap, size_t need, size_t elem_size);

/* A new element at the end of the array `v` of `n` elements, for the caller to set. */
#define RD_ADD(v, n, cap) (rd_reserve(&(v), &(cap), (n) + 1, sizeof(*(v))), &(v)[(n)++])

#endif
