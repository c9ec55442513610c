/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Links below what both ends can do. */
#include "check/pcie.h"
#include "check/rules.h"

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* The link above a function belongs to it and to the port it hangs on: what both can do. 0: not known. */
static unsigned both_widths(const struct rd_host *host, const struct rd_pci *pci)
{
	const struct rd_pci *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;

	if (pci->max.width.known != RD_OK)
		return 0;
	return up && up->max.width.known == RD_OK ? least(pci->max.width.v, up->max.width.v) : pci->max.width.v;
}

static unsigned both_speeds(const struct rd_host *host, const struct rd_pci *pci)
{
	const struct rd_pci *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;

	if (pci->max.mtps.known != RD_OK)
		return 0;
	return up && up->max.mtps.known == RD_OK ? least(pci->max.mtps.v, up->max.mtps.v) : pci->max.mtps.v;
}

static void run_width(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];
		unsigned can = both_widths(in->host, pci);

		if (!rd_pci_matters(in->host, i) || pci->pf >= 0)
			continue;
		if (!can || pci->now.width.known != RD_OK)
			rd_check_unknown(out, pci->addr, "its link width is not told (a virtual function, or a guest)");
		else if (pci->now.width.v < can)
			rd_check_fail(out, pci->addr, rd_text("%s: x%u", rd_pci_what(in->host, i), pci->now.width.v),
				      rd_text("x%u, as both ends can", can));
		else
			rd_check_good(out, pci->addr);
	}
}

static void run_speed(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];
		unsigned can = both_speeds(in->host, pci);

		/* Accelerators slow their link down when idle; NICs do not. */
		if (!rd_pci_is_nic(in->host, i) || pci->pf >= 0)
			continue;
		if (!can || pci->now.mtps.known != RD_OK)
			rd_check_unknown(out, pci->addr, "its link speed is not told (a virtual function, or a guest)");
		else if (pci->now.mtps.v < can)
			rd_check_fail(out, pci->addr,
				      rd_text("%s: %g GT/s", rd_pci_what(in->host, i), pci->now.mtps.v / 1000.0),
				      rd_text("%g GT/s, as both ends can", can / 1000.0));
		else
			rd_check_good(out, pci->addr);
	}
}

/* Bits of data a second that a link carries after its line code: 8b/10b up to 5 GT/s, 128b/130b up to 32, flits above. */
static double link_gbps(const struct rd_pci *pci)
{
	double gtps = pci->now.mtps.v / 1000.0 * pci->now.width.v;

	return pci->now.mtps.v <= 5000 ? gtps * 8 / 10 : pci->now.mtps.v <= 32000 ? gtps * 128 / 130 : gtps * 236 / 256;
}

/* sysfs tells the rate of the wires: up to QDR two of ten bits of them is no data. */
static double port_gbps(const struct rd_host *host, size_t pci)
{
	double best = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		double rate = port->rate_gbps.v;

		if (host->ibdevs[port->ibdev].pci != (int)pci || port->rate_gbps.known != RD_OK)
			continue;
		if (!rd_port_is_ethernet(port) && rate <= 40)
			rate *= 0.8;
		best = rate > best ? rate : best;
	}
	return best;
}

static void run_bandwidth(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];
		double rate = port_gbps(in->host, i);

		if (!rd_pci_is_nic(in->host, i) || pci->pf >= 0 || rate <= 0)
			continue;
		if (pci->now.mtps.known != RD_OK || pci->now.width.known != RD_OK)
			rd_check_unknown(out, pci->addr, "its link is not told (a virtual function, or a guest)");
		else if (link_gbps(pci) < rate * 0.97)
			rd_check_warn(out, pci->addr,
				      rd_text("%s: link of %.0f Gbit/s below a port of %g", rd_pci_what(in->host, i),
					      link_gbps(pci), rate),
				      rd_text("a link that is faster than the port"));
		else
			rd_check_good(out, pci->addr);
	}
}

const struct rd_check rd_check_pcie_bandwidth = {
	.id = "pcie-bandwidth",
	.title = "The PCIe link of a NIC carries less than its port",
	.why = "the port never reaches its rate, and fills the network's buffers when others send to it",
	.fix = "a slot with more lanes or of a later generation",
	.needs = "sysfs current_link_speed and current_link_width of NICs, port rate",
	.quick = true,
	.run = run_bandwidth,
};

const struct rd_check rd_check_pcie_link_width = {
	.id = "pcie-link-width",
	.title = "A PCIe link has fewer lanes than both ends can do",
	.why = "half the lanes are half the bandwidth: a bad riser, a bent pin, a card not fully seated",
	.fix = "reseat the card, then swap riser or cable; lspci -vv -s ADDRESS, LnkSta against LnkCap",
	.needs = "sysfs current_link_width and max_link_width of NICs, accelerators and the port above",
	.quick = true,
	.run = run_width,
};

const struct rd_check rd_check_pcie_link_speed = {
	.id = "pcie-link-speed",
	.title = "The PCIe link of a NIC is slower than both ends can do",
	.why = "a link that trained one generation lower carries half; NICs do not lower it to save power",
	.fix = "reseat the card, then swap riser or cable; look for a BIOS setting that limits the slot's speed",
	.needs = "sysfs current_link_speed and max_link_speed of NICs and the port above",
	.quick = true,
	.run = run_speed,
};
