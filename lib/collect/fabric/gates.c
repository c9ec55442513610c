/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/gates.h"

#include "base/memory.h"

#define NONE UINT32_MAX

/* A list of agents or gates, whose elements have the index of the next one elsewhere. */
struct list {
	uint32_t first, last;
};

/*
 * A gate is in the list of its parent if it has room, and something waits behind it. So a walk down the lists from the root finds an
 * agent that can be queried. A gate that became full is dropped from the list when it is met, and put back when it has room again.
 */
struct rd_gate {
	uint32_t parent;
	unsigned passing;
	struct {
		struct list agents, gates;
		uint32_t next; /* in the list of the parent */
		bool listed;
	} of[RD_GATE_CLASSES];
};

static bool is_full(const struct rd_gates *gates, uint32_t gate)
{
	return gate != 0 && gates->v[gate].passing >= gates->limit;
}

static bool has_work(const struct rd_gate *gate, enum rd_gate_class class)
{
	return gate->of[class].agents.first != NONE || gate->of[class].gates.first != NONE;
}

void rd_gates_init(struct rd_gates *gates, const uint32_t *parents, size_t n, unsigned limit, size_t n_agents)
{
	static const struct list empty = { NONE, NONE };

	*gates = (struct rd_gates){ .n = n ? n : 1, .limit = limit };
	gates->v = rd_alloc(gates->n, sizeof(*gates->v));
	gates->next_agent = rd_alloc(n_agents + 1, sizeof(*gates->next_agent));
	for (size_t i = 0; i < gates->n; i++) {
		gates->v[i].parent = i ? parents[i] : 0;
		for (int c = 0; c < RD_GATE_CLASSES; c++)
			gates->v[i].of[c].agents = gates->v[i].of[c].gates = empty;
	}
}

void rd_gates_deinit(struct rd_gates *gates)
{
	RD_FREE(gates->v, gates->next_agent);
}

/* Puts a gate into the list of its parent, and its parents into those of theirs, up to one that is full. */
static void list_gate(struct rd_gates *gates, uint32_t gate, enum rd_gate_class class)
{
	while (gate != 0 && !gates->v[gate].of[class].listed && !is_full(gates, gate) &&
	       has_work(&gates->v[gate], class)) {
		struct list *list = &gates->v[gates->v[gate].parent].of[class].gates;

		gates->v[gate].of[class].listed = true;
		gates->v[gate].of[class].next = NONE;
		if (list->first == NONE)
			list->first = gate;
		else
			gates->v[list->last].of[class].next = gate;
		list->last = gate;
		gate = gates->v[gate].parent;
	}
}

void rd_gates_push(struct rd_gates *gates, size_t agent, uint32_t gate, enum rd_gate_class class)
{
	struct list *list = &gates->v[gate].of[class].agents;

	gates->next_agent[agent] = NONE;
	if (list->first == NONE)
		list->first = (uint32_t)agent;
	else
		gates->next_agent[list->last] = (uint32_t)agent;
	list->last = (uint32_t)agent;
	list_gate(gates, gate, class);
}

static uint32_t take_gate(struct rd_gates *gates, uint32_t from, enum rd_gate_class class)
{
	struct list *list = &gates->v[from].of[class].gates;
	uint32_t gate = list->first;

	list->first = gates->v[gate].of[class].next;
	gates->v[gate].of[class].listed = false;
	return gate;
}

/* Agents behind other gates come first: the more gates a datagram passes, the fewer can be sent at a time. Returns the agent; NONE.
 * A gate that still has something waiting is put at the end of its list, so that gates take turns. */
static uint32_t pop_class(struct rd_gates *gates, enum rd_gate_class class)
{
	uint32_t at = 0, agent;

	for (;;) {
		if (gates->v[at].of[class].gates.first != NONE) {
			uint32_t gate = take_gate(gates, at, class);

			at = is_full(gates, gate) ? at : gate;
		} else if (at != 0 && gates->v[at].of[class].agents.first == NONE) {
			at = gates->v[at].parent; /* only gates that are full were behind it */
		} else {
			break;
		}
	}
	agent = gates->v[at].of[class].agents.first;
	if (agent != NONE)
		gates->v[at].of[class].agents.first = gates->next_agent[agent];
	for (; at != 0; at = gates->v[at].parent)
		list_gate(gates, at, class);
	return agent;
}

size_t rd_gates_pop(struct rd_gates *gates)
{
	for (int class = 0; class < RD_GATE_CLASSES; class ++) {
		uint32_t agent = pop_class(gates, class);

		if (agent != NONE)
			return agent;
	}
	return SIZE_MAX;
}

void rd_gates_enter(struct rd_gates *gates, uint32_t gate)
{
	for (; gate != 0; gate = gates->v[gate].parent)
		gates->v[gate].passing++;
}

void rd_gates_leave(struct rd_gates *gates, uint32_t gate)
{
	for (uint32_t at = gate; at != 0; at = gates->v[at].parent)
		gates->v[at].passing--;
	for (; gate != 0; gate = gates->v[gate].parent)
		for (int class = 0; class < RD_GATE_CLASSES; class ++)
			list_gate(gates, gate, class);
}
