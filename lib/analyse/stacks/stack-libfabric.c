/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libfabric (src/fabric.c: the order of providers; prov/efa, prov/verbs: their devices), and NIXL's backend on it
 * (src/utils/libfabric/libfabric_common.cpp, libfabric_topology.cpp). */

#include "analyse/shared/gid.h"
#include "analyse/stacks/stack-priv.h"
#include "base/text.h"

#define DEPTH_MAX 64

static const char verbs_rxm[] = "verbs;ofi_rxm";

/* rdma_cm binds to an address of the interface and uses its GID. */
static int bound_gid(const struct rd_port_views *views, size_t p, const char **why)
{
	const struct rd_port *port = &views->host->ports[p];
	size_t v4 = 0, v6 = 0;

	if (!rd_port_is_ethernet(port)) {
		*why = port->n_gids ? "the port's own" : "the GID table is empty or unknown";
		return views->v[p].gid;
	}
	for (size_t i = 0; i < port->n_gids; i++) {
		bool usable = !rd_gid_fault(views->host, port, &port->gids[i]);

		v4 += usable && rd_gid_is_v4(&port->gids[i]);
		v6 += usable && !rd_gid_is_v4(&port->gids[i]);
	}
	if (v4 == 1 || (v4 == 0 && v6 == 1)) {
		*why = "of the interface's address, selected by rdma_cm; RoCE v2 unless default_roce_mode is set to v1";
		return views->v[p].gid;
	}
	*why = v4 + v6 == 0 ? "no routable address: rdma_cm finds no RoCE v2 GID" :
			      "depends on which of several addresses the program binds to";
	return -1;
}

static const char *why_not_verbs(const struct rd_host *host, const struct rd_port *port)
{
	if (rd_ibdev_is_gaudi(host, port->ibdev))
		return "Gaudi ports are used by HCCL only";
	if (!rd_stack_port_up(host, port))
		return "not active";
	if (port->gids_known && port->n_gids == 0)
		return "no address for rdma_cm to bind to";
	return NULL;
}

static bool use_efa(const struct rd_port_views *views, struct rd_stack *ret)
{
	const struct rd_host *host = views->host;
	bool any = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		struct rd_stack_port *own = &ret->ports[p];

		own->taken = rd_ibdev_is_efa(host, host->ports[p].ibdev);
		own->why_not = own->taken ? NULL : "no EFA device";
		own->gid_why = "the device's own, index 0";
		own->gid = own->taken ? views->v[p].gid : -1;
		own->transport = own->taken ? "efa" : NULL;
		any |= own->taken;
	}
	return any;
}

static bool use_verbs(const struct rd_port_views *views, struct rd_stack *ret)
{
	const struct rd_host *host = views->host;
	bool any = false;

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct rd_port *port = &host->ports[p];
		struct rd_stack_port *own = &ret->ports[p];

		if (rd_ibdev_is_efa(host, port->ibdev))
			continue;
		own->why_not = why_not_verbs(host, port);
		own->taken = !own->why_not;
		own->gid = bound_gid(views, p, &own->gid_why);
		own->transport = own->taken ? verbs_rxm : NULL;
		any |= own->taken;
	}
	return any;
}

/* libfabric lets the program choose the NIC: it lists domains in device order, EFA first. */
void rd_stack_libfabric(const struct rd_port_views *views, struct rd_stack *ret)
{
	const struct rd_host *host = views->host;
	_cleanup_free_ unsigned *ranks = rd_alloc(host->n_ports + 1, sizeof(*ranks));
	bool efa = use_efa(views, ret), verbs = use_verbs(views, ret);
	struct rd_stack_choice *choice;

	ret->transport = efa || verbs ? NULL : "tcp";
	ret->note = rd_text("FI_PROVIDER not set; first of the built-in providers: %s",
			    efa	  ? "efa" :
			    verbs ? "verbs (under ofi_rxm for FI_EP_RDM endpoints)" :
				    "tcp");
	if (ret->transport)
		return;
	choice = rd_stack_add(host, ret, -1, -1);
	for (size_t p = 0; p < host->n_ports; p++)
		ranks[p] = !rd_ibdev_is_efa(host, host->ports[p].ibdev);
	rd_stack_rank(host, ret, ranks, efa ? 0 : 1, choice);
	choice->why = rd_text("libfabric lists %s; the program chooses, usually the first",
			      choice->n_first == 1 ? "this one" : "these in device order");
}

/* A node of hwloc's tree: a PCI function, a host bridge, a NUMA node, a socket, the machine. */
struct node {
	enum { AT_NONE, AT_FUNCTION, AT_HOST_BRIDGE, AT_NUMA, AT_SOCKET, AT_MACHINE } kind;
	int id;
	const char *root;
};

static bool is_same_node(const struct node *a, const struct node *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == AT_HOST_BRIDGE ? strcmp(a->root, b->root) == 0 : a->id == b->id;
}

/* From the function itself up to the machine. Above the host bridge, hwloc uses the CPUs that are local to it. */
static size_t nodes_of(const struct rd_host *host, int pci, struct node *ret)
{
	const char *root = host->pcis[pci].root;
	int numa = rd_pci_numa(host, pci);
	const struct rd_numa *node = numa >= 0 ? rd_host_find_numa(host, numa) : NULL;
	size_t n = 0;

	for (; pci >= 0 && n < DEPTH_MAX; pci = host->pcis[pci].parent)
		ret[n++] = (struct node){ AT_FUNCTION, pci, NULL };
	if (root)
		ret[n++] = (struct node){ AT_HOST_BRIDGE, 0, root };
	if (numa >= 0)
		ret[n++] = (struct node){ AT_NUMA, numa, NULL };
	if (node && node->package.known == RD_OK)
		ret[n++] = (struct node){ AT_SOCKET, node->package.v, NULL };
	ret[n++] = (struct node){ AT_MACHINE, 0, NULL };
	return n;
}

/* Whether `node` is above the function, or the function itself. */
static bool is_above(const struct rd_host *host, const struct node *node, int pci)
{
	struct node own[DEPTH_MAX + 4];
	size_t n = nodes_of(host, pci, own);

	for (size_t i = 0; i < n; i++)
		if (is_same_node(&own[i], node))
			return true;
	return false;
}

static int pci_of_port(const struct rd_host *host, size_t p)
{
	return rd_stack_pci(host, host->ports[p].ibdev);
}

/* The lowest node above the accelerator that is also above a NIC. */
static struct node lowest_common_node(const struct rd_host *host, const struct rd_stack *stack, int gpu)
{
	struct node own[DEPTH_MAX + 4];
	size_t n = nodes_of(host, host->gpus[gpu].pci, own);

	for (size_t i = 0; i < n; i++)
		for (size_t p = 0; p < host->n_ports; p++)
			if (stack->ports[p].taken && pci_of_port(host, p) >= 0 &&
			    is_above(host, &own[i], pci_of_port(host, p)))
				return own[i];
	return own[n - 1];
}

/* A NIC belongs to the lowest of these nodes above it. */
static bool belongs_to_node(const struct rd_host *host, const struct node *points, size_t n_points, size_t at, int pci)
{
	struct node own[DEPTH_MAX + 4];
	size_t n = nodes_of(host, pci, own);

	for (size_t i = 0; i < n; i++)
		for (size_t g = 0; g < n_points; g++)
			if (is_same_node(&own[i], &points[g]))
				return is_same_node(&points[g], &points[at]);
	return false;
}

static bool comes_before(const struct rd_host *host, int a, int b)
{
	const struct rd_pci *pa = &host->pcis[pci_of_port(host, (size_t)a)];
	const struct rd_pci *pb = &host->pcis[pci_of_port(host, (size_t)b)];

	return pa->bus != pb->bus ? pa->bus < pb->bus : pa->dev < pb->dev;
}

/* The NICs of the node, in bus order, into `ports`. */
static size_t group_of(const struct rd_host *host, const struct rd_stack *stack, const struct node *points,
		       size_t n_gpus, size_t gpu, int *ports)
{
	size_t n = 0;

	for (size_t p = 0; p < host->n_ports; p++) {
		size_t at = n;

		if (!stack->ports[p].taken || pci_of_port(host, p) < 0 ||
		    !belongs_to_node(host, points, n_gpus, gpu, pci_of_port(host, p)))
			continue;
		for (; at > 0 && comes_before(host, (int)p, ports[at - 1]); at--)
			ports[at] = ports[at - 1];
		ports[at] = (int)p;
		n++;
	}
	return n;
}

/* The NICs of a node are divided among its accelerators, the first ones getting the remainder; if there are fewer NICs than
 * accelerators, all of them share all NICs. */
static void choose_share(const struct rd_host *host, struct rd_stack *ret, const struct node *points, size_t gpu)
{
	struct rd_stack_choice *choice = rd_stack_add(host, ret, (int)gpu, -1);
	size_t n, sharing = 0, own = 0, each, extra, from;

	n = group_of(host, ret, points, host->n_gpus, gpu, choice->ports);
	for (size_t g = 0; g < host->n_gpus; g++) {
		own += g < gpu && is_same_node(&points[g], &points[gpu]);
		sharing += is_same_node(&points[g], &points[gpu]);
	}
	if (n >= sharing) {
		each = n / sharing;
		extra = n % sharing;
		from = own * each + (own < extra ? own : extra);
		n = each + (own < extra);
		memmove(choice->ports, choice->ports + from, n * sizeof(*choice->ports));
	}
	choice->n_first = choice->n_ports = n;
	choice->why = rd_text("%s, divided among %zu accelerator%s; a buffer is striped over all of them",
			      points[gpu].kind == AT_FUNCTION	 ? "under the same bridge" :
			      points[gpu].kind == AT_HOST_BRIDGE ? "under the same host bridge" :
								   "joined above the host bridges in hwloc's tree",
			      sharing, sharing == 1 ? "" : "s");
}

/* All NICs, or those of a NUMA node (-1: any). */
static void choose_all(const struct rd_host *host, struct rd_stack *ret, int gpu, int node, const char *why)
{
	struct rd_stack_choice *choice = rd_stack_add(host, ret, gpu, node);

	for (size_t p = 0; p < host->n_ports; p++)
		if (ret->ports[p].taken && (node < 0 || rd_pci_numa(host, pci_of_port(host, p)) == node))
			choice->ports[choice->n_ports++] = (int)p;
	choice->n_first = choice->n_ports;
	choice->why = rd_dup(why);
}

static void choose_efa(const struct rd_host *host, struct rd_stack *ret)
{
	_cleanup_free_ struct node *points = rd_alloc(host->n_gpus + 1, sizeof(*points));

	for (size_t g = 0; g < host->n_gpus; g++)
		if (rd_stack_is_nvidia(host, g))
			points[g] = lowest_common_node(host, ret, (int)g);
	for (size_t g = 0; g < host->n_gpus; g++) {
		if (!rd_stack_serves(host, g))
			continue;
		if (rd_stack_is_nvidia(host, g))
			choose_share(host, ret, points, g);
		else
			choose_all(host, ret, (int)g, -1,
				   "NIXL maps NICs to NVIDIA accelerators only; other accelerators use all NICs");
	}
	for (size_t n = 0; n < host->n_numas; n++)
		choose_all(host, ret, -1, host->numas[n].id,
			   "NICs of this NUMA node round-robin, as many as its PCIe links can carry "
			   "(NIXL_LIBFABRIC_MAX_BW_PER_DRAM_SEG)");
}

void rd_stack_nixl_libfabric(const struct rd_port_views *views, struct rd_stack *ret)
{
	bool efa = use_efa(views, ret);

	ret->transport = efa ? NULL : "tcp";
	ret->note = rd_text(
		efa ? "NIXL's LIBFABRIC backend; FI_PROVIDER and FI_EFA_IFACE not set" :
		      "NIXL's LIBFABRIC backend supports the providers cxi, efa, tcp and sockets, not verbs: TCP over the "
		      "first interface that libfabric lists, unless the host has a Slingshot NIC");
	if (efa)
		choose_efa(views->host, ret);
}
