/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses that processes have TCP connections to. */
#ifndef RD_COLLECT_PROC_PEERS_H
#define RD_COLLECT_PROC_PEERS_H

#include "model/rdma/qp.h"
#include "source/shared/source.h"

/* Fills rd_proc.peers of a process; unknown if this user may not read them. 0 or -ENOMEM. */
int rd_collect_proc_peers(struct rd_source *src, struct rd_proc *proc);

/* Decodes the file (RD_SOURCE_TCP), as foreign input. */
void rd_proc_peers_take(const char *text, struct rd_proc_peers *ret);

#endif
