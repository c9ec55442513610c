/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices that are listed, and are not on the bus any more. */
#include "check/shared/pcie.h"
#include "check/shared/rules.h"

static void run(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!rd_pci_matters(in->host, i) || !pci->config_read)
			continue;
		if (pci->no_answer)
			rd_check_bad(
				out, RD_SEV_CRITICAL, pci->addr,
				rd_text("%s: its configuration space reads as ones", rd_pci_what(in->host, i)),
				rd_text("an answer"),
				rd_text("dmesg | grep %s; echo 1 >/sys/bus/pci/devices/%s/remove; echo 1 "
					">/sys/bus/pci/rescan; if it stays away: power the host off and on, then reseat or "
					"replace the card",
					pci->addr, pci->addr));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no configuration space of a NIC or accelerator was read");
}

const struct rd_check rd_check_no_answer = {
	.id = "pcie-no-answer",
	.title = "A device does not answer on PCI Express",
	.why = "it has fallen off the bus: what the kernel still lists of it is old, and its users hang or fail",
	.fix = "dmesg (AER, pciehp, Xid 79); remove it and rescan; a power cycle; then the card",
	.needs = "the first bytes of PCI configuration space",
	.quick = true,
	.reads = RD_PART_PCI,
	.run = run,
};
