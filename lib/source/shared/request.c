/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/shared/request.h"

#include <errno.h>
#include <string.h>

#include "source/shared/netlink.h"

static int names_to_bytes(const struct rd_names *names, struct rd_bytes *ret)
{
	size_t size = 0, at = 0;

	for (size_t i = 0; i < names->n; i++)
		size += strlen(names->v[i]) + 1;
	ret->data = malloc(size + 1);
	if (!ret->data)
		return -ENOMEM;
	for (size_t i = 0; i < names->n; i++) {
		size_t n = strlen(names->v[i]) + 1;

		memcpy(ret->data + at, names->v[i], n);
		at += n;
	}
	ret->size = size;
	return 0;
}

int rd_request_put(struct rd_source *inner, const struct rd_request *request, struct rd_bytes *bytes, uint64_t *number,
		   struct rd_err *err)
{
	const char *path = (const char *)request->data;
	_cleanup_names_ struct rd_names names = { 0 };
	char *target = NULL;
	int r;

	switch ((enum rd_op)request->op) {
	case RD_OP_OPEN:
		return 0;
	case RD_OP_READ:
		return rd_read_file(inner, path, bytes, err);
	case RD_OP_LIST:
		r = rd_list_dir(inner, path, &names, err);
		return r < 0 ? r : names_to_bytes(&names, bytes);
	case RD_OP_LINK:
		r = rd_read_link(inner, path, &target, err);
		if (r == 0)
			*bytes = (struct rd_bytes){ (uint8_t *)target, strlen(target) };
		return r;
	case RD_OP_RDEV:
		return inner->ops->stat_rdev(inner, path, number, err);
	case RD_OP_INO:
		return inner->ops->stat_ino(inner, path, number, err);
	case RD_OP_MODE:
		return inner->ops->stat_mode(inner, path, number, err);
	case RD_OP_NOW:
		*number = inner->ops->now(inner, request->protocol);
		return 0;
	case RD_OP_NETLINK:
		return rd_netlink(inner, request->protocol, request->data, request->size, bytes, err);
	}
	return rd_err_set(err, EINVAL, "reading", "unknown request");
}

static struct rd_forwarder *forwarder_of(struct rd_source *src)
{
	return (struct rd_forwarder *)src;
}

static int forward_path(struct rd_source *src, enum rd_op op, const char *path, struct rd_bytes *ret, uint64_t *number,
			struct rd_err *err)
{
	struct rd_request request = { .op = op, .size = strlen(path) + 1 };

	return forwarder_of(src)->forward(forwarder_of(src), &request, path, path, ret, number, err);
}

static int forward_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	return forward_path(src, RD_OP_READ, path, ret, NULL, err);
}

static int forward_names(struct rd_source *src, const char *path, struct rd_names *ret, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = forward_path(src, RD_OP_LIST, path, &bytes, NULL, err);

	for (size_t at = 0; !r && at < bytes.size; at += strlen((char *)bytes.data + at) + 1) {
		if (rd_grow(&names.v, &names.cap, names.n + 1, sizeof(*names.v)) == 0)
			names.v[names.n] = strdup((char *)bytes.data + at);
		if (names.n == names.cap || !names.v[names.n])
			return rd_err_set(err, ENOMEM, path, "no memory for the names");
		names.n++;
	}
	if (r < 0)
		return r;
	*ret = names;
	names = (struct rd_names){ 0 };
	return 0;
}

static int forward_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	struct rd_bytes bytes = { 0 };
	int r = forward_path(src, RD_OP_LINK, path, &bytes, NULL, err);

	if (r == 0)
		*ret = (char *)bytes.data;
	return r;
}

static int forward_rdev(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return forward_path(src, RD_OP_RDEV, path, NULL, ret, err);
}

static int forward_ino(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return forward_path(src, RD_OP_INO, path, NULL, ret, err);
}

static int forward_mode(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	return forward_path(src, RD_OP_MODE, path, NULL, ret, err);
}

static int forward_netlink(struct rd_source *src, int protocol, const void *message, size_t size, struct rd_bytes *ret,
			   struct rd_err *err)
{
	struct rd_request request = { .op = RD_OP_NETLINK, .protocol = protocol, .size = size };
	int r = rd_nlrequest_check(message, size, err);

	return r < 0 ? r : forwarder_of(src)->forward(forwarder_of(src), &request, "netlink", message, ret, NULL, err);
}

void rd_forwarder_init(struct rd_forwarder *forwarder, const char *name)
{
	forwarder->src.ops = &forwarder->ops;
	forwarder->ops = (struct rd_source_ops){
		.name = name,
		.read_file = forward_file,
		.list_dir = forward_names,
		.read_link = forward_link,
		.stat_rdev = forward_rdev,
		.stat_ino = forward_ino,
		.stat_mode = forward_mode,
		.netlink = forward_netlink,
	};
}
