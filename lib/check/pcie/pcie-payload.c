/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCIe Max Payload Size and Max Read Request Size. */
#include "base/number.h"
#include "check/shared/pcie.h"
#include "check/shared/rules.h"
#include "model/host/pcie.h"
#include "model/host/symmetry.h"

/* The nearest bridge above with a lower setting than the function. */
static const struct rd_pci *lower_above(const struct rd_host *host, const struct rd_pci *pci)
{
	for (int up = pci->parent; up >= 0; up = host->pcis[up].parent) {
		const struct rd_pci *bridge = &host->pcis[up];

		if (bridge->config.dev_ctl.known == RD_OK && bridge->config.dev_cap.known == RD_OK &&
		    rd_pcie_payload(bridge) < rd_pcie_payload(pci))
			return bridge;
	}
	return NULL;
}

/* The value of the Device Control field for a number of bytes, given as text: 0 is 128. */
static unsigned size_field(const char *bytes)
{
	uint32_t size = 0;

	return rd_take_u32(&bytes, RD_DECIMAL, 4096, &size) < 0 || size < 128 ? 0 : (unsigned)__builtin_ctz(size) - 7;
}

static void judge_mps(const struct rd_check_input *in, size_t i, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	const struct rd_pci *pci = &host->pcis[i], *lower = lower_above(host, pci);
	const struct rd_odd *odd = rd_symmetry_odd(in->symmetry, RD_TRAIT_MPS, (int)i, -1);
	unsigned set = rd_pcie_payload(pci), can = rd_pcie_payload_path(host, pci);

	/* Emulated bridges accept any size: their registers are fictional. */
	if (lower && rd_pcie_in_guest(host))
		rd_check_unknown(out, pci->addr,
				 "the bridges above it belong to a hypervisor, whose setting is not visible");
	else if (lower)
		rd_check_fail(out, pci->addr,
			      rd_text("%s: payload %u bytes, but %s above it accepts %u", rd_pci_what(host, i), set,
				      lower->addr, rd_pcie_payload(lower)),
			      rd_text("the same on the whole path"));
	else if (odd && odd->clear && odd->less)
		rd_check_bad(
			out, RD_SEV_WARNING, pci->addr, rd_text("%s: payload %u bytes", rd_pci_what(host, i), set),
			rd_text("%s, as on %u of %u like it; all devices on the path support %u", odd->usual,
				odd->twins, odd->n, can),
			rd_text("setpci -s ADDRESS CAP_EXP+8.w=%x:e0\n"
				"# no job may use the device meanwhile\n"
				"# it lasts until the next boot; permanently: set Max Payload Size to Auto in the BIOS, or "
				"boot with pci=pcie_bus_safe",
				size_field(odd->usual) << 5));
	else if (rd_pci_is_fast(host, i) && set < 256 && can >= 256)
		rd_check_warn(out, pci->addr, rd_text("%s: payload %u bytes", rd_pci_what(host, i), set),
			      rd_text("%u, which all devices on the path support", can));
	else
		rd_check_good(out, pci->addr);
}

static void run_mps(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;

	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];

		if (!rd_pci_matters(host, i) || rd_pcie_is_vf(host, pci))
			continue;
		if (pci->config.dev_ctl.known != RD_OK || pci->config.dev_cap.known != RD_OK)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else
			judge_mps(in, i, out);
	}
}

#define BOOT "# until the next boot; permanently: the BIOS, or a udev rule"

static void run_mrrs(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];
		const struct rd_odd *odd = rd_symmetry_odd(in->symmetry, RD_TRAIT_MRRS, (int)i, -1);
		bool fast = rd_pci_is_fast(in->host, i), is_odd = odd && odd->clear && odd->less;
		unsigned request = rd_pcie_read_request(pci);

		if ((!fast && !is_odd) || rd_pcie_is_vf(in->host, pci))
			continue;
		if (pci->config.dev_ctl.known != RD_OK)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else if (is_odd)
			rd_check_bad(out, RD_SEV_WARNING, pci->addr,
				     rd_text("%s: read requests of %u bytes", rd_pci_what(in->host, i), request),
				     rd_text("%s, as on %u of %u like it", odd->usual, odd->twins, odd->n),
				     rd_text("setpci -s ADDRESS CAP_EXP+8.w=%x000:7000\n" BOOT, size_field(odd->usual)));
		else if (request < 512)
			rd_check_warn(out, pci->addr,
				      rd_text("%s: read requests of %u bytes", rd_pci_what(in->host, i), request),
				      rd_text("at least 512; 4096 for accelerators"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no NIC of 100 Gbit/s or more");
}

const struct rd_check rd_check_pcie_mps = {
	.id = "pcie-mps",
	.title = "PCIe Max Payload Size does not fit the path",
	.why = "packets larger than a bridge accepts are malformed and take the link down; small ones waste "
	       "bandwidth on headers",
	.fix = "# set Max Payload Size to Auto in the BIOS, or boot with pci=pcie_bus_safe (pcie_bus_perf)",
	.needs = "PCI configuration space (root), Device Control of the function and all bridges above it",
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA,
	.run = run_mps,
};

const struct rd_check rd_check_pcie_mrrs = {
	.id = "pcie-mrrs",
	.title = "PCIe Max Read Request Size of a fast NIC is small",
	.why = "sends read host memory: small read requests do not fill the link",
	.fix = "setpci -s ADDRESS CAP_EXP+8.w=5000:7000\n" BOOT,
	.needs = "PCI configuration space of NICs (root), Device Control",
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA,
	.run = run_mrrs,
};
