/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predicts how NCCL uses this host's NICs, by the rules of release 2.30.7. tests/rules/NCCL.md lists the function that each
 * rule was read from. Pure. */
#ifndef RD_ANALYSE_NCCL_H
#define RD_ANALYSE_NCCL_H

#include "base/buf.h"
#include "model/host/system.h"
#include "model/nicmap/nicmap.h"

/* Settings that variables change. */
struct rd_nccl_settings {
	const bool *allowed;	  /* one flag per port: allowed by NCCL_IB_HCA; NULL: all */
	bool merge_vfs;		  /* NCCL_IB_MERGE_VFS: all functions and devices of a bus are one NIC */
	bool merge;		  /* NCCL_IB_MERGE_NICS, and NCCL_NET_MERGE_LEVEL is not LOC */
	enum rd_path merge_level; /* NCCL_NET_MERGE_LEVEL; RD_PATH_UNKNOWN: PORT, ports of one card */
	bool pxn;		  /* NCCL_PXN_DISABLE is 0 */
	bool pxn_c2c;		  /* NCCL_PXN_C2C */
	enum rd_path gdr_level;	  /* NCCL_NET_GDR_LEVEL; RD_PATH_UNKNOWN: not even PIX (LOC) */
};

/* NCCL's defaults. */
struct rd_nccl_settings rd_nccl_defaults(void);

/*
 * Fills nccl_nets, nccl, and NCCL's fields of the pairs. The paths of the pairs must be filled (rd_distance_fill). NCCL uses
 * the NICs with the most bandwidth, among these the nearest, and divides them among the accelerators that they are local to.
 * `system` may be NULL: whether GPUDirect RDMA is supported is then unknown.
 */
void rd_nccl_fill(const struct rd_host *host, const struct rd_system *system, const struct rd_nccl_settings *settings,
		  struct rd_nicmap *map);

/* The PCI function that a topology file for this host lists a device under: the Data Direct function, or function 0 of device 0
 * of the bus, where NCCL puts all NICs of the bus; if that does not exist, the device's own. -1: no PCI function. */
int rd_nccl_place(const struct rd_host *host, int ibdev);

/* One entry of NCCL_IB_HCA: name[:port[:rail[:plane]]]. */
struct rd_hca_entry {
	char name[64];
	int port; /* -1: all. A value that is not a number counts as 0, which no port has */
};

/* NCCL_IB_HCA parsed: an optional ^, then an optional =, once, at the start of the list. NCCL reads at most 32 entries
 * (MAX_IB_DEVS). */
#define RD_NCCL_HCAS 32
struct rd_hca_list {
	bool exclude, exact;
	struct rd_hca_entry *v; /* owned */
	size_t n, left;		/* entries; entries beyond the last one read */
};
void rd_hca_list_parse(const char *value, struct rd_hca_list *ret);
/* The same for a library that reads at most `most` entries. */
void rd_hca_list_parse_most(const char *value, size_t most, struct rd_hca_list *ret);
void rd_hca_list_deinit(struct rd_hca_list *list);
/* Whether the list as a whole allows the port. */
bool rd_hca_list_allows(const struct rd_hca_list *list, const char *name, unsigned port);
/* Whether this entry matches the port (^ is not applied). */
bool rd_hca_entry_matches(const struct rd_hca_list *list, const struct rd_hca_entry *entry, const char *name,
			  unsigned port);

/*
 * Predicts the ports that NVSHMEM assigns to each PE (process) of this host, by its two passes (src/host/topo/topo.cpp, 3.x):
 * first the nearest pairs, where PIX and PXB are equal; then a PE whose NIC has at least two more users than an equally good
 * one moves to that one. `pes`: PEs on this host; PE i uses accelerator i (modulo their number); 0: one per accelerator. With
 * fewer PEs than NICs, each gets several.
 */
void rd_nvshmem_choose(const struct rd_host *host, const struct rd_nicmap *map, unsigned pes, struct rd_choices *ret);

/* Appends an NCCL topology file of this host: its CPUs, switches, accelerators and NICs, as NCCL would detect them. NCCL adds
 * at run time what belongs to a job (ranks, links between accelerators). */
void rd_nccl_xml_write(const struct rd_host *host, struct rd_buf *out);

#endif
