/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fabric/fabric-census.h"

#include <string.h>

bool rd_fabric_is_aggregation(const struct rd_fabric_node *node)
{
	return node->kind == RD_NODE_CA && strstr(node->description, "Aggregation Node");
}

static void count_node(const struct rd_fabric_node *node, struct rd_fabric_census *census)
{
	if (node->kind == RD_NODE_SWITCH)
		census->switches++;
	else if (node->kind == RD_NODE_ROUTER)
		census->routers++;
	else if (rd_fabric_is_aggregation(node))
		census->aggregation_nodes++;
	else
		census->adapters++;
}

static void count_link(const struct rd_fabric *fabric, size_t index, struct rd_fabric_census *census)
{
	const struct rd_fabric_port *port = &fabric->ports[index], *peer = &fabric->ports[port->peer];
	size_t at = 0;

	census->links++;
	if (!port->width_active || !port->speed_active) {
		census->unknown++;
		return;
	}
	while (at < census->n_rates &&
	       (census->rates[at].width != port->width_active || census->rates[at].speed != port->speed_active))
		at++;
	if (at == RD_CENSUS_RATES) {
		census->unknown++;
		return;
	}
	if (at == census->n_rates)
		census->rates[census->n_rates++] = (struct rd_fabric_rate){ .width = port->width_active,
									    .speed = port->speed_active,
									    .example = index };
	census->rates[at].links++;
	census->rates[at].uplinks += fabric->nodes[port->node].kind == RD_NODE_SWITCH &&
				     fabric->nodes[peer->node].kind == RD_NODE_SWITCH;
}

static int most_first(const void *a, const void *b)
{
	const struct rd_fabric_rate *x = a, *y = b;

	return RD_CMP(y->links, x->links) ?: RD_CMP(x->example, y->example);
}

void rd_fabric_take_census(const struct rd_fabric *fabric, struct rd_fabric_census *ret)
{
	size_t last = RD_NONE;

	*ret = (struct rd_fabric_census){ 0 };
	for (size_t i = 0; i < fabric->n_ports; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (port->presence == RD_PORT_GONE)
			continue;
		/* Ports are sorted by node. */
		if (port->node != last)
			count_node(&fabric->nodes[port->node], ret);
		last = port->node;
		if (port->peer != RD_NONE && i < port->peer)
			count_link(fabric, i, ret);
	}
	qsort(ret->rates, ret->n_rates, sizeof(*ret->rates), most_first);
}

bool rd_fabric_rate_is_rare(const struct rd_fabric_census *census, const struct rd_fabric_rate *rate)
{
	return rate->links <= 3 && rate->links * 20 <= census->links;
}
