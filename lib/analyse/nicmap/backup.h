/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_ANALYSE_BACKUP_H
#define RD_ANALYSE_BACKUP_H

#include "model/nicmap/nicmap.h"

/* Sets backup and backup_why of each choice, what rdmadiag advises: the other port of a two-port card, else the neighbour in
 * the order of the compute NICs (even + 1, odd - 1), else the nearest active port. */
void rd_backup_fill(const struct rd_host *host, const struct rd_nicmap *map, struct rd_choices *choices);

/* Sets library_backup and its reason, what libraries do by themselves. NVSHMEM has no failover; libraries that add failover
 * to GPU-initiated RDMA use the other port of a two-port card, else the neighbour in the order of devices, which is not
 * necessarily a compute NIC. NCCL continues with the remaining ports of a merged NIC (src/transport/net_ib/p2p_resiliency.cc). */
void rd_backup_of_nvshmem(const struct rd_host *host, struct rd_choices *choices);
void rd_backup_of_nccl(const struct rd_nccl_nets *nets, struct rd_choices *choices);

#endif
