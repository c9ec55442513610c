/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyse/fabric/fabric-pick.h"

#include "base/memory.h"
#include "model/fabric/fabric-rates.h"

struct rank {
	double first, second;
	size_t port;
};

/* Sum of the errors and drops of a port: increase since the previous sweep or, if `total`, the counter values. */
static uint64_t errors_of(const struct rd_fabric *fabric, const struct rd_fabric_port *port, bool total)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fabric->n_values; i++) {
		struct rd_pma_value value;
		uint64_t delta;
		double seconds;

		if (rd_pma_counters[i].kind != RD_PMA_ERROR && rd_pma_counters[i].kind != RD_PMA_DROP)
			continue;
		if (total && rd_fabric_value(fabric, port, i, &value))
			sum += value.v;
		if (!total && port->fresh && rd_fabric_delta(fabric, port, i, &delta, &seconds))
			sum += delta;
	}
	return sum;
}

/* Whether a port that is unread follows another one of its node, of whose ports none was read: one row shows them all. */
static bool is_repeated(const struct rd_fabric *fabric, size_t index)
{
	size_t node = fabric->ports[index].node, from = index;
	bool repeated = false;

	while (from > 0 && fabric->ports[from - 1].node == node)
		from--;
	for (size_t i = from; i < fabric->n_ports && fabric->ports[i].node == node; i++) {
		const struct rd_fabric_port *port = &fabric->ports[i];

		if (!port->selected && port->presence != RD_PORT_GONE)
			continue;
		if (port->fresh)
			return false;
		repeated |= i < index;
	}
	return repeated;
}

static bool is_changed_or_unread(const struct rd_fabric_port *port)
{
	if (port->presence != RD_PORT_PRESENT)
		return true;
	return port->selected && (!port->fresh || port->error || port->error_status);
}

void rd_fabric_pick_faulty(const struct rd_fabric *fabric, bool *picked)
{
	for (size_t i = 0; i < fabric->n_ports; i++)
		if (is_changed_or_unread(&fabric->ports[i]) ? !is_repeated(fabric, i) :
							      errors_of(fabric, &fabric->ports[i], true) > 0)
			picked[i] = true;
}

void rd_fabric_pick_changed(const struct rd_fabric *fabric, size_t busiest, bool *picked)
{
	_cleanup_free_ size_t *order = rd_fabric_sort_by(fabric, RD_FABRIC_BY_TRAFFIC);

	for (size_t i = 0; i < fabric->n_ports; i++)
		if (is_changed_or_unread(&fabric->ports[i]) ? !is_repeated(fabric, i) :
							      errors_of(fabric, &fabric->ports[i], false) > 0)
			picked[i] = true;
	for (size_t i = 0; i < fabric->n_ports && i < busiest; i++) {
		double gbps;

		if (rd_fabric_gbps(fabric, &fabric->ports[order[i]], rd_pma_find_counter("PortXmitData"), &gbps) &&
		    gbps > 0)
			picked[order[i]] = true;
	}
}

static struct rank rank_of(const struct rd_fabric *fabric, size_t index, enum rd_fabric_order order)
{
	const struct rd_fabric_port *port = &fabric->ports[index];
	struct rank rank = { .first = -1, .second = -1, .port = index };
	double seconds;
	uint64_t ticks;

	switch (order) {
	case RD_FABRIC_BY_TRAFFIC:
		if (port->fresh)
			rd_fabric_gbps(fabric, port, rd_pma_find_counter("PortXmitData"), &rank.first);
		break;
	case RD_FABRIC_BY_ERRORS:
		rank.first = (double)errors_of(fabric, port, false);
		rank.second = (double)errors_of(fabric, port, true);
		break;
	case RD_FABRIC_BY_WAIT:
		rd_fabric_wait_share(fabric, port, &rank.first);
		if (rd_fabric_delta(fabric, port, rd_pma_find_counter("PortXmitWait"), &ticks, &seconds))
			rank.second = (double)ticks / seconds;
		break;
	case RD_FABRIC_BY_NODE:
		break;
	}
	return rank;
}

static int compare(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return RD_CMP(y->first, x->first) ?: RD_CMP(y->second, x->second) ?: RD_CMP(x->port, y->port);
}

size_t *rd_fabric_sort_by(const struct rd_fabric *fabric, enum rd_fabric_order order)
{
	_cleanup_free_ struct rank *ranks = rd_alloc(fabric->n_ports + 1, sizeof(*ranks));
	size_t *sorted = rd_alloc(fabric->n_ports + 1, sizeof(*sorted));

	for (size_t i = 0; i < fabric->n_ports; i++)
		ranks[i] = rank_of(fabric, i, order);
	qsort(ranks, fabric->n_ports, sizeof(*ranks), compare);
	for (size_t i = 0; i < fabric->n_ports; i++)
		sorted[i] = ranks[i].port;
	return sorted;
}
