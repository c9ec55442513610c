/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "datafile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_of(struct rd_source *host, const char *folder, const char *name, char *path, struct rd_bytes *ret,
		   struct rd_err *err)
{
	if (snprintf(path, RD_DATA_PATH, "%s/%s", folder, name) >= RD_DATA_PATH)
		return rd_err_set(err, ENAMETOOLONG, name, "cannot look for it");
	return rd_read_file(host, path, ret, err);
}

static int read_beside(struct rd_source *host, const char *exe, const char *name, char *path, struct rd_bytes *ret)
{
	static const char *const beside[] = { "../share/rdmadiag", "../data" };
	const char *slash = strrchr(exe, '/');

	for (size_t i = 0; slash && i < RD_ARRAY_SIZE(beside); i++) {
		char folder[RD_DATA_PATH];

		snprintf(folder, sizeof(folder), "%.*s/%s", (int)(slash - exe), exe, beside[i]);
		if (read_of(host, folder, name, path, ret, NULL) == 0)
			return 0;
	}
	return -ENOENT;
}

int rd_data_read(const char *name, char *path, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *host = NULL;
	const char *env = getenv("RDMADIAG_DATADIR");
	_cleanup_free_ char *exe = NULL;
	int r = rd_source_live_open(NULL, &host, err);

	if (r < 0)
		return r;
	if (env && *env)
		return read_of(host, env, name, path, ret, err);
	if (rd_read_link(host, "/proc/self/exe", &exe, NULL) == 0 && read_beside(host, exe, name, path, ret) == 0)
		return 0;
	return read_of(host, RD_DATADIR, name, path, ret, err);
}

int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *here = NULL;
	_cleanup_free_ char *path = realpath(name, NULL);
	int r;

	if (!path)
		return rd_err_set(err, errno, name, "cannot find");
	r = rd_source_live_open(NULL, &here, err);
	return r < 0 ? r : rd_read_file(here, path, ret, err);
}
