/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User space: device files, providers of libibverbs, settings that all jobs read. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "collect/host/system.h"

static void add_uverbs(const struct rd_sysfs *fs, struct rd_system *system, const char *name)
{
	struct rd_source *src = fs->src;
	struct rd_uverbs *uverbs;
	uint64_t value;
	char path[128];

	uverbs = RD_ADD(system->uverbs, system->n_uverbs, system->cap_uverbs);
	*uverbs = (struct rd_uverbs){ .name = rd_dup(name) };
	uverbs->ibdev = rd_sysfs_text(fs, NULL, "/sys/class/infiniband_verbs/%s/ibdev", name);
	snprintf(path, sizeof(path), "/dev/infiniband/%.64s", name);
	uverbs->node = rd_stat(src, RD_OP_RDEV, path, &value, NULL) == 0;
	if (uverbs->node && rd_stat(src, RD_OP_MODE, path, &value, NULL) == 0)
		RD_SET(uverbs->mode, (unsigned)value);
}

static void read_devices(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_names_ struct rd_names names = { 0 }, misc = { 0 };
	_cleanup_free_ char *first = rd_sysfs_text(fs, NULL, "/proc/1/comm");
	_cleanup_free_ char *second = rd_sysfs_text(fs, NULL, "/proc/2/comm");
	uint64_t value;

	system->processes = second && strcmp(second, "kthreadd") == 0 ? RD_OF_HOST :
			    first				      ? RD_OF_CONTAINER :
									RD_OF_NOBODY;
	if (rd_sysfs_list(fs, &names, "/sys/class/infiniband_verbs") < 0)
		return;
	rd_names_sort_natural(&names);
	system->uverbs_known = true;
	system->dev_known = rd_stat(fs->src, RD_OP_RDEV, "/dev/null", &value, NULL) == 0;
	for (size_t i = 0; i < names.n && i < 4096; i++)
		if (strncmp(names.v[i], "uverbs", 6) == 0)
			add_uverbs(fs, system, names.v[i]);
	system->has_rdma_cm = rd_sysfs_list(fs, &misc, "/sys/class/misc/rdma_cm") == 0;
	system->rdma_cm_node = rd_stat(fs->src, RD_OP_RDEV, "/dev/infiniband/rdma_cm", &value, NULL) == 0;
}

/* "libmlx5-rdmav34.so", "mlx5.driver": "mlx5". An empty name: no provider. */
static void add_provider(struct rd_system *system, const char *file)
{
	const char *name = strncmp(file, "lib", 3) == 0 ? file + 3 : file;
	size_t n = strcspn(name, "-.");
	char copy[64];

	if (n == 0 || n >= sizeof(copy))
		return;
	memcpy(copy, name, n);
	copy[n] = '\0';
	if (!rd_text_list_has(&system->providers, copy))
		rd_text_list_add(&system->providers, copy);
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

/* "libibverbs.so.1" is a link to "libibverbs.so.1.14.44.0". */
static void read_libibverbs(const struct rd_sysfs *fs, const char *dir, struct rd_system *system)
{
	static const char base[] = "libibverbs.so.";
	_cleanup_free_ char *target = rd_sysfs_link(fs, "%s/libibverbs.so.1", dir);
	const char *name = target ? rd_basename(target) : "";

	if (!system->libibverbs && strncmp(name, base, sizeof(base) - 1) == 0)
		system->libibverbs = rd_dup(name + sizeof(base) - 1);
}

/* A provider must be a library that libibverbs finds; files in libibverbs.d only name it. */
static void read_providers(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const dirs[] = { "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
					    "/usr/lib/powerpc64le-linux-gnu" };

	for (size_t d = 0; d < RD_ARRAY_SIZE(dirs); d++) {
		_cleanup_names_ struct rd_names names = { 0 };

		read_libibverbs(fs, dirs[d], system);
		if (rd_sysfs_list(fs, &names, "%s/libibverbs", dirs[d]) < 0)
			continue;
		system->providers_known = true;
		for (size_t i = 0; i < names.n && i < 256; i++)
			if (ends_in(names.v[i], ".so"))
				add_provider(system, names.v[i]);
	}
	/* Without the directory there is no provider, if libibverbs is installed. */
	system->providers_known |= system->libibverbs != NULL;
}

/* NAME=VALUE lines of files that apply to every job on this host. */
static void read_job_env(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const files[] = { "/etc/nccl.conf", "/etc/environment" };
	static const char *const kinds[] = { "NCCL_", "NVSHMEM_", "UCX_", "GLOO_", "FI_", "MC_" };

	for (size_t f = 0; f < RD_ARRAY_SIZE(files); f++) {
		_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "%s", files[f]);
		char *rest = text, *line;

		while ((line = strsep(&rest, "\n"))) {
			line = rd_trim(line);
			for (size_t k = 0; k < RD_ARRAY_SIZE(kinds); k++)
				if (strncmp(line, kinds[k], strlen(kinds[k])) == 0 && strchr(line, '='))
					rd_text_list_add(&system->job_env, line);
		}
	}
}

void rd_collect_userspace(const struct rd_sysfs *fs, struct rd_system *system)
{
	read_devices(fs, system);
	read_providers(fs, system);
	read_job_env(fs, system);
}
