/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job: whether processes can use RDMA, and what carries their traffic. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "analyse/job/job.h"
#include "analyse/qp/qp-filter.h"
#include "analyse/qp/qp.h"
#include "base/no-rdma.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/qp-state/qp.h"
#include "collect/host/host.h"
#include "collect/rdma/nldev.h"
#include "collect/rdma/procs.h"
#include "collect/shared/cgroup.h"
#include "job.h"
#include "report/job/report-job.h"

#define PROCESSES_MAX 65536

static int take_filter(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct job_opts *opts = state;

	return rd_qp_filter_set(&opts->filter, opt->name, arg, err);
}

void job_sample_deinit(struct job_sample *sample)
{
	for (size_t i = 0; i < sample->n; i++) {
		rd_job_view_deinit(&sample->views[i]);
		rd_job_proc_deinit(&sample->procs[i]);
	}
	RD_FREE(sample->procs, sample->views);
	rd_qp_views_deinit(&sample->qps);
	rd_res_deinit(&sample->res);
	rd_job_kernel_deinit(&sample->kernel);
	rd_host_deinit(&sample->host);
	rd_system_deinit(&sample->system);
	rd_report_deinit(&sample->report);
}

static bool is_below(const char *path, const char *cgroup)
{
	size_t n;

	cgroup += strncmp(cgroup, "/sys/fs/cgroup", 14) == 0 ? 14 : 0;
	n = strlen(cgroup);
	while (n > 0 && cgroup[n - 1] == '/')
		n--;
	return path && strncmp(path, cgroup, n) == 0 && (!path[n] || path[n] == '/');
}

static bool is_of_job(const char *pattern, const char *job)
{
	size_t n = strlen(pattern);

	return job && (fnmatch(pattern, job, 0) == 0 || (strncmp(pattern, job, n) == 0 && job[n] == '.'));
}

/* Whether the options select a process: by what all users may read of it. */
static bool is_selected(const struct job_opts *opts, struct rd_source *src, uint32_t pid)
{
	_cleanup_free_ char *comm = NULL, *groups = NULL, *cgroup = NULL, *job = NULL;
	const char *path;
	size_t n;

	if (opts->filter.comm &&
	    (rd_read_textf(src, &comm, NULL, "/proc/%u/comm", pid) < 0 || fnmatch(opts->filter.comm, comm, 0) != 0))
		return false;
	if (!opts->filter.job && !opts->cgroup)
		return true;
	if (rd_read_textf(src, &groups, NULL, "/proc/%u/cgroup", pid) < 0)
		return false;
	n = rd_cgroup_parse(groups, &path);
	cgroup = n ? rd_text("%.*s", (int)n, path) : NULL;
	job = rd_job_from_cgroup(cgroup);
	return (!opts->filter.job || is_of_job(opts->filter.job, job)) &&
	       (!opts->cgroup || is_below(cgroup, opts->cgroup));
}

static void add_pid(struct job_pids *pids, uint32_t pid)
{
	for (size_t i = 0; i < pids->n; i++)
		if (pids->v[i] == pid)
			return;
	*RD_ADD(pids->v, pids->n, pids->cap) = pid;
}

/* Of a bundle, those that it recorded. */
static int find_processes(const struct job_opts *opts, struct rd_source *src, struct job_pids *pids, struct rd_err *err)
{
	_cleanup_names_ struct rd_names names = { 0 };
	bool live = strcmp(src->ops->name, "live") == 0;
	int r = rd_list_dir(src, live ? "/proc" : RD_SOURCE_JOB, &names, err);

	for (size_t i = 0; i < names.n && i < PROCESSES_MAX; i++) {
		uint32_t pid;

		if (rd_parse_u32(names.v[i], RD_DECIMAL, INT32_MAX, &pid) < 0 || pid == (uint32_t)getpid() ||
		    !is_selected(opts, src, pid))
			continue;
		if (pids->n == JOB_CHOSEN_MAX)
			return rd_err_set(err, E2BIG, "job", "selects more than %d processes", JOB_CHOSEN_MAX);
		add_pid(pids, pid);
	}
	if (r == -ENOENT && !live)
		return 0;
	if (r >= 0 && pids->n == 0)
		r = rd_err_set(err, ESRCH, "job", "no process matches");
	return r;
}

static int choose(const struct job_opts *opts, struct rd_source *src, struct job_pids *pids, struct rd_err *err)
{
	bool live = strcmp(src->ops->name, "live") == 0;

	for (size_t i = 0; i < opts->filter.pids.n; i++)
		add_pid(pids, opts->filter.pids.v[i]);
	if (opts->filter.comm || opts->filter.job || opts->cgroup)
		return find_processes(opts, src, pids, err);
	if (pids->n == 0 && !live)
		find_processes(opts, src, pids, NULL);
	if (pids->n == 0)
		add_pid(pids, 0);
	return 0;
}

static void read_host(struct rd_source *src, struct job_sample *sample)
{
	struct rd_err err = { 0 };
	const struct rd_sysfs fs = { .src = src };

	rd_collect_host(src, 0, &sample->host, &sample->report.errors, &err);
	rd_collect_gpu_memory(&fs, &sample->system);
	sample->listed = rd_collect_res(src, RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_PROCS, NULL, &sample->res,
					&sample->report.errors, &err) == 0;
	rd_qp_views_init(&sample->qps, &sample->res);
	rd_qp_link(&sample->qps);
	rd_collect_job_kernel(src, &sample->res, &sample->kernel);
}

int job_load(struct rd_source *src, const struct job_pids *pids, struct job_sample *sample, struct rd_err *err)
{
	const struct rd_job_input in = { &sample->host, &sample->kernel, &sample->system, &sample->qps };
	const struct rd_job_input without = { &sample->host, &sample->kernel, &sample->system, NULL };
	bool live = strcmp(src->ops->name, "live") == 0;

	read_host(src, sample);
	sample->procs = rd_alloc(pids->n + 1, sizeof(*sample->procs));
	sample->views = rd_alloc(pids->n + 1, sizeof(*sample->views));
	for (size_t i = 0; i < pids->n; i++) {
		struct rd_job_proc *proc = &sample->procs[sample->n];

		if (rd_collect_job(src, pids->v[i], live ? (uint32_t)getpid() : 0, proc) < 0) {
			rd_err_set(err, ESRCH, "job", "no such process, or not recorded: %u", pids->v[i]);
			rd_errlist_add(&sample->report.errors, err);
			continue;
		}
		sample->views[sample->n].proc = proc;
		rd_job_judge(sample->listed ? &in : &without, &sample->views[sample->n++]);
	}
	rd_job_judge_whole(&in, sample->views, sample->n);
	return sample->n == 0 ? -ESRCH : 0;
}

/* Of the host. A process is judged nevertheless: something carries its traffic. */
static bool has_no_rdma(const struct rd_ctx *ctx, struct job_sample *sample, struct rd_err *err)
{
	if (sample->kernel.n > 0 || !sample->procs[0].here)
		return false;
	rd_no_rdma(ctx, sample->host.rdma_error, err);
	rd_errlist_add(&sample->report.errors, err);
	rd_findings_deinit(&sample->report.findings);
	sample->report.status = RD_EXIT_UNKNOWN;
	return !ctx->globals.json;
}

static int show(struct rd_ctx *ctx, struct job_sample *sample)
{
	const struct rd_section *sections[2] = { sample->report.sections[0], NULL };
	struct rd_section *can = NULL;
	int r;

	if (ctx->globals.json)
		return rd_output_print(ctx, &sample->report);
	if (!ctx->globals.style.columns && sample->n == 1) {
		can = rd_report_job_can(&sample->views[0]);
		sections[1] = can;
	}
	r = rd_output_tables(ctx, &sample->report, sections, can ? 2 : 1);
	rd_section_destroy(can);
	return r;
}

static int run_job(struct rd_ctx *ctx, int argc, char **argv)
{
	struct job_opts *opts = ctx->state;
	struct job_sample sample = { 0 };
	struct qp_probe probe = { 0 };
	struct job_pids pids = { 0 };
	struct rd_err err = { 0 };
	int r;

	if (ctx->dashes)
		return job_run_command(ctx, argv);
	for (int i = 0; i < argc; i++)
		rd_parse_u32(argv[i], RD_DECIMAL, RD_PID_MAX, &opts->filter.pids.v[opts->filter.pids.n++]);
	rd_output_init(ctx, &sample.report);
	r = choose(opts, ctx->source, &pids, &err);
	if (!r && !ctx->globals.from && !opts->no_probe)
		qp_probe_start(ctx, ctx->source, &probe);
	if (!r)
		r = job_load(ctx->source, &pids, &sample, &err);
	qp_probe_end(&probe);
	if (r < 0) {
		r = rd_fail(ctx, &err);
	} else {
		rd_report_job(&sample.report, sample.views, sample.n);
		r = has_no_rdma(ctx, &sample, &err) ? rd_fail(ctx, &err) : show(ctx, &sample);
	}
	free(pids.v);
	job_sample_deinit(&sample);
	return r;
}

static int check(struct rd_ctx *ctx, int argc, char **argv, struct rd_err *err)
{
	const struct job_opts *opts = ctx->state;
	uint32_t pid;

	if (ctx->dashes && (argc == 0 || ctx->given || ctx->given_globals))
		return rd_err_set(err, EINVAL, "job",
				  argc ? "a command takes no other options" : "expected a command behind --");
	for (int i = 0; i < argc && !ctx->dashes; i++)
		if (rd_parse_u32(argv[i], RD_DECIMAL, RD_PID_MAX, &pid) < 0 || pid == 0)
			return rd_err_set(err, EINVAL, argv[i], "expected the number of a process");
	if (argc + opts->filter.pids.n > RD_QP_FILTER_MAX)
		return rd_err_set(err, EINVAL, "job", "too many processes: at most %d", RD_QP_FILTER_MAX);
	return 0;
}

/* Processes that own RDMA objects. */
static int record(struct rd_source *source, struct rd_err *err)
{
	struct job_sample sample = { 0 };
	struct job_pids pids = { 0 };
	struct rd_res res = { 0 };

	if (rd_collect_res(source, RD_WANT_QPS | RD_WANT_CTXS | RD_WANT_PROCS, NULL, &res, NULL, err) == 0)
		for (size_t i = 0; i < res.n_procs && pids.n < JOB_CHOSEN_MAX; i++)
			add_pid(&pids, res.procs[i].pid);
	rd_res_deinit(&res);
	job_load(source, &pids, &sample, err);
	free(pids.v);
	job_sample_deinit(&sample);
	return 0;
}

static const struct rd_opt opts[] = {
	{ "pid", 'p', "PID,...", "judge these processes, as with operands", "pid", RD_TAKES(take_filter) },
	{ "job", 0, "PATTERN", "judge the processes of this job (slurm:42 includes its steps)", RD_TAKES(take_filter) },
	{ "cgroup", 0, "PATH", "judge the processes of this control group and those below it",
	  RD_TEXT(job_opts, cgroup) },
	{ "comm", 0, "PATTERN", "judge the processes with this name", RD_TAKES(take_filter) },
	{ "no-probe", 0, NULL, "attach nothing to the kernel: peers of queue pairs only from other sources",
	  RD_FLAG(job_opts, no_probe) },
	{ 0 },
};

const struct rd_cmd rd_cmd_job = {
	.name = "job",
	.summary = "show whether a process can use RDMA, and what carries its traffic",
	.question = "Is my job on RDMA",
	.operands = "[PID... | -- COMMAND [ARG...]]",
	.opts = opts,
	.description =
		"Judges processes: whether they can use RDMA, seen from their own root and namespaces (device files, provider,\n"
		"ports and GIDs, limits), which carrier their variables request, and what carries their traffic: queue pairs,\n"
		"TCP, shared memory. Without a process: what one that is started here would find. Exit status: 0 RDMA, nothing to\n"
		"carry, or TCP because a variable requests it; 1 TCP, or both; 2 TCP or no device although RDMA was requested; 3 cannot\n"
		"tell. The processes of other users require root.\n",
	.examples = "  rdmadiag job\n"
		    "  rdmadiag job 4711\n"
		    "  rdmadiag job -- mpirun -np 2 ./a.out        exits with its status\n"
		    "  rdmadiag job --job slurm:42\n"
		    "  rdmadiag --from host17.tar.zst job --json\n",
	.columns = rd_job_columns,
	.n_columns = RD_JOB_COLUMNS,
	.state_size = sizeof(struct job_opts),
	.check = check,
	.record = record,
	.run = run_job,
};
