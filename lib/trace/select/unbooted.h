/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that is not booted, as a source: its module files as if all RDMA modules were loaded. rd_select then computes the same as
 * on a host that runs this kernel with these modules, except addresses.
 */
#ifndef RD_TRACE_UNBOOTED_H
#define RD_TRACE_UNBOOTED_H

#include "source/shared/source.h"

/*
 * Reads packages, directories and module files (source/package/package.h); of modules of the same name the one in the last path
 * counts, and in one directory that below updates/ or extra/. What the paths lack is taken from the host: without ib_core,
 * /lib/modules/RELEASE of the release that the modules were built for, and without an image, that in the same place or in /boot.
 * What is missing, and the consequence, goes to `notes`.
 * -ENODEV: there is no RDMA module. Caller closes *ret by ops->close.
 */
int rd_unbooted_open(const char *const *paths, size_t n, struct rd_source **ret, struct rd_errlist *notes,
		     struct rd_err *err);

/* Hides a module, as if it were not loaded. */
void rd_unbooted_hide(struct rd_source *src, const char *module);

/* ---- the type information (BTF) in the image of a kernel */

/*
 * Finds the BTF of vmlinux in a kernel image: a bzImage (x86), a compressed or plain Image (arm64), or an ELF file. `release`: what
 * uname -r of that kernel prints; an image of another release is refused, because the BTF of modules refers to types by number.
 * -EBADMSG: the image cannot be unpacked; -ENOENT: it has no BTF; -ENOEXEC: it is of another release.
 */
int rd_image_btf(const struct rd_bytes *image, const char *release, struct rd_bytes *ret, struct rd_err *err);

#endif
