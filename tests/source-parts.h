/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source for tests, made of a function for each operation. What has none is of another source, or not there. */
#ifndef RD_TESTS_SOURCE_PARTS_H
#define RD_TESTS_SOURCE_PARTS_H

#include <string.h>

#include "source/shared/source.h"

/* A source whose ops are these: its get is parts_get. */
struct source_parts {
	struct rd_source_ops ops;
	int (*read_file)(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err);
	int (*list_dir)(struct rd_source *src, const char *path, struct rd_texts *ret, struct rd_err *err);
	int (*read_link)(struct rd_source *src, const char *path, char **ret, struct rd_err *err);
	int (*stat)(struct rd_source *src, enum rd_op op, const char *path, uint64_t *ret, struct rd_err *err);
	int (*netlink)(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
		       struct rd_err *err);
	struct rd_source *inner; /* NULL: none */
};

static inline int parts_get(struct rd_source *src, const struct rd_query *query, struct rd_reply *ret,
			    struct rd_err *err)
{
	const struct source_parts *parts = (const struct source_parts *)src->ops;
	_cleanup_texts_ struct rd_texts names = { 0 };
	char *target = NULL;
	int r;

	if (query->op == RD_OP_READ && parts->read_file)
		return parts->read_file(src, query->data, &ret->bytes, err);
	if (query->op == RD_OP_LIST && parts->list_dir) {
		r = parts->list_dir(src, query->data, &names, err);
		return r < 0 ? r : rd_texts_pack(&names, &ret->bytes);
	}
	if (query->op == RD_OP_LINK && parts->read_link) {
		r = parts->read_link(src, query->data, &target, err);
		if (r == 0)
			ret->bytes = (struct rd_bytes){ (uint8_t *)target, strlen(target) };
		return r;
	}
	if (query->op >= RD_OP_RDEV && query->op <= RD_OP_MODE && parts->stat)
		return parts->stat(src, query->op, query->data, &ret->number, err);
	if (query->op == RD_OP_NETLINK && parts->netlink)
		return parts->netlink(src, query->protocol, query->data, query->size, &ret->bytes, err);
	if (parts->inner)
		return parts->inner->ops->get(parts->inner, query, ret, err);
	return rd_err_set(err, ENOENT, query->op == RD_OP_NETLINK ? "netlink" : query->data, "not here");
}

#endif
