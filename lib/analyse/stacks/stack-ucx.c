/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NIXL over UCX: ports and GIDs by src/uct/ib/base/ib_device.c and ib_iface.c, distances by src/ucs/sys/topo/base/topo.c,
 * which NICs see GPU memory by ucp_context_select_reg_mds of src/ucp/core/ucp_context.c; what NIXL changes of UCX's
 * defaults by src/plugins/ucx/ucx_utils.cpp. */
#include <limits.h>
#include <string.h>

#include "analyse/stacks/stack-priv.h"
#include "base/memory.h"
#include "base/text.h"

/* UCX's distances: latency first, then bandwidth. Two host bridges of one NUMA node have 17000 MB/s, one host bridge 3500
 * at most, so that the farther NIC counts as the nearer one. */
enum distance { NEAR_BRIDGE, NEAR_NODE, NEAR_HOST_BRIDGE, NEAR_FAR_HOST_BRIDGE, NEAR_SYS, NEAR_UNKNOWN };

#define PCI_MELLANOX 0x15b3

/* Up to so many steps the bandwidth below one host bridge is the same. */
#define STEPS_ALIKE 5

static const char *const distance_why[] = {
	[NEAR_BRIDGE] = "a bridge above both",	[NEAR_NODE] = "one NUMA node",
	[NEAR_HOST_BRIDGE] = "one host bridge", [NEAR_FAR_HOST_BRIDGE] = "one host bridge",
	[NEAR_SYS] = "another NUMA node",	[NEAR_UNKNOWN] = "no PCI path",
};

static bool has_interface_id(const struct rd_gid *gid)
{
	for (size_t i = 8; i < sizeof(gid->raw); i++)
		if (gid->raw[i])
			return true;
	return false;
}

/* Version 2 before 1; then IPv4, global IPv6, link-local. A type that cannot be read counts as version 1. */
static unsigned merit(const struct rd_gid *gid)
{
	unsigned family = rd_gid_is_v4(gid) ? 0 : gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80 ? 2 : 1;

	return family + (gid->type == RD_GID_ROCE_V2 ? 0 : 3);
}

/* Index 1 of a fabric with routers: site-local, with a fabric's number and an interface identifier of this vendor. */
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
	static const char *const told[] = {
		"RoCE v2, IPv4: lowest index",	     "RoCE v2, global IPv6: no IPv4",
		"RoCE v2, link-local: nothing else", "RoCE v1, IPv4: none of version 2",
		"RoCE v1, IPv6: none of version 2",  "RoCE v1, link-local: nothing else",
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
		*why = told[best];
	return gid;
}

int rd_gid_ucx(const struct rd_port *port, const char **why)
{
	int zero = find_index(port, 0), flid = find_index(port, 1);

	*why = port->gids_known || port->n_gids > 0 ? "the GID table is empty" : "the GID table is not known";
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
		return "the ports of a Gaudi are for HCCL";
	if (host->ibdevs[port->ibdev].iwarp)
		return "UCX takes no iWARP devices";
	if (!rd_stack_port_up(host, port))
		return "not active";
	/* The port is checked by this index, whichever it takes later. */
	if ((port->gids_known || port->n_gids > 0) && (zero < 0 || !has_interface_id(&port->gids[zero])))
		return "UCX leaves out a port whose GID at index 0 is empty";
	return NULL;
}

/* By the driver; where a topology file names none, by the device's name or its maker. */
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

static void take_ports(const struct rd_host *host, struct rd_stack *ret)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rd_stack_port *own = &ret->ports[p];

		own->gid = rd_gid_ucx(port, &own->gid_why);
		own->why_not = why_not(host, port);
		own->taken = !own->why_not;
		if (own->taken)
			own->transport = transport_of(host, port->ibdev);
	}
}

static enum distance distance_of(const struct rd_host *host, int gpu, int ibdev)
{
	int pci = rd_stack_pci(host, ibdev), own = host->gpus[gpu].pci;
	struct rd_place place = rd_stack_place(host, own, pci);
	/* Two nodes that nobody knows count as one. */
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
	/* Only CUDA memory is kept off the farther ones. */
	if (!rd_stack_is_nvidia(host, (size_t)gpu))
		best = NEAR_UNKNOWN;
	rd_stack_rank(host, ret, ranks, best, choice);
	if (best == NEAR_UNKNOWN)
		choice->why = rd_text("its memory is registered with all NICs; which two carry it depends on the peer");
	else
		choice->why = rd_text("%s; %s", distance_why[best],
				      choice->n_first > 2 ?
					      "which two of them carry a transfer depends on the peer" :
					      "NIXL 1.2 on UCX 1.21 registers its memory with these only");
}

static void fill_note(const struct rd_host *host, struct rd_stack *ret)
{
	bool taken = false, efa = false, verbs = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		const char *transport = ret->ports[p].transport;

		taken |= ret->ports[p].taken;
		efa |= transport && strcmp(transport, "srd") == 0;
		verbs |= transport && strcmp(transport, "rc_verbs") == 0;
	}
	ret->transport = taken ? NULL : "tcp";
	ret->note = rd_text(
		"UCX_NET_DEVICES not set, no device_list given; before NIXL 1.2 or UCX 1.21 GPU memory goes over any of the "
		"NICs%s%s",
		efa ? "; srd needs UCX 1.19 or later, built with libefa: else TCP" : "",
		verbs ? "; rc_verbs needs shared receive queues, which sysfs does not tell of" : "");
}

void rd_stack_ucx(const struct rd_port_views *views, struct rd_stack *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ unsigned *ranks = rd_alloc(host->n_ports + 1, sizeof(*ranks));

	take_ports(host, ret);
	fill_note(host, ret);
	for (size_t g = 0; !ret->transport && g < host->n_gpus; g++)
		if (rd_stack_serves(host, g))
			choose_gpu(host, ret, (int)g, ranks);
	if (!ret->transport)
		rd_stack_add_all(
			host, ret, ranks,
			"two of all by bandwidth; depends on the peer and on the CPUs that the process may use");
}
