// SPDX-License-Identifier: GPL-2.0-or-later
#include "source/package/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

/* Directories of modules have eight levels at most. */
#define DEPTH_MAX 32

struct walk {
	rd_package_wants *wants;
	rd_package_takes *takes;
	void *arg;
	struct rd_err *err;
};

static int walk_dir(const struct walk *w, const char *path, unsigned depth);

static int take_file(const struct walk *w, int fd, const char *path)
{
	_cleanup_bytes_ struct rd_bytes bytes = { 0 };
	int r = rd_read_fd(fd, RD_PACKAGE_FILE_MAX, &bytes);

	if (r < 0)
		return rd_err_set(w->err, -r, path, "cannot read");
	return w->takes(w->arg, path, &bytes, w->err);
}

static int walk_entry(const struct walk *w, const char *dir, const struct dirent *entry, unsigned depth)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return 0;
	if (asprintf(&path, "%s/%s", dir, entry->d_name) < 0) {
		path = NULL;
		return rd_err_set(w->err, ENOMEM, dir, "cannot read the directory");
	}
	if (lstat(path, &st))
		return rd_err_set(w->err, errno, path, "cannot read");
	if (S_ISDIR(st.st_mode))
		return walk_dir(w, path, depth + 1);
	/* Modules may be links, as in weak-updates; links to directories, and those that lead nowhere, are passed over. */
	if (S_ISLNK(st.st_mode) && stat(path, &st))
		return 0;
	if (!S_ISREG(st.st_mode) || !w->wants(w->arg, path))
		return 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? rd_err_set(w->err, errno, path, "cannot read") : take_file(w, fd, path);
}

static int walk_dir(const struct walk *w, const char *path, unsigned depth)
{
	struct dirent **entries = NULL;
	int n, r = 0;

	if (depth > DEPTH_MAX)
		return rd_err_set(w->err, ELOOP, path, "more than %u levels of directories", DEPTH_MAX);
	n = scandir(path, &entries, NULL, alphasort);
	if (n < 0)
		return rd_err_set(w->err, errno, path, "cannot read the directory");
	for (int i = 0; i < n; i++) {
		r = r ? r : walk_entry(w, path, entries[i], depth);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int rd_package_read(const char *path, rd_package_wants *wants, rd_package_takes *takes, void *arg, struct rd_err *err)
{
	const struct walk w = { .wants = wants, .takes = takes, .arg = arg, .err = err };
	/* O_NONBLOCK: a FIFO must not block us. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return rd_err_set(err, errno, path, "cannot open");
	if (S_ISDIR(st.st_mode))
		return walk_dir(&w, path, 0);
	if (!S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "neither a directory nor a regular file");
	if (rd_package_is_archive(fd))
		return rd_package_read_archive(fd, path, wants, takes, arg, err);
	if (wants(arg, path))
		return take_file(&w, fd, path);
	rd_err_set(err, EBADMSG, path, "neither a package, a kernel module nor a kernel image");
	rd_err_hint(err, "give a Debian or RPM package, a .ko file, vmlinuz, or a directory that contains them");
	return -EBADMSG;
}
