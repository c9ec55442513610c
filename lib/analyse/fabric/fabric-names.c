/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-names.h"

#include "base/text.h"

char *rd_fabric_port_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return rd_text("%s port %u", rd_fabric_name(&fabric->nodes[port->node]), port->number);
}

size_t rd_fabric_neighbour(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	if (port->peer != RD_NONE || port->was_guid == 0)
		return port->peer;
	return rd_fabric_find_port(fabric, port->was_guid, port->was_port);
}

char *rd_fabric_cable_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	size_t neighbour = rd_fabric_neighbour(fabric, port);
	const struct rd_fabric_port *peer = neighbour == RD_NONE ? NULL : &fabric->ports[neighbour];

	if (!peer)
		return rd_fabric_port_text(fabric, port);
	return rd_text("%s port %u, to %s port %u", rd_fabric_name(&fabric->nodes[port->node]), port->number,
		       rd_fabric_name(&fabric->nodes[peer->node]), peer->number);
}
