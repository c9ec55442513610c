// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/live/live.h"

#include <linux/bpf.h>
#include <sys/syscall.h>

#define MAPS_LOOKED_AT (1u << 16) /* a host has hundreds; programs with CAP_BPF can create more */
#define MAPS_MAX 64		  /* with this name */
#define KEY_MAX 64
#define VALUE_MAX 1024
#define FILE_MAX ((size_t)64 << 20)
#define BATCH 512

struct maps {
	const char *name;
	struct rd_buf out;
	unsigned found;
	bool more; /* maps that were not looked at */
};

/* The system call itself: libbpf would be loaded by every command that asks for a map, and most hosts have none. */
static int call_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static int next_map(uint32_t id, uint32_t *ret)
{
	union bpf_attr attr = { .start_id = id };
	int r = call_bpf(BPF_MAP_GET_NEXT_ID, &attr);

	if (!r)
		*ret = attr.next_id;
	return r;
}

static int open_map(uint32_t id)
{
	union bpf_attr attr = { .map_id = id };

	return call_bpf(BPF_MAP_GET_FD_BY_ID, &attr);
}

static int describe_map(int fd, struct bpf_map_info *ret)
{
	union bpf_attr attr = {
		.info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(*ret), .info = (uint64_t)(uintptr_t)ret }
	};

	return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* `at`: where the last batch ended; NULL: begins. `n`: the most entries; then how many were read. */
static int read_batch(int fd, uint64_t *at, uint64_t *next, uint8_t *keys, uint8_t *values, uint32_t *n)
{
	union bpf_attr attr = { .batch = { .in_batch = (uint64_t)(uintptr_t)at,
					   .out_batch = (uint64_t)(uintptr_t)next,
					   .keys = (uint64_t)(uintptr_t)keys,
					   .values = (uint64_t)(uintptr_t)values,
					   .count = *n,
					   .map_fd = (uint32_t)fd } };
	int r = call_bpf(BPF_MAP_LOOKUP_BATCH, &attr);

	*n = attr.batch.count;
	return r;
}

/* Appends entries to the file. In batches, each bucket is read under its lock, so an entry is never mixed with one that replaces it. */
static int add_entries(struct maps *maps, int fd, struct rd_source_map *head)
{
	_cleanup_free_ uint8_t *keys = calloc(BATCH, head->key_size), *values = calloc(BATCH, head->value_size);
	uint64_t at, next;
	bool begun = false;
	uint32_t n;
	int r;

	if (!keys || !values)
		return -ENOMEM;
	do {
		n = BATCH;
		r = read_batch(fd, begun ? &at : NULL, &next, keys, values, &n);
		/* ENOSPC: a bucket has more entries than a batch; in a map of a sensible size none has. */
		if (r < 0 && r != -ENOENT)
			return r;
		begun = true;
		at = next;
		for (uint32_t i = 0; i < n && i < BATCH; i++, head->entries++) {
			if (maps->out.len + head->key_size + head->value_size > FILE_MAX)
				return -EFBIG;
			rd_buf_add(&maps->out, keys + i * head->key_size, head->key_size);
			rd_buf_add(&maps->out, values + i * head->value_size, head->value_size);
		}
	} while (r == 0 && !maps->out.failed);
	return maps->out.failed ? -ENOMEM : 0;
}

/* A map whose entries could not be read, or not all, has an errno in its head. */
static int add_map(struct maps *maps, int fd, const struct bpf_map_info *info)
{
	struct rd_source_map head = { .id = info->id, .key_size = info->key_size, .value_size = info->value_size };
	size_t start = maps->out.len;
	int r = -EMEDIUMTYPE;

	rd_buf_add(&maps->out, &head, sizeof(head));
	if (info->type == BPF_MAP_TYPE_HASH && info->key_size <= KEY_MAX && info->value_size <= VALUE_MAX)
		r = add_entries(maps, fd, &head);
	if (r == -ENOMEM || maps->out.failed)
		return -ENOMEM;
	head.code = (uint32_t)-r;
	memcpy(maps->out.data + start, &head, sizeof(head));
	return 0;
}

static int look_at(struct maps *maps, uint32_t id)
{
	_cleanup_close_ int fd = open_map(id);
	struct bpf_map_info info = { 0 };

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd; /* it ended meanwhile */
	if (describe_map(fd, &info) || strncmp(info.name, maps->name, sizeof(info.name)) != 0)
		return 0;
	if (++maps->found > MAPS_MAX)
		return -E2BIG;
	return add_map(maps, fd, &info);
}

static int read_own(struct maps *maps, int fd)
{
	struct bpf_map_info info = { 0 };
	int r = fd < 0 ? -ENOENT : describe_map(fd, &info);

	return r ? r : add_map(maps, fd, &info);
}

int rd_bpf_maps_read(const char *path, int queries, struct rd_bytes *ret, struct rd_err *err)
{
	struct maps maps = { .name = path + strlen(RD_SOURCE_MAPS), .out = RD_BUF_CHECKED };
	unsigned looked = 0;
	uint32_t id = 0;
	int r = 0;

	if (!*maps.name || strlen(++maps.name) >= BPF_OBJ_NAME_LEN || strchr(maps.name, '/'))
		return rd_err_set(err, ENOENT, path, "cannot read");
	if (strcmp(path, RD_SOURCE_QUERIES) == 0) {
		r = read_own(&maps, queries);
		maps.found = !r;
		r = r ?: -ENOENT;
	}
	while (!r && (r = next_map(id, &id)) == 0)
		r = ++looked > MAPS_LOOKED_AT ? -E2BIG : look_at(&maps, id);
	/* After the last map. Too many: those found until then are read. */
	if (r == -ENOENT || (r == -E2BIG && maps.found))
		r = maps.found ? 0 : -ENOENT;
	if (r < 0) {
		rd_buf_deinit(&maps.out);
		return rd_err_set(err, -r, path, "cannot read the BPF maps of this name");
	}
	*ret = (struct rd_bytes){ (uint8_t *)maps.out.data, maps.out.len };
	return 0;
}
