/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/late.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int missing(const struct rd_late *late, const char *object, struct rd_err *err)
{
	const char *why = dlerror();

	rd_err_set(err, EOPNOTSUPP, object, "%s: %s", late->library->without, why ? why : late->library->soname);
	rd_err_hint(err, "install %s", late->library->package);
	return -EOPNOTSUPP;
}

int rd_late_load(const struct rd_late *late, const char *object, struct rd_err *err)
{
	_cleanup_free_ void **functions = NULL;
	void *handle;

	if (*(void **)late->table)
		return 0;
	functions = calloc(late->n, sizeof(*functions));
	if (!functions)
		return rd_err_set(err, ENOMEM, object, "no memory to load %s", late->library->soname);
	handle = dlopen(late->library->soname, RTLD_NOW);
	if (!handle)
		return missing(late, object, err);
	for (size_t i = 0; i < late->n; i++) {
		/* What was preloaded comes first, as if we were linked. */
		functions[i] = dlsym(RTLD_DEFAULT, late->names[i]);
		if (!functions[i])
			functions[i] = dlsym(handle, late->names[i]);
		if (!functions[i])
			return missing(late, object, err);
	}
	memcpy(late->table, functions, late->n * sizeof(*functions));
	return 0;
}
