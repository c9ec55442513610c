/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job: whether processes can use RDMA, and what carries their traffic; of a command and what it starts: while it runs. */
#include <fnmatch.h>
#include <signal.h>
#include <time.h>

#include "analyse/job/job.h"
#include "analyse/qp/qp.h"
#include "base/text.h"
#include "cmd/datafile.h"
#include "cmd/job/job.h"
#include "cmd/qp-state/qp.h"
#include "cmd/trace-errno/trace-child.h"
#include "collect/host/host.h"
#include "collect/kernel/kernel.h"
#include "collect/rdma/rdma.h"
#include "collect/shared/cgroup.h"
#include "report/job/report-job.h"
#include "source/opener/child.h"

#define PROCESSES_MAX 65536
#define CHOSEN_MAX 256 /* processes: a child for each */
#define PAUSE_MOST 32  /* seconds between two readings; the first pause is one second, each further one twice as long */

struct sample {
	uint32_t *pids; /* to read; 0: a process that is started here */
	size_t n_pids, cap_pids;
	struct rd_host host;
	struct rd_system system;
	struct rd_res res;
	struct rd_qp_views qps; /* of `res` above: do not move a sample */
	struct rd_job_kernel kernel;
	struct rd_job_versions versions;
	struct rd_recent recent;
	struct rd_job_proc *procs; /* those that were read */
	struct rd_job_view *views;
	size_t n;
	struct rd_report report;
};

int job_take_filter(void *state, const struct rd_opt *opt, const char *arg, struct rd_err *err)
{
	struct job_opts *opts = state;

	return rd_qp_filter_set(&opts->filter, opt->name, arg, err);
}

static void sample_deinit(struct sample *sample)
{
	for (size_t i = 0; i < sample->n; i++) {
		rd_job_view_deinit(&sample->views[i]);
		rd_job_proc_deinit(&sample->procs[i]);
	}
	RD_FREE(sample->pids, sample->procs, sample->views);
	rd_qp_views_deinit(&sample->qps);
	rd_res_deinit(&sample->res);
	rd_job_kernel_deinit(&sample->kernel);
	rd_job_versions_deinit(&sample->versions);
	rd_recent_deinit(&sample->recent);
	rd_host_deinit(&sample->host);
	rd_system_deinit(&sample->system);
	rd_report_deinit(&sample->report);
}

static bool is_live(const struct rd_source *src)
{
	return strcmp(src->ops->name, "live") == 0;
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
	return (!opts->filter.job || rd_qp_job_matches(opts->filter.job, job)) &&
	       (!opts->cgroup || is_below(cgroup, opts->cgroup));
}

static void add_pid(struct sample *sample, uint32_t pid)
{
	for (size_t i = 0; i < sample->n_pids; i++)
		if (sample->pids[i] == pid)
			return;
	*RD_ADD(sample->pids, sample->n_pids, sample->cap_pids) = pid;
}

/* Of a bundle, those that it recorded. */
static int find_processes(const struct job_opts *opts, struct rd_source *src, struct sample *sample, struct rd_err *err)
{
	_cleanup_texts_ struct rd_texts names = { 0 };
	int r = rd_list_dir(src, is_live(src) ? "/proc" : RD_SOURCE_JOB, &names, err);

	for (size_t i = 0; i < names.n && i < PROCESSES_MAX; i++) {
		uint32_t pid;

		if (rd_parse_u32(names.v[i], RD_DECIMAL, INT32_MAX, &pid) < 0 || pid == (uint32_t)getpid() ||
		    !is_selected(opts, src, pid))
			continue;
		if (sample->n_pids == CHOSEN_MAX)
			return rd_err_set(err, E2BIG, "job", "selects more than %d processes", CHOSEN_MAX);
		add_pid(sample, pid);
	}
	if (r == -ENOENT && !is_live(src))
		return 0;
	return r >= 0 && sample->n_pids == 0 ? rd_err_set(err, ESRCH, "job", "no process matches") : r;
}

static int choose(const struct job_opts *opts, struct rd_source *src, struct sample *sample, struct rd_err *err)
{
	for (size_t i = 0; i < opts->filter.pids.n; i++)
		add_pid(sample, opts->filter.pids.v[i]);
	if (opts->filter.comm || opts->filter.job || opts->cgroup)
		return find_processes(opts, src, sample, err);
	if (sample->n_pids == 0 && !is_live(src))
		find_processes(opts, src, sample, NULL);
	if (sample->n_pids == 0)
		add_pid(sample, 0);
	return 0;
}

static void read_versions(const struct rd_ctx *ctx, struct sample *sample)
{
	_cleanup_(rd_table_deinit) struct rd_table table = { 0 };
	struct rd_errlist *errors = &sample->report.errors;
	struct rd_err err = { 0 };

	rd_table_read("versions", &table, errors);
	for (size_t i = 0; i < table.n; i++)
		if (rd_job_versions_parse(table.v[i].path, (char *)table.v[i].bytes.data, table.v[i].bytes.size,
					  &sample->versions, &err) < 0)
			rd_errlist_add(errors, &err);
	if (!ctx->globals.json)
		rd_warn_errors(ctx, errors, 0);
}

/* Reads and judges the chosen processes; -ESRCH with `err` filled: there is none of them. */
static int load(struct rd_source *src, struct sample *sample, struct rd_err *err)
{
	struct rd_job_input in = { &sample->host, &sample->kernel, &sample->system, &sample->qps, &sample->versions };
	struct rd_errlist *errors = &sample->report.errors;
	const struct rd_sysfs fs = { .src = src };
	struct rd_err unread = { 0 };

	rd_collect_host(src, 0, &sample->host, errors, &unread);
	sample->system.release = rd_sysfs_text(&fs, NULL, "/proc/sys/kernel/osrelease");
	rd_collect_gpu_memory(&fs, &sample->system);
	if (rd_collect_res(src, RD_WANT_QPS | RD_WANT_CM_IDS | RD_WANT_PROCS, NULL, &sample->res, errors, &unread) < 0)
		in.qps = NULL;
	rd_qp_views_init(&sample->qps, &sample->res);
	rd_qp_link(&sample->qps);
	rd_collect_job_kernel(src, &sample->res, &sample->kernel);
	rd_collect_recent(src, &sample->recent);
	sample->procs = rd_alloc(sample->n_pids + 1, sizeof(*sample->procs));
	sample->views = rd_alloc(sample->n_pids + 1, sizeof(*sample->views));
	for (size_t i = 0; i < sample->n_pids; i++) {
		struct rd_job_proc *proc = &sample->procs[sample->n];

		if (rd_collect_job(src, sample->pids[i], is_live(src) ? (uint32_t)getpid() : 0, proc) < 0) {
			rd_err_set(err, ESRCH, "job", "no such process, or not recorded: %u", sample->pids[i]);
			rd_errlist_add(errors, err);
			continue;
		}
		sample->views[sample->n].proc = proc;
		rd_job_judge(&in, &sample->views[sample->n++]);
	}
	rd_job_judge_whole(&in, sample->views, sample->n);
	return sample->n == 0 ? -ESRCH : 0;
}

/* What is reported of a command at the end: the worst of what was seen, else the last. */
struct result {
	char *line;
	int rank;
};

/* A process and those that descend from it; 0: one that is started here. */
static void judge(struct rd_source *src, pid_t pid, struct result *result)
{
	_cleanup_(sample_deinit) struct sample sample = { 0 };
	_cleanup_texts_ struct rd_texts names = { 0 };
	const struct rd_job_view *worst;
	struct rd_err err = { 0 };
	int rank;

	if (pid)
		rd_list_dir(src, "/proc", &names, NULL);
	else
		add_pid(&sample, 0);
	for (size_t i = 0; i < names.n && sample.n_pids < CHOSEN_MAX; i++) {
		uint32_t each;

		if (rd_parse_u32(names.v[i], RD_DECIMAL, INT32_MAX, &each) == 0 &&
		    ((pid_t)each == pid || rd_process_descends((pid_t)each, pid)))
			add_pid(&sample, each);
	}
	if (!sample.n_pids || load(src, &sample, &err) < 0)
		return;
	worst = rd_report_job_worst(sample.views, sample.n);
	rank = worst->proc->here ? -1 : (int)worst->severity * 2 + (worst->verdict != RD_JOB_IDLE);
	if (result->line && rank < result->rank)
		return;
	free(result->line);
	result->line = rd_report_job_line(worst);
	result->rank = rank;
}

/* A signal of the terminal reaches the command without us. */
static void watch(struct rd_source *src, struct trace_child *child, const sigset_t *signals, struct result *result)
{
	struct timespec pause = { .tv_sec = 1 };
	siginfo_t info;

	while (!child->ended) {
		int signal = sigtimedwait(signals, &info, &pause);

		if (signal < 0) {
			judge(src, child->pid, result);
			pause.tv_sec = pause.tv_sec < PAUSE_MOST ? pause.tv_sec * 2 : PAUSE_MOST;
		} else if (signal != SIGCHLD && info.si_code != SI_KERNEL) {
			kill(child->pid, signal);
		}
		trace_child_reap(child);
	}
}

/* Returns the exit status of the command; reports the worst verdict of it and what it started. */
static int run_command(struct rd_ctx *ctx, char **argv)
{
	const struct trace_command command = { .argv = argv };
	const int caught[] = { SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	_cleanup_(trace_child_deinit) struct trace_child child = TRACE_CHILD_INIT;
	struct result result = { 0 };
	struct rd_err err = { 0 };
	sigset_t signals;
	int r;

	judge(ctx->source, 0, &result);
	sigemptyset(&signals);
	for (size_t i = 0; i < RD_ARRAY_SIZE(caught); i++)
		sigaddset(&signals, caught[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	r = trace_child_start(&child, &command, &err);
	if (!r)
		r = trace_child_go(&child, argv[0], &err);
	if (!r) {
		watch(ctx->source, &child, &signals, &result);
		rd_warn(ctx, "%s", result.line);
	}
	free(result.line);
	return r < 0 ? rd_fail(ctx, &err) : trace_child_exit_code(&child);
}

/* Calls of the chosen programs that failed in the last hour, perhaps of processes that ended since. */
static void note_failures(struct sample *sample)
{
	for (size_t i = 0; i < sample->recent.n; i++) {
		const struct rd_recent_failure *f = &sample->recent.file->v[i];
		_cleanup_free_ char *text = NULL;

		for (size_t k = 0; k < sample->n && !text && *f->comm; k++)
			if (sample->procs[k].comm && strcmp(sample->procs[k].comm, f->comm) == 0)
				text = rd_recent_text(&sample->recent, f);
		if (text)
			rd_report_note(&sample->report, "%s", text);
	}
}

/* Of the host. A process is judged nevertheless: something carries its traffic. */
static bool has_no_rdma(const struct rd_ctx *ctx, struct sample *sample, struct rd_err *err)
{
	if (sample->kernel.n > 0 || !sample->procs[0].here)
		return false;
	rd_no_rdma(ctx, sample->host.rdma_error, err);
	rd_errlist_add(&sample->report.errors, err);
	rd_findings_deinit(&sample->report.findings);
	sample->report.status = RD_EXIT_UNKNOWN;
	return !ctx->globals.json;
}

static int show(struct rd_ctx *ctx, struct sample *sample)
{
	const struct rd_section *sections[2] = { sample->report.sections[0], NULL };
	_cleanup_section_ struct rd_section *can = NULL;

	if (ctx->globals.json)
		return rd_output_print(ctx, &sample->report);
	if (!ctx->globals.style.columns && sample->n == 1)
		sections[1] = can = rd_report_job_can(&sample->views[0]);
	return rd_output_tables(ctx, &sample->report, sections, can ? 2 : 1);
}

static int run_job(struct rd_ctx *ctx, int argc, char **argv)
{
	_cleanup_(sample_deinit) struct sample sample = { 0 };
	struct job_opts *opts = ctx->state;
	struct qp_probe probe = { 0 };
	struct rd_err err = { 0 };
	int r;

	if (ctx->dashes)
		return run_command(ctx, argv);
	for (int i = 0; i < argc; i++)
		rd_parse_u32(argv[i], RD_DECIMAL, RD_PID_MAX, &opts->filter.pids.v[opts->filter.pids.n++]);
	rd_output_init(ctx, &sample.report);
	read_versions(ctx, &sample);
	r = choose(opts, ctx->source, &sample, &err);
	if (!r && !ctx->globals.from && !opts->no_probe)
		qp_probe_start(ctx, ctx->source, &probe);
	if (!r)
		r = load(ctx->source, &sample, &err);
	qp_probe_end(&probe);
	if (r < 0)
		return rd_fail(ctx, &err);
	rd_report_job(&sample.report, sample.views, sample.n);
	note_failures(&sample);
	return has_no_rdma(ctx, &sample, &err) ? rd_fail(ctx, &err) : show(ctx, &sample);
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
	_cleanup_(sample_deinit) struct sample sample = { 0 };
	_cleanup_(rd_res_deinit) struct rd_res res = { 0 };

	if (rd_collect_res(source, RD_WANT_QPS | RD_WANT_CTXS | RD_WANT_PROCS, NULL, &res, NULL, err) == 0)
		for (size_t i = 0; i < res.n_procs && sample.n_pids < CHOSEN_MAX; i++)
			add_pid(&sample, res.procs[i].pid);
	load(source, &sample, err);
	return 0;
}

int job_record(const struct job_opts *opts, struct rd_source *from, struct rd_source *to, struct rd_err *err)
{
	_cleanup_(sample_deinit) struct sample sample = { 0 };
	_cleanup_(rd_job_proc_deinit) struct rd_job_proc user = { 0 };
	const struct rd_system none = { 0 };
	int r = choose(opts, from, &sample, err);

	rd_collect_job_user(to, "0:0", &none, &user, NULL);
	if (r < 0 || !sample.pids[0])
		return r;
	r = load(to, &sample, err);
	return r < 0 || !sample.report.errors.n ? r : rd_err_set(err, ESRCH, "job", "not all selected processes exist");
}

static const struct rd_opt opts[] = {
	{ "pid", 'p', "PID,...", "judge these processes, as with operands", "pid", RD_TAKES(job_take_filter) },
	{ "job", 0, "PATTERN", "judge the processes of this job (slurm:42 includes its steps)",
	  RD_TAKES(job_take_filter) },
	{ "cgroup", 0, "PATH", "judge the processes of this control group and those below it",
	  RD_TEXT(job_opts, cgroup) },
	{ "comm", 0, "PATTERN", "judge the processes with this name", RD_TAKES(job_take_filter) },
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
