/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/host/pcie.h"

unsigned rd_pcie_depth(const struct rd_host *host, int pci)
{
	unsigned depth = 0;

	for (int up = host->pcis[pci].parent; up >= 0; up = host->pcis[up].parent)
		depth++;
	return depth;
}

bool rd_pcie_links_up(const struct rd_host *host, int index)
{
	const struct rd_pci *pci = &host->pcis[index];

	if (!rd_pci_is_bridge(pci))
		return true;
	if (pci->parent < 0)
		return false;
	if (pci->kind.known == RD_OK)
		return pci->kind.v == RD_PCIE_UPSTREAM;
	return rd_pcie_depth(host, index) % 2 == 1;
}

static unsigned min_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned rd_pcie_can_width(const struct rd_host *host, int index)
{
	const struct rd_pci *pci = &host->pcis[index], *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;

	if (pci->max.width.known != RD_OK)
		return 0;
	return up && up->max.width.known == RD_OK ? min_of(pci->max.width.v, up->max.width.v) : pci->max.width.v;
}

unsigned rd_pcie_can_mtps(const struct rd_host *host, int index)
{
	const struct rd_pci *pci = &host->pcis[index], *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;

	if (pci->max.mtps.known != RD_OK)
		return 0;
	return up && up->max.mtps.known == RD_OK ? min_of(pci->max.mtps.v, up->max.mtps.v) : pci->max.mtps.v;
}

/* 8b/10b up to 5 GT/s, 128b/130b up to 32, flits of 256 bytes with 236 of data above. */
double rd_pcie_gbps(unsigned mtps, unsigned width)
{
	double gtps = mtps / 1000.0 * width;

	return mtps <= 5000 ? gtps * 8 / 10 : mtps <= 32000 ? gtps * 128 / 130 : gtps * 236 / 256;
}

bool rd_pcie_is_gpu_part(const struct rd_host *host, int bridge, int gpu)
{
	const struct rd_pci *a = &host->pcis[bridge], *b = &host->pcis[gpu];

	return a->vendor.known == RD_OK && b->vendor.known == RD_OK && a->vendor.v == b->vendor.v;
}

bool rd_pcie_in_guest(const struct rd_host *host)
{
	return host->guest.known == RD_OK && host->guest.v;
}

bool rd_pcie_is_vf(const struct rd_host *host, const struct rd_pci *pci)
{
	return pci->pf >= 0 || (rd_pcie_in_guest(host) && pci->now.width.known != RD_OK);
}

/* Device Control: payload in bits 7:5, read requests in 14:12; Device Capabilities: payload in 2:0. */
unsigned rd_pcie_payload(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_ctl.v >> 5 & 7);
}

/* Supported by the function itself. */
static unsigned max_payload(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_cap.v & 7);
}

unsigned rd_pcie_read_request(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_ctl.v >> 12 & 7);
}

unsigned rd_pcie_payload_path(const struct rd_host *host, const struct rd_pci *pci)
{
	unsigned can = max_payload(pci);

	for (int up = pci->parent; up >= 0; up = host->pcis[up].parent)
		if (host->pcis[up].config.dev_cap.known == RD_OK)
			can = min_of(can, max_payload(&host->pcis[up]));
	return can;
}
