/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by stack*.c. */
#ifndef RD_ANALYSE_STACK_PRIV_H
#define RD_ANALYSE_STACK_PRIV_H

#include "model/nicmap/nicmap.h"

/* Relative position of two PCI functions in sysfs. */
struct rd_place {
	bool same_root; /* under the same host bridge */
	size_t common;	/* number of bridges above both */
	size_t own[2];	/* functions below the common bridges, including the function itself */
};
struct rd_place rd_stack_place(const struct rd_host *host, int a, int b);

/* Adds a choice for this memory, with room for all ports. The pointer is valid until the next call. */
struct rd_stack_choice *rd_stack_add(const struct rd_host *host, struct rd_stack *stack, int gpu, int numa);

/* Puts the used ports into a choice, lowest rank first. `ranks`: one per port; ignored for ports that are not used. Ports with
 * rank `best` or lower are used first; the others are fallbacks, in the order of their ranks. */
void rd_stack_rank(const struct rd_host *host, const struct rd_stack *stack, const unsigned *ranks, unsigned best,
		   struct rd_stack_choice *choice);

/* One choice for all memory: all used ports are equally good. `ranks`: scratch, one per port. */
void rd_stack_add_all(const struct rd_host *host, struct rd_stack *stack, unsigned *ranks, const char *why);

bool rd_stack_port_up(const struct rd_host *host, const struct rd_port *port);
/* Whether the stack supports the accelerator's memory: not that of a Gaudi, which is a NIC itself. */
bool rd_stack_serves(const struct rd_host *host, size_t gpu);
bool rd_stack_is_nvidia(const struct rd_host *host, size_t gpu);
/* The PCI function of the device in sysfs; -1 for a device on top of another device's network interface. */
int rd_stack_pci(const struct rd_host *host, int ibdev);

/* One stack each. */
void rd_stack_mooncake(const struct rd_port_views *views, struct rd_stack *ret);
void rd_stack_ucx(const struct rd_port_views *views, struct rd_stack *ret);
void rd_stack_nixl_libfabric(const struct rd_port_views *views, struct rd_stack *ret);
void rd_stack_libfabric(const struct rd_port_views *views, struct rd_stack *ret);

/* The GID that a stack selects, for tests: an index into port->gids, or -1; `why` is static. */
int rd_gid_mooncake(const struct rd_port *port, const char **why);
/* The same in its releases 0.3.10 and 0.3.11. */
int rd_gid_mooncake_0311(const struct rd_port *port);
int rd_gid_ucx(const struct rd_port *port, const char **why);

void rd_stacks_judge(const struct rd_port_views *views, struct rd_stacks *stacks);

#endif
