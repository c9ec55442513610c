/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules about the way from a NIC to an accelerator's memory share. */
#ifndef RD_CHECK_GPUMEM_H
#define RD_CHECK_GPUMEM_H

#include "model/host/host.h"
#include "model/shared/check.h"

/* Accelerators of this maker ("NVIDIA"). */
size_t rd_gpus_of(const struct rd_host *host, const char *vendor);

#endif
