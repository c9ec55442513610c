/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How NICs can access the memory of accelerators. Pure. */
#ifndef RD_ANALYSE_GPUDIRECT_H
#define RD_ANALYSE_GPUDIRECT_H

#include "model/host/host.h"
#include "model/host/system.h"

struct rd_offer {
	RD_FIELD(bool) offered;
	const char *why; /* by which mechanism, or why not, or why unknown; static */
};

/* Whether NICs of this host can access the memory of the accelerator, whatever the distance. Same checks as NCCL
 * (src/transport/net_ib/gdr.cc: ncclIbGdrSupport, ncclIbDmaBufSupport). `system` may be NULL. */
struct rd_offer rd_gpudirect_offer(const struct rd_host *host, const struct rd_system *system, size_t gpu);

#endif
