/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices that are listed, but no longer on the bus. */
#include "check/shared/pcie.h"
#include "check/shared/rules.h"

static void run_no_answer(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!rd_pci_matters(in->host, i) || !pci->config_read)
			continue;
		if (pci->no_answer)
			rd_check_fail(out, pci->addr,
				      rd_text("%s: configuration space reads as all ones", rd_pci_what(in->host, i)),
				      rd_text("a response to configuration reads"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "configuration space of no NIC or accelerator was read");
}

const struct rd_check rd_check_no_answer = {
	.id = "pcie-no-answer",
	.title = "Device does not respond on PCI Express",
	.why = "it fell off the bus: the kernel's data about it is stale, and programs that use it hang or fail",
	.fix = "dmesg | grep -e ADDRESS -e AER -e pciehp -e Xid\n"
	       "echo 1 >/sys/bus/pci/devices/ADDRESS/remove\n"
	       "echo 1 >/sys/bus/pci/rescan\n"
	       "# no job may use the device meanwhile\n"
	       "# if it is still missing: power-cycle the host while no job runs, then reseat or replace the card",
	.needs = "the first bytes of PCI configuration space",
	.reads = RD_PART_PCI,
	.run = run_no_answer,
};
