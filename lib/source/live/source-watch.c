/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A source that records which reads failed without a reply. */
#include "source/live/source-watch.h"

#include "base/memory.h"
#include "source/shared/netlink.h"

struct watch {
	struct rd_source src;
	struct rd_source_ops ops;
	struct rd_source *inner;
	struct rd_errlist failed;
};

static struct watch *watch_of(struct rd_source *src)
{
	return (struct watch *)src;
}

/* Passes on the result of the inner source. */
static int note_result(struct rd_source *src, int r, const char *object)
{
	struct rd_err err;

	if (rd_could_not_look(r)) {
		rd_err_set(&err, -r, object, "cannot be read");
		rd_errlist_add(&watch_of(src)->failed, &err);
	}
	return r;
}

static int watch_read_file(struct rd_source *src, const char *path, struct rd_bytes *ret, struct rd_err *err)
{
	return note_result(src, rd_read_file(watch_of(src)->inner, path, ret, err), path);
}

static int watch_list_dir(struct rd_source *src, const char *path, struct rd_names *ret, struct rd_err *err)
{
	return note_result(src, rd_list_dir(watch_of(src)->inner, path, ret, err), path);
}

static int watch_read_link(struct rd_source *src, const char *path, char **ret, struct rd_err *err)
{
	return note_result(src, rd_read_link(watch_of(src)->inner, path, ret, err), path);
}

static int watch_stat_rdev(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	struct rd_source *inner = watch_of(src)->inner;

	return note_result(src, inner->ops->stat_rdev(inner, path, ret, err), path);
}

static int watch_stat_ino(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	struct rd_source *inner = watch_of(src)->inner;

	return note_result(src, inner->ops->stat_ino(inner, path, ret, err), path);
}

static int watch_stat_mode(struct rd_source *src, const char *path, uint64_t *ret, struct rd_err *err)
{
	struct rd_source *inner = watch_of(src)->inner;

	return note_result(src, inner->ops->stat_mode(inner, path, ret, err), path);
}

static int watch_netlink(struct rd_source *src, int protocol, const void *request, size_t size, struct rd_bytes *ret,
			 struct rd_err *err)
{
	char object[RD_NLOBJECT];

	rd_nlrequest_name(protocol, request, size, object);
	return note_result(src, rd_netlink(watch_of(src)->inner, protocol, request, size, ret, err), object);
}

static uint64_t watch_now(struct rd_source *src, int clock)
{
	struct rd_source *inner = watch_of(src)->inner;

	return inner->ops->now(inner, clock);
}

static void watch_close(struct rd_source *src)
{
	rd_errlist_deinit(&watch_of(src)->failed);
	free(src);
}

struct rd_source *rd_source_watch_open(struct rd_source *inner)
{
	struct watch *watch = rd_alloc(1, sizeof(*watch));

	watch->ops = (struct rd_source_ops){
		.name = inner->ops->name,
		.read_file = watch_read_file,
		.list_dir = watch_list_dir,
		.read_link = watch_read_link,
		.stat_rdev = watch_stat_rdev,
		.stat_ino = watch_stat_ino,
		.stat_mode = watch_stat_mode,
		.netlink = watch_netlink,
		.now = watch_now,
		.close = watch_close,
	};
	watch->src.ops = &watch->ops;
	watch->inner = inner;
	return &watch->src;
}

struct rd_errlist rd_source_watch_take(struct rd_source *src)
{
	struct rd_errlist failed = watch_of(src)->failed;

	watch_of(src)->failed = (struct rd_errlist){ 0 };
	return failed;
}
