/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_BACKUP_H
#define RD_ANALYSE_BACKUP_H

#include "model/nicmap/nicmap.h"

/* What we advise: sets backup and backup_why of each choice: the other port of a two-port card, else the neighbour in the order of the
 * compute NICs (even + 1, odd - 1), else the nearest one that is up. */
void rd_backup_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_choices *choices);

/* What libraries do by themselves: sets library_backup and its reason. NVSHMEM has no failover of its own; libraries that add
 * one to GPU-initiated RDMA take the other port of a two-port card, else the neighbour in the order of devices, which need
 * not be a compute NIC. NCCL goes on with what is left of a merged NIC (src/transport/net_ib/p2p_resiliency.cc). */
void rd_backup_of_nvshmem(const struct rd_host *host, struct rd_choices *choices);
void rd_backup_of_nccl(const struct rd_nccl_nets *nets, struct rd_choices *choices);

#endif
