/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by rules about access of NICs to the memory of accelerators. */
#ifndef RD_CHECK_GPUMEM_H
#define RD_CHECK_GPUMEM_H

#include "model/host/host.h"
#include "model/shared/check.h"

/* Number of accelerators of this vendor ("NVIDIA") that are not assigned to guests. */
size_t rd_gpus_of(const struct rd_host *host, const char *vendor);

#endif
