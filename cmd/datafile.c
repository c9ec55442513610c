/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "datafile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "source/source-guard.h"

/* NULL: there is no deadline. */
static struct rd_source *local_guard;

void rd_local_guard(struct rd_source *guard)
{
	local_guard = guard;
}

static int open_host(struct rd_source **opened, struct rd_source **ret, struct rd_err *err)
{
	int r = local_guard ? 0 : rd_source_live_open(NULL, opened, err);

	*ret = local_guard ? local_guard : *opened;
	return r;
}

static int read_of(struct rd_source *host, const char *folder, const char *name, char *path, struct rd_bytes *ret,
		   struct rd_err *err)
{
	if (snprintf(path, RD_DATA_PATH, "%s/%s", folder, name) >= RD_DATA_PATH)
		return rd_err_set(err, ENAMETOOLONG, name, "cannot look for it");
	return rd_read_file(host, path, ret, err);
}

/* Folders of tables beside the program. */
static const char *const beside[] = { "../share/rdmadiag", "../data" };

static void beside_of(const char *exe, size_t i, char folder[RD_DATA_PATH])
{
	const char *slash = strrchr(exe, '/');

	snprintf(folder, RD_DATA_PATH, "%.*s/%s", slash ? (int)(slash - exe) : 0, exe, beside[i]);
}

static int read_beside(struct rd_source *host, const char *exe, const char *name, char *path, struct rd_bytes *ret)
{
	char folder[RD_DATA_PATH];

	for (size_t i = 0; i < RD_ARRAY_SIZE(beside); i++) {
		beside_of(exe, i, folder);
		if (read_of(host, folder, name, path, ret, NULL) == 0)
			return 0;
	}
	return -ENOENT;
}

void rd_data_folders(void (*fn)(const char *folder))
{
	_cleanup_(rd_source_closep) struct rd_source *host = NULL;
	const char *env = getenv("RDMADIAG_DATADIR");
	_cleanup_free_ char *exe = NULL;
	char folder[RD_DATA_PATH];

	if (env && *env)
		fn(env);
	if (rd_source_live_open(NULL, &host, NULL) == 0 && rd_read_link(host, "/proc/self/exe", &exe, NULL) == 0)
		for (size_t i = 0; i < RD_ARRAY_SIZE(beside); i++) {
			beside_of(exe, i, folder);
			fn(folder);
		}
	fn(RD_DATADIR);
}

int rd_data_read(const char *name, char *path, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *opened = NULL;
	const char *env = secure_getenv("RDMADIAG_DATADIR");
	_cleanup_free_ char *exe = NULL;
	struct rd_source *host;
	int r = open_host(&opened, &host, err);

	if (r < 0)
		return r;
	if (env && *env)
		return read_of(host, env, name, path, ret, err);
	if (rd_read_link(host, "/proc/self/exe", &exe, NULL) == 0 && read_beside(host, exe, name, path, ret) == 0)
		return 0;
	return read_of(host, RD_DATADIR, name, path, ret, err);
}

/* Not realpath, which looks at each folder on the way: one may hang. */
static char *whole_path(const char *name)
{
	_cleanup_free_ char *here = *name == '/' ? NULL : getcwd(NULL, 0);
	char *path = NULL;

	if (*name == '/')
		return strdup(name);
	return here && asprintf(&path, "%s/%s", here, name) >= 0 ? path : NULL;
}

int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *opened = NULL;
	_cleanup_free_ char *path = whole_path(name);
	struct rd_source *host;
	int r;

	if (!path)
		return rd_err_set(err, errno, name, "cannot tell where it is");
	r = open_host(&opened, &host, err);
	return r < 0 ? r : rd_read_file(host, path, ret, err);
}

int rd_open_local_bundle(const char *path, void (*fn)(struct rd_source *src, void *arg), struct rd_source **ret,
			 struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
	int r;

	if (!local_guard)
		return rd_source_bundle_open(path, ret, err);
	r = rd_source_guard_open_bundle(path, rd_source_guard_left(local_guard), &bundle, err);
	if (r < 0)
		return r;
	rd_source_guard_ahead(bundle, fn, NULL);
	rd_source_guard_join(local_guard, bundle);
	r = rd_source_guard_ready(bundle, err);
	if (!r)
		*ret = RD_TAKE(bundle);
	return r;
}
