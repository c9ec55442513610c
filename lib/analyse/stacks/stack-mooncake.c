/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mooncake's transfer engine (mooncake-transfer-engine/src/topology.cpp, rdma_context.cpp, rdma_gid_probe.h). */
#include <limits.h>

#include "analyse/stacks/stack-priv.h"
#include "base/text.h"

/* Mooncake opens one port of each device, with the same number on all devices. */
#define PORT 1

/* From best to worst. Within a class the lower index wins. */
enum gid_class {
	GID_ROUTABLE,
	GID_FOREIGN_ROUTABLE,
	GID_PRIVATE,
	GID_DEGRADED,
	GID_FOREIGN_PRIVATE,
	GID_FOREIGN_DEGRADED,
	GID_LAST, /* RoCE v1: only if there is no other GID */
	GID_NONE,
};

static const char *const class_why[] = {
	[GID_ROUTABLE] = "lowest index whose address is neither private nor link-local",
	[GID_FOREIGN_ROUTABLE] = "routable, but not on a local interface; preferred over 10/8, 172.16/12, 100.64/10",
	[GID_PRIVATE] = "lowest index in 10/8, 172.16/12, 100.64/10: no public or global address",
	[GID_DEGRADED] = "link-local, or on a container's interface: no better GID",
	[GID_FOREIGN_PRIVATE] = "private address, not on a local interface: no better GID",
	[GID_FOREIGN_DEGRADED] = "link-local, not on a local interface: no better GID",
	[GID_LAST] = "RoCE v1: no RoCE v2 GID",
};

/* 192.168.0.0/16 is not included. */
static bool is_private(const struct rd_gid *gid)
{
	const uint8_t *ip = gid->raw + 12;

	return rd_gid_is_v4(gid) &&
	       (ip[0] == 10 || (ip[0] == 172 && (ip[1] & 0xf0) == 16) || (ip[0] == 100 && (ip[1] & 0xc0) == 64));
}

static bool is_container_netdev(const char *netdev)
{
	static const char *const prefixes[] = { "flannel", "cni", "calico", "vxlan", "docker" };

	for (size_t i = 0; netdev && i < RD_ARRAY_SIZE(prefixes); i++)
		if (rd_starts_with(netdev, prefixes[i]))
			return true;
	return netdev && strcmp(netdev, "tunl0") == 0;
}

static enum gid_class class_of(const struct rd_gid *gid, enum rd_gid_type type)
{
	bool v2 = type == RD_GID_ROCE_V2, here = gid->netdev != NULL;

	if (type == RD_GID_ROCE_V1)
		return GID_LAST;
	/* fe80::/10, which is wider than what the kernel generates. */
	if (v2 && (is_container_netdev(gid->netdev) || (gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80)))
		return here ? GID_DEGRADED : GID_FOREIGN_DEGRADED;
	if (v2 && is_private(gid))
		return here ? GID_PRIVATE : GID_FOREIGN_PRIVATE;
	return here ? GID_ROUTABLE : GID_FOREIGN_ROUTABLE;
}

/* `unknown`: the assumed type of a GID whose type sysfs hides, as it does for interfaces of other network namespaces. */
static int best_gid(const struct rd_port *port, enum rd_gid_type unknown, enum gid_class *ret)
{
	int best = -1;

	*ret = GID_NONE;
	for (size_t i = 0; i < port->n_gids; i++) {
		const struct rd_gid *gid = &port->gids[i];
		bool hidden = gid->type == RD_GID_UNKNOWN && rd_port_is_ethernet(port);
		enum gid_class class = class_of(gid, hidden ? unknown : gid->type);

		if (class < *ret) {
			*ret = class;
			best = (int)i;
		}
	}
	return best;
}

int rd_gid_mooncake(const struct rd_port *port, const char **why)
{
	enum gid_class class, other;
	int gid = best_gid(port, RD_GID_ROCE_V1, &class);

	if (port->n_gids == 0) {
		*why = port->gids_known ? "the GID table is empty" : "the GID table is unknown";
		return -1;
	}
	if (best_gid(port, RD_GID_ROCE_V2, &other) != gid) {
		*why = "depends on the type of a GID in another network namespace, which sysfs does not show";
		return -1;
	}
	*why = rd_port_is_ethernet(port) ? class_why[class] : "lowest index that is not empty";
	return gid;
}

/* A RoCE v2 GID with an IPv4 address wins, first one of a local interface; else the first RoCE v2 GID of a local interface, even
 * if it is link-local. */
int rd_gid_mooncake_0311(const struct rd_port *port)
{
	int v4_foreign = -1, here = -1, foreign = -1;

	for (size_t i = 0; i < port->n_gids; i++) {
		const struct rd_gid *gid = &port->gids[i];

		if (gid->type == RD_GID_ROCE_V1 || (rd_port_is_ethernet(port) && gid->type == RD_GID_UNKNOWN))
			continue;
		if (gid->type == RD_GID_ROCE_V2 && rd_gid_is_v4(gid)) {
			if (gid->netdev)
				return (int)i;
			v4_foreign = v4_foreign < 0 ? (int)i : v4_foreign;
		} else if (gid->netdev) {
			here = here < 0 ? (int)i : here;
		} else {
			foreign = foreign < 0 ? (int)i : foreign;
		}
	}
	return v4_foreign >= 0 ? v4_foreign : here >= 0 ? here : foreign;
}

/* Mooncake lists a device if any of its ports is active, whichever port it opens later. */
static bool is_listed(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	for (unsigned i = 0; i < dev->n_ports; i++)
		if (rd_stack_port_up(host, &host->ports[dev->first_port + (int)i]))
			return true;
	return false;
}

static const char *why_not(const struct rd_host *host, const struct rd_port *port, const struct rd_stack_port *own)
{
	if (rd_ibdev_is_gaudi(host, port->ibdev))
		return "Gaudi ports are used by HCCL only";
	if (!is_listed(host, port->ibdev))
		return "no port of the device is active";
	if (port->num > 0 && port->num != PORT)
		return "Mooncake opens port 1 of each device; MC_IB_PORT changes this for all devices";
	if (!rd_stack_port_up(host, port))
		return "Mooncake opens port 1, which is not active";
	return own->gid < 0 && port->gids_known && port->n_gids == 0 ? own->gid_why : NULL;
}

/* The number of slashes that the two paths do not share. If the host bridges differ, the number of the bridge differs, too. */
static int count_steps(const struct rd_host *host, int gpu, int ibdev)
{
	int pci = rd_stack_pci(host, ibdev);
	struct rd_place place = rd_stack_place(host, host->gpus[gpu].pci, pci);

	if (pci < 0)
		return -1;
	return (int)(place.own[0] + place.own[1]) - (place.same_root ? 2 : 0);
}

static bool same_node(const struct rd_host *host, int gpu, int ibdev)
{
	int pci = rd_stack_pci(host, ibdev), node = rd_pci_numa(host, host->gpus[gpu].pci);

	return node >= 0 && pci >= 0 && node == rd_pci_numa(host, pci);
}

/* Ranks NICs: those on the accelerator's NUMA node if there are any, and among these the ones with the fewest steps are best.
 * Returns the number of steps; INT_MAX: no NIC has a PCI path. */
static int rank_nearest(const struct rd_host *host, const struct rd_stack *stack, int gpu, unsigned *ranks)
{
	bool in_node = false;
	int best = INT_MAX;

	for (size_t p = 0; p < host->n_ports; p++)
		in_node |= stack->ports[p].taken && same_node(host, gpu, host->ports[p].ibdev);
	for (size_t p = 0; p < host->n_ports; p++) {
		int n = count_steps(host, gpu, host->ports[p].ibdev);
		bool counts = n >= 0 && (!in_node || same_node(host, gpu, host->ports[p].ibdev));

		ranks[p] = counts ? (unsigned)n : UINT_MAX;
		if (stack->ports[p].taken && counts && n < best)
			best = n;
	}
	/* The other NICs are fallbacks, in device order. */
	for (size_t p = 0; p < host->n_ports; p++)
		ranks[p] = best != INT_MAX && ranks[p] == (unsigned)best ? 0 : 1;
	return best;
}

static void choose_gpu(const struct rd_host *host, struct rd_stack *ret, int gpu, unsigned *ranks)
{
	struct rd_stack_choice *choice = rd_stack_add(host, ret, gpu, -1);
	int best = rank_nearest(host, ret, gpu, ranks);

	rd_stack_rank(host, ret, ranks, 0, choice);
	if (best == INT_MAX)
		choice->why = rd_text("no NIC has a PCI path: a random one of all NICs");
	else
		choice->why = rd_text("%d sysfs path component%s apart; %zu nearest NIC%s, a random one for each slice",
				      best, best == 1 ? "" : "s", choice->n_first, choice->n_first == 1 ? "" : "s");
}

static void choose_node(const struct rd_host *host, struct rd_stack *ret, int node, unsigned *ranks)
{
	struct rd_stack_choice *choice = rd_stack_add(host, ret, -1, node);

	for (size_t p = 0; p < host->n_ports; p++)
		ranks[p] = rd_pci_numa(host, rd_stack_pci(host, host->ports[p].ibdev)) == node ? 0 : 1;
	rd_stack_rank(host, ret, ranks, 0, choice);
	choice->why = choice->n_first ? rd_text("NICs of this NUMA node, regardless of role; a random one") :
					rd_text("no NIC on this NUMA node: a random one of all NICs");
}

void rd_stack_mooncake(const struct rd_port_views *views, struct rd_stack *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ unsigned *ranks = rd_alloc(host->n_ports + 1, sizeof(*ranks));
	bool listed = false, taken = false, efa = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rd_stack_port *own = &ret->ports[p];

		own->gid = rd_gid_mooncake(port, &own->gid_why);
		own->why_not = why_not(host, port, own);
		own->taken = !own->why_not;
		if (own->taken)
			own->transport = rd_ibdev_is_efa(host, port->ibdev) ? "efa" : "rc";
	}
	for (size_t p = 0; p < host->n_ports; p++) {
		listed |= is_listed(host, host->ports[p].ibdev) && !rd_ibdev_is_gaudi(host, host->ports[p].ibdev);
		taken |= ret->ports[p].taken;
		efa |= ret->ports[p].taken && rd_ibdev_is_efa(host, host->ports[p].ibdev);
	}
	/* If the list has a device, Mooncake uses RDMA; if no device on it can be opened, it fails to start. */
	ret->transport = taken ? NULL : listed ? "none" : "tcp";
	ret->note = rd_text(
		"topology detected by Mooncake; MC_TE_FILTERS, MC_GID_INDEX or NCCL_IB_GID_INDEX, MC_IB_PORT not set, no device list given%s%s",
		host->from_topology_file ? "; a topology file omits bridges: distances are counted in the file" : "",
		efa ? "; EFA needs a Mooncake build with EFA support and protocol efa: protocol rdma needs RC, which EFA does not support" :
		      "");
	for (size_t g = 0; !ret->transport && g < host->n_gpus; g++)
		if (rd_stack_serves(host, g))
			choose_gpu(host, ret, (int)g, ranks);
	for (size_t n = 0; !ret->transport && n < host->n_numas; n++)
		choose_node(host, ret, host->numas[n].id, ranks);
	/* A sysfs tree without NUMA nodes, which a live host always has, allows no more detail. */
	if (!ret->transport && ret->n == 0)
		rd_stack_add_all(host, ret, ranks, "NUMA nodes unknown: one of these");
}
