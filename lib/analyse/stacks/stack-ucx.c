/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NIXL over UCX: ports and GIDs by src/uct/ib/base/ib_device.c and ib_iface.c, distances by src/ucs/sys/topo/base/topo.c,
 * NICs that GPU memory is registered with by ucp_context_select_reg_mds of src/ucp/core/ucp_context.c; NIXL's changes to
 * UCX's defaults by src/plugins/ucx/ucx_utils.cpp. */
#include <limits.h>

#include "analyse/stacks/stack-priv.h"
#include "base/text.h"

/* UCX's distances: latency first, then bandwidth. UCX assumes 17000 MB/s between two host bridges of a NUMA node, but at most 3500
 * under one host bridge, so the NIC that is farther away counts as nearer. */
enum distance { NEAR_BRIDGE, NEAR_NODE, NEAR_HOST_BRIDGE, NEAR_FAR_HOST_BRIDGE, NEAR_SYS, NEAR_UNKNOWN };

#define PCI_MELLANOX 0x15b3

/* Up to this many steps, the bandwidth under one host bridge is the same. */
#define STEPS_ALIKE 5

static const char *const distance_why[] = {
	[NEAR_BRIDGE] = "a common bridge",	 [NEAR_NODE] = "same NUMA node",
	[NEAR_HOST_BRIDGE] = "same host bridge", [NEAR_FAR_HOST_BRIDGE] = "same host bridge",
	[NEAR_SYS] = "another NUMA node",	 [NEAR_UNKNOWN] = "no PCI path",
};

static bool has_interface_id(const struct rd_gid *gid)
{
	for (size_t i = 8; i < sizeof(gid->raw); i++)
		if (gid->raw[i])
			return true;
	return false;
}

/* RoCE v2 before v1; then IPv4, global IPv6, link-local. A type that is not readable counts as v1. */
static unsigned merit(const struct rd_gid *gid)
{
	unsigned family = rd_gid_is_v4(gid) ? 0 : gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80 ? 2 : 1;

	return family + (gid->type == RD_GID_ROCE_V2 ? 0 : 3);
}

/* GID index 1 in a fabric with routers (FLID): site-local, with a fabric number and an interface ID of this vendor. */
static bool is_routable_flid(const struct rd_gid *gid)
{
	const uint8_t *raw = gid->raw;

	return raw[0] == 0xfe && raw[1] == 0xc0 && !raw[2] && !raw[3] && (raw[4] || raw[5]) && raw[8] == 0x00 &&
	       raw[9] == 0x14 && raw[10] == 0x05;
}

static int find_index(const struct rd_port *port, unsigned index)
{
	for (size_t i = 0; i < port->n_gids; i++)
		if (port->gids[i].index == index)
			return (int)i;
	return -1;
}

static int roce_gid(const struct rd_port *port, const char **why)
{
	static const char *const by_merit[] = {
		"RoCE v2, IPv4: lowest index",
		"RoCE v2, global IPv6: no IPv4",
		"RoCE v2, link-local: no other RoCE v2 GID",
		"RoCE v1, IPv4: no RoCE v2 GID",
		"RoCE v1, IPv6: no RoCE v2 GID",
		"RoCE v1, link-local: no other GID",
	};
	unsigned best = UINT_MAX;
	int gid = -1;

	for (size_t i = 0; i < port->n_gids; i++) {
		unsigned own = merit(&port->gids[i]);

		if (!has_interface_id(&port->gids[i]) || own >= best)
			continue;
		best = own;
		gid = (int)i;
	}
	if (gid >= 0)
		*why = by_merit[best];
	return gid;
}

int rd_gid_ucx(const struct rd_port *port, const char **why)
{
	int zero = find_index(port, 0), flid = find_index(port, 1);

	*why = port->gids_known ? "the GID table is empty" : "the GID table is unknown";
	if (rd_port_is_ethernet(port))
		return roce_gid(port, why);
	if (rd_port_is_ib(port) && flid >= 0 && is_routable_flid(&port->gids[flid])) {
		*why = "index 1, which is routable between fabrics (UCX_IB_FLID_ROUTE)";
		return flid;
	}
	if (zero >= 0)
		*why = "index 0";
	return zero;
}

static const char *why_not(const struct rd_host *host, const struct rd_port *port)
{
	int zero = find_index(port, 0);

	if (rd_ibdev_is_gaudi(host, port->ibdev))
		return "Gaudi ports are used by HCCL only";
	if (host->ibdevs[port->ibdev].iwarp)
		return "UCX does not support iWARP devices";
	if (!rd_stack_port_up(host, port))
		return "not active";
	/* UCX checks the port by this index, whichever index it uses later. */
	if (port->gids_known && (zero < 0 || !has_interface_id(&port->gids[zero])))
		return "UCX ignores a port whose GID at index 0 is empty";
	return NULL;
}

/* By the driver; if a topology file names none, by the device name or the PCI vendor. */
static const char *transport_of(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];
	const struct rd_pci *pci = dev->pci >= 0 ? &host->pcis[dev->pci] : NULL;

	if (rd_ibdev_is_efa(host, ibdev))
		return "srd";
	if (dev->driver)
		return strncmp(dev->driver, "mlx5", 4) == 0 ? "rc_mlx5" : "rc_verbs";
	if ((dev->name && strncmp(dev->name, "mlx5", 4) == 0) ||
	    (pci && pci->vendor.known == RD_OK && pci->vendor.v == PCI_MELLANOX))
		return "rc_mlx5";
	return "rc_verbs";
}

static enum distance distance_of(const struct rd_host *host, int gpu, int ibdev)
{
	int pci = rd_stack_pci(host, ibdev), own = host->gpus[gpu].pci;
	struct rd_place place = rd_stack_place(host, own, pci);
	/* Two unknown NUMA nodes count as the same. */
	bool one_node = rd_pci_numa(host, own) == rd_pci_numa(host, pci);

	if (pci < 0)
		return NEAR_UNKNOWN;
	if (place.common > 0)
		return NEAR_BRIDGE;
	if (place.same_root)
		return place.own[0] + place.own[1] > STEPS_ALIKE ? NEAR_FAR_HOST_BRIDGE : NEAR_HOST_BRIDGE;
	return one_node ? NEAR_NODE : NEAR_SYS;
}

static void choose_gpu(const struct rd_host *host, struct rd_stack *ret, int gpu, unsigned *ranks)
{
	struct rd_stack_choice *choice = rd_stack_add(host, ret, gpu, -1);
	unsigned best = NEAR_UNKNOWN;

	for (size_t p = 0; p < host->n_ports; p++) {
		ranks[p] = distance_of(host, gpu, host->ports[p].ibdev);
		if (ret->ports[p].taken && ranks[p] < best)
			best = ranks[p];
	}
	/* Only CUDA memory is restricted to the nearest NICs. */
	if (!rd_stack_is_nvidia(host, (size_t)gpu))
		best = NEAR_UNKNOWN;
	rd_stack_rank(host, ret, ranks, best, choice);
	if (best == NEAR_UNKNOWN)
		choice->why = rd_text(
			"GPU memory is registered with all NICs; which two carry a transfer depends on the peer");
	else
		choice->why = rd_text("%s; %s", distance_why[best],
				      choice->n_first > 2 ?
					      "which two of them carry a transfer depends on the peer" :
					      "NIXL 1.2 on UCX 1.21 registers GPU memory with these only");
}

void rd_stack_ucx(const struct rd_port_views *views, struct rd_stack *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ unsigned *ranks = rd_alloc(host->n_ports + 1, sizeof(*ranks));
	bool taken = false, efa = false, verbs = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rd_stack_port *own = &ret->ports[p];

		own->gid = rd_gid_ucx(port, &own->gid_why);
		own->why_not = why_not(host, port);
		own->taken = !own->why_not;
		if (own->taken)
			own->transport = transport_of(host, port->ibdev);
	}
	for (size_t p = 0; p < host->n_ports; p++) {
		const char *transport = ret->ports[p].transport;

		taken |= ret->ports[p].taken;
		efa |= transport && strcmp(transport, "srd") == 0;
		verbs |= transport && strcmp(transport, "rc_verbs") == 0;
	}
	ret->transport = taken ? NULL : "tcp";
	ret->note = rd_text(
		"UCX_NET_DEVICES not set, no device_list given; before NIXL 1.2 or UCX 1.21, GPU memory may use any "
		"NIC%s%s",
		efa ? "; srd needs UCX 1.19 or later, built with libefa: else TCP" : "",
		verbs ? "; rc_verbs needs shared receive queues (SRQ), which sysfs does not report" : "");
	for (size_t g = 0; !ret->transport && g < host->n_gpus; g++)
		if (rd_stack_serves(host, g))
			choose_gpu(host, ret, (int)g, ranks);
	if (!ret->transport)
		rd_stack_add_all(host, ret, ranks,
				 "two NICs by bandwidth; depends on the peer and on the CPU affinity of the process");
}
