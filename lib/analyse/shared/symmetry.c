/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/shared/symmetry-priv.h"

#include <stdio.h>

#include "base/memory.h"
#include "model/host/pcie.h"

void rd_board_key(const struct rd_pci *pci, bool subsystem, char *ret)
{
	ret[0] = '\0';
	if (pci->vendor.known != RD_OK || pci->device.known != RD_OK)
		return;
	if (!subsystem)
		snprintf(ret, 32, "%04x:%04x", pci->vendor.v, pci->device.v);
	else
		snprintf(ret, 32, "%04x:%04x:%04x:%04x", pci->vendor.v, pci->device.v, pci->subvendor.v,
			 pci->subdevice.v);
}

/* Marks network functions of the models that have an RDMA device here, including those that lost theirs. */
static void mark_nics(const struct rd_host *host, struct rd_below *below)
{
	for (size_t n = 0; n < host->n_ibdevs; n++) {
		const struct rd_ibdev *dev = &host->ibdevs[n];

		/* Ports of one card, and cards of one model, are adjacent. */
		if (dev->pci < 0 || dev->parent_netdev)
			continue;
		below[dev->pci].is_nic = host->pcis[dev->pci].pf < 0;
		if (n > 0 && host->ibdevs[n - 1].pci >= 0 &&
		    host->pcis[host->ibdevs[n - 1].pci].device.v == host->pcis[dev->pci].device.v)
			continue;
		for (size_t i = 0; i < host->n_pcis; i++) {
			const struct rd_pci *pci = &host->pcis[i], *like = &host->pcis[dev->pci];

			if (pci->class.v >> 16 == RD_PCI_NETWORK && pci->pf < 0 && pci->vendor.known == RD_OK &&
			    pci->vendor.v == like->vendor.v && pci->device.v == like->device.v)
				below[i].is_nic = true;
		}
	}
}

static void count_up(const struct rd_host *host, struct rd_below *below)
{
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		bool other = !below[i].is_gpu && !below[i].is_nic && !rd_pci_is_bridge(pci) && pci->fn == 0;

		if (pci->parent >= 0) {
			below[pci->parent].child = true;
			below[pci->parent].ports += rd_pci_is_bridge(pci);
		}
		for (int up = pci->parent; up >= 0; up = host->pcis[up].parent) {
			below[up].gpus += below[i].is_gpu;
			below[up].nics += below[i].is_nic;
			below[up].others += other;
			if (below[i].is_gpu)
				below[up].gpu = (int)i;
		}
	}
	for (size_t i = 0; i < host->n_pcis; i++) {
		bool empty = rd_pci_is_bridge(&host->pcis[i]) && !below[i].child;

		for (int up = host->pcis[i].parent; up >= 0; up = host->pcis[up].parent) {
			below[up].empty += empty;
			below[i].near |= below[up].gpus > 0;
		}
	}
}

void rd_symmetry_find(const struct rd_port_views *views, struct rd_symmetry *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ struct rd_below *below = rd_alloc(host->n_pcis + 1, sizeof(*below));

	/* A topology file lists only the devices that a vendor or a library wants to show. */
	if (host->from_topology_file)
		return;
	for (size_t i = 0; i < host->n_pcis; i++)
		below[i].gpu = -1;
	for (size_t g = 0; g < host->n_gpus; g++) {
		below[host->gpus[g].pci].is_gpu = true;
		below[host->gpus[g].pci].gpu = host->gpus[g].pci;
	}
	mark_nics(host, below);
	count_up(host, below);
	rd_twins_find(views, below, ret);
	rd_sisters_find(host, below, ret);
}
