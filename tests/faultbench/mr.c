/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that cannot be registered: what is mapped where, and flags.
 */
#include "fault.h"
#include <glob.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* What libc's headers may lack */
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef MADV_HWPOISON
#define MADV_HWPOISON 100
#endif

enum bad_flags {
	REMOTE_WRITE_ALONE = IBV_ACCESS_REMOTE_WRITE,
	REMOTE_ATOMIC_ALONE = IBV_ACCESS_REMOTE_ATOMIC,
	UNKNOWN_BIT = IBV_ACCESS_LOCAL_WRITE | 1 << 15,
	HUGETLB = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB,
	FLUSH_PERSISTENT = IBV_ACCESS_LOCAL_WRITE | 1 << 9,
	ON_DEMAND = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND,
};

static const char constant[2 * PAGE_MAX] __attribute__((aligned(PAGE_MAX))) = { 1 };

static int reg_mr(struct env *env, void *addr, size_t length, int access)
{
	truth("address", "%p", addr);
	truth("length", "%zu", length);
	truth("access", "%d", access);
	return ibv_reg_mr(env->pd, addr, length, access) ? 0 : errno;
}

static int unmapped(struct env *env)
{
	char *map;

	switch (env->fault->arg) {
	case 0:
		map = UNMAPPED;
		break;
	case 1: /* malloc() failed, and nobody looked */
		map = NULL;
		break;
	default: /* an address of the kernel's half, as drivers and debuggers show them */
		map = (void *)0xffff888000100000UL;
	}
	truth("hole", "%p", map);
	return reg_mr(env, map, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int hole(struct env *env)
{
	char *map = pages(8, PROT_READ | PROT_WRITE);

	if (!map || munmap(map + 4 * PAGE, PAGE))
		return unready("mmap");
	truth("hole", "%p", map + 4 * PAGE);
	return reg_mr(env, map, 8 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int protected(struct env *env)
{
	char *map = pages(8, env->fault->arg);

	if (!map)
		return unready("mmap");
	truth("protected", "%p", map);
	truth("protection", "%s", env->fault->arg == PROT_READ ? "r--p" : "---p");
	return reg_mr(env, map, 8 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int protected_middle(struct env *env)
{
	char *map = pages(8, PROT_READ | PROT_WRITE);

	if (!map || mprotect(map + 5 * PAGE, PAGE, PROT_READ))
		return unready("mprotect");
	truth("protected", "%p", map + 5 * PAGE);
	return reg_mr(env, map, 8 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int constant_data(struct env *env)
{
	truth("protected", "%p", (void *)constant);
	return reg_mr(env, (void *)constant, sizeof(constant), IBV_ACCESS_LOCAL_WRITE);
}

static int attached_readonly(struct env *env)
{
	int id = shmget(IPC_PRIVATE, 4 * PAGE, IPC_CREAT | 0600);
	void *map = id < 0 ? (void *)-1 : shmat(id, NULL, SHM_RDONLY);

	if (map == (void *)-1)
		return unready("shmat");
	shmctl(id, IPC_RMID, NULL);
	truth("protected", "%p", map);
	return reg_mr(env, map, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int device_zero(struct env *env)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return unready("/dev/zero");
	truth("protected", "%p", map);
	return reg_mr(env, map, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

/* The block device with the file system of an open file, for reading and writing. */
static int open_below(int fd)
{
	char path[64], name[64] = "";
	struct stat st;
	FILE *uevent;

	if (fstat(fd, &st))
		return -1;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", major(st.st_dev), minor(st.st_dev));
	uevent = fopen(path, "re");
	while (uevent && fgets(path, sizeof(path), uevent))
		sscanf(path, "DEVNAME=%63s", name);
	if (uevent)
		fclose(uevent);
	snprintf(path, sizeof(path), "/dev/%.50s", name);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Long-term pins of what a file system must be told about before it is written: refused since 6.5. arg: of its block device, instead. */
static int shared_file(struct env *env)
{
	struct statfs fs;
	void *map;
	int fd;

	errno = EINVAL;
	if (!env->opt.file)
		return unready("no --file");
	fd = open(env->opt.file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 4 * PAGE) || fstatfs(fd, &fs))
		return unready(env->opt.file);
	if (env->fault->arg)
		fd = open_below(fd);
	map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return unready("mmap");
	if (!env->fault->arg)
		memset(map, 1, 4 * PAGE);
	truth("file", "%s", env->opt.file);
	truth("filesystem_type", "0x%lx", (long)fs.f_type);
	return reg_mr(env, map, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int readonly_file(struct env *env)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *map = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0), path[256] = "";

	if (map == MAP_FAILED || readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return unready("/proc/self/exe");
	truth("file", "%s", path);
	truth("protected", "%p", map);
	return reg_mr(env, map, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

/* Four pages of a file of one, or of one that ftruncate() was forgotten for. */
static int past_end(struct env *env)
{
	int fd = memfd_create("faultbench", MFD_CLOEXEC), shared = env->fault->arg ? MAP_SHARED : MAP_PRIVATE;
	size_t size = env->fault->arg ? 0 : PAGE;
	char *map;

	if (fd < 0 || ftruncate(fd, size))
		return unready("memfd_create");
	map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, shared, fd, 0);
	if (map == MAP_FAILED)
		return unready("mmap");
	truth("file", "/memfd:faultbench");
	truth("file_bytes", "%zu", size);
	truth("hole", "%p", map + size);
	return reg_mr(env, map, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

/* GPUs, NICs and NVMe drives show their memory this way. */
static int bar(struct env *env)
{
	const char *pattern = env->opt.bar ? env->opt.bar : "/sys/bus/pci/devices/*/resource[0-5]";
	void *map = MAP_FAILED;
	glob_t found;

	errno = ENOENT;
	if (glob(pattern, 0, NULL, &found))
		return unready(pattern);
	for (size_t i = 0; i < found.gl_pathc && map == MAP_FAILED; i++) {
		int fd = open(found.gl_pathv[i], O_RDWR | O_SYNC | O_CLOEXEC);

		map = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map != MAP_FAILED)
			truth("file", "%s", found.gl_pathv[i]);
	}
	if (map == MAP_FAILED)
		return unready(pattern);
	truth("device_memory", "%p", map);
	return reg_mr(env, map, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int physical(struct env *env)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0xb8000);

	if (map == MAP_FAILED)
		return unready("/dev/mem");
	truth("file", "/dev/mem");
	truth("device_memory", "%p", map);
	return reg_mr(env, map, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

/* Huge pages promised by MAP_NORESERVE, with none in the pool. */
static int huge_page(struct env *env)
{
	size_t length = 2UL << 20;
	void *map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGE | MAP_NORESERVE,
			 -1, 0);

	if (map == MAP_FAILED || write_file("0", "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"))
		return unready("mmap");
	truth("page_bytes", "%zu", length);
	truth("hugepages_free", "0");
	return reg_mr(env, map, length, IBV_ACCESS_LOCAL_WRITE);
}

static int secret(struct env *env)
{
	int fd = syscall(SYS_memfd_secret, 0);
	void *map;

	if (fd < 0 || ftruncate(fd, 2 * PAGE))
		return unready("memfd_secret");
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return unready("mmap");
	memset(map, 1, 2 * PAGE);
	truth("file", "/secretmem");
	return reg_mr(env, map, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static void on_bus_error(int sig)
{
}

/* What is left of a page after an uncorrectable memory error. */
static int poisoned(struct env *env)
{
	char *map = pages(4, PROT_READ | PROT_WRITE);

	signal(SIGBUS, on_bus_error);
	if (!map || madvise(map + 2 * PAGE, PAGE, MADV_HWPOISON))
		return unready("madvise");
	truth("poisoned", "%p", map + 2 * PAGE);
	return reg_mr(env, map, 4 * PAGE, IBV_ACCESS_LOCAL_WRITE);
}

/* An array of automatic storage that was not written yet: since 6.5 a pin does not grow the stack. */
static int below_stack(struct env *env)
{
	char *here = __builtin_frame_address(0);
	char *far = (char *)((uintptr_t)(here - 512 * 1024) & ~(PAGE - 1));

	truth("hole", "%p", far);
	return reg_mr(env, far, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int empty(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);

	return map ? reg_mr(env, map, 0, IBV_ACCESS_LOCAL_WRITE) : unready("mmap");
}

/* 0: a length that went below zero. 1: more pages than 32 bits count. */
static int overflow(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);

	if (!map)
		return unready("mmap");
	return reg_mr(env, map, env->fault->arg ? PAGE << 33 : -PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int flags(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);

	return map ? reg_mr(env, map, PAGE, env->fault->arg) : unready("mmap");
}

/* All memory, paged on demand */
static int implicit_odp(struct env *env)
{
	return reg_mr(env, NULL, SIZE_MAX, ON_DEMAND);
}

static int iova(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);

	if (!map)
		return unready("mmap");
	truth("address", "%p", map);
	truth("iova", "0x%lx", 0x100010UL);
	return ibv_reg_mr_iova(env->pd, map, PAGE, 0x100010, IBV_ACCESS_LOCAL_WRITE) ? 0 : errno;
}

/* The legacy way into the kernel: a command by write(2) */
static int by_write(struct env *env)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_reg_mr cmd;
	} msg = {
		.hdr = { IB_USER_VERBS_CMD_REG_MR, sizeof(msg) / 4, sizeof(resp) / 4 },
		.cmd = {
			.response = (uintptr_t)&resp,
			.length = 2 * PAGE,
			.pd_handle = env->pd->handle,
			.access_flags = IBV_ACCESS_LOCAL_WRITE,
		},
	};
	char *map = before_hole(PAGE);

	if (!map)
		return unready("mmap");
	truth("address", "%p", map);
	truth("length", "%lu", 2 * PAGE);
	truth("hole", "%p", map + PAGE);
	msg.cmd.start = msg.cmd.hca_va = (uintptr_t)map;
	return write(env->ctx->cmd_fd, &msg, sizeof(msg)) < 0 ? errno : 0;
}

const struct fault mr_faults[] = {
	{ "mr-unmapped", "ibv_reg_mr", "memory-not-mapped", "memory that is not mapped", PD, unmapped, 0 },
	{ "mr-null", "ibv_reg_mr", "memory-not-mapped", "a NULL pointer", PD, unmapped, 1 },
	{ "mr-kernel-address", "ibv_reg_mr", "memory-not-mapped", "an address of the kernel", PD, unmapped, 2 },
	{ "mr-hole", "ibv_reg_mr", "memory-not-mapped", "eight pages, the fifth not mapped", PD, hole, 0 },
	{ "mr-below-stack", "ibv_reg_mr", "memory-not-mapped", "below the stack, which no longer grows", PD,
	  below_stack, 0 },
	{ "mr-write2", "write(REG_MR)", "memory-not-mapped", "two pages, the second not mapped", PD, by_write, 0 },
	{ "mr-readonly", "ibv_reg_mr", "memory-read-only", "local write to PROT_READ", PD, protected, PROT_READ },
	{ "mr-readonly-middle", "ibv_reg_mr", "memory-read-only", "eight pages, the sixth PROT_READ", PD,
	  protected_middle, 0 },
	{ "mr-constant", "ibv_reg_mr", "memory-read-only", "local write to a constant of the program", PD,
	  constant_data, 0 },
	{ "mr-shm-readonly", "ibv_reg_mr", "memory-read-only", "local write to SHM_RDONLY", PD, attached_readonly, 0 },
	{ "mr-zero-readonly", "ibv_reg_mr", "memory-read-only", "local write to /dev/zero, O_RDONLY", PD, device_zero,
	  0 },
	{ "mr-file-readonly", "ibv_reg_mr", "memory-read-only", "local write to a private mapping of a file, PROT_READ",
	  PD, readonly_file, 0 },
	{ "mr-no-access", "ibv_reg_mr", "memory-no-access", "a guard page (PROT_NONE)", PD, protected, PROT_NONE },
	{ "mr-shared-file", "ibv_reg_mr", "memory-shared-file", "a shared mapping of a file with writeback", PD,
	  shared_file, 0 },
	{ "mr-block-device", "ibv_reg_mr", "memory-shared-file", "a shared mapping of a block device", PD, shared_file,
	  1 },
	{ "mr-past-end", "ibv_reg_mr", "memory-past-end-of-file", "four pages of a file of one", PD, past_end, 0 },
	{ "mr-past-end-empty", "ibv_reg_mr", "memory-past-end-of-file",
	  "shared memory that ftruncate() was forgotten for", PD, past_end, 1 },
	{ "mr-bar", "ibv_reg_mr", "memory-device-mapping", "a BAR of a PCI device", PD, bar, 0 },
	{ "mr-dev-mem", "ibv_reg_mr", "memory-device-mapping", "a page of /dev/mem", PD, physical, 0 },
	{ "mr-huge-page", "ibv_reg_mr", "memory-huge-page", "a huge page, none in the pool", PD, huge_page, 0 },
	{ "mr-secret", "ibv_reg_mr", "memory-secret", "memory of memfd_secret(2)", PD, secret, 0 },
	{ "mr-poisoned", "ibv_reg_mr", "memory-poisoned", "a page with a memory error", PD, poisoned, 0 },
	{ "mr-length-0", "ibv_reg_mr", "range-empty", "no bytes", PD, empty, 0 },
	{ "mr-overflow", "ibv_reg_mr", "range-overflow", "a negative length", PD, overflow, 0 },
	{ "mr-too-many-pages", "ibv_reg_mr", "range-overflow", "more than 2^32 pages", PD, overflow, 1 },
	{ "mr-remote-write", "ibv_reg_mr", "access-flags", "remote write without local write", PD, flags,
	  REMOTE_WRITE_ALONE },
	{ "mr-remote-atomic", "ibv_reg_mr", "access-flags", "remote atomics without local write", PD, flags,
	  REMOTE_ATOMIC_ALONE },
	{ "mr-unknown-flag", "ibv_reg_mr", "access-flags", "an access flag that does not exist", PD, flags,
	  UNKNOWN_BIT },
	{ "mr-hugetlb-flag", "ibv_reg_mr", "access-flags", "IBV_ACCESS_HUGETLB, which the driver does not have", PD,
	  flags, HUGETLB },
	{ "mr-flush-persistent", "ibv_reg_mr", "memory-not-persistent", "flush to persistence, ordinary memory", PD,
	  flags, FLUSH_PERSISTENT },
	{ "mr-on-demand", "ibv_reg_mr", "odp-unsupported", "paged on demand", PD, flags, ON_DEMAND },
	{ "mr-on-demand-all", "ibv_reg_mr", "odp-unsupported", "all memory, paged on demand", PD, implicit_odp, 0 },
	{ "mr-iova", "ibv_reg_mr_iova", "iova-offset", "an I/O address with another offset in its page", PD, iova, 0 },
	{ 0 },
};
