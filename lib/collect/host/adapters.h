/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a host has no RDMA device: what its PCI functions are, and what they lack. */
#ifndef RD_COLLECT_ADAPTERS_H
#define RD_COLLECT_ADAPTERS_H

#include "source/shared/source.h"

/* Adds that to the message of rd_no_rdma_stack or rd_no_rdma_device, with a hint that fits; a hint for this host is not for the
 * host of a recording. Nothing where the functions could not be listed. */
void rd_no_rdma_reason(struct rd_source *source, bool recorded, struct rd_err *err);

#endif
