/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a source into struct rd_host, one C file per kernel interface. An unreadable file is not fatal: it is noted in
 * `errors` and the value stays unknown. */
#ifndef RD_COLLECT_HOST_H
#define RD_COLLECT_HOST_H

#include "collect/shared/sysfs.h"
#include "model/host/netstate.h"
#include "model/host/system.h"
#include "model/rdma/qp.h"
#include "source/shared/source.h"

enum rd_collect_what {
	RD_COLLECT_ACS =
		1, /* configuration space of the bridges above NICs and accelerators: 1 ms each, requires root */
	RD_COLLECT_ALL_GIDS = 2, /* read GID tables to the end, even after many empty entries */
	RD_COLLECT_GIDS = 32,	 /* those of active Ethernet ports without a RoCE v2 GID of an IPv4 address */
	RD_COLLECT_PCI = 4,	 /* everything that rules check about NICs, accelerators and the bridges above them */
	RD_COLLECT_VERBS = 16,	 /* query libibverbs for every device, not only if the MTU is not in sysfs */
	RD_COLLECT_IB = 8,	 /* partitions, subnet manager and link failures of ports */
};

/* Reads the host. `what`: expensive parts to include, enum rd_collect_what, or-ed. `host` is zeroed by the caller. 0, or -E2BIG with `err` filled: see rd_collect_pci. */
int rd_collect_host(struct rd_source *src, unsigned what, struct rd_host *host, struct rd_errlist *errors,
		    struct rd_err *err);

/* /sys/bus/pci: every function with its class and location. -E2BIG if there are too many. */
int rd_collect_pci(const struct rd_sysfs *fs, struct rd_host *host, struct rd_err *err);
/* Details of one function and the bridges above it: IDs, link, NUMA node, driver, physical function; depending on `what`
 * (enum rd_collect_what) also configuration space, and other properties that rules check. */
void rd_collect_pci_detail(const struct rd_sysfs *fs, struct rd_host *host, int pci, unsigned what);
/* Configuration space of one function, as far as permitted. */
void rd_collect_pci_config(const struct rd_sysfs *fs, struct rd_pci *pci);
/* Base addresses of one function. */
void rd_collect_pci_bars(const struct rd_sysfs *fs, struct rd_pci *pci);
/* Sets has_nvswitch and has_data_direct. */
void rd_collect_pci_marks(const struct rd_sysfs *fs, struct rd_host *host);
/* Details of network functions without driver or RDMA device, which are not read otherwise. */
void rd_collect_pci_orphans(const struct rd_sysfs *fs, struct rd_host *host, unsigned what);
/* Vendor and device IDs of switches below bridges that were read in detail: identifies sisters that lost all devices below. */
void rd_collect_pci_sisters(const struct rd_sysfs *fs, struct rd_host *host);
/* Names of physical slots, for functions read in detail. */
void rd_collect_pci_slots(const struct rd_sysfs *fs, struct rd_host *host);

/* /sys/devices/system/node, CPU, and whether the host is a virtual machine. */
void rd_collect_numa(const struct rd_sysfs *fs, struct rd_host *host);

/* /sys/class/infiniband: devices, ports, GIDs. */
void rd_collect_ib(const struct rd_sysfs *fs, unsigned what, struct rd_host *host);

/* /sys/class/net, addresses and default routes of this network namespace; then assigns interfaces to RDMA ports. */
void rd_collect_netdev(const struct rd_sysfs *fs, struct rd_host *host);
void rd_collect_join_netdevs(struct rd_host *host);

/* Accelerators among the PCI functions, with data from the driver's procfs. */
void rd_collect_gpu(const struct rd_sysfs *fs, struct rd_host *host);

/* Sorts by PCI address and sets the index; also the NCCL number where it is -1. */
void rd_collect_sort_gpus(struct rd_host *host);
/* Vendor name; static; NULL: not a known vendor of accelerators. */
const char *rd_gpu_maker(uint16_t vendor);

/* A copy of the device's name in pci.ids, which is read for the first one; NULL: none. Caller frees. */
char *rd_pci_ids_device(const struct rd_sysfs *fs, struct rd_host *host, uint16_t vendor, uint16_t device);

/* Parses an NCCL topology file (XML) into the same model. -EBADMSG, -E2BIG if it is not one, or exceeds a limit. */
int rd_collect_nccl_xml(const char *name, const char *text, size_t size, struct rd_host *host, struct rd_err *err);

/* Parses the target of a sysfs link: address of the last function in the path, of the one above it ("": none), and the
 * outermost host bridge. False if there is no PCI function in the path. */
struct rd_pci_place {
	char self[RD_PCI_ADDR], parent[RD_PCI_ADDR], root[RD_PCI_ADDR];
	uint32_t sf; /* subfunction of mlx5, from 1: 5 of "mlx5_core.sf.4"; 0: none */
};
bool rd_pci_place_parse(const char *target, struct rd_pci_place *ret);

/* "4: ACTIVE" in a file of a port: the text after the number, or all of it. Caller frees. */
char *rd_collect_state(const struct rd_sysfs *fs, const char *dir, const char *file);

/* An entry of the GID table of the port whose directory in sysfs is `dir`. RD_ABSENT: it has no GID, or was not read; which
 * of these is in `empty` (NULL: not wanted). ret->netdev is owned by the caller. `link_layer` as in the file of that name; may be NULL. */
enum rd_known rd_collect_gid(const struct rd_sysfs *fs, const char *dir, const char *link_layer, unsigned index,
			     bool *empty, struct rd_gid *ret);

/* ---- shared by the files that collect interfaces */

/* Default routes from /proc/net; also addresses, if netlink is not available (a bare tree). */
void rd_collect_procnet(const struct rd_sysfs *fs, struct rd_host *host);

/* ---- why a host has no RDMA device: what its PCI functions are, and what they lack */

/* Adds that to the message of rd_no_rdma_stack or rd_no_rdma_device, with a hint that fits; a hint for this host is not for the
 * host of a recording. Nothing where the functions could not be listed. */
void rd_no_rdma_reason(struct rd_source *source, bool recorded, struct rd_err *err);

/* Reads software and limits of the host. `pid`: process whose limits to read; 0: of the processes that start jobs. `system` is
 * zeroed by the caller. 0; -ESRCH: no such process. */
int rd_collect_system(struct rd_source *src, int pid, struct rd_system *system, struct rd_errlist *errors,
		      struct rd_err *err);

/* Its parts. */
/* Modules and features that give NICs access to the memory of accelerators. */
void rd_collect_gpu_memory(const struct rd_sysfs *fs, struct rd_system *system);
int rd_collect_limits(const struct rd_sysfs *fs, struct rd_system *system);
void rd_collect_userspace(const struct rd_sysfs *fs, struct rd_system *system);

/* Parses a size in the syntax of systemd, to bytes: "64M", "8M:16M" (the first counts), "infinity", "65536". False: invalid. */
bool rd_size_parse(const char *text, uint64_t *ret);

/* ---- device limits and port MTUs from libibverbs */

/* The limits of each device, with one child process per device. Failed queries are noted in `errors`; the values stay
 * unknown. */
void rd_collect_res_limits(struct rd_source *src, struct rd_res *res, struct rd_errlist *errors);

/* Reads the active and maximum MTU of each port from the device, instead of computing it from the interface, and the data
 * direct function of the device. Unless `all`, only for devices with an active port of unknown MTU; for all devices if the
 * host has data direct functions. */
void rd_collect_verbs(struct rd_source *src, bool all, struct rd_host *host, struct rd_errlist *errors);

#endif
