/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of this host that a command reads beside its facts. */
#ifndef RD_CMD_DATAFILE_H
#define RD_CMD_DATAFILE_H

#include "source/shared/source.h"

/* This host, under the deadline of rd_local_guard where there is one; `opened`, which the caller closes, is what had to be opened
 * for it. -errno with `err` filled. */
int rd_local_host(struct rd_source **opened, struct rd_source **ret, struct rd_err *err);

/* A file of this host that a user named, also by a relative path. -errno with `err` filled. */
int rd_read_local(const char *name, struct rd_bytes *ret, struct rd_err *err);

/* A bundle that a user named, as rd_source_bundle_open has it, of which `fn` reads all that is going to be read. Caller
 * closes it. */
int rd_open_local_bundle(const char *path, void (*fn)(struct rd_source *src, void *arg), struct rd_source **ret,
			 struct rd_err *err);

/* From now on all of these are read under the deadline of `guard`, which remains the caller's; NULL: without any. */
void rd_local_guard(struct rd_source *guard);

#endif
