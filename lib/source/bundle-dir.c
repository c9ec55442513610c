/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory that holds a recording: its names into a tree; its files are read when they are asked for. */
#include "source/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/memory.h"

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static mode_t type_of(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return DTTOIF(entry->d_type);
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & S_IFMT : 0;
}

static int index_entry(int dir, const struct dirent *entry, struct rd_tree *tree, uint32_t parent, size_t depth);

static int index_dir(int fd, struct rd_tree *tree, uint32_t node, size_t depth)
{
	_cleanup_(closedirp) DIR *dir = NULL;

	if (depth > RD_TREE_DEPTH_MAX) {
		close(fd);
		return -EBADMSG;
	}
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -errno;
	}
	for (;;) {
		const struct dirent *entry;
		int r;

		errno = 0;
		entry = readdir(dir);
		if (!entry)
			return -errno;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		r = index_entry(dirfd(dir), entry, tree, node, depth);
		if (r < 0)
			return r;
	}
}

/* What we may not look into is not empty, and where a link that we may not read leads is not nowhere: EACCES. */
static int refuse(struct rd_tree *tree, uint32_t node, bool link)
{
	struct rd_node_more *more = rd_tree_more(tree, node);

	if (!more)
		return -ENOMEM;
	rd_tree_node(tree, node)->type = RD_NODE_DIR;
	for (enum rd_ask ask = link ? 0 : RD_ASK_LIST; ask < (link ? RD_ASKS : RD_ASK_LIST + 1); ask++) {
		more->asked[ask] = true;
		more->code[ask] = EACCES;
	}
	return 0;
}

static int index_entry(int dir, const struct dirent *entry, struct rd_tree *tree, uint32_t parent, size_t depth)
{
	char target[4096];
	uint32_t node;
	ssize_t n;
	int r = rd_tree_enter(tree, parent, entry->d_name, &node);

	if (r < 0)
		return r;
	switch (type_of(dir, entry)) {
	case S_IFDIR:
		rd_tree_node(tree, node)->type = RD_NODE_DIR;
		r = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (r < 0)
			return errno == EACCES ? refuse(tree, node, false) : -errno;
		return index_dir(r, tree, node, depth + 1);
	case S_IFLNK:
		n = readlinkat(dir, entry->d_name, target, sizeof(target));
		if (n < 0 && errno == EACCES)
			return refuse(tree, node, true);
		if (n < 0 || (size_t)n == sizeof(target))
			return -EBADMSG;
		return rd_tree_set(tree, node, RD_NODE_LINK, target, n);
	case S_IFREG:
		rd_tree_node(tree, node)->type = RD_NODE_FILE;
		rd_tree_node(tree, node)->lazy = true;
		return 0;
	}
	return -EBADMSG;
}

int rd_bundle_index_dir(int fd, const char *name, struct rd_tree *tree, struct rd_err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int r = copy < 0 ? -errno : index_dir(copy, tree, RD_TREE_TOP, 0);

	if (r == -EFBIG)
		return rd_err_set(err, EFBIG, name, "holds more than %zu files", RD_TREE_NODES_MAX);
	if (r == -EBADMSG)
		return rd_err_set(err, EBADMSG, name, "holds what no bundle may: a device, or directories too deep");
	return r < 0 ? rd_err_set(err, -r, name, "cannot read the directory") : 0;
}

static int open_beneath(int fd, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int opened = syscall(SYS_openat2, fd, path, &how, sizeof(how));

	/* Before Linux 5.6: the way there was walked when the names were taken, and had no link on it. */
	if (opened < 0 && errno == ENOSYS)
		opened = openat(fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	return opened < 0 ? -errno : opened;
}

int rd_bundle_read_lazy(int fd, struct rd_tree *tree, uint32_t node, struct rd_bytes *ret)
{
	_cleanup_free_ char *path = rd_tree_path(tree, RD_TREE_TOP, node);
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	_cleanup_close_ int file = -1;
	struct stat st;
	size_t cap = 0;
	ssize_t n;

	file = open_beneath(fd, path);
	if (file < 0)
		return file;
	if (fstat(file, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	do {
		if (bytes.size > RD_TREE_FILE_MAX)
			return -EFBIG;
		rd_reserve(&bytes.data, &cap, bytes.size + 4096 + 1, 1);
		n = read(file, bytes.data + bytes.size, cap - bytes.size - 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		bytes.size += n > 0 ? (size_t)n : 0;
	} while (n != 0);
	bytes.data[bytes.size] = '\0';
	*ret = bytes;
	bytes = (struct rd_bytes){ 0 };
	return 0;
}
