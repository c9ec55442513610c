/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qp.h"

#include <errno.h>
#include <sys/stat.h>

#include "cmd/trace-errno/trace.h"
#include "collect/rdma/nldev.h"
#include "trace/select/select-qp.h"

#define SPARE 1024 /* entries for queue pairs that are created meanwhile */

/* The most queue pairs that may have to be kept; 0: none of a known driver, besides one for each port (GSI). */
static uint32_t count_queue_pairs(struct rd_source *source)
{
	struct rd_res res = { 0 };
	struct rd_err err = { 0 };
	uint64_t n = 0;

	if (rd_collect_res(source, 0, NULL, &res, NULL, &err) == 0)
		for (size_t d = 0; d < res.n_devs; d++)
			if (res.devs[d].fills && res.devs[d].used[RD_RES_QP].known == RD_OK &&
			    res.devs[d].used[RD_RES_QP].v > res.devs[d].n_ports)
				n += res.devs[d].used[RD_RES_QP].v;
	rd_res_deinit(&res);
	return !n ? 0 : n < (RD_QUERY_ENTRIES_MAX - SPARE) / 2 ? (uint32_t)n * 2 + SPARE : RD_QUERY_ENTRIES_MAX;
}

static int attach(const struct rd_ctx *ctx, struct rd_source *source, uint32_t entries, struct qp_probe *probe,
		  struct rd_err *err)
{
	struct rd_query_config config = { 0 };
	struct rd_session_opts opts = {
		.query = &config, .query_entries = entries, .log = rd_verbose_line, .log_arg = (void *)ctx
	};
	_cleanup_(rd_errlist_deinit) struct rd_errlist notes = { 0 };
	struct stat ns;
	int r = trace_have_privileges(source, ctx->cmd->name, err);

	if (!r)
		r = rd_select_query(source, &probe->set, &config, err);
	if (!r && stat("/proc/self/ns/pid", &ns))
		r = rd_err_set(err, errno, "/proc/self/ns/pid", "cannot stat");
	if (r)
		return r;
	config.thread = (uint32_t)getpid();
	config.ns_dev = ns.st_dev;
	config.ns_inode = ns.st_ino;
	r = rd_session_start(&probe->set, &opts, &probe->session, &notes, err);
	if (r)
		return r;
	rd_verbose(ctx, "looking at ib_query_qp, attached in %.3f s: %s",
		   rd_session_info(probe->session)->attach_seconds, rd_session_info(probe->session)->reason);
	probe->source = source;
	return rd_source_live_set_queries(source, rd_session_ring_fd(probe->session));
}

enum rd_probe qp_probe_start(const struct rd_ctx *ctx, struct rd_source *source, struct qp_probe *probe)
{
	uint32_t entries = count_queue_pairs(source);
	struct rd_err err = { 0 };
	int r = entries ? attach(ctx, source, entries, probe, &err) : 0;

	if (!r)
		return RD_PROBE_ON;
	rd_verbose(ctx, "%s: %s", err.object, err.message);
	return r == -EPERM || r == -EACCES ? RD_PROBE_DENIED : RD_PROBE_FAILED;
}

void qp_probe_end(struct qp_probe *probe)
{
	if (probe->session)
		rd_source_live_set_queries(probe->source, -1);
	rd_session_destroy(probe->session);
	rd_fnset_deinit(&probe->set);
	*probe = (struct qp_probe){ 0 };
}
