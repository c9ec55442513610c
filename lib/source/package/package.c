// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of a kernel that need not be booted. Packages: a Debian package is an ar archive with a compressed tar in it; an RPM package a
 * header before a compressed cpio. */
#include "source/package/package.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "source/bundle/libarchive.h"

#define READ_SIZE ((size_t)64 << 10)
#define DEB_MAGIC "!<arch>\n"
#define RPM_MAGIC "\xed\xab\xee\xdb"

struct reading {
	const char *path; /* of the package, or of the directory */
	rd_package_wants *wants;
	rd_package_takes *takes;
	void *arg;
	struct rd_err *err;
	struct archive *outer; /* of a Debian package: positioned at its data */
};

static int damaged(const struct reading *rd, struct archive *archive)
{
	const char *why = rd_libarchive.archive_error_string(archive);

	if (rd_libarchive.archive_errno(archive) == ENOMEM)
		return rd_err_set(rd->err, ENOMEM, rd->path, "no memory to read the package");
	rd_err_set(rd->err, EBADMSG, rd->path, "not a complete Debian or RPM package: %s", why ? why : "damaged data");
	return rd_err_hint(rd->err, "download the package again, and compare its checksum");
}

static int take_member(const struct reading *rd, struct archive *archive, struct archive_entry *entry, const char *path)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int64_t size = rd_libarchive.archive_entry_size(entry);

	if (size < 0 || (size_t)size > RD_PACKAGE_FILE_MAX)
		return rd_err_set(rd->err, EFBIG, path, "larger than the limit of %zu bytes", RD_PACKAGE_FILE_MAX);
	rd_reserve(&bytes.data, &(size_t){ 0 }, (size_t)size + 1, 1);
	while (bytes.size < (size_t)size) {
		la_ssize_t n =
			rd_libarchive.archive_read_data(archive, bytes.data + bytes.size, (size_t)size - bytes.size);

		if (n <= 0)
			return damaged(rd, archive);
		bytes.size += (size_t)n;
	}
	bytes.data[bytes.size] = '\0';
	return rd->takes(rd->arg, path, &bytes, rd->err);
}

static int read_members(const struct reading *rd, struct archive *archive)
{
	for (;;) {
		struct archive_entry *entry;
		const char *path;
		int r = rd_libarchive.archive_read_next_header(archive, &entry);

		if (r == ARCHIVE_EOF)
			return 0;
		if (r < ARCHIVE_WARN)
			return damaged(rd, archive);
		path = rd_libarchive.archive_entry_pathname(entry);
		if (!path || rd_libarchive.archive_entry_filetype(entry) != AE_IFREG ||
		    rd_libarchive.archive_entry_hardlink(entry))
			continue;
		while (path[0] == '.' && path[1] == '/')
			path += 2 + strspn(path + 2, "/");
		r = rd->wants(rd->arg, path) ? take_member(rd, archive, entry, path) : 0;
		if (r)
			return r;
	}
}

static la_ssize_t read_outer(struct archive *archive, void *arg, const void **ret)
{
	const struct reading *rd = arg;
	la_int64_t offset;
	size_t size = 0;
	int r = rd_libarchive.archive_read_data_block(rd->outer, ret, &size, &offset);

	return r == ARCHIVE_EOF ? 0 : r < ARCHIVE_WARN ? -1 : (la_ssize_t)size;
}

/* Filters that packages use. ARCHIVE_WARN: libarchive was built without one, and would run a program of its name instead. */
static int support_filters(const struct reading *rd, struct archive *archive)
{
	if (rd_libarchive.archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_support_filter_xz(archive) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_support_filter_zstd(archive) != ARCHIVE_OK)
		return rd_err_set(rd->err, ENOTSUP, rd->path, "this libarchive does not support gzip, xz and zstd");
	return 0;
}

static int read_deb_data(struct reading *rd)
{
	_cleanup_(rd_archive_freep) struct archive *inner = rd_libarchive.archive_read_new();
	int r;

	if (!inner)
		return rd_err_set(rd->err, ENOMEM, rd->path, "no memory to read the package");
	r = support_filters(rd, inner);
	if (r)
		return r;
	if (rd_libarchive.archive_read_support_format_tar(inner) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_open(inner, rd, NULL, read_outer, NULL) != ARCHIVE_OK)
		return damaged(rd, inner);
	return read_members(rd, inner);
}

static int read_deb(struct reading *rd, int fd, struct archive *archive)
{
	struct archive_entry *entry;

	if (rd_libarchive.archive_read_support_format_ar(archive) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_open_fd(archive, fd, READ_SIZE) != ARCHIVE_OK)
		return damaged(rd, archive);
	for (;;) {
		int r = rd_libarchive.archive_read_next_header(archive, &entry);
		const char *name;

		if (r == ARCHIVE_EOF)
			return rd_err_set(rd->err, EBADMSG, rd->path, "not a Debian package: it has no data.tar");
		if (r < ARCHIVE_WARN)
			return damaged(rd, archive);
		name = rd_libarchive.archive_entry_pathname(entry);
		if (!name || strncmp(name, "data.tar", 8) != 0)
			continue;
		rd->outer = archive;
		return read_deb_data(rd);
	}
}

static int read_rpm(struct reading *rd, int fd, struct archive *archive)
{
	int r = support_filters(rd, archive);

	if (r)
		return r;
	if (rd_libarchive.archive_read_support_filter_rpm(archive) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_support_format_cpio(archive) != ARCHIVE_OK ||
	    rd_libarchive.archive_read_open_fd(archive, fd, READ_SIZE) != ARCHIVE_OK)
		return damaged(rd, archive);
	return read_members(rd, archive);
}

static int read_archive(struct reading *rd, int fd, bool deb)
{
	_cleanup_(rd_archive_freep) struct archive *archive = NULL;
	int r = rd_libarchive_load(rd->path, rd->err);

	if (r < 0)
		return r;
	archive = rd_libarchive.archive_read_new();
	if (!archive)
		return rd_err_set(rd->err, ENOMEM, rd->path, "no memory to read the package");
	return deb ? read_deb(rd, fd, archive) : read_rpm(rd, fd, archive);
}

/* Directories of modules have eight levels at most. */
#define DEPTH_MAX 32

static int walk_dir(const struct reading *rd, const char *path, unsigned depth);

static int take_file(const struct reading *rd, int fd, const char *path)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_read_fd(fd, RD_PACKAGE_FILE_MAX, &bytes);

	if (r < 0)
		return rd_err_set(rd->err, -r, path, "cannot read");
	return rd->takes(rd->arg, path, &bytes, rd->err);
}

static int walk_entry(const struct reading *rd, const char *dir, const struct dirent *entry, unsigned depth)
{
	_cleanup_free_ char *path = rd_text("%s/%s", dir, entry->d_name);
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return 0;
	if (lstat(path, &st))
		return rd_err_set(rd->err, errno, path, "cannot read");
	if (S_ISDIR(st.st_mode))
		return walk_dir(rd, path, depth + 1);
	/* Modules may be links, as in weak-updates; links to directories, and those that lead nowhere, are passed over. */
	if (S_ISLNK(st.st_mode) && stat(path, &st))
		return 0;
	if (!S_ISREG(st.st_mode) || !rd->wants(rd->arg, path))
		return 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? rd_err_set(rd->err, errno, path, "cannot read") : take_file(rd, fd, path);
}

static int walk_dir(const struct reading *rd, const char *path, unsigned depth)
{
	struct dirent **entries = NULL;
	int n, r = 0;

	if (depth > DEPTH_MAX)
		return rd_err_set(rd->err, ELOOP, path, "more than %u levels of directories", DEPTH_MAX);
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0)
		return rd_err_set(rd->err, errno, path, "cannot read the directory");
	for (int i = 0; i < n; i++) {
		r = r ? r : walk_entry(rd, path, entries[i], depth);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int rd_package_read(const char *path, rd_package_wants *wants, rd_package_takes *takes, void *arg, struct rd_err *err)
{
	struct reading rd = { .path = path, .wants = wants, .takes = takes, .arg = arg, .err = err };
	/* O_NONBLOCK: a FIFO must not block us. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	char head[8];
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return rd_err_set(err, errno, path, "cannot open");
	if (S_ISDIR(st.st_mode))
		return walk_dir(&rd, path, 0);
	if (!S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "neither a directory nor a regular file");
	if (pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	    (!memcmp(head, DEB_MAGIC, 8) || !memcmp(head, RPM_MAGIC, 4)))
		return read_archive(&rd, fd, head[0] == DEB_MAGIC[0]);
	if (wants(arg, path))
		return take_file(&rd, fd, path);
	rd_err_set(err, EBADMSG, path, "neither a package, a kernel module nor a kernel image");
	return rd_err_hint(err, "give a Debian or RPM package, a .ko file, vmlinuz, or a directory that contains them");
}
