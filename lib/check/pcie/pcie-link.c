/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PCIe links below what both ends support, or below those of their twins, up to the root port. */

#include "base/buf.h"
#include "check/shared/rules.h"

#define NVIDIA 0x10de
#define NAMES_MAX 8

/* The devices at and below a function. */
struct load {
	unsigned gpus, nics;
	double gbps; /* of the fastest active port: the least that the link has to carry */
};

/* sysfs reports the signalling rate of InfiniBand: up to QDR, two of ten bits are encoding (8b/10b). */
static double data_gbps(const struct rd_port *port)
{
	if (port->rate_gbps.known != RD_OK || !rd_port_active(port))
		return 0;
	return !rd_port_is_ethernet(port) && port->rate_gbps.v <= 40 ? port->rate_gbps.v * 0.8 : port->rate_gbps.v;
}

/* One per function. Caller frees. */
static struct load *loads_of(const struct rd_host *host)
{
	struct load *loads = rd_alloc(host->n_pcis + 1, sizeof(*loads));

	for (size_t n = 0; n < host->n_ibdevs; n++)
		if (!host->ibdevs[n].parent_netdev)
			for (int at = host->ibdevs[n].pci; at >= 0; at = host->pcis[at].parent)
				loads[at].nics++;
	for (size_t g = 0; g < host->n_gpus; g++)
		for (int at = host->gpus[g].pci; at >= 0; at = host->pcis[at].parent)
			loads[at].gpus++;
	for (size_t p = 0; p < host->n_ports; p++) {
		double gbps = data_gbps(&host->ports[p]);

		for (int at = host->ibdevs[host->ports[p].ibdev].pci; at >= 0; at = host->pcis[at].parent)
			loads[at].gbps = gbps > loads[at].gbps ? gbps : loads[at].gbps;
	}
	return loads;
}

/* Grace and its successors reach their accelerator over NVLink; the PCIe link carries little traffic, and is narrow. */
static bool is_beside_nvlink(const struct rd_host *host, size_t i)
{
	int top = rd_pci_top(host, (int)i);

	return top != (int)i && host->pcis[top].vendor.known == RD_OK && host->pcis[top].vendor.v == NVIDIA;
}

/* Whether to judge the upstream link of a function: of a NIC or accelerator, or of a switch above one. Bridges emulated by a
 * hypervisor have no link. */
static bool is_judged(const struct rd_host *host, const struct load *loads, size_t i)
{
	const struct rd_pci *pci = &host->pcis[i];

	if (loads[i].gpus + loads[i].nics == 0 || pci->pf >= 0 || !rd_pcie_links_up(host, (int)i))
		return false;
	return (loads[i].gpus <= 0 || !is_beside_nvlink(host, i)) &&
	       (!rd_pci_is_bridge(pci) || (!rd_pcie_in_guest(host) && pci->parent >= 0));
}

static void add_name(struct rd_buf *buf, unsigned *n, const char *name)
{
	if (++*n <= NAMES_MAX)
		rd_buf_printf(buf, "%s%s", *n > 1 ? ", " : "", name);
}

/* "mlx5_0", "GPU3", "uplink of the switch of GPU0, GPU1, mlx5_0, mlx5_1". Caller frees. */
static char *name_of(const struct rd_host *host, size_t i)
{
	_cleanup_buf_ struct rd_buf buf = { 0 };
	unsigned n = 0;

	for (size_t g = 0; g < host->n_gpus; g++)
		if (rd_pci_is_below(host, host->gpus[g].pci, (int)i)) {
			char gpu[32];

			snprintf(gpu, sizeof(gpu), "GPU%zu", g);
			add_name(&buf, &n, gpu);
		}
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (!host->ibdevs[d].parent_netdev && rd_pci_is_below(host, host->ibdevs[d].pci, (int)i))
			add_name(&buf, &n, rd_ibdev_label(host, (int)d));
	if (n > NAMES_MAX)
		rd_buf_printf(&buf, " and %u more", n - NAMES_MAX);
	return rd_text("%s%s", rd_pci_is_bridge(&host->pcis[i]) ? "uplink of the switch above " : "", buf.data ?: "-");
}

/* Whether there are other devices of this model, and all have the same link: then it is by design, or set in the BIOS. */
static bool all_alike(const struct rd_host *host, const struct load *loads, size_t i, bool width)
{
	const struct rd_pci *a = &host->pcis[i];
	size_t alike = 0;

	for (size_t j = 0; j < host->n_pcis; j++) {
		const struct rd_pci *b = &host->pcis[j];

		if (j == i || a->vendor.known != RD_OK || b->vendor.known != RD_OK || a->vendor.v != b->vendor.v ||
		    a->device.v != b->device.v || !is_judged(host, loads, j))
			continue;
		if (width ? a->now.width.v != b->now.width.v : a->now.mtps.v != b->now.mtps.v)
			return false;
		alike++;
	}
	return alike > 0;
}

/*
 * Severity of a link that has `have` of `want` Gbit/s. NICs: critical if below the rate of a port, a warning if it only
 * differs from its twins, else RD_SEV_OK. What accelerators need is unknown: half or less is critical, unless all are alike.
 */
static enum rd_severity grade(const struct load *load, double have, double want, bool is_odd, bool alike)
{
	if (load->gpus > 0)
		return have * 2 <= want * 1.05 && !alike ? RD_SEV_CRITICAL : RD_SEV_WARNING;
	return load->gbps > 0 && have < load->gbps * 0.97 ? RD_SEV_CRITICAL : is_odd ? RD_SEV_WARNING : RD_SEV_OK;
}

struct judge {
	const struct rd_check_input *in;
	struct rd_check_out *out;
	struct load *loads;
	bool width; /* lanes, else speed */
};

static unsigned now_of(const struct judge *j, size_t i)
{
	const struct rd_pci *pci = &j->in->host->pcis[i];

	if (j->width)
		return pci->now.width.known == RD_OK ? pci->now.width.v : 0;
	return pci->now.mtps.known == RD_OK ? pci->now.mtps.v : 0;
}

static unsigned can_of(const struct judge *j, size_t i)
{
	return j->width ? rd_pcie_can_width(j->in->host, (int)i) : rd_pcie_can_mtps(j->in->host, (int)i);
}

/* Gbit/s with `value` lanes or MT/s; the other factor is the present one. */
static double gbps_of(const struct judge *j, size_t i, unsigned value)
{
	const struct rd_pci *pci = &j->in->host->pcis[i];
	unsigned mtps = j->loads[i].gpus == 0 && pci->now.mtps.known == RD_OK ? pci->now.mtps.v :
										rd_pcie_can_mtps(j->in->host, (int)i);
	unsigned width = pci->now.width.known == RD_OK ? pci->now.width.v : 1;

	return j->width ? rd_pcie_gbps(mtps, value) : rd_pcie_gbps(value, width);
}

static char *value_text(const struct judge *j, unsigned value)
{
	return j->width ? rd_text("x%u", value) : rd_text("%g GT/s", value / 1000.0);
}

#define LINK "lspci -vvs ADDRESS | grep -e LnkCap: -e LnkSta:\n"
#define SPEED_LIMIT "# check the BIOS for a speed limit on the slot"

static char *fix_of(const struct judge *j, size_t i)
{
	const struct rd_pci *pci = &j->in->host->pcis[i];

	return rd_text(LINK "# %s%s%s, then swap riser or cable%s",
		       rd_pci_is_bridge(pci) ? "power-cycle the host while no job runs, reseat the switch board" :
					       "reseat the card",
		       pci->slot ? " in slot " : "", pci->slot ?: "", j->width ? "" : "\n" SPEED_LIMIT);
}

/* The link runs below what both ends support. */
static void report_low(const struct judge *j, size_t i, unsigned now, unsigned can)
{
	const struct rd_host *host = j->in->host;
	const struct rd_odd *odd = rd_check_odd(j->in, j->width ? RD_TRAIT_WIDTH : RD_TRAIT_SPEED, (int)i, -1, false);
	bool is_odd = odd && odd->less;
	enum rd_severity result = grade(&j->loads[i], gbps_of(j, i, now), gbps_of(j, i, can), is_odd,
					all_alike(host, j->loads, i, j->width));
	_cleanup_free_ char *name = name_of(host, i), *is = value_text(j, now), *should = value_text(j, can),
			    *twins = odd ? rd_text(", as on %u of %u like it", odd->twins, odd->n) : rd_dup("");

	if (result == RD_SEV_OK)
		return rd_check_note(j->out, host->pcis[i].addr, rd_text("%s: %s, enough for its ports", name, is),
				     rd_text("%s, which both ends support", should), fix_of(j, i));
	rd_check_bad(j->out, result, host->pcis[i].addr, rd_text("%s: %s", name, is),
		     rd_text("%s, which both ends support%s", should, twins), fix_of(j, i));
}

/* The link runs at its maximum, but one end supports less than those of its twins: another slot, card or setting. */
static void report_limited(const struct judge *j, size_t i, unsigned can, const struct rd_odd *odd)
{
	const struct rd_host *host = j->in->host;
	const struct rd_pci *pci = &host->pcis[i], *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;
	unsigned own = j->width ? pci->max.width.v : pci->max.mtps.v;
	_cleanup_free_ char *name = name_of(host, i);
	double usual = gbps_of(j, i, j->width ? rd_pcie_can_width(host, odd->like) : rd_pcie_can_mtps(host, odd->like));

	rd_check_bad(j->out, grade(&j->loads[i], gbps_of(j, i, can), usual, true, false), pci->addr,
		     rd_text("%s: %s, the maximum that %s supports", name, odd->is,
			     own > can && up ? up->addr : pci->addr),
		     rd_check_as_twins(odd),
		     rd_text("for i in ADDRESS %s %s; do echo $i; lspci -vvs $i | grep LnkCap:; done\n"
			     "# the last of them is as it should be\n"
			     "# use another slot, or set width and speed of the slot in the BIOS",
			     up ? up->addr : "", host->pcis[odd->like].addr));
}

static void judge_link(const struct judge *j, size_t i)
{
	const struct rd_odd *limited =
		rd_check_odd(j->in, j->width ? RD_TRAIT_MAX_WIDTH : RD_TRAIT_MAX_SPEED, (int)i, -1, true);
	const struct rd_pci *pci = &j->in->host->pcis[i];
	unsigned now = now_of(j, i), can = can_of(j, i);

	if (!now || !can) {
		if (!rd_pci_is_bridge(pci))
			rd_check_unknown(j->out, pci->addr,
					 j->width ? "link width not reported (virtual function or guest)" :
						    "link speed not reported (virtual function or guest)");
	} else if (now < can) {
		report_low(j, i, now, can);
	} else if (limited) {
		report_limited(j, i, can, limited);
	} else {
		rd_check_good(j->out, pci->addr);
	}
}

/* Links of an accelerator: its own, and that of a switch on its board. */
static bool is_gpu_link(const struct rd_host *host, const struct load *loads, size_t i)
{
	int gpu = -1;

	if (!rd_pci_is_bridge(&host->pcis[i]))
		return loads[i].gpus > 0;
	for (size_t g = 0; loads[i].gpus == 1 && g < host->n_gpus; g++)
		if (rd_pci_is_below(host, host->gpus[g].pci, (int)i))
			gpu = host->gpus[g].pci;
	return gpu >= 0 && rd_pcie_is_gpu_part(host, (int)i, gpu);
}

/* The present speed of an accelerator is meaningful only while most of them are not idle. */
static void judge_gpu_speed(const struct judge *j, size_t i)
{
	const struct rd_host *host = j->in->host;
	const struct rd_odd *limited = rd_check_odd(j->in, RD_TRAIT_MAX_SPEED, (int)i, -1, true);
	const char *addr = host->pcis[i].addr;
	unsigned now = now_of(j, i), can = can_of(j, i);
	size_t low = 0;

	for (size_t g = 0; g < host->n_gpus; g++) {
		size_t pci = (size_t)host->gpus[g].pci;

		low += now_of(j, pci) && now_of(j, pci) < can_of(j, pci);
	}
	if (!now || !can)
		rd_check_unknown(j->out, addr, "link speed not reported (virtual function or guest)");
	else if (limited)
		report_limited(j, i, can, limited);
	else if (now < can && host->n_gpus >= 4 && low * 3 < host->n_gpus)
		rd_check_unknown(
			j->out, addr,
			"slower than the other accelerators; some lower the speed when idle: check again under load");
	else
		rd_check_good(j->out, addr);
}

static void run_links(const struct rd_check_input *in, struct rd_check_out *out)
{
	_cleanup_free_ struct load *loads = loads_of(in->host);
	const struct judge j = { .in = in, .out = out, .loads = loads, .width = rd_check_of(out)->with != NULL };

	for (size_t i = 0; i < in->host->n_pcis; i++)
		if (is_judged(in->host, loads, i)) {
			if (!j.width && is_gpu_link(in->host, loads, i))
				judge_gpu_speed(&j, i);
			else
				judge_link(&j, i);
		}
}

/* Gbit/s of functions at other places that reach the same port of the same card (Socket Direct, GB10). */
static double gbps_beside(const struct rd_host *host, size_t pci)
{
	const struct rd_pci *own = &host->pcis[pci];
	int ibdev = rd_host_ibdev_at(host, (int)pci);
	const char *guid = ibdev < 0 ? NULL : host->ibdevs[ibdev].sys_image_guid;
	double gbps = 0;

	for (size_t d = 0; guid && d < host->n_ibdevs; d++) {
		const struct rd_ibdev *dev = &host->ibdevs[d];
		const struct rd_pci *other = dev->pci < 0 ? own : &host->pcis[dev->pci];

		if (other->pf < 0 && (other->domain != own->domain || other->bus != own->bus) && other->fn == own->fn &&
		    other->vendor.v == own->vendor.v && other->device.v == own->device.v && dev->sys_image_guid &&
		    strcmp(dev->sys_image_guid, guid) == 0 && strspn(guid, "0:") < strlen(guid))
			gbps += rd_pcie_gbps(other->now.mtps.v, other->now.width.v);
	}
	return gbps;
}

static void run_bandwidth(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	_cleanup_free_ struct load *loads = loads_of(host);

	for (size_t i = 0; i < host->n_pcis; i++) {
		const struct rd_pci *pci = &host->pcis[i];
		double gbps, beside;
		bool slow;

		if (loads[i].nics == 0 || rd_pci_is_bridge(pci) || pci->pf >= 0 || loads[i].gbps <= 0)
			continue;
		if (pci->now.mtps.known != RD_OK || pci->now.width.known != RD_OK) {
			rd_check_unknown(out, pci->addr,
					 "link speed and width not reported (virtual function or guest)");
			continue;
		}
		/* pcie-link-width and pcie-link-speed report a link below what both ends support. */
		gbps = rd_pcie_gbps(pci->now.mtps.v, pci->now.width.v);
		slow = gbps < loads[i].gbps * 0.97 && pci->now.mtps.v >= rd_pcie_can_mtps(host, (int)i) &&
		       pci->now.width.v >= rd_pcie_can_width(host, (int)i);
		beside = slow ? gbps_beside(host, i) : 0;
		/* Not enough together: the narrower one is to blame. */
		if (beside > 0 && (gbps > beside || gbps + beside >= loads[i].gbps * 0.97))
			rd_check_note(out, pci->addr,
				      rd_text("%s: PCIe link of %.0f Gbit/s, port of %g Gbit/s, which other functions "
					      "reach as well",
					      rd_pci_what(host, i), gbps, loads[i].gbps),
				      NULL, rd_text("# use all RDMA devices of the card for its full rate"));
		else if (slow)
			rd_check_warn(out, pci->addr,
				      rd_text("%s: PCIe link of %.0f Gbit/s, port of %g Gbit/s", rd_pci_what(host, i),
					      gbps, loads[i].gbps),
				      rd_text("a PCIe link faster than the port"));
		else
			rd_check_good(out, pci->addr);
	}
}

const struct rd_check rd_check_pcie_bandwidth = {
	.id = "pcie-bandwidth",
	.title = "PCIe link of a NIC has less bandwidth than its port",
	.why = "the port never reaches its rate, and congests the network when others send to it",
	.fix = "# use a slot with more lanes or a newer PCIe generation; on the board (GB10): update its firmware (fwupdmgr)",
	.needs = "sysfs current_link_speed and current_link_width of NICs, port rate",
	.parts = { RD_PART_PCI | RD_PART_RDMA, 0 },
	.run = run_bandwidth,
};

const struct rd_check rd_check_pcie_link_width = {
	.id = "pcie-link-width",
	.title = "PCIe link is narrower than it should be",
	.why = "half the lanes give half the bandwidth; caused by a bad riser, a bent pin, or a card not fully "
	       "seated",
	.fix = LINK "# reseat the card, then swap riser or cable",
	.needs = "sysfs current_link_width and max_link_width of NICs, accelerators and all bridges above them",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.run = run_links,
	.with = &(const bool){ true }, /* width */
};

const struct rd_check rd_check_pcie_link_speed = {
	.id = "pcie-link-speed",
	.title = "PCIe link is slower than it should be",
	.why = "a link that trained one generation lower has half the bandwidth; NICs and switches do not lower the "
	       "speed to save power",
	.fix = LINK "# reseat the card, then swap riser or cable\n" SPEED_LIMIT,
	.needs = "sysfs current_link_speed and max_link_speed of NICs, accelerators and all bridges above them",
	.parts = { RD_PART_PCI, RD_PART_RDMA },
	.run = run_links,
};
