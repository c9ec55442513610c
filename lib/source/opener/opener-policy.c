/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a confined process may request. It may be controlled by an attacker through the data it parsed. */
#include "opener-priv.h"

#include <ctype.h>
#include <string.h>

/* A file directly in one of the directories. */
static bool in_folder(const struct opener_names *names, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash ? strndup(path, (size_t)(slash - path)) : NULL;

	return folder && strcmp(slash, "/..") != 0 && rd_opener_find(names, RD_OPENER_FOLDER, folder);
}

/* Whether the path is in the canonical form of the lists here: absolute, without "//", "." and "..". */
static bool is_plain(const char *path)
{
	size_t length;

	if (*path != '/')
		return false;
	for (const char *at = path; *at; at += length) {
		at++;
		length = strcspn(at, "/");
		if (length == 0 || (length <= 2 && strspn(at, ".") >= length))
			return false;
	}
	return true;
}

/* Each with everything below it. Not all of sysfs: other file systems are mounted in it, and some files contain secrets. */
static const char *const trees[] = {
	"/ethtool",
	"/etc/systemd/system.conf.d",
	"/proc/driver/nvidia",
	"/proc/sys/net/ipv4/conf",
	"/proc/sys/net/ipv4/neigh/default",
	"/run/systemd/system.conf.d",
	"/sys/bus/pci",
	"/sys/class/dmi/id",
	"/sys/class/infiniband",
	"/sys/class/infiniband_verbs",
	"/sys/class/misc/rdma_cm",
	"/sys/class/net",
	"/sys/devices",
	"/sys/fs/cgroup",
	"/sys/kernel/btf",
	"/sys/kernel/debug/mlx5",
	"/sys/kernel/iommu_groups",
	"/sys/kernel/memory_peers",
	"/sys/kernel/mm",
	"/sys/memory_peers",
	"/sys/module",
	"/usr/lib/systemd/system.conf.d",
	"/verbs",
};

static const char *const exactly[] = {
	RD_SOURCE_MAPS "/rdmadiag_qps",
	"/dev/kmsg",
	"/etc/environment",
	"/etc/nccl.conf",
	"/etc/opensm/ib-node-name-map",
	"/etc/systemd/system.conf",
	"/proc",
	"/proc/cmdline",
	"/proc/cpuinfo",
	"/proc/modules",
	"/proc/net/fib_trie",
	"/proc/net/if_inet6",
	"/proc/net/route",
	"/proc/self/ns/pid",
	"/proc/self/status",
	"/proc/sys/kernel/hostname",
	"/proc/sys/kernel/numa_balancing",
	"/proc/sys/kernel/osrelease",
	"/proc/sys/kernel/random/boot_id",
	"/proc/sys/kernel/version",
	"/proc/sys/net/core/rmem_max",
	"/proc/sys/net/core/wmem_max",
	"/proc/sys/net/ipv4/ip_default_ttl",
	"/proc/sys/net/ipv4/ip_forward",
	"/proc/sys/vm/max_map_count",
	"/proc/sys/vm/nr_hugepages",
	"/proc/sys/vm/zone_reclaim_mode",
	"/sys/class",
	RD_SOURCE_NCCL_XML,
	"/usr/share/hwdata/pci.ids",
	"/usr/share/misc/pci.ids",
};

/* Directories in which libraries with this prefix are searched. */
static const char *const library_folders[] = {
	"/usr/lib64",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib/powerpc64le-linux-gnu",
};
#define LIBRARY "/libibverbs"

/* Files that only root can read, or that have side effects when read. No collected fact has such a name. */
static const char *const closed[] = { "eeprom", "fifo", "key", "nvmem", "rom", "vpd" };

static bool is_closed(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	size_t length = strlen(name);

	for (size_t i = 0; i < RD_ARRAY_SIZE(closed); i++)
		if (strcmp(name, closed[i]) == 0)
			return true;
	/* "resource0" is the memory of a PCI device. */
	return strstr(name, "secret") || strstr(name, "passw") ||
	       (length > 4 && strcmp(name + length - 4, "_key") == 0) ||
	       (strncmp(name, "resource", 8) == 0 && isdigit((unsigned char)name[8])) || strstr(path, "/devcoredump/");
}

static bool is_within(const char *path, const char *tree)
{
	size_t length = strlen(tree);

	return strncmp(path, tree, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

static bool is_library(const char *path)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(library_folders); i++) {
		size_t length = strlen(library_folders[i]);

		if (is_within(path, library_folders[i]) &&
		    (path[length] == '\0' || strncmp(path + length, LIBRARY, strlen(LIBRARY)) == 0))
			return true;
	}
	return false;
}

/* Files of all processes; and further files of the process of --pid. */
static const char *const of_process[] = { "cgroup", "comm", "limits", "status", "uid_map" };
static const char *const of_named_process[] = { "environ", "fd", "maps" };

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_process_file(const struct opener_names *names, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *process = slash ? strndup(path, (size_t)(slash - path)) : NULL;

	if (!process || strncmp(process, "/proc/", 6) != 0 || !process[6] ||
	    strspn(process + 6, "0123456789") != strlen(process + 6))
		return false;
	return is_one_of(slash + 1, of_process, RD_ARRAY_SIZE(of_process)) ||
	       (rd_opener_find(names, RD_OPENER_PROCESS, process) &&
		is_one_of(slash + 1, of_named_process, RD_ARRAY_SIZE(of_named_process)));
}

/* stat only, not opened: opening an issm* device makes its port announce a subnet manager. */
static bool is_device(const struct rd_query *query, const char *path)
{
	return (query->op == RD_OP_RDEV || query->op == RD_OP_INO || query->op == RD_OP_MODE) &&
	       (is_within(path, "/dev/infiniband") || strcmp(path, "/dev/null") == 0);
}

static bool is_host_path(const struct opener_names *names, const struct rd_query *query, const char *path)
{
	/* Interfaces and control groups may have any name, but are directories. */
	if (!is_plain(path) || (query->op == RD_OP_READ && is_closed(path)))
		return false;
	if (strncmp(path, "/boot/config-", 13) == 0 && !strchr(path + 13, '/'))
		return true;
	for (size_t i = 0; i < RD_ARRAY_SIZE(trees); i++)
		if (is_within(path, trees[i]))
			return true;
	return is_one_of(path, exactly, RD_ARRAY_SIZE(exactly)) || is_device(query, path) || is_library(path) ||
	       is_process_file(names, path);
}

static bool may_ask_path(const struct opener_names *names, const struct rd_query *query)
{
	const char *path = query->data;

	if (query->size == 0 || path[query->size - 1] || strlen(path) + 1 != query->size)
		return false;
	if (query->op == RD_OP_READ && (rd_opener_find(names, RD_OPENER_INPUT, path) || in_folder(names, path)))
		return true;
	if (query->op == RD_OP_LIST && rd_opener_find(names, RD_OPENER_FOLDER, path))
		return true;
	/* Directories with the tables of the program. */
	if (query->op == RD_OP_LINK && strcmp(path, "/proc/self/exe") == 0)
		return true;
	return names->host && is_host_path(names, query, path);
}

bool rd_opener_may_ask(const struct opener_names *names, const struct rd_query *query)
{
	return query->op == RD_OP_NETLINK ? rd_opener_may_request(names, query) : may_ask_path(names, query);
}
