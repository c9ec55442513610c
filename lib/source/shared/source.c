/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions shared by all sources. */
#include "source/shared/source.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"

void rd_bytes_deinit(struct rd_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct rd_bytes){ 0 };
}

void rd_bytes_release(struct rd_bytes *bytes, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)bytes->data;
	/* The page in which they begin may have what malloc keeps before them. */
	uintptr_t from = (start + page) & -page, to = (start + n) & -page;

	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

int rd_bytes_copy(const void *data, size_t size, struct rd_bytes *ret)
{
	uint8_t *copy = rd_alloc(size + 1, 1);

	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	*ret = (struct rd_bytes){ .data = copy, .size = size };
	return 0;
}

void rd_names_deinit(struct rd_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct rd_names){ 0 };
}

void rd_names_copy(const struct rd_names *from, struct rd_names *ret)
{
	*ret = (struct rd_names){ 0 };
	rd_reserve(&ret->v, &ret->cap, from->n, sizeof(*ret->v));
	while (ret->n < from->n) {
		ret->v[ret->n] = rd_dup(from->v[ret->n]);
		ret->n++;
	}
}

int rd_read_textf(struct rd_source *src, char **ret, struct rd_err *err, const char *fmt, ...)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	_cleanup_free_ char *path = NULL;
	va_list ap;
	size_t n;
	int r;

	va_start(ap, fmt);
	path = rd_vtext(fmt, ap);
	va_end(ap);
	r = rd_read_file(src, path, &bytes, err);
	if (r < 0)
		return r;
	/* A NUL ends text; /proc/PID/cmdline and friends are not text and are read with rd_read_file. */
	n = strlen((char *)bytes.data);
	while (n > 0 && isspace(bytes.data[n - 1]))
		bytes.data[--n] = '\0';
	*ret = (char *)RD_TAKE(bytes.data);
	return 0;
}

int rd_read_again(struct rd_source *src, const char *path, uint32_t *slot, char *ret, size_t size)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r;

	if (src->ops->read_again)
		return src->ops->read_again(src, path, slot, ret, size);
	if (!path)
		return -ESTALE;
	r = rd_read_file(src, path, &bytes, NULL);
	if (r < 0)
		return r;
	bytes.size = bytes.size < size ? bytes.size : size - 1;
	memcpy(ret, bytes.data, bytes.size);
	ret[bytes.size] = '\0';
	return (int)bytes.size;
}

int rd_drain_events(struct rd_source *src, rd_event_fn *fn, void *arg, struct rd_err *err)
{
	if (!src->ops->drain_events)
		return rd_err_set(err, ENODATA, "events", "not available from this source");
	return src->ops->drain_events(src, fn, arg, err);
}

int rd_source_bundle_next(struct rd_source *src, struct rd_err *err)
{
	if (!src->ops->next)
		return rd_err_set(err, ENODATA, "bundle", "no more samples");
	return src->ops->next(src, err);
}
