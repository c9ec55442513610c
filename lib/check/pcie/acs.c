/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bridges that redirect traffic between an accelerator and its NIC to the root complex (ACS). */

#include "base/buf.h"
#include "base/memory.h"
#include "check/shared/pcie.h"
#include "check/shared/rules.h"

/* ACS control register (PCI Express Base Specification, 7.7.8.3). */
enum { ACS_REQUEST = 0x04, ACS_COMPLETION = 0x08, ACS_BOTH = ACS_REQUEST | ACS_COMPLETION };

/* Redirecting bridges of one severity: one finding, with one loop as its fix. */
struct redirects {
	size_t n, gpu, nic; /* the pair of the first bridge */
	int first;
	uint16_t acs; /* bits enabled at any of them */
	struct rd_buf list;
};

struct walk {
	const struct rd_check_input *in;
	struct rd_check_out *out;
	bool *seen; /* bridges already judged */
	struct redirects critical, warning;
};

static bool is_above(const struct rd_host *host, int bridge, int pci)
{
	for (int up = host->pcis[pci].parent; up >= 0; up = host->pcis[up].parent)
		if (up == bridge)
			return true;
	return false;
}

static void add_redirect(struct redirects *redirects, int bridge, const struct rd_pci *pci, size_t gpu, size_t nic)
{
	if (redirects->n++ == 0) {
		redirects->first = bridge;
		redirects->gpu = gpu;
		redirects->nic = nic;
	}
	redirects->acs |= pci->acs_ctl.v;
	rd_buf_printf(&redirects->list, "%s%s", redirects->list.len ? " " : "", pci->addr);
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
	} else if (!(pci->acs_ctl.v & ACS_BOTH)) {
		rd_check_good(walk->out, pci->addr);
	} else {
		add_redirect(one_switch ? &walk->critical : &walk->warning, bridge, pci, gpu, nic);
	}
}

static void report_redirects(struct walk *walk, enum rd_severity severity, struct redirects *redirects)
{
	const struct rd_host *host = walk->in->host;
	const char *list = redirects->list.data, *what;
	_cleanup_free_ char *subject = NULL;

	if (redirects->n == 0)
		return;
	subject = redirects->n == 1 ? rd_dup(list) :
				      rd_text("%s and %zu more bridge%s", host->pcis[redirects->first].addr,
					      redirects->n - 1, redirects->n == 2 ? "" : "s");
	what = (redirects->acs & ACS_BOTH) == ACS_BOTH ? "request and completion" :
	       redirects->acs & ACS_REQUEST	       ? "request" :
							 "completion";
	rd_check_bad(walk->out, severity, subject,
		     redirects->n == 1 ? rd_text("%s redirect enabled, between GPU%zu and %s", what, redirects->gpu,
						 rd_ibdev_label(host, (int)redirects->nic)) :
					 rd_text("%s redirect enabled, the first between GPU%zu and %s: %s", what,
						 redirects->gpu, rd_ibdev_label(host, (int)redirects->nic), list),
		     rd_text("disabled"),
		     redirects->n == 1 ? NULL :
					 rd_text("for b in %s; do setpci -s $b ECAP_ACS+6.w=0000; done\n"
						 "# until the next boot; permanently: disable ACS in the BIOS, or boot "
						 "with pci=config_acs=",
						 list));
	rd_buf_deinit(&redirects->list);
}

/* The bridges above each of the two, up to their common ancestor. */
static void judge_pair(struct walk *walk, size_t gpu, size_t nic)
{
	const struct rd_host *host = walk->in->host;
	int ends[2] = { host->gpus[gpu].pci, host->ibdevs[nic].pci };

	for (int e = 0; e < 2; e++)
		for (int up = host->pcis[ends[e]].parent; up >= 0 && !is_above(host, up, ends[1 - e]);
		     up = host->pcis[up].parent)
			judge(walk, up, gpu, nic);
}

static void run_acs(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	_cleanup_free_ bool *seen = rd_alloc(host->n_pcis + 1, sizeof(*seen));
	struct walk walk = { .in = in, .out = out, .seen = seen };

	if (host->n_gpus == 0)
		rd_check_skip(out, "no accelerator");
	for (size_t g = 0; g < host->n_gpus; g++) {
		enum rd_path best = rd_gpu_best_path(in, g);

		/* ACS isolates an accelerator that is assigned to a virtual machine. */
		if (rd_gpu_is_for_guest(host, g))
			continue;

		for (size_t n = 0; n < host->n_ibdevs && best != RD_PATH_UNKNOWN && best <= RD_PATH_PHB; n++)
			if (host->ibdevs[n].pci >= 0 && rd_nicmap_pair(in->map, g, n)->path == best)
				judge_pair(&walk, g, n);
	}
	report_redirects(&walk, RD_SEV_CRITICAL, &walk.critical);
	report_redirects(&walk, RD_SEV_WARNING, &walk.warning);
}

const struct rd_check rd_check_acs_redirect = {
	.id = "acs-redirect",
	.title = "ACS redirects peer-to-peer traffic between an accelerator and its NIC",
	.why = "GPUDirect RDMA traffic goes through the root complex: it is slow or, with an IOMMU, fails with "
	       "completion status 4 (IBV_WC_LOC_PROT_ERR) or hangs without an error",
	.fix = "setpci -s ADDRESS ECAP_ACS+6.w=0000\n"
	       "# until the next boot; permanently: disable ACS in the BIOS, or boot with pci=config_acs=0000000@ADDRESS",
	.needs = "PCI configuration space of bridges (root), ACS control register",
	.whole = RD_PART_PCI | RD_PART_RDMA,
	.run = run_acs,
};
