/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/nicmap/report-nicmap.h"

enum rail_column {
	RAIL_GPU,
	RAIL_HOST,
	RAIL_NIC,
	RAIL_SUBNET,
	RAIL_RATE,
	RAIL_FIRMWARE,
	RAIL_LAYER,
	RAIL_STATE,
	RAIL_DIFFERS,
	RAIL_COLUMNS
};

static const struct rd_column rail_columns[RAIL_COLUMNS];

static void add_rail(struct rd_section *section, const struct rd_compared *host, const struct rd_rail *rail,
		     bool differs)
{
	const struct rd_compared_port *port = &host->ports[rail->port];
	struct rd_row *row = rd_section_add(section);

	rd_row_uint(row, RAIL_GPU, (uint64_t)rail->gpu);
	rd_row_str(row, RAIL_HOST, host->name);
	rd_row_str(row, RAIL_NIC, rail->nic);
	rd_row_str(row, RAIL_SUBNET, port->subnet);
	rd_row_str(row, RAIL_RATE, port->rate);
	rd_row_str(row, RAIL_FIRMWARE, port->firmware);
	rd_row_str(row, RAIL_LAYER, port->link_layer);
	rd_row_str(row, RAIL_STATE, port->state);
	rd_row_bool(row, RAIL_DIFFERS, differs);
}

void rd_report_rails(struct rd_report *report, const struct rd_compared *hosts, size_t n, bool *const *differs,
		     bool all, size_t most, size_t *left_out)
{
	struct rd_section *section = rd_section_create("rails", rail_columns, RAIL_COLUMNS);
	int last = -1;

	*left_out = 0;
	for (size_t h = 0; h < n; h++)
		for (size_t i = 0; i < hosts[h].n_rails; i++)
			last = hosts[h].rails[i].gpu > last ? hosts[h].rails[i].gpu : last;
	/* Rail by rail, so that the same rail of all hosts is adjacent. */
	for (int gpu = 0; gpu <= last; gpu++)
		for (size_t h = 0; h < n; h++)
			for (size_t i = 0; i < hosts[h].n_rails; i++) {
				if (hosts[h].rails[i].gpu != gpu || (!all && !differs[h][i]))
					continue;
				if (section->n < most)
					add_rail(section, &hosts[h], &hosts[h].rails[i], differs[h][i]);
				else
					++*left_out;
			}
	rd_report_add(report, section);
}

/* clang-format off */
static const struct rd_column rail_columns[RAIL_COLUMNS] = {
	[RAIL_GPU] = { "gpu", "GPU", RD_T_UINT, "index of the accelerator", 0, false },
	[RAIL_HOST] = { "host", "HOST", RD_T_STR, "host", 0, false },
	[RAIL_NIC] = { "nic", "NIC", RD_T_STR, "port that NCCL selects for it", 0, false },
	[RAIL_SUBNET] = { "subnet", "SUBNET", RD_T_STR, "IPv4 subnet of its interface", 0, false },
	[RAIL_RATE] = { "rate_gbps", "GBPS", RD_T_STR, "rate of the port, Gb/s", 0, false },
	[RAIL_FIRMWARE] = { "firmware", "FIRMWARE", RD_T_STR, "firmware version", 0, false },
	[RAIL_LAYER] = { "link_layer", "LAYER", RD_T_STR, "link layer", 0, false },
	[RAIL_STATE] = { "state", "STATE", RD_T_STR, "state of the port", 0, false },
	[RAIL_DIFFERS] = { "differs", NULL, RD_T_BOOL, "a finding concerns this accelerator or its port", 0, false },
};
/* clang-format on */
