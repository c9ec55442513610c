/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about PCI Express transfers: tags, payload and read request sizes. */
#include "check/shared/rules.h"

/* PCIe ordering, and the number of outstanding requests. */

enum {
	CTL_RELAXED = 0x0010,
	CTL_EXT_TAG = 0x0100,
	CAP_EXT_TAG = 0x20,
	CAP2_TAG10_COMPLETER = 1 << 16,
	CAP2_TAG10_REQUESTER = 1 << 17,
	CTL2_TAG10 = 1 << 12,
	CAP2_ATOMIC_ROUTING = 1 << 6,
	CTL2_ATOMIC_REQUESTER = 1 << 6,
};
#define TAG10_GBPS 400.0 /* below this rate, 256 outstanding requests are enough */

static bool is_fast_physical(const struct rd_host *host, size_t i)
{
	return rd_pci_is_fast(host, i) && !rd_pcie_is_vf(host, &host->pcis[i]);
}

/* Root ports of Haswell, Broadwell and AMD's A1100, below which the kernel clears it: they pass completions wrongly (drivers/pci/quirks.c). */
static bool is_cleared_by_kernel(const struct rd_host *host, size_t i)
{
	const struct rd_pci *top = &host->pcis[rd_pci_top(host, (int)i)];
	unsigned device = top->device.known == RD_OK ? top->device.v : 0;

	return (top->vendor.v == 0x8086 &&
		((device >= 0x2f01 && device <= 0x2f0e) || (device >= 0x6f01 && device <= 0x6f0e))) ||
	       (top->vendor.v == 0x1022 && device >= 0x1a00 && device <= 0x1a02);
}

static void judge_relaxed(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];
	const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_RELAXED, (int)i, -1, true);

	if (!is_fast_physical(in->host, i) && !odd)
		return;
	if (pci->config.dev_ctl.known != RD_OK)
		rd_check_unknown(out, addr, rd_pci_unread(pci));
	else if (!(pci->config.dev_ctl.v & CTL_RELAXED) && is_cleared_by_kernel(in->host, i))
		rd_check_note(out, addr,
			      rd_text("%s: relaxed ordering disabled, as below each root port of this model",
				      rd_pci_what(in->host, i)),
			      NULL, NULL);
	else if (!(pci->config.dev_ctl.v & CTL_RELAXED))
		rd_check_warn(out, addr, rd_text("%s: relaxed ordering disabled", rd_pci_what(in->host, i)),
			      odd ? rd_text("enabled, as on %u of %u like it", odd->twins, odd->n) : rd_text("enabled"));
	else
		rd_check_good(out, addr);
}

static void judge_ext(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	if (pci->config.dev_ctl.known != RD_OK || pci->config.dev_cap.known != RD_OK)
		rd_check_unknown(out, addr, rd_pci_unread(pci));
	else if (pci->config.dev_cap.v & CAP_EXT_TAG && !(pci->config.dev_ctl.v & CTL_EXT_TAG))
		rd_check_warn(out, addr, rd_text("%s: extended tags disabled", rd_pci_what(in->host, i)),
			      rd_text("enabled; the NIC supports them"));
	else
		rd_check_good(out, addr);
}

static bool root_completes_tag10(const struct rd_host *host, const struct rd_pci *pci)
{
	const struct rd_pci *top = pci->parent < 0 ? pci : &host->pcis[rd_pci_top(host, pci->parent)];

	return top != pci && top->config.dev_cap2.known == RD_OK && top->config.dev_cap2.v & CAP2_TAG10_COMPLETER;
}

static void judge_tag10(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	if (rd_pci_rate(in->host, i) < TAG10_GBPS)
		return;
	if (pci->config.dev_cap2.known == RD_DENIED || !pci->config_read)
		rd_check_unknown(out, addr, rd_pci_unread(pci));
	else if (pci->config.dev_cap2.known == RD_OK && pci->config.dev_cap2.v & CAP2_TAG10_REQUESTER &&
		 root_completes_tag10(in->host, pci) && !(pci->config.dev_ctl2.v & CTL2_TAG10))
		rd_check_warn(out, addr, rd_text("%s: 10-bit tags disabled", rd_pci_what(in->host, i)),
			      rd_text("enabled; the NIC and the root port support them"));
	else
		rd_check_good(out, addr);
}

static bool requests_atomics(const struct rd_pci *pci)
{
	return pci->config.dev_ctl2.known == RD_OK && pci->config.dev_ctl2.v & CTL2_ATOMIC_REQUESTER;
}

/* The first bridge above, below the root port, that does not route AtomicOps; NULL: none is known. */
static const char *blocks_atomics(const struct rd_host *host, const struct rd_pci *pci)
{
	for (int up = pci->parent; up >= 0 && host->pcis[up].parent >= 0; up = host->pcis[up].parent)
		if (host->pcis[up].config.dev_cap2.known == RD_OK &&
		    !(host->pcis[up].config.dev_cap2.v & CAP2_ATOMIC_ROUTING))
			return host->pcis[up].addr;
	return NULL;
}

static char *disabled_text(const char *bridge)
{
	return rd_text("AtomicOp requests disabled%s%s", bridge ? "; not routed by " : "", bridge ?: "");
}

/* amdgpu enables AtomicOps where all bridges up to the root port route them (pci_enable_atomic_ops_to_root). */
static void run_atomics(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	size_t enabled = 0;

	rd_check_skip(out, "no accelerator of AMD with its driver");
	for (size_t g = 0; g < host->n_gpus; g++)
		enabled += requests_atomics(&host->pcis[host->gpus[g].pci]);
	for (size_t g = 0; g < host->n_gpus && !rd_pcie_in_guest(host); g++) {
		const struct rd_pci *pci = &host->pcis[host->gpus[g].pci];
		const char *bridge = blocks_atomics(host, pci);

		if (!pci->driver || strcmp(pci->driver, "amdgpu") != 0)
			continue;
		if (pci->config.dev_ctl2.known != RD_OK)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else if (requests_atomics(pci))
			rd_check_good(out, pci->addr);
		else if (2 * enabled > host->n_gpus)
			rd_check_warn(out, pci->addr, disabled_text(bridge),
				      rd_text("enabled, as on %zu of %zu accelerators", enabled, host->n_gpus));
		else
			rd_check_note(out, pci->addr, disabled_text(bridge), NULL, NULL);
	}
}

const struct rd_check rd_check_atomics = {
	.id = "pcie-atomics",
	.title = "PCIe atomic operations are disabled on an accelerator",
	.why = "atomic operations of its kernels on memory of the host or of peers fail or are lost",
	.fix = "lspci -s ADDRESS -vv | grep -i atomic\n"
	       "# enable AtomicOp routing in the BIOS, or update the firmware of the switch above; then reboot",
	.needs =
		"PCI configuration space of accelerators and the bridges above (root), Device Capabilities 2 and Control 2",
	.parts = { RD_PART_PCI, 0 },
	.run = run_atomics,
};

const struct rd_check rd_check_relaxed_ordering = {
	.id = "relaxed-ordering",
	.title = "PCIe relaxed ordering is disabled on a fast NIC",
	.why = "writes to memory of the other socket and to accelerators then wait for each other",
	.fix = "setpci -s ADDRESS CAP_EXP+8.w=10:10\n"
	       "# until the next boot; permanently: the BIOS, or with ConnectX mlxconfig: PCI_WR_ORDERING=1\n"
	       "# if a kernel quirk cleared it, dmesg reports that",
	.needs = "PCI configuration space of NICs (root), Device Control",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.each = { RD_EACH_PCI, NULL, judge_relaxed, "no NIC of 100 Gbit/s or more" },
};

const struct rd_check rd_check_ext_tags = {
	.id = "pcie-ext-tags",
	.title = "PCIe extended tags are disabled on a fast NIC: at most 32 outstanding requests",
	.why = "reads do not fill the link: half the bandwidth or less",
	.fix = "setpci -s ADDRESS CAP_EXP+8.w=0100:0100\n"
	       "# no job may use the NIC meanwhile\n"
	       "# it lasts until the next boot; permanently: the BIOS",
	.needs = "PCI configuration space of NICs (root), Device Capabilities and Control",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.each = { RD_EACH_PCI, is_fast_physical, judge_ext, "no NIC of 100 Gbit/s or more" },
};

const struct rd_check rd_check_tag10 = {
	.id = "pcie-10bit-tags",
	.title = "PCIe 10-bit tags are disabled on a 400 Gbit/s NIC: at most 256 outstanding requests",
	.why = "reads from remote memory do not fill such a link",
	.fix = "# enable 10-bit tags in the BIOS",
	.needs = "PCI configuration space of NICs and root ports (root), Device Capabilities 2 and Control 2",
	.thorough = true,
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA },
	.each = { RD_EACH_PCI, is_fast_physical, judge_tag10, "no NIC of 400 Gbit/s or more" },
};

/* PCIe Max Payload Size and Max Read Request Size. */

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

static bool may_have_payload(const struct rd_host *host, size_t i)
{
	return rd_pci_matters(host, i) && !rd_pcie_is_vf(host, &host->pcis[i]);
}

static void judge_mps(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	const struct rd_pci *pci = &host->pcis[i], *lower = lower_above(host, pci);
	const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_MPS, (int)i, -1, true);
	unsigned set = rd_pcie_payload(pci), can = rd_pcie_payload_path(host, pci);

	if (pci->config.dev_ctl.known != RD_OK || pci->config.dev_cap.known != RD_OK)
		rd_check_unknown(out, addr, rd_pci_unread(pci));
	/* Emulated bridges accept any size: their registers are fictional. */
	else if (lower && rd_pcie_in_guest(host))
		rd_check_unknown(out, addr, "the bridges above it belong to a hypervisor, whose setting is not visible");
	else if (lower)
		rd_check_fail(out, addr,
			      rd_text("%s: payload %u bytes, but %s above it accepts %u", rd_pci_what(host, i), set,
				      lower->addr, rd_pcie_payload(lower)),
			      rd_text("the same on the whole path"));
	else if (odd)
		rd_check_bad(
			out, RD_SEV_WARNING, addr, rd_text("%s: payload %u bytes", rd_pci_what(host, i), set),
			rd_text("%s, as on %u of %u like it; all devices on the path support %u", odd->usual,
				odd->twins, odd->n, can),
			rd_text("setpci -s ADDRESS CAP_EXP+8.w=%x:e0\n"
				"# no job may use the device meanwhile\n"
				"# it lasts until the next boot; permanently: set Max Payload Size to Auto in the BIOS, or "
				"boot with pci=pcie_bus_safe",
				size_field(odd->usual) << 5));
	else if (rd_pci_is_fast(host, i) && set < 256 && can >= 256)
		rd_check_warn(out, addr, rd_text("%s: payload %u bytes", rd_pci_what(host, i), set),
			      rd_text("%u, which all devices on the path support", can));
	else
		rd_check_good(out, addr);
}

#define BOOT "# until the next boot; permanently: the BIOS, or a udev rule"

static void judge_mrrs(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];
	const struct rd_odd *odd = rd_check_odd(in, RD_TRAIT_MRRS, (int)i, -1, true);
	bool fast = rd_pci_is_fast(in->host, i);
	unsigned request = rd_pcie_read_request(pci);

	if ((!fast && !odd) || rd_pcie_is_vf(in->host, pci))
		return;
	if (pci->config.dev_ctl.known != RD_OK)
		rd_check_unknown(out, addr, rd_pci_unread(pci));
	else if (odd)
		rd_check_bad(out, RD_SEV_WARNING, addr,
			     rd_text("%s: read requests of %u bytes", rd_pci_what(in->host, i), request),
			     rd_check_as_twins(odd),
			     rd_text("setpci -s ADDRESS CAP_EXP+8.w=%x000:7000\n" BOOT, size_field(odd->usual)));
	else if (request < 512)
		rd_check_warn(out, addr, rd_text("%s: read requests of %u bytes", rd_pci_what(in->host, i), request),
			      rd_text("at least 512; 4096 for accelerators"));
	else
		rd_check_good(out, addr);
}

const struct rd_check rd_check_pcie_mps = {
	.id = "pcie-mps",
	.title = "PCIe Max Payload Size does not fit the path",
	.why = "packets larger than a bridge accepts are malformed and take the link down; small ones waste "
	       "bandwidth on headers",
	.fix = "# set Max Payload Size to Auto in the BIOS, or boot with pci=pcie_bus_safe (pcie_bus_perf)",
	.needs = "PCI configuration space (root), Device Control of the function and all bridges above it",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.each = { RD_EACH_PCI, may_have_payload, judge_mps, NULL },
};

const struct rd_check rd_check_pcie_mrrs = {
	.id = "pcie-mrrs",
	.title = "PCIe Max Read Request Size of a fast NIC is small",
	.why = "sends read host memory: small read requests do not fill the link",
	.fix = "setpci -s ADDRESS CAP_EXP+8.w=5000:7000\n" BOOT,
	.needs = "PCI configuration space of NICs (root), Device Control",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.each = { RD_EACH_PCI, NULL, judge_mrrs, "no NIC of 100 Gbit/s or more" },
};
