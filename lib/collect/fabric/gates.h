/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which agent may be queried next, if datagrams to it pass switches of which each lets a limited number pass at a time. The switches
 * are a tree: to reach one, a datagram passes its parents. Gate 0 is the root, without a limit. Each operation takes time in
 * proportion to the depth of the tree, not to the number of agents.
 */
#ifndef RD_COLLECT_GATES_H
#define RD_COLLECT_GATES_H

#include "base/base.h"

/* The lists that an agent can wait in; one of the first is always taken before one of the second. */
enum rd_gate_class { RD_GATE_FIRST, RD_GATE_RETRY, RD_GATE_CLASSES };

struct rd_gate;

struct rd_gates {
	struct rd_gate *v; /* by index; 0: the root */
	size_t n;
	unsigned limit;	      /* of each gate but the root */
	uint32_t *next_agent; /* per agent: the next one in its list */
};

/* `parents`: of each gate, parents[i] < i, and parents[0] not used; copied. n 0: only the root. */
void rd_gates_init(struct rd_gates *gates, const uint32_t *parents, size_t n, unsigned limit, size_t n_agents);
void rd_gates_deinit(struct rd_gates *gates);

/* Lets an agent behind the gate wait. An agent can wait once only. */
void rd_gates_push(struct rd_gates *gates, size_t agent, uint32_t gate, enum rd_gate_class class);

/* Takes an agent that waits, and for which all gates have room; SIZE_MAX: none. */
size_t rd_gates_pop(struct rd_gates *gates);

/* A datagram passes a gate and its parents, until it leaves. */
void rd_gates_enter(struct rd_gates *gates, uint32_t gate);
void rd_gates_leave(struct rd_gates *gates, uint32_t gate);

#endif
