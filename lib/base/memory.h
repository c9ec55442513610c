/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of the rooms that compute: an allocation that fails ends the program (base/end.h), so none of these returns NULL or
 * an error. Where a file, a message or a process chose the size, memory is asked for by calloc() and rd_grow(), and checked.
 */
#ifndef RD_MEMORY_H
#define RD_MEMORY_H

#include "base/base.h"

/* `n` zeroed elements; caller frees. Also of none there is a pointer. */
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

#endif
