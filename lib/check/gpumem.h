/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules about the way from a NIC to an accelerator's memory share. */
#ifndef RD_CHECK_GPUMEM_H
#define RD_CHECK_GPUMEM_H

#include "model/check.h"
#include "model/host.h"
#include "model/system.h"

/* Accelerators of this maker ("NVIDIA"). */
size_t rd_gpus_of(const struct rd_host *host, const char *vendor);

/* NVIDIA's module that offers its memory to ib_core is loaded. */
bool rd_has_peermem(const struct rd_system *system);
/* A module of somebody else's that did so before. */
bool rd_has_old_peermem(const struct rd_system *system);

#endif
