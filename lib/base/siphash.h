/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RD_SIPHASH_H
#define RD_SIPHASH_H

#include "base/base.h"

/* SipHash-2-4 of Aumasson and Bernstein: without the key, the hash reveals nothing about the bytes. */
struct rd_sipkey {
	uint64_t k[2];
};
/* A key of this process, for hash tables whose keys others choose: what the kernel gives each program at its start (AT_RANDOM). */
void rd_sipkey_of_process(struct rd_sipkey *ret);
uint64_t rd_siphash(const struct rd_sipkey *key, const void *data, size_t size);

#endif
