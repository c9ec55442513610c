// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of control groups, and memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "collect/failure/failure.h"
#include "collect/shared/sysfs.h"

#define CGROUPS "/sys/fs/cgroup"
#define DEPTH_MAX 64

/* Modules through which a NIC driver pins memory of accelerators by address. */
static const char *const peer_modules[] = { "nvidia_peermem", "nv_peer_mem" };

/* "max" or a number. */
static bool take_limit(const char *text, uint64_t *ret)
{
	if (!strncmp(text, "max", 3)) {
		*ret = UINT64_MAX;
		return true;
	}
	return rd_take_uint(&text, RD_DECIMAL, UINT64_MAX, ret) == 0;
}

/* The value of a key in a line "rxe0 hca_handle=2 hca_object=max". */
static bool take_resource(const char *text, const char *ibdev, const char *key, uint64_t *ret)
{
	size_t n = strlen(ibdev);

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *end = strchrnul(line, '\n'), *at;

		if (strncmp(line, ibdev, n) != 0 || line[n] != ' ')
			continue;
		at = strstr(line, key);
		return at && at < end && at[strlen(key)] == '=' && take_limit(at + strlen(key) + 1, ret);
	}
	return false;
}

static void read_resources(const struct rd_sysfs *fs, const char *ibdev, struct rd_rdma_cgroup *ret)
{
	_cleanup_free_ char *max = rd_sysfs_text(fs, NULL, CGROUPS "%s/rdma.max", ret->path);
	_cleanup_free_ char *current = rd_sysfs_text(fs, NULL, CGROUPS "%s/rdma.current", ret->path);
	uint64_t v;

	if (max && take_resource(max, ibdev, "hca_handle", &v))
		RD_SET(ret->max_handles, v);
	if (max && take_resource(max, ibdev, "hca_object", &v))
		RD_SET(ret->max_objects, v);
	if (current && take_resource(current, ibdev, "hca_handle", &v))
		RD_SET(ret->handles, v);
	if (current && take_resource(current, ibdev, "hca_object", &v))
		RD_SET(ret->objects, v);
}

/* Cuts the last part off a path; false: it was the root. */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

void rd_failure_read_cgroups(const struct rd_sysfs *fs, struct rd_failure *f)
{
	_cleanup_free_ char *path = NULL;

	f->cgroups_known = RD_DENIED;
	if (!f->event->cgroup || !f->event->ibdev)
		return;
	path = rd_dup(f->event->cgroup);
	f->cgroups_known = RD_OK;
	for (int i = 0; i < DEPTH_MAX; i++) {
		struct rd_rdma_cgroup *group = RD_ADD(f->cgroups, f->n_cgroups, f->cap_cgroups);

		*group = (struct rd_rdma_cgroup){ .path = rd_dup(path) };
		read_resources(fs, f->event->ibdev, group);
		if (!to_parent(path))
			break;
	}
}

/* The number after `key` in a text; false: it is not there. */
static bool take_after(const char *text, const char *key, uint64_t *ret)
{
	const char *at = text ? strstr(text, key) : NULL;

	at = at ? at + strlen(key) : "";
	at += strspn(at, " ");
	return rd_take_uint(&at, RD_DECIMAL, UINT64_MAX / 1024, ret) == 0;
}

/* `kind`: "memory", "hugetlb.2MB" */
static void read_group(const struct rd_sysfs *fs, const char *cgroup, const char *kind, struct rd_memory_group *ret)
{
	_cleanup_free_ char *path = rd_dup(cgroup), *text = NULL, *events = NULL;
	uint64_t least = UINT64_MAX, v;

	for (int i = 0; i < DEPTH_MAX && path[1]; i++) {
		_cleanup_free_ char *max = rd_sysfs_text(fs, NULL, CGROUPS "%s/%s.max", path, kind);
		_cleanup_free_ char *current = rd_sysfs_text(fs, NULL, CGROUPS "%s/%s.current", path, kind);
		uint64_t most, now;

		if (max && take_limit(max, &most) && most != UINT64_MAX && current && take_limit(current, &now) &&
		    (now > most ? 0 : most - now) < least) {
			least = now > most ? 0 : most - now;
			free(ret->path);
			ret->path = rd_dup(path);
			RD_SET(ret->max, most);
			RD_SET(ret->current, now);
		}
		if (!to_parent(path))
			break;
	}
	if (ret->path)
		text = rd_sysfs_text(fs, NULL, CGROUPS "%s/%s.events", ret->path, kind);
	events = rd_text("\n%s", text ? text : "");
	if (take_after(events, "\nmax ", &v))
		RD_SET(ret->failures, v);
}

/* Huge pages of the size of the mapping, and what limits them. */
static void read_huge(const struct rd_sysfs *fs, const struct rd_failure *f, struct rd_fail_memory *ret)
{
	static const char *const files[] = { "nr_hugepages", "free_hugepages", "resv_hugepages" };
	const struct rd_mapping *special = &f->event->moment.special;
	uint64_t size = special->kind == RD_MAP_HUGE && special->block ? special->block : 2u << 20, found[3];
	char kind[48];

	for (size_t i = 0; i < RD_ARRAY_SIZE(files); i++) {
		int64_t v;

		if (rd_sysfs_int(fs, &v, "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/%s", size >> 10, files[i]) !=
			    RD_OK ||
		    v < 0)
			return;
		found[i] = (uint64_t)v;
	}
	RD_SET(ret->huge_total, found[0]);
	RD_SET(ret->huge_free, found[1]);
	RD_SET(ret->huge_reserved, found[2]);
	snprintf(kind, sizeof(kind), "hugetlb.%" PRIu64 "%s", size >> (size >> 30 ? 30 : 20), size >> 30 ? "GB" : "MB");
	if (f->event->cgroup && special->kind == RD_MAP_HUGE)
		read_group(fs, f->event->cgroup, kind, &ret->huge_group);
}

void rd_failure_read_memory(const struct rd_sysfs *fs, struct rd_failure *f)
{
	_cleanup_free_ char *meminfo = rd_sysfs_text(fs, NULL, "/proc/meminfo");
	struct rd_fail_memory *m = &f->memory;
	bool loaded = false;
	uint64_t v;

	if (f->event->cgroup)
		read_group(fs, f->event->cgroup, "memory", &m->group);
	read_huge(fs, f, m);
	for (size_t i = 0; i < RD_ARRAY_SIZE(peer_modules); i++) {
		uint64_t ino;
		char path[64];

		snprintf(path, sizeof(path), "/sys/module/%s", peer_modules[i]);
		loaded = loaded || !rd_stat(fs->src, RD_OP_INO, path, &ino, NULL);
	}
	RD_SET(m->peer_module, loaded);
	if (take_after(meminfo, "\nHardwareCorrupted:", &v))
		RD_SET(m->corrupted, v * 1024);
}
