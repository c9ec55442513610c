/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Power of cards and slots. */
#include <string.h>

#include "check/shared/pcie.h"
#include "check/shared/rules.h"

#define NIC_WATTS 25.0 /* the CEM specification lets any slot give this much to a card that requests more than 10 W */

static void run_state(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!rd_pci_matters(in->host, i))
			continue;
		if (!pci->power_state || strcmp(pci->power_state, "unknown") == 0)
			rd_check_unknown(out, pci->addr, "power state not reported by the kernel");
		else if (strncmp(pci->power_state, "D3", 2) == 0)
			rd_check_bad(out, rd_pci_is_nic(in->host, i) ? RD_SEV_CRITICAL : RD_SEV_WARNING, pci->addr,
				     rd_text("%s: %s", rd_pci_what(in->host, i), pci->power_state), rd_text("D0"),
				     NULL);
		else
			rd_check_good(out, pci->addr);
	}
}

/* Slot Capabilities: value in bits 14:7, scale 1, 0.1, 0.01, 0.001 in 16:15. Above 239 with scale 1, the encoding differs. */
static double slot_watts(uint32_t cap)
{
	static const double scales[] = { 1, 0.1, 0.01, 0.001 };

	return (cap >> 7 & 0xff) * scales[cap >> 15 & 3];
}

static void run_slot(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i],
				    *port = pci->parent < 0 ? NULL : &in->host->pcis[pci->parent];
		double watts;

		if (!rd_pci_is_fast(in->host, i) || pci->pf >= 0 || !port)
			continue;
		if (port->config.slot_cap.known == RD_DENIED || !port->config_read) {
			rd_check_unknown(out, pci->addr, rd_pci_unread(port));
			continue;
		}
		watts = port->config.slot_cap.known == RD_OK ? slot_watts(port->config.slot_cap.v) : 0;
		/* 0: no limit is set. */
		if (watts > 0 && watts < NIC_WATTS)
			rd_check_warn(out, pci->addr,
				      rd_text("%s: the slot provides %g W", rd_pci_what(in->host, i), watts),
				      rd_text("%g W or more", NIC_WATTS));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no NIC of 100 Gbit/s or more in a slot");
}

const struct rd_check rd_check_power_state = {
	.id = "power-state",
	.title = "Device is in a low-power state (D3)",
	.why = "it responds late or not at all when a job uses it",
	.fix = "echo on >/sys/bus/pci/devices/ADDRESS/power/control\n"
	       "# until the next boot; permanently: a udev rule",
	.needs = "sysfs power_state",
	.reads = RD_PART_PCI,
	.run = run_state,
};

const struct rd_check rd_check_slot_power = {
	.id = "slot-power",
	.title = "PCIe slot provides less power than its NIC needs",
	.why = "the card turns off ports or optics, and reports that only in the kernel log",
	.fix = "# use another slot, or raise the slot power limit in the BIOS\n"
	       "# some cards need a power cable",
	.needs = "PCI configuration space of the port above it (root), Slot Capabilities",
	.thorough = true,
	.reads = RD_PART_PCI,
	.run = run_slot,
};
