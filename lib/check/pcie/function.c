/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about single PCI functions: errors, power, base addresses. */
#include "check/shared/rules.h"

#include <inttypes.h>

/* PCIe errors since boot (AER). */

#define CORRECTABLE_MANY 1000 /* every boot and every reset causes a few */

/* NICs and accelerators, and the bridges above them. */
static bool is_counted(const struct rd_host *host, size_t i)
{
	return host->pcis[i].extras_read &&
	       (rd_pci_matters(host, i) || host->pcis[i].class.v >> 8 == RD_PCI_CLASS_BRIDGE);
}

static void judge_uncorrectable(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];
	uint64_t fatal = pci->aer.fatal.v, nonfatal = pci->aer.nonfatal.v;

	if (pci->aer.fatal.known != RD_OK || pci->aer.nonfatal.known != RD_OK)
		rd_check_unknown(out, addr, "no error counters: device has no AER capability, or firmware owns AER");
	else if (fatal || nonfatal)
		rd_check_bad(out, fatal ? RD_SEV_CRITICAL : RD_SEV_WARNING, addr,
			     rd_text("%s: %" PRIu64 " fatal, %" PRIu64 " nonfatal since boot", rd_pci_what(in->host, i),
				     fatal, nonfatal),
			     rd_text("none"), NULL);
	else
		rd_check_good(out, addr);
}

static void judge_correctable(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	if (pci->aer.correctable.known != RD_OK)
		rd_check_unknown(out, addr, "no error counters: device has no AER capability, or firmware owns AER");
	else if (pci->aer.correctable.v >= CORRECTABLE_MANY)
		rd_check_warn(out, addr,
			      rd_text("%s: %" PRIu64 " since boot", rd_pci_what(in->host, i), pci->aer.correctable.v),
			      rd_text("fewer than %d", CORRECTABLE_MANY));
	else
		rd_check_good(out, addr);
}

const struct rd_check rd_check_aer = {
	.id = "aer-uncorrectable",
	.title = "Device reports uncorrectable PCIe errors (AER)",
	.why = "a fatal error takes down the device and all jobs on it; another one is likely",
	.fix = "dmesg | grep ADDRESS\n"
	       "# the log has the type of error\n"
	       "# reseat the card, then replace riser, cable or card",
	.needs = "sysfs aer_dev_fatal and aer_dev_nonfatal of NICs, accelerators and the bridges above them",
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_PCI, is_counted, judge_uncorrectable, NULL },
};

const struct rd_check rd_check_aer_correctable = {
	.id = "aer-correctable",
	.title = "Device reports many correctable PCIe errors (AER)",
	.why = "poor signal integrity costs bandwidth now and leads to fatal errors later",
	.fix = "grep -H . /sys/bus/pci/devices/ADDRESS/aer_dev_correctable\n"
	       "# run it again later to find the counter that increases\n"
	       "# reseat the card, then replace riser, cable or card",
	.needs = "sysfs aer_dev_correctable of NICs, accelerators and the bridges above them",
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_PCI, is_counted, judge_correctable, NULL },
};

/* Power of cards and slots. */

#define NIC_WATTS 25.0 /* the CEM specification lets any slot give this much to a card that requests more than 10 W */

static void judge_state(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	if (!pci->power_state || strcmp(pci->power_state, "unknown") == 0)
		rd_check_unknown(out, addr, "power state not reported by the kernel");
	else if (strncmp(pci->power_state, "D3", 2) == 0)
		rd_check_bad(out, rd_pci_is_nic(in->host, i) ? RD_SEV_CRITICAL : RD_SEV_WARNING, addr,
			     rd_text("%s: %s", rd_pci_what(in->host, i), pci->power_state), rd_text("D0"), NULL);
	else
		rd_check_good(out, addr);
}

/* Slot Capabilities: value in bits 14:7, scale 1, 0.1, 0.01, 0.001 in 16:15. Above 239 with scale 1, the encoding differs. */
static double slot_watts(uint32_t cap)
{
	static const double scales[] = { 1, 0.1, 0.01, 0.001 };

	return (cap >> 7 & 0xff) * scales[cap >> 15 & 3];
}

static void judge_slot(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i], *port = pci->parent < 0 ? NULL : &in->host->pcis[pci->parent];
	double watts;

	if (!rd_pci_is_fast(in->host, i) || pci->pf >= 0 || !port)
		return;
	if (port->config.slot_cap.known == RD_DENIED || !port->config_read)
		return rd_check_unknown(out, addr, rd_pci_unread(port));
	watts = port->config.slot_cap.known == RD_OK ? slot_watts(port->config.slot_cap.v) : 0;
	/* 0: no limit is set. */
	if (watts > 0 && watts < NIC_WATTS)
		rd_check_warn(out, addr, rd_text("%s: the slot provides %g W", rd_pci_what(in->host, i), watts),
			      rd_text("%g W or more", NIC_WATTS));
	else
		rd_check_good(out, addr);
}

const struct rd_check rd_check_power_state = {
	.id = "power-state",
	.title = "Device is in a low-power state (D3)",
	.why = "it responds late or not at all when a job uses it",
	.fix = "echo on >/sys/bus/pci/devices/ADDRESS/power/control\n"
	       "# until the next boot; permanently: a udev rule",
	.needs = "sysfs power_state",
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_PCI, rd_pci_matters, judge_state, NULL },
};

const struct rd_check rd_check_slot_power = {
	.id = "slot-power",
	.title = "PCIe slot provides less power than its NIC needs",
	.why = "the card turns off ports or optics, and reports that only in the kernel log",
	.fix = "# use another slot, or raise the slot power limit in the BIOS\n"
	       "# some cards need a power cable",
	.needs = "PCI configuration space of the port above it (root), Slot Capabilities",
	.thorough = true,
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_PCI, NULL, judge_slot, "no NIC of 100 Gbit/s or more in a slot" },
};

/* The PCI BAR through which other devices reach an accelerator's memory. */

#define MIB(n) ((uint64_t)(n) << 20)
#define BAR_SMALL MIB(256)
#define BAR_HIGH (UINT64_C(56) << 40) /* NICs were seen to fail from here on: linux-rdma/perftest, issue 173 */

static const struct rd_bar *largest(const struct rd_pci *pci)
{
	const struct rd_bar *best = NULL;

	for (unsigned i = 0; i < pci->n_bars; i++)
		if (!best || pci->bars[i].size > best->size)
			best = &pci->bars[i];
	return best;
}

/* `resource` reads as zeros where the kernel hides the addresses, or none is assigned. */
static void report_no_bar(const struct rd_pci *pci, struct rd_check_out *out)
{
	rd_check_unknown(out, pci->addr, "sysfs `resource` has no address for it");
}

static void judge_size(const struct rd_check_input *in, size_t g, const char *name, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[in->host->gpus[g].pci];
	const struct rd_bar *bar = largest(pci);

	if (!bar)
		report_no_bar(pci, out);
	else if (bar->size <= BAR_SMALL && !rd_gpu_in_processor(in->host, g))
		rd_check_warn(out, pci->addr,
			      rd_text("%s: largest BAR is %g MiB", name, (double)bar->size / (double)MIB(1)),
			      rd_text("as large as its memory"));
	else
		rd_check_good(out, pci->addr);
}

static void judge_address(const struct rd_check_input *in, size_t g, const char *name, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[in->host->gpus[g].pci];
	const struct rd_bar *bar = largest(pci);

	/* The kernel hides an address by reporting 0. */
	if (!bar || bar->start == 0)
		report_no_bar(pci, out);
	else if (bar->start >= BAR_HIGH)
		rd_check_warn(out, pci->addr,
			      rd_text("%s: BAR at %g TiB", name, (double)bar->start / (double)(UINT64_C(1) << 40)),
			      rd_text("below 56 TiB"));
	else
		rd_check_good(out, pci->addr);
}

const struct rd_check rd_check_bar_size = {
	.id = "bar1-size",
	.title = "BAR1 is small: NICs can reach only part of an accelerator's memory",
	.why = "registering more memory than BAR1 maps fails with EFAULT or EIO",
	.fix = "lspci -vs ADDRESS\n"
	       "# enable Above 4G Decoding and Resizable BAR in the BIOS\n"
	       "# NVIDIA: nvidia-smi -q -d MEMORY shows BAR1, too",
	.needs = "sysfs `resource` of accelerators",
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_GPU, NULL, judge_size, "no accelerator" },
};

const struct rd_check rd_check_bar_address = {
	.id = "bar-address",
	.title = "BAR address of an accelerator is too high for some NICs",
	.why = "GPUDirect RDMA fails with completion status 4 (local protection error)",
	.fix = "# lower \"MMIO High Base\" in the BIOS to 32 TiB or less",
	.needs = "sysfs `resource` of accelerators",
	.thorough = true,
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_GPU, NULL, judge_address, "no accelerator" },
};
