/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses that a process with queue pairs has TCP connections to: hosts of its job, if its library connects them by TCP. */
#ifndef RD_MODEL_PROC_PEERS_H
#define RD_MODEL_PROC_PEERS_H

#include "base/base.h"

#define RD_PROC_PEERS 8

struct rd_proc_peers {
	uint8_t ip[RD_PROC_PEERS][16]; /* IPv4 as ::ffff:a.b.c.d; those with most connections */
	unsigned n;
	uint64_t more; /* other addresses */
	bool at_least; /* there may be more than that */
};

/* Adds the addresses of another process; the same ones may be added again. */
void rd_proc_peers_merge(struct rd_proc_peers *to, const struct rd_proc_peers *from);

/* "10.0.0.2,10.0.0.3", "10.0.0.2,…,10.0.0.9 +12", "… +12 or more"; "" if there are none. Caller frees. */
char *rd_proc_peers_text(const struct rd_proc_peers *peers);

#endif
