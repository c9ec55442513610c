/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions shared by all sources. */
#include "source/shared/source.h"

#include <ctype.h>
#include <sys/mman.h>

#include "source/shared/netlink.h"

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

int rd_bytes_of_buf(struct rd_buf *buf, const char *object, struct rd_bytes *ret, struct rd_err *err)
{
	if (buf->failed) {
		rd_buf_deinit(buf);
		return rd_err_set(err, ENOMEM, object, "no memory for the reply");
	}
	ret->size = buf->len;
	ret->data = (uint8_t *)RD_TAKE(buf->data);
	return 0;
}

int rd_texts_pack(const struct rd_texts *names, struct rd_bytes *ret)
{
	size_t size = 0;
	uint8_t *at;

	for (size_t i = 0; i < names->n; i++)
		size += strlen(names->v[i]) + 1;
	at = rd_alloc(size + 1, 1);
	*ret = (struct rd_bytes){ at, size };
	for (size_t i = 0; i < names->n; i++)
		at = (uint8_t *)stpcpy((char *)at, names->v[i]) + 1;
	return 0;
}

static int get_path(struct rd_source *src, enum rd_op op, const char *path, struct rd_reply *ret, struct rd_err *err)
{
	const struct rd_query query = { .op = op, .size = strlen(path) + 1, .data = path };

	return src->ops->get(src, &query, ret, err);
}

int rd_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	struct rd_reply reply = { 0 };
	int r = get_path(src, RD_OP_READ, path, &reply, err);

	if (r >= 0)
		*ret = reply.bytes;
	return r;
}

int rd_list_dir(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err)
{
	struct rd_reply reply = { 0 };
	struct rd_texts names = { 0 };
	int r = get_path(src, RD_OP_LIST, path, &reply, err);

	if (r < 0)
		return r;
	for (size_t at = 0; at < reply.bytes.size; at += strlen((char *)reply.bytes.data + at) + 1)
		rd_texts_add(&names, (char *)reply.bytes.data + at);
	rd_bytes_deinit(&reply.bytes);
	*ret = names;
	return r;
}

int rd_read_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	struct rd_reply reply = { 0 };
	int r = get_path(src, RD_OP_LINK, path, &reply, err);

	if (r >= 0)
		*ret = (char *)reply.bytes.data;
	return r;
}

int rd_stat(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err)
{
	struct rd_reply reply = { 0 };
	int r = get_path(src, op, path, &reply, err);

	if (r >= 0)
		*ret = reply.number;
	rd_bytes_deinit(&reply.bytes);
	return r;
}

int rd_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
	       struct rd_err *err)
{
	const struct rd_query query = { .op = RD_OP_NETLINK, .protocol = protocol, .size = size, .data = request };
	struct rd_reply reply = { 0 };
	/* Not EOPNOTSUPP, which is the kernel's. */
	int r = rd_libmnl_load("netlink", err) ? -ELIBACC : rd_nlrequest_check(request, size, err);

	if (!r)
		r = src->ops->get(src, &query, &reply, err);
	if (r >= 0)
		*ret = reply.bytes;
	return r;
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

static int watch_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret, struct rd_err *err)
{
	struct rd_unread *watch = (struct rd_unread *)src;
	int r = watch->inner->ops->get(watch->inner, query, ret, err);
	struct rd_err failed;
	char object[RD_NLOBJECT];

	if (rd_could_not_look(r)) {
		rd_err_set(&failed, -r, rd_query_object(query, object), "cannot be read");
		rd_errlist_add(&watch->failed, &failed);
	}
	return r;
}

static uint64_t watch_now(struct rd_source *src, int clock)
{
	struct rd_source *inner = ((struct rd_unread *)src)->inner;

	return inner->ops->now(inner, clock);
}

void rd_unread_init(struct rd_unread *watch, struct rd_source *inner)
{
	*watch = (struct rd_unread){ .inner = inner };
	watch->ops = (struct rd_source_ops){ .name = inner->ops->name, .get = watch_get, .now = watch_now };
	watch->src.ops = &watch->ops;
}
