/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a bundle's reader: archive or directory to tree, manifest to facts of the tree. */
#ifndef RD_BUNDLE_H
#define RD_BUNDLE_H

#include "source/bundle/tree.h"

#define RD_BUNDLE_SCHEMA "rdmadiag/bundle/1"

/* Reads a tar, plain or packed, into the tree. `name` is for messages. -EBADMSG for what is damaged or hostile, -EFBIG
 * above the limits. Keeps to the descriptor's file. */
int rd_bundle_read_tar(int fd, const char *name, struct rd_tree *tree, struct rd_err *err);

/* A directory that holds a recording. */
struct rd_folder {
	int fd;		  /* -1: there is none */
	const char *path; /* as it was named; the caller's */
};

/* All names below a directory, in a form that rd_bundle_index_dir reads. -EBADMSG where there is what no bundle may hold, -EFBIG
 * above the limits. */
int rd_bundle_walk(int fd, struct rd_bytes *ret);

/* Takes the names below a directory into the tree; the bytes of files stay where they are (`lazy`). */
int rd_bundle_index_dir(const struct rd_folder *folder, struct rd_tree *tree, struct rd_err *err);

/* Opens for reading, without following a link. A descriptor or -errno. */
int rd_bundle_open_beneath(int fd, const char *path);
/* The same where the kernel cannot look after that, name by name. */
int rd_bundle_open_by_name(int fd, const char *path);

/* Reads a lazy file. Never follows a link. */
int rd_bundle_read_lazy(const struct rd_folder *folder, struct rd_tree *tree, uint32_t node, struct rd_bytes *ret);

#endif
