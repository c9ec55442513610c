/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counters/report-rates.h"

#include <stdio.h>

#include "report/shared/report-field.h"

static const struct rd_column rate_columns[RD_RATE_COLUMNS] = {
	[RD_RATE_IBDEV] = { "ibdev", "IBDEV", RD_T_STR, "RDMA device" },
	[RD_RATE_PORT] = { "port", "PORT", RD_T_UINT, "port number" },
	[RD_RATE_NETDEV] = { "netdev", "NETDEV", RD_T_STR, "network interface on the port", .hidden = true },
	[RD_RATE_STATE] = { "state", "STATE", RD_T_STR, "ACTIVE, DOWN ...; gone: the device is missing" },
	[RD_RATE_LINE] = { "rate_gbps", "RATE", RD_T_DOUBLE, "line rate in Gbit/s" },
	[RD_RATE_TX_GBPS] = { "tx_gbps", "TX-GBPS", RD_T_DOUBLE, "sent, in Gbit/s", .decimals = 3 },
	[RD_RATE_TX_SHARE] = { "tx_share", "TX", RD_T_SHARE, "sent, as share of the line rate", .decimals = 1 },
	[RD_RATE_RX_GBPS] = { "rx_gbps", "RX-GBPS", RD_T_DOUBLE, "received, in Gbit/s", .decimals = 3 },
	[RD_RATE_RX_SHARE] = { "rx_share", "RX", RD_T_SHARE, "received, as share of the line rate", .decimals = 1 },
	[RD_RATE_TX_PACKETS] = { "tx_packets_per_second", "TX-PPS", RD_T_DOUBLE, "packets sent per second" },
	[RD_RATE_RX_PACKETS] = { "rx_packets_per_second", "RX-PPS", RD_T_DOUBLE, "packets received per second" },
	[RD_RATE_USUAL] = { "usual_gbps", "USUAL", RD_T_DOUBLE, "recent average of both directions in Gbit/s",
			    .decimals = 3, .hidden = true },
	[RD_RATE_COUNTED_BY] = { "counted_by", "COUNTED-BY", RD_T_STR,
				 "counter that the rates come from; those of group netdev include other traffic",
				 .hidden = true },
};

static void fill_rate(struct rd_row *row, const struct rd_port_rate *rate, const struct rd_counter_port *port,
		      const struct rd_counter_state *state)
{
	char by[96];

	rd_row_str(row, RD_RATE_IBDEV, port->ibdev);
	rd_row_uint(row, RD_RATE_PORT, port->port);
	rd_row_str(row, RD_RATE_NETDEV, port->netdev);
	rd_row_str(row, RD_RATE_STATE, !state->there ? "gone" : state->state[0] ? state->state : NULL);
	RD_ROW_DOUBLE(row, RD_RATE_LINE, port->rate_gbps);
	RD_ROW_DOUBLE(row, RD_RATE_TX_GBPS, rate->tx_gbps);
	RD_ROW_DOUBLE(row, RD_RATE_TX_SHARE, rate->tx_share);
	RD_ROW_DOUBLE(row, RD_RATE_RX_GBPS, rate->rx_gbps);
	RD_ROW_DOUBLE(row, RD_RATE_RX_SHARE, rate->rx_share);
	RD_ROW_DOUBLE(row, RD_RATE_TX_PACKETS, rate->per_second[RD_LOAD_TX_PACKETS]);
	RD_ROW_DOUBLE(row, RD_RATE_RX_PACKETS, rate->per_second[RD_LOAD_RX_PACKETS]);
	if (rate->usual_gbps > 0)
		rd_row_double(row, RD_RATE_USUAL, rate->usual_gbps);
	if (rate->counted_by) {
		snprintf(by, sizeof(by), "%s %s", rd_counter_group_name(rate->counted_by->group),
			 rate->counted_by->name);
		rd_row_str(row, RD_RATE_COUNTED_BY, by);
	}
	if (!state->there || (state->state[0] && state->state[0] != 'A'))
		rd_row_severity(row, RD_SEV_CRITICAL);
}

struct rd_section *rd_rates_section(const struct rd_rates *rates, const struct rd_counter_set *set,
				    const struct rd_counter_sample *now, const bool *selected)
{
	struct rd_section *section = rd_section_create("rates", rate_columns, RD_RATE_COLUMNS);

	/* Port 0 is a device as a whole, without traffic of its own. */
	for (size_t p = 0; p < rates->n; p++)
		if (set->ports[p].port && (!selected || selected[p]))
			fill_rate(rd_section_add(section), &rates->ports[p], &set->ports[p], &now->states[p]);
	return section;
}
