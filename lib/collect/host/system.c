/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Software and limits of the host. */
#include "collect/host/host.h"

#include <fnmatch.h>
#include <linux/capability.h>

#include "collect/kernel/kernel.h"

/* Limits of locked memory and open files: of processes that start jobs or serve storage, and the service manager's default. The limits of a login shell do
 * not apply to jobs. */

#define PROCESSES_MAX 65536
#define LAUNCHERS_MAX 64

bool rd_size_parse(const char *text, uint64_t *ret)
{
	static const char units[] = "BKMGTPE";
	const char *unit;
	uint64_t value;

	text += strspn(text, " \t");
	if (strncmp(text, "infinity", 8) == 0 || strncmp(text, "unlimited", 9) == 0) {
		*ret = RD_UNLIMITED;
		return true;
	}
	if (rd_take_uint(&text, RD_DECIMAL, UINT64_MAX, &value) < 0)
		return false;
	unit = *text ? strchr(units, *text) : NULL;
	if (unit) {
		unsigned shift = (unsigned)(unit - units) * 10;

		if (value > UINT64_MAX >> shift)
			return false;
		value <<= shift;
		text++;
	}
	*ret = value;
	return *text == '\0' || *text == ':' || *text == ' ' || *text == '\t';
}

/* "Max locked memory         8388608              8388608              bytes": soft, hard */
static enum rd_known take_limit(const char *text, enum rd_known known, const char *name, uint64_t *ret)
{
	const char *at = text ? strstr(text, name) : NULL;

	return at && rd_size_parse(at + strlen(name), ret) ? RD_OK : known == RD_DENIED ? RD_DENIED : RD_ABSENT;
}

#define MEMLOCK "Max locked memory"

static void read_limits(const struct rd_sysfs *fs, int pid, struct rd_launcher *launcher)
{
	enum rd_known known;
	_cleanup_free_ char *text = rd_sysfs_text(fs, &known, "/proc/%d/limits", pid);

	launcher->memlock.known = take_limit(text, known, MEMLOCK, &launcher->memlock.v);
	if (launcher->memlock.known == RD_OK) {
		const char *soft = strstr(text, MEMLOCK) + strlen(MEMLOCK);

		soft += strspn(soft, " ");
		launcher->memlock_hard.known =
			rd_size_parse(soft + strcspn(soft, " \n"), &launcher->memlock_hard.v) ? RD_OK : RD_ABSENT;
	}
	launcher->nofile.known = take_limit(text, known, "Max open files", &launcher->nofile.v);
}

/* "CapEff:\t00000000a80425fb". A non-root process does not get the capabilities of its container, except through file
 * capabilities or the ambient set. In another user namespace the set may be full, but ib_umem_get() ignores it: only the
 * initial one maps all of 2^32 - 1 IDs to themselves. */
static void read_ipc_lock(const struct rd_sysfs *fs, int pid, struct rd_launcher *launcher)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "/proc/%d/status", pid), *map = NULL;
	const char *at = text ? strstr(text, "CapEff:") : NULL;
	uint64_t set, ids[3];

	at = at ? at + strlen("CapEff:") : "";
	if (rd_take_uints(&at, RD_HEX, &set, 1) < 1)
		return;
	if (!(set >> CAP_IPC_LOCK & 1)) {
		RD_SET(launcher->ipc_lock, false);
		return;
	}
	map = rd_sysfs_text(fs, NULL, "/proc/%d/uid_map", pid);
	at = map ? map : "";
	if (rd_take_uints(&at, RD_DECIMAL, ids, 3) == 3)
		RD_SET(launcher->ipc_lock, ids[0] == 0 && ids[1] == 0 && ids[2] == UINT32_MAX);
}

static void add_launcher(const struct rd_sysfs *fs, struct rd_system *system, int pid, const char *comm)
{
	struct rd_launcher *launcher = RD_ADD(system->launchers, system->n_launchers, system->cap_launchers);

	*launcher = (struct rd_launcher){ .pid = pid, .comm = rd_dup(comm) };
	launcher->serves = rd_program_serves_storage(comm);
	read_limits(fs, pid, launcher);
	if (pid == system->asked_pid) {
		_cleanup_texts_ struct rd_texts names = { 0 };
		_cleanup_free_ char *maps = NULL;
		enum rd_known known;

		if (rd_sysfs_list(fs, &names, "/proc/%d/fd", pid) >= 0)
			RD_SET(launcher->files, names.n);
		maps = rd_sysfs_text(fs, &known, "/proc/%d/maps", pid);
		launcher->maps.known = known;
		for (const char *at = maps; at && *at; at = strchr(at, '\n')) {
			at += *at == '\n';
			launcher->maps.v++;
		}
		read_ipc_lock(fs, pid, launcher);
	}
}

static void find_launchers(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	size_t n[2] = { 0 }; /* that start jobs, that serve */

	if (rd_sysfs_list(fs, &names, "/proc") < 0)
		return;
	for (size_t i = 0; i < names.n && i < PROCESSES_MAX; i++) {
		_cleanup_free_ char *comm = NULL;
		uint32_t pid;

		if (rd_parse_u32(names.v[i], RD_DECIMAL, INT32_MAX, &pid) < 0 || pid == 0)
			continue;
		comm = rd_sysfs_text(fs, NULL, "/proc/%u/comm", pid);
		if (comm && (rd_program_starts_jobs(comm) || rd_program_serves_storage(comm)) &&
		    n[rd_program_serves_storage(comm)]++ < LAUNCHERS_MAX)
			add_launcher(fs, system, (int)pid, comm);
	}
}

/* The last "DefaultLimitMEMLOCK=" of a file counts. */
static void read_default(const struct rd_sysfs *fs, struct rd_system *system, const char *path)
{
	_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "%s", path);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		static const char key[] = "DefaultLimitMEMLOCK=";
		uint64_t value;

		line = rd_trim(line);
		if (strncmp(line, key, sizeof(key) - 1) != 0 || !rd_size_parse(line + sizeof(key) - 1, &value))
			continue;
		RD_SET(system->default_memlock, value);
		system->default_memlock_from = "systemd's DefaultLimitMEMLOCK=";
	}
}

/* systemd: its main file, then the drop-ins; it applies to services without a setting. Default: 8 MiB
 * (systemd-system.conf(5)). With other init systems services inherit the limit of process 1. */
static void read_defaults(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const dirs[] = { "/usr/lib/systemd/system.conf.d", "/run/systemd/system.conf.d",
					    "/etc/systemd/system.conf.d" };
	_cleanup_free_ char *comm = rd_sysfs_text(fs, NULL, "/proc/1/comm");
	struct rd_launcher first = { 0 };

	if (!comm)
		return;
	if (strcmp(comm, "systemd") != 0) {
		read_limits(fs, 1, &first);
		system->default_memlock.v = first.memlock.v;
		system->default_memlock.known = first.memlock.known;
		system->default_memlock_from = "the limit of process 1";
		return;
	}
	RD_SET(system->default_memlock, UINT64_C(8) << 20);
	system->default_memlock_from = "systemd's built-in default";
	read_default(fs, system, "/etc/systemd/system.conf");
	for (size_t d = 0; d < RD_ARRAY_SIZE(dirs); d++) {
		_cleanup_texts_ struct rd_texts names = { 0 };

		if (rd_sysfs_list(fs, &names, "%s", dirs[d]) < 0)
			continue;
		for (size_t i = 0; i < names.n && i < 256; i++) {
			char path[384];

			snprintf(path, sizeof(path), "%s/%.255s", dirs[d], names.v[i]);
			read_default(fs, system, path);
		}
	}
}

int rd_collect_limits(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_free_ char *comm = NULL;

	read_defaults(fs, system);
	if (!system->asked_pid) {
		find_launchers(fs, system);
		return 0;
	}
	comm = rd_sysfs_text(fs, NULL, "/proc/%d/comm", system->asked_pid);
	if (!comm)
		return -ESRCH;
	add_launcher(fs, system, system->asked_pid, comm);
	return 0;
}

/* User space: device files, providers of libibverbs, settings that all jobs read. */

static void read_devices(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_texts_ struct rd_texts names = { 0 }, misc = { 0 };
	_cleanup_free_ char *first = rd_sysfs_text(fs, NULL, "/proc/1/comm");
	_cleanup_free_ char *second = rd_sysfs_text(fs, NULL, "/proc/2/comm");
	uint64_t value;

	system->processes = second && strcmp(second, "kthreadd") == 0 ? RD_OF_HOST :
			    first				      ? RD_OF_CONTAINER :
									RD_OF_NOBODY;
	if (rd_sysfs_list(fs, &names, "/sys/class/infiniband_verbs") < 0)
		return;
	rd_texts_sort_natural(&names);
	system->uverbs_known = true;
	system->dev_known = rd_stat(fs->src, RD_OP_RDEV, "/dev/null", &value, NULL) == 0;
	for (size_t i = 0; i < names.n && i < 4096; i++)
		if (strncmp(names.v[i], "uverbs", 6) == 0) {
			struct rd_source *src = fs->src;
			struct rd_uverbs *uverbs;
			uint64_t rdev;
			char path[128];

			uverbs = RD_ADD(system->uverbs, system->n_uverbs, system->cap_uverbs);
			*uverbs = (struct rd_uverbs){ .name = rd_dup(names.v[i]) };
			uverbs->ibdev = rd_sysfs_text(fs, NULL, "/sys/class/infiniband_verbs/%s/ibdev", names.v[i]);
			snprintf(path, sizeof(path), "/dev/infiniband/%.64s", names.v[i]);
			uverbs->node = rd_stat(src, RD_OP_RDEV, path, &rdev, NULL) == 0;
			if (uverbs->node && rd_stat(src, RD_OP_MODE, path, &rdev, NULL) == 0)
				RD_SET(uverbs->mode, (unsigned)rdev);
		}
	system->has_rdma_cm = rd_sysfs_list(fs, &misc, "/sys/class/misc/rdma_cm") == 0;
	system->rdma_cm_node = rd_stat(fs->src, RD_OP_RDEV, "/dev/infiniband/rdma_cm", &value, NULL) == 0;
}

/* "libmlx5-rdmav34.so", "mlx5.driver": "mlx5". An empty name: no provider. */
static void add_provider(struct rd_texts *list, const char *file)
{
	const char *name = strncmp(file, "lib", 3) == 0 ? file + 3 : file;
	size_t n = strcspn(name, "-.");
	char copy[64];

	if (n == 0 || n >= sizeof(copy))
		return;
	memcpy(copy, name, n);
	copy[n] = '\0';
	if (!rd_texts_has(list, copy))
		rd_texts_add(list, copy);
}

static bool add_providers(const struct rd_sysfs *fs, struct rd_texts *list, const char *dir, const char *below,
			  const char *pattern)
{
	_cleanup_texts_ struct rd_texts names = { 0 };

	if (rd_sysfs_list(fs, &names, "%s%s", dir, below) < 0)
		return false;
	for (size_t i = 0; i < names.n && list->n < 256; i++)
		if (fnmatch(pattern, names.v[i], 0) == 0)
			add_provider(list, names.v[i]);
	return true;
}

void rd_collect_userspace(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const dirs[] = { "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
					    "/usr/lib/powerpc64le-linux-gnu", "/usr/lib" };
	/* Broadcom's package installs to them; the loader finds it there if it was configured so. */
	static const char *const local[] = { "/usr/local/lib", "/usr/local/lib64" };
	static const char *const files[] = { "/etc/nccl.conf", "/etc/environment" };
	static const char *const kinds[] = { "NCCL_", "NVSHMEM_", "UCX_", "GLOO_", "FI_", "MC_" };

	read_devices(fs, system);
	/* A provider must be a library that libibverbs finds; files in libibverbs.d only name it. */
	for (size_t d = 0; d < RD_ARRAY_SIZE(dirs); d++) {
		static const char base[] = "libibverbs.so.";
		_cleanup_free_ char *target = NULL;
		const char *name;

		/* "libibverbs.so.1" is a link to "libibverbs.so.1.14.44.0". */
		target = rd_sysfs_link(fs, "%s/libibverbs.so.1", dirs[d]);
		name = target ? rd_basename(target) : "";
		if (!system->libibverbs && strncmp(name, base, sizeof(base) - 1) == 0)
			system->libibverbs = rd_dup(name + sizeof(base) - 1);
		system->providers_known |= add_providers(fs, &system->providers, dirs[d], "/libibverbs", "*.so");
	}
	for (size_t d = 0; d < RD_ARRAY_SIZE(local); d++)
		add_providers(fs, &system->providers_local, local[d], "", "lib*-rdmav*.so");
	/* Without the directory there is no provider, if libibverbs is installed. */
	system->providers_known |= system->libibverbs != NULL;
	/* NAME=VALUE lines of files that apply to every job on this host. */
	for (size_t f = 0; f < RD_ARRAY_SIZE(files); f++) {
		_cleanup_free_ char *text = rd_sysfs_text(fs, NULL, "%s", files[f]);
		char *rest = text, *line;

		while ((line = strsep(&rest, "\n"))) {
			line = rd_trim(line);
			for (size_t k = 0; k < RD_ARRAY_SIZE(kinds); k++)
				if (rd_starts_with(line, kinds[k]) && strchr(line, '='))
					rd_texts_add(&system->job_env, line);
		}
	}
}

/* Kernel, modules, the accelerator driver's settings, huge pages. */

/* Modules that matter to RDMA but do not depend on ib_core: drivers of accelerators, and the compatibility layer of
 * out-of-tree stacks. */
static const char *const beside[] = { "nvidia", "nvidia_peermem", "nv_peer_mem", "amdgpu", "mlx_compat", "gdrdrv" };

/* Whether one of these modules, of the kernel itself, uses it. */
static bool has_in_tree_user(const struct rd_kmods *mods, const struct rd_kmod *mod, const bool *marked)
{
	for (size_t u = 0; u < mod->users.n; u++) {
		int user = rd_kmods_find(mods, mod->users.v[u]);

		if (user >= 0 && marked[user] && !mods->v[user].out_of_tree)
			return true;
	}
	return false;
}

static void collect_modules(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_(rd_kmods_deinit) struct rd_kmods mods = { 0 };
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
	for (size_t i = 0; i < mods.n; i++) {
		struct rd_loaded_module *module;

		module = RD_ADD(system->modules, system->n_modules, system->cap_modules);
		*module = (struct rd_loaded_module){ .name = rd_dup(mods.v[i].name),
						     .out_of_tree = mods.v[i].out_of_tree,
						     .rdma = marked[i],
						     .in_tree_user = has_in_tree_user(&mods, &mods.v[i], marked) };
		for (size_t b = 0; b < RD_ARRAY_SIZE(beside); b++)
			marked[i] |= strcmp(beside[b], mods.v[i].name) == 0;
		if (marked[i])
			module->version = rd_sysfs_text(fs, NULL, "/sys/module/%s/version", mods.v[i].name);
	}
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

static void read_memory_peers(const struct rd_sysfs *fs, struct rd_system *system)
{
	static const char *const dirs[] = { "/sys/kernel/mm/memory_peers", "/sys/kernel/memory_peers",
					    "/sys/memory_peers" };
	_cleanup_texts_ struct rd_texts devices = { 0 };
	_cleanup_free_ char *version = NULL;

	for (size_t i = 0; i < RD_ARRAY_SIZE(dirs); i++) {
		_cleanup_texts_ struct rd_texts names = { 0 };

		if (rd_sysfs_list(fs, &names, "%s", dirs[i]) < 0)
			continue;
		for (size_t n = 0; n < names.n && n < 32; n++)
			rd_texts_add(&system->memory_peers, names.v[n]);
	}
	/* What NCCL looks for beside those: an RDMA core without peer memory lists no peers. */
	version = rd_sysfs_text(fs, NULL, "/sys/module/nvidia_peermem/version");
	if (version)
		rd_texts_add(&system->memory_peers, "nvidia_peermem");
	/* Amazon's driver of EFA calls that of NVIDIA itself, if it can. */
	if (rd_system_module(system, "efa") && rd_sysfs_list(fs, &devices, "/sys/class/infiniband") == 0)
		for (size_t n = 0; n < devices.n && n < 256; n++) {
			_cleanup_free_ char *gdr =
				rd_sysfs_text(fs, NULL, "/sys/class/infiniband/%s/gdr", devices.v[n]);

			if (gdr && strcmp(gdr, "1") == 0)
				return rd_texts_add(&system->memory_peers, "efa");
		}
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

/* `node`: "node0". */
static void read_node_huge(const struct rd_sysfs *fs, struct rd_system *system, const char *node)
{
	_cleanup_texts_ struct rd_texts sizes = { 0 };
	struct rd_huge huge = { 0 };
	uint32_t number;

	if (rd_parse_u32(node + 4, RD_DECIMAL, INT32_MAX, &number) < 0)
		return;
	huge.node = (int)number;
	if (rd_sysfs_list(fs, &sizes, "/sys/devices/system/node/%s/hugepages", node) < 0)
		return;
	for (size_t i = 0; i < sizes.n && i < 16; i++) {
		static const char prefix[] = "hugepages-"; /* "hugepages-2048kB" */
		const char *at = sizes.v[i] + sizeof(prefix) - 1;
		int64_t total = 0, free_ = 0;
		uint64_t kb = 0;

		if (strncmp(sizes.v[i], prefix, sizeof(prefix) - 1) != 0 ||
		    rd_take_uint(&at, RD_DECIMAL, UINT64_C(1) << 40, &kb) < 0)
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

void rd_collect_gpu_memory(const struct rd_sysfs *fs, struct rd_system *system)
{
	_cleanup_free_ char *version = rd_sysfs_text(fs, NULL, "/proc/driver/nvidia/version");
	_cleanup_free_ char *params = rd_sysfs_text(fs, NULL, "/proc/driver/nvidia/params");
	const char *at, *quote;
	uint64_t memops;
	static const char *const files[] = { "/sys/kernel/btf/ib_uverbs", "/sys/kernel/btf/ib_core" };
	bool any = false;
	bool found = false;

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
	/* BTF, which is readable without privilege, lists the functions of a module: with DMA-BUF support ib_uverbs has
	 * ib_umem_dmabuf_get; in out-of-tree stacks ib_core has it. */
	for (size_t i = 0; i < RD_ARRAY_SIZE(files) && !found; i++) {
		_cleanup_bytes_ struct rd_bytes bytes = { 0 };

		if (rd_read_file(fs->src, files[i], &bytes, NULL) < 0)
			continue;
		any |= i == 0 && memchr(bytes.data, 0, bytes.size) != NULL; /* BTF is binary */
		found = memmem(bytes.data, bytes.size, "ib_umem_dmabuf_get", strlen("ib_umem_dmabuf_get")) != NULL;
	}
	if (any || found)
		RD_SET(system->dmabuf, found);
	collect_modules(fs, system);
	read_p2pdma(fs, system);
	read_memory_peers(fs, system);
}

int rd_collect_system(struct rd_source *src, int pid, struct rd_system *system, struct rd_errlist *errors,
		      struct rd_err *err)
{
	const struct rd_sysfs fs = { .src = src, .errors = errors };
	_cleanup_texts_ struct rd_texts nodes = { 0 };
	int64_t value;

	system->asked_pid = pid;
	system->release = rd_sysfs_text(&fs, NULL, "/proc/sys/kernel/osrelease");
	if (rd_sysfs_int(&fs, &value, "/proc/sys/vm/max_map_count") == RD_OK && value >= 0)
		RD_SET(system->max_map_count, (uint64_t)value);
	system->thp_defrag = rd_sysfs_text(&fs, NULL, "/sys/kernel/mm/transparent_hugepage/defrag");
	rd_collect_gpu_memory(&fs, system);
	if (rd_sysfs_list(&fs, &nodes, "/sys/devices/system/node") == 0) {
		rd_texts_sort_natural(&nodes);
		for (size_t i = 0; i < nodes.n && system->n_huge < 1024; i++)
			if (strncmp(nodes.v[i], "node", 4) == 0)
				read_node_huge(&fs, system, nodes.v[i]);
	}
	if (rd_collect_limits(&fs, system) < 0)
		return rd_err_set(err, ESRCH, "--pid", "no such process, or not readable: %d", pid);
	rd_collect_userspace(&fs, system);
	return 0;
}
