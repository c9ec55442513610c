/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_COLLECT_UAPI_H
#define RD_COLLECT_UAPI_H

#include <rdma/rdma_netlink.h>

/*
 * Numbers of the kernel's interface that the headers of Debian 12 (linux-libc-dev of bookworm/main) do not have; the kernel
 * never changes them. Defined behind the headers, because newer ones have them as enumerators. tests/lint/uapi.sh compiles
 * against the old headers and fails where a number is missing here.
 */

/* include/uapi/rdma/rdma_netlink.h as linux-libc-dev 6.12 (Debian 13) has it */
#define RDMA_NLDEV_ATTR_RES_SUBTYPE 98

/* One more than the highest attribute of RDMA netlink that is used here, whatever the headers know: the size of tables. */
#define RD_NLDEV_ATTRS (RDMA_NLDEV_ATTR_RES_SUBTYPE + 1)

#endif
