/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device attributes from libibverbs. The format is described in source.h, at RD_SOURCE_VERBS. */
#ifndef RD_SOURCE_VERBS_H
#define RD_SOURCE_VERBS_H

#include "source/shared/source.h"

/* The library is loaded, and the device opened, in a child process that is abandoned after three seconds (in a child of the
 * guard: together with that): a provider can hang in its device, or crash. The child can open libraries, sysfs and RDMA devices
 * only. `*silent` is false before the first call, and belongs to the source: after one missing reply every device is -ETIMEDOUT
 * without a query. -EOPNOTSUPP without libibverbs, -ENODEV if it does not know the device. */
int rd_verbs_read(bool *silent, const char *path, struct rd_bytes *ret, struct rd_err *err);

#endif
