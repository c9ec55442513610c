/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-groups.h"

const char *rd_path_health_name(enum rd_path_health health)
{
	static const char *const names[] = { NULL, "ok", "starting", "degraded", "dead", "unknown" };

	return health < RD_ARRAY_SIZE(names) ? names[health] : NULL;
}

void rd_qp_groups_deinit(struct rd_qp_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		free(groups->v[i].label);
	free(groups->v);
	*groups = (struct rd_qp_groups){ 0 };
}
