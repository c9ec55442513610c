/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp-probe.h"

#include <sys/stat.h>

#include "cmd/trace-errno/trace.h"
#include "collect/rdma/nldev.h"
#include "collect/rdma/qp-event.h"
#include "trace/select/select-qp.h"

#define SPARE 1024 /* entries for queue pairs that are created meanwhile */

/* The most queue pairs that may have to be kept; 0: none of a known driver. */
static uint32_t count_queue_pairs(struct rd_source *source)
{
	struct rd_res res = { 0 };
	struct rd_err err = { 0 };
	uint64_t n = 0;

	if (rd_collect_res(source, 0, NULL, &res, NULL, &err) == 0)
		for (size_t d = 0; d < res.n_devs; d++)
			if (rd_res_dev_is_queried(&res.devs[d]) && res.devs[d].used[RD_RES_QP].known == RD_OK)
				n += res.devs[d].used[RD_RES_QP].v;
	rd_res_deinit(&res);
	return !n ? 0 : n < (RD_QUERY_ENTRIES_MAX - SPARE) / 2 ? (uint32_t)n * 2 + SPARE : RD_QUERY_ENTRIES_MAX;
}

int qp_probe_start(const struct rd_ctx *ctx, struct rd_source *source, struct qp_probe *probe, struct rd_err *err)
{
	struct rd_query_config config = { 0 };
	struct rd_session_opts opts = { .query = &config, .log = rd_verbose_line, .log_arg = (void *)ctx };
	struct rd_errlist notes = { 0 };
	struct stat ns;
	int r;

	opts.query_entries = count_queue_pairs(source);
	if (!opts.query_entries)
		return 0;
	r = trace_have_privileges(source, ctx->cmd->name, err);
	if (!r)
		r = rd_select_query(source, &probe->set, &config, err);
	if (r)
		return r;
	if (stat("/proc/self/ns/pid", &ns))
		return rd_err_set(err, errno, "/proc/self/ns/pid", "cannot stat");
	config.thread = (uint32_t)getpid();
	config.ns_dev = ns.st_dev;
	config.ns_inode = ns.st_ino;
	r = rd_session_start(&probe->set, &opts, &probe->session, &notes, err);
	if (!r) {
		const struct rd_session_info *info = rd_session_info(probe->session);

		rd_verbose(ctx, "looking at ib_query_qp, attached in %.3f s: %s", info->attach_seconds, info->reason);
		r = rd_source_live_set_queries(source, rd_session_ring_fd(probe->session));
	}
	rd_errlist_deinit(&notes);
	return r;
}

void qp_probe_end(struct rd_source *source, struct qp_probe *probe)
{
	if (probe->session)
		rd_source_live_set_queries(source, -1);
	rd_session_destroy(probe->session);
	rd_fnset_deinit(&probe->set);
	*probe = (struct qp_probe){ 0 };
}
