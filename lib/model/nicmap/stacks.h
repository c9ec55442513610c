/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Choices of stacks that move KV caches: the NICs for each kind of memory, the GID of each port, the transport. If a rule
 * depends on facts that are not visible on the host (how a library was built, the peer), the choice is the set of
 * candidates, and `why` states the dependency. Indices are those of struct rd_host.
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

/* How a stack uses a port by default, without variables. */
struct rd_stack_port {
	bool taken;	       /* the stack can use it */
	int gid;	       /* index into the port's gids; -1: none, or unknown */
	const char *gid_why;   /* why this GID, or why none; static */
	const char *transport; /* "rc_mlx5", "srd", "verbs;ofi_rxm"; static; NULL: none */
	const char *why_not;   /* why it is not used; static; NULL: it is used */
};

/* The ports selected for some memory. */
struct rd_stack_choice {
	int gpu;    /* index; -1: not a GPU's memory */
	int numa;   /* node of host memory; -1: of a GPU, or all memory */
	int *ports; /* n_first ports that are used first, then fallback ports; owned */
	size_t n_first, n_ports;
	char *why; /* owned */
};

struct rd_stack {
	struct rd_stack_port *ports; /* one per port of the host; owned */
	struct rd_stack_choice *v;   /* owned */
	size_t n, cap;
	const char *transport; /* if it uses no port: "tcp", "none"; static; NULL: it uses ports */
	char *note;	       /* note about all choices; owned */
};

struct rd_stacks {
	struct rd_stack v[RD_STACKS];
	struct rd_findings findings;
};
void rd_stacks_deinit(struct rd_stacks *stacks);

/* Name in options, tables and `assignment`: "mooncake", "ucx", "nixl_libfabric", "libfabric". */
const char *rd_stack_name(enum rd_stack_id id);

#endif
