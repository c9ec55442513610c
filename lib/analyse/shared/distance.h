/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distance between an accelerator and a NIC, by three rules. Pure. */
#ifndef RD_ANALYSE_DISTANCE_H
#define RD_ANALYSE_DISTANCE_H

#include "model/nicmap/nicmap.h"

/*
 * As `nvidia-smi topo -m`: PIX when at most one bridge or switch lies between them, PXB for several below one root port,
 * PHB for two root ports of one host bridge, NODE for host bridges of one NUMA node, SYS beyond. Either may be any
 * function. In a topology file a CPU represents the host bridge, and NODE is not distinguished from PHB. `why` may be
 * NULL; set to a static text if the path is unknown or ambiguous.
 */
enum rd_path rd_distance_pci(const struct rd_host *host, int a, int b, const char **why);

/* The same between an accelerator and an RDMA device, which may have no PCI function. */
enum rd_path rd_distance(const struct rd_host *host, int gpu, int ibdev, const char **why);

/* NCCL (src/graph/xml.cc, paths.cc): its tree holds every second function above an endpoint, so that a node is a switch;
 * PIX below one node, PXB below several, PHB over one CPU (a NUMA node), SYS over two. Switches of PEX88000 and PEX89000
 * type that are parts of one chip count as one. */
enum rd_path rd_distance_nccl(const struct rd_host *host, int gpu, int ibdev);
/* The same between an accelerator's function and a NIC's; `pci`: -1 where it has none, `numa`: of its CPU. */
enum rd_path rd_distance_nccl_pci(const struct rd_host *host, int gpu_pci, int pci, int numa);
/* The NUMA node of the CPU to which NCCL attaches a device with the function `pci` (-1: none). */
int rd_nccl_numa(const struct rd_host *host, int ibdev, int pci);

/* The node above in NCCL's tree, -1: a CPU; with, and without, the two levels of a PEX switch merged. */
int rd_nccl_parent(const struct rd_host *host, int pci);
int rd_nccl_parent_unmerged(const struct rd_host *host, int pci);

/* NVSHMEM (src/host/topo/topo.cpp): counts the common parts of the two sysfs paths. */
enum rd_path rd_distance_nvshmem(const struct rd_host *host, int gpu, int ibdev);

/* How many functions, counted from the root, the paths to two functions have in common; *na, *nb: their lengths. */
size_t rd_distance_common(const struct rd_host *host, int a, int b, size_t *na, size_t *nb);

/* Fills map->pairs. */
void rd_distance_fill(const struct rd_host *host, struct rd_nicmap *map);

/* The bridges from a up and down to b, as indices; *top: how many of them are on the way up, including the common one (0:
 * no common one). Caller frees. */
void rd_distance_bridges(const struct rd_host *host, int a, int b, int **ret, size_t *n, size_t *top);

#endif
