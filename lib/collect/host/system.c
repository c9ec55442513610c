/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel, modules, the accelerator driver's settings, huge pages. */
#include "collect/host/system.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "collect/kernel/modules.h"

/* Modules that matter to RDMA but do not depend on ib_core: drivers of accelerators, and the compatibility layer of
 * out-of-tree stacks. */
static const char *const beside[] = { "nvidia", "nvidia_peermem", "nv_peer_mem", "amdgpu", "mlx_compat", "gdrdrv" };

static bool is_beside(const char *name)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(beside); i++)
		if (strcmp(beside[i], name) == 0)
			return true;
	return false;
}

static void add_module(const struct rd_sysfs *fs, struct rd_system *system, const struct rd_kmod *mod, bool rdma)
{
	struct rd_module *module;

	module = RD_ADD(system->modules, system->n_modules, system->cap_modules);
	*module = (struct rd_module){ .name = rd_dup(mod->name), .out_of_tree = mod->out_of_tree, .rdma = rdma };
	if (rdma || is_beside(mod->name))
		module->version = rd_sysfs_text(fs, NULL, "/sys/module/%s/version", mod->name);
}

static void collect_modules(const struct rd_sysfs *fs, struct rd_system *system)
{
	struct rd_kmods mods = { 0 };
	_cleanup_free_ bool *marked = NULL;
	struct rd_err err = { 0 };
	int core, r = rd_kmods_read(fs->src, &mods, &err);

	if (r == -EBADMSG)
		rd_errlist_add(fs->errors, &err);
	if (r < 0)
		return;
	system->modules_known =
		mods.n > 0; /* an empty file: a host without any module is rare, one that was not recorded is not */
	marked = rd_alloc(mods.n + 1, sizeof(*marked));
	core = rd_kmods_find(&mods, "ib_core");
	if (core >= 0)
		rd_kmods_mark_users(&mods, core, marked);
	for (size_t i = 0; i < mods.n; i++)
		add_module(fs, system, &mods.v[i], marked[i]);
	rd_kmods_deinit(&mods);
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build …", "… UNIX aarch64 Kernel Module
 * 550.54.15 …": the word with a dot is the version. */
static char *nvidia_version_of(const char *line)
{
	for (const char *at = line; *at && *at != '\n';) {
		size_t n = strspn(at, "0123456789.");

		if (n && memchr(at, '.', n) && (at == line || at[-1] == ' '))
			return rd_dup_part(at, n);
		at += n ? n : 1;
	}
	return NULL;
}

/* The licence of the closed module taints the kernel (P); the open one is "Dual MIT/GPL". In containers this file often
 * exists, but not the driver's own. */
static void read_nvidia_licence(const struct rd_sysfs *fs, const char *version, struct rd_system *system)
{
	_cleanup_free_ char *taint = NULL;

	if (version && strstr(version, "Kernel Module")) {
		RD_SET(system->nvidia_open, strstr(version, "Open Kernel") != NULL);
		return;
	}
	taint = rd_sysfs_text(fs, NULL, "/sys/module/nvidia/taint");
	if (taint && strchr(taint, 'O'))
		RD_SET(system->nvidia_open, !strchr(taint, 'P'));
}

static void read_nvidia(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_free_ char *version = rd_sysfs_text(fs, NULL, "/proc/driver/nvidia/version");
	_cleanup_free_ char *params = rd_sysfs_text(fs, NULL, "/proc/driver/nvidia/params");
	const char *at, *quote;
	uint64_t memops;

	system->nvidia_version = version ? nvidia_version_of(version) : NULL;
	read_nvidia_licence(fs, version, system);
	at = params ? strstr(params, "RegistryDwords: \"") : NULL;
	if (at) {
		at += strlen("RegistryDwords: \"");
		quote = strchr(at, '"');
		system->nvidia_registry = quote ? rd_dup_part(at, (size_t)(quote - at)) : NULL;
	}
	at = params ? strstr(params, "EnableStreamMemOPs:") : NULL;
	if (at) {
		at += strlen("EnableStreamMemOPs:");
		RD_SET(system->nvidia_stream_memops, rd_take_uints(&at, RD_DECIMAL, &memops, 1) == 1 && memops != 0);
	}
}

static void read_memory_peers(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const dirs[] = { "/sys/kernel/mm/memory_peers", "/sys/kernel/memory_peers",
					    "/sys/memory_peers" };
	_cleanup_free_ char *version = NULL;

	for (size_t i = 0; i < RD_ARRAY_SIZE(dirs); i++) {
		_cleanup_names_ struct rd_names names = { 0 };

		if (rd_sysfs_list(fs, &names, "%s", dirs[i]) < 0)
			continue;
		for (size_t n = 0; n < names.n && n < 32; n++)
			rd_text_list_add(&system->memory_peers, names.v[n]);
	}
	/* What NCCL looks for beside those: an RDMA core without peer memory lists no peers. */
	version = rd_sysfs_text(fs, NULL, "/sys/module/nvidia_peermem/version");
	if (version)
		rd_text_list_add(&system->memory_peers, "nvidia_peermem");
}

static bool contains(const struct rd_bytes *bytes, const char *word)
{
	return memmem(bytes->data, bytes->size, word, strlen(word)) != NULL;
}

/* BTF, which is readable without privilege, lists the functions of a module: with DMA-BUF support ib_uverbs has
 * ib_umem_dmabuf_get; in out-of-tree stacks ib_core has it. */
static void read_dmabuf(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const files[] = { "/sys/kernel/btf/ib_uverbs", "/sys/kernel/btf/ib_core" };
	bool any = false, found = false;

	for (size_t i = 0; i < RD_ARRAY_SIZE(files) && !found; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		if (rd_read_file(fs->src, files[i], &bytes, NULL) < 0)
			continue;
		any |= i == 0 && memchr(bytes.data, 0, bytes.size) != NULL; /* BTF is binary */
		found = contains(&bytes, "ib_umem_dmabuf_get");
	}
	if (any || found)
		RD_SET(system->dmabuf, found);
}

static void read_p2pdma(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_free_ char *text = NULL;

	if (!system->release || (!rd_system_module(system, "nvidia") && !rd_system_module(system, "amdgpu")) ||
	    rd_read_textf(fs->src, &text, NULL, "/boot/config-%s", system->release) < 0 ||
	    !strstr(text, "CONFIG_PCI=y") || strstr(text, "CONFIG_ARM64=y"))
		return; /* Grace maps the memory of its GPUs as pages */
	RD_SET(system->p2pdma, strstr(text, "\nCONFIG_PCI_P2PDMA=y") != NULL);
}

/* "hugepages-2048kB" */
static bool parse_page_kb(const char *name, uint64_t *ret)
{
	static const char prefix[] = "hugepages-";
	const char *at = name + sizeof(prefix) - 1;

	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 &&
	       rd_take_uint(&at, RD_DECIMAL, UINT64_C(1) << 40, ret) == 0;
}

/* `node`: "node0". */
static void read_node_huge(const struct rd_sysfs *fs, struct rd_system *system, const char *node)
{
	_cleanup_names_ struct rd_names sizes = { 0 };
	struct rd_huge huge = { 0 };
	uint32_t number;

	if (rd_parse_u32(node + 4, RD_DECIMAL, INT32_MAX, &number) < 0)
		return;
	huge.node = (int)number;
	if (rd_sysfs_list(fs, &sizes, "/sys/devices/system/node/%s/hugepages", node) < 0)
		return;
	for (size_t i = 0; i < sizes.n && i < 16; i++) {
		uint64_t kb = 0;
		int64_t total = 0, free_ = 0;

		if (!parse_page_kb(sizes.v[i], &kb))
			continue;
		rd_sysfs_int(fs, &total, "/sys/devices/system/node/%s/hugepages/%s/nr_hugepages", node, sizes.v[i]);
		rd_sysfs_int(fs, &free_, "/sys/devices/system/node/%s/hugepages/%s/free_hugepages", node, sizes.v[i]);
		if (total < 0 || free_ < 0 || total > INT64_C(1) << 32 || free_ > total)
			continue;
		huge.total += (uint64_t)total * kb * 1024;
		huge.free += (uint64_t)free_ * kb * 1024;
	}
	*RD_ADD(system->huge, system->n_huge, system->cap_huge) = huge;
}

static void read_huge(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_names_ struct rd_names names = { 0 };

	if (rd_sysfs_list(fs, &names, "/sys/devices/system/node") < 0)
		return;
	rd_names_sort_natural(&names);
	for (size_t i = 0; i < names.n && system->n_huge < 1024; i++)
		if (strncmp(names.v[i], "node", 4) == 0)
			read_node_huge(fs, system, names.v[i]);
}

void rd_collect_gpu_memory(const struct rd_sysfs *fs, struct rd_system *system)
{
	read_nvidia(fs, system);
	read_dmabuf(fs, system);
	collect_modules(fs, system);
	read_p2pdma(fs, system);
	read_memory_peers(fs, system);
}

int rd_collect_system(struct rd_source *src, int pid, struct rd_system *system, struct rd_errlist *errors,
		      struct rd_err *err)
{
	const struct rd_sysfs fs = { .src = src, .errors = errors };
	int64_t value;

	system->asked_pid = pid;
	system->release = rd_sysfs_text(&fs, NULL, "/proc/sys/kernel/osrelease");
	if (rd_sysfs_int(&fs, &value, "/proc/sys/vm/max_map_count") == RD_OK && value >= 0)
		RD_SET(system->max_map_count, (uint64_t)value);
	system->thp_defrag = rd_sysfs_text(&fs, NULL, "/sys/kernel/mm/transparent_hugepage/defrag");
	rd_collect_gpu_memory(&fs, system);
	read_huge(&fs, system);
	if (rd_collect_limits(&fs, system) < 0)
		return rd_err_set(err, ESRCH, "--pid", "no such process, or not readable: %d", pid);
	rd_collect_userspace(&fs, system);
	return 0;
}
