/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_UAPI_H
#define RD_COLLECT_UAPI_H

#include <rdma/rdma_netlink.h>

/*
 * Constants of the kernel's user API that are missing in the headers of Debian 12 (linux-libc-dev of bookworm/main); the kernel
 * never changes them. Defined after the headers are included, because newer headers have them as enumerators. tests/lint/uapi.sh
 * compiles against the old headers and fails if a constant is missing here.
 */

/* include/uapi/rdma/rdma_netlink.h of linux-libc-dev 6.12 (Debian 13) */
#define RDMA_NLDEV_ATTR_RES_SUBTYPE 98

/* Size of attribute tables: one more than the highest RDMA netlink attribute used here, independent of the headers. */
#define RD_NLDEV_ATTRS (RDMA_NLDEV_ATTR_RES_SUBTYPE + 1)

#endif
