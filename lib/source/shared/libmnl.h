/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libmnl: linked, or in what "make static" builds loaded when the first command begins. There is no archive of it to link. */
#ifndef RD_SOURCE_LIBMNL_H
#define RD_SOURCE_LIBMNL_H

#include "base/late.h"

/* To be called before the first function of libmnl. -EOPNOTSUPP with `err` filled where it is not there. */
#ifdef RD_STATIC
int rd_libmnl_load(const char *object, struct rd_err *err);
#else
static inline int rd_libmnl_load(const char *object, struct rd_err *err)
{
	(void)object;
	(void)err;
	return 0;
}
#endif

#endif
