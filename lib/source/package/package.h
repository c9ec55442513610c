/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a kernel that need not be booted: of a Debian or RPM package, of a directory such as /lib/modules/6.12.1, or one
 * module file. Reading them changes nothing, and nothing is extracted.
 */
#ifndef RD_PACKAGE_H
#define RD_PACKAGE_H

#include "source/shared/source.h"

/* The largest file in question is a kernel image with symbols; modules of GPU drivers have 50 MiB. */
#define RD_PACKAGE_FILE_MAX ((size_t)1 << 30)

/* Called for each regular file, with its path in the package (without leading "./") or its path on this host. */
typedef bool rd_package_wants(void *arg, const char *path);
/* Gets a file that is wanted, and takes over its bytes. 0, or -errno with err filled, which ends the reading. */
typedef int rd_package_takes(void *arg, const char *path, struct rd_bytes *bytes, struct rd_err *err);

/*
 * Reads a package, a directory or a file. -ENOENT; -EBADMSG for a damaged package, -EFBIG for a file
 * beyond RD_PACKAGE_FILE_MAX. Symbolic links to directories are not followed, except `path` itself.
 */
int rd_package_read(const char *path, rd_package_wants *wants, rd_package_takes *takes, void *arg, struct rd_err *err);

#endif
