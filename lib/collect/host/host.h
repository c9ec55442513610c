/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source to struct rd_host, one file per kernel interface. One unreadable file never ends a run: it is noted in `errors`
 * and its fact stays unknown. All return 0 or -ENOMEM with `err` filled, unless they say otherwise. */
#ifndef RD_COLLECT_HOST_H
#define RD_COLLECT_HOST_H

#include "base/err.h"
#include "collect/shared/sysfs.h"
#include "model/host/host.h"

enum rd_collect_what {
	RD_COLLECT_ACS = 1, /* config space of the bridges above NICs and accelerators: a millisecond each, and root */
	RD_COLLECT_ALL_GIDS = 2, /* read on where a GID table seems to have ended */
	RD_COLLECT_PCI = 4,	 /* all that rules judge of NICs, accelerators and the bridges above them */
	RD_COLLECT_VERBS = 16,	 /* ask libibverbs about every device, not only where sysfs does not tell the MTU */
	RD_COLLECT_IB = 8,	 /* partitions, subnet manager and link failures of ports */
};

/* Everything; which of the costly things: enum rd_collect_what, or-ed. `host` is zeroed by the caller. */
int rd_collect_host(struct rd_source *src, unsigned what, struct rd_host *host, struct rd_errlist *errors,
		    struct rd_err *err);

/* /sys/bus/pci: every function with its class and place. */
int rd_collect_pci(const struct rd_sysfs *fs, struct rd_host *host, struct rd_err *err);
/* The rest about one function and the bridges above it: ids, link, NUMA node, driver, physical function; by `what` (enum
 * rd_collect_what) also configuration space, and what else rules judge. */
void rd_collect_pci_detail(const struct rd_sysfs *fs, struct rd_host *host, int pci, unsigned what);
/* Configuration space of one function, as far as it may be read. */
void rd_collect_pci_config(const struct rd_sysfs *fs, struct rd_pci *pci);
/* Error counts, power state, IOMMU group, base addresses of one function. */
void rd_collect_pci_extras(const struct rd_sysfs *fs, struct rd_host *host, struct rd_pci *pci);
/* Sets has_nvswitch and has_data_direct. */
void rd_collect_pci_marks(const struct rd_sysfs *fs, struct rd_host *host);
/* Networks and accelerators that have no driver or no RDMA device: what hangs below no ibdev would not be read else. */
void rd_collect_pci_orphans(const struct rd_sysfs *fs, struct rd_host *host, unsigned what);
/* Vendor and device of switches below bridges that are detailed, so that one that has lost all that hung below it is still
 * seen to be like its sisters. */
void rd_collect_pci_sisters(const struct rd_sysfs *fs, struct rd_host *host);
/* Names of physical slots, for functions that are detailed. */
void rd_collect_pci_slots(const struct rd_sysfs *fs, struct rd_host *host);

/* /sys/devices/system/node, the processor and whether there is a hypervisor below. */
int rd_collect_numa(const struct rd_sysfs *fs, struct rd_host *host, struct rd_err *err);

/* /sys/class/infiniband: devices, ports, GIDs. */
int rd_collect_ib(const struct rd_sysfs *fs, unsigned what, struct rd_host *host, struct rd_err *err);

/* /sys/class/net, addresses and default routes of this network namespace; then who is on which RDMA port. */
int rd_collect_netdev(const struct rd_sysfs *fs, struct rd_host *host, struct rd_err *err);
int rd_collect_join_netdevs(struct rd_host *host, struct rd_err *err);

/* Accelerators among the PCI functions, and what a driver's procfs says of them. */
int rd_collect_gpu(const struct rd_sysfs *fs, struct rd_host *host, struct rd_err *err);

/* Into PCI order; numbers them, and gives those whose NCCL number is -1 the same. */
void rd_collect_sort_gpus(struct rd_host *host);
/* Who makes them; static; NULL: not known for accelerators. */
const char *rd_gpu_maker(uint16_t vendor);

/* The text of pci.ids, for names of what is detailed. */
void rd_collect_pci_ids(const struct rd_sysfs *fs, struct rd_host *host);
/* A copy of the device's name there; NULL if it has none. Caller frees. */
char *rd_pci_ids_device(const struct rd_host *host, uint16_t vendor, uint16_t device);

/* An NCCL topology file (XML) into the same model. -EBADMSG, -E2BIG for a file that is no such, or a hostile one. */
int rd_collect_nccl_xml(const char *name, const char *text, size_t size, struct rd_host *host, struct rd_err *err);

/* Takes a link's target apart: address of the nearest function in the path, and of the one above it ("" for none), and
 * the outermost host bridge. False if there is no PCI function in the path. For tests, and for class links. */
struct rd_pci_place {
	char self[RD_PCI_ADDR], parent[RD_PCI_ADDR], root[RD_PCI_ADDR];
};
bool rd_pci_place_parse(const char *target, struct rd_pci_place *ret);

#endif
