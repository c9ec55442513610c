/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/rdma/qp-view.h"

#include "base/memory.h"

void rd_qp_views_init(struct rd_qp_views *views, const struct rd_res *res)
{
	*views = (struct rd_qp_views){ .res = res, .v = rd_alloc(res->n_qps + 1, sizeof(*views->v)) };
	for (size_t i = 0; i < res->n_qps; i++)
		views->v[i].link.cm_id = -1;
}

void rd_qp_views_deinit(struct rd_qp_views *views)
{
	for (size_t i = 0; views->v && i < views->res->n_qps; i++) {
		free(views->v[i].past.seen);
		free(views->v[i].verdict.why);
	}
	free(views->v);
	*views = (struct rd_qp_views){ 0 };
}

const uint8_t *rd_qp_peer_gid(const struct rd_qp_view *view)
{
	if (view->past.seen && view->past.seen->has_dgid)
		return view->past.seen->dgid;
	return view->link.has_gid ? view->link.gid : NULL;
}
