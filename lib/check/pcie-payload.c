/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes of packets and requests on PCIe. */
#include "check/pcie.h"
#include "check/rules.h"

static unsigned payload_set(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_ctl.v >> 5 & 7);
}

static unsigned payload_can(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_cap.v & 7);
}

static unsigned read_request(const struct rd_pci *pci)
{
	return 128u << (pci->config.dev_ctl.v >> 12 & 7);
}

/* What all from this function up can do, and whether a port above is set lower than the function. */
static unsigned payload_path(const struct rd_host *host, const struct rd_pci *pci, const struct rd_pci **lower)
{
	unsigned can = payload_can(pci);

	*lower = NULL;
	for (int up = pci->parent; up >= 0; up = host->pcis[up].parent) {
		const struct rd_pci *bridge = &host->pcis[up];

		if (bridge->config.dev_ctl.known != RD_OK || bridge->config.dev_cap.known != RD_OK)
			continue;
		if (payload_can(bridge) < can)
			can = payload_can(bridge);
		if (payload_set(bridge) < payload_set(pci) && !*lower)
			*lower = bridge;
	}
	return can;
}

static void run_mps(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;

	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i], *lower;
		unsigned can;

		if (!rd_pci_matters(host, i) || pci->pf >= 0)
			continue;
		if (pci->config.dev_ctl.known != RD_OK) {
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
			continue;
		}
		can = payload_path(host, pci, &lower);
		if (lower)
			rd_check_fail(out, pci->addr,
				      rd_text("%s: payload %u, but %s above it takes %u", rd_pci_what(host, i),
					      payload_set(pci), lower->addr, payload_set(lower)),
				      rd_text("the same all the way up"));
		else if (rd_pci_is_fast(host, i) && payload_set(pci) < 256 && can >= 256)
			rd_check_warn(out, pci->addr, rd_text("%s: payload %u", rd_pci_what(host, i), payload_set(pci)),
				      rd_text("%u, which all on the path can", can));
		else
			rd_check_good(out, pci->addr);
	}
}

static void run_mrrs(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!rd_pci_is_fast(in->host, i) || pci->pf >= 0)
			continue;
		if (pci->config.dev_ctl.known != RD_OK)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else if (read_request(pci) < 512)
			rd_check_bad(
				out, RD_SEV_WARNING, pci->addr,
				rd_text("%s: read requests of %u bytes", rd_pci_what(in->host, i), read_request(pci)),
				rd_text("at least 512; 4096 for accelerators"),
				rd_text("setpci -s %s CAP_EXP+8.w=5000:7000 until the next boot; for good: BIOS, or a udev rule",
					pci->addr));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no NIC of 100 Gbit/s or more");
}

const struct rd_check rd_check_pcie_mps = {
	.id = "pcie-mps",
	.title = "Max Payload Size does not fit the path, or is smaller than it could be",
	.why = "packets larger than a bridge takes are malformed and kill the link; small ones waste bandwidth on headers",
	.fix = "Max Payload Size to Auto in the BIOS, or pci=pcie_bus_safe (pcie_bus_perf) on the kernel command line",
	.needs = "PCI configuration space (root), Device Control of the function and all bridges above",
	.quick = true,
	.run = run_mps,
};

const struct rd_check rd_check_pcie_mrrs = {
	.id = "pcie-mrrs",
	.title = "A fast NIC may ask for little at a time (Max Read Request Size)",
	.why = "sends are reads from memory: small requests do not fill the link",
	.fix = "setpci -s NIC CAP_EXP+8.w=5000:7000 (4096 bytes)",
	.needs = "PCI configuration space of NICs (root), Device Control",
	.quick = true,
	.run = run_mrrs,
};
