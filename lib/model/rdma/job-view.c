// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/rdma/job-view.h"

const char *rd_job_verdict_name(enum rd_job_verdict verdict)
{
	static const char *const names[] = { "cannot-tell", "idle", "host", "rdma", "tcp", "mixed", "uneven" };

	return names[verdict];
}

void rd_job_view_deinit(struct rd_job_view *view)
{
	for (size_t i = 0; i < view->n_nics; i++)
		free(view->nics[i].gids);
	rd_findings_deinit(&view->can);
	RD_FREE(view->reason, view->fix, view->nics);
	*view = (struct rd_job_view){ 0 };
}
