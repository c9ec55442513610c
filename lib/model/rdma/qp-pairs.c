/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-pairs.h"

const char *rd_sport_from_name(enum rd_sport_from from)
{
	static const char *const names[] = { "assumed", "numbers", "label", "device" };

	return names[from];
}

void rd_spreads_deinit(struct rd_spreads *spreads)
{
	for (size_t i = 0; i < spreads->n_collisions; i++)
		free(spreads->collisions[i].lqpns);
	RD_FREE(spreads->collisions, spreads->flows, spreads->v);
	*spreads = (struct rd_spreads){ 0 };
}
