/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of stack*.c share. */
#ifndef RD_ANALYSE_STACK_PRIV_H
#define RD_ANALYSE_STACK_PRIV_H

#include "base/err.h"
#include "model/nicmap/nicmap.h"

/* How the sysfs paths of two PCI functions lie to each other. */
struct rd_place {
	bool known;
	bool same_root; /* below one host bridge */
	size_t common;	/* bridges that are above both */
	size_t own[2];	/* functions below what is common, each one itself included */
};
struct rd_place rd_stack_place(const struct rd_host *host, int a, int b);

/* A choice for this memory. Good until the next. It has room for all ports. */
struct rd_stack_choice *rd_stack_add(const struct rd_host *host, struct rd_stack *stack, int gpu, int numa);

/* Puts taken ports into a choice, those with the lowest rank first; `ranks`: one per port, of a port that is not taken
 * ignored. Those with `best` or less are used first, the rest stand in in the order of their ranks. */
void rd_stack_rank(const struct rd_host *host, const struct rd_stack *stack, const unsigned *ranks, unsigned best,
		   struct rd_stack_choice *choice);

/* One choice for all memory: every taken port is as good. `ranks`: scratch, one per port. */
void rd_stack_add_all(const struct rd_host *host, struct rd_stack *stack, unsigned *ranks, const char *why);

bool rd_stack_port_up(const struct rd_host *host, const struct rd_port *port);
/* An accelerator whose memory the stack knows: not a Gaudi, which is a NIC itself. */
bool rd_stack_serves(const struct rd_host *host, size_t gpu);
bool rd_stack_is_nvidia(const struct rd_host *host, size_t gpu);
/* The PCI function that sysfs names behind the device itself; -1 for a device that sits on another's interface. */
int rd_stack_pci(const struct rd_host *host, int ibdev);
/* 169.254.0.0/16, which is for one link only. */
bool rd_gid_is_v4_link_local(const struct rd_gid *gid);

/* One stack each. */
void rd_stack_mooncake(const struct rd_port_views *views, struct rd_stack *ret);
void rd_stack_ucx(const struct rd_port_views *views, struct rd_stack *ret);
void rd_stack_nixl_libfabric(const struct rd_port_views *views, struct rd_stack *ret);
void rd_stack_libfabric(const struct rd_port_views *views, struct rd_stack *ret);

/* The GID by one stack's rule, for tests: an index into port->gids, or -1; `why` is static. */
int rd_gid_mooncake(const struct rd_port *port, const char **why);
/* The same in its releases 0.3.10 and 0.3.11. */
int rd_gid_mooncake_0311(const struct rd_port *port);
int rd_gid_ucx(const struct rd_port *port, const char **why);

void rd_stacks_judge(const struct rd_port_views *views, struct rd_stacks *stacks);

#endif
