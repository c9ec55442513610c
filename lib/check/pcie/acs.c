/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules about what redirects peer-to-peer traffic: ACS and the IOMMU. */
#include "check/shared/rules.h"

#include "base/buf.h"

/* Bridges that redirect traffic between an accelerator and its NIC to the root complex (ACS). */

/* ACS control register (PCI Express Base Specification, 7.7.8.3). */
enum { ACS_REQUEST = 0x04, ACS_COMPLETION = 0x08, ACS_BOTH = ACS_REQUEST | ACS_COMPLETION };

/* Redirecting bridges of one severity and one right setting: one finding, with one loop as its fix. */
struct redirects {
	size_t n, gpu; /* the accelerator of the first bridge */
	const char *nic;
	int first;
	uint16_t acs; /* bits enabled at any of them */
	struct rd_buf list;
};

/*
 * The port of a switch towards a NIC's data direct function redirects completions, and the port towards the accelerator requests,
 * so that only traffic between the two turns at the switch (rdma_topo of rdma-core). `set` is written, `flags` is for
 * pci=config_acs=.
 */
static const struct right {
	uint16_t redirect; /* bits that are wrong */
	const char *set, *flags, *expected;
} rights[] = {
	{ ACS_BOTH, "0000", "0000000", "disabled" },
	{ ACS_REQUEST, "0019", "xx110x1", "disabled for requests, towards a data direct function" },
	{ ACS_COMPLETION, "0015", "xx101x1",
	  "disabled for completions, towards the accelerator of a data direct function" },
};
enum { CRITICAL, TO_DIRECT, TO_GPU, WARNING, KINDS };

struct walk {
	const struct rd_check_input *in;
	struct rd_check_out *out;
	bool *seen; /* bridges already judged */
	struct redirects kinds[KINDS];
};

static const struct right *right_of(int kind)
{
	return &rights[kind == WARNING ? 0 : kind];
}

static void judge(struct walk *walk, int kind, int bridge, size_t gpu, const char *nic)
{
	const struct rd_pci *pci = &walk->in->host->pcis[bridge];

	if (walk->seen[bridge])
		return;
	walk->seen[bridge] = true;
	if (pci->acs_missing)
		rd_check_good(walk->out, pci->addr);
	else if (pci->acs_ctl.known != RD_OK)
		rd_check_unknown(walk->out, pci->addr, rd_pci_unread(pci));
	else if (!(pci->acs_ctl.v & right_of(kind)->redirect))
		rd_check_good(walk->out, pci->addr);
	else {
		if (walk->kinds[kind].n++ == 0) {
			walk->kinds[kind].first = bridge;
			walk->kinds[kind].gpu = gpu;
			walk->kinds[kind].nic = nic;
		}
		walk->kinds[kind].acs |= pci->acs_ctl.v;
		rd_buf_printf(&walk->kinds[kind].list, "%s%s", walk->kinds[kind].list.len ? " " : "", pci->addr);
	}
}

static char *fix_of(const struct redirects *redirects, int kind)
{
	const struct right *right = right_of(kind);
	const char *list = redirects->list.data;
	_cleanup_free_ char *now =
		redirects->n == 1 ? rd_text("setpci -s %s ECAP_ACS+6.w=%s", list, right->set) :
				    rd_text("for b in %s; do setpci -s $b ECAP_ACS+6.w=%s; done", list, right->set);
	_cleanup_free_ char *ports = rd_dup(list);

	for (char *at = ports; (at = strchr(at, ' '));)
		*at = ';';
	if (kind == TO_DIRECT || kind == TO_GPU)
		return rd_text(
			"%s\n# until the next boot; permanently: boot with pci=config_acs=%s@%s%s, which rdma_topo "
			"write-grub-acs (rdma-core) writes",
			now, right->flags, ports, redirects->n > 1 ? " (for each)" : "");
	return rd_text("%s\n# until the next boot; permanently: disable ACS in the BIOS, or boot with "
		       "\"pci=disable_acs_redir=%s\"",
		       now, ports);
}

static void report_redirects(struct walk *walk, int kind)
{
	struct redirects *redirects = &walk->kinds[kind];
	const struct right *right = right_of(kind);
	uint16_t acs = redirects->acs & right->redirect;
	const char *list = redirects->list.data, *what;
	_cleanup_free_ char *subject = NULL;

	if (redirects->n == 0)
		return;
	subject = redirects->n == 1 ? rd_dup(list) :
				      rd_text("%s and %zu more bridge%s", walk->in->host->pcis[redirects->first].addr,
					      redirects->n - 1, redirects->n == 2 ? "" : "s");
	what = acs == ACS_BOTH ? "request and completion" : acs == ACS_REQUEST ? "request" : "completion";
	rd_check_bad(walk->out, kind == WARNING ? RD_SEV_WARNING : RD_SEV_CRITICAL, subject,
		     redirects->n == 1 ? rd_text("%s redirect enabled, between GPU%zu and %s", what, redirects->gpu,
						 redirects->nic) :
					 rd_text("%s redirect enabled, the first between GPU%zu and %s: %s", what,
						 redirects->gpu, redirects->nic, list),
		     rd_text("%s", right->expected), fix_of(redirects, kind));
	rd_buf_deinit(&redirects->list);
}

/* The bridges above each of the two, up to their common ancestor. */
static void judge_pair(struct walk *walk, size_t gpu, size_t nic)
{
	const struct rd_host *host = walk->in->host;
	int ends[2] = { host->gpus[gpu].pci, host->ibdevs[nic].pci };
	int kind = rd_nicmap_pair(walk->in->map, gpu, nic)->path <= RD_PATH_PXB ? CRITICAL : WARNING;

	for (int e = 0; e < 2; e++)
		for (int up = host->pcis[ends[e]].parent;
		     up >= 0 && !rd_pci_is_below(host, host->pcis[ends[1 - e]].parent, up); up = host->pcis[up].parent)
			judge(walk, kind, up, gpu, rd_ibdev_label(host, (int)nic));
}

/* The bridge below `top` on the way to a function; -1: none. */
static int below(const struct rd_host *host, int top, int pci)
{
	int at = host->pcis[pci].parent, last = -1;

	for (; at >= 0 && at != top; at = host->pcis[at].parent)
		last = at;
	return at == top ? last : -1;
}

/* A data direct function and an accelerator below one switch. */
static void judge_direct(struct walk *walk, int direct, size_t gpu)
{
	const struct rd_host *host = walk->in->host;
	int top = host->pcis[direct].parent, to_direct, to_gpu;

	while (top >= 0 && !rd_pci_is_below(host, host->pcis[host->gpus[gpu].pci].parent, top))
		top = host->pcis[top].parent;
	to_direct = top < 0 ? -1 : below(host, top, direct);
	to_gpu = top < 0 ? -1 : below(host, top, host->gpus[gpu].pci);
	if (to_direct < 0 || to_gpu < 0)
		return;
	judge(walk, TO_DIRECT, to_direct, gpu, host->pcis[direct].addr);
	judge(walk, TO_GPU, to_gpu, gpu, host->pcis[direct].addr);
}

static void judge_directs(struct walk *walk)
{
	const struct rd_host *host = walk->in->host;

	for (size_t i = 0; host->has_data_direct && i < host->n_pcis; i++)
		if (host->pcis[i].class.known == RD_OK && host->pcis[i].class.v >> 8 == RD_PCI_CLASS_DATA_DIRECT &&
		    host->pcis[i].vendor.v == 0x15b3)
			for (size_t g = 0; g < host->n_gpus; g++)
				if (rd_gpu_is_peer(host, g))
					judge_direct(walk, (int)i, g);
}

static void run_acs(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	_cleanup_free_ bool *seen = rd_alloc(host->n_pcis + 1, sizeof(*seen));
	struct walk walk = { .in = in, .out = out, .seen = seen };

	if (host->n_gpus == 0)
		rd_check_skip(out, "no accelerator");
	judge_directs(&walk);
	for (size_t g = 0; g < host->n_gpus; g++) {
		enum rd_path best = rd_gpu_best_path(in, g);

		/* ACS isolates an accelerator that is assigned to a virtual machine. */
		if (!rd_gpu_is_peer(host, g))
			continue;

		for (size_t n = 0; n < host->n_ibdevs && best != RD_PATH_UNKNOWN && best <= RD_PATH_PHB; n++)
			if (host->ibdevs[n].pci >= 0 && rd_nicmap_pair(in->map, g, n)->path == best)
				judge_pair(&walk, g, n);
	}
	for (int kind = 0; kind < KINDS; kind++)
		report_redirects(&walk, kind);
}

const struct rd_check rd_check_acs_redirect = {
	.id = "acs-redirect",
	.title = "ACS redirects peer-to-peer traffic between an accelerator and its NIC",
	.why = "GPUDirect RDMA traffic goes through the root complex: it is slow or, with an IOMMU, fails with "
	       "completion status 4 (IBV_WC_LOC_PROT_ERR) or hangs without an error",
	.fix = "setpci -s ADDRESS ECAP_ACS+6.w=0000\n"
	       "# until the next boot; permanently: disable ACS in the BIOS, or boot with pci=disable_acs_redir=ADDRESS",
	.needs = "PCI configuration space of bridges (root), ACS control register",
	.parts = { RD_PART_PCI | RD_PART_RDMA, 0 },
	.run = run_acs,
};

/* IOMMU and ATS: address translation between devices and memory, and between devices. */

#define ATS_ENABLE 0x8000 /* ATS control register, bit 15 */

static void judge_mode(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const char *iommu = rd_host_iommu(in->host);
	const struct rd_pci *pci = &in->host->pcis[i];

	/* A guest reaches its devices by translation alone. */
	if (!rd_host_has_peer(in->host) || rd_driver_is_for_guests(pci->driver))
		return;
	if (!pci->extras_read)
		rd_check_unknown(out, addr, "IOMMU group was not read");
	else if (pci->iommu_group.known != RD_OK || (pci->iommu_type && strcmp(pci->iommu_type, "identity") == 0))
		rd_check_good(out, addr);
	else if (!pci->iommu_type)
		rd_check_unknown(out, addr, "the kernel does not report the type of the IOMMU group");
	else
		rd_check_bad(out, RD_SEV_WARNING, addr,
			     rd_text("%s: %s group %d has type %s", rd_pci_what(in->host, i), iommu, pci->iommu_group.v,
				     pci->iommu_type),
			     rd_text("identity, or no %s", iommu),
			     rd_text("# boot with %s, or disable the %s in the BIOS\n"
				     "# reboot while no job runs",
				     rd_host_passthrough(in->host), iommu));
}

static void judge_group(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	/* Sharing matters only where the group is assigned to a guest. */
	if (!pci->driver || strcmp(pci->driver, "vfio-pci") != 0)
		return;
	if (!pci->extras_read)
		rd_check_unknown(out, addr, "IOMMU group was not read");
	else if (pci->iommu_shared)
		rd_check_warn(out, addr,
			      rd_text("IOMMU group %d also contains functions of other cards", pci->iommu_group.v),
			      rd_text("an IOMMU group of its own"));
	else
		rd_check_good(out, addr);
}

static void judge_ats(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	if (pci->config.ats_ctl.known == RD_DENIED || !pci->config_read)
		rd_check_unknown(out, addr, rd_pci_unread(pci));
	else if (pci->config.ats_ctl.known == RD_OK && pci->config.ats_ctl.v & ATS_ENABLE)
		rd_check_warn(out, addr, rd_text("%s: ATS enabled in a virtual machine", rd_pci_what(in->host, i)),
			      rd_text("disabled, unless the hypervisor passes ATS requests through"));
	else
		rd_check_good(out, addr);
}

static void run_ats(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (in->host->guest.known == RD_OK && in->host->guest.v && in->host->n_gpus > 0)
		rd_check_each(in, out);
	else
		rd_check_skip(out, "not a virtual machine with an accelerator");
}

const struct rd_check rd_check_iommu_mode = {
	.id = "iommu-mode",
	.title = "IOMMU translates DMA",
	.why = "peer-to-peer traffic is translated at the root complex: it is slow, or blocked",
	.fix = "# boot with iommu=pt (an SMMU: iommu.passthrough=1), or disable the IOMMU in the BIOS\n"
	       "# reboot while no job runs",
	.needs = "/sys/kernel/iommu_groups/N/type",
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA },
	.each = { RD_EACH_PCI, rd_pci_matters, judge_mode, "no accelerator, so no peer-to-peer traffic" },
};

const struct rd_check rd_check_iommu_group = {
	.id = "iommu-group",
	.title = "Device assigned to a virtual machine shares its IOMMU group",
	.why = "the whole group must be assigned: the host loses the other devices in it, or the guest does not "
	       "start",
	.fix = "# use another slot, or enable ACS on the bridge above it (not on a bridge between an accelerator and "
	       "its NIC)",
	.needs = "/sys/kernel/iommu_groups/N/devices",
	.thorough = true,
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA },
	.each = { RD_EACH_PCI, NULL, judge_group, "no NIC or accelerator is assigned to a virtual machine (vfio-pci)" },
};

const struct rd_check rd_check_ats = {
	.id = "ats-guest",
	.title = "ATS is enabled on a NIC in a virtual machine",
	.why = "where the hypervisor does not expose both ACS and ATS, registering accelerator memory fails with "
	       "EFAULT",
	.fix = "# disable ATS in the NIC's firmware (mlxconfig: ATS_ENABLED=0), or let the hypervisor expose ACS",
	.needs = "PCI configuration space of NICs (root), ATS control register; presence of a hypervisor",
	.thorough = true,
	.parts = { 0, RD_PART_PCI | RD_PART_RDMA },
	.run = run_ats,
	.each = { RD_EACH_PCI, rd_pci_is_nic, judge_ats, NULL },
};
