/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory with a recording, read completely: first to bytes, by a process that may open its files, then to a tree. */
#include "source/bundle/bundle.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"

static void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* One name of a directory, followed by the name with its NUL, and by `size` bytes: of a file, or the target of a link. The members of a
 * directory follow it, up to an entry of RD_NODE_NONE. */
struct entry {
	uint32_t type; /* enum rd_node_type */
	int32_t code;  /* positive errno: it cannot be read */
	uint64_t size;
};

static int add_entry(struct rd_buf *out, enum rd_node_type type, int code, const char *name, const void *data,
		     size_t size)
{
	const struct entry entry = { type, code, size };

	if (out->len + size > RD_TREE_BYTES_MAX)
		return -EFBIG;
	rd_buf_add(out, &entry, sizeof(entry));
	rd_buf_add(out, name, strlen(name) + 1);
	rd_buf_add(out, data, size);
	return out->failed ? -ENOMEM : 0;
}

/* A name of a directory: follows no link, and stays in the file system. */
static int open_name(int dir, const char *name, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));

	/* Before Linux 5.6. */
	return fd < 0 && errno == ENOSYS ? openat(dir, name, (int)how.flags) : fd;
}

static int walk_file(int dir, const char *name, struct rd_buf *out)
{
	_cleanup_close_ int fd = open_name(dir, name, 0);
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	char room[4096];
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0)
		return add_entry(out, RD_NODE_FILE, errno, name, NULL, 0);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EBADMSG;
	/* Nearly all are small: one read has all of it. */
	n = read(fd, room, sizeof(room));
	if (n >= 0 && n == st.st_size)
		return add_entry(out, RD_NODE_FILE, 0, name, room, (size_t)n);
	r = lseek(fd, 0, SEEK_SET) < 0 ? -errno : rd_read_fd(fd, RD_TREE_FILE_MAX, &bytes);
	return r == -EFBIG ? r : add_entry(out, RD_NODE_FILE, -r, name, bytes.data, bytes.size);
}

static int walk_link(int dir, const char *name, struct rd_buf *out)
{
	char target[4096];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0 && errno == EACCES)
		return add_entry(out, RD_NODE_LINK, EACCES, name, NULL, 0);
	return n < 0 || (size_t)n == sizeof(target) ? -EBADMSG :
						      add_entry(out, RD_NODE_LINK, 0, name, target, (size_t)n);
}

/* Closes `fd`. */
static int walk_dir(int fd, struct rd_buf *out, size_t depth)
{
	_cleanup_(closedirp) DIR *dir = depth > RD_TREE_DEPTH_MAX ? NULL : fdopendir(fd);
	int r = 0;

	if (!dir) {
		close(fd);
		return depth > RD_TREE_DEPTH_MAX ? -EBADMSG : -errno;
	}
	while (!r) {
		const struct dirent *entry = (errno = 0, readdir(dir));
		struct stat st;

		if (!entry)
			return -errno;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		st.st_mode = DTTOIF(entry->d_type);
		if (entry->d_type == DT_UNKNOWN && fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -EBADMSG;
		switch (st.st_mode & S_IFMT) {
		case S_IFDIR:
			fd = open_name(dirfd(dir), entry->d_name, O_DIRECTORY);
			r = fd < 0 ? errno : 0;
			/* Another file system is not entered. */
			if (r && r != EACCES && r != EXDEV)
				return -r;
			r = add_entry(out, RD_NODE_DIR, r, entry->d_name, NULL, 0);
			if (fd >= 0)
				r = r ? (close(fd), r) : walk_dir(fd, out, depth + 1);
			if (!r)
				r = add_entry(out, RD_NODE_NONE, 0, "", NULL, 0);
			break;
		case S_IFLNK:
			r = walk_link(dirfd(dir), entry->d_name, out);
			break;
		case S_IFREG:
			r = walk_file(dirfd(dir), entry->d_name, out);
			break;
		default:
			r = -EBADMSG;
		}
	}
	return r;
}

int rd_bundle_walk(int fd, struct rd_bytes *ret)
{
	_cleanup_buf_ struct rd_buf out = RD_BUF_CHECKED;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), r = copy < 0 ? -errno : walk_dir(copy, &out, 0);

	if (r < 0)
		return r;
	rd_buf_str(&out, "");
	*ret = (struct rd_bytes){ (uint8_t *)out.data, out.len };
	out = (struct rd_buf){ 0 };
	return 0;
}

/* What cannot be read is neither empty nor missing: requests get the errno; of a link, all of them. */
static void set_refused(struct rd_tree *tree, uint32_t node, const struct entry *entry)
{
	struct rd_node_more *more = rd_tree_more(tree, node);

	rd_tree_node(tree, node)->type = entry->type == RD_NODE_LINK ? RD_NODE_DIR : entry->type;
	for (enum rd_op query = 0; query < RD_OP_PATHS; query++)
		if (entry->type == RD_NODE_LINK || query == (entry->type == RD_NODE_DIR ? RD_OP_LIST : RD_OP_READ)) {
			more->queried[query] = true;
			more->code[query] = entry->code;
		}
}

static int index_walk(const struct rd_bytes *walk, struct rd_tree *tree)
{
	uint32_t folder = RD_TREE_TOP, node;
	const uint8_t *at = walk->data, *end = at + walk->size;
	int r = 0;

	while (at < end && !r) {
		struct entry entry;
		const char *name = (const char *)at + sizeof(entry);
		const uint8_t *data;

		memcpy(&entry, at, sizeof(entry));
		data = (const uint8_t *)name + strlen(name) + 1;
		at = data + entry.size;
		if (entry.type == RD_NODE_NONE) {
			folder = rd_tree_node(tree, folder)->parent;
			continue;
		}
		r = rd_tree_enter(tree, folder, name, &node);
		if (!r && entry.code)
			set_refused(tree, node, &entry);
		else if (!r && entry.type != RD_NODE_DIR)
			r = rd_tree_set(tree, node, entry.type, data, entry.size);
		if (!r && entry.type == RD_NODE_DIR) {
			rd_tree_node(tree, node)->type = RD_NODE_DIR;
			folder = node;
		}
	}
	return r;
}

int rd_bundle_read_dir(int code, const struct rd_bytes *walk, const char *name, struct rd_tree *tree, struct rd_err *err)
{
	int r = code ? -code : index_walk(walk, tree);

	if (r == -EFBIG)
		return rd_err_set(err, EFBIG, name, "contains more than %zu files, %zu MB, or a file above %zu MB",
				  RD_TREE_NODES_MAX, RD_TREE_BYTES_MAX >> 20, RD_TREE_FILE_MAX >> 20);
	if (r == -EBADMSG)
		return rd_err_set(err, EBADMSG, name,
				  "not a bundle: contains a device node, or directories are nested too deep");
	return r < 0 ? rd_err_set(err, -r, name, "cannot read the directory") : 0;
}
