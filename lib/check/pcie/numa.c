/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Placement of NICs and accelerators on NUMA nodes, sockets and switches. */

#include "check/shared/rules.h"

static void judge_missing(const struct rd_check_input *in, size_t i, const char *addr, struct rd_check_out *out)
{
	const struct rd_pci *pci = &in->host->pcis[i];

	if (pci->numa.known != RD_OK)
		rd_check_unknown(out, addr, "no numa_node in sysfs");
	else if (pci->numa.v < 0 && in->host->n_gpus == 0 && rd_pcie_in_guest(in->host))
		rd_check_note(out, addr,
			      rd_text("%s: NUMA node -1 (none), as hypervisors often show it", rd_pci_what(in->host, i)),
			      NULL, NULL);
	else if (pci->numa.v < 0)
		rd_check_warn(out, addr, rd_text("%s: NUMA node -1 (none)", rd_pci_what(in->host, i)),
			      rd_text("one of %zu nodes", in->host->n_numas));
	else
		rd_check_good(out, addr);
}

static void run_missing(const struct rd_check_input *in, struct rd_check_out *out)
{
	if (in->host->n_numas < 2)
		rd_check_skip(out, "host has one NUMA node");
	else
		rd_check_each(in, out);
}

/* An active port of the NIC is for computing, or its role is unknown. */
static bool is_usable(const struct rd_port_views *views, size_t ibdev)
{
	const struct rd_ibdev *dev = &views->host->ibdevs[ibdev];

	for (unsigned p = 0; p < dev->n_ports; p++) {
		size_t at = (size_t)dev->first_port + p;
		enum rd_role role = views->v[at].role;

		if (rd_port_active(&views->host->ports[at]) && (role == RD_ROLE_COMPUTE || role == RD_ROLE_UNKNOWN))
			return true;
	}
	return false;
}

/* Distance of an accelerator to one NIC in terms of sockets. */
enum reach { REACH_NONE = 0, REACH_NEAR, REACH_UNKNOWN, REACH_OTHER_NODE, REACH_OTHER_SOCKET };

static enum reach reach_of(const struct rd_check_input *in, size_t gpu, size_t ibdev)
{
	const struct rd_host *host = in->host;
	enum rd_path path = rd_nicmap_pair(in->map, gpu, ibdev)->path;
	int a = rd_pci_numa(host, host->gpus[gpu].pci), b = rd_ibdev_numa(host, (int)ibdev), socket;

	if (path != RD_PATH_UNKNOWN && path != RD_PATH_SYS)
		return REACH_NEAR;
	/* With one node everything is on it, whatever node the devices report. */
	if (path == RD_PATH_SYS && host->n_numas == 1)
		return REACH_NEAR;
	if (a < 0 || b < 0 || (path == RD_PATH_UNKNOWN && a == b))
		return REACH_UNKNOWN;
	socket = rd_host_same_socket(host, a, b);
	return socket == 1 ? REACH_NEAR : socket == 0 ? REACH_OTHER_SOCKET : REACH_OTHER_NODE;
}

/* The host has one NIC: whatever socket it is on, the accelerators of the other are far from it. Soft devices are none. */
static bool has_one_card(const struct rd_host *host)
{
	const struct rd_pci *card = NULL;

	for (size_t d = 0; d < host->n_ibdevs; d++) {
		const struct rd_pci *pci = host->ibdevs[d].pci < 0 ? NULL : &host->pcis[host->ibdevs[d].pci];

		if (!pci)
			continue;
		if (card && !rd_pci_one_card(card, pci))
			return false;
		card = pci;
	}
	return card != NULL;
}

/* In a guest without visible switches, the nearest NIC on the accelerator's own node is unknown. */
static void run_socket(const struct rd_check_input *in, struct rd_check_out *out)
{
	bool told = false;

	for (size_t g = 0; g < in->host->n_gpus; g++) {
		enum reach best = REACH_NONE;
		char name[32];

		snprintf(name, sizeof(name), "GPU%zu", g);
		for (size_t n = 0; n < in->host->n_ibdevs; n++) {
			enum reach reach = is_usable(in->ports, n) ? reach_of(in, g, n) : REACH_NONE;

			if (reach != REACH_NONE && (best == REACH_NONE || reach < best))
				best = reach;
		}
		if (best == REACH_NONE)
			rd_check_unknown(out, name, "no active compute NIC");
		else if (best == REACH_UNKNOWN)
			rd_check_unknown(out, name, "distance to its NICs is unknown (see rdmadiag nic-map --matrix)");
		else if (best >= REACH_OTHER_NODE && has_one_card(in->host)) {
			if (!told)
				rd_check_note(out, name,
					      rd_text("the only NIC of this host is on another socket or NUMA node"),
					      NULL, rd_text("# a second NIC would help"));
			told = true;
		} else if (best == REACH_OTHER_NODE)
			rd_check_warn(out, name, rd_text("nearest active compute NIC is on another NUMA node"),
				      rd_text("one on the accelerator's NUMA node"));
		else if (best == REACH_OTHER_SOCKET)
			rd_check_warn(out, name, rd_text("nearest active compute NIC is on another socket"),
				      rd_text("one on the accelerator's socket"));
		else
			rd_check_good(out, name);
	}
	rd_check_skip(out, "no accelerator");
}

struct below {
	unsigned gpus, nics;
};

/* The topmost switch port above a function; -1: it is directly below a root port. */
static int switch_of(const struct rd_host *host, int pci)
{
	int found = -1;

	for (int up = host->pcis[pci].parent; up >= 0 && host->pcis[up].parent >= 0; up = host->pcis[up].parent)
		found = up;
	return found;
}

static int compare_ratios(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return RD_CMP(*x, *y);
}

/* The most frequent ratio, the higher one of equals. 0 unless more than two thirds of at least four switches have it, and it
 * is a whole number of NICs per accelerator or of accelerators per NIC: NICs for storage result in other ratios. */
static unsigned clear_majority(unsigned *v, size_t n)
{
	unsigned best = 0;
	size_t most = 0, run = 0;

	if (n < 4)
		return 0;
	qsort(v, n, sizeof(*v), compare_ratios);
	for (size_t i = 0; i < n; i++) {
		run = i > 0 && v[i] == v[i - 1] ? run + 1 : 1;
		if (run >= most) {
			most = run;
			best = v[i];
		}
	}
	return most * 3 > n * 2 && best > 0 && (best % 16 == 0 || 16 % best == 0) ? best : 0;
}

static unsigned ratio(const struct below *below)
{
	return below->nics * 16 / below->gpus;
}

/* A NIC with a different link layer or rate than its twins counts, whatever its role: it has its own finding. */
static bool is_odd(const struct rd_check_input *in, size_t ibdev)
{
	const struct rd_ibdev *dev = &in->host->ibdevs[ibdev];

	for (unsigned p = 0; p < dev->n_ports; p++)
		if (rd_symmetry_odd(in->symmetry, RD_TRAIT_LAYER, -1, dev->first_port + (int)p) ||
		    rd_symmetry_odd(in->symmetry, RD_TRAIT_RATE, -1, dev->first_port + (int)p))
			return true;
	return false;
}

/* Rule nic-missing reports a NIC that is missing below this switch, and nic-driver one whose RDMA device is not here: it may be
 * in a container's network namespace. */
static bool has_missing_nic(const struct rd_check_input *in, size_t bridge)
{
	for (size_t i = 0; i < in->host->n_pcis; i++)
		if (in->host->pcis[i].class.v >> 16 == RD_PCI_NETWORK && in->host->pcis[i].pf < 0 &&
		    rd_pci_is_below(in->host, (int)i, (int)bridge) && rd_host_ibdev_at(in->host, (int)i) < 0)
			return true;
	for (size_t i = 0; in->symmetry && i < in->symmetry->n_missing; i++)
		if (rd_pci_is_below(in->host, in->symmetry->missing[i].bridge, (int)bridge) &&
		    !in->symmetry->missing[i].gpu)
			return true;
	return false;
}

/* Switches should have the same number of NICs per accelerator: the number that most of them have. */
static void run_uneven(const struct rd_check_input *in, struct rd_check_out *out)
{
	const struct rd_host *host = in->host;
	_cleanup_free_ struct below *below = rd_alloc(host->n_pcis + 1, sizeof(*below));
	_cleanup_free_ unsigned *ratios = rd_alloc(host->n_pcis + 1, sizeof(*ratios));
	unsigned usual;
	size_t n = 0;

	for (size_t g = 0; g < host->n_gpus; g++)
		if (switch_of(host, host->gpus[g].pci) >= 0)
			below[switch_of(host, host->gpus[g].pci)].gpus++;
	for (size_t d = 0; d < host->n_ibdevs; d++)
		if (host->ibdevs[d].pci >= 0 && (is_usable(in->ports, d) || is_odd(in, d)) &&
		    switch_of(host, host->ibdevs[d].pci) >= 0)
			below[switch_of(host, host->ibdevs[d].pci)].nics++;
	for (size_t i = 0; i < host->n_pcis; i++)
		if (below[i].gpus)
			ratios[n++] = ratio(&below[i]);
	usual = clear_majority(ratios, n);
	for (size_t i = 0; i < host->n_pcis; i++) {
		if (!below[i].gpus)
			continue;
		if (ratio(&below[i]) < usual && !has_missing_nic(in, i))
			rd_check_warn(out, host->pcis[i].addr,
				      rd_text("%u accelerator%s share%s %u active compute NIC%s", below[i].gpus,
					      below[i].gpus == 1 ? "" : "s", below[i].gpus == 1 ? "s" : "",
					      below[i].nics, below[i].nics == 1 ? "" : "s"),
				      rd_text("as many NICs per accelerator as below most of %zu switches", n));
		else
			rd_check_good(out, host->pcis[i].addr);
	}
	rd_check_skip(out, "no accelerator below a PCIe switch");
}

const struct rd_check rd_check_numa_node = {
	.id = "numa-node",
	.title = "Device has no NUMA node",
	.why = "memory and threads may be placed on the wrong socket, and distances are computed wrongly",
	.fix = "# update the BIOS: ACPI _PXM is missing for the slot\n"
	       "# until then, after each boot: write the node to numa_node of the device in /sys/bus/pci/devices",
	.needs = "sysfs numa_node",
	.parts = { 0, RD_PART_PCI | RD_PART_NUMA },
	.run = run_missing,
	.each = { RD_EACH_PCI, rd_pci_matters, judge_missing, NULL },
};

const struct rd_check rd_check_gpu_nic_socket = {
	.id = "gpu-nic-socket",
	.title = "Accelerator has no active compute NIC on its own NUMA node",
	.why = "the link between sockets has less bandwidth than the NIC, and all devices share it",
	.fix = "rdmadiag nic-map --matrix\n"
	       "# bring up the NIC on that socket, or move one to it",
	.needs = "PCI tree, NUMA nodes and sockets of processors, port state",
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NUMA, 0 },
	.run = run_socket,
};

const struct rd_check rd_check_switch_uneven = {
	.id = "switch-uneven",
	.title = "PCIe switch has fewer NICs per accelerator than other switches",
	.why = "those accelerators share bandwidth, and a collective is as fast as its slowest member",
	.fix = "rdmadiag nic-map --matrix\n"
	       "# bring up or move NICs until all switches have the same number",
	.needs = "PCI tree, port state",
	.thorough = true,
	.parts = { RD_PART_PCI | RD_PART_RDMA | RD_PART_NUMA, 0 },
	.run = run_uneven,
};
