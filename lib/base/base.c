/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <signal.h>
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

int rd_write_all(int fd, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

bool rd_hangup_ignored(void)
{
	struct sigaction action;

	return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

uint64_t rd_hash(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

size_t rd_lower_bound(const void *key, const void *v, size_t n, size_t elem_size,
		      int (*compare)(const void *elem, const void *key))
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (compare((const uint8_t *)v + middle * elem_size, key) < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

int rd_compare_u64(const void *a, const void *b)
{
	return RD_CMP(*(const uint64_t *)a, *(const uint64_t *)b);
}

void *rd_find_u64(const void *v, size_t n, size_t elem_size, uint64_t key)
{
	size_t i = rd_lower_bound(&key, v, n, elem_size, rd_compare_u64);
	const uint8_t *at = (const uint8_t *)v + i * elem_size;

	return i < n && !rd_compare_u64(at, &key) ? (void *)(uintptr_t)at : NULL;
}
