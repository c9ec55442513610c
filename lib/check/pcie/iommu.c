/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IOMMU and ATS: address translation between devices and memory, and between devices. */
#include <string.h>

#include "check/shared/pcie.h"
#include "check/shared/rules.h"

#define ATS_ENABLE 0x8000 /* ATS control register, bit 15 */

static void run_mode(const struct rd_check_input *in, struct rd_check_out *out)
{
	const char *iommu = rd_host_iommu(in->host);

	if (in->host->n_gpus == 0)
		rd_check_skip(out, "no accelerator, so no peer-to-peer traffic");
	for (size_t i = 0; i < in->host->n_pcis && in->host->n_gpus > 0; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!rd_pci_matters(in->host, i))
			continue;
		if (!pci->extras_read)
			rd_check_unknown(out, pci->addr, "IOMMU group was not read");
		else if (pci->iommu_group.known != RD_OK ||
			 (pci->iommu_type && strcmp(pci->iommu_type, "identity") == 0))
			rd_check_good(out, pci->addr);
		else if (!pci->iommu_type)
			rd_check_unknown(out, pci->addr, "the kernel does not report the type of the IOMMU group");
		else
			rd_check_bad(out, RD_SEV_WARNING, pci->addr,
				     rd_text("%s: %s group %d has type %s", rd_pci_what(in->host, i), iommu,
					     pci->iommu_group.v, pci->iommu_type),
				     rd_text("identity, or no %s", iommu),
				     rd_text("# boot with %s, or disable the %s in the BIOS\n"
					     "# reboot while no job runs",
					     rd_host_passthrough(in->host), iommu));
	}
}

static void run_group(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		/* Sharing matters only where the group is assigned to a guest. */
		if (!pci->driver || strcmp(pci->driver, "vfio-pci") != 0)
			continue;
		if (!pci->extras_read)
			rd_check_unknown(out, pci->addr, "IOMMU group was not read");
		else if (pci->iommu_shared)
			rd_check_warn(out, pci->addr,
				      rd_text("IOMMU group %d also contains functions of other cards",
					      pci->iommu_group.v),
				      rd_text("an IOMMU group of its own"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no NIC or accelerator is assigned to a virtual machine (vfio-pci)");
}

static void run_ats(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (in->host->guest.known != RD_OK || !in->host->guest.v || in->host->n_gpus == 0) {
		rd_check_skip(out, "not a virtual machine with an accelerator");
		return;
	}
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!rd_pci_is_nic(in->host, i))
			continue;
		if (pci->config.ats_ctl.known == RD_DENIED || !pci->config_read)
			rd_check_unknown(out, pci->addr, rd_pci_unread(pci));
		else if (pci->config.ats_ctl.known == RD_OK && pci->config.ats_ctl.v & ATS_ENABLE)
			rd_check_warn(out, pci->addr,
				      rd_text("%s: ATS enabled in a virtual machine", rd_pci_what(in->host, i)),
				      rd_text("disabled, unless the hypervisor passes ATS requests through"));
		else
			rd_check_good(out, pci->addr);
	}
}

const struct rd_check rd_check_iommu_mode = {
	.id = "iommu-mode",
	.title = "IOMMU translates DMA",
	.why = "peer-to-peer traffic is translated at the root complex: it is slow, or blocked",
	.fix = "# boot with iommu=pt (an SMMU: iommu.passthrough=1), or disable the IOMMU in the BIOS\n"
	       "# reboot while no job runs",
	.needs = "/sys/kernel/iommu_groups/N/type",
	.reads = RD_PART_PCI | RD_PART_RDMA,
	.run = run_mode,
};

const struct rd_check rd_check_iommu_group = {
	.id = "iommu-group",
	.title = "Device assigned to a virtual machine shares its IOMMU group",
	.why = "the whole group must be assigned: the host loses the other devices in it, or the guest does not "
	       "start",
	.fix = "# use another slot, or enable ACS on the bridge above it (not on a bridge between an accelerator and "
	       "its NIC)",
	.needs = "/sys/kernel/iommu_groups/N/devices",
	.thorough = true,
	.reads = RD_PART_PCI | RD_PART_RDMA,
	.run = run_group,
};

const struct rd_check rd_check_ats = {
	.id = "ats-guest",
	.title = "ATS is enabled on a NIC in a virtual machine",
	.why = "where the hypervisor does not expose both ACS and ATS, registering accelerator memory fails with "
	       "EFAULT",
	.fix = "# disable ATS in the NIC's firmware (mlxconfig: ATS_ENABLED=0), or let the hypervisor expose ACS",
	.needs = "PCI configuration space of NICs (root), ATS control register; presence of a hypervisor",
	.thorough = true,
	.reads = RD_PART_PCI | RD_PART_RDMA,
	.run = run_ats,
};
