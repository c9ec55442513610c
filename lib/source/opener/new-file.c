/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/opener/new-file.h"
#include "base/end.h"
#include "source/opener/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *volatile unfinished;

int rd_new_file_check(const char *path, bool replace, struct rd_err *err)
{
	struct stat st;

	if (rd_opener_used())
		return rd_opener_check(path, replace, err);
	/* A rename would replace /dev/null by a regular file. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "not a regular file: not replaced");
	if (!replace && lstat(path, &st) == 0)
		return rd_err_set(err, EEXIST, path, "file exists: not overwritten");
	return 0;
}

/* Some directories can be written to but not read: such a directory cannot be synced. */
static int open_folder(const char *path, int len)
{
	_cleanup_free_ char *name = NULL;
	int fd;

	if (asprintf(&name, "%.*s.", len, path) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

int rd_new_file_open(struct rd_new_file *file, const char *path, bool replace, struct rd_err *err)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) + 1 : 0, r;
	sigset_t all;

	*file = (struct rd_new_file){ .path = path, .replace = replace, .fd = -1, .folder = -1 };
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &file->before);
	if (rd_opener_used()) {
		file->fd = rd_opener_create(path, replace, err);
		return file->fd < 0 ? file->fd : 0;
	}
	r = rd_new_file_check(path, replace, err);
	if (r < 0)
		return r;
	file->folder = open_folder(path, len);
	if (file->folder < 0 && file->folder != -EACCES)
		return rd_err_set(err, -file->folder, path, "cannot create a file there");
	/* A hidden name without the final suffix: a collector of *.prom must not read a partial file. */
	if (asprintf(&file->temporary, "%.*s.rdmadiag.XXXXXX", len, path) < 0) {
		file->temporary = NULL;
		return rd_err_set(err, ENOMEM, path, "cannot create a file there");
	}
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	if (file->fd < 0)
		return rd_err_set(err, errno, path, "cannot create a file there");
	unfinished = file->temporary;
	rd_at_end(rd_new_file_abandon);
	return 0;
}

/* Not every file system supports RENAME_NOREPLACE; those without it support hard links. */
static int take_name(const struct rd_new_file *file)
{
	if (file->replace)
		return rename(file->temporary, file->path) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(file->temporary, file->path) < 0)
		return -errno;
	unlink(file->temporary);
	return 0;
}

static void forget_temporary(struct rd_new_file *file)
{
	unfinished = NULL;
	free(file->temporary);
	file->temporary = NULL;
}

int rd_new_file_finish(struct rd_new_file *file, mode_t mode, struct rd_err *err)
{
	int r;

	if (rd_opener_used()) {
		close(RD_TAKE_FD(file->fd));
		return rd_opener_finish(mode, err);
	}
	r = fchmod(file->fd, mode) < 0 || fsync(file->fd) < 0 ? -errno : 0;

	if (close(RD_TAKE_FD(file->fd)) < 0 && !r)
		r = -errno;
	if (r < 0)
		return rd_err_set(err, -r, file->path, "cannot write");
	r = take_name(file);
	if (r == -EEXIST)
		return rd_err_set(err, EEXIST, file->path, "file exists: not overwritten");
	if (r < 0)
		return rd_err_set(err, -r, file->path, "cannot rename the temporary file to it");
	forget_temporary(file);
	/* EINVAL: this file system cannot sync directories. */
	if (file->folder >= 0 && fsync(file->folder) < 0 && errno != EINVAL)
		return rd_err_set(err, errno, file->path,
				  "written, but cannot sync its directory: may be lost on a power failure");
	return 0;
}

void rd_new_file_deinit(struct rd_new_file *file)
{
	if (rd_opener_used() && file->fd >= 0)
		rd_opener_abandon();
	rd_cleanup_close(&file->fd);
	rd_cleanup_close(&file->folder);
	rd_new_file_abandon();
	forget_temporary(file);
	sigprocmask(SIG_SETMASK, &file->before, NULL);
}

void rd_new_file_abandon(void)
{
	const char *name = unfinished;

	if (name)
		unlink(name);
}

int rd_open_for_update(const char *path, struct rd_err *err)
{
	int fd;

	if (rd_opener_used())
		return rd_opener_update(path, err);
	/* Do not wait for the reader of a pipe. */
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0 && errno == ELOOP)
		return rd_err_set(err, ELOOP, path, "is a symbolic link, which is not followed");
	return fd < 0 ? rd_err_set(err, errno, path, "cannot open for writing") : fd;
}

int rd_replace_file(const char *path, const struct rd_buf *contents, struct rd_err *err)
{
	_cleanup_(rd_new_file_deinit) struct rd_new_file file;
	mode_t mask = umask(0);
	int r;

	umask(mask);
	r = rd_new_file_open(&file, path, true, err);
	if (r < 0)
		return r;
	r = contents->failed ? -ENOMEM : rd_write_all(file.fd, contents->data, contents->len);
	if (r < 0)
		return rd_err_set(err, -r, path, "cannot write");
	return rd_new_file_finish(&file, 0666 & ~mask, err);
}
