/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the pattern of a host has a place for, and is not there. */

#include "model/host/symmetry.h"
#include "check/shared/pcie.h"
#include "check/shared/rules.h"
#include "model/host/pcie.h"
#include "model/host/system.h"

static const char *what_of(const struct rd_missing *missing, unsigned n)
{
	return missing->gpu ? (n == 1 ? "accelerator" : "accelerators") : (n == 1 ? "NIC" : "NICs");
}

static char *observed_of(const struct rd_missing *missing)
{
	return rd_text("%u %s below this switch, %u in all%s%s", missing->found, what_of(missing, missing->found),
		       missing->all, missing->empty ? "; nothing behind " : "", missing->empty ? missing->empty : "");
}

static char *expected_of(const struct rd_host *host, const struct rd_missing *missing)
{
	if (missing->like < 0)
		return rd_text("%u, one for each of its ports", missing->wanted);
	return rd_text("%u, as below %s and %u of %u equal switches; %u in all", missing->wanted,
		       host->pcis[missing->like].addr, missing->agree, missing->sisters, missing->all_wanted);
}

static char *fix_of(const struct rd_host *host, const struct rd_missing *missing)
{
	const char *at = host->pcis[missing->bridge].addr;

	return rd_text(
		"lspci -tvs %s; dmesg | grep -iE '%s'; echo 1 >/sys/bus/pci/rescan; if it stays away: power the host "
		"off and on, then reseat or replace what belongs behind %s",
		at, missing->gpu ? "fallen off|Xid|AER|pciehp" : "mlx5|AER|pciehp",
		missing->empty ? missing->empty : at);
}

/* Accelerators that come soldered or plugged onto boards of 4, 8 or 16 (NVIDIA's SXM, AMD's OAM), by PCI ids. */
static const struct {
	uint16_t vendor, device;
} on_boards[] = {
	{ 0x10de, 0x1db1 }, { 0x10de, 0x1db5 }, { 0x10de, 0x1db8 }, { 0x10de, 0x20b0 }, { 0x10de, 0x20b2 },
	{ 0x10de, 0x2324 }, { 0x10de, 0x2329 }, { 0x10de, 0x2330 }, { 0x10de, 0x2335 }, { 0x10de, 0x2901 },
	{ 0x1002, 0x74a1 }, { 0x1002, 0x74a5 }, { 0x1002, 0x75a3 },
};

static bool is_on_board(const struct rd_pci *pci)
{
	for (size_t i = 0; i < RD_ARRAY_SIZE(on_boards); i++)
		if (pci->vendor.known == RD_OK && pci->device.known == RD_OK && on_boards[i].vendor == pci->vendor.v &&
		    on_boards[i].device == pci->device.v)
			return true;
	return false;
}

/* Cards are bought in any number, and not every slot is filled. */
static bool are_cards(const struct rd_host *host)
{
	return host->n_gpus > 0 && !is_on_board(&host->pcis[host->gpus[0].pci]);
}

static void tell(const struct rd_host *host, const struct rd_missing *missing, struct rd_check_out *out)
{
	const char *subject = missing->bridge >= 0 ? host->pcis[missing->bridge].addr : "host";

	if (missing->sure == RD_MISSING_CLEAR)
		rd_check_bad(out, missing->gpu && are_cards(host) ? RD_SEV_WARNING : RD_SEV_CRITICAL, subject,
			     observed_of(missing), expected_of(host, missing), fix_of(host, missing));
	else if (missing->sure == RD_MISSING_LIKELY && missing->bridge < 0 && (missing->wanted >= 8 || missing->empty))
		rd_check_bad(
			out, RD_SEV_WARNING, subject, rd_text("%u accelerators of one model", missing->found),
			rd_text("%u, as many as NICs of one board", missing->wanted),
			rd_text("compare with the order of this host; dmesg | grep -iE 'fallen off|Xid|AER|pciehp'; echo 1 "
				">/sys/bus/pci/rescan"));
	else if (missing->sure == RD_MISSING_LIKELY)
		rd_check_unknown(out, subject,
				 missing->gpu ? "an accelerator is missing, or the host was built with one fewer" :
						"a NIC is missing, or the host was built with one fewer");
	else
		rd_check_good(out, subject);
}

/* How many there must have been: no board of these has 3, 5, 6 or 7. 0: nothing is odd, or another rule tells it. Guests
 * are given any number. */
static unsigned wanted_on_board(const struct rd_check_input *in)
{
	const struct rd_host *host = in->host;
	const struct rd_pci *first = &host->pcis[host->gpus[0].pci];
	unsigned wanted = 4;

	/* Of V100 there were boards of 6, too. */
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

static bool tells_gpu(const struct rd_symmetry *symmetry)
{
	for (size_t i = 0; symmetry && i < symmetry->n_missing; i++)
		if (symmetry->missing[i].gpu && symmetry->missing[i].sure == RD_MISSING_CLEAR)
			return true;
	return false;
}

/* NVIDIA's module does not load where there is no accelerator: where it is loaded and none is listed, they have gone. */
static bool all_gone(const struct rd_check_input *in)
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

#define GPU_FIX                                                                                                    \
	"dmesg | grep -iE 'fallen off|Xid|AER|pciehp'; echo 1 >/sys/bus/pci/rescan; if they stay away: power the " \
	"host off and on, then look at the accelerators' board and its power"

static void run_missing(const struct rd_check_input *in, struct rd_check_out *out, bool gpu)
{
	const struct rd_symmetry *symmetry = in->symmetry;
	unsigned board = gpu && in->host->n_gpus > 0 ? wanted_on_board(in) : 0;

	if (gpu && in->host->n_gpus == 0 && all_gone(in))
		rd_check_bad(out, RD_SEV_CRITICAL, "host",
			     rd_text("the NVIDIA driver is loaded, and no accelerator is listed"),
			     rd_text("those that it was loaded for"), rd_text(GPU_FIX));
	if (board && !tells_gpu(symmetry))
		rd_check_bad(out, RD_SEV_CRITICAL, "host",
			     rd_text("%zu accelerators of a model that comes on boards of 4, 8 or 16", in->host->n_gpus),
			     rd_text("%u", board), rd_text(GPU_FIX));
	if (in->host->n_gpus == 0) {
		rd_check_skip(out, "there is no accelerator");
		return;
	}
	for (size_t i = 0; symmetry && i < symmetry->n_missing; i++)
		if (symmetry->missing[i].gpu == gpu)
			tell(in->host, &symmetry->missing[i], out);
	if (symmetry && symmetry->sisters > 0)
		rd_check_good(out, "host");
	rd_check_skip(out, "no equal switches with accelerators below: nothing to compare with");
}

static void run_gpu(const struct rd_check_input *in, struct rd_check_out *out)
{
	run_missing(in, out, true);
}

static void run_nic(const struct rd_check_input *in, struct rd_check_out *out)
{
	run_missing(in, out, false);
}

/* How many of what is above a function, and beside it below the same root port, have this node, and how many another one. */
static void count_nodes(const struct rd_host *host, size_t i, int *other, unsigned *same, unsigned *differ)
{
	int top = (int)i;

	*same = *differ = 0;
	while (host->pcis[top].parent >= 0)
		top = host->pcis[top].parent;
	for (size_t j = 0; j < host->n_pcis; j++) {
		const struct rd_pci *pci = &host->pcis[j];
		int at = (int)j;

		/* -1 is no node: sysfs takes one that is written, for that function alone. */
		if (j == i || pci->numa.known != RD_OK || pci->numa.v < 0)
			continue;
		while (host->pcis[at].parent >= 0)
			at = host->pcis[at].parent;
		if (at != top)
			continue;
		if (pci->numa.v == host->pcis[i].numa.v)
			++*same;
		else if (++*differ == 1)
			*other = pci->numa.v;
	}
}

static void run_numa(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;

	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		unsigned same, differ;
		int other = -1;

		if (!rd_pci_matters(host, i) || pci->pf >= 0 || pci->parent < 0 || pci->numa.known != RD_OK ||
		    pci->numa.v < 0)
			continue;
		count_nodes(host, i, &other, &same, &differ);
		if (differ >= 2 && differ > 2 * same)
			rd_check_bad(
				out, RD_SEV_WARNING, pci->addr,
				rd_text("%s: NUMA node %d", rd_pci_what(host, i), pci->numa.v),
				rd_text("%d, as %u functions above and beside it below one root port", other, differ),
				rd_text("echo %d >/sys/bus/pci/devices/%s/numa_node until the next boot; for good: update "
					"the BIOS, whose _PXM of the slot is wrong",
					other, pci->addr));
		else if (same > 0)
			rd_check_good(out, pci->addr);
		else if (differ > 0)
			rd_check_unknown(out, pci->addr,
					 "what is above it has another NUMA node: which is right is not known");
	}
	rd_check_skip(out, "nothing else with a NUMA node is below the same root port");
}

const struct rd_check rd_check_gpu_missing = {
	.id = "gpu-missing",
	.title = "An accelerator is missing where equal switches have one",
	.why = "it has fallen off the bus or did not come up at boot: jobs see one fewer, and fail or hang at start",
	.fix = "dmesg (Xid 79, AER, pciehp); power the host off and on; reseat or replace the accelerator",
	.needs = "PCI tree, vendor and device of switches, accelerators and NICs",
	.quick = true,
	.whole = RD_PART_PCI | RD_PART_RDMA,
	.run = run_gpu,
};

const struct rd_check rd_check_nic_missing = {
	.id = "nic-missing",
	.title = "A NIC is missing where equal switches have one",
	.why = "it did not come up at boot or was lost: its accelerators share another one's, and rails do not match",
	.fix = "dmesg (mlx5, AER, pciehp); power the host off and on; reseat or replace the NIC",
	.needs = "PCI tree, vendor and device of switches, accelerators and NICs",
	.quick = true,
	.whole = RD_PART_PCI | RD_PART_RDMA,
	.run = run_nic,
};

const struct rd_check rd_check_numa_switch = {
	.id = "numa-switch",
	.title = "The NUMA node of a NIC or accelerator contradicts that of its own switch",
	.why = "what is below one root port is on one node: memory and threads are placed on the wrong one",
	.fix = "update the BIOS; until then: echo NODE >/sys/bus/pci/devices/ADDRESS/numa_node",
	.needs = "sysfs numa_node of NICs, accelerators and the bridges above, PCI tree",
	.quick = true,
	.reads = RD_PART_PCI,
	.run = run_numa,
};
