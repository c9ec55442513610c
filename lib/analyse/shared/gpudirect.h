/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who offers the memory of accelerators to NICs. Pure. */
#ifndef RD_ANALYSE_GPUDIRECT_H
#define RD_ANALYSE_GPUDIRECT_H

#include "model/host/host.h"
#include "model/host/system.h"

struct rd_offer {
	RD_FIELD(bool) offered;
	const char *why; /* by what, or why not, or why it is not known; static */
};

/* Whether a NIC of this host can reach the memory of the accelerator at all, whatever the distance. As NCCL asks
 * (src/transport/net_ib/gdr.cc: ncclIbGdrSupport, ncclIbDmaBufSupport). `system` may be NULL. */
struct rd_offer rd_gpudirect_offer(const struct rd_host *host, const struct rd_system *system, size_t gpu);

#endif
