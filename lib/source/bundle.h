/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a bundle's reader: archive or directory to tree, manifest to facts of the tree. */
#ifndef RD_BUNDLE_H
#define RD_BUNDLE_H

#include "source/tree.h"

#define RD_BUNDLE_SCHEMA "rdmadiag/bundle/1"

/* Reads a tar, plain or packed, into the tree. `name` is for messages. -EBADMSG for what is damaged or hostile, -EFBIG
 * above the limits. Keeps to the descriptor's file. */
int rd_bundle_read_tar(int fd, const char *name, struct rd_tree *tree, struct rd_err *err);

/* Takes the names below a directory into the tree; the bytes of files stay where they are (`lazy`). */
int rd_bundle_index_dir(int fd, const char *name, struct rd_tree *tree, struct rd_err *err);

/* Reads a lazy file. Never follows a link. */
int rd_bundle_read_lazy(int fd, struct rd_tree *tree, uint32_t node, struct rd_bytes *ret);

#endif
