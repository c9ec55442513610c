/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "datafile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "source/bundle/bundle.h"
#include "source/guard/source-guard.h"

/* NULL: there is no deadline. */
static struct rd_source *local_guard;

void rd_local_guard(struct rd_source *guard)
{
	local_guard = guard;
}

int rd_local_host(struct rd_source **opened, struct rd_source **ret, struct rd_err *err)
{
	int r = local_guard ? 0 : rd_source_live_open(NULL, opened, err);

	*ret = local_guard ? local_guard : *opened;
	return r;
}

/* Not realpath, which reads each directory of the path: one may hang. */
static char *whole_path(const char *name)
{
	_cleanup_free_ char *here = *name == '/' ? NULL : getcwd(NULL, 0);

	if (*name == '/')
		return rd_dup(name);
	return here ? rd_text("%s/%s", here, name) : NULL;
}

static int copy_standard_input(const struct rd_bytes *bytes, struct rd_bytes *ret, struct rd_err *err)
{
	int r = rd_bytes_copy(bytes->data, bytes->size, ret);

	return r < 0 ? rd_err_set(err, -r, "standard input", "cannot read") : 0;
}

int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err)
{
	const struct rd_bytes *input = rd_is_standard_input(name) ? rd_standard_input() : NULL;
	_cleanup_(rd_source_closep) struct rd_source *opened = NULL;
	_cleanup_free_ char *path = whole_path(name);
	struct rd_source *host;
	int r;

	if (input)
		return copy_standard_input(input, ret, err);
	if (!path)
		return rd_err_set(err, errno, name, "cannot determine the working directory");
	r = rd_local_host(&opened, &host, err);
	return r < 0 ? r : rd_read_file(host, path, ret, err);
}

int rd_open_local_bundle(const char *path, void (*fn)(struct rd_source *src, void *arg), struct rd_source **ret,
			 struct rd_err *err)
{
	_cleanup_(rd_source_closep) struct rd_source *bundle = NULL;
	int r;

	if (!local_guard)
		return rd_source_bundle_open(path, ret, err);
	bundle = rd_source_guard_open_bundle(path, rd_source_guard_left(local_guard));
	rd_source_guard_ahead(bundle, fn, NULL);
	rd_source_guard_join(local_guard, bundle);
	r = rd_source_guard_ready(bundle, err);
	if (!r)
		*ret = RD_TAKE(bundle);
	return r;
}
