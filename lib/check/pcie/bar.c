/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PCI BAR through which other devices reach an accelerator's memory. */
#include "check/shared/pcie.h"
#include "check/shared/rules.h"

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

static void run_size(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t g = 0; g < in->host->n_gpus; g++) {
		const struct rd_pci *pci = &in->host->pcis[in->host->gpus[g].pci];
		const struct rd_bar *bar = largest(pci);

		if (!bar)
			report_no_bar(pci, out);
		else if (bar->size <= BAR_SMALL)
			rd_check_warn(out, pci->addr,
				      rd_text("GPU%zu: largest BAR is %g MiB", g, (double)bar->size / (double)MIB(1)),
				      rd_text("as large as its memory"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no accelerator");
}

static void run_address(const struct rd_check_input *in, struct rd_check_out *out)
{
	for (size_t g = 0; g < in->host->n_gpus; g++) {
		const struct rd_pci *pci = &in->host->pcis[in->host->gpus[g].pci];
		const struct rd_bar *bar = largest(pci);

		/* The kernel hides an address by reporting 0. */
		if (!bar || bar->start == 0)
			report_no_bar(pci, out);
		else if (bar->start >= BAR_HIGH)
			rd_check_warn(out, pci->addr,
				      rd_text("GPU%zu: BAR at %g TiB", g,
					      (double)bar->start / (double)(UINT64_C(1) << 40)),
				      rd_text("below 56 TiB"));
		else
			rd_check_good(out, pci->addr);
	}
	rd_check_skip(out, "no accelerator");
}

const struct rd_check rd_check_bar_size = {
	.id = "bar1-size",
	.title = "BAR1 is small: NICs can reach only part of an accelerator's memory",
	.why = "registering more memory than BAR1 maps fails with EFAULT or EIO",
	.fix = "lspci -vs ADDRESS\n"
	       "# enable Above 4G Decoding and Resizable BAR in the BIOS\n"
	       "# nvidia-smi -q -d MEMORY shows BAR1, too",
	.needs = "sysfs `resource` of accelerators",
	.reads = RD_PART_PCI,
	.run = run_size,
};

const struct rd_check rd_check_bar_address = {
	.id = "bar-address",
	.title = "BAR address of an accelerator is too high for some NICs",
	.why = "GPUDirect RDMA fails with completion status 4 (local protection error)",
	.fix = "# lower \"MMIO High Base\" in the BIOS to 32 TiB or less",
	.needs = "sysfs `resource` of accelerators",
	.thorough = true,
	.reads = RD_PART_PCI,
	.run = run_address,
};
