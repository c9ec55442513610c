/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is mapped as it should be, of which a page cannot be faulted in: each for a reason of its own. And two reasons at once,
 * of which the kernel meets one first.
 */
#include "fault.h"
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#define HUGE (2UL << 20)
#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
#define CGROUPS "/sys/fs/cgroup"
#define TMPFS "/run/fb-tmpfs"

static int reg_mr(struct env *env, void *addr, size_t length, int access)
{
	truth("address", "%p", addr);
	truth("length", "%zu", length);
	return ibv_reg_mr(env->pd, addr, length, access) ? 0 : errno;
}

/* A file of 4 MiB on a tmpfs of 1 MiB: /dev/shm of a container. With 0 only two pages of it. */
static int tmpfs(struct env *env)
{
	size_t length = 4UL << 20;
	char *map;
	int fd;

	if (shell("mkdir -p " TMPFS "; mountpoint -q " TMPFS " || mount -t tmpfs -o size=1m none " TMPFS))
		return -1;
	fd = open(TMPFS "/pool", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, length))
		return unready(TMPFS);
	map = mmap(NULL, length, PROT_READ | PROT_WRITE, env->fault->arg, fd, 0);
	if (map == MAP_FAILED)
		return unready("mmap");
	truth("file", TMPFS "/pool");
	return reg_mr(env, map, length, RDWR);
}

/* What could be refused, and is not, in front of a tmpfs that is full: pages that userfaultfd would not handle, but are there. Or a
 * protection key that permits access. */
static int tmpfs_behind(struct env *env)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING, .range.len = 4 * PAGE };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY), file,
	    key = env->fault->arg ? pkey_alloc(0, 0) : 0;
	char *map = mmap(NULL, 5UL << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (shell("mkdir -p " TMPFS "; mountpoint -q " TMPFS " || mount -t tmpfs -o size=1m none " TMPFS))
		return -1;
	file = open(TMPFS "/pool", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, 4UL << 20) || map == MAP_FAILED || key < 0 ||
	    mmap(map + 4 * PAGE, 4UL << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
		return unready("mmap");
	if (env->fault->arg)
		return pkey_mprotect(map + 4 * PAGE, 4UL << 20, PROT_READ | PROT_WRITE, key) ?
			       unready("pkey_mprotect") :
			       reg_mr(env, map + 4 * PAGE, 4UL << 20, RDWR);
	memset(map, 1, 4 * PAGE);
	reg.range.start = (uintptr_t)map;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return unready("userfaultfd");
	return reg_mr(env, map, (4UL << 20) + 4 * PAGE, RDWR);
}

static char *map_huge(int pages, int flags)
{
	char *map =
		mmap(NULL, pages * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGE | flags, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

/* Four pages where the pool has two; or two, which another mapping has reserved */
static int huge_pool(struct env *env)
{
	char *map;

	if (write_file("2", POOL) || (env->fault->arg && !map_huge(2, 0)))
		return unready(POOL);
	map = map_huge(env->fault->arg ? 1 : 4, MAP_NORESERVE);
	if (!map)
		return unready("mmap");
	return reg_mr(env, map, (env->fault->arg ? 1 : 4) * HUGE, RDWR);
}

/* A process that was forked writes to huge pages of the other one, which has reserved all there are. */
static int huge_forked(struct env *env)
{
	char *map;
	int err;
	pid_t child;

	if (write_file("2", POOL))
		return -1;
	map = map_huge(2, 0);
	if (!map)
		return unready("mmap");
	memset(map, 1, 2 * HUGE);
	child = fork();
	if (!child) {
		truth("pid", "%d", getpid());
		_exit(reg_mr(env, map, 2 * HUGE, RDWR));
	}
	if (waitpid(child, &err, 0) != child || !WIFEXITED(err))
		return unready("fork");
	sleep(2); /* it goes on */
	return WEXITSTATUS(err);
}

/* Two pages, reserved, of which the control group may have one */
static int huge_group(struct env *env)
{
	char text[24], *map;

	snprintf(text, sizeof(text), "%d", getpid());
	if (write_file("4", POOL) || write_file("+hugetlb", CGROUPS "/cgroup.subtree_control") ||
	    shell("mkdir " CGROUPS "/fbhuge-%d", getpid()) ||
	    write_file("2097152", CGROUPS "/fbhuge-%d/hugetlb.2MB.max", getpid()) ||
	    write_file(text, CGROUPS "/fbhuge-%d/cgroup.procs", getpid()))
		return -1;
	map = map_huge(2, 0);
	if (!map)
		return unready("mmap");
	truth("cgroup", "/fbhuge-%d", getpid());
	return reg_mr(env, map, 2 * HUGE, RDWR);
}

/* A userfaultfd that handles no faults of the kernel, as those of most users */
static int userfaultfd(struct env *env)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	char *map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	reg.range.start = (uintptr_t)map;
	reg.range.len = 4 * PAGE;
	if (fd < 0 || map == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		return unready("userfaultfd");
	return reg_mr(env, map, 4 * PAGE, RDWR);
}

static int protection_key(struct env *env)
{
	char *map = pages(4, PROT_READ | PROT_WRITE);
	int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);

	if (!map || key < 0 || pkey_mprotect(map, 4 * PAGE, PROT_READ | PROT_WRITE, key))
		return unready("pkey_alloc");
	return reg_mr(env, map, 4 * PAGE, RDWR);
}

/* A process that is killed while its memory is pinned */
static int killed(struct env *env)
{
	size_t length = 512UL << 20;
	char *map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pid_t child;

	if (map == MAP_FAILED || madvise(map, length, MADV_NOHUGEPAGE))
		return unready("mmap");
	child = fork();
	if (!child) {
		ibv_reg_mr(env->pd, map, length, RDWR);
		_exit(0);
	}
	truth("pid", "%d", child);
	usleep(150000);
	if (kill(child, SIGKILL) || waitpid(child, NULL, 0) != child)
		return unready("fork");
	return EINTR;
}

/* A flag that the core passes on, and few drivers have */
static int zero_based(struct env *env)
{
	truth("access", "%d", RDWR | IBV_ACCESS_ZERO_BASED);
	return reg_mr(env, pages(1, PROT_READ | PROT_WRITE), PAGE, RDWR | IBV_ACCESS_ZERO_BASED);
}

/* The kernel looks at the access flags before it looks at the range. */
static int no_bytes_and_flags(struct env *env)
{
	char *map = pages(1, PROT_READ | PROT_WRITE);

	truth("access", "%d", IBV_ACCESS_REMOTE_WRITE);
	return reg_mr(env, map, env->fault->arg ? 0 : (size_t)-PAGE, IBV_ACCESS_REMOTE_WRITE);
}

const struct fault refused_faults[] = {
	{ "mr-tmpfs-full", "ibv_reg_mr", "memory-no-space", "4 MiB of a file on a tmpfs of 1 MiB, shared", PD, tmpfs,
	  MAP_SHARED },
	{ "mr-tmpfs-full-private", "ibv_reg_mr", "memory-no-space", "4 MiB of a file on a tmpfs of 1 MiB, private", PD,
	  tmpfs, MAP_PRIVATE },
	{ "mr-tmpfs-full-key", "ibv_reg_mr", "memory-no-space", "the same, with a protection key that permits access",
	  PD, tmpfs_behind, 1 },
	{ "mr-tmpfs-full-behind", "ibv_reg_mr", "unknown", "the same, behind memory of a userfaultfd that is there", PD,
	  tmpfs_behind, 0 },
	{ "mr-huge-few", "ibv_reg_mr", "memory-huge-page", "four huge pages, two in the pool", PD, huge_pool, 0 },
	{ "mr-huge-taken", "ibv_reg_mr", "memory-huge-page", "a huge page, both in the pool are reserved", PD,
	  huge_pool, 1 },
	{ "mr-huge-forked", "ibv_reg_mr", "memory-huge-page", "two huge pages of the process it was forked from", PD,
	  huge_forked, 0 },
	{ "mr-huge-group", "ibv_reg_mr", "cgroup-huge-pages", "two huge pages, the control group may have one", PD,
	  huge_group, 0 },
	{ "mr-userfaultfd", "ibv_reg_mr", "memory-userfaultfd", "faults of the kernel are not handled", PD, userfaultfd,
	  0 },
	{ "mr-protection-key", "ibv_reg_mr", "memory-protection-key", "a protection key without access", PD,
	  protection_key, 0 },
	{ "mr-killed", "ibv_reg_mr", "interrupted", "SIGKILL while memory is pinned", PD, killed, 0 },
	{ "mr-zero-based", "ibv_reg_mr", "access-flags", "IBV_ACCESS_ZERO_BASED", PD, zero_based, 0 },
	{ "mr-empty-flags", "ibv_reg_mr", "access-flags", "no bytes, and remote write without local write", PD,
	  no_bytes_and_flags, 1 },
	{ "mr-overflow-flags", "ibv_reg_mr", "access-flags", "a negative length, and remote write without local write",
	  PD, no_bytes_and_flags, 0 },
	{ 0 },
};
