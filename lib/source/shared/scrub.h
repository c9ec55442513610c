/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removes data that no recording may contain, redacted or not: environment variables other than those of RDMA libraries, and
 * keys. */
#ifndef RD_SCRUB_H
#define RD_SCRUB_H

#include "source/shared/source.h"

/* In an environment file (/proc/PID/environ, /etc/environment, /etc/nccl.conf), keeps only the NCCL_, NVSHMEM_, UCX_, GLOO_, FI_
 * and MC_ variables, except passwords, tokens and addresses that contain a user name; of /proc/PID/stat, what is before the
 * addresses in that process. Other paths are not changed. */
void rd_scrub_file(const char *path, struct rd_bytes *bytes);

/* Whether a variable of a process that somebody selected is shown and recorded: those, and RCCL_, UCCL_, MORI_, ROCSHMEM_, NIXL_, OMPI_MCA_,
 * I_MPI_ and MOONCAKE_, with the same exceptions. */
bool rd_scrub_keeps_of_job(const char *entry, size_t size);

/* Replaces memory keys in NETLINK_RDMA messages by unspecified attributes, and by zeros what is not read of the dumps of queue pairs,
 * which contain other keys. In place. */
void rd_scrub_messages(int protocol, struct rd_bytes *bytes);

#endif
