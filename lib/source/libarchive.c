/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/libarchive.h"

#include <dlfcn.h>
#include <errno.h>

#define NAME "libarchive.so.13"

struct rd_libarchive rd_libarchive;

static int missing(const char *object, struct rd_err *err)
{
	const char *why = dlerror();

	rd_err_set(err, EOPNOTSUPP, object, "what packs and unpacks cannot be loaded: %s", why ? why : NAME);
	rd_err_hint(err, "install libarchive (Debian: libarchive13, Fedora: libarchive)");
	return -EOPNOTSUPP;
}

int rd_libarchive_load(const char *object, struct rd_err *err)
{
	struct rd_libarchive lib;
	void *handle;

	if (rd_libarchive.f_read_new)
		return 0;
	handle = dlopen(NAME, RTLD_NOW);
	if (!handle)
		return missing(object, err);
#define LOAD(name)                                                 \
	*(void **)&lib.f_##name = dlsym(handle, "archive_" #name); \
	if (!lib.f_##name)                                         \
		return missing(object, err);
	RD_LIBARCHIVE(LOAD)
#undef LOAD
	rd_libarchive = lib;
	return 0;
}
