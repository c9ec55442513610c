/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "analyse/qp/qp-procs.h"
#include "analyse/qp/qp-timers.h"
#include "analyse/qp/qp-verdict.h"
#include "analyse/qp/qp.h"
#include "base/text.h"
#include "collect/rdma/nldev.h"
#include "collect/rdma/procs.h"

void qp_sample_deinit(struct qp_sample *sample)
{
	rd_report_deinit(&sample->report);
	rd_findings_deinit(&sample->findings);
	rd_qp_views_deinit(&sample->views);
	rd_res_deinit(&sample->res);
	free(sample->chosen);
}

static unsigned wanted(const struct qp_opts *opts)
{
	return opts->summary ?
		       RD_WANT_ALL :
		       RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_CTXS | RD_WANT_PROCS | RD_WANT_PORTS | RD_WANT_RECORDED;
}

/* Whether all devices in the list exist. */
static int check_devices(const struct rd_res *res, const char *list, struct rd_err *err)
{
	for (const char *at = list; at;) {
		_cleanup_free_ char *name = rd_next_part(&at, ',');

		if (rd_res_find_dev(res, name) < 0) {
			rd_err_set(err, ENODEV, name, "no such RDMA device");
			rd_err_hint(err, RD_PROGRAM " nic-map");
			return -ENODEV;
		}
	}
	return 0;
}

/* Requests dumps of the queue pairs that are shown; which peer they have may be known only afterwards. */
static void read_dumps(const struct qp_opts *opts, struct rd_source *source, struct qp_sample *sample)
{
	struct rd_qp_filter filter = opts->filter;

	filter.has_peer = false;
	for (size_t i = 0; i < sample->res.n_qps; i++)
		sample->chosen[i] = rd_qp_filter_matches(&filter, &sample->views, i);
	rd_collect_qp_dumps(source, &sample->res, sample->chosen, &sample->report.errors);
}

/* In the first sample, names the numbers of --lqpn that do not exist. Ends a repeated view that would always be empty: later, a
 * queue pair that is gone is part of what is observed. */
static int check_numbers(const struct qp_opts *opts, bool repeated, struct qp_sample *sample, struct rd_err *err)
{
	struct rd_err missing = { 0 };
	size_t n = rd_qp_filter_missing(&opts->filter, &sample->res, NULL, &missing);

	if (repeated && n > 0 && n == opts->filter.lqpns.n) {
		*err = missing;
		return -ENOENT;
	}
	rd_qp_filter_missing(&opts->filter, &sample->res, &sample->report.errors, NULL);
	sample->incomplete = n > 0;
	return 0;
}

/* Whether TCP connections of processes are shown: reading them takes a moment in processes with many open files. */
static bool shows_proc_peers(const struct rd_ctx *ctx)
{
	const struct qp_opts *opts = ctx->state;
	const char *columns = ctx->globals.style.columns;

	return ctx->globals.json || opts->live || (opts->grouped && opts->by == RD_BY_PEER) ||
	       (columns && (strchr(columns, '*') || strstr(columns, "process_tcp_peers")));
}

static void read_proc_peers(struct rd_source *source, struct qp_sample *sample)
{
	_cleanup_free_ size_t *qps = rd_alloc(sample->res.n_procs + 1, sizeof(*qps));

	rd_qp_count_unknown_peers(&sample->views, sample->chosen, qps);
	for (size_t i = 0; i < sample->res.n_procs; i++)
		if (qps[i])
			rd_collect_proc_peers(source, &sample->res.procs[i]);
}

void qp_read_libraries(struct rd_source *source, struct rd_res *res)
{
	_cleanup_free_ bool *may_hide = rd_alloc(res->n_procs + 1, sizeof(*may_hide));

	rd_qp_procs_that_may_hide(res, may_hide);
	for (size_t i = 0; i < res->n_procs; i++)
		if (may_hide[i])
			rd_collect_proc_libs(source, &res->procs[i]);
}

int qp_load(const struct rd_ctx *ctx, struct rd_source *source, struct qp_history *history, struct qp_sample *sample,
	    struct rd_err *err)
{
	const struct qp_opts *opts = ctx->state;
	const char *devices = opts->filter.devices;
	uint64_t began = source->ops->now(source, CLOCK_MONOTONIC);
	bool first = !history->sample_ns;
	int r;

	*sample = (struct qp_sample){ 0 };
	rd_output_init(ctx, &sample->report);
	/* A single device is queried alone; for several, all devices are queried, then filtered. */
	r = rd_collect_res(source, wanted(opts), devices && !strchr(devices, ',') ? devices : NULL, &sample->res,
			   &sample->report.errors, err);
	/* After a failure, what was read so far is reported, too. */
	rd_qp_views_init(&sample->views, &sample->res);
	sample->chosen = rd_alloc(sample->res.n_qps + 1, sizeof(*sample->chosen));
	if (r < 0)
		return r;
	r = check_devices(&sample->res, devices, err);
	if (r < 0)
		return r;
	if (first && sample->res.n_devs > 0)
		r = check_numbers(opts, history->repeated, sample, err);
	if (r < 0)
		return r;
	read_dumps(opts, source, sample);
	rd_qp_link(&sample->views);
	qp_history_judge(history, source, opts->stuck, began, &sample->res, &sample->views, &sample->report.errors);
	rd_res_findings(&sample->res, &sample->findings);
	for (size_t i = 0; i < sample->res.n_qps; i++)
		sample->chosen[i] = rd_qp_filter_matches(&opts->filter, &sample->views, i);
	/* Queue pairs that are missing from the list: a child process for each process, so not in every sample. */
	if (!opts->live && !rd_repeat_wanted(&opts->repeat)) {
		qp_read_libraries(source, &sample->res);
		rd_qp_hidden_findings(&sample->res, &sample->findings);
	}
	if (shows_proc_peers(ctx))
		read_proc_peers(source, sample);
	rd_qp_verdict_findings(&sample->views, sample->chosen, &sample->findings);
	rd_qp_timer_findings(&sample->views, sample->chosen, &sample->findings);
	/* It changes rarely; a reader of text has seen it above. */
	if (first || ctx->globals.json)
		rd_qp_peer_findings(&sample->views, sample->chosen, &sample->findings);
	return 0;
}
