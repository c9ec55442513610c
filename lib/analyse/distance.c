/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/distance.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX 64

static const char why_no_pci[] = "the device has no PCI function of its own and sits on no interface that has one";
static const char why_no_place[] = "where the function hangs could not be read";
static const char why_guest[] = "a virtual machine that shows no switches: what lies between is known to its host only";
static const char why_file[] =
	"the topology file shows one switch, but the bus numbers below it leave room for bridges "
	"that it does not name: concluded from that";

/* The functions from `pci` up to the root, itself first. Returns how many. */
static size_t chain_of(const struct rd_host *host, int pci, int *chain)
{
	size_t n = 0;

	for (; pci >= 0 && n < DEPTH_MAX; pci = host->pcis[pci].parent)
		chain[n++] = pci;
	return n;
}

/* How many functions, counted from the root, are common to both. */
static size_t common_of(const int *a, size_t na, const int *b, size_t nb)
{
	size_t common = 0;

	while (common < na && common < nb && a[na - 1 - common] == b[nb - 1 - common])
		common++;
	return common;
}

static bool same_card(const struct rd_pci *a, const struct rd_pci *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->dev == b->dev;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* One switch takes a bus number for its inside and one for each port. Where a file that was flattened (for NCCL to see one
 * switch) holds devices with higher ones, there are bridges between that it does not name. Switches that a file made up
 * are in no such order: theirs is another domain. */
static bool leaves_bridges_out(const struct rd_host *host, int top, int a, int b)
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

	if (host->from_topology_file)
		return na == nb ? RD_PATH_PHB : RD_PATH_SYS;
	if (!pa->root || !pb->root) {
		*why = why_no_place;
		return RD_PATH_UNKNOWN;
	}
	if (same_text(pa->root, pb->root))
		return RD_PATH_PHB;
	return na == nb && na >= 0 ? RD_PATH_NODE : RD_PATH_SYS;
}

/* Each stands on a root bus, or alone behind a root port. */
static bool shows_switch(size_t depth)
{
	return depth > 2;
}

static enum rd_path distance(const struct rd_host *host, int a, int b, const char **why)
{
	int ca[DEPTH_MAX], cb[DEPTH_MAX];
	size_t na = chain_of(host, a, ca), nb = chain_of(host, b, cb), common = common_of(ca, na, cb, nb);
	int numa_a = rd_pci_numa(host, a), numa_b = rd_pci_numa(host, b);

	if (a == b || same_card(&host->pcis[a], &host->pcis[b]))
		return RD_PATH_PIX;
	if (common > 0) {
		size_t between_a = na - common - 1, between_b = nb - common - 1;
		enum rd_path path;

		/* Bridges strictly below the common one: none or one to each side is one switch (in a file, whose nodes
		 * are switches: none). */
		size_t most = host->from_topology_file ? 0 : 1;

		path = between_a <= most && between_b <= most ? RD_PATH_PIX : RD_PATH_PXB;
		if (path == RD_PATH_PIX && host->from_topology_file && leaves_bridges_out(host, ca[na - common], a, b)) {
			*why = why_file;
			path = RD_PATH_PXB;
		}
		return path;
	}
	if (!host->from_topology_file && host->guest.known == RD_OK && host->guest.v && !shows_switch(na) &&
	    !shows_switch(nb) && (numa_a < 0 || numa_b < 0 || numa_a == numa_b)) {
		*why = why_guest;
		return RD_PATH_UNKNOWN;
	}
	return over_host_bridge(host, a, b, why);
}

enum rd_path rd_distance_pci(const struct rd_host *host, int a, int b, const char **why)
{
	const char *ignored = NULL;

	return distance(host, a, b, why ? why : &ignored);
}

enum rd_path rd_distance(const struct rd_host *host, int gpu, int ibdev, const char **why)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	const char *ignored = NULL;

	why = why ? why : &ignored;
	if (dev->pci >= 0)
		return distance(host, host->gpus[gpu].pci, dev->pci, why);
	if (host->from_topology_file && dev->numa >= 0)
		return dev->numa == rd_pci_numa(host, host->gpus[gpu].pci) ? RD_PATH_PHB : RD_PATH_SYS;
	*why = why_no_pci;
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

static int parent_of(const struct rd_host *host, int pci)
{
	int up = host->pcis[pci].parent;

	if (host->from_topology_file)
		return up;
	return up < 0 ? -1 : host->pcis[up].parent;
}

int rd_nccl_parent(const struct rd_host *host, int pci)
{
	int up = parent_of(host, pci), above = up < 0 ? -1 : parent_of(host, up), gen;

	if (above < 0)
		return up;
	gen = pex_generation(&host->pcis[above], 0);
	return gen && pex_generation(&host->pcis[up], 1) == gen ? above : up;
}

enum rd_path rd_distance_nccl(const struct rd_host *host, int gpu, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	int a[DEPTH_MAX], b[DEPTH_MAX], numa = rd_pci_numa(host, host->gpus[gpu].pci);
	size_t na = 0, nb = 0;

	if (dev->pci < 0) {
		/* A virtual NIC hangs on the first CPU. */
		int on = dev->numa >= 0 || host->n_numas == 0 ? dev->numa : host->numas[0].id;

		return on == numa ? RD_PATH_PHB : RD_PATH_SYS;
	}
	for (int p = rd_nccl_parent(host, host->gpus[gpu].pci); p >= 0 && na < DEPTH_MAX; p = rd_nccl_parent(host, p))
		a[na++] = p;
	for (int p = rd_nccl_parent(host, dev->pci); p >= 0 && nb < DEPTH_MAX; p = rd_nccl_parent(host, p))
		b[nb++] = p;
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			if (a[i] == b[j])
				return i == 0 && j == 0 ? RD_PATH_PIX : RD_PATH_PXB;
	return numa == rd_pci_numa(host, dev->pci) ? RD_PATH_PHB : RD_PATH_SYS;
}

/* The two paths are /sys/devices/<host bridge>/<function>/…/<endpoint>: three components are common to all functions of
 * a host bridge, and each bridge adds one. With `score` components in common and `depth` of them on the accelerator's
 * side: up to 3 NODE or SYS, 4 PHB, all but one PIX, else PXB. The rule counts slashes: /sys, /devices, host bridge. */
enum rd_path rd_distance_nvshmem(const struct rd_host *host, int gpu, int ibdev)
{
	int ca[DEPTH_MAX], cb[DEPTH_MAX], a = host->gpus[gpu].pci, b = host->ibdevs[ibdev].pci;
	size_t na, nb, score, depth;

	if (b < 0)
		return RD_PATH_UNKNOWN;
	if (host->from_topology_file) /* shows no sysfs paths */
		return rd_distance(host, gpu, ibdev, NULL);
	if (!same_text(host->pcis[a].root, host->pcis[b].root))
		return rd_pci_numa(host, a) == rd_pci_numa(host, b) ? RD_PATH_NODE : RD_PATH_SYS;
	na = chain_of(host, a, ca);
	nb = chain_of(host, b, cb);
	score = 4 + common_of(ca, na, cb, nb);
	depth = 3 + na;
	if (score == 4)
		return RD_PATH_PHB;
	return score == depth - 1 ? RD_PATH_PIX : RD_PATH_PXB;
}

int rd_distance_fill(const struct rd_host *host, struct rd_nicmap *map)
{
	map->n_gpus = host->n_gpus;
	map->n_ibdevs = host->n_ibdevs;
	map->pairs = calloc(map->n_gpus * map->n_ibdevs + 1, sizeof(*map->pairs));
	if (!map->pairs)
		return -ENOMEM;
	for (size_t g = 0; g < map->n_gpus; g++)
		for (size_t d = 0; d < map->n_ibdevs; d++) {
			struct rd_pair *pair = &map->pairs[g * map->n_ibdevs + d];

			pair->path = rd_distance(host, (int)g, (int)d, &pair->reason);
			pair->nccl = rd_distance_nccl(host, (int)g, (int)d);
			pair->nvshmem = rd_distance_nvshmem(host, (int)g, (int)d);
		}
	return 0;
}

int rd_distance_bridges(const struct rd_host *host, int a, int b, int **ret, size_t *n, size_t *top)
{
	int ca[DEPTH_MAX], cb[DEPTH_MAX], *all = calloc(2 * DEPTH_MAX, sizeof(*all));
	size_t na = chain_of(host, a, ca), nb = chain_of(host, b, cb), common = common_of(ca, na, cb, nb);

	if (!all)
		return -ENOMEM;
	*n = *top = 0;
	for (size_t i = 1; i < na && i <= na - common; i++)
		all[(*n)++] = ca[i];
	*top = *n;
	for (size_t i = nb - common; i > 1; i--)
		all[(*n)++] = cb[i - 1];
	*ret = all;
	return 0;
}
