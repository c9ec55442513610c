/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The versions of the kernel's interface that a provider library of libibverbs supports, read from its file. */
#ifndef RD_SOURCE_PROVIDER_ABI_H
#define RD_SOURCE_PROVIDER_ABI_H

#include "base/base.h"

/* Finds struct verbs_device_ops of the provider `name` in its ELF file: foreign bytes, nothing is loaded. False: not found, or not the
 * only one. */
bool rd_provider_abi(const uint8_t *data, size_t size, const char *name, uint32_t *ret_min, uint32_t *ret_max);

#endif
