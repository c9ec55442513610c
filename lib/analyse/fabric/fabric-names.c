/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-names.h"

#include "base/text.h"

char *rd_fabric_port_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	return rd_text("%s port %u", rd_fabric_name(&fabric->nodes[port->node]), port->number);
}

char *rd_fabric_cable_text(const struct rd_fabric *fabric, const struct rd_fabric_port *port)
{
	const struct rd_fabric_port *peer = port->peer == RD_NONE ? NULL : &fabric->ports[port->peer];

	if (!peer)
		return rd_fabric_port_text(fabric, port);
	return rd_text("%s port %u, to %s port %u", rd_fabric_name(&fabric->nodes[port->node]), port->number,
		       rd_fabric_name(&fabric->nodes[peer->node]), peer->number);
}
