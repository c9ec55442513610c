/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/stacks/stacks.h"

#include <string.h>

#include "analyse/stacks/stack-priv.h"
#include "base/memory.h"

#define DEPTH_MAX 64
#define PCI_NVIDIA 0x10de
#define PCI_HABANA 0x1da3

static size_t chain_of(const struct rd_host *host, int pci, int *chain)
{
	size_t n = 0;

	for (; pci >= 0 && n < DEPTH_MAX; pci = host->pcis[pci].parent)
		chain[n++] = pci;
	return n;
}

struct rd_place rd_stack_place(const struct rd_host *host, int a, int b)
{
	struct rd_place place = { 0 };
	int ca[DEPTH_MAX], cb[DEPTH_MAX];
	size_t na = chain_of(host, a, ca), nb = chain_of(host, b, cb);
	const char *ra = a >= 0 ? host->pcis[a].root : NULL, *rb = b >= 0 ? host->pcis[b].root : NULL;

	if (a < 0 || b < 0)
		return place;
	while (place.common < na && place.common < nb && ca[na - 1 - place.common] == cb[nb - 1 - place.common])
		place.common++;
	place.known = place.common > 0 || (ra && rb) || host->from_topology_file;
	place.same_root = place.common > 0 || (ra && rb && strcmp(ra, rb) == 0);
	place.own[0] = na - place.common;
	place.own[1] = nb - place.common;
	return place;
}

struct rd_stack_choice *rd_stack_add(const struct rd_host *host, struct rd_stack *stack, int gpu, int numa)
{
	struct rd_stack_choice *choice;

	rd_reserve(&stack->v, &stack->cap, stack->n + 1, sizeof(*stack->v));
	choice = &stack->v[stack->n];
	*choice = (struct rd_stack_choice){ .gpu = gpu, .numa = numa };
	choice->ports = rd_alloc(host->n_ports + 1, sizeof(*choice->ports));
	stack->n++;
	return choice;
}

void rd_stack_rank(const struct rd_host *host, const struct rd_stack *stack, const unsigned *ranks, unsigned best,
		   struct rd_stack_choice *choice)
{
	for (size_t p = 0; p < host->n_ports; p++) {
		size_t at = choice->n_ports;

		if (!stack->ports[p].taken)
			continue;
		for (; at > 0 && ranks[choice->ports[at - 1]] > ranks[p]; at--)
			choice->ports[at] = choice->ports[at - 1];
		choice->ports[at] = (int)p;
		choice->n_ports++;
		choice->n_first += ranks[p] <= best;
	}
}

void rd_stack_add_all(const struct rd_host *host, struct rd_stack *stack, unsigned *ranks, const char *why)
{
	struct rd_stack_choice *choice = rd_stack_add(host, stack, -1, -1);

	memset(ranks, 0, host->n_ports * sizeof(*ranks));
	rd_stack_rank(host, stack, ranks, 0, choice);
	choice->why = rd_dup(why);
}

bool rd_stack_port_up(const struct rd_host *host, const struct rd_port *port)
{
	return rd_port_active(port) || (host->from_topology_file && !port->state);
}

bool rd_stack_serves(const struct rd_host *host, size_t gpu)
{
	const struct rd_pci *pci = &host->pcis[host->gpus[gpu].pci];

	return pci->vendor.known != RD_OK || pci->vendor.v != PCI_HABANA;
}

bool rd_stack_is_nvidia(const struct rd_host *host, size_t gpu)
{
	const struct rd_pci *pci = &host->pcis[host->gpus[gpu].pci];

	return pci->vendor.known != RD_OK || pci->vendor.v == PCI_NVIDIA;
}

int rd_stack_pci(const struct rd_host *host, int ibdev)
{
	const struct rd_ibdev *dev = &host->ibdevs[ibdev];

	return dev->via && strcmp(dev->via, "netdev") == 0 ? -1 : dev->pci;
}

bool rd_gid_is_v4_link_local(const struct rd_gid *gid)
{
	return rd_gid_is_v4(gid) && gid->raw[12] == 169 && gid->raw[13] == 254;
}

void rd_stacks_fill(const struct rd_host *host, struct rd_nicmap *map)
{
	static void (*const fill[RD_STACKS])(const struct rd_port_views *views, struct rd_stack *ret) = {
		[RD_STACK_MOONCAKE] = rd_stack_mooncake,
		[RD_STACK_UCX] = rd_stack_ucx,
		[RD_STACK_NIXL_LIBFABRIC] = rd_stack_nixl_libfabric,
		[RD_STACK_LIBFABRIC] = rd_stack_libfabric,
	};

	for (size_t i = 0; i < RD_STACKS; i++) {
		struct rd_stack *stack = &map->stacks.v[i];

		stack->ports = rd_alloc(host->n_ports + 1, sizeof(*stack->ports));
		for (size_t p = 0; p < host->n_ports; p++)
			stack->ports[p].gid = -1;
		fill[i](&map->ports, stack);
	}
	rd_stacks_judge(&map->ports, &map->stacks);
}
