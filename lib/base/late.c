/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/late.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int missing(const struct rd_late *late, const char *object, struct rd_err *err)
{
	rd_err_set(err, EOPNOTSUPP, object, "%s: %s", late->library->without, late->why);
	rd_err_hint(err, "install %s", late->library->package);
	return -EOPNOTSUPP;
}

static int not_found(struct rd_late *late, const char *object, struct rd_err *err)
{
	const char *why = dlerror();

	snprintf(late->why, sizeof(late->why), "%s", why ? why : late->library->soname);
	return missing(late, object, err);
}

int rd_late_load(struct rd_late *late, const char *object, struct rd_err *err)
{
	_cleanup_free_ void **functions = NULL;
	void *handle;

	if (*(void **)late->table)
		return 0;
	if (*late->why)
		return missing(late, object, err);
	functions = calloc(late->n, sizeof(*functions));
	if (!functions)
		return rd_err_set(err, ENOMEM, object, "no memory to load %s", late->library->soname);
	handle = dlopen(late->library->soname, RTLD_NOW);
	if (!handle)
		return not_found(late, object, err);
	for (size_t i = 0; i < late->n; i++) {
		/* Preloaded libraries come first, as if the library were linked. */
		functions[i] = dlsym(RTLD_DEFAULT, late->names[i]);
		if (!functions[i])
			functions[i] = dlsym(handle, late->names[i]);
		if (!functions[i])
			return not_found(late, object, err);
	}
	memcpy(late->table, functions, late->n * sizeof(*functions));
	return 0;
}
