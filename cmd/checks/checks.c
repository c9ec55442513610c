/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checks.h"

#include "analyse/compare/compare.h"
#include "analyse/env/envcheck.h"
#include "analyse/job/job.h"
#include "analyse/nicmap/nicmap.h"
#include "analyse/qp/qp.h"
#include "analyse/shared/symmetry.h"
#include "cmd/datafile.h"
#include "collect/host/host.h"
#include "collect/kernel/kernel.h"
#include "collect/net/netstate.h"
#include "collect/rdma/rdma.h"
#include "diagnose/findings/findings.h"

#define WHAT (RD_COLLECT_ACS | RD_COLLECT_GIDS | RD_COLLECT_PCI | RD_COLLECT_IB)

/* Reads queue pairs, their owners and jobs. If they cannot be listed, they are unknown to the rules. */
static int read_qps(struct rd_source *source, struct checks *checks, struct rd_errlist *errors, struct rd_err *err)
{
	struct rd_err why = { 0 };
	int r = rd_collect_res(source, RD_WANT_QPS | RD_WANT_PROCS | RD_WANT_RECORDED, NULL, &checks->res, errors, &why);

	if (r == -ENOMEM) {
		*err = why;
		return r;
	}
	if (r < 0) {
		/* A host without RDMA netlink: not an error to report. */
		if (r != -ENOENT && r != -EOPNOTSUPP && r != -EPROTONOSUPPORT)
			rd_errlist_add(errors, &why);
		return 0;
	}
	checks->in.res = &checks->res;
	return 0;
}

static int read_all(struct rd_source *source, int pid, struct checks *checks, struct rd_errlist *errors,
		    struct rd_err *err)
{
	int r = rd_collect_host(source, WHAT, &checks->host, errors, err) ?: rd_host_within_bounds(&checks->host, err);

	if (!r)
		r = rd_collect_system(source, pid, &checks->system, errors, err);
	if (r)
		return r;
	rd_collect_netstate(source, &checks->host, &checks->net, errors);
	r = read_qps(source, checks, errors, err);
	if (!r)
		rd_collect_klog(source, &checks->klog, errors);
	if (!r)
		rd_collect_recent(source, &checks->recent);
	return r;
}

/* Judges the settings that all jobs inherit, as nic-map --check-env does. */
static void judge_job_env(struct checks *checks)
{
	static const struct rd_finding too_many = { "env-too-many",
						    "Too many system-wide environment variables to check", NULL,
						    RD_SEV_UNKNOWN };
	const struct rd_texts *lines = &checks->system.job_env;
	_cleanup_(rd_effects_deinit) struct rd_effects effects = { 0 };
	int r = 0;

	checks->map.ports.net = &checks->net;
	checks->map.ports.system = &checks->system;
	for (size_t i = 0; i < lines->n && !r; i++)
		r = rd_effects_own(&effects, rd_dup(lines->v[i]), strlen(lines->v[i]), '\n');
	if (!r)
		rd_envcheck(&checks->map.ports, &effects, &checks->job_env);
	else
		rd_finding_put(&checks->job_env, &too_many, rd_dup("system-wide environment variables"),
			       rd_text("more than %d variables, or one larger than %zu KiB: not checked",
				       RD_EFFECTS_MAX, RD_EFFECT_BYTES >> 10),
			       NULL);
}

/* The number of uplinks is arbitrary: the rule judges flows that no number of links would separate. */
static void judge_flows(struct checks *checks)
{
	_cleanup_(rd_qp_views_deinit) struct rd_qp_views views = { 0 };

	if (!checks->in.res)
		return;
	rd_qp_views_init(&views, checks->in.res);
	rd_qp_apply_recorded(&views, 0);
	rd_qp_spread(&views, NULL, 4, &checks->spreads);
}

int checks_load(const struct rd_ctx *ctx, struct rd_source *source, int pid, struct checks *checks, struct rd_err *err)
{
	struct rd_unread watch;
	int r;

	*checks = (struct checks){ 0 };
	rd_output_init(ctx, &checks->report);
	/* Reads everything through a source that records failed reads; contents that no kernel prints are the same. */
	rd_unread_init(&watch, source);
	r = read_all(&watch.src, pid, checks, &checks->report.errors, err);
	checks->unread = watch.failed;
	for (size_t i = 0; i < checks->report.errors.n; i++)
		if (checks->report.errors.v[i].code == EBADMSG)
			rd_errlist_add(&checks->unread, &checks->report.errors.v[i]);
	if (r < 0)
		return r;
	rd_nicmap_analyse(&checks->host, &checks->system, 0, &checks->map);
	judge_job_env(checks);
	judge_flows(checks);
	rd_symmetry_find(&checks->map.ports, &checks->symmetry);
	checks->in = (struct rd_check_input){
		.host = &checks->host,
		.ports = &checks->map.ports,
		.map = &checks->map,
		.system = &checks->system,
		.net = &checks->net,
		.klog = &checks->klog,
		.res = checks->in.res,
		.recent = &checks->recent,
		.spreads = &checks->spreads,
		.symmetry = &checks->symmetry,
		.job_env = &checks->job_env,
		.unread = &checks->unread,
	};
	return 0;
}

int checks_take_profile(struct checks *checks, const char *path, struct rd_err *err)
{
	_cleanup_(rd_profile_deinit) struct rd_profile self = { 0 };
	int r = rd_profile_load(path, &checks->profile, err);

	if (r < 0)
		return r;
	rd_profile_of(&checks->map.ports, &checks->system, false, &self);
	rd_profile_compare(&checks->profile, &self, &checks->differences);
	checks->in.profile = &checks->profile;
	checks->in.differences = &checks->differences;
	return r;
}

int checks_take_user(struct rd_source *source, const char *user, struct checks *checks, struct rd_err *err)
{
	_cleanup_(rd_job_kernel_deinit) struct rd_job_kernel kernel = { 0 };
	_cleanup_(rd_job_proc_deinit) struct rd_job_proc proc = { 0 };
	_cleanup_(rd_job_view_deinit) struct rd_job_view view = { .proc = &proc };
	const struct rd_job_input in = { &checks->host, &kernel, &checks->system, NULL, NULL };
	int r = rd_collect_job_user(source, user, &checks->system, &proc, err);

	rd_collect_job_kernel(source, &checks->res, &kernel);
	kernel.known &= kernel.n > 0 || !proc.unrecorded;
	rd_job_judge(&in, &view);
	for (size_t i = 0; i < view.can.n; i++)
		view.can.v[i].undecided = view.able.known != RD_OK;
	checks->user = view.can;
	view.can = (struct rd_findings){ 0 };
	checks->in.user = &checks->user;
	return r;
}

static int exit_status(const struct checks *checks, enum rd_severity least, bool all_required)
{
	const struct rd_findings *findings = &checks->findings;
	bool warned = false, unknown = false;

	for (size_t i = 0; i < findings->n; i++) {
		const struct rd_finding *finding = &findings->v[i];

		if (finding->muted)
			continue;
		if (finding->severity == RD_SEV_CRITICAL)
			return RD_EXIT_CRITICAL;
		warned |= finding->severity == RD_SEV_WARNING && least <= RD_SEV_WARNING;
		unknown |= finding->severity == RD_SEV_UNKNOWN &&
			   (finding->undecided || all_required || rd_profile_requires(checks->in.profile, finding->id));
	}
	return warned ? RD_EXIT_WARNING : unknown ? RD_EXIT_UNKNOWN : RD_EXIT_OK;
}

void checks_conclude(struct checks *checks, const bool *chosen, enum rd_severity least, bool all_required)
{
	rd_checks_run(&checks->in, chosen, &checks->findings);
	rd_diagnose(&checks->host, checks->in.profile, rd_profile_day(checks->report.time), &checks->findings);
	checks->hidden = rd_findings_select(&checks->host, &checks->shown, &checks->findings);
	rd_report_checks(&checks->report, &checks->findings, least);
	checks->report.status = exit_status(checks, least, all_required);
}

void checks_deinit(struct checks *checks)
{
	rd_report_deinit(&checks->report);
	rd_findings_deinit(&checks->findings);
	rd_selection_deinit(&checks->shown);
	rd_nicmap_deinit(&checks->map);
	rd_spreads_deinit(&checks->spreads);
	rd_symmetry_deinit(&checks->symmetry);
	rd_findings_deinit(&checks->differences);
	rd_profile_deinit(&checks->profile);
	rd_findings_deinit(&checks->job_env);
	rd_findings_deinit(&checks->user);
	rd_klog_deinit(&checks->klog);
	rd_recent_deinit(&checks->recent);
	rd_res_deinit(&checks->res);
	rd_netstate_deinit(&checks->net);
	rd_system_deinit(&checks->system);
	rd_host_deinit(&checks->host);
	rd_errlist_deinit(&checks->unread);
}

int checks_record_with(struct rd_source *source, int pid, const char *user, struct rd_err *err)
{
	_cleanup_(rd_errlist_deinit) struct rd_errlist errors = { 0 };
	_cleanup_(checks_deinit) struct checks checks = { 0 };
	int r = read_all(source, pid, &checks, &errors, err);

	if (!r && user)
		checks_take_user(source, user, &checks, err);
	return r;
}

int checks_record(struct rd_source *source, struct rd_err *err)
{
	return checks_record_with(source, 0, NULL, err);
}
