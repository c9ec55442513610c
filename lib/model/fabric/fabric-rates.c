/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fabric/fabric-rates.h"

#define TICK_OF_PORT 7 /* counts octets of the whole port, not of one lane */

bool rd_fabric_value(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter,
		     struct rd_pma_value *ret)
{
	if (!port->values || counter >= fabric->n_values || port->values[counter].bits == 0)
		return false;
	*ret = port->values[counter];
	return true;
}

bool rd_fabric_delta(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, uint64_t *delta,
		     double *seconds)
{
	struct rd_pma_value now, before;

	if (!rd_fabric_value(fabric, port, counter, &now) || !port->before || port->before_ns == 0 ||
	    port->read_ns <= port->before_ns)
		return false;
	before = port->before[counter];
	if (before.bits != now.bits || now.v < before.v || rd_pma_saturated(&now))
		return false;
	*delta = now.v - before.v;
	*seconds = (double)(port->read_ns - port->before_ns) / 1e9;
	return true;
}

double rd_fabric_link_gbps(const struct rd_fabric_port *port)
{
	return port->width_active * rd_link_data_gbps(port->speed_active);
}

bool rd_fabric_gbps(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t counter, double *ret)
{
	uint64_t delta;
	double seconds;

	if (!rd_fabric_delta(fabric, port, counter, &delta, &seconds))
		return false;
	*ret = (double)delta * 4 * 8 / seconds / 1e9;
	return true;
}

bool rd_fabric_wait_share(const struct rd_fabric *fabric, const struct rd_fabric_port *port, double *ret)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	double seconds, octets, gbps = rd_fabric_link_gbps(port), share;
	uint64_t ticks;

	if (node->tick.known != RD_OK || gbps <= 0 ||
	    !rd_fabric_delta(fabric, port, rd_pma_find_counter("PortXmitWait"), &ticks, &seconds))
		return false;
	octets = node->tick.v + 1.0;
	if (node->tick.v != TICK_OF_PORT)
		octets *= port->width_active;
	share = (double)ticks * octets * 8 / (gbps * 1e9 * seconds);
	*ret = share > 1 ? 1 : share;
	return true;
}
