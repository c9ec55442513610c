/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What no recording may hold, redacted or not: the environment of a process beyond what RDMA libraries are told there, and
 * keys that give access to memory. */
#ifndef RD_SCRUB_H
#define RD_SCRUB_H

#include "source/shared/source.h"

/* Of an environment file (/proc/PID/environ, /etc/environment, /etc/nccl.conf), leaves the NCCL_, NVSHMEM_, UCX_, GLOO_, FI_
 * and MC_ variables, but for passwords, tokens and addresses with a user in them. Other paths are left alone. */
void rd_scrub_file(const char *path, struct rd_bytes *bytes);

/* Turns memory keys in messages of NETLINK_RDMA into attributes that say nothing. In place. */
void rd_scrub_messages(int protocol, struct rd_bytes *bytes);

#endif
