/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of runs: what NCCL, UCX, Mooncake and NVSHMEM say of the NICs that they take. */
#ifndef RD_COLLECT_RUNLOG_H
#define RD_COLLECT_RUNLOG_H

#include "base/err.h"
#include "model/nicmap/runlog.h"

/* Lines of any length, of any number of processes and hosts in any order; what is not known is passed over. `name`: what to
 * call the file in messages. -EBADMSG where no line says anything that is known here; -ENOMEM. `ret` is the caller's to
 * release in any case. */
int rd_runlog_parse(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err);

/* What an NCCL topology file says of GPUDirect, NIC by NIC, in a log of one host. -errno as rd_collect_nccl_xml. */
int rd_runlog_topology(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err);

#endif
