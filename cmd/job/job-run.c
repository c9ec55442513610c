/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job -- COMMAND: judges a command and what it starts, while it runs. */
#include <signal.h>
#include <time.h>

#include "base/number.h"
#include "cmd/trace-errno/trace-child.h"
#include "job.h"
#include "report/job/report-job.h"
#include "source/opener/child.h"

#define PAUSE_MOST 32 /* seconds between two readings; the first pause is one second, each further one twice as long */

/* What is reported at the end: the worst of what was seen, else the last. */
struct result {
	char *line;
	int rank;
};

static void judge(struct rd_source *src, const struct job_pids *pids, struct result *result)
{
	struct job_sample sample = { 0 };
	struct rd_err err = { 0 };
	const struct rd_job_view *worst;

	if (job_load(src, pids, &sample, &err) == 0) {
		int rank;

		worst = rd_report_job_worst(sample.views, sample.n);
		rank = worst->proc->here ? -1 : (int)worst->severity * 2 + (worst->verdict != RD_JOB_IDLE);
		if (!result->line || rank >= result->rank) {
			free(result->line);
			result->line = rd_report_job_line(worst);
			result->rank = rank;
		}
	}
	job_sample_deinit(&sample);
}

static void judge_family(struct rd_source *src, pid_t pid, struct result *result)
{
	_cleanup_names_ struct rd_names names = { 0 };
	struct job_pids pids = { 0 };

	rd_list_dir(src, "/proc", &names, NULL);
	for (size_t i = 0; i < names.n && pids.n < JOB_CHOSEN_MAX; i++) {
		uint32_t each;

		if (rd_parse_u32(names.v[i], RD_DECIMAL, INT32_MAX, &each) == 0 &&
		    ((pid_t)each == pid || rd_process_descends((pid_t)each, pid)))
			*RD_ADD(pids.v, pids.n, pids.cap) = each;
	}
	if (pids.n)
		judge(src, &pids, result);
	free(pids.v);
}

/* A signal of the terminal reaches the command without us. */
static void watch(struct rd_source *src, struct trace_child *child, const sigset_t *signals, struct result *result)
{
	struct timespec pause = { .tv_sec = 1 };
	siginfo_t info;

	while (!child->ended) {
		int signal = sigtimedwait(signals, &info, &pause);

		if (signal < 0) {
			judge_family(src, child->pid, result);
			pause.tv_sec = pause.tv_sec < PAUSE_MOST ? pause.tv_sec * 2 : PAUSE_MOST;
		} else if (signal != SIGCHLD && info.si_code != SI_KERNEL) {
			kill(child->pid, signal);
		}
		trace_child_reap(child);
	}
}

int job_run_command(struct rd_ctx *ctx, char **argv)
{
	const struct trace_command command = { .argv = argv };
	const int caught[] = { SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT };
	struct trace_child child = TRACE_CHILD_INIT;
	struct result result = { 0 };
	struct rd_err err = { 0 };
	uint32_t here = 0;
	sigset_t signals;
	int r;

	judge(ctx->source, &(struct job_pids){ .v = &here, .n = 1 }, &result);
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
	trace_child_deinit(&child);
	return r < 0 ? rd_fail(ctx, &err) : trace_child_exit_code(&child);
}
