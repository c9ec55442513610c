/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-check --learn */
#include <errno.h>
#include <string.h>

#include "analyse/compare/profile.h"
#include "base/no-rdma.h"
#include "source/opener/new-file.h"
#include "topo.h"

static int write_profile(const struct checks *checks, const char *path, struct rd_err *err)
{
	_cleanup_buf_ struct rd_buf out = { 0 };
	const char *host = checks->report.host ? checks->report.host : "one";
	struct rd_profile self = { 0 };

	rd_profile_learn(&checks->map.ports, &checks->system, &self);
	rd_buf_str(&out, "# For rdmadiag topo-check --profile FILE: expected state of a host, learned on ");
	rd_buf_safe(&out, host, strlen(host));
	rd_buf_str(&out, ".\n# Remove what may differ; * matches any characters: port.*.rate_gbps = 400\n# "
			 "rule.NAME = required: the result of that rule must not be unknown.\n# ignore = "
			 "RULE@SUBJECT until YYYY-MM-DD reason: mutes that finding up to and including that day.\n");
	rd_profile_write(&self, &out);
	rd_profile_deinit(&self);
	/* As for every command, main reports a closed pipe. */
	if (!path)
		rd_out(&out);
	return path ? rd_replace_file(path, &out, err) : 0;
}

int topo_learn(struct rd_ctx *ctx, const char *path)
{
	const struct topo_opts *opts = ctx->state;
	struct rd_err err = { 0 };
	struct checks checks;
	size_t bad = 0;
	int r = checks_load(ctx, ctx->source, (int)opts->pid, &checks, &err);

	if (!r && checks.host.n_ibdevs == 0) {
		r = rd_err_set(&err, ENODEV, "/sys/class/infiniband", RD_NO_RDMA_DEVICE " to learn from");
		rd_err_hint(&err, "run it on a known good host");
	}
	if (!r) {
		rd_checks_run(&checks.in, NULL, &checks.findings);
		for (size_t i = 0; i < checks.findings.n; i++)
			bad += checks.findings.v[i].severity >= RD_SEV_WARNING;
		r = write_profile(&checks, path, &err);
	}
	if (!r && bad > 0)
		rd_warn(ctx, "topo-check reports %zu faults on this host: the profile contains them, too", bad);
	checks_deinit(&checks);
	return r < 0 ? rd_fail(ctx, &err) : RD_EXIT_OK;
}
