/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stacks that move KV caches take on a host: the NICs for each kind of memory, the GID of each port, the transport.
 * Where a rule depends on what a host does not show (how a library was built, the peer), the answer is the set of
 * candidates, and `why` says on what it depends. Indices are those of struct rd_host.
 */
#ifndef RD_MODEL_STACKS_H
#define RD_MODEL_STACKS_H

#include "model/host/host.h"
#include "model/shared/finding.h"

enum rd_stack_id {
	RD_STACK_MOONCAKE,
	RD_STACK_UCX,		 /* NIXL over UCX */
	RD_STACK_NIXL_LIBFABRIC, /* NIXL's libfabric backend */
	RD_STACK_LIBFABRIC,	 /* any program that leaves the choice to libfabric */
	RD_STACKS,
};

/* What a stack makes of a port by itself, without a variable. */
struct rd_stack_port {
	bool taken;	       /* it is among those that the stack can use */
	int gid;	       /* index into the port's gids; -1: none, or not known */
	const char *gid_why;   /* of that GID, or why there is none; static */
	const char *transport; /* "rc_mlx5", "srd", "verbs;ofi_rxm"; static; NULL: none */
	const char *why_not;   /* why it is not taken; static; NULL: it is */
};

/* What memory gets which ports. */
struct rd_stack_choice {
	int gpu;    /* index; -1: not a GPU's memory */
	int numa;   /* node of host memory; -1: of a GPU, or all memory */
	int *ports; /* those that are used first, then those that stand in for them; owned */
	size_t n_first, n_ports;
	char *why; /* owned */
};

struct rd_stack {
	struct rd_stack_port *ports; /* one per port of the host; owned */
	struct rd_stack_choice *v;   /* owned */
	size_t n, cap;
	const char *transport; /* where it uses no port: "tcp", "none"; static; NULL: it uses ports */
	char *note;	       /* what holds for all of it; owned */
};

struct rd_stacks {
	struct rd_stack v[RD_STACKS];
	struct rd_findings findings;
};
void rd_stacks_deinit(struct rd_stacks *stacks);

/* As options, tables and `assignment` call it: "mooncake", "ucx", "nixl_libfabric", "libfabric". */
const char *rd_stack_name(enum rd_stack_id id);

#endif
