/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory with a recording: its names are indexed in a tree; its files are read on demand. */
#include "source/bundle/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/memory.h"
#include "source/opener/opener.h"

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

/* Records of a directory walk: a letter, followed by names that end with a NUL. */
enum entry {
	ENTRY_DIR = 'd', /* followed by its members and an ENTRY_END */
	ENTRY_END = 'e',
	ENTRY_FILE = 'f',
	ENTRY_LINK = 'l',	 /* name, target */
	ENTRY_CLOSED_DIR = 'D',	 /* listing is denied */
	ENTRY_CLOSED_LINK = 'L', /* reading is denied */
};

struct walk {
	struct rd_buf out;
	size_t n;
};

static int add_entry(struct walk *walk, enum entry entry, const char *name)
{
	char letter = (char)entry;

	if (++walk->n > 2 * RD_TREE_NODES_MAX || walk->out.len > RD_TREE_BYTES_MAX)
		return -EFBIG;
	rd_buf_add(&walk->out, &letter, 1);
	rd_buf_add(&walk->out, name, strlen(name) + 1);
	return walk->out.failed ? -ENOMEM : 0;
}

static int walk_dir(int fd, struct walk *walk, size_t depth);

static int walk_folder(int dir, const char *name, struct walk *walk, size_t depth)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r;

	if (fd < 0)
		return errno == EACCES ? add_entry(walk, ENTRY_CLOSED_DIR, name) : -errno;
	r = add_entry(walk, ENTRY_DIR, name);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = walk_dir(fd, walk, depth + 1);
	return r < 0 ? r : add_entry(walk, ENTRY_END, "");
}

static int walk_link(int dir, const char *name, struct walk *walk)
{
	char target[4096];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));
	int r;

	if (n < 0 && errno == EACCES)
		return add_entry(walk, ENTRY_CLOSED_LINK, name);
	if (n < 0 || (size_t)n == sizeof(target))
		return -EBADMSG;
	r = add_entry(walk, ENTRY_LINK, name);
	target[n] = '\0';
	rd_buf_add(&walk->out, target, (size_t)n + 1);
	return r < 0 ? r : walk->out.failed ? -ENOMEM : 0;
}

static int walk_entry(int dir, const struct dirent *entry, struct walk *walk, size_t depth)
{
	switch (type_of(dir, entry)) {
	case S_IFDIR:
		return walk_folder(dir, entry->d_name, walk, depth);
	case S_IFLNK:
		return walk_link(dir, entry->d_name, walk);
	case S_IFREG:
		return add_entry(walk, ENTRY_FILE, entry->d_name);
	}
	return -EBADMSG;
}

/* Closes `fd`. */
static int walk_dir(int fd, struct walk *walk, size_t depth)
{
	_cleanup_(closedirp) DIR *dir = depth > RD_TREE_DEPTH_MAX ? NULL : fdopendir(fd);

	if (!dir) {
		close(fd);
		return depth > RD_TREE_DEPTH_MAX ? -EBADMSG : -errno;
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
		r = walk_entry(dirfd(dir), entry, walk, depth);
		if (r < 0)
			return r;
	}
}

int rd_bundle_walk(int fd, struct rd_bytes *ret)
{
	struct walk walk = { .out = RD_BUF_CHECKED };
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int r = copy < 0 ? -errno : walk_dir(copy, &walk, 0);

	if (r < 0) {
		rd_buf_deinit(&walk.out);
		return r;
	}
	*ret = (struct rd_bytes){ (uint8_t *)walk.out.data, walk.out.len };
	return 0;
}

/* A directory or link that cannot be read is neither empty nor missing: requests get EACCES. */
static int mark_denied(struct rd_tree *tree, uint32_t node, bool link)
{
	struct rd_node_more *more = rd_tree_more(tree, node);

	if (!more)
		return -ENOMEM;
	rd_tree_node(tree, node)->type = RD_NODE_DIR;
	for (enum rd_query query = link ? 0 : RD_QUERY_LIST; query < (link ? RD_QUERIES : RD_QUERY_LIST + 1); query++) {
		more->queried[query] = true;
		more->code[query] = EACCES;
	}
	return 0;
}

/* `target` of a link only. */
static int index_entry(struct rd_tree *tree, uint32_t *folder, char entry, const char *name, const char *target)
{
	uint32_t node;
	int r;

	if (entry == ENTRY_END) {
		*folder = rd_tree_node(tree, *folder)->parent;
		return 0;
	}
	r = rd_tree_enter(tree, *folder, name, &node);
	if (r < 0)
		return r;
	switch (entry) {
	case ENTRY_DIR:
		rd_tree_node(tree, node)->type = RD_NODE_DIR;
		*folder = node;
		return 0;
	case ENTRY_FILE:
		rd_tree_node(tree, node)->type = RD_NODE_FILE;
		rd_tree_node(tree, node)->lazy = true;
		return 0;
	case ENTRY_LINK:
		return rd_tree_set(tree, node, RD_NODE_LINK, target, strlen(target));
	}
	return mark_denied(tree, node, entry == ENTRY_CLOSED_LINK);
}

static int index_walk(const struct rd_bytes *walk, struct rd_tree *tree)
{
	uint32_t folder = RD_TREE_TOP;
	const char *at = (const char *)walk->data, *end = at + walk->size;
	int r = 0;

	while (at < end && !r) {
		char entry = *at++;
		const char *name = at, *target = NULL;

		at += strlen(at) + 1;
		if (entry == ENTRY_LINK) {
			target = at;
			at += strlen(at) + 1;
		}
		r = index_entry(tree, &folder, entry, name, target);
	}
	return r;
}

int rd_bundle_index_dir(const struct rd_folder *folder, struct rd_tree *tree, struct rd_err *err)
{
	_cleanup_bytes_ struct rd_bytes walk = { 0 };
	int r = rd_opener_used() ? rd_opener_walk(folder->path, &walk) : rd_bundle_walk(folder->fd, &walk);

	if (!r)
		r = index_walk(&walk, tree);
	if (r == -EFBIG)
		return rd_err_set(err, EFBIG, folder->path, "contains more than %zu files", RD_TREE_NODES_MAX);
	if (r == -EBADMSG)
		return rd_err_set(err, EBADMSG, folder->path,
				  "not a bundle: contains a device node, or directories are nested too deep");
	return r < 0 ? rd_err_set(err, -r, folder->path, "cannot read the directory") : 0;
}

int rd_bundle_open_by_name(int fd, const char *path)
{
	_cleanup_free_ char *names = rd_dup(path);
	_cleanup_close_ int folder = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	char *name = names, *slash;
	int opened;

	while (folder >= 0) {
		slash = strchr(name, '/');
		if (slash)
			*slash = '\0';
		if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			return -EXDEV;
		opened = openat(folder, name,
				O_NOFOLLOW | O_CLOEXEC |
					(slash ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK | O_NOCTTY));
		if (!slash)
			return opened < 0 ? -errno : opened;
		close(folder);
		folder = opened;
		name = slash + 1;
	}
	return -errno;
}

int rd_bundle_open_beneath(int fd, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int opened = syscall(SYS_openat2, fd, path, &how, sizeof(how));

	/* Before Linux 5.6. */
	if (opened < 0 && errno == ENOSYS)
		return rd_bundle_open_by_name(fd, path);
	return opened < 0 ? -errno : opened;
}

int rd_bundle_read_lazy(const struct rd_folder *folder, struct rd_tree *tree, uint32_t node, struct rd_bytes *ret)
{
	_cleanup_free_ char *path = rd_tree_path(tree, RD_TREE_TOP, node);
	_cleanup_close_ int file = -1;
	struct stat st;

	file = rd_opener_used() ? rd_opener_open(folder->path, path) : rd_bundle_open_beneath(folder->fd, path);
	if (file < 0)
		return file;
	if (fstat(file, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? rd_read_fd(file, RD_TREE_FILE_MAX, ret) : -EBADMSG;
}
