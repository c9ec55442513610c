/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of runs: the NICs that NCCL, UCX, Mooncake and NVSHMEM report to use. */
#ifndef RD_COLLECT_RUNLOG_H
#define RD_COLLECT_RUNLOG_H

#include "base/err.h"
#include "model/nicmap/runlog.h"

/* Lines of any length, of any number of processes and hosts in any order; unknown lines are ignored. `name`: the file name in
 * messages. -EBADMSG if no line is recognised. The caller must release `ret` in any case. */
int rd_runlog_parse(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err);

/* GPUDirect support per NIC from an NCCL topology file, as a log of one host. -errno as rd_collect_nccl_xml. */
int rd_runlog_topology(const char *name, const char *text, size_t size, struct rd_runlog *ret, struct rd_err *err);

#endif
