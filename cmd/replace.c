/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that others read while we write them. */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* mkstemp's files are for their owner alone; who reads a metrics page is another user. */
static int finish(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, 0666 & ~mask) < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

int rd_replace_file(const char *path, const struct rd_buf *contents, struct rd_err *err)
{
	_cleanup_free_ char *temporary = NULL;
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0, fd, r;

	struct stat st;

	if (contents->failed)
		return rd_err_set(err, ENOMEM, path, "cannot write");
	/* A rename would put a plain file in the place of /dev/null. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return rd_err_set(err, EINVAL, path, "is no plain file, and would be replaced");
	/* Hidden, and not called like what it becomes: who collects *.prom must not take half of one. */
	if (asprintf(&temporary, "%.*s.%s.XXXXXX", folder, path, path + folder) < 0) {
		temporary = NULL;
		return rd_err_set(err, ENOMEM, path, "cannot write");
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return rd_err_set(err, errno, path, "cannot create a file beside it");
	r = rd_write_all(fd, contents->data, contents->len);
	if (!r)
		r = finish(fd);
	if (close(fd) < 0 && !r)
		r = -errno;
	if (!r && rename(temporary, path) < 0)
		r = -errno;
	if (!r)
		return 0;
	unlink(temporary);
	return rd_err_set(err, -r, path, "cannot write");
}
