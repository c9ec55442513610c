/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bridges that send traffic between an accelerator and its NIC up to the root complex. */
#include "check/pcie.h"
#include "check/rules.h"

/* ACS control register (PCI Express Base Specification, 7.7.8.3). */
enum { ACS_REQUEST = 0x04, ACS_COMPLETION = 0x08 };

struct walk {
	const struct rd_check_input *in;
	struct rd_check_out *out;
	bool *seen; /* bridges that have been judged */
};

static bool is_above(const struct rd_host *host, int bridge, int pci)
{
	for (int up = host->pcis[pci].parent; up >= 0; up = host->pcis[up].parent)
		if (up == bridge)
			return true;
	return false;
}

static void judge(struct walk *walk, int bridge, size_t gpu, size_t nic)
{
	const struct rd_host *host = walk->in->host;
	const struct rd_pci *pci = &host->pcis[bridge];
	bool one_switch = rd_nicmap_pair(walk->in->map, gpu, nic)->path <= RD_PATH_PXB;

	if (walk->seen[bridge])
		return;
	walk->seen[bridge] = true;
	if (pci->acs_missing) {
		rd_check_good(walk->out, pci->addr);
	} else if (pci->acs_ctl.known != RD_OK) {
		rd_check_unknown(walk->out, pci->addr, rd_pci_unread(pci));
	} else if (!(pci->acs_ctl.v & (ACS_REQUEST | ACS_COMPLETION))) {
		rd_check_good(walk->out, pci->addr);
	} else {
		rd_check_bad(
			walk->out, one_switch ? RD_FAIL : RD_WARN, pci->addr,
			rd_text("%s%s%s redirect on, between GPU%zu and %s",
				pci->acs_ctl.v & ACS_REQUEST ? "request" : "",
				(pci->acs_ctl.v & 0xc) == 0xc ? " and " : "",
				pci->acs_ctl.v & ACS_COMPLETION ? "completion" : "", gpu,
				rd_ibdev_label(host, (int)nic)),
			rd_text("off"),
			rd_text("setpci -s %s ECAP_ACS+6.w=0000 until the next boot; for good: ACS off in the BIOS, "
				"or pci=config_acs=0000000@%s on the kernel command line",
				pci->addr, pci->addr));
	}
}

/* The bridges on both ways up to the one that both have above them. */
static void judge_pair(struct walk *walk, size_t gpu, size_t nic)
{
	const struct rd_host *host = walk->in->host;
	int ends[2] = { host->gpus[gpu].pci, host->ibdevs[nic].pci };

	for (int e = 0; e < 2; e++)
		for (int up = host->pcis[ends[e]].parent; up >= 0 && !is_above(host, up, ends[1 - e]);
		     up = host->pcis[up].parent)
			judge(walk, up, gpu, nic);
}

static void run(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	_cleanup_free_ bool *seen = calloc(host->n_pcis + 1, sizeof(*seen));
	struct walk walk = { in, out, seen };

	if (host->n_gpus == 0)
		rd_check_skip(out, "there is no accelerator");
	for (size_t g = 0; seen && g < host->n_gpus; g++) {
		enum rd_path best = rd_gpu_best_path(in, g);

		for (size_t n = 0; n < host->n_ibdevs && best != RD_PATH_UNKNOWN && best <= RD_PATH_PHB; n++)
			if (host->ibdevs[n].pci >= 0 && rd_nicmap_pair(in->map, g, n)->path == best)
				judge_pair(&walk, g, n);
	}
}

const struct rd_check rd_check_acs_redirect = {
	.id = "acs-redirect",
	.title = "A bridge between an accelerator and its NIC redirects peer-to-peer traffic (ACS)",
	.why = "GPUDirect RDMA then goes by way of the root complex: slow, or with an IOMMU it fails with completion "
	       "status 4, or hangs without a word",
	.fix = "setpci -s BRIDGE ECAP_ACS+6.w=0000, or ACS off in the BIOS",
	.needs = "PCI configuration space of bridges (root), ACS control register",
	.quick = true,
	.run = run,
};
