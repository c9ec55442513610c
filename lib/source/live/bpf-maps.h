/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF maps of other processes. Their virtual files are described in source.h, at RD_SOURCE_MAPS. */
#ifndef RD_SOURCE_BPF_MAPS_H
#define RD_SOURCE_BPF_MAPS_H

#include "source/shared/source.h"

/* -ENOENT: there is no map of that name. -EPERM without CAP_SYS_ADMIN. */
int rd_bpf_maps_read(const char *path, struct rd_bytes *ret, struct rd_err *err);

#endif
