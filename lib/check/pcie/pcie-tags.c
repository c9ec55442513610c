/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ordering of packets, and how many requests may be under way. */
#include "check/shared/pcie.h"
#include "check/shared/rules.h"
#include "model/host/pcie.h"
#include "model/host/symmetry.h"

enum {
	CTL_RELAXED = 0x0010,
	CTL_EXT_TAG = 0x0100,
	CAP_EXT_TAG = 0x20,
	CAP2_TAG10_COMPLETER = 1 << 16,
	CAP2_TAG10_REQUESTER = 1 << 17,
	CTL2_TAG10 = 1 << 12,
};
#define TAG10_GBPS 400.0 /* below, 256 requests under way are enough */

static bool is_fast_physical(const struct rd_check_input *in, size_t i)
{
	return rd_pci_is_fast(in->host, i) && !rd_pcie_is_vf(in->host, &in->host->pcis[i]);
}

static void run_relaxed(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];
		const struct rd_odd *odd = rd_symmetry_odd(in->symmetry, RD_TRAIT_RELAXED, (int)i, -1);
		bool stands_out = odd && odd->clear && odd->less;

		if (!is_fast_physical(in, i) && !stands_out)
			continue;
		if (pci->config.dev_ctl.known != RD_OK)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else if (!(pci->config.dev_ctl.v & CTL_RELAXED))
			rd_check_bad(
				out, RD_SEV_WARNING, pci->addr,
				rd_text("%s: relaxed ordering off", rd_pci_what(in->host, i)),
				stands_out ? rd_text("on, as %u of %u like it", odd->twins, odd->n) : rd_text("on"),
				rd_text("setpci -s %s CAP_EXP+8.w=10:10 until the next boot; for good: the BIOS, or "
					"mlxconfig -d %s set PCI_WR_ORDERING=1; where a kernel quirk cleared it, dmesg says so",
					pci->addr, pci->addr));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no NIC of 100 Gbit/s or more");
}

static void run_ext(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!is_fast_physical(in, i))
			continue;
		if (pci->config.dev_ctl.known != RD_OK || pci->config.dev_cap.known != RD_OK)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else if (pci->config.dev_cap.v & CAP_EXT_TAG && !(pci->config.dev_ctl.v & CTL_EXT_TAG))
			rd_check_warn(out, pci->addr, rd_text("%s: extended tags off", rd_pci_what(in->host, i)),
				      rd_text("on, which it can"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no NIC of 100 Gbit/s or more");
}

static bool root_takes_tag10(const struct rd_host *host, const struct rd_pci *pci)
{
	const struct rd_pci *top = pci;

	for (int up = pci->parent; up >= 0; up = host->pcis[up].parent)
		top = &host->pcis[up];
	return top != pci && top->config.dev_cap2.known == RD_OK && top->config.dev_cap2.v & CAP2_TAG10_COMPLETER;
}

static void run_tag10(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!is_fast_physical(in, i) || rd_pci_rate(in->host, i) < TAG10_GBPS)
			continue;
		if (pci->config.dev_cap2.known == RD_DENIED || !pci->config_read)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else if (pci->config.dev_cap2.known == RD_OK && pci->config.dev_cap2.v & CAP2_TAG10_REQUESTER &&
			 root_takes_tag10(in->host, pci) && !(pci->config.dev_ctl2.v & CTL2_TAG10))
			rd_check_warn(out, pci->addr, rd_text("%s: 10-bit tags off", rd_pci_what(in->host, i)),
				      rd_text("on, which it and the root port can"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no NIC of 400 Gbit/s or more");
}

const struct rd_check rd_check_relaxed_ordering = {
	.id = "relaxed-ordering",
	.title = "A fast NIC must keep all its writes in order (relaxed ordering off)",
	.why = "writes to memory of the other socket and to accelerators then wait for each other",
	.fix = "PCIe relaxed ordering on in the BIOS; mlxconfig PCI_WR_ORDERING; where a kernel quirk cleared it, dmesg says so",
	.needs = "PCI configuration space of NICs (root), Device Control",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA,
	.run = run_relaxed,
};

const struct rd_check rd_check_ext_tags = {
	.id = "pcie-ext-tags",
	.title = "A fast NIC may have only 32 requests under way (extended tags off)",
	.why = "reads do not fill the link: half the bandwidth and less",
	.fix = "setpci -s NIC CAP_EXP+8.w=0100:0100 until the next boot; for good: the BIOS",
	.needs = "PCI configuration space of NICs (root), Device Capabilities and Control",
	.quick = true,
	.whole = RD_PART_PCI,
	.reads = RD_PART_RDMA,
	.run = run_ext,
};

const struct rd_check rd_check_tag10 = {
	.id = "pcie-10bit-tags",
	.title = "A NIC of 400 Gbit/s may have only 256 requests under way (10-bit tags off)",
	.why = "reads from far memory do not fill such a link",
	.fix = "10-bit tags on in the BIOS of the platform",
	.needs = "PCI configuration space of NICs and root ports (root), Device Capabilities 2 and Control 2",
	.quick = false,
	.reads = RD_PART_PCI | RD_PART_RDMA,
	.run = run_tag10,
};
