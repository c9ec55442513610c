/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What NCCL does with this host, by its own rules, as read from release 2.30.7. tests/rules/NCCL.md names the function that
 * each was read from. Pure. */
#ifndef RD_ANALYSE_NCCL_H
#define RD_ANALYSE_NCCL_H

#include "model/host/system.h"
#include "model/nicmap/nicmap.h"

/* What variables change of the rules. */
struct rd_nccl_settings {
	const bool *allowed;	  /* one flag a port, as NCCL_IB_HCA leaves them; NULL: all */
	bool merge_vfs;		  /* NCCL_IB_MERGE_VFS: functions and devices of one bus are one NIC */
	bool merge;		  /* NCCL_IB_MERGE_NICS, and NCCL_NET_MERGE_LEVEL is not LOC */
	enum rd_path merge_level; /* NCCL_NET_MERGE_LEVEL; RD_PATH_UNKNOWN: PORT, ports of one card */
	bool pxn;		  /* NCCL_PXN_DISABLE is 0 */
	bool pxn_c2c;		  /* NCCL_PXN_C2C */
	enum rd_path gdr_level;	  /* NCCL_NET_GDR_LEVEL; RD_PATH_UNKNOWN: not even PIX (LOC) */
};

/* As NCCL is without variables. */
struct rd_nccl_settings rd_nccl_defaults(void);

/*
 * Fills nccl_nets, nccl, and what of the pairs is NCCL's. The paths of pairs must be there (rd_distance_fill). Of all NICs
 * those count whose path has the most bandwidth, and of these the nearest; what is left is dealt out among the accelerators
 * that have them nearest. `system` may be NULL: then whether NICs can reach accelerators' memory is not known.
 */
void rd_nccl_fill(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_settings *settings,
		  struct rd_nicmap *map);

/* The function that a topology file for this host has a device on: the data direct one, or function 0 of device 0 of the bus,
 * on which NCCL puts all NICs of the bus; if that function does not exist, its own. -1: the device has no PCI function. */
int rd_nccl_place(const struct rd_host *host, int ibdev);

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
void rd_hca_list_parse(const char *value, struct rd_hca_list *ret);
/* The same of a library that reads so many. */
void rd_hca_list_parse_most(const char *value, size_t most, struct rd_hca_list *ret);
void rd_hca_list_deinit(struct rd_hca_list *list);
/* Whether the list as a whole lets the port through. */
bool rd_hca_list_takes(const struct rd_hca_list *list, const char *name, unsigned port);
/* Whether this one entry means the port (before ^). */
bool rd_hca_entry_means(const struct rd_hca_list *list, const struct rd_hca_entry *entry, const char *name,
			unsigned port);

#endif
