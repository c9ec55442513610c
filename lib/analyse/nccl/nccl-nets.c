/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NICs that NCCL builds from the ports (src/transport/net_ib/init.cc, src/graph/topo.cc). */
#include <stdint.h>
#include <string.h>

#include "analyse/nccl/nccl-priv.h"
#include "analyse/shared/distance.h"
#include "base/buf.h"
#include "base/memory.h"

/* MAX_IB_DEVS, NCCL_NET_MAX_DEVS_PER_NIC. */
#define DEVICES_MAX 32
#define MERGED_MAX 8

/* A port in NCCL's device list, and the PCI function that NCCL attaches it to. */
struct device {
	int port, pci;
	uint64_t place; /* PCI address that NCCL assigns to the device: devices with the same one are one NIC */
	bool direct, placed;
};

struct state {
	const struct rd_host *host;
	const struct rd_nccl_settings *settings;
	struct device v[DEVICES_MAX];
	size_t n;
	bool apart[DEVICES_MAX][DEVICES_MAX]; /* merging these two failed */
};

static bool is_usable(const struct rd_host *host, const struct rd_nccl_settings *settings, size_t p)
{
	const struct rd_port *port = &host->ports[p];

	if (settings->allowed && !settings->allowed[p])
		return false;
	/* NCCL does not support EFA's link layer; Gaudi ports are used by HCCL only. */
	if (rd_ibdev_is_efa(host, port->ibdev) || rd_ibdev_is_gaudi(host, port->ibdev))
		return false;
	return rd_port_active(port) || (host->from_topology_file && !port->state);
}

static uint64_t place_of(const struct rd_pci *pci)
{
	return (uint64_t)pci->domain << 16 | (uint64_t)pci->bus << 8 | (uint64_t)pci->dev << 3 | pci->fn;
}

static int find_place(const struct rd_host *host, uint64_t place)
{
	for (size_t i = 0; i < host->n_pcis; i++)
		if (place_of(&host->pcis[i]) == place)
			return (int)i;
	return -1;
}

int rd_nccl_place(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	int first;

	if (dev->data_direct >= 0 || dev->pci < 0 || host->from_topology_file)
		return dev->data_direct >= 0 ? dev->data_direct : dev->pci;
	first = find_place(host, place_of(&host->pcis[dev->pci]) & ~(uint64_t)0xff);
	return first >= 0 ? first : dev->pci;
}

/* ncclIbGetPciPath: in the address "BBBB:BB:DD.F", F becomes 0, and so does DD unless NCCL_IB_MERGE_VFS is 0. If no such
 * function exists, NCCL finds no PCI device and uses the first CPU. The address of a Data Direct function is not changed; in a
 * topology file the addresses are already changed. */
static void set_place(const struct state *st, struct device *dev)
{
	const struct rd_ibdev *ibdev = &st->host->ibdevs[st->host->ports[dev->port].ibdev];

	dev->direct = ibdev->data_direct >= 0;
	dev->pci = dev->direct ? ibdev->data_direct : ibdev->pci;
	dev->place = dev->pci < 0 ? UINT64_MAX : place_of(&st->host->pcis[dev->pci]);
	if (dev->pci < 0 || dev->direct || st->host->from_topology_file)
		return;
	dev->place &= st->settings->merge_vfs ? ~(uint64_t)0xff : ~(uint64_t)7;
	dev->pci = find_place(st->host, dev->place);
}

/* ncclIbCompareDevs: sorts by the address of the device itself; devices without one come last. */
static uint64_t order_of(const struct rd_host *host, const struct device *dev)
{
	int pci = host->ibdevs[host->ports[dev->port].ibdev].pci;

	return pci < 0 ? UINT64_MAX : place_of(&host->pcis[pci]);
}

static void list_devices(struct state *st)
{
	for (size_t p = 0; p < st->host->n_ports && st->n < DEVICES_MAX; p++)
		if (is_usable(st->host, st->settings, p))
			st->v[st->n++] = (struct device){ .port = (int)p };
	/* A topology file keeps its own order. */
	for (size_t i = 1; !st->host->from_topology_file && i < st->n; i++)
		for (size_t j = i; j > 0 && order_of(st->host, &st->v[j]) < order_of(st->host, &st->v[j - 1]); j--) {
			struct device swapped = st->v[j];

			st->v[j] = st->v[j - 1];
			st->v[j - 1] = swapped;
		}
	for (size_t i = 0; i < st->n; i++)
		set_place(st, &st->v[i]);
}

static int numa_of(const struct state *st, const struct device *dev)
{
	return rd_nccl_numa(st->host, st->host->ports[dev->port].ibdev, dev->pci);
}

/* The CPU that a topology file lists the device under. */
static int cpu_of(const struct state *st, const struct device *dev)
{
	return st->host->ibdevs[st->host->ports[dev->port].ibdev].numa;
}

/* ncclTopoGetPath: devices on one function, or on functions of one card, are ports of one NIC, and so are devices without a
 * function on the same CPU. More distant ones are merged up to NCCL_NET_MERGE_LEVEL. */
static bool can_merge(const struct state *st, size_t i, size_t j)
{
	const struct device *a = &st->v[i], *b = &st->v[j];

	if (st->apart[i][j])
		return false;
	if (a->pci < 0 && b->pci < 0)
		return !st->host->from_topology_file || cpu_of(st, a) == cpu_of(st, b);
	if ((a->place | 7) == (b->place | 7))
		return true;
	if (st->settings->merge_level == RD_PATH_UNKNOWN || a->pci < 0 || b->pci < 0)
		return false;
	return rd_distance_nccl_pci(st->host, a->pci, b->pci, rd_pci_numa(st->host, b->pci)) <=
	       st->settings->merge_level;
}

/* ncclIbMakeVDeviceInternal */
static bool link_layers_differ(const struct state *st, const size_t *members, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (rd_port_is_ethernet(&st->host->ports[st->v[members[i]].port]) !=
		    rd_port_is_ethernet(&st->host->ports[st->v[members[0]].port]))
			return true;
	return false;
}

/* ncclTopoAutoMerge: the devices to merge with the first remaining one; if they cannot be merged, it stays a NIC of its own. */
static size_t next_group(struct state *st, size_t first, size_t *members)
{
	size_t n = 0;

	members[n++] = first;
	for (size_t j = 0; st->settings->merge && j < st->n && n < MERGED_MAX; j++)
		if (j != first && !st->v[j].placed && can_merge(st, first, j))
			members[n++] = j;
	if (link_layers_differ(st, members, n)) {
		for (size_t i = 1; i < n; i++)
			st->apart[first][members[i]] = st->apart[members[i]][first] = true;
		n = 1;
	}
	for (size_t i = 0; i < n; i++)
		st->v[members[i]].placed = true;
	return n;
}

/* ncclTopoGetVNicParent: a merged NIC without a PCI function is added under the first device's <nic>, where ncclTopoAddNic does
 * not look for it, and the single NICs have been removed by then. */
static bool is_lost(const struct state *st, const size_t *members, size_t n)
{
	return n > 1 && st->v[members[0]].pci < 0;
}

static void add_net(const struct state *st, const size_t *members, size_t n, struct rd_nccl_nets *ret)
{
	struct rd_nccl_net *net = &ret->v[ret->n++];
	_cleanup_buf_ struct rd_buf name = { 0 };

	*net = (struct rd_nccl_net){ .ports = rd_alloc(n, sizeof(*net->ports)), .pci = st->v[members[0]].pci };
	net->numa = numa_of(st, &st->v[members[0]]);
	for (size_t i = 0; i < n; i++) {
		const struct device *dev = &st->v[members[i]];
		const struct rd_port *port = &st->host->ports[dev->port];

		net->ports[net->n_ports++] = dev->port;
		/* NCCL assumes 10 Gb/s for a NIC without a speed. */
		net->gbps += port->rate_gbps.known == RD_OK && port->rate_gbps.v > 0 ? port->rate_gbps.v : 10;
		net->data_direct |= dev->direct;
		rd_buf_printf(&name, "%s%s%s", i > 0 ? "+" : "", rd_ibdev_label(st->host, port->ibdev),
			      dev->direct ? "_dma" : "");
	}
	net->name = RD_TAKE(name.data);
}

/* NCCL walks its tree CPU by CPU, in the order in which it found them: that of the first accelerator, then those of NICs. */
static int cpu_rank(const struct rd_host *host, const struct rd_nccl_nets *nets, int numa)
{
	if (host->n_gpus > 0 && rd_pci_numa(host, host->gpus[0].pci) == numa)
		return -1;
	for (size_t i = 0; i < nets->n; i++)
		if (nets->v[i].numa == numa)
			return (int)i;
	return -1;
}

/* Groups are in the order of their first member. */
static void sort_by_cpu(const struct rd_host *host, struct rd_nccl_nets *nets)
{
	_cleanup_free_ int *ranks = rd_alloc(nets->n + 1, sizeof(*ranks));

	for (size_t i = 0; i < nets->n; i++)
		ranks[i] = cpu_rank(host, nets, nets->v[i].numa);
	for (size_t i = 1; i < nets->n; i++)
		for (size_t j = i; j > 0 && ranks[j] < ranks[j - 1]; j--) {
			struct rd_nccl_net net = nets->v[j];
			int rank = ranks[j];

			nets->v[j] = nets->v[j - 1];
			nets->v[j - 1] = net;
			ranks[j] = ranks[j - 1];
			ranks[j - 1] = rank;
		}
}

static int pci_of(const struct rd_host *host, int port)
{
	return host->ibdevs[host->ports[port].ibdev].pci;
}

static bool has_several_functions(const struct rd_host *host, const struct rd_nccl_net *net)
{
	for (size_t i = 1; i < net->n_ports; i++)
		if (pci_of(host, net->ports[i]) != net->pci)
			return true;
	return false;
}

/* `top` -1: the CPU of this NUMA node. A NIC without a function is where the file lists it, whichever CPU it is attached to. */
static bool is_below(const struct rd_host *host, const struct rd_nccl_net *net, int top, int numa)
{
	if (top < 0)
		return (net->pci < 0 ? host->ibdevs[host->ports[net->ports[0]].ibdev].numa : net->numa) == numa;
	for (int pci = net->pci; pci >= 0; pci = host->pcis[pci].parent)
		if (host->pcis[pci].parent == top)
			return true;
	return false;
}

/* ncclTopoMakePciParent: ports that a topology file lists as separate functions become one NIC, which is the last child of
 * their parent node. The children of a node are consecutive. */
static void move_merged(const struct rd_host *host, struct rd_nccl_nets *nets)
{
	for (size_t p = 0, i; p < host->n_ports; p++) {
		for (i = 0; i < nets->n && nets->v[i].ports[0] != (int)p; i++)
			;
		if (i == nets->n || !has_several_functions(host, &nets->v[i]))
			continue;
		for (size_t last = nets->n - 1; last > i; last--) {
			struct rd_nccl_net net = nets->v[i];

			if (!is_below(host, &nets->v[last], host->pcis[net.pci].parent, net.numa))
				continue;
			memmove(&nets->v[i], &nets->v[i + 1], (last - i) * sizeof(net));
			nets->v[last] = net;
			break;
		}
	}
}

void rd_nccl_nets_find(const struct rd_host *host, const struct rd_nccl_settings *settings, struct rd_nccl_nets *ret)
{
	_cleanup_free_ struct state *st = rd_alloc(1, sizeof(*st));
	size_t members[MERGED_MAX];

	*ret = (struct rd_nccl_nets){
		.v = rd_alloc(DEVICES_MAX, sizeof(*ret->v)),
		.lost = rd_alloc(DEVICES_MAX, sizeof(*ret->lost)),
	};
	st->host = host;
	st->settings = settings;
	list_devices(st);
	for (size_t i = 0; i < st->n; i++) {
		size_t n = st->v[i].placed ? 0 : next_group(st, i, members);

		if (n > 0 && !is_lost(st, members, n))
			add_net(st, members, n, ret);
		else
			for (size_t k = 0; k < n; k++)
				ret->lost[ret->n_lost++] = st->v[members[k]].port;
	}
	if (host->from_topology_file)
		move_merged(host, ret);
	else
		sort_by_cpu(host, ret);
}
