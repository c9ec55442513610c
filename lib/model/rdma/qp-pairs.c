/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-pairs.h"

const char *rd_join_verdict_name(enum rd_join_verdict verdict)
{
	static const char *const names[RD_JOIN_VERDICTS] = {
		[RD_JOIN_CONNECTED] = "connected",
		[RD_JOIN_HALF_OPEN] = "half-open",
		[RD_JOIN_MISMATCH] = "mismatch",
		[RD_JOIN_AMBIGUOUS] = "ambiguous",
		[RD_JOIN_NOT_VISIBLE] = "peer-not-visible",
	};

	return verdict < RD_JOIN_VERDICTS ? names[verdict] : NULL;
}

void rd_qp_pairs_deinit(struct rd_qp_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++)
		free(pairs->v[i].reason);
	free(pairs->v);
	*pairs = (struct rd_qp_pairs){ 0 };
}

const char *rd_sport_from_name(enum rd_sport_from from)
{
	static const char *const names[] = { "assumed", "numbers", "label" };

	return names[from];
}

void rd_spreads_deinit(struct rd_spreads *spreads)
{
	for (size_t i = 0; i < spreads->n_collisions; i++)
		free(spreads->collisions[i].lqpns);
	free(spreads->collisions);
	free(spreads->flows);
	free(spreads->v);
	*spreads = (struct rd_spreads){ 0 };
}
