/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The window through which others reach an accelerator's memory. */
#include "check/shared/pcie.h"
#include "check/shared/rules.h"

#define MIB(n) ((uint64_t)(n) << 20)
#define BAR_SMALL MIB(256)
#define BAR_HIGH (UINT64_C(56) << 40) /* where NICs were seen to fail: linux-rdma/perftest, issue 173 */

static const struct rd_bar *largest(const struct rd_pci *pci)
{
	const struct rd_bar *best = NULL;

	for (unsigned i = 0; i < pci->n_bars; i++)
		if (!best || pci->bars[i].size > best->size)
			best = &pci->bars[i];
	return best;
}

/* What reads as all zeros has its addresses hidden, or has none. */
static void no_bar(const struct rd_pci *pci, struct rd_check_out *out)
{
	rd_check_unknown(out, pci->addr, "sysfs `resource` tells no address of it");
}

static void run_size(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t g = 0; g < in->host->n_gpus; g++) {
		const struct rd_pci *pci = &in->host->pcis[in->host->gpus[g].pci];
		const struct rd_bar *bar = largest(pci);

		if (!bar)
			no_bar(pci, out);
		else if (bar->size <= BAR_SMALL)
			rd_check_warn(out, pci->addr,
				      rd_text("GPU%zu: largest window %g MiB", g, (double)bar->size / (double)MIB(1)),
				      rd_text("as large as its memory"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "there is no accelerator");
}

static void run_address(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t g = 0; g < in->host->n_gpus; g++) {
		const struct rd_pci *pci = &in->host->pcis[in->host->gpus[g].pci];
		const struct rd_bar *bar = largest(pci);

		/* An address of 0 is one that the kernel hides. */
		if (!bar || bar->start == 0)
			no_bar(pci, out);
		else if (bar->start >= BAR_HIGH)
			rd_check_warn(out, pci->addr,
				      rd_text("GPU%zu: window at %g TiB", g,
					      (double)bar->start / (double)(UINT64_C(1) << 40)),
				      rd_text("below 56 TiB"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "there is no accelerator");
}

const struct rd_check rd_check_bar_size = {
	.id = "bar1-size",
	.title = "Only a small part of an accelerator's memory can be reached by NICs (BAR1)",
	.why = "registering more than fits fails with EFAULT or EIO",
	.fix = "Above 4G Decoding and Resizable BAR on in the BIOS; nvidia-smi -q -d MEMORY shows BAR1",
	.needs = "sysfs `resource` of accelerators",
	.quick = true,
	.reads = RD_PART_PCI,
	.run = run_size,
};

const struct rd_check rd_check_bar_address = {
	.id = "bar-address",
	.title = "An accelerator's memory lies at an address that some NICs cannot send to",
	.why = "GPUDirect RDMA then fails with completion status 4 (local protection error)",
	.fix = "lower \"MMIO High Base\" in the BIOS, to 32 TiB or less",
	.needs = "sysfs `resource` of accelerators",
	.quick = false,
	.reads = RD_PART_PCI,
	.run = run_address,
};
