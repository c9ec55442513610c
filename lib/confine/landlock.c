/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "confine-priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Rights that each ABI version added; build headers may be older than the kernel. */
#define ACCESS_FS_1 ((UINT64_C(1) << 13) - 1)	/* EXECUTE to MAKE_SYM */
#define ACCESS_FS_REFER (UINT64_C(1) << 13)	/* 2 */
#define ACCESS_FS_TRUNCATE (UINT64_C(1) << 14)	/* 3 */
#define ACCESS_FS_IOCTL_DEV (UINT64_C(1) << 15) /* 5 */
#define ACCESS_NET_TCP UINT64_C(3)		/* 4: bind, connect */
#define SCOPE_ALL UINT64_C(3)			/* 6: abstract sockets, signals */

/* struct landlock_ruleset_attr of version 6; older kernels get a smaller size. */
struct ruleset {
	uint64_t fs, net, scoped;
};

static uint64_t fs_accesses(unsigned abi)
{
	return ACCESS_FS_1 | (abi >= 2 ? ACCESS_FS_REFER : 0) | (abi >= 3 ? ACCESS_FS_TRUNCATE : 0) |
	       (abi >= 5 ? ACCESS_FS_IOCTL_DEV : 0);
}

static size_t ruleset_size(unsigned abi)
{
	return abi >= 6 ? sizeof(struct ruleset) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

/* A missing directory needs no rule. Directory rights are refused for a file. */
static int allow(int ruleset, const struct rd_confine_dir *dir, bool may_write, unsigned abi)
{
	_cleanup_close_ int fd = open(dir->path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr beneath = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = fd };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		beneath.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (dir->write && may_write)
		beneath.allowed_access |= LANDLOCK_ACCESS_FS_WRITE_FILE | (abi >= 5 ? ACCESS_FS_IOCTL_DEV : 0);
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0 ? -errno : 0;
}

int rd_landlock_apply(const struct rd_confine_dir *dirs, bool may_write, unsigned *abi)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	_cleanup_close_ int fd = -1;
	struct ruleset ruleset;
	int r = 0;

	if (version < 1)
		return version < 0 ? -errno : -EOPNOTSUPP;
	*abi = (unsigned)version;
	/* Signals to children stay possible: they share the domain. */
	ruleset = (struct ruleset){ fs_accesses(*abi), *abi >= 4 ? ACCESS_NET_TCP : 0, *abi >= 6 ? SCOPE_ALL : 0 };
	fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, ruleset_size(*abi), 0);
	if (fd < 0)
		return -errno;
	for (; dirs && dirs->path && !r; dirs++)
		r = allow(fd, dirs, may_write, *abi);
	if (!r && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	return r;
}
