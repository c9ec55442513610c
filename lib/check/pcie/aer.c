/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCIe errors since boot (AER). */
#include <inttypes.h>

#include "check/shared/pcie.h"
#include "check/shared/rules.h"

#define CORRECTABLE_MANY 1000 /* every boot and every reset causes a few */

/* NICs and accelerators, and the bridges above them. */
static bool is_counted(const struct rd_host *host, size_t i)
{
	return host->pcis[i].extras_read &&
	       (rd_pci_matters(host, i) || host->pcis[i].class.v >> 8 == RD_PCI_CLASS_BRIDGE);
}

static void run_uncorrectable(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];
		uint64_t fatal = pci->aer.fatal.v, nonfatal = pci->aer.nonfatal.v;

		if (!is_counted(in->host, i))
			continue;
		if (pci->aer.fatal.known != RD_OK || pci->aer.nonfatal.known != RD_OK)
			rd_check_unknown(out, pci->addr,
					 "no error counters: device has no AER capability, or firmware owns AER");
		else if (fatal || nonfatal)
			rd_check_bad(out, fatal ? RD_SEV_CRITICAL : RD_SEV_WARNING, pci->addr,
				     rd_text("%s: %" PRIu64 " fatal, %" PRIu64 " nonfatal since boot",
					     rd_pci_what(in->host, i), fatal, nonfatal),
				     rd_text("none"), NULL);
		else
			rd_check_good(out, pci->addr);
	}
}

static void run_correctable(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t i = 0; i < in->host->n_pcis; i++) {
		const struct rd_pci *pci = &in->host->pcis[i];

		if (!is_counted(in->host, i))
			continue;
		if (pci->aer.correctable.known != RD_OK)
			rd_check_unknown(out, pci->addr,
					 "no error counters: device has no AER capability, or firmware owns AER");
		else if (pci->aer.correctable.v >= CORRECTABLE_MANY)
			rd_check_warn(out, pci->addr,
				      rd_text("%s: %" PRIu64 " since boot", rd_pci_what(in->host, i),
					      pci->aer.correctable.v),
				      rd_text("fewer than %d", CORRECTABLE_MANY));
		else
			rd_check_good(out, pci->addr);
	}
}

const struct rd_check rd_check_aer = {
	.id = "aer-uncorrectable",
	.title = "Device reports uncorrectable PCIe errors (AER)",
	.why = "a fatal error takes down the device and all jobs on it; another one is likely",
	.fix = "dmesg | grep ADDRESS\n"
	       "# the log has the type of error\n"
	       "# reseat the card, then replace riser, cable or card",
	.needs = "sysfs aer_dev_fatal and aer_dev_nonfatal of NICs, accelerators and the bridges above them",
	.reads = RD_PART_PCI,
	.run = run_uncorrectable,
};

const struct rd_check rd_check_aer_correctable = {
	.id = "aer-correctable",
	.title = "Device reports many correctable PCIe errors (AER)",
	.why = "poor signal integrity costs bandwidth now and leads to fatal errors later",
	.fix = "grep -H . /sys/bus/pci/devices/ADDRESS/aer_dev_correctable\n"
	       "# run it again later to find the counter that increases\n"
	       "# reseat the card, then replace riser, cable or card",
	.needs = "sysfs aer_dev_correctable of NICs, accelerators and the bridges above them",
	.reads = RD_PART_PCI,
	.run = run_correctable,
};
