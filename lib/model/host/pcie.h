/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCI Express properties of functions: depth, links, payload sizes. */
#ifndef RD_MODEL_PCIE_H
#define RD_MODEL_PCIE_H

#include "model/host/host.h"

static inline bool rd_pci_is_bridge(const struct rd_pci *pci)
{
	return pci->class.known == RD_OK && pci->class.v >> 8 == RD_PCI_CLASS_BRIDGE;
}

/* Bridges above it; 0: on a root bus. */
unsigned rd_pcie_depth(const struct rd_host *host, int pci);

/* Whether a link leads up from this function: an endpoint, or the upstream port of a switch. If configuration space is not
 * readable, the depth decides: below a root port, upstream and downstream ports alternate. */
bool rd_pcie_links_up(const struct rd_host *host, int pci);

/* What both ends of the link up from a function support: lanes; megatransfers per second and lane. 0: unknown. */
unsigned rd_pcie_can_width(const struct rd_host *host, int pci);
unsigned rd_pcie_can_mtps(const struct rd_host *host, int pci);

/* Data rate of a link in one direction after line coding, Gbit/s. */
double rd_pcie_gbps(unsigned mtps, unsigned width);

/* Whether a bridge is part of an accelerator: of the same vendor (with nothing else below). Its links are those of the
 * accelerator. `gpu`: the accelerator's function. */
bool rd_pcie_is_gpu_part(const struct rd_host *host, int bridge, int gpu);

/* Whether this is a virtual function: it has a visible physical function; or the host is a guest and the function has no link
 * attributes. Most of its Device Control register reads as zero and is meaningless. */
bool rd_pcie_is_vf(const struct rd_host *host, const struct rd_pci *pci);

/* Whether the host is a virtual machine: its bridges may be emulated. */
bool rd_pcie_in_guest(const struct rd_host *host);

/* Max Payload Size in use, in bytes. Needs dev_ctl. */
unsigned rd_pcie_payload(const struct rd_pci *pci);
/* Largest Max Payload Size that it and all bridges above support, as far as known. Needs dev_cap. */
unsigned rd_pcie_payload_path(const struct rd_host *host, const struct rd_pci *pci);
/* Max Read Request Size in bytes. Needs dev_ctl. */
unsigned rd_pcie_read_request(const struct rd_pci *pci);

#endif
