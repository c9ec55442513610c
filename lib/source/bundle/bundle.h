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

/* A directory with a recording. */
struct rd_folder {
	int fd;		  /* -1: not a directory */
	const char *path; /* as given by the user; owned by the caller */
};

/* All names below a directory, in the format of rd_bundle_index_dir. -EBADMSG if there is a file type that a bundle must not
 * contain, -EFBIG above the limits. */
int rd_bundle_walk(int fd, struct rd_bytes *ret);

/* Adds the names below a directory to the tree; the bytes of files stay on disk (`lazy`). */
int rd_bundle_index_dir(const struct rd_folder *folder, struct rd_tree *tree, struct rd_err *err);

/* Opens a file below `fd` for reading, without following a link. A descriptor or -errno. */
int rd_bundle_open_beneath(int fd, const char *path);
/* The same name by name, for kernels without openat2. */
int rd_bundle_open_by_name(int fd, const char *path);

/* Reads a lazy file. Never follows a link. */
int rd_bundle_read_lazy(const struct rd_folder *folder, struct rd_tree *tree, uint32_t node, struct rd_bytes *ret);

#endif
