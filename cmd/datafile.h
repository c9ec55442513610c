/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of this host that a command reads besides its facts: tables, profiles, bundles. */
#ifndef RD_CMD_DATAFILE_H
#define RD_CMD_DATAFILE_H

#include "source/shared/source.h"

/* This host, under the deadline of rd_local_guard if one is set; otherwise opened for this call: the caller closes `opened`.
 * -errno with `err` filled. */
int rd_local_host(struct rd_source **opened, struct rd_source **ret, struct rd_err *err);

/* A file of this host given by the user, also by a relative path; "-": standard input, if that was read. -errno with `err` filled. */
int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err);

/* A bundle given by the user, as of rd_source_bundle_open; `fn` reads everything that will be read of it. Caller closes it. */
int rd_open_local_bundle(const char *path, void (*fn)(struct rd_source *src, void *arg), struct rd_source **ret,
			 struct rd_err *err);

/* From now on all of these are read under the deadline of `guard`, which the caller keeps; NULL: without deadline. */
void rd_local_guard(struct rd_source *guard);

#endif
