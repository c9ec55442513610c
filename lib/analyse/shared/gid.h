/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which GID index to use, and which one libraries use. Pure. */
#ifndef RD_ANALYSE_GID_H
#define RD_ANALYSE_GID_H

#include "model/nicmap/nicmap.h"

/* Sets gid, gid_why and gid_nccl of every port. RoCE: version 2, IPv4 before global IPv6, on an interface of this network
 * namespace; the lowest index of these. InfiniBand: index 0. */
void rd_gid_choose(struct rd_port_views *views);

/* Why a RoCE program should not use this GID; NULL: usable. Static. */
const char *rd_gid_fault(const struct rd_host *host, const struct rd_port *port, const struct rd_gid *gid);

/* A range of addresses (NCCL_IB_ADDR_RANGE). */
struct rd_gid_range {
	uint8_t prefix[16]; /* of IPv4: in the last four bytes */
	int bits;	    /* prefix length, of 32 or 128; 0: any address */
};

/* The index that NCCL uses if NCCL_IB_GID_INDEX is not set: from 0 upwards it moves to a GID of the wanted family, and
 * within it to the wanted RoCE version (src/transport/net_ib/connect.cc). `range` NULL: any address. -1 if the port has no GIDs. */
int rd_gid_nccl(const struct rd_port *port, bool v6, int roce_version, const struct rd_gid_range *range);

/* The GID at that index, which may be any number; NULL if it is empty. */
const struct rd_gid *rd_gid_at(const struct rd_port *port, long index);

#endif
