/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libibverbs says of a device. Its form stands in source.h, at RD_SOURCE_VERBS. */
#ifndef RD_SOURCE_VERBS_H
#define RD_SOURCE_VERBS_H

#include "source/shared/source.h"

bool rd_verbs_path(const char *path);

/* The library is loaded, and the device opened, in a child process that is given up after three seconds (in a child of the
 * guard, when that is): a provider can hang in its device, or die. It can open libraries, sysfs and RDMA devices only. `*silent` is false before the first call, and the source's: once an answer did not come,
 * every device is -ETIMEDOUT without being asked. -EOPNOTSUPP where there is no libibverbs, -ENODEV where it does not know the device. */
int rd_verbs_read(bool *silent, const char *path, struct rd_bytes *ret, struct rd_err *err);

#endif
