/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/opener/new-file.h"
#include "base/end.h"
#include "source/opener/opener.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/text.h"

#define TEMPORARY ".rdmadiag.tmp-" /* no other file has such a name: it may be removed */

static const char *volatile unfinished;

int rd_new_file_check(const char *path, bool replace, struct rd_err *err)
{
	struct stat st;

	if (rd_opener_used())
		return rd_opener_write(path, replace, 0, NULL, err);
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

/* Removes what a run that was killed left: temporary files of this user that no process has locked. */
static void remove_stale(int folder)
{
	_cleanup_close_ int own = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	struct stat st;

	if (!dir)
		return;
	RD_TAKE_FD(own);
	while ((entry = readdir(dir))) {
		_cleanup_close_ int fd = -1;

		if (strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) != 0 ||
		    strlen(entry->d_name) != strlen(TEMPORARY "XXXXXX"))
			continue;
		fd = openat(folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		    flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(folder, entry->d_name, 0);
	}
	closedir(dir);
}

/* A file without a name, where the file system has such: nothing is left of it if the process is killed. */
static int open_unnamed(const struct rd_new_file *file, int len)
{
	_cleanup_free_ char *folder = len ? rd_dup_part(file->path, (size_t)len) : rd_dup(".");

	return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int rd_new_file_open(struct rd_new_file *file, const char *path, bool replace, struct rd_err *err)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) + 1 : 0, r;
	sigset_t all;

	*file = (struct rd_new_file){ .path = path, .replace = replace, .fd = -1, .folder = -1 };
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &file->before);
	r = rd_new_file_check(path, replace, err);
	if (r < 0)
		return r;
	file->folder = open_folder(path, len);
	if (file->folder < 0 && file->folder != -EACCES)
		return rd_err_set(err, -file->folder, path, "cannot create a file there");
	remove_stale(file->folder);
	file->fd = replace ? -1 : open_unnamed(file, len);
	if (file->fd >= 0)
		return 0;
	/* A hidden name without the final suffix: a collector of *.prom must not read a partial file. */
	file->temporary = rd_text("%.*s" TEMPORARY "XXXXXX", len, path);
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	if (file->fd < 0)
		return rd_err_set(err, errno, path, "cannot create a file there");
	flock(file->fd, LOCK_EX);
	unfinished = file->temporary;
	rd_at_end(rd_new_file_abandon);
	return 0;
}

/* Not every file system supports RENAME_NOREPLACE; those without it support hard links. */
static int take_name(const struct rd_new_file *file)
{
	char unnamed[32];

	if (!file->temporary) {
		snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", file->fd);
		return linkat(AT_FDCWD, unnamed, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
	}
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

	r = fchmod(file->fd, mode) < 0 || fsync(file->fd) < 0 ? -errno : 0;
	if (r < 0)
		return rd_err_set(err, -r, file->path, "cannot write");
	r = take_name(file);
	close(RD_TAKE_FD(file->fd));
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
	if (!file->path)
		return;
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

/* Files that were opened before the process dropped its privileges. */
static struct {
	struct update {
		const char *path;
		int fd; /* or -errno */
		bool created;
		struct rd_err err;
	} * v;
	size_t n, cap;
} updates;

static int open_for_update(const char *path, struct rd_err *err)
{
	/* Do not wait for the reader of a pipe. */
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);

	if (fd < 0 && errno == ELOOP)
		return rd_err_set(err, ELOOP, path, "is a symbolic link, which is not followed");
	return fd < 0 ? rd_err_set(err, errno, path, "cannot open for writing") : fd;
}

void rd_open_for_update_ahead(const char *path)
{
	struct update *update = RD_ADD(updates.v, updates.n, updates.cap);

	*update = (struct update){ .path = path, .created = access(path, F_OK) < 0 && errno == ENOENT };
	update->fd = open_for_update(path, &update->err);
}

void rd_open_for_update_end(void)
{
	for (size_t i = 0; i < updates.n; i++) {
		const struct update *update = &updates.v[i];
		struct stat st, now;

		if (update->created && update->fd >= 0 && fstat(update->fd, &st) == 0 && st.st_size == 0 &&
		    lstat(update->path, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev)
			unlink(update->path);
	}
}

int rd_open_for_update(const char *path, struct rd_err *err)
{
	if (!rd_opener_used())
		return open_for_update(path, err);
	for (size_t i = 0; i < updates.n; i++) {
		if (strcmp(updates.v[i].path, path) != 0)
			continue;
		*err = updates.v[i].err;
		return updates.v[i].fd < 0 ? updates.v[i].fd : fcntl(updates.v[i].fd, F_DUPFD_CLOEXEC, 0);
	}
	return rd_err_set(err, EPERM, path, "not a file named on the command line");
}

int rd_write_file(const char *path, bool replace, mode_t mode, const struct rd_buf *contents, struct rd_err *err)
{
	_cleanup_(rd_new_file_deinit) struct rd_new_file file = { 0 };
	int r;

	if (rd_opener_used() && !contents->failed)
		return rd_opener_write(path, replace, mode, contents, err);
	r = rd_new_file_open(&file, path, replace, err);
	if (r < 0)
		return r;
	r = contents->failed ? -ENOMEM : rd_write_all(file.fd, contents->data, contents->len);
	return r < 0 ? rd_err_set(err, -r, path, "cannot write") : rd_new_file_finish(&file, mode, err);
}

int rd_replace_file(const char *path, const struct rd_buf *contents, struct rd_err *err)
{
	mode_t mask = umask(0);

	umask(mask);
	return rd_write_file(path, true, 0666 & ~mask, contents, err);
}
