/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fabric/routes.h"

#include "base/memory.h"

void rd_routes_init(const struct rd_fabric *fabric, struct rd_routes *routes)
{
	*routes = (struct rd_routes){ .n_nodes = fabric->n_nodes };
	routes->tables = rd_alloc(fabric->n_nodes + 1, sizeof(*routes->tables));
	routes->first = rd_alloc(fabric->n_nodes + 1, sizeof(*routes->first));
	routes->owners = rd_alloc(RD_LID_MAX + 1, sizeof(*routes->owners));
	for (size_t i = 0; i < fabric->n_nodes; i++) {
		routes->first[i] = fabric->n_ports;
		routes->n_switches += fabric->nodes[i].kind == RD_NODE_SWITCH;
	}
	for (size_t i = 0; i <= RD_LID_MAX; i++)
		routes->owners[i] = RD_NONE;
	for (size_t i = fabric->n_ports; i-- > 0;) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		routes->first[port->node] = i;
		if (port->presence == RD_PORT_GONE || !port->lid)
			continue;
		for (size_t lid = port->lid; lid <= RD_LID_MAX && lid - port->lid < (size_t)1 << port->lmc; lid++)
			routes->owners[lid] = i;
	}
}

void rd_routes_deinit(struct rd_routes *routes)
{
	for (size_t i = 0; routes->tables && i < routes->n_nodes; i++) {
		for (size_t j = 0; routes->tables[i].blocks && j < RD_ROUTE_BLOCKS; j++)
			free(routes->tables[i].blocks[j]);
		free(routes->tables[i].blocks);
	}
	RD_FREE(routes->tables, routes->first, routes->owners);
	*routes = (struct rd_routes){ 0 };
}

uint8_t *rd_routes_block(struct rd_routes *routes, size_t node, size_t block)
{
	struct rd_route_table *table = &routes->tables[node];

	if (!table->blocks)
		table->blocks = rd_alloc(RD_ROUTE_BLOCKS, sizeof(*table->blocks));
	if (!table->blocks[block])
		table->blocks[block] = rd_alloc(RD_ROUTE_BLOCK, 1);
	return table->blocks[block];
}

int rd_routes_egress(const struct rd_routes *routes, size_t node, uint16_t lid)
{
	const struct rd_route_table *table = &routes->tables[node];
	size_t block = lid / RD_ROUTE_BLOCK;

	if (lid > RD_LID_MAX || (table->top.known == RD_OK && lid > table->top.v))
		return RD_ROUTE_NONE;
	if (table->top.known != RD_OK || !table->blocks || !table->blocks[block])
		return RD_ROUTE_UNREAD;
	return table->blocks[block][lid % RD_ROUTE_BLOCK];
}

size_t rd_routes_port(const struct rd_fabric *fabric, const struct rd_routes *routes, size_t node, unsigned number)
{
	size_t first = routes->first[node], at;

	if (first == fabric->n_ports || number < fabric->ports[first].number)
		return RD_NONE;
	at = first + number - fabric->ports[first].number;
	if (at < fabric->n_ports && fabric->ports[at].node == node && fabric->ports[at].number == number)
		return at;
	return rd_fabric_find_port(fabric, fabric->nodes[node].guid, number);
}
