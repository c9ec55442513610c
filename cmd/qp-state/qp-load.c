/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "analyse/qp/qp-verdict.h"
#include "analyse/qp/qp.h"
#include "base/text.h"
#include "collect/rdma/nldev.h"

void qp_look_deinit(struct qp_look *look)
{
	rd_report_deinit(&look->report);
	rd_findings_deinit(&look->findings);
	rd_qp_views_deinit(&look->views);
	rd_res_deinit(&look->res);
	free(look->chosen);
}

static unsigned wanted(const struct qp_opts *opts)
{
	return opts->summary ? RD_WANT_ALL : RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_PROCS;
}

/* Each name in the list is a device that there is. */
static int check_devices(const struct rd_res *res, const char *list, struct rd_err *err)
{
	for (const char *at = list; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (rd_res_find_dev(res, name) < 0) {
			rd_err_set(err, ENODEV, name, "there is no such RDMA device");
			rd_err_hint(err, RD_PROGRAM " nic-map");
			return -ENODEV;
		}
	}
	return 0;
}

static void choose(const struct qp_opts *opts, struct qp_look *look)
{
	for (size_t i = 0; i < look->res.n_qps; i++)
		look->chosen[i] = rd_qp_filter_matches(&opts->filter, &look->views, i);
}

int qp_load(const struct rd_ctx *ctx, struct rd_source *source, struct qp_history *history, struct qp_look *look,
	    struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;
	const char *devices = opts->filter.devices;
	uint64_t began = source->ops->now(source, CLOCK_MONOTONIC);
	int r;

	*look = (struct qp_look){ 0 };
	rd_answer_init(ctx, &look->report);
	/* Of one device only that is asked; with several, all are, and then chosen from. */
	r = rd_collect_res(source, wanted(opts), devices && !strchr(devices, ',') ? devices : NULL, &look->res,
			   &look->report.errors, err);
	/* What came before it failed is told, too. */
	rd_qp_views_init(&look->views, &look->res);
	look->chosen = rd_alloc(look->res.n_qps + 1, sizeof(*look->chosen));
	if (r < 0)
		return r;
	r = check_devices(&look->res, devices, err);
	if (r < 0)
		return r;
	rd_qp_link(&look->views);
	r = qp_history_judge(history, source, opts->stuck, began, &look->views, &look->report.errors);
	if (!r)
		rd_res_findings(&look->res, &look->findings);
	if (!r)
		choose(opts, look);
	if (!r)
		rd_qp_verdict_findings(&look->views, look->chosen, &look->findings);
	return r < 0 ? rd_err_set(err, -r, ctx->cmd->name, "no memory for the queue pairs") : 0;
}
