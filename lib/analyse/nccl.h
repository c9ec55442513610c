/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What NCCL does with this host, by its own rules (2.27 and later; src/graph/topo.cc, src/transport/net_ib). Pure. */
#ifndef RD_ANALYSE_NCCL_H
#define RD_ANALYSE_NCCL_H

#include "model/nicmap.h"

/*
 * Which ports NCCL gives each accelerator. `allowed`: one flag a port, as NCCL_IB_HCA leaves them; NULL: all that are
 * active. Of all NICs those count whose path has the most bandwidth, and of these the nearest; what is left is dealt out
 * among the accelerators that have them nearest. Ports of one card are fused into one NIC. 0 or -ENOMEM.
 */
int rd_nccl_choose(const struct rd_host *host, const struct rd_nicmap *map, const bool *allowed, struct rd_choices *ret);

/* Bandwidth of the path in GB/s, as NCCL counts it; 0 if there is none. `ports`: those fused into one NIC. */
float rd_nccl_bandwidth(const struct rd_host *host, int gpu, const int *ports, size_t n_ports);

/* One entry of NCCL_IB_HCA: name[:port[:rail[:plane]]]. */
struct rd_hca_entry {
	char name[64];
	int port; /* -1: all. What is no number is 0, which no port has */
};

/* NCCL_IB_HCA taken apart: an optional ^, then an optional =, once, in front of the whole list. NCCL reads 32 entries of it
 * (MAX_IB_DEVS). */
#define RD_NCCL_HCAS 32
struct rd_hca_list {
	bool exclude, exact;
	struct rd_hca_entry *v; /* owned */
	size_t n, left;		/* entries; and those behind the last that is read */
};
int rd_hca_list_parse(const char *value, struct rd_hca_list *ret);
/* The same of a library that reads so many. */
int rd_hca_list_parse_most(const char *value, size_t most, struct rd_hca_list *ret);
void rd_hca_list_deinit(struct rd_hca_list *list);
/* Whether the list as a whole lets the port through. */
bool rd_hca_list_takes(const struct rd_hca_list *list, const char *name, unsigned port);
/* Whether this one entry means the port (before ^). */
bool rd_hca_entry_means(const struct rd_hca_list *list, const struct rd_hca_entry *entry, const char *name,
			unsigned port);

#endif
