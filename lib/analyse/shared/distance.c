/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/shared/distance.h"

#define DEPTH_MAX 64

/* The functions from `pci` up to the root, `pci` first. Returns how many. */
static size_t chain_of(const struct rd_host *host, int pci, int *chain)
{
	size_t n = 0;

	for (; pci >= 0 && n < DEPTH_MAX; pci = host->pcis[pci].parent)
		chain[n++] = pci;
	return n;
}

/* Number of functions, counted from the root, that both chains have in common. */
static size_t common_of(const int *a, size_t na, const int *b, size_t nb)
{
	size_t common = 0;

	while (common < na && common < nb && a[na - 1 - common] == b[nb - 1 - common])
		common++;
	return common;
}

size_t rd_distance_common(const struct rd_host *host, int a, int b, size_t *na, size_t *nb)
{
	int ca[DEPTH_MAX], cb[DEPTH_MAX];

	*na = chain_of(host, a, ca);
	*nb = chain_of(host, b, cb);
	return common_of(ca, *na, cb, *nb);
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* A switch uses one bus number internally and one per port. If a file contains devices with higher ones, it omits devices
 * below the switch: disks, or bridges that were removed so that NCCL sees one switch. Made-up switches in a file do not
 * follow this order: they are in another domain. */
static bool omits_buses(const struct rd_host *host, int top, int a, int b)
{
	const struct rd_pci *sw = &host->pcis[top];
	size_t children = 0;
	unsigned last = 0;

	if (sw->domain != host->pcis[a].domain || sw->domain != host->pcis[b].domain)
		return false;
	for (size_t i = 0; i < host->n_pcis; i++)
		if (host->pcis[i].parent == top && host->pcis[i].fn == 0) {
			children++;
			if (host->pcis[i].bus > last)
				last = host->pcis[i].bus;
		}
	return last > sw->bus + 1u + children;
}

static enum rd_path over_host_bridge(const struct rd_host *host, int a, int b, const char **why)
{
	const struct rd_pci *pa = &host->pcis[a], *pb = &host->pcis[b];
	int na = rd_pci_numa(host, a), nb = rd_pci_numa(host, b);

	if (host->from_topology_file && !host->file_whole) {
		*why = na == nb ? "or NODE: the topology file does not contain host bridges" : *why;
		return na == nb ? RD_PATH_PHB : RD_PATH_SYS;
	}
	if (!pa->root || !pb->root) {
		*why = "could not read the bridges above the function";
		return RD_PATH_UNKNOWN;
	}
	if (same_text(pa->root, pb->root))
		return RD_PATH_PHB;
	return na == nb && na >= 0 ? RD_PATH_NODE : RD_PATH_SYS;
}

/* Addresses of the functions from `pci` up to the root, `pci` first, including those that a file skips between its nodes. */
static size_t addresses_of(const struct rd_host *host, int pci, const char **ret)
{
	size_t n = 0;

	for (; pci >= 0 && n + 2 <= 2 * DEPTH_MAX; pci = host->pcis[pci].parent) {
		ret[n++] = host->pcis[pci].addr;
		if (host->pcis[pci].skipped[0])
			ret[n++] = host->pcis[pci].skipped;
	}
	return n;
}

static enum rd_path distance_by_tree(const struct rd_host *host, int a, int b, const char **why)
{
	const char *ca[2 * DEPTH_MAX], *cb[2 * DEPTH_MAX];
	size_t na = addresses_of(host, a, ca), nb = addresses_of(host, b, cb), common = 0;
	int numa_a = rd_pci_numa(host, a), numa_b = rd_pci_numa(host, b);

	while (common < na && common < nb && strcmp(ca[na - 1 - common], cb[nb - 1 - common]) == 0)
		common++;
	if (common > 0)
		/* At most one bridge on each side below the common one is one switch. */
		return na - common - 1 <= 1 && nb - common - 1 <= 1 ? RD_PATH_PIX : RD_PATH_PXB;
	/* Above neither is more than a root bus or a root port. */
	if (host->guest.known == RD_OK && host->guest.v && na <= 2 && nb <= 2 &&
	    (numa_a < 0 || numa_b < 0 || numa_a == numa_b)) {
		*why = "a virtual machine without visible switches: the path between is known only to the hypervisor";
		return RD_PATH_UNKNOWN;
	}
	return over_host_bridge(host, a, b, why);
}

/* A file of NCCL: its nodes are switches, one above the other. */
static enum rd_path distance_by_file(const struct rd_host *host, int a, int b, const char **why)
{
	int ca[DEPTH_MAX], cb[DEPTH_MAX];
	size_t na = chain_of(host, a, ca), nb = chain_of(host, b, cb), common = common_of(ca, na, cb, nb);

	if (common == 0)
		return over_host_bridge(host, a, b, why);
	if (na - common > 1 || nb - common > 1)
		return RD_PATH_PXB;
	if (!omits_buses(host, ca[na - common], a, b))
		return RD_PATH_PIX;
	*why = "bus numbers below the switch are missing in the topology file: either devices that NCCL omits (PIX), or bridges "
	       "omitted from a flattened file (PXB)";
	return RD_PATH_UNKNOWN;
}

enum rd_path rd_distance_pci(const struct rd_host *host, int a, int b, const char **why)
{
	const struct rd_pci *pa = &host->pcis[a], *pb = &host->pcis[b];
	const char *ignored = NULL;

	if (pa->domain == pb->domain && pa->bus == pb->bus && pa->dev == pb->dev)
		return RD_PATH_PIX;
	why = why ?: &ignored;
	return host->from_topology_file && !host->file_whole ? distance_by_file(host, a, b, why) :
							       distance_by_tree(host, a, b, why);
}

enum rd_path rd_distance(const struct rd_host *host, int gpu, int ibdev, const char **why)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	if (dev->pci >= 0)
		return rd_distance_pci(host, host->gpus[gpu].pci, dev->pci, why);
	if (host->from_topology_file && !host->file_whole && dev->numa >= 0)
		return dev->numa == rd_pci_numa(host, host->gpus[gpu].pci) ? RD_PATH_PHB : RD_PATH_SYS;
	if (why)
		*why = "neither the device nor its interface has a PCI function";
	return RD_PATH_UNKNOWN;
}

/* PEX88000 in base mode: 1000:c010, subsystem 1000:a0xx; PEX89000: 1000:c030, 1000:0xxx, whose inner switches have
 * 1000:1xxx. Returns the generation of PCI Express, 0 for others. */
static int pex_generation(const struct rd_pci *pci, int level)
{
	if (pci->vendor.v != 0x1000 || pci->subvendor.v != 0x1000)
		return 0;
	if (pci->device.v == 0xc010 && (pci->subdevice.v & 0xf000) == 0xa000)
		return 4;
	if (pci->device.v == 0xc030 && (pci->subdevice.v & 0xf000) == level * 0x1000)
		return 5;
	return 0;
}

int rd_nccl_parent_unmerged(const struct rd_host *host, int pci)
{
	int up = host->pcis[pci].parent;

	if (host->from_topology_file)
		return up;
	return up < 0 ? -1 : host->pcis[up].parent;
}

/* NCCL merges from the root downwards, and a merged switch is not merged again: of a chain of switches that could each be
 * part of the one above, every second one is. */
static bool is_part_of_switch_above(const struct rd_host *host, int pci)
{
	int up = rd_nccl_parent_unmerged(host, pci), gen;
	bool part = false;

	for (int depth = 0; up >= 0 && depth < DEPTH_MAX; depth++) {
		gen = pex_generation(&host->pcis[up], 0);
		if (!gen || pex_generation(&host->pcis[pci], 1) != gen)
			break;
		part = !part;
		pci = up;
		up = rd_nccl_parent_unmerged(host, pci);
	}
	return part;
}

int rd_nccl_parent(const struct rd_host *host, int pci)
{
	int up = rd_nccl_parent_unmerged(host, pci);

	return up >= 0 && is_part_of_switch_above(host, up) ? rd_nccl_parent_unmerged(host, up) : up;
}

/* The nodes above a function, the nearest first. */
static size_t nodes_above(const struct rd_host *host, int pci, int *nodes)
{
	size_t n = 0;

	for (int p = rd_nccl_parent(host, pci); p >= 0 && n < DEPTH_MAX; p = rd_nccl_parent(host, p))
		nodes[n++] = p;
	return n;
}

enum rd_path rd_distance_nccl_pci(const struct rd_host *host, int a, int b, int numa)
{
	int na[DEPTH_MAX], nb[DEPTH_MAX];
	size_t n_a = nodes_above(host, a, na), n_b = b < 0 ? 0 : nodes_above(host, b, nb);

	for (size_t i = 0; i < n_a; i++)
		for (size_t j = 0; j < n_b; j++)
			if (na[i] == nb[j])
				return i == 0 && j == 0 ? RD_PATH_PIX : RD_PATH_PXB;
	return numa == rd_pci_numa(host, a) ? RD_PATH_PHB : RD_PATH_SYS;
}

/* ncclTopoAddCpu has one node for all NICs without a function, and connects it to the first CPU with such a NIC. Each process of
 * a job attaches them to the first CPU that it knows, that of its own accelerator; the first process decides. */
int rd_nccl_numa(const struct rd_host *host, int ibdev, int pci)
{
	if (pci >= 0)
		return rd_pci_numa(host, pci);
	if (!host->from_topology_file)
		return host->n_gpus > 0 ? rd_pci_numa(host, host->gpus[0].pci) : -1;
	for (int i = 0; i < ibdev; i++)
		if (host->ibdevs[i].pci < 0)
			return host->ibdevs[i].numa;
	return host->ibdevs[ibdev].numa;
}

enum rd_path rd_distance_nccl(const struct rd_host *host, int gpu, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	int pci = dev->data_direct >= 0 ? dev->data_direct : dev->pci;

	return rd_distance_nccl_pci(host, host->gpus[gpu].pci, pci, rd_nccl_numa(host, ibdev, pci));
}

/* The two paths are /sys/devices/<host bridge>/<function>/…/<endpoint>: three components are common to all functions of
 * a host bridge, and each bridge adds one. With `score` components in common and `depth` of them on the accelerator's
 * side: up to 3 NODE or SYS, 4 PHB, all but one PIX, else PXB. The rule counts slashes: /sys, /devices, host bridge. */
enum rd_path rd_distance_nvshmem(const struct rd_host *host, int gpu, int ibdev)
{
	int a = host->gpus[gpu].pci, b = host->ibdevs[ibdev].pci;
	size_t na, nb, score, depth;

	if (b < 0)
		return RD_PATH_UNKNOWN;
	if (host->from_topology_file) { /* has no sysfs paths; PIX and PXB are equal for NVSHMEM */
		enum rd_path path = rd_distance(host, gpu, ibdev, NULL);

		return path == RD_PATH_UNKNOWN ? rd_distance_nccl(host, gpu, ibdev) : path;
	}
	if (!same_text(host->pcis[a].root, host->pcis[b].root))
		return rd_pci_numa(host, a) == rd_pci_numa(host, b) ? RD_PATH_NODE : RD_PATH_SYS;
	score = 4 + rd_distance_common(host, a, b, &na, &nb);
	depth = 3 + na;
	if (score == 4)
		return RD_PATH_PHB;
	return score == depth - 1 ? RD_PATH_PIX : RD_PATH_PXB;
}

void rd_distance_fill(const struct rd_host *host, struct rd_nicmap *map)
{
	map->n_gpus = host->n_gpus;
	map->n_ibdevs = host->n_ibdevs;
	map->pairs = rd_alloc(map->n_gpus * map->n_ibdevs + 1, sizeof(*map->pairs));
	for (size_t g = 0; g < map->n_gpus; g++)
		for (size_t d = 0; d < map->n_ibdevs; d++) {
			struct rd_pair *pair = &map->pairs[g * map->n_ibdevs + d];

			pair->path = rd_distance(host, (int)g, (int)d, &pair->reason);
			pair->nccl = rd_distance_nccl(host, (int)g, (int)d);
			pair->via = -1;
			pair->nvshmem = rd_distance_nvshmem(host, (int)g, (int)d);
		}
}

void rd_distance_bridges(const struct rd_host *host, int a, int b, int **ret, size_t *n, size_t *top)
{
	int ca[DEPTH_MAX], cb[DEPTH_MAX], *all = rd_alloc(2 * DEPTH_MAX, sizeof(*all));
	size_t na = chain_of(host, a, ca), nb = chain_of(host, b, cb), common = common_of(ca, na, cb, nb);

	*n = *top = 0;
	for (size_t i = 1; i < na && i <= na - common; i++)
		all[(*n)++] = ca[i];
	*top = *n;
	for (size_t i = nb - common; i > 1; i--)
		all[(*n)++] = cb[i - 1];
	*ret = all;
}
