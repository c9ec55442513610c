/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ethtool ioctl. Its virtual files are described in source.h, at RD_SOURCE_ETHTOOL. */
#ifndef RD_SOURCE_ETHTOOL_H
#define RD_SOURCE_ETHTOOL_H

#include "source/shared/source.h"

/* `*fd` is a socket, -1 before the first call; the caller closes it. */
int rd_ethtool_read(int *fd, const char *path, struct rd_bytes *ret, struct rd_err *err);

#endif
