/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-groups.h"

const char *rd_path_health_name(enum rd_path_health health)
{
	static const char *const names[] = { NULL, "ok", "starting", "degraded", "dead", "unknown" };

	return health < RD_ARRAY_SIZE(names) ? names[health] : NULL;
}

static void qp_group_deinit(struct rd_qp_group *group)
{
	RD_FREE(group->label, group->peers);
}

void rd_qp_groups_deinit(struct rd_qp_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		qp_group_deinit(&groups->v[i]);
	free(groups->v);
	*groups = (struct rd_qp_groups){ 0 };
}
