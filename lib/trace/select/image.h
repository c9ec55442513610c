/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The type information (BTF) in the image of a kernel that is not booted. */
#ifndef RD_TRACE_IMAGE_H
#define RD_TRACE_IMAGE_H

#include "source/shared/source.h"

/*
 * Finds the BTF of vmlinux in a kernel image: a bzImage (x86), a compressed or plain Image (arm64), or an ELF file. `release`: what
 * uname -r of that kernel prints; an image of another release is refused, because the BTF of modules refers to types by number.
 * -EBADMSG: the image cannot be unpacked; -ENOENT: it has no BTF; -ENOEXEC: it is of another release.
 */
int rd_image_btf(const struct rd_bytes *image, const char *release, struct rd_bytes *ret, struct rd_err *err);

#endif
