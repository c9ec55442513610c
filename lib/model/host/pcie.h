/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the PCI functions of a host say of PCI Express between them: links, payloads, which of them are real. */
#ifndef RD_MODEL_PCIE_H
#define RD_MODEL_PCIE_H

#include "model/host/host.h"

static inline bool rd_pci_is_bridge(const struct rd_pci *pci)
{
	return pci->class.known == RD_OK && pci->class.v >> 8 == RD_PCI_CLASS_BRIDGE;
}

/* Bridges above it; 0: on a root bus. */
unsigned rd_pcie_depth(const struct rd_host *host, int pci);

/* Whether a link leads up from this function: it is no bridge, or the upstream port of a switch. Where configuration space
 * does not tell what a bridge is, the tree does: below a root port stand, by turns, upstream and downstream ports. */
bool rd_pcie_links_up(const struct rd_host *host, int pci);

/* What both ends of the link up from a function can do: lanes; megatransfers a second and lane. 0: not known. */
unsigned rd_pcie_can_width(const struct rd_host *host, int pci);
unsigned rd_pcie_can_mtps(const struct rd_host *host, int pci);

/* Gbit of data a second that a link carries one way, after its line code. */
double rd_pcie_gbps(unsigned mtps, unsigned width);

/* The upstream port of a switch that is part of an accelerator: of the same maker, and with nothing else below. Links of
 * such are those of the accelerator. `gpu`: its function. */
bool rd_pcie_is_gpu_part(const struct rd_host *host, int bridge, int gpu);

/* A virtual function: of a physical one that is seen; or in a guest, to which the kernel tells no link of it. Most of its Device
 * Control register reads as zero and says nothing. */
bool rd_pcie_is_vf(const struct rd_host *host, const struct rd_pci *pci);

/* Runs below a hypervisor, so that bridges may be made up. */
bool rd_pcie_in_guest(const struct rd_host *host);

/* Max Payload Size in use, in bytes. Needs dev_ctl. */
unsigned rd_pcie_payload(const struct rd_pci *pci);
/* What it and all bridges above can, as far as they are known. Needs dev_cap. */
unsigned rd_pcie_payload_path(const struct rd_host *host, const struct rd_pci *pci);
/* Max Read Request Size in bytes. Needs dev_ctl. */
unsigned rd_pcie_read_request(const struct rd_pci *pci);

#endif
