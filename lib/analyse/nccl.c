/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/nccl.h"

#include <errno.h>
#include <string.h>

#include "analyse/distance.h"
#include "analyse/role.h"
#include "base/text.h"

/* GB/s, as NCCL has them in src/graph/topo.h. */
#define LOC_BW 5000.0f
#define DEPTH_MAX 64

/* A NIC as NCCL sees it: the active ports of one card. */
struct net {
	int *ports;
	size_t n;
};

struct state {
	const struct rd_host *host;
	const struct rd_nicmap *map;
	struct net *nets;
	size_t n_nets;
	float *bw;     /* [gpu * n_nets + net] */
	size_t *local; /* scratch: indices of nets */
};

/* Units of 100 Mb/s and lane, after encoding. What sysfs does not name counts as 8 GT/s. */
static float lane_speed(unsigned mtps)
{
	static const struct {
		unsigned mtps;
		float speed;
	} table[] = {
		{ 2500, 15 }, { 5000, 30 }, { 8000, 60 }, { 16000, 120 }, { 32000, 240 }, { 64000, 480 },
	};

	for (size_t i = 0; i < RD_ARRAY_SIZE(table); i++)
		if (table[i].mtps == mtps)
			return table[i].speed;
	return 60;
}

/* NICs and switches count with what they and the port above could do at most: a link that came up slower is not seen.
 * Accelerators count with what their link does now. */
static float link_bandwidth(const struct rd_host *host, int index, bool gpu)
{
	const struct rd_pci *pci = &host->pcis[index], *up = pci->parent >= 0 ? &host->pcis[pci->parent] : NULL;
	const struct rd_pcie_link *link = gpu && pci->now.mtps.known == RD_OK ? &pci->now : &pci->max;
	unsigned mtps = link->mtps.known == RD_OK ? link->mtps.v : 0;
	unsigned width = link->width.known == RD_OK ? link->width.v : 0;

	if (!gpu && !host->from_topology_file && up) {
		if (up->max.mtps.known == RD_OK && (!mtps || up->max.mtps.v < mtps))
			mtps = up->max.mtps.v;
		if (up->max.width.known == RD_OK && (!width || up->max.width.v < width))
			width = up->max.width.v;
	}
	return (float)(width ? width : 16) * lane_speed(mtps) / 80.0f;
}

static float between_cpus(const struct rd_host *host)
{
	const struct rd_cpu *cpu = &host->cpu;

	if (cpu->arch && strncmp(cpu->arch, "ppc64", 5) == 0)
		return 32;
	if (cpu->arch && strcmp(cpu->arch, "arm64") == 0)
		return 6;
	if (cpu->vendor && strcmp(cpu->vendor, "AuthenticAMD") == 0)
		return 16;
	if (cpu->vendor && strcmp(cpu->vendor, "GenuineIntel") == 0) {
		unsigned model = cpu->family.v == 6 ? cpu->model.v : 0;

		return model >= 0xcf ? 40 : model >= 0x8f ? 22 : model >= 0x55 ? 10 : 6;
	}
	return LOC_BW;
}

static float narrowest_up_to(const struct rd_host *host, int pci, int top, bool gpu)
{
	float bw = LOC_BW;

	for (int depth = 0; pci >= 0 && pci != top && depth < DEPTH_MAX; depth++) {
		float link = link_bandwidth(host, pci, gpu && depth == 0);

		bw = link < bw ? link : bw;
		pci = rd_nccl_parent(host, pci);
	}
	return bw;
}

static int common_node(const struct rd_host *host, int a, int b)
{
	for (int p = rd_nccl_parent(host, a), i = 0; p >= 0 && i < DEPTH_MAX; p = rd_nccl_parent(host, p), i++)
		for (int q = rd_nccl_parent(host, b), j = 0; q >= 0 && j < DEPTH_MAX; q = rd_nccl_parent(host, q), j++)
			if (p == q)
				return p;
	return -1;
}

float rd_nccl_bandwidth(const struct rd_host *host, int gpu, const int *ports, size_t n_ports)
{
	const struct rd_ibdev *dev = &host->ibdevs[host->ports[ports[0]].ibdev];
	int pci = host->gpus[gpu].pci, top = dev->pci < 0 ? -1 : common_node(host, pci, dev->pci);
	float bw = narrowest_up_to(host, pci, top, true), other, net = 0;

	if (dev->pci >= 0) {
		other = narrowest_up_to(host, dev->pci, top, false);
		bw = other < bw ? other : bw;
	}
	if (rd_distance_nccl(host, gpu, host->ports[ports[0]].ibdev) == RD_PATH_SYS && between_cpus(host) < bw)
		bw = between_cpus(host);
	/* A NIC without a speed counts as one of 10 Gb/s. */
	for (size_t i = 0; i < n_ports; i++) {
		const struct rd_port *port = &host->ports[ports[i]];

		net += (port->rate_gbps.known == RD_OK && port->rate_gbps.v > 0 ? (float)port->rate_gbps.v : 10) / 8;
	}
	return net < bw ? net : bw;
}

static bool is_usable(const struct rd_host *host, size_t p, const bool *allowed)
{
	const struct rd_port *port = &host->ports[p];

	if (allowed && !allowed[p])
		return false;
	return rd_port_active(port) || (host->from_topology_file && !port->state);
}

static uint64_t place_key(const struct rd_host *host, int port)
{
	int pci = host->ibdevs[host->ports[port].ibdev].pci;
	const struct rd_pci *at = pci < 0 ? NULL : &host->pcis[pci];

	if (!at)
		return UINT64_MAX; /* behind all that have a place */
	return (uint64_t)at->domain << 16 | (uint64_t)at->bus << 8 | (uint64_t)at->dev << 3 | at->fn;
}

static void sort_ports(const struct rd_host *host, int *ports, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j > 0 && place_key(host, ports[j]) < place_key(host, ports[j - 1]); j--) {
			int held = ports[j];

			ports[j] = ports[j - 1];
			ports[j - 1] = held;
		}
}

/* In the order of PCI addresses, ports of one card together. A topology file names its NICs as they are. */
static void make_nets(struct state *st, int *ports, size_t n)
{
	sort_ports(st->host, ports, n);
	for (size_t i = 0; i < n; i++) {
		struct net *last = st->n_nets > 0 ? &st->nets[st->n_nets - 1] : NULL;
		const struct rd_port *port = &st->host->ports[ports[i]];

		if (last && !st->host->from_topology_file &&
		    rd_same_card(st->host, st->host->ports[last->ports[0]].ibdev, port->ibdev) &&
		    rd_port_is_ethernet(&st->host->ports[last->ports[0]]) == rd_port_is_ethernet(port))
			last->n++;
		else
			st->nets[st->n_nets++] = (struct net){ .ports = &ports[i], .n = 1 };
	}
}

static enum rd_path path_of(const struct state *st, size_t gpu, size_t net)
{
	return rd_nicmap_pair(st->map, gpu, (size_t)st->host->ports[st->nets[net].ports[0]].ibdev)->nccl;
}

static float bw_of(const struct state *st, size_t gpu, size_t net)
{
	return st->bw[gpu * st->n_nets + net];
}

/* The nets with the widest path, and of these the nearest; into st->local. */
static size_t local_nets(struct state *st, size_t gpu)
{
	enum rd_path nearest = RD_PATH_SYS + 1;
	float widest = 0;
	size_t n = 0;

	for (size_t i = 0; i < st->n_nets; i++) {
		float bw = bw_of(st, gpu, i);
		enum rd_path path = path_of(st, gpu, i);

		if (bw > widest || (bw == widest && path < nearest)) {
			widest = bw;
			nearest = path;
			n = 0;
		}
		if (bw == widest && path == nearest)
			st->local[n++] = i;
	}
	return n;
}

static size_t local_gpus(const struct state *st, size_t net)
{
	enum rd_path nearest = RD_PATH_SYS + 1;
	float widest = 0;
	size_t n = 0;

	for (size_t g = 0; g < st->host->n_gpus; g++) {
		float bw = bw_of(st, g, net);
		enum rd_path path = path_of(st, g, net);

		if (bw > widest || (bw == widest && path < nearest)) {
			widest = bw;
			nearest = path;
			n = 0;
		}
		n += bw == widest && path == nearest;
	}
	return n;
}

static size_t mirror_bits(size_t value, size_t pow2)
{
	size_t mirrored = 0;

	for (size_t bit = 1, other = pow2 >> 1; bit < pow2; bit <<= 1, other >>= 1)
		if (value & bit)
			mirrored |= other;
	return mirrored;
}

static int choose_for(struct state *st, size_t gpu, struct rd_choice *choice)
{
	size_t n_nets = local_nets(st, gpu), n_gpus, each, first;

	choice->gpu = (int)gpu;
	choice->backup = -1;
	if (n_nets == 0)
		return 0;
	n_gpus = local_gpus(st, st->local[0]);
	n_gpus = n_gpus ? n_gpus : 1;
	each = (n_nets + n_gpus - 1) / n_gpus;
	first = (size_t)st->host->gpus[gpu].dev % n_gpus;
	if ((n_nets & (n_nets - 1)) == 0)
		first = mirror_bits(first, n_nets);
	choice->ports = calloc(st->host->n_ports + 1, sizeof(*choice->ports));
	if (!choice->ports)
		return -ENOMEM;
	for (size_t i = 0; i < each; i++) {
		const struct net *net = &st->nets[st->local[(first + i) % n_nets]];

		for (size_t p = 0; p < net->n && choice->n_ports < st->host->n_ports; p++)
			choice->ports[choice->n_ports++] = net->ports[p];
	}
	choice->why = rd_text("%s, %.1f GB/s; %zu NIC%s as good, dealt out among %zu accelerator%s",
			      rd_path_name(path_of(st, gpu, st->local[0])), (double)bw_of(st, gpu, st->local[0]),
			      n_nets, n_nets > 1 ? "s" : "", n_gpus, n_gpus > 1 ? "s" : "");
	return choice->why ? 0 : -ENOMEM;
}

static int choose_all(struct state *st, struct rd_choices *ret)
{
	const struct rd_host *host = st->host;

	for (size_t g = 0; g < host->n_gpus; g++)
		for (size_t n = 0; n < st->n_nets; n++)
			st->bw[g * st->n_nets + n] = rd_nccl_bandwidth(host, (int)g, st->nets[n].ports, st->nets[n].n);
	for (size_t g = 0; g < host->n_gpus; g++) {
		int r = choose_for(st, g, &ret->v[g]);

		ret->n++;
		if (r)
			return r;
	}
	ret->note = rd_text("NCCL_IB_HCA not set, NICs in PCI order, ports of one card as one NIC");
	return ret->note ? 0 : -ENOMEM;
}

int rd_nccl_choose(const struct rd_host *host, const struct rd_nicmap *map, const bool *allowed, struct rd_choices *ret)
{
	_cleanup_free_ struct net *nets = calloc(host->n_ports + 1, sizeof(*nets));
	_cleanup_free_ int *ports = calloc(host->n_ports + 1, sizeof(*ports));
	_cleanup_free_ float *bw = calloc(host->n_gpus * host->n_ports + 1, sizeof(*bw));
	_cleanup_free_ size_t *local = calloc(host->n_ports + 1, sizeof(*local));
	struct state st = { .host = host, .map = map, .nets = nets, .bw = bw, .local = local };
	size_t n = 0;

	if (!nets || !ports || !bw || !local)
		return -ENOMEM;
	for (size_t p = 0; p < host->n_ports; p++)
		if (is_usable(host, p, allowed))
			ports[n++] = (int)p;
	make_nets(&st, ports, n);
	ret->v = calloc(host->n_gpus + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	return choose_all(&st, ret);
}
