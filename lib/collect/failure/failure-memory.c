// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of control groups, and memory. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "collect/failure/failure.h"
#include "collect/shared/sysfs.h"

#define CGROUPS "/sys/fs/cgroup"
#define DEPTH_MAX 64
#define HUGE_PAGES "/sys/kernel/mm/hugepages/hugepages-2048kB"

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

/* The number after "max " in memory.events: how often the limit was reached. */
static void read_failures(const struct rd_sysfs *fs, const char *path, struct rd_fail_memory *ret)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, CGROUPS "%s/memory.events", path);
	const char *at = text ? strstr(text, "\nmax ") : NULL;
	uint64_t v;

	at = at ? at + strlen("\nmax ") : NULL;
	if (at && rd_take_uint(&at, RD_DECIMAL, UINT64_MAX, &v) == 0)
		RD_SET(ret->cgroup_failures, v);
}

/* Of all groups that limit the memory of the caller, the one with least of it left. */
static void read_cgroup_memory(const struct rd_sysfs *fs, const char *cgroup, struct rd_fail_memory *ret)
{
	_cleanup_free_ char *path = rd_dup(cgroup);
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < DEPTH_MAX && path[1]; i++) {
		_cleanup_free_ char *max = rd_sysfs_text(fs, NULL, CGROUPS "%s/memory.max", path);
		_cleanup_free_ char *current = rd_sysfs_text(fs, NULL, CGROUPS "%s/memory.current", path);
		uint64_t most, now;

		if (max && take_limit(max, &most) && most != UINT64_MAX && current && take_limit(current, &now) &&
		    (now > most ? 0 : most - now) < least) {
			least = now > most ? 0 : most - now;
			free(ret->cgroup);
			ret->cgroup = rd_dup(path);
			RD_SET(ret->cgroup_max, most);
			RD_SET(ret->cgroup_current, now);
		}
		if (!to_parent(path))
			break;
	}
	if (ret->cgroup)
		read_failures(fs, ret->cgroup, ret);
}

/* "HardwareCorrupted:    16 kB" */
static void read_corrupted(const struct rd_sysfs *fs, struct rd_fail_memory *ret)
{
	static const char key[] = "\nHardwareCorrupted:";
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "/proc/meminfo");
	const char *at = text ? strstr(text, key) : NULL;
	uint64_t v;

	at = at ? at + strlen(key) : NULL;
	while (at && *at == ' ')
		at++;
	if (at && rd_take_uint(&at, RD_DECIMAL, UINT64_MAX / 1024, &v) == 0)
		RD_SET(ret->corrupted, v * 1024);
}

void rd_failure_read_memory(const struct rd_sysfs *fs, struct rd_failure *f)
{
	struct rd_fail_memory *m = &f->memory;
	bool loaded = false;
	int64_t v;

	if (f->event->cgroup)
		read_cgroup_memory(fs, f->event->cgroup, m);
	if (rd_sysfs_int(fs, &v, HUGE_PAGES "/nr_hugepages") == RD_OK && v >= 0)
		RD_SET(m->huge_total, (uint64_t)v);
	if (rd_sysfs_int(fs, &v, HUGE_PAGES "/free_hugepages") == RD_OK && v >= 0)
		RD_SET(m->huge_free, (uint64_t)v);
	for (size_t i = 0; i < RD_ARRAY_SIZE(peer_modules); i++) {
		uint64_t ino;
		char path[64];

		snprintf(path, sizeof(path), "/sys/module/%s", peer_modules[i]);
		loaded = loaded || !rd_stat(fs->src, RD_OP_INO, path, &ino, NULL);
	}
	RD_SET(m->peer_module, loaded);
	read_corrupted(fs, m);
}
