/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the bundle reader: archive or directory to tree, manifest to facts of the tree. */
#ifndef RD_BUNDLE_H
#define RD_BUNDLE_H

#include "source/bundle/tree.h"

#define RD_BUNDLE_SCHEMA "rdmadiag/bundle/1"

/* Reads a tar, plain or compressed, into the tree. `name` is for messages. -EBADMSG for a damaged or hostile archive, -EFBIG
 * above the limits. Reads no file but `fd`. */
int rd_bundle_read_tar(int fd, const char *name, struct rd_tree *tree, struct rd_err *err);

/* The same from memory. Also -EBADMSG if another archive follows: it would be lost silently. */
int rd_bundle_read_tar_bytes(const struct rd_bytes *bytes, const char *name, struct rd_tree *tree, struct rd_err *err);

/* All that a directory contains, as bytes for rd_bundle_read_dir. Follows no link, and interprets nothing. -EBADMSG if there is a file
 * type that a bundle must not contain, -EFBIG above the limits. */
int rd_bundle_walk(int fd, struct rd_bytes *ret);

/* Reads a directory into the tree; `name`: as given by the user. */
int rd_bundle_read_dir(int fd, const char *name, struct rd_tree *tree, struct rd_err *err);

#endif
