/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/join.h"

#include "model/rdma/qp.h"

static void host_deinit(struct rd_join_host *host)
{
	for (size_t i = 0; i < host->n_devs; i++)
		free(host->devs[i].name);
	RD_FREE(host->devs, host->name);
}

void rd_join_deinit(struct rd_join *join)
{
	for (size_t i = 0; i < join->n_hosts; i++)
		host_deinit(&join->hosts[i]);
	for (size_t i = 0; i < join->n_jobs; i++)
		free(join->jobs[i]);
	RD_FREE(join->hosts, join->qps, join->addrs, join->owners, join->jobs);
	rd_map_deinit(&join->names_map);
	rd_map_deinit(&join->addrs_map);
	rd_map_deinit(&join->jobs_map);
	*join = (struct rd_join){ 0 };
}

void rd_join_pairs_deinit(struct rd_join_pairs *pairs)
{
	free(pairs->v);
	*pairs = (struct rd_join_pairs){ 0 };
}

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

double rd_join_seconds_apart(const struct rd_join *join, size_t a, size_t b)
{
	uint64_t x = join->hosts[a].time_ns, y = join->hosts[b].time_ns;

	return x && y ? (double)(x > y ? x - y : y - x) / 1e9 : 0;
}

const char *rd_join_state_name(const struct rd_join_qp *qp)
{
	const char *name = rd_qp_state_name(qp->state);

	return name ? name : "unknown";
}
