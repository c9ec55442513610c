/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices that the layout of the host implies, but that are missing. */

#include "check/shared/rules.h"
#include "model/host/system.h"

#define GPU_RESCAN                                     \
	"dmesg | grep -e GPUDRIVER -e AER -e pciehp\n" \
	"echo 1 >/sys/bus/pci/rescan\n"
#define POWER_CYCLE "# if it is still missing: power-cycle the host while no job runs, then reseat or replace the "

static char *expected_of(const struct rd_host *host, const struct rd_missing *missing)
{
	if (missing->like < 0)
		return rd_text("%u, one per port of the switch", missing->wanted);
	return rd_text("%u, as below %s and %u of %u identical switches; %u in all", missing->wanted,
		       host->pcis[missing->like].addr, missing->agree, missing->sisters, missing->all_wanted);
}

/* Accelerators that come on boards of 4, 8 or 16 (NVIDIA SXM, AMD OAM), by PCI ids. */
static const struct {
	uint16_t vendor, device;
} on_boards[] = {
	{ 0x10de, 0x1db1 }, { 0x10de, 0x1db5 }, { 0x10de, 0x1db8 }, { 0x10de, 0x20b0 }, { 0x10de, 0x20b2 },
	{ 0x10de, 0x2324 }, { 0x10de, 0x2329 }, { 0x10de, 0x2330 }, { 0x10de, 0x2335 }, { 0x10de, 0x2901 },
	{ 0x10de, 0x2941 }, { 0x10de, 0x31c2 }, { 0x1002, 0x74a1 }, { 0x1002, 0x74a5 }, { 0x1002, 0x75a3 },
};

static bool is_on_board(const struct rd_pci *pci)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(on_boards); i++)
		if (pci->vendor.known == RD_OK && pci->device.known == RD_OK && on_boards[i].vendor == pci->vendor.v &&
		    on_boards[i].device == pci->device.v)
			return true;
	return false;
}

/* The expected number: no such board has 3, 5, 6 or 7. 0: the number is plausible, or another rule reports it. Guests may
 * have any number. */
static unsigned wanted_on_board(const struct rd_check_input *in)
{
	const struct rd_host *host = in->host;
	const struct rd_pci *first = &host->pcis[host->gpus[0].pci];
	unsigned wanted = 4;

	/* V100 also came on boards of 6. */
	if (!is_on_board(first) || (first->vendor.v == 0x10de && first->device.v >> 8 == 0x1d) ||
	    host->guest.known != RD_OK || host->guest.v || host->n_gpus < 3)
		return 0;
	for (size_t g = 1; g < host->n_gpus; g++)
		if (host->pcis[host->gpus[g].pci].device.v != first->device.v)
			return 0;
	while (wanted < host->n_gpus)
		wanted *= 2;
	return wanted == host->n_gpus || wanted > 16 ? 0 : wanted;
}

static bool has_missing_gpu(const struct rd_symmetry *symmetry)
{
	for (size_t i = 0; symmetry && i < symmetry->n_missing; i++)
		if (symmetry->missing[i].gpu && symmetry->missing[i].sure == RD_MISSING_CLEAR)
			return true;
	return false;
}

/* The NVIDIA module does not load without an accelerator: if it is loaded and none is listed, they were lost. */
static bool are_all_lost(const struct rd_check_input *in)
{
	const struct rd_host *host = in->host;

	if (!in->system || !rd_system_module(in->system, "nvidia") || host->n_pcis == 0)
		return false;
	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		unsigned base = pci->class.known == RD_OK ? pci->class.v >> 16 : RD_PCI_DISPLAY;

		if ((base == RD_PCI_DISPLAY || base == RD_PCI_ACCELERATOR) &&
		    (pci->vendor.known != RD_OK || pci->vendor.v == 0x10de))
			return false;
	}
	return true;
}

static void run_missing(const struct rd_check_input *in, struct rd_check_out *out)
{
	bool gpu = rd_check_of(out)->with != NULL;
	const struct rd_symmetry *symmetry = in->symmetry;
	unsigned board = gpu && in->host->n_gpus > 0 ? wanted_on_board(in) : 0;

	if (gpu && in->host->n_gpus == 0 && are_all_lost(in))
		rd_check_fail(out, "host", rd_text("NVIDIA driver is loaded, but no accelerator is on the PCI bus"),
			      rd_text("the accelerators for which it was loaded"));
	if (board && !has_missing_gpu(symmetry))
		rd_check_fail(out, "host",
			      rd_text("%zu accelerators of a model that comes on boards of 4, 8 or 16",
				      in->host->n_gpus),
			      rd_text("%u", board));
	if (in->host->n_gpus == 0)
		return rd_check_skip(out, "no accelerator");
	for (size_t i = 0; symmetry && i < symmetry->n_missing; i++)
		if (symmetry->missing[i].gpu == gpu) {
			const struct rd_missing *missing = &symmetry->missing[i];
			const char *subject = missing->bridge >= 0 ? in->host->pcis[missing->bridge].addr : "host";

			/* Add-in cards: any number of them is normal, and slots may be empty. */
			if (missing->sure == RD_MISSING_CLEAR)
				rd_check_bad(out,
					     missing->gpu && (in->host->n_gpus > 0 &&
							      !is_on_board(&in->host->pcis[in->host->gpus[0].pci])) ?
						     RD_SEV_WARNING :
						     RD_SEV_CRITICAL,
					     subject,
					     rd_text("%u %s below this switch, %u in all%s%s", missing->found,
						     missing->gpu ?
							     (missing->found == 1 ? "accelerator" : "accelerators") :
							     (missing->found == 1 ? "NIC" : "NICs"),
						     missing->all, missing->empty ? "; no device below " : "",
						     missing->empty ?: ""),
					     expected_of(in->host, missing), NULL);
			else if (missing->sure == RD_MISSING_LIKELY && missing->bridge < 0 &&
				 (missing->wanted >= 8 || missing->empty))
				rd_check_bad(out, RD_SEV_WARNING, subject,
					     rd_text(gpu ? "%u accelerators of one model" : "%u compute NICs",
						     missing->found),
					     rd_text("%u, as many as %s, unless the host was ordered so",
						     missing->wanted, gpu ? "NICs of one board type" : "accelerators"),
					     NULL);
			else if (missing->sure == RD_MISSING_LIKELY)
				rd_check_unknown(
					out, subject,
					missing->gpu ?
						"either an accelerator is missing, or the host was built with one "
						"fewer" :
						"either a NIC is missing, or the host was built with one fewer");
			else
				rd_check_good(out, subject);
		}
	if (symmetry && symmetry->sisters > 0)
		rd_check_good(out, "host");
	rd_check_skip(out, "no identical switches with accelerators below to compare");
}

/* Counts other functions below the same root port: those with the same node, and those with another one. */
static void count_nodes(const struct rd_host *host, size_t i, int *other, unsigned *same, unsigned *differ)
{
	*same = *differ = 0;
	for (size_t j = 0; j < host->n_pcis; j++) {
		const struct rd_pci *pci = &host->pcis[j];

		/* -1: no node. A node written to sysfs applies to that function only. */
		if (j == i || pci->numa.known != RD_OK || pci->numa.v < 0 ||
		    rd_pci_top(host, (int)j) != rd_pci_top(host, (int)i))
			continue;
		if (pci->numa.v == host->pcis[i].numa.v)
			++*same;
		else if (++*differ == 1)
			*other = pci->numa.v;
	}
}

static void judge_numa(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];
	unsigned same, differ;
	int other = -1;

	if (pci->pf >= 0 || pci->parent < 0 || pci->numa.known != RD_OK || pci->numa.v < 0)
		return;
	count_nodes(in->host, i, &other, &same, &differ);
	if (differ >= 2 && differ > 2 * same)
		rd_check_bad(
			out, RD_SEV_WARNING, addr, rd_text("%s: NUMA node %d", rd_pci_what(in->host, i), pci->numa.v),
			rd_text("%d, as on %u other functions under the same root port", other, differ),
			rd_text("echo %d >/sys/bus/pci/devices/ADDRESS/numa_node\n"
				"# until the next boot; permanently: update the BIOS, whose ACPI _PXM for the slot "
				"is wrong",
				other));
	else if (same > 0)
		rd_check_good(out, addr);
	else if (differ > 0)
		rd_check_unknown(out, addr,
				 "the bridge above it has another NUMA node: which of them is right is unknown");
}

const struct rd_check rd_check_gpu_missing = {
	.id = "gpu-missing",
	.title = "Accelerator is missing from the PCI tree",
	.why = "it fell off the bus or did not come up at boot: jobs see one accelerator fewer, and fail or hang at "
	       "start",
	.fix = GPU_RESCAN POWER_CYCLE "accelerator, or check its board and power supply",
	.needs = "PCI tree; vendor and device ids of switches, accelerators and NICs",
	.parts = { RD_PART_PCI | RD_PART_RDMA, 0 },
	.run = run_missing,
	.with = &(const bool){ true }, /* accelerators */
};

const struct rd_check rd_check_nic_missing = {
	.id = "nic-missing",
	.title = "NIC is missing from the PCI tree",
	.why = "it did not come up at boot or was lost: its accelerators share another NIC, and rails do not match",
	.fix = "dmesg | grep -e NICDRIVER -e AER -e pciehp\n"
	       "echo 1 >/sys/bus/pci/rescan\n" POWER_CYCLE "NIC",
	.needs = "PCI tree; vendor and device ids of switches, accelerators and NICs",
	.parts = { RD_PART_PCI | RD_PART_RDMA, 0 },
	.run = run_missing,
};

const struct rd_check rd_check_numa_switch = {
	.id = "numa-switch",
	.title = "NUMA node differs from that of the PCIe switch above",
	.why = "all devices below one root port are on one node: memory and threads are placed on the wrong one",
	.fix = "# update the BIOS, whose ACPI _PXM for the slot is wrong\n"
	       "# until then: echo NODE >/sys/bus/pci/devices/ADDRESS/numa_node",
	.needs = "sysfs numa_node of NICs, accelerators and the bridges above them, PCI tree",
	.parts = { 0, RD_PART_PCI },
	.each = { RD_EACH_PCI, rd_pci_matters, judge_numa,
		  "no other function with a NUMA node below the same root port" },
};
