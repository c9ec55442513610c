/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/fabric/fabric-need.h"
#include "collect/fabric/pma.h"

/* Notes, as PortRcvSwitchRelayErrors, which counts on healthy switches, are worth no query of their own. */
static bool is_decisive(const struct rd_fabric *fabric, size_t counter)
{
	enum rd_pma_kind kind = rd_pma_counters[counter].kind;

	return kind == RD_PMA_ERROR || kind == RD_PMA_DROP || (kind == RD_PMA_WAIT && fabric->traffic);
}

bool rd_need_sums(const struct rd_fabric_node *node, size_t n)
{
	return node->kind == RD_NODE_SWITCH && n > 1 && !node->no_sums && rd_pma_has_sums(node);
}

bool rd_need_credible(const struct rd_pma_value *sums)
{
	return sums[RD_C_XMIT_PKTS].v > 0 || sums[RD_C_RCV_PKTS].v > 0;
}

static bool same(const struct rd_pma_value *a, const struct rd_pma_value *b)
{
	return a->bits && a->bits == b->bits && a->v == b->v && !rd_pma_saturated(a);
}

bool rd_need_conclude(const struct rd_fabric *fabric, const struct rd_fabric_port *port,
		      const struct rd_pma_value *sums, struct rd_pma_value *values)
{
	const struct rd_fabric_node *node = &fabric->nodes[port->node];
	bool read = false;

	for (size_t i = 0; i < RD_PMA_SUMS; i++) {
		bool unmoved = node->sums && port->fresh && port->values && same(&sums[i], &node->sums[i]);
		struct rd_pma_value value = { 0 };

		if (sums[i].bits == 0)
			continue;
		if (sums[i].v == 0)
			value.bits = rd_pma_extended_errors(node) || rd_pma_counters[i].kind == RD_PMA_DATA ||
						     rd_pma_counters[i].kind == RD_PMA_PACKETS ?
					     64 :
					     sums[i].bits;
		else if (unmoved)
			value = port->values[i];
		if (values[i].bits == 0)
			values[i] = value;
		read |= value.bits == 0 && is_decisive(fabric, i);
	}
	return read;
}

bool rd_need_details(const struct rd_fabric *fabric, const struct rd_fabric_port *port, size_t attribute,
		     struct rd_pma_value *values)
{
	size_t parent = rd_pma_attributes[attribute].id == RD_PMA_RCV_ERROR_DETAILS ? RD_C_RCV_ERRORS :
										      RD_C_XMIT_DISCARDS;
	bool unmoved = port->values && same(&values[parent], &port->values[parent]), known = unmoved;

	if (values[parent].bits == 0 || values[parent].v == 0)
		return false;
	for (size_t i = 0; i < fabric->n_values; i++)
		if (rd_pma_counters[i].attribute == attribute)
			known = known && port->values[i].bits;
	for (size_t i = 0; known && i < fabric->n_values; i++)
		if (rd_pma_counters[i].attribute == attribute)
			values[i] = port->values[i];
	return !known;
}

bool rd_need_contradicts(const struct rd_pma_value *sums, const uint64_t *added)
{
	for (size_t i = 0; i < RD_PMA_SUMS; i++)
		if ((rd_pma_counters[i].kind == RD_PMA_ERROR || rd_pma_counters[i].kind == RD_PMA_DROP) &&
		    sums[i].bits && !rd_pma_saturated(&sums[i]) && added[i] > sums[i].v)
			return true;
	return false;
}
