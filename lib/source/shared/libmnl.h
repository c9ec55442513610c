/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libmnl: linked, or, with "make static", loaded when a command begins, because there is no static library of it. Without it, all
 * works that needs no netlink. */
#ifndef RD_SOURCE_LIBMNL_H
#define RD_SOURCE_LIBMNL_H

#include "base/late.h"

/* Called first before privileges are dropped. -EOPNOTSUPP with `err` filled if the library is not installed. */
#ifdef RD_STATIC
int rd_libmnl_load(const char *object, struct rd_err *err);
#else
static inline int rd_libmnl_load(const char *object, struct rd_err *err)
{
	return 0;
}
#endif

#endif
