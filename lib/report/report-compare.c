/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report-compare.h"

enum rail_column {
	RAIL_GPU,
	RAIL_HOST,
	RAIL_NIC,
	RAIL_SUBNET,
	RAIL_RATE,
	RAIL_FIRMWARE,
	RAIL_LAYER,
	RAIL_STATE,
	RAIL_COLUMNS
};

static const struct rd_column rail_columns[RAIL_COLUMNS];

int rd_report_rails(struct rd_report *report, const struct rd_rails *rails, char *const *names)
{
	struct rd_section *section = rd_section_create("rails", rail_columns, RAIL_COLUMNS);
	int most = -1;

	for (size_t i = 0; i < rails->n; i++)
		most = rails->v[i].gpu > most ? rails->v[i].gpu : most;
	/* Rail by rail, so that hosts stand below each other. */
	for (int gpu = 0; section && gpu <= most; gpu++)
		for (size_t i = 0; i < rails->n; i++) {
			const struct rd_rail *rail = &rails->v[i];
			struct rd_row *row = rail->gpu == gpu ? rd_section_add(section) : NULL;

			rd_row_uint(row, RAIL_GPU, (uint64_t)gpu);
			rd_row_str(row, RAIL_HOST, names[rail->host]);
			rd_row_str(row, RAIL_NIC, rail->nic);
			rd_row_str(row, RAIL_SUBNET, rail->subnet);
			rd_row_str(row, RAIL_RATE, rail->rate);
			rd_row_str(row, RAIL_FIRMWARE, rail->firmware);
			rd_row_str(row, RAIL_LAYER, rail->link_layer);
			rd_row_str(row, RAIL_STATE, rail->state);
		}
	return rd_report_add(report, section);
}

/* clang-format off */
static const struct rd_column rail_columns[RAIL_COLUMNS] = {
	[RAIL_GPU] = { "gpu", "GPU", RD_T_UINT, "number of the accelerator", 0, false },
	[RAIL_HOST] = { "host", "HOST", RD_T_STR, "host", 0, false },
	[RAIL_NIC] = { "nic", "NIC", RD_T_STR, "port that NCCL gives it", 0, false },
	[RAIL_SUBNET] = { "subnet", "SUBNET", RD_T_STR, "IPv4 subnet of its interface", 0, false },
	[RAIL_RATE] = { "rate_gbps", "GBPS", RD_T_STR, "rate", 0, false },
	[RAIL_FIRMWARE] = { "firmware", "FIRMWARE", RD_T_STR, "firmware version", 0, false },
	[RAIL_LAYER] = { "link_layer", "LAYER", RD_T_STR, "link layer", 0, false },
	[RAIL_STATE] = { "state", "STATE", RD_T_STR, "state of the port", 0, false },
};
/* clang-format on */
